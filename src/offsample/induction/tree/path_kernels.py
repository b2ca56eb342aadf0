"""A whole path by an index in one compiled loop, to see what it says of rows that were left out.

The splits are those of `TreeCell` for "entropy" and "gini" without a stopping rule, which is their twin.
"""

import numpy as np
from numpy.typing import NDArray

from offsample._kernels import njit
from offsample._typing import Booleans, Floats, Ints
from offsample.induction.tree.ahead_kernels import MULTIWAY, SINGLE, THRESHOLD, UNITS, Table, best_ahead

# As `SINGLE`, and nodes above a depth are split by what may follow. They are split before all others: so much
# is added to their gains.
AHEAD, DEPTH_AHEAD, FIRST = 3, 2, 10.0 * UNITS
INDEXES = {"entropy": 0, "gini": 1, "ginger": 2}
# Columns and bins that are looked at there: fewer bins of fewer rows, and of more classes.
_COLUMNS, _BINS, _ROWS_OF_BIN = 16, 16, 16


@njit(cache=True, nogil=True)
def index_values(index: int, most: int, n_classes: int) -> Floats:
    """Return f, a and b, of which ``a[n] Σ f[counts] - b[n]`` is how pure n rows are.

    That is minus the entropy, in rows times nats; the sum of squares of the counts over their number (Gini);
    or the rows that the other rows of the cell get right by chance, off the sample (Ginger).
    """
    values = np.zeros((3, most + 1))
    for n in range(1, most + 1):
        values[0, n] = n * np.log(n) if index == 0 else n * n
        if index == 0:
            values[1, n], values[2, n] = 1.0, values[0, n]
        elif index == 1:
            values[1, n] = 1.0 / n
        elif n > 1:
            values[1, n], values[2, n] = 1.0 / (n - 1), n / (n - 1)
        else:
            values[2, n] = -1.0 / n_classes
    return values


@njit(cache=True, nogil=True)
def best_split(
    table: Table,
    rows: NDArray[np.int32],
    totals: Ints,
    limits: tuple[int, int, int, int],
    values: Floats,
    found: Ints,
) -> float:
    """Rounded gain of the best split of a cell, 0 for none; fill in what it is.

    That is the column, the way, the place, the next place that occurs, and if missing values go left.

    ``rows[j]`` are the rows of the cell in the order of the codes of column j. Of equal gains the first
    column, one child per value before one value, the lower place and missing values to the right win.
    """
    codes, n_codes, is_categorical, y = table
    ways, min_leaf, n_sample, most_single = limits
    of_count, factor, less = values
    n, n_classes = rows.shape[1], totals.size
    total = 0.0
    for k in range(n_classes):
        total += of_count[totals[k]]
    whole = factor[n] * total - less[n]
    best = 0.0
    found[:] = -1
    left, right, unknown = np.zeros(n_classes, np.int64), totals.copy(), totals.copy()
    for j in range(codes.shape[0]):
        code, order = codes[j], rows[j]
        if code[order[0]] == code[order[n - 1]]:
            continue
        # Where a value of a category ends, its rows go back to the right.
        missing = n_codes[j] - 1
        n_known = n
        unknown[:] = 0
        while not is_categorical[j] and n_known and code[order[n_known - 1]] == missing:
            n_known -= 1
            unknown[y[order[n_known]]] += 1
        n_values, smallest, all_values = 0, n, 0.0
        single, value, begin = 0.0, -1, 0
        sum_left, sum_right = 0.0, total
        for at in range(n_known):
            k = y[order[at]]
            sum_left += of_count[left[k] + 1] - of_count[left[k]]
            sum_right -= of_count[right[k]] - of_count[right[k] - 1]
            left[k] += 1
            right[k] -= 1
            here = int(code[order[at]])
            if at + 1 < n_known and code[order[at + 1]] == here:
                continue
            size = at + 1 - begin
            gain = 0.0
            if size >= min_leaf and n - size >= min_leaf and size < n:
                gain = factor[size] * sum_left - less[size] + factor[n - size] * sum_right - less[n - size]
                gain = np.rint((gain - whole) / n_sample * UNITS)
            if is_categorical[j]:
                n_values += 1
                smallest = min(smallest, size)
                all_values += factor[size] * sum_left - less[size]
                if gain > single:
                    single, value = gain, here
                for i in range(begin, at + 1):
                    k = y[order[i]]
                    left[k] -= 1
                    right[k] += 1
                sum_left, sum_right, begin = 0.0, total, at + 1
                continue
            after = int(code[order[at + 1]]) if at + 1 < n_known else missing
            if gain > best:
                best = gain
                found[0], found[1], found[2], found[3], found[4] = j, THRESHOLD, here, after, 0
            n_left = size + n - n_known
            if n_known < n and n_left >= min_leaf and n - n_left >= min_leaf and n_left < n:
                also_left, also_right = 0.0, 0.0
                for k in range(n_classes):
                    also_left += of_count[left[k] + unknown[k]]
                    also_right += of_count[right[k] - unknown[k]]
                gain = factor[n_left] * also_left - less[n_left]
                gain += factor[n - n_left] * also_right - less[n - n_left]
                gain = np.rint((gain - whole) / n_sample * UNITS)
                if gain > best:
                    best = gain
                    found[0], found[1], found[2], found[3], found[4] = j, THRESHOLD, here, after, 1
        if not is_categorical[j]:
            left[:] = 0
            right[:] = totals
            continue
        if (ways == MULTIWAY or n_values == 2) and smallest >= min_leaf:
            gain = np.rint((all_values - whole) / n_sample * UNITS)
            if gain > best:
                best = gain
                found[0], found[1], found[2], found[3], found[4] = j, MULTIWAY, n_values, 0, 0
        if ways == SINGLE and 2 < n_values <= most_single and single > best:
            best = single
            found[0], found[1], found[2], found[3], found[4] = j, SINGLE, value, 0, 0
    return best


