"""Compiled loops over plain arrays. Imported only by the functions that call them: numba loads in .3 s.

Distances are summed column by column, with the rows in the inner loop: every distance is a sum in the same
order of the features, whichever rows share a block or a thread.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from offsample.margin._space import ABSOLUTE, CATEGORY, INCOMPLETE, SQUARED, Near, Space

# Rows of a column that stay in the first-level cache while a block of rows is compared with them.
_TILE = 2048
_INFINITY = np.array([np.inf]).view(np.int64)[0]


@njit(cache=True, nogil=True)
def difference(
    kind: int, category_gap: float, a: float, b: float, expected_a: float, expected_b: float
) -> float:
    """Difference of two values of a column; the expected values are of a column with missing ones."""
    if kind >= INCOMPLETE:
        if np.isnan(a):
            return expected_b
        if np.isnan(b):
            return expected_a
        kind -= INCOMPLETE
    if kind == CATEGORY:
        return category_gap if a != b else 0.0
    return (a - b) * (a - b) if kind == SQUARED else abs(a - b)


@njit(cache=True, nogil=True)
def add_differences(
    space: Space, feature: int, weight: float, row: int, start: int, out: NDArray[np.float64]
) -> None:
    """Add the weighted differences of `row` to the rows from `start` on, one for each entry of `out`."""
    kind = space.kinds[feature]
    a = space.columns[feature, row]
    # A slice from 0 to its length is what the compiler turns into vector instructions.
    b = space.columns[feature, start : start + out.size]
    if kind == SQUARED:
        for j in range(b.size):
            out[j] += weight * ((a - b[j]) * (a - b[j]))
    elif kind == ABSOLUTE:
        for j in range(b.size):
            out[j] += weight * abs(a - b[j])
    elif kind == CATEGORY:
        step = weight * space.gaps[feature]
        for j in range(b.size):
            out[j] += step if a != b[j] else 0.0
    else:
        expected = space.expected[space.expected_row[feature]]
        for j in range(b.size):
            out[j] += weight * difference(
                kind, space.gaps[feature], a, b[j], expected[row], expected[start + j]
            )


@njit(cache=True, nogil=True)
def _add_four_differences(
    space: Space,
    four: NDArray[np.int64],
    weights: NDArray[np.float64],
    row: int,
    start: int,
    out: NDArray[np.float64],
) -> None:
    """Do what `add_differences` does for four numeric features of one kind, in one pass over `out`."""
    f0, f1, f2, f3 = four[0], four[1], four[2], four[3]
    w0, w1, w2, w3 = weights[f0], weights[f1], weights[f2], weights[f3]
    columns, stop = space.columns, start + out.size
    a0, a1, a2, a3 = columns[f0, row], columns[f1, row], columns[f2, row], columns[f3, row]
    b0, b1, b2, b3 = (
        columns[f0, start:stop],
        columns[f1, start:stop],
        columns[f2, start:stop],
        columns[f3, start:stop],
    )
    if space.kinds[f0] == SQUARED:
        for j in range(out.size):
            d0, d1, d2, d3 = a0 - b0[j], a1 - b1[j], a2 - b2[j], a3 - b3[j]
            out[j] += (w0 * (d0 * d0) + w1 * (d1 * d1)) + (w2 * (d2 * d2) + w3 * (d3 * d3))
    else:
        for j in range(out.size):
            d0, d1, d2, d3 = a0 - b0[j], a1 - b1[j], a2 - b2[j], a3 - b3[j]
            out[j] += (w0 * abs(d0) + w1 * abs(d1)) + (w2 * abs(d2) + w3 * abs(d3))


@njit(cache=True, nogil=True)
def sum_differences(
    space: Space,
    weights: NDArray[np.float64],
    features: NDArray[np.int64],
    n_plain: int,
    rows: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Set ``out[b, j]`` to the sum over `features` of the weighted differences of ``rows[b]`` and row j.

    The first `n_plain` features are numeric, of one kind and without missing values.
    """
    n_fours = n_plain // 4
    for start in range(0, out.shape[1], _TILE):
        stop = min(start + _TILE, out.shape[1])
        for b in range(rows.size):
            for j in range(start, stop):
                out[b, j] = 0.0
        for k in range(n_fours):
            four = features[4 * k : 4 * k + 4]
            for b in range(rows.size):
                _add_four_differences(space, four, weights, rows[b], start, out[b, start:stop])
        for feature in features[4 * n_fours :]:
            for b in range(rows.size):
                add_differences(space, feature, weights[feature], rows[b], start, out[b, start:stop])


