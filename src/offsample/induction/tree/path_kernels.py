"""A whole path by an index in one compiled loop, to see what it says of rows that were left out.

The splits are those of `TreeCell` for "entropy" and "gini" without a stopping rule, which is their twin.
Loops are written out: what numpy does in a line takes most of the time to compile, which all pay once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._kernels import njit
from offsample._typing import Booleans, Floats, Ints
from offsample.induction.tree.ahead_kernels import MULTIWAY, SINGLE, THRESHOLD, UNITS, Table

# As `SINGLE`, and nodes above a depth are split by what may follow.
AHEAD, DEPTH_AHEAD = 3, 2


@njit(cache=False, nogil=True)
def _best_split(
    table: Table,
    rows: NDArray[np.int32],
    ends: tuple[int, int],
    counts: tuple[Ints, Ints, Ints, Ints],
    limits: tuple[int, int, int, int, int],
    values: tuple[Floats, Floats, Floats],
    found: Ints,
    of_root: Floats,
) -> float:
    """Rounded gain of the best split of a cell, 0 for none; fill in what it is.

    That is the column, the way, the place, the next place that occurs, and if missing values go left.

    ``rows[j]`` are, between the ends, the rows of the cell in the order of the codes of column j; the first
    of `counts` is theirs. In small cells many splits have equal gains. Of these the one with the widest gap
    wins, as a share of the values of the column (two categories are all of it apart), then the column with
    the largest gain in the sample, which is kept in `of_root`; then the first column, one child per value
    before one value, the lower place and missing values to the right.
    """
    codes, n_codes, is_categorical, y = table
    ways, min_leaf, n_sample, most_single, most_children = limits
    of_count, factor, less = values
    totals, left, right, unknown = counts
    first, last = ends
    n, n_classes = last - first, totals.size
    total = 0.0
    for k in range(n_classes):
        total += of_count[totals[k]]
    whole = factor[n] * total - less[n]
    best, widest, alone = 0.0, 0.0, 0.0
    for j in range(codes.shape[0]):
        code, order, is_category = codes[j], rows[j], is_categorical[j]
        if code[order[first]] == code[order[last - 1]]:
            continue
        missing, known = n_codes[j] - 1, last
        for k in range(n_classes):
            left[k], right[k], unknown[k] = 0, totals[k], 0
        while not is_category and known > first and code[order[known - 1]] == missing:
            known -= 1
            unknown[y[order[known]]] += 1
        n_values, smallest, all_values = 0, n, 0.0
        top, wide, way, place, next_place, missing_left, begin = 0.0, 0.0, THRESHOLD, 0, 0, 0, first
        sum_left, sum_right = 0.0, total
        for at in range(first, known):
            k, here = y[order[at]], code[order[at]]
            sum_left += of_count[left[k] + 1] - of_count[left[k]]
            sum_right -= of_count[right[k]] - of_count[right[k] - 1]
            left[k] += 1
            right[k] -= 1
            after = missing if at + 1 == known else code[order[at + 1]]
            if after == here and at + 1 < known:
                continue
            for side in range(2 if known < last else 1):
                size, on_left, on_right = at + 1 - begin + side * (last - known), sum_left, sum_right
                if side:
                    on_left, on_right = 0.0, 0.0
                    for k in range(n_classes):
                        on_left += of_count[left[k] + unknown[k]]
                        on_right += of_count[right[k] - unknown[k]]
                gain = 0.0
                if size >= min_leaf and n - size >= min_leaf and size < n:
                    gain = factor[size] * on_left - less[size] + factor[n - size] * on_right - less[n - size]
                    gain = np.rint((gain - whole) / n_sample * UNITS)
                gap = 1.0 if is_category else (after - here) / missing if at + 1 < known else 0.0
                if gain > top or (gain == top > 0 and gap > wide):
                    top, wide, place, next_place, missing_left = gain, gap, here, after, side
            if is_category:  # where a value ends, its rows go back to the right
                n_values += 1
                size = at + 1 - begin
                smallest = min(smallest, size)
                all_values += factor[size] * sum_left - less[size]
                for k in range(n_classes):
                    left[k], right[k] = 0, totals[k]
                sum_left, sum_right, begin = 0.0, total, at + 1
        if is_category:
            way = SINGLE
            if ways == MULTIWAY or not 2 < n_values <= most_single:
                top = 0.0
            if (ways == MULTIWAY or n_values == 2) and n_values <= most_children and smallest >= min_leaf:
                gain = np.rint((all_values - whole) / n_sample * UNITS)
                if gain >= top:
                    top, wide, way, place = gain, 1.0, MULTIWAY, n_values
        if n == n_sample:
            of_root[j] = top
        is_ahead = wide > widest or (wide == widest and of_root[j] > alone)
        if top > best or (top == best > 0 and is_ahead):
            best, widest, alone = top, wide, of_root[j]
            found[0], found[1], found[2], found[3], found[4] = j, way, place, next_place, missing_left
    return best


@njit(cache=False, nogil=True)
def _children(
    table: Table, found: Ints, rows: NDArray[np.int32], ends: tuple[int, int], child_of: NDArray[np.int32]
) -> int:
    """Fill the child of each code that occurs in a cell, -1 for others; return the number of children."""
    codes, n_codes, _, _ = table
    column, way, place, after, side = found[0], found[1], found[2], found[3], found[4]
    first, last = ends
    missing = n_codes[column] - 1
    if way == THRESHOLD:
        # Codes in the gap that the rows leave go to the nearer side, as numbers do.
        middle = (place + after - 1) // 2 if after < missing else place
        for code in range(missing):
            child_of[code] = 1 if code > middle else 0
        n_left = 0
        while first + n_left < last and codes[column, rows[column, first + n_left]] <= place:
            n_left += 1
        if codes[column, rows[column, last - 1]] != missing:  # none is missing here: to the larger side
            side = 1 if 2 * n_left >= last - first else 0
        child_of[missing] = 1 - side
        return 2
    for code in range(missing + 1):  # a value that does not occur here is one of the rest
        child_of[code] = -1 if way == MULTIWAY else 0 if code == place else 1
    n_children = 0 if way == MULTIWAY else 2
    if way == MULTIWAY:
        for at in range(first, last):
            code = codes[column, rows[column, at]]
            if child_of[code] < 0:
                child_of[code] = n_children
                n_children += 1
    return n_children


@njit(cache=False, nogil=True)
def _divide(
    codes: NDArray[np.uint16],
    child_of: NDArray[np.int32],
    rows: NDArray[np.int32],
    ends: tuple[int, int],
    n_children: int,
    room: tuple[Ints, NDArray[np.int32], NDArray[np.int32]],
) -> None:
    """Bring the rows of a cell into the order of its children, those of none last; fill where each begins.

    Their order within a child is kept.
    """
    starts, child, spare = room
    for c in range(n_children + 2):
        starts[0, c] = 0
    for at in range(ends[0], ends[1]):
        c = child_of[codes[rows[0, at]]]
        c = c if c >= 0 else n_children
        child[rows[0, at]] = c
        starts[0, c + 1] += 1
    starts[0, 0] = ends[0]
    for c in range(n_children + 1):
        starts[0, c + 1] += starts[0, c]
    for j in range(rows.shape[0]):
        for c in range(n_children + 1):
            starts[1, c] = starts[0, c]
        for at in range(ends[0], ends[1]):
            c = child[rows[j, at]]
            spare[starts[1, c]] = rows[j, at]
            starts[1, c] += 1
        for at in range(ends[0], ends[1]):
            rows[j, at] = spare[at]


@njit(cache=True, nogil=True)
def grow_path(
    table: Table,
    sample: tuple[NDArray[np.int32], NDArray[np.int32]],
    tree: tuple[Ints, Ints, Floats, Floats, Ints],
    room: tuple[Any, NDArray[np.int32], tuple[Ints, NDArray[np.int32], NDArray[np.int32]], Floats],
    limits: tuple[int, int, int, int, int, int, int],
    values: tuple[Floats, Floats, Floats],
    state: tuple[int, int, int, int, int, int],
    wrong: Booleans,
) -> tuple[int, tuple[int, int, int, int, int, int]]:
    """Grow a path, and mark which of the rows that were left out each of its trees gets wrong.

    `sample` are the rows that grow it, in the order of the codes of each column, and those left out.
    A node of the tree has the first and last of its rows and of those left out, its depth, and if it was
    looked ahead from there; its classes; what it predicts, the largest class of its rows and one more,
    divided as above it; and the gain, below 0 if it is carried out, and place of its best split. `limits` are
    the way to split by categories, rows of a leaf at least, values that one may be split from, depth, splits
    and leaves at most, and the splits beyond twice as many as had the fewest errors that are grown.
    ``wrong[s, i]`` is filled for trees of s splits and rows i left out. Returns the number of splits; or -1,
    less a node that should be looked ahead from before the next call, which goes on from the state: nodes,
    the first that is new, splits, rows that are wrong, the fewest that were, and after how many splits.
    """
    codes, y = table[0], table[3]
    rows, left_out = sample
    nodes, counts, value, gain, found = tree
    of_cell, child_of, of_rows, of_root = room
    starts = of_rows[0]
    ways, min_leaf, most_single, max_depth, max_splits, max_leaves, beyond = limits
    n_classes = counts.shape[1]
    n_nodes, first_new, step, n_wrong, least, best_step = state
    while True:
        n_room = max_leaves - n_nodes + step + 1  # children that a split may have
        of_split = (ways, min_leaf, nodes[0, 1], most_single, n_room)
        for node in range(first_new, n_nodes):
            ends, depth, largest = (nodes[node, 0], nodes[node, 1]), nodes[node, 4], 0
            for k in range(n_classes):
                of_cell[0][k] = counts[node, k]
                largest = max(largest, counts[node, k])
            size = ends[1] - ends[0]
            if size < 2 * min_leaf or size == largest or depth >= max_depth or gain[node] != 0:
                continue
            if ways == AHEAD and depth < DEPTH_AHEAD and depth + 1 < max_depth and nodes[node, 5] == 0:
                return -1 - node, (n_nodes, node, step, n_wrong, least, best_step)
            gain[node] = _best_split(table, rows, ends, of_cell, of_split, values, found[node], of_root)
        node = 0
        for other in range(1, n_nodes):
            if gain[other] > gain[node]:
                node = other
        if step == max_splits or gain[node] <= 0 or step > 2 * best_step + beyond or n_room < 2:
            return step, state
        ends, of_column = (nodes[node, 0], nodes[node, 1]), codes[found[node, 0]]
        n_children = _children(table, found[node], rows, ends, child_of)
        if n_children > n_room:  # fitted in when the node was new
            gain[node], first_new = 0.0, node
            continue
        _divide(of_column, child_of, rows, ends, n_children, of_rows)
        for c in range(n_children):
            nodes[n_nodes + c, 0], nodes[n_nodes + c, 1] = starts[0, c], starts[0, c + 1]
        _divide(of_column, child_of, left_out, (nodes[node, 2], nodes[node, 3]), n_children, of_rows)
        # Rows whose value was not seen here stay what they were.
        for at in range(left_out.shape[1]):
            wrong[step + 1, left_out[0, at]] = wrong[step, left_out[0, at]]
        for c in range(n_children):
            new, size = n_nodes + c, nodes[n_nodes + c, 1] - nodes[n_nodes + c, 0]
            nodes[new, 2], nodes[new, 3], nodes[new, 4] = starts[0, c], starts[0, c + 1], nodes[node, 4] + 1
            for at in range(nodes[new, 0], nodes[new, 1]):
                counts[new, y[rows[0, at]]] += 1
            label = 0
            for k in range(n_classes):
                value[new, k] = (counts[new, k] + value[node, k]) / (size + 1.0)
                label = k if value[new, k] > value[new, label] else label
            for at in range(starts[0, c], starts[0, c + 1]):
                i = left_out[0, at]
                n_wrong += (1 if y[i] != label else 0) - (1 if wrong[step, i] else 0)
                wrong[step + 1, i] = y[i] != label
        step += 1
        if n_wrong < least:
            least, best_step = n_wrong, step
        gain[node] = -gain[node]
        first_new, n_nodes = n_nodes, n_nodes + n_children
