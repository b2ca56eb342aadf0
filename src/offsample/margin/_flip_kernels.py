"""Compiled loops of the greedy search over sets of features; see `_kernels`."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from offsample.margin._kernels import add_differences, difference
from offsample.margin._space import SQUARED, Near, Space

_INFINITY = np.array([np.inf]).view(np.int64)[0]


@njit(cache=True, nogil=True)
def add_to_distances(
    space: Space,
    feature: int,
    sign: float,
    reach: float,
    start: int,
    stop: int,
    distances: NDArray[np.float64],
    near: Near,
) -> None:
    """Add a feature to (or with sign -1 take it out of) the rows of the matrix from `start` to `stop`."""
    for i in range(start, stop):
        add_differences(space, feature, sign, i, 0, distances[i])
        near.stale[i] = True
        for group in range(2):
            if sign < 0:  # no row comes nearer than that
                near.beyond[i, group] -= reach
            index, distance = near.neighbor[i, group], near.distance[i, group]
            for k in range(index.size):
                if index[k] < 0:
                    break
                j, here, place = index[k], distances[i, index[k]], k
                while place > 0 and here < distance[place - 1]:
                    distance[place], index[place] = distance[place - 1], index[place - 1]
                    place -= 1
                distance[place], index[place] = here, j


@njit(cache=True, nogil=True)
def _set_to_sum(
    base: NDArray[np.float64], sign: float, a: float, b: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    for j in range(b.size):
        out[j] = base[j] + sign * ((a - b[j]) * (a - b[j]))


@njit(cache=True, nogil=True)
def _smallest(values: NDArray[np.int64], least: int) -> int:
    for j in range(values.size):
        least = min(least, values[j])
    return least


@njit(cache=True, nogil=True)
def nearest_among_near(
    space: Space,
    near: Near,
    features: NDArray[np.int64],
    signs: NDArray[np.float64],
    reaches: NDArray[np.float64],
    start: int,
    stop: int,
    squares: NDArray[np.float64],
) -> None:
    """Find the distances to the nearest hit and miss with each of these features added or taken out.

    Only the rows that were near before are looked at. Where one further off could have come nearer, the
    entry of `squares`, of shape (groups, features, rows), becomes NaN.
    """
    n_near = near.neighbor.shape[2]
    for b in range(features.size):
        feature, sign = features[b], signs[b]
        kind, column = space.kinds[feature], space.columns[feature]
        expected = space.expected[space.expected_row[feature]]
        for group in range(2):
            for i in range(start, stop):
                least = np.inf
                for k in range(n_near):
                    j, here = near.neighbor[i, group, k], near.distance[i, group, k]
                    if j < 0 or (sign > 0 and here >= least):
                        break
                    if kind == SQUARED:
                        here += sign * ((column[i] - column[j]) * (column[i] - column[j]))
                    else:
                        here += sign * difference(
                            kind, space.gaps[feature], column[i], column[j], expected[i], expected[j]
                        )
                    least = min(least, here)
                beyond = near.beyond[i, group] - (reaches[b] if sign < 0 else 0.0)
                squares[group, b, i] = least if least <= beyond else np.nan


@njit(cache=True, nogil=True)
def _gather_near(
    row: NDArray[np.float64],
    low: int,
    high: int,
    count: int,
    distance: NDArray[np.float64],
    index: NDArray[np.int64],
    beyond: float,
) -> tuple[int, float]:
    """Sort the entries of a row from `low` to `high` into its nearest so far."""
    for j in range(low, high):
        here = row[j]
        if here == np.inf:  # the row itself
            continue
        if count == distance.size:
            if here >= distance[count - 1]:
                beyond = min(beyond, here)
                continue
            beyond = min(beyond, distance[count - 1])
            count -= 1
        place = count
        while place > 0 and here < distance[place - 1]:
            distance[place], index[place] = distance[place - 1], index[place - 1]
            place -= 1
        distance[place], index[place] = here, j
        count += 1
    return count, beyond


@njit(cache=True, nogil=True)
def nearest_among_all(
    space: Space,
    distances: NDArray[np.float64],
    bounds: NDArray[np.int64],
    features: NDArray[np.int64],
    signs: NDArray[np.float64],
    start: int,
    stop: int,
    squares: NDArray[np.float64],
    near: Near,
) -> None:
    """Fill in the NaNs of `nearest_among_near`, looking at all rows.

    Rows are sorted by class: class c has those from ``bounds[c]`` to ``bounds[c + 1]``. A row of the matrix,
    whose diagonal is infinite, is read once for all features. Where the near rows of a row were found for
    another set of features, they are found anew.
    """
    buffer = np.empty(len(distances))
    # A minimum of floats is not vectorised; floats that are not negative are ordered as their bits are. One
    # that should be zero may be slightly negative: then so is the minimum, and the caller makes it zero.
    bits = buffer.view(np.int64)
    squares_bits = squares.view(np.int64)
    n_rows = len(distances)
    for c in range(bounds.size - 1):
        low, high = bounds[c], bounds[c + 1]
        for i in range(max(low, start), min(high, stop)):
            for b in range(features.size):
                if not (np.isnan(squares[0, b, i]) or np.isnan(squares[1, b, i])):
                    continue
                if near.stale[i]:
                    near.stale[i] = False
                    row = distances[i]
                    near.neighbor[i] = -1
                    count, near.beyond[i, 0] = _gather_near(
                        row, low, high, 0, near.distance[i, 0], near.neighbor[i, 0], np.inf
                    )
                    count, beyond = _gather_near(
                        row, 0, low, 0, near.distance[i, 1], near.neighbor[i, 1], np.inf
                    )
                    count, near.beyond[i, 1] = _gather_near(
                        row, high, n_rows, count, near.distance[i, 1], near.neighbor[i, 1], beyond
                    )
                feature = features[b]
                if space.kinds[feature] == SQUARED:
                    column = space.columns[feature]
                    _set_to_sum(distances[i], signs[b], column[i], column, buffer)
                else:
                    buffer[:] = distances[i]
                    add_differences(space, feature, signs[b], i, 0, buffer)
                squares_bits[0, b, i] = _smallest(bits[low:high], _INFINITY)
                squares_bits[1, b, i] = _smallest(bits[high:], _smallest(bits[:low], _INFINITY))
