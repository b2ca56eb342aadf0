"""Compiled loops over plain arrays, imported only by the functions that call them: numba loads in .3 s.

Every distance is summed in the same order of the features, which the compiler may not change: rows that are
equally near on one processor, in one block or thread, are so in every other.

The first call waits for the compiler, which takes long over slices, functions of arrays and calls of small
functions: what every table needs is written without them, and what few tables need is apart.
"""

import numpy as np
from numpy.typing import NDArray

from offsample._kernels import njit
from offsample._typing import Floats, Ints
from offsample.margin._sketch import Exact, Neighbors, Room, Singles
from offsample.margin._space import ABSOLUTE, CATEGORY, INCOMPLETE, SQUARED, Space

# Rows of a column that stay in the first-level cache while a block of rows is compared with them.
_TILE = 2048
Reals = NDArray[np.floating]
Belonging = tuple[Ints, Ints]  # classes of rows, and what each belongs to
_INFINITE = 0x7F800000  # the bits of an infinite float


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
def add_differences(space: Space, feature: int, weight: float, row: int, start: int, out: Floats) -> None:
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
        gap, expected = space.gaps[feature], space.expected[space.expected_row[feature]]
        for j in range(b.size):
            out[j] += weight * difference(kind, gap, a, b[j], expected[row], expected[start + j])


@njit(cache=True, nogil=True)
def scan(values: Reals, squared: bool, features: Ints, weights: Reals, rows: Ints, out: Reals) -> None:
    """Add to ``out[b, j]`` the weighted differences of ``rows[b]`` and row j, in the precision of `values`.

    `weights` go with `features`, whose number is a multiple of four: four columns share one pass over `out`.
    """
    n_rows = out.shape[1]
    for start in range(0, n_rows, _TILE):
        # Indexes that cannot be negative are what the compiler turns into vector instructions.
        tile = range(np.uint64(start), np.uint64(n_rows if n_rows - start < _TILE else start + _TILE))
        for k in range(0, features.size, 4):
            f0 = features[k]
            f1 = features[k + 1]
            f2 = features[k + 2]
            f3 = features[k + 3]
            w0 = weights[k]
            w1 = weights[k + 1]
            w2 = weights[k + 2]
            w3 = weights[k + 3]
            for b in range(rows.size):
                i = rows[b]
                a0 = values[f0, i]
                a1 = values[f1, i]
                a2 = values[f2, i]
                a3 = values[f3, i]
                for j in tile:
                    d0 = abs(a0 - values[f0, j])
                    d1 = abs(a1 - values[f1, j])
                    d2 = abs(a2 - values[f2, j])
                    d3 = abs(a3 - values[f3, j])
                    if squared:
                        d0 *= d0
                        d1 *= d1
                        d2 *= d2
                        d3 *= d3
                    out[b, j] += (w0 * d0 + w1 * d1) + (w2 * d2 + w3 * d3)


@njit(cache=True, nogil=True)
def scan_mixed(space: Space, features: Ints, weights: Floats, rows: Ints, out: Floats) -> None:
    """Do what `scan` does for columns of any kind and number."""
    for start in range(0, out.shape[1], _TILE):
        stop = min(start + _TILE, out.shape[1])
        for k in range(features.size):
            for b in range(rows.size):
                add_differences(space, features[k], weights[k], rows[b], start, out[b, start:stop])


@njit(cache=True, nogil=True)
def nearest(
    distances: Floats, of: Belonging, rows: Ints, by_class: bool, index: Ints, distance: Floats
) -> None:
    """Find the nearest of the first rows in each group, given the distances of `rows` to them.

    Groups are the classes, or (0) the row's own class and (1) all others. `index` and `distance` come as
    `no_neighbors`. Of equally near rows the first comes first; none belongs to what the row belongs to.
    """
    labels, own = of
    last = index.shape[2] - 1
    for b in range(rows.size):
        i = rows[b]
        for j in range(distances.shape[1]):
            group = labels[j] if by_class else labels[j] != labels[i]
            here = distances[b, j]
            if own[j] == own[i] or here >= distance[b, group, last]:
                continue
            place = last
            while place > 0 and here < distance[b, group, place - 1]:
                distance[b, group, place] = distance[b, group, place - 1]
                index[b, group, place] = index[b, group, place - 1]
                place -= 1
            distance[b, group, place] = here
            index[b, group, place] = j


