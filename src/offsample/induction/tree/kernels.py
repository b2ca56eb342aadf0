"""Compiled loops of tree growing and prediction. Imported only by the functions that call them.

Room that they need is handed to them: what loops allocate takes long to compile.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._kernels import njit
from offsample._ties import DIGITS
from offsample._typing import Booleans, Bytes, Floats, Ints, Words
from offsample.induction.kernels import popcount

GRID = 2048
_SIDE_BY_SIDE = 16
_UNITS = 10.0**DIGITS


@njit(cache=False, nogil=True)
def _grid_place(x: float, lowest: float, scale: float) -> int:
    """Place of a number in the grid of `bin_codes`: an index, whatever the number is."""
    place = (x - lowest) * scale  # NaN where the difference is infinite and the scale 0
    if place >= GRID - 1.0:
        return GRID - 1
    return int(place) if place > 0.0 else 0


@njit(cache=True, nogil=True)
def bin_codes(
    values: Floats, edges: Floats, out: NDArray[np.unsignedinteger], below: NDArray[np.int32]
) -> None:
    """Number of edges below each value; a missing one gets one more than the last bin. `below` is room: 0."""
    n_edges = edges.size
    # A regular grid tells most of the search; it is monotone, so rounding cannot make it wrong.
    lowest = edges[0] if n_edges else 0.0
    width = (edges[-1] - lowest) if n_edges else 0.0
    scale = (GRID - 1) / width if 0.0 < width < np.inf else 0.0
    if not scale < np.inf:  # a width so small that there is nothing between the edges
        scale = 0.0
    for e in range(n_edges):
        below[_grid_place(edges[e], lowest, scale) + 1] += 1
    for g in range(GRID):
        below[g + 1] += below[g]
    for i in range(values.size):
        x = values[i]
        if x != x:
            out[i] = n_edges + 1
            continue
        at = _grid_place(x, lowest, scale)
        low, high = below[at], below[at + 1]
        while low < high:
            middle = (low + high) // 2
            if edges[middle] < x:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@njit(cache=True, nogil=True)
def count_rows(
    codes: NDArray[np.unsignedinteger], rows: NDArray[np.int32], y: NDArray[Any], counts: NDArray[Any]
) -> None:
    """Add the rows of a cell to ``counts[code, class]``, or three sums each; `y` is aligned with `rows`."""
    for i in range(rows.size):
        code = codes[rows[i]]
        if y.ndim == 1:
            counts[code, y[i]] += 1
        else:
            counts[code, 0] += y[i, 0]
            counts[code, 1] += y[i, 1]
            counts[code, 2] += y[i, 2]


@njit(cache=True, nogil=True)
def number_gains(left: Floats, parent: Floats, power: int, of_parent: float) -> Floats:
    """Decrease of the terms of `NumberScoring` by splits into two, given the sums of the first child."""
    gain = np.empty(len(left))
    others = max(1.0, parent[0] - 1)
    for i in range(len(left)):
        total = 0.0
        for side in range(2):
            n, s, q = left[i, 0], left[i, 1], left[i, 2]
            if side:
                n, s, q = parent[0] - n, parent[1] - s, parent[2] - q
            if n == 1:  # predicted from the cell above
                total += (s - (parent[1] - s) / others) ** 2
            elif n > 0:
                factor = n / max(n - 1, 1.0)
                total += (factor if power == 1 else factor * factor) * max(q - s * s / n, 0.0)
        gain[i] = of_parent - total
    return gain


@njit(cache=True, nogil=True)
def count_folds(codes: NDArray[np.int32], y: NDArray[Any], folds: Bytes, counts: NDArray[Any]) -> None:
    """Add rows to ``counts[fold, code, class]``, or their numbers; all three are aligned."""
    for i in range(codes.size):
        if y.ndim == 1:
            counts[folds[i], codes[i], y[i]] += 1
        else:
            for k in range(y.shape[1]):
                counts[folds[i], codes[i], k] += y[i, k]


@njit(cache=True, nogil=True)
def list_thresholds(
    histogram: NDArray[Any], offsets: Ints, totals: NDArray[Any], limits: tuple[int, int], out: Any
) -> int:
    """Fill column, last bin on the left, if missing values go there, and left counts of different thresholds.

    Their number, twice that of bins at most, is returned.
    `limits` are the rows of a child at least, and how many of the first counts, those of all classes or that
    of the rows alone, add up to the size of a cell.

    The bins of column j are the rows ``offsets[j]`` to ``offsets[j + 1] - 1`` of the histogram, the last for
    missing values. The order is that of columns and bins, missing values right before left.
    """
    (min_leaf, n_sized), (found, left), n_classes = limits, out, totals.size
    total = 0 * totals[0]
    for k in range(n_sized):
        total += totals[k]
    n, running = 0, left.shape[0] - 1  # the last row of `left` is room
    for j in range(offsets.size - 1):
        for k in range(n_classes):
            left[running, k] = 0
        n_left = 0 * total
        missing = offsets[j + 1] - 1
        n_missing = 0 * total
        for k in range(n_sized):
            n_missing += histogram[missing, k]
        for b in range(offsets[j], missing):
            here = 0 * total
            for k in range(n_classes):
                left[running, k] += histogram[b, k]
                if k < n_sized:
                    here += histogram[b, k]
            n_left += here
            if here == 0:
                continue
            for side in range(2 if n_missing > 0 else 1):
                size = n_left + side * n_missing
                if size < min_leaf or total - size < min_leaf:
                    continue
                found[0, n], found[1, n], found[2, n] = j, b - offsets[j], side
                for k in range(n_classes):
                    left[n, k] = left[running, k] + side * histogram[missing, k]
                n += 1
    return n


@njit(cache=True, nogil=True)
def best_of_columns(column: Ints, gain: Floats, size: float, best: Ints) -> int:
    """Write the first of the best gains (to ten digits) of each column to `best`; return their number."""
    n = 0
    highest = 0.0
    for i in range(column.size):
        rounded = np.rint(gain[i] / size * _UNITS)
        if i == 0 or column[i] != column[i - 1]:
            n += 1
        elif rounded <= highest:
            continue
        best[n - 1], highest = i, rounded
    return n


@njit(cache=True, nogil=True)
def count_values(
    codes: NDArray[np.unsignedinteger],
    rows: NDArray[np.int32],
    y: NDArray[Any],
    table: NDArray[Any],
    sizes: NDArray[np.int32],
    present: NDArray[np.int32],
) -> int:
    """Fill ``table[code, class]`` (or sums) and ``sizes[code]``, 0 before, and codes; return their number."""
    n = 0
    for i in range(rows.size):
        code = codes[rows[i]]
        if sizes[code] == 0:
            present[n] = code
            n += 1
        sizes[code] += 1
        if y.ndim == 1:
            table[code, y[i]] += 1
        else:
            for k in range(y.shape[1]):
                table[code, k] += y[i, k]
    return n


@njit(cache=True, nogil=True)
def pair_sums(
    table: NDArray[np.int32], sizes: NDArray[np.int32], present: NDArray[np.int32], out: Floats
) -> None:
    """Sums over the children of a split with c > 1 rows, for `ShuffleTest`.

    Of A/(c-1), c, c/(c-1), c²/(c-1), c/(c-1)² and c(c-2)/(c-1)², with A the pairs of rows of one class.
    """
    out[:] = 0.0
    for i in range(present.size):
        c = sizes[present[i]]
        if c < 2:
            continue
        agreeing = 0.0
        for k in range(table.shape[1]):
            n = table[present[i], k]
            agreeing += n * (n - 1.0)
        out[0] += agreeing / (c - 1.0)
        out[1] += c
        out[2] += c / (c - 1.0)
        out[3] += c * (c / (c - 1.0))
        out[4] += c / (c - 1.0) ** 2
        out[5] += c * (c - 2.0) / (c - 1.0) ** 2


@njit(cache=True, nogil=True)
def sort_by_child(
    rows: NDArray[np.int32], child: NDArray[np.int32], starts: Ints, out: NDArray[np.int32]
) -> None:
    """Write the rows grouped by child, in their old order within each; `starts` is used up."""
    for i in range(rows.size):
        out[starts[child[i]]] = rows[i]
        starts[child[i]] += 1


@njit(cache=True, nogil=True)
def find_nodes(
    values: Floats,
    feature: NDArray[np.int32],
    threshold: Floats,
    missing_left: Booleans,
    first_child: NDArray[np.int32],
    tables: tuple[Ints, NDArray[np.int32], NDArray[np.int32]],
    out: NDArray[np.int32],
) -> None:
    """Last node that each row reaches: a leaf, or the node where its value was not seen."""
    table_start, table_size, table = tables
    for i in range(values.shape[0]):
        node = 0
        while feature[node] >= 0:
            x = values[i, feature[node]]
            if table_size[node] == 0:
                # Arithmetic instead of a branch, which would be guessed wrong half of the time.
                node = first_child[node] + (not (x <= threshold[node] or (x != x and missing_left[node])))
            else:
                code = int(x)
                child = table[table_start[node] + code] if code < table_size[node] else -1
                if child < 0:
                    break
                node = child
        out[i] = node


@njit(cache=True, nogil=True)
def find_leaves(
    values: Floats,
    feature: NDArray[np.uint32],
    threshold: Floats,
    missing_right: Booleans,
    first_child: NDArray[np.uint32],
    out: NDArray[np.int32],
) -> None:
    """Leaf of each row in a tree of thresholds, where a leaf is its own first child."""
    node = np.zeros(_SIDE_BY_SIDE, np.uint32)
    for start in range(0, values.shape[0], _SIDE_BY_SIDE):
        n = min(_SIDE_BY_SIDE, values.shape[0] - start)
        node[:n] = 0
        moving = True
        while moving:
            moving = False
            for i in range(n):
                at = node[i]
                x = values[start + i, feature[at]]
                # Arithmetic instead of a branch, which would be guessed wrong half of the time.
                right = (x > threshold[at]) | ((x != x) & missing_right[at])
                node[i] = first_child[at] + np.uint32(right)
                moving |= node[i] != at
        for i in range(n):
            out[start + i] = node[i]


@njit(cache=False, nogil=True)
def _count_common(bits: Words, a: int, b: int, c: int) -> int:
    n = np.uint64(0)
    for i in range(bits.shape[1]):
        n += popcount(bits[a, i] & bits[b, i] & bits[c, i])
    return int(n)


@njit(cache=True, nogil=True)
def best_pair(bits: Words, owner: Ints, n: int, size: Floats) -> tuple[float, int, int, int]:
    """Largest standardised interaction of two tests of different columns, the tests, and the number tried.

    ``bits`` of the n rows are those of tests, one for each owner, then of classes. `size` is room, for tests
    and classes: of all their rows, then of those of each class. The statistic of tests a, b and class k is
    the sum over the rows of class k of ``(a - mean(a)) (b - mean(b))``, standardised by its moments when the
    classes are shuffled. Of equal ones (to ten digits) the first.
    """
    n_tests, n_classes = owner.size, bits.shape[0] - owner.size
    for t in range(bits.shape[0]):
        for k in range(-1, n_classes):
            size[t, 1 + k] = _count_common(bits, t, t, t if k < 0 else n_tests + k)
    best, highest, first, second, n_tried = 0.0, 0.0, -1, -1, 0
    for s in range(n_tests):
        p = size[s, 0] / n
        for t in range(s + 1, n_tests):
            if owner[s] == owner[t]:
                continue
            q = size[t, 0] / n
            both = _count_common(bits, s, t, t)
            mean = both / n - p * q
            square = (1 - 2 * p) * (1 - 2 * q) * both / n + (1 - 2 * p) * q * q * p + p * p * (1 - 2 * q) * q
            spread = square + p * p * q * q - mean * mean
            for k in range(n_classes):
                total = size[n_tests + k, 0]
                rarest = min(total, n - total) * min(p, 1 - p) * min(q, 1 - q)
                if rarest < 5.0 or spread < 1e-9:  # the normal law does not hold, or nothing varies
                    continue
                n_tried += 1
                here = _count_common(bits, s, t, n_tests + k)
                found = here - q * size[s, 1 + k] - p * size[t, 1 + k] + total * p * q - total * mean
                variance = spread * n * total * (1 - total / n) / (n - 1)
                z = abs(found) / np.sqrt(variance)
                rounded = np.rint(z * _UNITS)
                if rounded > highest:
                    best, highest, first, second = z, rounded, s, t
    return best, first, second, n_tried
