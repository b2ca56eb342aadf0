"""Counting of integer codes: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._typing import Ints, Words

# int64 where the numbers count rows, float64 where they are sums of importance weights.
Counts = NDArray[Any]

# From here on the compiled loop is used: three times as fast, after .3 s for the import of numba.
KERNEL_ROWS = 1_000_000
_INT32_MAX = np.iinfo(np.int32).max


def count_cells(
    codes: ArrayLike, y_codes: ArrayLike, n_cells: int, n_classes: int, sample_weight: ArrayLike | None = None
) -> Counts:
    """Count the samples of each class in each cell.

    Parameters
    ----------
    codes : array-like of int, shape (n_samples,)
        The cell of each row, from 0 to ``n_cells - 1``.
    y_codes : array-like of int, shape (n_samples,)
        The class of each row, from 0 to ``n_classes - 1``.
    n_cells, n_classes : int
        Shape of the result.
    sample_weight : array-like of shape (n_samples,), optional
        Added instead of 1.

    Returns
    -------
    ndarray of shape (n_cells, n_classes)
        int64, or float64 where some weight is not a whole number.

    Examples
    --------
    >>> from offsample.counts import count_cells
    >>> count_cells([0, 2, 2], [1, 0, 0], n_cells=3, n_classes=2).tolist()
    [[0, 1], [0, 0], [2, 0]]
    """
    cell, label = as_codes(codes, "codes"), as_codes(y_codes, "the class codes")
    if len(cell) != len(label):
        raise ValueError(f"codes has {len(cell)} rows, but the class codes have {len(label)}")
    weights = None if sample_weight is None else row_weights(sample_weight, len(cell))
    if len(cell) >= KERNEL_ROWS:
        return _count_compiled(cell, label, n_cells, n_classes, weights)
    if len(cell):
        inside = (cell.min() >= 0, cell.max() < n_cells, label.min() >= 0, label.max() < n_classes)
        if not all(inside):
            outside = (cell < 0) | (cell >= n_cells) | (label < 0) | (label >= n_classes)
            _raise_outside(int(outside.argmax()), cell, label, n_cells, n_classes)
    flat = np.multiply(cell, n_classes, dtype=np.intp)
    flat += label
    counts = np.bincount(flat, weights, minlength=n_cells * n_classes).reshape(n_cells, n_classes)
    return counts if weights is None or weights.dtype == np.float64 else counts.astype(np.int64)


def _count_compiled(
    cell: NDArray[np.integer],
    label: NDArray[np.integer],
    n_cells: int,
    n_classes: int,
    weights: Counts | None,
) -> Counts:
    from offsample import _kernels

    # Half the memory traffic of int64, which decides the time when there are many cells.
    narrow = np.int32 if len(cell) <= _INT32_MAX else np.int64
    counts = np.zeros((n_cells, n_classes), narrow if weights is None else weights.dtype)
    bad_row = _kernels.count_into(cell, label, counts, weights)
    if bad_row >= 0:
        _raise_outside(bad_row, cell, label, n_cells, n_classes)
    return counts.astype(np.int64, copy=False) if weights is None else counts


def most_cells(n_rows: int) -> int:
    """Integers below this number are counted as they are; a larger table would be nearly empty."""
    return 4 * n_rows + 1024


def _raise_outside(
    row: int, cell: NDArray[np.integer], label: NDArray[np.integer], n_cells: int, n_classes: int
) -> NoReturn:
    if not 0 <= cell[row] < n_cells:
        raise ValueError(f"row {row} has cell code {cell[row]}: expected 0 to {n_cells - 1}")
    raise ValueError(f"row {row} has class code {label[row]}: expected 0 to {n_classes - 1}")


def collapse(counts: Counts, multiplicity: Ints | None = None) -> tuple[Counts, Ints]:
    """Distinct rows in lexicographic order, with how often each occurs (or their multiplicities summed)."""
    # A row becomes one integer, its digits in mixed base; where they overflow, the integers so far are
    # replaced by their ranks, which keeps the order.
    key = np.zeros(len(counts), np.int64)
    n_keys = 1
    for column in counts.T:
        digit = column if column.dtype.kind in "iu" else np.unique(column, return_inverse=True)[1]
        base = int(digit.max(initial=0)) + 1
        if n_keys > (1 << 62) // base:
            key, n_keys = _ranks(key)
        key = key * base + digit
        n_keys *= base
    if (key[1:] > key[:-1]).all():  # nothing to do
        return counts, np.ones(len(counts), np.int64) if multiplicity is None else multiplicity
    if n_keys > 4 * len(key) + 1024:
        key, n_keys = _ranks(key)
    some_row = np.zeros(n_keys, np.intp)
    some_row[key] = np.arange(len(key))
    if multiplicity is None:
        times = np.bincount(key, minlength=n_keys)
    else:
        times = np.zeros(n_keys, np.int64)  # bincount would add floats
        np.add.at(times, key, multiplicity)
    present = np.flatnonzero(times)
    return counts[some_row[present]], times[present]


def stable_order(codes: NDArray[np.integer], n_codes: int) -> Ints:
    """Rows in the order of their codes, from 0 to ``n_codes - 1``; in time linear in their number."""
    from scipy.sparse import coo_array

    rows = np.arange(len(codes))
    return np.asarray(coo_array((rows, (codes, rows)), (n_codes, len(rows))).tocsr().data)


def over_classes(values: NDArray[Any]) -> NDArray[Any]:
    """Sum over the last axis, that of the classes, from the first to the last.

    The same as numpy's sum, which takes several times as long where there are many cells of a few classes;
    from eight classes on its order is another, and it is left to numpy.
    """
    n_classes = values.shape[-1]
    if not 1 < n_classes < 8 or values.dtype not in (np.int64, np.float64):
        return np.asarray(values.sum(axis=-1))
    total = values[..., 0] + values[..., 1]
    for k in range(2, n_classes):
        total = total + values[..., k]
    return np.asarray(total)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Read-only view; one compiled version serves views of arrays of every origin."""
    view = array.view()
    view.flags.writeable = False
    return view


