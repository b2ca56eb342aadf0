"""Splits of a cell by the values of a categorical column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._ties import best_of, eigenvector, rounded
from offsample._typing import Bytes, Floats, Ints
from offsample.induction.evidence import ShuffleTest, log_p_one_cell, n_thresholds_tried
from offsample.induction.scoring import Scoring
from offsample.induction.tree.columns import Columns
from offsample.induction.tree.splits.split import Order, Rows, Split, Stats, sizes

# Row i's value is ordered by the classes of the rows in other folds.
N_FOLDS = 8
# Columns with at most this many values may be split into one value and the rest.
MAX_SINGLE = 32
# An order of values is cut at one of this many quantiles.
_N_CUTS = 32
# Times the gain of all cuts of an order.
_MUCH = 1.5


class Scratch:
    """Room to count the values of a column in; zeros between uses."""

    def __init__(self, columns: Columns, n_classes: int, kind: Any = np.int32) -> None:
        size = max([1, *(columns.n_codes[j] for j in columns.categorical)])
        self.table = np.zeros((size, n_classes), kind)
        self.sizes = np.zeros(size, np.int32)
        self.present = np.empty(size, np.int32)
        self.place = np.full(size, -1, np.int32)

    def clear(self, present: NDArray[Any]) -> None:
        """Forget the codes that were counted."""
        self.table[present] = 0
        self.sizes[present] = 0


def value_sums(rows: Rows, columns: Columns, scratch: Scratch) -> tuple[Ints, Floats]:
    """Number of values of each categorical column in a cell, and its `pair_sums`."""
    from offsample.induction.tree import kernels

    n_values = np.zeros(len(columns.categorical), np.int64)
    sums = np.zeros((len(columns.categorical), 6))
    table, n_rows = scratch.table, scratch.sizes
    for i, column in enumerate(columns.categorical.tolist()):
        n = kernels.count_values(columns.codes[column], rows.index, rows.y, table, n_rows, scratch.present)
        n_values[i] = n
        kernels.pair_sums(table, n_rows, scratch.present[:n], sums[i])
        scratch.clear(scratch.present[:n])
    return n_values, sums


class ValueCounts:
    """Counts of the values of a categorical column in a cell, and the splits that they allow."""

    def __init__(self, rows: Rows, columns: Columns, column: int, scratch: Scratch) -> None:
        from offsample.induction.tree import kernels

        self.rows, self.column = rows, column
        self._codes, self._scratch = columns.codes[column], scratch
        table, n_rows = scratch.table, scratch.sizes
        n = kernels.count_values(self._codes, rows.index, rows.y, table, n_rows, scratch.present)
        self.codes: NDArray[Any] = np.sort(scratch.present[:n])
        self.counts = table[self.codes].astype(rows.counts.dtype)
        if rows.y.ndim == 1:
            kernels.pair_sums(table, n_rows, self.codes, sums := np.empty(6))
            self.sums = sums
        else:
            self.sums = product_sums(self.counts, rows.counts)
        scratch.clear(self.codes)

    def multiway(self, scoring: Scoring, min_leaf: int, log_p: float = 0.0) -> Split | None:
        """One child per value."""
        if len(self.codes) < 2 or sizes(self.counts).min() < min_leaf:
            return None
        gain, to = scoring.gain(self.counts, self.rows.counts), np.arange(len(self.codes), dtype=np.int32)
        return Split(self.column, "multiway", gain, self.counts, log_p, codes=self.codes, child_of_code=to)

    def ordered(self, scoring: Any, min_leaf: int, folds: Bytes, order: Order | ShuffleTest) -> Split | None:
        """Two children: values of low and of high score, by a known order or one that this test may learn."""
        rows, parent = self.rows, self.rows.counts
        fold, log_p, signal = folds[rows.index], None, 1.0
        if not isinstance(order, Order):
            signal, log_p = (float(x) for x in order.of_sums(self.sums))
            if len(self.codes) < 3 or signal <= 0:
                return None
        local, by_fold = self._count_folds(fold)
        if not isinstance(order, Order):
            order = self._learn_order(by_fold, signal, order)
        place = np.searchsorted(order.codes, self.codes)
        scores, full = order.by_fold[:, place], order.full[place]
        filled = by_fold.any(axis=2)
        score, counts = scores[filled], by_fold[filled]
        cuts = _quantiles(score, sizes(counts), _N_CUTS)
        if not len(cuts):
            return None
        group = np.searchsorted(cuts, score, side="left")
        table = np.zeros((len(cuts) + 1, len(parent)), parent.dtype)
        np.add.at(table, group, counts)
        left = np.cumsum(table, axis=0)[:-1]
        n_left = sizes(left)
        valid = (n_left >= min_leaf) & (len(rows.index) - n_left >= min_leaf)
        arriving = full[(full > order.low) & (full <= order.high)]  # values of new rows, not in other folds
        valid &= (cuts >= arriving.min(initial=np.inf)) & (cuts < arriving.max(initial=-np.inf))
        if not valid.any():
            return None
        gain = np.where(valid, scoring.gains(left, parent), -np.inf)
        best = best_of(gain, float(sizes(parent)))
        n_tried = 2.0
        if log_p is None:
            log_p, n_tried = self._log_p_of_cut(left[best], len(cuts))
        is_right = scores > cuts[best]
        return Split(
            self.column,
            "ordered",
            float(gain[best]),
            np.stack([left[best], parent - left[best]]),
            log_p,
            n_tried,
            codes=order.codes,
            child_of_code=(order.full > cuts[best]).astype(np.int32),
            child_of_row=is_right[fold, local].astype(np.int32),
            # Where all folds agree, the rows' own classes decide nothing, and nodes below may learn anew.
            order=None if (is_right == (full > cuts[best])).all() else order,
            cut=float(cuts[best]),
            potential=scoring.gain(table, parent),
        )

    def one_against_rest(self, scoring: Scoring, min_leaf: int, limit: float) -> Split | None:
        """Two children: one value, and all others, if the corrected log p-value is at most `limit`."""
        parent = self.rows.counts
        if not 2 < len(self.codes) <= MAX_SINGLE:
            return None
        size = self.counts.sum(axis=1)
        log_p = log_p_one_cell(self.counts, parent)
        valid = (size >= min_leaf) & (parent.sum() - size >= min_leaf)
        valid &= rounded(log_p + np.log(len(self.codes))) <= rounded(limit)
        if not valid.any():
            return None
        gain = np.where(valid, scoring.gains(self.counts, parent), -np.inf)
        best = best_of(gain, float(parent.sum()))
        children = np.stack([self.counts[best], parent - self.counts[best]])
        found = float(gain[best]), children, float(log_p[best]), float(len(self.codes))
        to = (self.codes != self.codes[best]).astype(np.int32)
        return Split(self.column, "ordered", *found, codes=self.codes, child_of_code=to)

    def _log_p_of_cut(self, left: Ints, n_cuts: int) -> tuple[float, float]:
        """Log p-value of the best cut of an order that was learned elsewhere, and its number of tests."""
        if self.rows.y.ndim > 1:  # is not asked for
            return 0.0, 1.0
        # Two rows of a value decide for each other, so that they count once and not twice.
        log_p = log_p_one_cell(left[None] // 2, self.rows.counts // 2)
        n_tried = n_thresholds_tried(np.array([n_cuts]), log_p, float(self.rows.counts.sum()))
        return float(log_p[0]), float(n_tried[0])

    def _count_folds(self, fold: Bytes) -> tuple[NDArray[np.int32], Ints]:
        """Place of each row's value among those of the cell, and counts per fold, value and class."""
        from offsample.induction.tree import kernels

        codes, place = self.codes, self._scratch.place
        place[codes] = np.arange(len(codes))
        local = place[self._codes[self.rows.index]]
        place[codes] = -1
        by_fold = np.zeros((N_FOLDS, len(codes), len(self.rows.counts)), self.rows.counts.dtype)
        kernels.count_folds(local, self.rows.y, fold, by_fold)
        return local, by_fold

    def _learn_order(self, by_fold: Ints, signal: float, test: ShuffleTest) -> Order:
        """Score values by their class distribution, shrunk to the cell's and projected to one axis.

        A value's distribution is that of its rows and of `weight` rows of the cell. The best linear predictor
        has the variance within values over the one between, of which `signal` is an unbiased estimate. The
        axis (for more than two classes) is the direction in which the values differ most. Of numbers the
        score is the mean.
        """
        between = signal / len(self.rows.index)
        weight = float(np.clip((test.spread - between) / between, 0.1, 1e6))
        if self.rows.y.ndim > 1:
            of_sum = np.array([0.0, 1.0, 0.0])
            mean = float(self.rows.counts[1] / self.rows.counts[0])
            without, full = [
                _means(counts @ of_sum, sizes(counts), mean, weight)
                for counts in (self.counts - by_fold, self.counts)
            ]
            return Order(self.codes, without, full)
        sizes_ = self.counts.sum(axis=1, keepdims=True)
        prior, axis = self.rows.counts / sizes_.sum(), np.zeros(len(self.rows.counts))
        axis[-1] = 1.0
        if len(prior) > 2:
            distance = (self.counts + weight * prior) / (sizes_ + weight) - prior
            axis = eigenvector(*np.linalg.eigh(distance.T @ (sizes_ * distance)))
        return Order(
            self.codes,
            _scores(self.counts - by_fold, prior, axis, weight),
            _scores(self.counts, prior, axis, weight),
        )


