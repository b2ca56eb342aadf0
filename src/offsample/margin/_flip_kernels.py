"""Compiled loops of the greedy search over sets of features; see `_kernels`."""

from math import isnan

import numpy as np

from offsample._kernels import njit
from offsample._typing import Floats, Ints
from offsample.margin._kernels import difference
from offsample.margin._space import SQUARED, Flips, Pairs, Space

_INFINITE = 0x7FF0000000000000  # the bits of an infinite float


@njit(cache=False, nogil=True)
def _insert(pairs: Pairs, i: int, group: int, place: int, j: int) -> None:
    """Put row j among the near rows of row i, which are sorted up to `place`."""
    distance = pairs.distances[i, j]
    while place > 0 and distance < pairs.near[i, group, place - 1]:
        pairs.near[i, group, place] = pairs.near[i, group, place - 1]
        pairs.neighbor[i, group, place] = pairs.neighbor[i, group, place - 1]
        place -= 1
    pairs.near[i, group, place] = distance
    pairs.neighbor[i, group, place] = j


@njit(cache=True, nogil=True)
def add_to_distances(space: Space, flips: Flips, start: int, stop: int, pairs: Pairs) -> None:
    """Change the distances of the rows from `start` to `stop` by one flip."""
    n_rows, n_near = len(pairs.distances), pairs.neighbor.shape[2]
    feature, sign = flips.features[0], flips.signs[0]
    distances = pairs.distances
    kind, gap = space.kinds[feature], space.gaps[feature]
    e = space.expected_row[feature]
    for i in range(start, stop):
        a = space.columns[feature, i]
        if kind == SQUARED:
            for j in range(n_rows):
                b = space.columns[feature, j]
                distances[i, j] += sign * ((a - b) * (a - b))
        else:
            for j in range(n_rows):
                b = space.columns[feature, j]
                distances[i, j] += sign * difference(
                    kind, gap, a, b, space.expected[e, i], space.expected[e, j]
                )
        pairs.stale[i] = True
        for group in range(2):
            if sign < 0:  # no row comes nearer than that
                pairs.beyond[i, group] -= flips.reaches[0]
            for k in range(n_near):
                j = pairs.neighbor[i, group, k]
                if j < 0:
                    break
                _insert(pairs, i, group, k, j)


@njit(cache=True, nogil=True)
def nearest_among_near(
    space: Space, flips: Flips, start: int, stop: int, pairs: Pairs, squares: Floats
) -> None:
    """Find the distances to the nearest hit and miss after each of these flips.

    Only the rows that were near before are looked at. Where one further off could have come nearer, the
    entry of `squares`, of shape (groups, flips, rows), becomes NaN.
    """
    n_near = pairs.neighbor.shape[2]
    for b in range(flips.features.size):
        feature, sign = flips.features[b], flips.signs[b]
        kind, gap = space.kinds[feature], space.gaps[feature]
        e = space.expected_row[feature]
        shift = flips.reaches[b] if sign < 0 else 0.0
        for group in range(2):
            for i in range(start, stop):
                x = space.columns[feature, i]
                least = np.inf
                for k in range(n_near):
                    j = pairs.neighbor[i, group, k]
                    here = pairs.near[i, group, k]
                    if j < 0 or (sign > 0 and here >= least):
                        break
                    z = space.columns[feature, j]
                    if kind == SQUARED:
                        here += sign * ((x - z) * (x - z))
                    else:
                        here += sign * difference(kind, gap, x, z, space.expected[e, i], space.expected[e, j])
                    least = here if here < least else least
                squares[group, b, i] = least if least <= pairs.beyond[i, group] - shift else np.nan


@njit(cache=False, nogil=True)
def _find_near(pairs: Pairs, i: int, low: int, high: int) -> None:
    """Find the near rows of a row whose class has those from `low` to `high`."""
    pairs.stale[i] = False
    n_near = pairs.neighbor.shape[2]
    for group in range(2):
        pairs.beyond[i, group] = np.inf
        for k in range(n_near):
            pairs.neighbor[i, group, k] = -1
        count = 0
        for j in range(low if group == 0 else 0, high if group == 0 else len(pairs.distances)):
            here = pairs.distances[i, j]
            if here == np.inf or (group == 1 and low <= j < high):  # the row itself, or a hit
                continue
            if count == n_near:
                farthest = pairs.near[i, group, n_near - 1]
                left_out = here if here >= farthest else farthest
                if left_out < pairs.beyond[i, group]:
                    pairs.beyond[i, group] = left_out
                if here >= farthest:
                    continue
                count -= 1
            _insert(pairs, i, group, count, j)
            count += 1


@njit(cache=True, nogil=True)
def nearest_among_all(
    space: Space, flips: Flips, start: int, stop: int, pairs: Pairs, squares: Floats, row: Floats, bits: Ints
) -> None:
    """Fill in the NaNs of `nearest_among_near`, looking at all rows.

    A row of the matrix is read once for all flips. Where the near rows of a row were found for another set of
    features, they are found anew. `row` and `bits` (the same as integers) are room for a row.
    """
    distances, bounds = pairs.distances, pairs.bounds
    n_rows = len(distances)
    for c in range(bounds.size - 1):
        low, high = bounds[c], bounds[c + 1]
        for i in range(low if low > start else start, high if high < stop else stop):
            for b in range(flips.features.size):
                if not (isnan(squares[0, b, i]) or isnan(squares[1, b, i])):
                    continue
                if pairs.stale[i]:
                    _find_near(pairs, i, low, high)
                feature, sign = flips.features[b], flips.signs[b]
                kind, gap = space.kinds[feature], space.gaps[feature]
                e = space.expected_row[feature]
                x = space.columns[feature, i]
                if kind == SQUARED:
                    for j in range(n_rows):
                        z = space.columns[feature, j]
                        row[j] = distances[i, j] + sign * ((x - z) * (x - z))
                else:
                    for j in range(n_rows):
                        z = space.columns[feature, j]
                        row[j] = distances[i, j] + sign * difference(
                            kind, gap, x, z, space.expected[e, i], space.expected[e, j]
                        )
                # A minimum of floats is not vectorised; floats that are not negative are ordered as their
                # bits are. One that should be zero may be slightly negative: then so is the minimum, and the
                # caller makes it zero. Indexes are not negative: see `scan`.
                hit = miss = _INFINITE
                for j in range(np.uint64(low)):
                    miss = bits[j] if bits[j] < miss else miss
                for j in range(np.uint64(low), np.uint64(high)):
                    hit = bits[j] if bits[j] < hit else hit
                for j in range(np.uint64(high), np.uint64(n_rows)):
                    miss = bits[j] if bits[j] < miss else miss
                bits[0] = hit
                squares[0, b, i] = row[0]
                bits[0] = miss
                squares[1, b, i] = row[0]
