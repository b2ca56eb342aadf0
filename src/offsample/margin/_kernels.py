"""Compiled loops over plain arrays. Imported only by the functions that call them: numba loads in .3 s.

Distances are summed column by column, with the rows in the inner loop: every distance is a sum in the same
order of the features, whichever rows share a block or a thread.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from offsample.margin._space import ABSOLUTE, CATEGORY, INCOMPLETE, SQUARED, Space

# Rows of a column that stay in the first-level cache while a block of rows is compared with them.
_TILE = 2048
_INFINITY = np.array([np.inf]).view(np.int64)[0]


@njit(cache=True, nogil=True)
def difference(kind: int, a: float, b: float, expected_a: float, expected_b: float) -> float:
    """Difference of two values of a column; the expected values are of a column with missing ones."""
    if kind >= INCOMPLETE:
        if np.isnan(a):
            return expected_b
        if np.isnan(b):
            return expected_a
        kind -= INCOMPLETE
    if kind == CATEGORY:
        return 1.0 if a != b else 0.0
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
        for j in range(b.size):
            out[j] += weight if a != b[j] else 0.0
    else:
        expected = space.expected[space.expected_row[feature]]
        for j in range(b.size):
            out[j] += weight * difference(kind, a, b[j], expected[row], expected[start + j])


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


@njit(cache=True, nogil=True)
def add_to_features(
    space: Space,
    rows: NDArray[np.int64],
    neighbors: NDArray[np.int64],
    coefficients: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Add to each feature the differences between rows and their neighbours, times the coefficients.

    `neighbors` and `coefficients` have the shape (rows, neighbours); an index of -1 is passed over.
    """
    kind = space.kinds[0]
    for other in space.kinds:
        if other != kind:
            kind = INCOMPLETE
    for b in range(rows.size):
        for k in range(neighbors.shape[1]):
            i, j, coefficient = rows[b], neighbors[b, k], coefficients[b, k]
            if j < 0:
                continue
            x, z = space.rows[i], space.rows[j]
            if kind == SQUARED:
                for f in range(out.size):
                    out[f] += coefficient * ((x[f] - z[f]) * (x[f] - z[f]))
            elif kind == ABSOLUTE:
                for f in range(out.size):
                    out[f] += coefficient * abs(x[f] - z[f])
            else:
                for f in range(out.size):
                    expected = space.expected[space.expected_row[f]]
                    gap = difference(space.kinds[f], x[f], z[f], expected[i], expected[j])
                    out[f] += coefficient * gap


@njit(cache=True, nogil=True)
def add_to_distances(
    space: Space, feature: int, sign: float, start: int, stop: int, distances: NDArray[np.float64]
) -> None:
    """Add a feature to (or with sign -1 take it out of) the rows of the matrix from `start` to `stop`."""
    for i in range(start, stop):
        add_differences(space, feature, sign, i, 0, distances[i])


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
def nearest_after_flips(
    space: Space,
    distances: NDArray[np.float64],
    bounds: NDArray[np.int64],
    features: NDArray[np.int64],
    signs: NDArray[np.float64],
    start: int,
    stop: int,
    hit: NDArray[np.float64],
    miss: NDArray[np.float64],
) -> None:
    """Find the distances to the nearest hit and miss with each of these features added or taken out.

    Rows are sorted by class: class c has those from ``bounds[c]`` to ``bounds[c + 1]``. `hit` and `miss` have
    the shape (features, rows); rows from `start` to `stop` are filled in. The matrix, whose diagonal is
    infinite, is read once for all features and not written.
    """
    buffer = np.empty(len(distances))
    # A minimum of floats is not vectorised; floats that are not negative are ordered as their bits are. One
    # that should be zero may be slightly negative: then so is the minimum, and the caller makes it zero.
    bits = buffer.view(np.int64)
    hit_bits = hit.view(np.int64)
    miss_bits = miss.view(np.int64)
    for c in range(bounds.size - 1):
        low, high = bounds[c], bounds[c + 1]
        for i in range(max(low, start), min(high, stop)):
            for b in range(features.size):
                feature = features[b]
                if space.kinds[feature] == SQUARED:
                    column = space.columns[feature]
                    _set_to_sum(distances[i], signs[b], column[i], column, buffer)
                else:
                    buffer[:] = distances[i]
                    add_differences(space, feature, signs[b], i, 0, buffer)
                hit_bits[b, i] = _smallest(bits[low:high], _INFINITY)
                miss_bits[b, i] = _smallest(bits[high:], _smallest(bits[:low], _INFINITY))
