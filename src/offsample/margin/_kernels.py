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
_INFINITE = np.int32(0x7F800000)  # the bits of an infinite float


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


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_four_differences(
    values: NDArray[np.floating],
    squared: bool,
    four: NDArray[np.int64],
    weights: NDArray[np.floating],
    row: int,
    start: int,
    out: NDArray[np.floating],
) -> None:
    """Do what `add_differences` does for four numeric features and their weights, in one pass over `out`."""
    f0, f1, f2, f3 = four[0], four[1], four[2], four[3]
    w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
    a0, a1, a2, a3 = values[f0, row], values[f1, row], values[f2, row], values[f3, row]
    stop = start + out.size
    b0, b1, b2, b3 = (
        values[f0, start:stop],
        values[f1, start:stop],
        values[f2, start:stop],
        values[f3, start:stop],
    )
    if squared:
        for j in range(out.size):
            d0, d1, d2, d3 = a0 - b0[j], a1 - b1[j], a2 - b2[j], a3 - b3[j]
            out[j] += (w0 * (d0 * d0) + w1 * (d1 * d1)) + (w2 * (d2 * d2) + w3 * (d3 * d3))
    else:
        for j in range(out.size):
            d0, d1, d2, d3 = a0 - b0[j], a1 - b1[j], a2 - b2[j], a3 - b3[j]
            out[j] += (w0 * abs(d0) + w1 * abs(d1)) + (w2 * abs(d2) + w3 * abs(d3))


@njit(cache=True, nogil=True)
def scan(
    values: NDArray[np.floating],
    squared: bool,
    features: NDArray[np.int64],
    weights: NDArray[np.floating],
    rows: NDArray[np.int64],
    out: NDArray[np.floating],
) -> None:
    """Set ``out[b, j]`` to the weighted differences of ``rows[b]`` and row j, in the precision of `values`.

    `weights` go with `features`, whose number is a multiple of four: four columns share one pass over `out`.
    """
    for start in range(0, out.shape[1], _TILE):
        stop = min(start + _TILE, out.shape[1])
        for b in range(rows.size):
            for j in range(start, stop):
                out[b, j] = 0
        for k in range(0, features.size, 4):
            for b in range(rows.size):
                _add_four_differences(
                    values,
                    squared,
                    features[k : k + 4],
                    weights[k : k + 4],
                    rows[b],
                    start,
                    out[b, start:stop],
                )


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
    n_scanned = n_plain - n_plain % 4
    scanned = features[:n_scanned]
    squared = n_scanned > 0 and space.kinds[features[0]] == SQUARED
    scan(space.columns, squared, scanned, weights[scanned], rows, out)
    for start in range(0, out.shape[1], _TILE):
        stop = min(start + _TILE, out.shape[1])
        for feature in features[n_scanned:]:
            for b in range(rows.size):
                add_differences(space, feature, weights[feature], rows[b], start, out[b, start:stop])


@njit(cache=True, nogil=True)
def _insert(index: NDArray[np.int64], distance: NDArray[np.float64], first: int, here: float, j: int) -> None:
    """Sort a row into the nearest so far, from the place `first` on; it comes after equally near ones."""
    place = index.size - 1
    if here >= distance[place]:
        return
    while place > first and here < distance[place - 1]:
        distance[place], index[place] = distance[place - 1], index[place - 1]
        place -= 1
    distance[place], index[place] = here, j


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
            if j != rows[b] and distances[b, j] < distance[b, group, last]:
                _insert(index[b, group], distance[b, group], 0, distances[b, j], j)