@njit(cache=True, nogil=True)
def best_at(
    table: Table,
    rows: NDArray[np.int32],
    totals: Ints,
    limits: tuple[int, int, int, int],
    values: Floats,
    depths: tuple[int, int],
    found: Ints,
) -> float:
    """As `best_split`, of a cell at a depth, with so many below it; it may look ahead."""
    ways, min_leaf, n_sample, most_single = limits
    if ways == AHEAD and depths[0] < DEPTH_AHEAD and depths[1] > 1:
        n_bins = max(4, min(_BINS, rows.shape[1] // _ROWS_OF_BIN, 2 * _BINS // totals.size))
        of_ahead = (max(2, min_leaf), n_sample, _COLUMNS, n_bins)
        gain = best_ahead(table, rows, totals, of_ahead, values, found)
        if gain > 0:
            return float(gain + FIRST)
    ways = min(ways, SINGLE)
    return best_split(table, rows, totals, (ways, min_leaf, n_sample, most_single), values, found)


@njit(cache=True, nogil=True)
def _children(table: Table, found: Ints, rows: NDArray[np.int32], child_of: NDArray[np.int32]) -> int:
    """Fill the child of each code that occurs in a cell, -1 for others; return the number of children."""
    codes, n_codes, _, _ = table
    column, way, place, after, side = found
    missing_left = side == 1
    n_here = n_codes[column]
    if way == THRESHOLD:
        # Codes in the gap that the rows leave go to the nearer side, as numbers do.
        middle = (place + after - 1) // 2 if after < n_here - 1 else place
        for code in range(n_here - 1):
            child_of[code] = code > middle
        order = rows[column]
        n_left = 0
        while n_left < order.size and codes[column, order[n_left]] <= place:
            n_left += 1
        if codes[column, order[order.size - 1]] != n_here - 1:  # none is missing here: to the larger side
            missing_left = 2 * n_left >= order.size
        child_of[n_here - 1] = not missing_left
        return 2
    for code in range(n_here):  # a value that does not occur here is one of the rest
        child_of[code] = -1 if way == MULTIWAY else code != place
    n_children = 2
    if way == MULTIWAY:
        n_children = 0
        for i in rows[column]:
            code = codes[column, i]
            if child_of[code] < 0:
                child_of[code] = n_children
                n_children += 1
    return n_children


@njit(cache=True, nogil=True)
def _sort(rows: NDArray[np.int32], child: NDArray[np.int32], starts: Ints, spare: NDArray[np.int32]) -> None:
    """Bring the rows of a cell into the order of their children, keeping their order within each."""
    at = starts.copy()
    for i in range(rows.size):
        to = child[rows[i]]
        spare[at[to]] = rows[i]
        at[to] += 1
    rows[:] = spare[: rows.size]


@njit(cache=True, nogil=True)
def left_out_errors(
    table: Table,
    orders: NDArray[np.int32],
    part: Booleans,
    n_classes: int,
    limits: tuple[int, int, int, int, int, int, int, int],
    wrong: Booleans,
) -> int:
    """Grow a path without the rows of a part, and mark which of those each of its trees gets wrong.

    ``orders[j]`` are all rows in the order of the codes of column j; `limits` are the way to split by
    categories, rows of a leaf at least, values that one may be split from, depth, splits and leaves at most,
    the splits beyond twice as many as had the fewest errors that are grown, and the index.
    A leaf predicts the largest class of its rows and one more, divided as above it.
    ``wrong[s, i]`` is filled for trees of s splits and rows i of the part. Returns the number of splits.
    """
    codes, n_codes, _, y = table
    ways, min_leaf, most_single, max_depth, max_splits, max_leaves, beyond, index = limits
    n_columns, n_rows = codes.shape
    all_out = np.flatnonzero(part).astype(np.int32)
    left_out = all_out.copy()
    n = n_rows - left_out.size
    rows = np.empty((n_columns, n), np.int32)
    for j in range(n_columns):
        at = 0
        for i in orders[j]:
            if not part[i]:
                rows[j, at] = i
                at += 1
    most = 2 * n + 1
    start, depth = np.zeros((2, most + 1), np.int64), np.zeros(most, np.int64)
    stop = np.zeros((2, most + 1), np.int64)  # the rows that grow the tree, and those that were left out
    stop[0, 0], stop[1, 0] = n, left_out.size
    counts, value = np.zeros((most, n_classes), np.int64), np.zeros((most, n_classes))
    for i in rows[0]:
        counts[0, y[i]] += 1
    value[0] = counts[0] / n
    child, child_of = np.zeros(n_rows, np.int32), np.zeros(n_codes.max() + 1, np.int32)
    spare = np.empty(max(n, left_out.size), np.int32)
    of_index = index_values(index, n, n_classes)
    gain = np.zeros(most)
    found = np.zeros((most, 5), np.int64)
    n_nodes, first_new = 1, 0
    for i in left_out:
        wrong[0, i] = y[i] != value[0].argmax()
    n_wrong = least = wrong[0].sum()
    best_step = 0
    for step in range(max_splits + 1):
        for node in range(first_new, n_nodes):
            size = stop[0, node] - start[0, node]
            if size < 2 * min_leaf or size == counts[node].max() or depth[node] >= max_depth:
                continue
            of_node = np.ascontiguousarray(rows[:, start[0, node] : stop[0, node]])
            of_split = (ways, min_leaf, n, most_single)
            may_follow = max_depth - depth[node]
            gain[node] = best_at(
                table, of_node, counts[node], of_split, of_index, (depth[node], may_follow), found[node]
            )
        node = int(gain[:n_nodes].argmax())
        if step == max_splits or gain[node] <= 0 or step > 2 * best_step + beyond:
            return step
        column, begin, end = found[node, 0], start[0, node], stop[0, node]
        here = rows[:, begin:end]
        n_children = _children(table, found[node], here, child_of)
        if n_nodes - step + n_children - 1 > max_leaves:
            return step
        starts = np.zeros(n_children, np.int64)
        for i in here[0]:
            child[i] = child_of[codes[column, i]]
            counts[n_nodes + child[i], y[i]] += 1
        for c in range(1, n_children):
            starts[c] = starts[c - 1] + counts[n_nodes + c - 1].sum()
        for j in range(n_columns):
            _sort(here[j], child, starts, spare)
        held, n_seen = left_out[start[1, node] : stop[1, node]], 0
        sizes = np.zeros(n_children, np.int64)
        for i in held:
            child[i] = child_of[codes[column, i]]
            if child[i] >= 0:
                sizes[child[i]] += 1
        for c in range(n_children):
            new = n_nodes + c
            depth[new] = depth[node] + 1
            start[0, new] = begin + starts[c]
            stop[0, new] = begin + starts[c] + counts[new].sum()
            start[1, new] = start[1, node] + n_seen
            n_seen += sizes[c]
            stop[1, new] = start[1, node] + n_seen
            value[new] = (counts[new] + value[node]) / (counts[new].sum() + 1.0)
        at = start[1, n_nodes : n_nodes + n_children] - start[1, node]
        for i in held:
            if child[i] >= 0:
                spare[at[child[i]]] = i
                at[child[i]] += 1
        held[:n_seen] = spare[:n_seen]
        # Rows whose value was not seen here stay what they were.
        for i in all_out:
            wrong[step + 1, i] = wrong[step, i]
        for c in range(n_children):
            label = value[n_nodes + c].argmax()
            for i in left_out[start[1, n_nodes + c] : stop[1, n_nodes + c]]:
                n_wrong += int(y[i] != label) - int(wrong[step, i])
                wrong[step + 1, i] = y[i] != label
        if n_wrong < least:
            least, best_step = n_wrong, step + 1
        gain[node] = 0.0
        first_new, n_nodes = n_nodes, n_nodes + n_children
    return max_splits