@njit(cache=True, nogil=True)
def nearest(
    distances: NDArray[np.float64],
    labels: NDArray[np.int64],
    rows: NDArray[np.int64],
    by_class: bool,
    index: NDArray[np.int64],
    distance: NDArray[np.float64],
) -> None:
    """Find the nearest of the first rows in each group, given the distances of `rows` to them.

    Groups are the classes, or (0) the row's own class and (1) all others. `index` and `distance` have the
    shape (rows, groups, neighbours); an index is -1 and a distance infinite where a group has too few. Of
    equally near rows the first comes first; a row is not its own neighbour.
    """
    index[:] = -1
    distance[:] = np.inf
    last = index.shape[2] - 1
    for b in range(rows.size):
        for j in range(distances.shape[1]):
            group = labels[j]
            if not by_class:
                group = 0 if labels[j] == labels[rows[b]] else 1
            here = distances[b, j]
            if j == rows[b] or here >= distance[b, group, last]:
                continue
            place = last
            while place > 0 and here < distance[b, group, place - 1]:
                distance[b, group, place] = distance[b, group, place - 1]
                index[b, group, place] = index[b, group, place - 1]
                place -= 1
            distance[b, group, place] = here
            index[b, group, place] = j


@njit(cache=True, nogil=True, fastmath={"contract"})
def scan(
    values: NDArray[np.float32],
    squared: bool,
    features: NDArray[np.int64],
    weights: NDArray[np.float32],
    rows: NDArray[np.int64],
    out: NDArray[np.float32],
) -> None:
    """Set ``out[b, j]`` to the weighted differences of ``rows[b]`` and row j, in single precision.

    `weights` go with `features`, whose number is a multiple of four: four columns share one pass over `out`.
    """
    for start in range(0, out.shape[1], _TILE):
        stop = min(start + _TILE, out.shape[1])
        out[:, start:stop] = 0
        for k in range(0, features.size, 4):
            b0, b1, b2, b3 = (
                values[features[k], start:stop],
                values[features[k + 1], start:stop],
                values[features[k + 2], start:stop],
                values[features[k + 3], start:stop],
            )
            w0, w1, w2, w3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
            for b in range(rows.size):
                a0, a1, a2, a3 = (
                    values[features[k], rows[b]],
                    values[features[k + 1], rows[b]],
                    values[features[k + 2], rows[b]],
                    values[features[k + 3], rows[b]],
                )
                sums = out[b, start:stop]
                if squared:
                    for j in range(sums.size):
                        d0, d1, d2, d3 = a0 - b0[j], a1 - b1[j], a2 - b2[j], a3 - b3[j]
                        sums[j] += (w0 * (d0 * d0) + w1 * (d1 * d1)) + (w2 * (d2 * d2) + w3 * (d3 * d3))
                else:
                    for j in range(sums.size):
                        d0, d1, d2, d3 = a0 - b0[j], a1 - b1[j], a2 - b2[j], a3 - b3[j]
                        sums[j] += (w0 * abs(d0) + w1 * abs(d1)) + (w2 * abs(d2) + w3 * abs(d3))


@njit(cache=True, nogil=True)
def add_pairs(
    points: NDArray[np.float64],
    squared: bool,
    rows: NDArray[np.int64],
    neighbors: NDArray[np.int64],
    coefficients: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Add to each feature the differences between rows and their neighbours, times the coefficients.

    `neighbors` and `coefficients` have the shape (rows, neighbours); an index of -1 is passed over.
    """
    for b in range(rows.size):
        x = points[rows[b]]
        for k in range(neighbors.shape[1]):
            coefficient = coefficients[b, k]
            if neighbors[b, k] < 0:
                continue
            z = points[neighbors[b, k]]
            for f in range(out.size):
                gap = abs(x[f] - z[f])
                out[f] += coefficient * (gap * gap if squared else gap)


@njit(cache=True, nogil=True)
def add_mixed_pairs(
    space: Space,
    rows: NDArray[np.int64],
    neighbors: NDArray[np.int64],
    coefficients: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Do what `add_pairs` does for columns of any kind."""
    for q in range(rows.size):
        for k in range(neighbors.shape[1]):
            i, j, coefficient = rows[q], neighbors[q, k], coefficients[q, k]
            if j < 0:
                continue
            for f in range(out.size):
                expected = space.expected[space.expected_row[f]]
                gap = difference(
                    space.kinds[f],
                    space.gaps[f],
                    space.rows[i, f],
                    space.rows[j, f],
                    expected[i],
                    expected[j],
                )
                out[f] += coefficient * gap


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