@njit(cache=True, nogil=True)
def _edge(bits: NDArray[np.int32], n_neighbors: int) -> np.int32:
    """Find a value with so many of `bits` up to it or, among equal ones, the first with at least as many."""
    low, high = np.int32(2**31 - 1), np.int32(0)
    for j in range(bits.size):
        low, high = min(low, bits[j]), max(high, bits[j])
    low -= 1
    while high - low > 1:
        middle = np.int32(low + (high - low) // 2)
        count = np.int32(0)
        for j in range(bits.size):
            count += bits[j] <= middle
        if count == n_neighbors:
            return middle
        if count < n_neighbors:
            low = middle
        else:
            high = middle
    return high


@njit(cache=True, nogil=True)
def _set_edges(
    bits: NDArray[np.int32],
    group: NDArray[np.int64],
    n_neighbors: int,
    members: NDArray[np.int32],
    edges: NDArray[np.int32],
) -> None:
    """Find a distance within which each group has `n_neighbors` rows; infinite where it has fewer.

    Distances are given, and found, by their bits: floats that are not negative are ordered as their bits
    are, and integers are compared faster.
    """
    for g in range(edges.size):
        edges[g] = _INFINITE
    if n_neighbors == 1:
        for j in range(group.size):
            edges[group[j]] = min(edges[group[j]], bits[j])
        return
    for g in range(edges.size):
        count = 0
        for j in range(group.size):
            members[count] = bits[j]
            count += group[j] == g
        if count >= n_neighbors:
            edges[g] = _edge(members[:count], n_neighbors)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _pair_distance(
    x: NDArray[np.float64], z: NDArray[np.float64], weights: NDArray[np.float64], squared: bool
) -> float:
    total = 0.0
    if squared:
        for f in range(x.size):
            total += weights[f] * ((x[f] - z[f]) * (x[f] - z[f]))
    else:
        for f in range(x.size):
            total += weights[f] * abs(x[f] - z[f])
    return total


@njit(cache=True, nogil=True)
def limits(edge: float, slack: NDArray[np.float64]) -> tuple[float, float]:
    """Distances below which a row is surely nearer than `edge`, and above which it is surely not.

    Distances D are off by at most ``s(D) = r D + a √D + c``, `slack` being r, a and c. The limits are where
    ``D + s(D)`` is ``edge - s(edge)``, and ``D - s(D)`` is ``edge + s(edge)``. Both are infinite with `edge`.
    """
    if edge == np.inf:
        return edge, edge
    r, a, c = slack[0], slack[1], slack[2]
    own = r * edge + a * np.sqrt(edge) + c
    below = max(edge - own - c, 0.0)
    surely = ((np.sqrt(a * a + 4 * (1 + r) * below) - a) / (2 * (1 + r))) ** 2
    possibly = ((np.sqrt(a * a + 4 * (1 - r) * (edge + own + c)) + a) / (2 * (1 - r))) ** 2
    return surely, possibly


@njit(cache=True, nogil=True)
def nearest_scanned(
    scanned: NDArray[np.float32],
    bits: NDArray[np.int32],
    slack: NDArray[np.float64],
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    squared: bool,
    labels: NDArray[np.int64],
    rows: NDArray[np.int64],
    by_class: bool,
    edges: NDArray[np.float32],
    edge_bits: NDArray[np.int32],
    index: NDArray[np.int64],
    distance: NDArray[np.float64],
) -> None:
    """Do what `nearest` does, with distances that are off by some `slack` and exact ones where that matters.

    `bits` and `edge_bits`, a place for each group, are views of `scanned` and `edges` as integers.
    `index` must be -1 and `distance` infinite. Of several neighbours neither the order nor the distances
    are found.
    """
    # Loops instead of slices: they are compiled in a third of the time.
    n_groups, n_neighbors = index.shape[1], index.shape[2]
    group = np.empty(scanned.shape[1], np.int64)
    for j in range(group.size):
        group[j] = labels[j]
    members = np.empty(group.size, np.int32)
    surely, possibly = np.empty(n_groups), np.empty(n_groups)
    n_sure, n_doubts = np.empty(n_groups, np.int64), np.empty(n_groups, np.int64)
    doubts = np.empty(group.size, np.int64)
    for b in range(rows.size):
        if not by_class:
            for j in range(group.size):
                group[j] = labels[j] != labels[rows[b]]
        if rows[b] < group.size:
            scanned[b, rows[b]] = np.inf  # a row is not its own neighbour
        _set_edges(bits[b], group, n_neighbors, members, edge_bits)
        for g in range(n_groups):
            surely[g], possibly[g] = limits(edges[g], slack)
            n_sure[g], n_doubts[g] = 0, 0
        n_open = 0
        for j in range(group.size):
            here, g = scanned[b, j], group[j]
            if here < surely[g]:
                index[b, g, n_sure[g]] = j
                distance[b, g, n_sure[g]] = 0.0
                n_sure[g] += 1
            elif here <= possibly[g] and here < np.inf:
                doubts[n_open] = j
                n_doubts[g] += 1
                n_open += 1
        for i in range(n_open):
            j = doubts[i]
            g = group[j]
            if n_neighbors > 1 and n_sure[g] + n_doubts[g] <= n_neighbors:
                here = 0.0  # all are taken
            else:
                here = _pair_distance(points[rows[b]], points[j], weights, squared)
            _insert(index[b, g], distance[b, g], n_sure[g], here, j)


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
