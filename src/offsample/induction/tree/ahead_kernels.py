"""The split that is best with the splits below it: exact to depth 2, of binned columns."""

import numpy as np
from numpy.typing import NDArray

from offsample._kernels import njit
from offsample._ties import DIGITS
from offsample._typing import Booleans, Floats, Ints

UNITS = 10.0**DIGITS
THRESHOLD, MULTIWAY, SINGLE = 0, 1, 2  # one child per value; one value and the rest

Table = tuple[NDArray[np.uint16], Ints, Booleans, NDArray[np.uint16]]


@njit(cache=True, nogil=True)
def _pure(counts: Ints, size: int, values: Floats) -> float:
    total = 0.0
    for k in range(counts.size):
        total += values[0, counts[k]]
    return float(values[1, size] * total - values[2, size])


@njit(cache=True, nogil=True)
def _bins(
    table: Table, rows: NDArray[np.int32], place: Ints, most: int, ends: Ints, bin_of: NDArray[np.uint8]
) -> Ints:
    """Fill the bin of each row of a cell and the last code of each bin; return the number of bins.

    A category has a bin per value, none if these are too many; bins of numbers have about as many rows.
    """
    codes, _, is_categorical, _ = table
    n_columns, n = rows.shape
    n_bins = np.zeros(n_columns, np.int64)
    for j in range(n_columns):
        begin, bins = 0, 0
        for at in range(n):
            row = rows[j, at]
            if bins >= ends.shape[1]:
                bins = 0
                break
            bin_of[j, place[row]] = bins
            last = at + 1 == n or codes[j, rows[j, at + 1]] != codes[j, row]
            full = is_categorical[j] or (at + 1) * most >= (bins + 1) * n
            if last and (full or at + 1 == n):
                ends[j, bins] = codes[j, row]
                bins += 1
                begin = at + 1
        n_bins[j] = bins if begin == n else 0
    return n_bins


@njit(cache=True, nogil=True)
def _then(
    joint: Ints, is_categorical: tuple[bool, bool], min_leaf: int, values: Floats, best: Floats
) -> None:
    """Raise ``best[t, side]``, how pure a side of the split t of a column is after the best of another."""
    n_first, n_second, n_classes = joint.shape
    sides = np.zeros((2, n_second, n_classes), np.int64)
    for t in range(n_first):
        sides[1] += joint[t]
    whole = sides[1].copy()
    run, rest = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    for t in range(n_first if is_categorical[0] else n_first - 1):
        for v in range(n_second):
            for k in range(n_classes):
                before = 0 if is_categorical[0] else sides[0, v, k]
                sides[0, v, k] = before + joint[t, v, k]
                sides[1, v, k] = whole[v, k] - sides[0, v, k]
        for side in range(2):
            here, size = sides[side], 0
            run[:], rest[:] = 0, 0
            for v in range(n_second):
                for k in range(n_classes):
                    rest[k] += here[v, k]
                    size += here[v, k]
            n_run = 0
            for v in range(n_second if is_categorical[1] else n_second - 1):
                n_new = 0
                for k in range(n_classes):
                    run[k] += here[v, k]
                    rest[k] -= here[v, k]
                    n_new += here[v, k]
                n_run += n_new
                if n_new and n_run >= min_leaf and size - n_run >= min_leaf:
                    pure = _pure(run, n_run, values) + _pure(rest, size - n_run, values)
                    best[t, side] = max(best[t, side], pure)
                if is_categorical[1]:
                    for k in range(n_classes):
                        run[k] -= here[v, k]
                        rest[k] += here[v, k]
                    n_run = 0


@njit(cache=True, nogil=True)
def _alone(counts: Ints, is_categorical: bool, min_leaf: int, values: Floats, best: Floats) -> float:
    """Fill how pure both sides of each split of a column are, -inf for no split; return the best sum."""
    whole = counts.sum(axis=0)
    run = np.zeros(whole.size, np.int64)
    most = -np.inf
    for t in range(len(counts) if is_categorical else len(counts) - 1):
        run = counts[t].copy() if is_categorical else run + counts[t]
        size, others = run.sum(), (whole - run).sum()
        if size >= min_leaf and others >= min_leaf:
            best[t, 0], best[t, 1] = _pure(run, size, values), _pure(whole - run, others, values)
            most = max(most, best[t, 0] + best[t, 1])
    return float(most)


@njit(cache=True, nogil=True)
def best_ahead(
    table: Table,
    rows: NDArray[np.int32],
    totals: Ints,
    limits: tuple[int, int, int, int],
    values: Floats,
    found: Ints,
) -> float:
    """Rounded gain of a split and the best ones below it, 0 for none; fill in what the first is.

    As `path_kernels.best_split`, of one value against the rest. `limits` are the rows of a leaf at least,
    those of the sample, and the columns (with the best splits by themselves) and bins at most.
    """
    codes, n_codes, is_categorical, y = table
    min_leaf, n_sample, most_columns, most_bins = limits
    n, n_classes, n_columns = rows.shape[1], totals.size, codes.shape[0]
    place = np.empty(codes.shape[1], np.int64)
    label = np.empty(n, np.int64)
    for at in range(n):
        place[rows[0, at]] = at
        label[at] = y[rows[0, at]]
    ends = np.zeros((n_columns, 32), np.int64)
    bin_of = np.zeros((n_columns, n), np.uint8)
    n_bins = _bins(table, rows, place, most_bins, ends, bin_of)
    best = np.full((n_columns, 32, 2), -np.inf)
    by_itself = np.full(n_columns, -np.inf)
    for j in range(n_columns):
        if n_bins[j] > 1:
            counts = np.zeros((n_bins[j], n_classes), np.int64)
            for at in range(n):
                counts[bin_of[j, at], label[at]] += 1
            by_itself[j] = _alone(counts, is_categorical[j], min_leaf, values, best[j])
    kept = np.sort(np.argsort(-np.rint(by_itself / n_sample * UNITS), kind="mergesort")[:most_columns])
    for place_a in range(kept.size):
        a = kept[place_a]
        for b in kept[place_a:]:
            if n_bins[a] < 2 or n_bins[b] < 2:
                continue
            joint = np.zeros((n_bins[a], n_bins[b], n_classes), np.int64)
            for at in range(n):
                joint[bin_of[a, at], bin_of[b, at], label[at]] += 1
            _then(joint, (is_categorical[a], is_categorical[b]), min_leaf, values, best[a])
            if a != b:
                turned = np.ascontiguousarray(joint.transpose(1, 0, 2))
                _then(turned, (is_categorical[b], is_categorical[a]), min_leaf, values, best[b])
    whole = _pure(totals, n, values)
    most = 0.0
    found[:] = -1
    for j in kept:
        for t in range(n_bins[j]):
            gain = best[j, t, 0] + best[j, t, 1] - whole
            gain = np.rint(gain / n_sample * UNITS) if gain > 0 else 0.0
            if gain > most:
                most = gain
                way = THRESHOLD if not is_categorical[j] else MULTIWAY if n_bins[j] == 2 else SINGLE
                found[0], found[1], found[2], found[3], found[4] = j, way, ends[j, t], 0, 0
    if most > 0 and found[1] == THRESHOLD:  # the next code that occurs
        j = found[0]
        found[3] = n_codes[j] - 1
        for row in rows[j]:
            if codes[j, row] > found[2]:
                found[3] = codes[j, row]
                break
    return most
