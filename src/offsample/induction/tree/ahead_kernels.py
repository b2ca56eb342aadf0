"""The split that is best with the splits below it: exact to depth 2, of binned columns."""

import numpy as np
from numpy.typing import NDArray

from offsample._kernels import njit
from offsample._ties import DIGITS
from offsample._typing import Booleans, Bytes, Floats, Ints

UNITS = 10.0**DIGITS
THRESHOLD, MULTIWAY, SINGLE = 0, 1, 2  # one child per value; one value and the rest
MOST_BINS = 32

Table = tuple[NDArray[np.uint16], Ints, Booleans, NDArray[np.uint16]]


@njit(cache=True, nogil=True)
def bin_rows(
    table: Table, rows: NDArray[np.int32], most: int, ends: Ints, n_bins: Ints, bin_of: Bytes
) -> None:
    """Fill the bin of each row of a cell by each column, the last code of each bin, and their number.

    ``rows[j]`` are in the order of the codes of column j. A category has a bin per value, none if these are
    too many; bins of numbers have about as many rows.
    """
    codes, _, is_categorical, _ = table
    n = rows.shape[1]
    for j in range(rows.shape[0]):
        bins = 0
        for at in range(n):
            row, is_last = rows[j, at], at + 1 == n
            if bins >= MOST_BINS:
                bins = 0
                break
            bin_of[j, row] = bins
            ends[j, bins] = codes[j, row]
            is_full = is_categorical[j] or (at + 1) * most >= (bins + 1) * n
            if is_last or (is_full and codes[j, rows[j, at + 1]] != codes[j, row]):
                bins += 1
        n_bins[j] = bins


@njit(cache=True, nogil=True)
def look_ahead(
    pairs: Ints,
    rows: NDArray[np.int32],
    bins: tuple[Ints, Bytes, Booleans],
    y: NDArray[np.uint16],
    min_leaf: int,
    values: Floats,
    room: tuple[Ints, Ints, Ints],
    best: Floats,
) -> None:
    """Raise ``best[a, t, side]``, how pure a side of the split t of a column is after the best of another.

    `pairs` are columns, either of which comes first if they differ. One whose rows are all in one bin stands
    for no second split. A category is split into one value and the rest.
    """
    n_bins, bin_of, is_categorical = bins
    joint, sides, run = room
    n_classes = run.shape[1]
    for pair in range(pairs.shape[0]):
        a, b = pairs[pair, 0], pairs[pair, 1]
        for t in range(n_bins[a]):
            for v in range(n_bins[b]):
                for k in range(n_classes):
                    joint[t, v, k] = 0
        for at in range(rows.size):
            row = rows[at]
            joint[bin_of[a, row], bin_of[b, row], y[row]] += 1
        for turn in range(2 if a != b and n_bins[b] > 1 else 1):
            if turn:
                a, b = b, a
                for t in range(joint.shape[0]):
                    for v in range(t):
                        for k in range(n_classes):
                            joint[t, v, k], joint[v, t, k] = joint[v, t, k], joint[t, v, k]
            for v in range(n_bins[b]):
                for k in range(n_classes):
                    sides[0, v, k] = sides[1, v, k] = 0
                    for t in range(n_bins[a]):
                        sides[1, v, k] += joint[t, v, k]
            for t in range(n_bins[a] if is_categorical[a] else n_bins[a] - 1):
                for v in range(n_bins[b]):
                    for k in range(n_classes):
                        moved = joint[t, v, k]
                        if is_categorical[a] and t > 0:
                            moved -= joint[t - 1, v, k]
                        sides[0, v, k] += moved
                        sides[1, v, k] -= moved
                for side in range(2):
                    size, n_run = 0, 0
                    for k in range(n_classes):
                        run[0, k] = run[1, k] = 0
                        for v in range(n_bins[b]):
                            run[1, k] += sides[side, v, k]
                        size += run[1, k]
                    for v in range(n_bins[b]):
                        n_new, of_run, of_rest = 0, 0.0, 0.0
                        for k in range(n_classes):
                            if is_categorical[b]:
                                run[1, k] += run[0, k]
                                run[0, k] = 0
                            run[0, k] += sides[side, v, k]
                            run[1, k] -= sides[side, v, k]
                            n_new += sides[side, v, k]
                            of_run += values[0, run[0, k]]
                            of_rest += values[0, run[1, k]]
                        n_run = n_new if is_categorical[b] else n_run + n_new
                        rest = size - n_run
                        if n_new and n_run >= min_leaf and (rest == 0 or rest >= min_leaf):
                            pure = values[1, n_run] * of_run - values[2, n_run]
                            pure += values[1, rest] * of_rest - values[2, rest]
                            best[a, t, side] = max(best[a, t, side], pure)