def product_sums(counts: Stats, parent: Stats) -> Floats:
    """Of the values of more than one row: sums of the products of two rows' distances to the mean, and sizes.

    The first two of `pair_sums`, of numbers.
    """
    size, total, squares = counts[counts[:, 0] > 1].T
    mean = parent[1] / parent[0]
    distance = total - size * mean
    products = distance**2 - (squares - 2 * mean * total + size * mean**2)
    return np.array([float((products / (size - 1)).sum()), float(size.sum()), 0.0, 0.0, 0.0, 0.0])


def _means(totals: Floats, size: Ints, mean: float, weight: float) -> Floats:
    return rounded((totals + weight * mean) / (size + weight))


def _scores(counts: NDArray[Any], prior: Floats, axis: Floats, weight: float) -> Floats:
    # Values of equal scores stay together, so equal ones must be the same to the last digit.
    return rounded((counts @ axis + weight * (prior @ axis)) / (counts.sum(axis=-1) + weight))


def _quantiles(scores: Floats, mass: NDArray[Any], n_groups: int) -> Floats:
    """Cut points that divide the rows into groups of about equal size; equal scores are never divided."""
    order = np.argsort(scores, kind="stable")
    rank = np.cumsum(mass[order])
    at = np.searchsorted(rank, rank[-1] * np.arange(1, n_groups) / n_groups)
    cuts = np.unique(scores[order[at]])
    return np.asarray(cuts[cuts < scores[order[-1]]])


def without_hasty(splits: list[Split]) -> list[Split]:
    """Leave out splits into all values where two children and further splits promise more.

    One child per value uses all that a column knows at once, but the children are small, and other columns
    that are significant here may no longer be there. So its column must be the only one, and better than all
    cuts of its order. With more than two classes, which no order tells apart, being much better than those is
    enough.
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