def _ranks(key: Ints) -> tuple[Ints, int]:
    distinct, rank = np.unique(key, return_inverse=True)
    return rank, len(distinct)


def as_frequencies(values: NDArray[Any], name: str) -> Counts:
    """Check non-negative numbers: as int64 where all are whole, as float64 otherwise."""
    if values.dtype.kind in "iu":  # of many small tables: np.issubdtype takes longer than all else
        bad = values < 0
    else:
        values = values.astype(np.float64, copy=False)
        bad = ~((values >= 0) & (values < np.inf))  # NaN fails both
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        place = f"row {where[0]}" + (f", column {where[1]}" if len(where) > 1 else "")
        raise ValueError(f"{name} has {values[where]} in {place}: expected a finite number of at least 0")
    if values.dtype.kind in "iu" or (values == np.rint(values)).all():
        return values.astype(np.int64, copy=False)
    return values


def as_codes(codes: ArrayLike, name: str) -> NDArray[np.integer]:
    array = np.asarray(codes)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got {array.ndim}")
    if array.dtype == bool:
        array = array.view(np.int8)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, got {array.dtype}")
    return array


def row_weights(sample_weight: ArrayLike, n_rows: int) -> Counts:
    weights = np.asarray(sample_weight)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}: expected one number for each of {n_rows} rows"
        )
    if weights.dtype == bool:
        weights = weights.astype(np.int64)
    return as_frequencies(weights, "sample_weight")


def row_hash(words: Iterable[Words], n_rows: int, seed: int = 0) -> Words:
    """64 bits for each row; two different ones among 10⁶ are the same with probability 3e-8."""
    state = np.full(n_rows, 0x9E3779B97F4A7C15 + seed, np.uint64)
    for column in words:
        state ^= column
        state *= np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(29)
        state *= np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(32)
    return state
