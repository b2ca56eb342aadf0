"""Splits of a cell by a threshold of a numeric column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Booleans, Floats, Ints
from offsample.induction.scoring import Scoring
from offsample.induction.tree.columns import Columns
from offsample.induction.tree.splits.split import Rows, Split, Stats, sizes


def histogram(columns: Columns, index: NDArray[np.int32], y: NDArray[Any], n_classes: int) -> Stats:
    """Counts of the bins of the numeric columns in some rows."""
    from offsample.induction.tree import kernels

    offsets = columns.offsets
    result: Stats = np.zeros((int(offsets[-1]), n_classes), np.float64 if y.ndim > 1 else np.int32)
    for i, numeric in enumerate(columns.numeric.tolist()):
        kernels.count_rows(columns.codes[numeric], index, y, result[offsets[i] : offsets[i + 1]])
    return result


@dataclass(frozen=True, eq=False)
class Thresholds:
    """All threshold splits of a cell, sorted by column, then threshold, then missing right before left."""

    column: Ints
    bin: Ints
    missing_left: Booleans
    left: Stats
    gain: Floats
    totals: Stats

    @property
    def children(self) -> Stats:
        """Counts of the two children of each, of shape (n, 2, K)."""
        return np.stack([self.left, self.totals - self.left], axis=1)

    def best_per_column(self) -> Ints:
        """First of the best positions of each column."""
        from offsample.induction.tree import kernels

        best = np.empty(int(self.column[-1]) + 1, np.int64)
        return best[: kernels.best_of_columns(self.column, self.gain, float(sizes(self.totals)), best)]

    def n_positions(self, columns: Ints) -> Ints:
        """Number of positions in each of some columns."""
        ends = np.searchsorted(self.column, columns, "right")
        return np.asarray(ends - np.searchsorted(self.column, columns))

    def split(self, i: int, log_p: float = 0.0, n_tried: float = 1.0) -> Split:
        """One of them."""
        column, gain, place = int(self.column[i]), float(self.gain[i]), int(self.bin[i])
        children = np.stack([self.left[i], self.totals - self.left[i]])
        return Split(column, "threshold", gain, children, log_p, n_tried, place, bool(self.missing_left[i]))


def threshold_splits(rows: Rows, columns: Columns, scoring: Scoring, min_leaf: int) -> Thresholds | None:
    """Every threshold of every numeric column that leaves `min_leaf` rows on either side."""
    from offsample.induction.tree import kernels

    offsets = columns.offsets[: len(columns.numeric) + 1]
    parent = rows.counts
    n_sized = 1 if parent.dtype == np.float64 else len(parent)
    most = 2 * len(rows.histogram)
    found, left = np.empty((3, most), np.int64), np.empty((most + 1, len(parent)), parent.dtype)
    n = kernels.list_thresholds(rows.histogram, offsets, parent, (min_leaf, n_sized), (found, left))
    if not n:
        return None
    (column, place, goes_left), left, which = found[:, :n], left[:n], columns.numeric
    return Thresholds(which[column], place, goes_left > 0, left, scoring.gains(left, parent), parent)


def cut_point(split: Split, codes: NDArray[np.unsignedinteger], edges: Floats | None) -> tuple[float, bool]:
    """Threshold midway in the gap that the node's rows leave, and where missing values go at prediction."""
    if split.kind != "threshold" or edges is None:
        return np.nan, False
    if not (codes == len(edges) + 1).any():  # no row here says which side is better: the larger
        n_left, n_right = sizes(split.children)
        missing_left = bool(n_left >= n_right)
    else:
        missing_left = split.missing_left
    if split.threshold >= len(edges):  # only missing values go right
        return np.inf, missing_left
    above = codes[(codes > split.threshold) & (codes <= len(edges))]
    last = int(above.min()) - 1 if len(above) else split.threshold
    low, high = float(edges[split.threshold]), float(edges[last])
    return min(max(low / 2 + high / 2, low), high), missing_left  # halves of the smallest numbers are rounded