@njit(cache=True, nogil=True)
def nearest_scanned(
    scanned: Singles, exact: Exact, of: Belonging, rows: Ints, by_class: bool, room: Room, found: Neighbors
) -> None:
    """Do what `nearest` does, with distances that are slightly off and exact ones where that matters.

    Of several neighbours neither the order nor the distances are found.
    """
    labels, own = of
    points, weights, squared, limits = exact.points, exact.weights, exact.squared, exact.limits
    members, values, bits = room.members, room.values, room.bits
    index, distance = found.neighbor, found.distance
    n_groups, n_neighbors = index.shape[1], index.shape[2]
    last = n_neighbors - 1
    for b in range(rows.size):
        i = rows[b]
        for g in range(n_groups):
            label = g if by_class else labels[i]
            same = by_class or g == 0
            count = 0
            for j in range(scanned.shape[1]):
                members[count] = j
                values[count] = scanned[b, j]
                count += ((labels[j] == label) == same) & (own[j] != own[i])

            # Find a distance with `n_neighbors` rows up to it or, among equal ones, the first with at least
            # as many. Floats that are not negative are ordered as their bits are; integers compare faster.
            surely = possibly = np.inf
            if n_neighbors == 1 or count > n_neighbors:
                low = _INFINITE
                high = -1
                for m in range(count):
                    here = bits[m]
                    low = here if here < low else low
                    high = here if here > high else high
                if n_neighbors == 1:
                    high = low
                low -= 1
                while high - low > 1:
                    middle = (low + high) >> 1
                    most = np.int32(middle)  # compared with many at once if of their type
                    n_within = 0
                    for m in range(count):
                        n_within += bits[m] <= most
                    if n_within >= n_neighbors:
                        high = middle
                    if n_within <= n_neighbors:
                        low = middle
                bits[count] = high
                edge = values[count]
                surely = limits[0] * edge - limits[1]
                possibly = limits[2] * edge + limits[3]

            place = n_doubts = 0
            for m in range(count):
                if values[m] < surely:
                    index[b, g, place] = members[m]
                    distance[b, g, place] = 0.0
                    place += 1
                elif values[m] <= possibly:
                    members[n_doubts] = members[m]
                    n_doubts += 1
            first = place
            n_compared = weights.size
            if n_neighbors > 1 and first + n_doubts == last + 1:
                n_compared = 0  # all are taken
            in_fours = n_compared - n_compared % 4
            for m in range(n_doubts):
                j = members[m]
                s0 = s1 = s2 = s3 = 0.0  # four sums side by side, none waiting for another
                for f in range(0, in_fours, 4):
                    d0 = abs(points[i, f] - points[j, f])
                    d1 = abs(points[i, f + 1] - points[j, f + 1])
                    d2 = abs(points[i, f + 2] - points[j, f + 2])
                    d3 = abs(points[i, f + 3] - points[j, f + 3])
                    s0 += weights[f] * (d0 * d0 if squared else d0)
                    s1 += weights[f + 1] * (d1 * d1 if squared else d1)
                    s2 += weights[f + 2] * (d2 * d2 if squared else d2)
                    s3 += weights[f + 3] * (d3 * d3 if squared else d3)
                for f in range(in_fours, n_compared):
                    d0 = abs(points[i, f] - points[j, f])
                    s0 += weights[f] * (d0 * d0 if squared else d0)
                here_exactly = (s0 + s1) + (s2 + s3)
                if here_exactly < distance[b, g, last]:
                    place = last
                    while place > first and here_exactly < distance[b, g, place - 1]:
                        distance[b, g, place] = distance[b, g, place - 1]
                        index[b, g, place] = index[b, g, place - 1]
                        place -= 1
                    distance[b, g, place] = here_exactly
                    index[b, g, place] = j


@njit(cache=True, nogil=True)
def add_pairs(
    points: Floats, squared: bool, rows: Ints, neighbors: Ints, coefficients: Floats, out: Floats
) -> None:
    """Add to each feature the weighted differences between rows and their neighbours; -1 is passed over."""
    for b in range(rows.size):
        for k in range(neighbors.shape[1]):
            i, j, coefficient = rows[b], neighbors[b, k], coefficients[b, k]
            if j < 0:
                continue
            for f in range(out.size):
                gap = abs(points[i, f] - points[j, f])
                out[f] += coefficient * (gap * gap if squared else gap)


@njit(cache=True, nogil=True)
def add_mixed_pairs(space: Space, rows: Ints, neighbors: Ints, coefficients: Floats, out: Floats) -> None:
    """Do what `add_pairs` does for columns of any kind."""
    for q in range(rows.size):
        for k in range(neighbors.shape[1]):
            i, j, coefficient = rows[q], neighbors[q, k], coefficients[q, k]
            if j < 0:
                continue
            for f in range(out.size):
                expected = space.expected[space.expected_row[f]]
                a, b = space.rows[i, f], space.rows[j, f]
                gap = difference(space.kinds[f], space.gaps[f], a, b, expected[i], expected[j])
                out[f] += coefficient * gap
