"""Choosing between splits of a column, and carrying a split out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offsample._ties import rounded
from offsample.induction.tree.columns import Columns, run_in_threads
from offsample.induction.tree.splits.candidates import Split

Floats = NDArray[np.float64]

# Times the gain of all cuts of an order.
_MUCH = 1.5


def without_hasty(splits: list[Split]) -> list[Split]:
    """Leave out splits into all values where two children and further splits promise more.

    One child per value uses all that a column knows, at once; but the children are small, and other columns
    that are significant here may not be any more there. So it must be the only column that is, and better
    than all cuts of its order. With more than two classes it is enough to be much better than those: no order
    tells many classes apart.
    """
    ordered = {split.column: split for split in splits if split.kind == "ordered"}
    n_columns = len({split.column for split in splits})
    kept = []
    for split in splits:
        if split.kind == "multiway" and split.column in ordered:
            needed = 1.0 if n_columns == 1 else _MUCH if split.children.shape[1] > 2 else np.inf
            size = float(split.children.sum())
            if rounded(split.gain, size) <= needed * float(rounded(ordered[split.column].potential, size)):
                continue
        kept.append(split)
    return kept


def histogram(
    columns: Columns, index: NDArray[np.int32], y: NDArray[np.uint16], n_classes: int, n_threads: int = 1
) -> NDArray[np.int32]:
    """Counts of the bins of the numeric columns in some rows."""
    from offsample.induction.tree import kernels

    offsets = columns.offsets
    result = np.zeros((int(offsets[-1]), n_classes), np.int32)
    numeric = columns.numeric.tolist()

    def count(i: int) -> None:
        kernels.count_rows(columns.codes[numeric[i]], index, y, result[offsets[i] : offsets[i + 1]])

    run_in_threads(count, list(range(len(numeric))), n_threads, len(index))
    return result


def child_of_row(
    split: Split, codes: NDArray[np.unsignedinteger], n_codes: int, missing_left: bool
) -> NDArray[np.int32]:
    """Child that each code leads to; -1 where the value was not seen at the node."""
    if split.kind == "threshold":
        right = codes > split.threshold
        if missing_left:
            right &= codes != n_codes - 1
        return right.astype(np.int32)
    assert split.codes is not None
    assert split.child_of_code is not None
    table = np.full(n_codes, -1, np.int32)
    table[split.codes] = split.child_of_code
    return np.asarray(table[codes])


def cut_point(split: Split, codes: NDArray[np.unsignedinteger], edges: Floats | None) -> tuple[float, bool]:
    """Threshold midway in the gap that the node's rows leave, and where missing values go at prediction."""
    if split.kind != "threshold" or edges is None:
        return np.nan, False
    if not (codes == len(edges) + 1).any():  # no row here says which side is better: the larger
        sizes = split.children.sum(axis=1)
        missing_left = bool(sizes[0] >= sizes[1])
    else:
        missing_left = split.missing_left
    if split.threshold >= len(edges):  # only missing values go right
        return np.inf, missing_left
    above = codes[(codes > split.threshold) & (codes <= len(edges))]
    last = int(above.min()) - 1 if len(above) else split.threshold
    low, high = float(edges[split.threshold]), float(edges[last])
    return min(max(low / 2 + high / 2, low), high), missing_left  # halves of the smallest numbers are rounded
