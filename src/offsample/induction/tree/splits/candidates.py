"""The ways in which a cell can be split, and the gain of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from offsample._ties import best_of, eigenvector, rounded
from offsample.induction.evidence import ShuffleTest, log_p_one_cell, n_thresholds_tried
from offsample.induction.scoring import Scoring, cell_bits
from offsample.induction.tree.columns import Columns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Row i's value is ordered by the classes of the rows in other folds.
N_FOLDS = 8
# Columns with at most so many values may be split into one value and the rest.
MAX_SINGLE = 32
# An order of values is cut at one of so many quantiles.
_N_CUTS = 32


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a cell.

    Attributes
    ----------
    index : ndarray of int32
        Positions in the sample, ascending (a row of weight 2 is there twice).
    y : ndarray of uint16
        Their classes.
    counts : ndarray of int64, shape (K,)
    histogram : ndarray of int32, shape (n_bins, K)
        Counts of the bins of the numeric columns, one column after the other.
    """

    index: NDArray[np.int32]
    y: NDArray[np.uint16]
    counts: Ints
    histogram: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Split:
    """One way to split a cell.

    Attributes
    ----------
    column : int
    kind : {"threshold", "multiway", "ordered"}
    gain : float
        Decrease of the criterion, in rows.
    children : ndarray of int64, shape (n_children, K)
    log_p : float
        Of independence of the split and the class, not counting that it was chosen.
    n_tried : float
        Among how many it was chosen, in its column.
    bits : float
        Decrease of `cell_bits`, for the gain ratio.
    threshold, missing_left
        Of a threshold split: the last bin of the left child, and where missing values go.
    codes, child_of_code : ndarray
        Of a categorical split: the values present, and their children.
    child_of_row : ndarray or None
        Child of each row where the code does not decide it.
    order : Order or None
        What an ordered split cuts.
    potential : float
        Gain of cutting that order everywhere.
    """

    column: int
    kind: Literal["threshold", "multiway", "ordered"]
    gain: float
    children: Ints
    log_p: float = 0.0
    n_tried: float = 1.0
    bits: float = 0.0
    threshold: int = -1
    missing_left: bool = False
    codes: NDArray[Any] | None = None
    child_of_code: NDArray[np.int32] | None = None
    child_of_row: NDArray[np.int32] | None = None
    order: Order | None = None
    potential: float = 0.0


@dataclass(frozen=True, eq=False)
class Thresholds:
    """All threshold splits of a cell, sorted by column, then threshold, then missing right before left."""

    column: Ints
    bin: Ints
    missing_left: NDArray[np.bool_]
    left: Ints
    gain: Floats
    totals: Ints

    def __len__(self) -> int:
        return len(self.gain)

    def best_per_column(self) -> Ints:
        """First of the best positions of each column."""
        from offsample.induction.tree import kernels

        best = np.empty(int(self.column[-1]) + 1, np.int64)
        return best[: kernels.best_of_columns(self.column, self.gain, float(self.totals.sum()), best)]

    def n_positions(self, columns: Ints) -> Ints:
        """Number of positions in each of some columns."""
        ends = np.searchsorted(self.column, columns, "right")
        return np.asarray(ends - np.searchsorted(self.column, columns))

    def split(self, i: int, log_p: float = 0.0, n_tried: float = 1.0, bits: float = 0.0) -> Split:
        """One of them."""
        return Split(
            int(self.column[i]),
            "threshold",
            float(self.gain[i]),
            np.stack([self.left[i], self.totals - self.left[i]]),
            log_p,
            n_tried,
            bits,
            int(self.bin[i]),
            bool(self.missing_left[i]),
        )


def threshold_splits(rows: Rows, columns: Columns, scoring: Scoring, min_leaf: int) -> Thresholds | None:
    """Every threshold of every numeric column that leaves `min_leaf` rows on either side."""
    from offsample.induction.tree import kernels

    offsets = columns.offsets[: len(columns.numeric) + 1]
    parent = rows.counts
    column, place, goes_left, left = kernels.list_thresholds(rows.histogram, offsets, parent, min_leaf)
    if not len(column):
        return None
    if scoring.name == "ginger":  # the formula of `Scoring.child_terms`, compiled
        gain = kernels.ginger_gains(left, parent, scoring.loss_alone(parent))
    else:
        terms = scoring.child_terms(left, parent) + scoring.child_terms(parent - left, parent)
        gain = float(scoring.terms(parent)) - terms
    return Thresholds(columns.numeric[column], place, goes_left, left, gain, parent)


def threshold_bits(thresholds: Thresholds) -> Floats:
    """Decrease of `cell_bits` of each threshold split."""
    left, size = thresholds.left.sum(axis=1), thresholds.totals.sum()
    return np.asarray(cell_bits(size) - cell_bits(left) - cell_bits(size - left))


@dataclass(frozen=True, eq=False)
class Order:
    """Scores of the values of a categorical column, learned at the first node that is split by them.

    Nodes below it cut the same scores again. To learn new ones there would be to look at one's own class: a
    row came to a node by the classes of the other rows with its value, and they by its.

    Attributes
    ----------
    codes : ndarray
        The values.
    by_fold : ndarray of shape (N_FOLDS, n_values)
        Score of a value without the rows of a fold: decides for the training rows in that fold.
    full : ndarray of shape (n_values,)
        Score from all rows: decides for new rows.
    """

    codes: NDArray[Any]
    by_fold: Floats
    full: Floats


class Scratch:
    """Room to count the values of a column in; zeros between uses."""

    def __init__(self, columns: Columns, n_classes: int) -> None:
        size = max([1, *(columns.n_codes[j] for j in columns.categorical)])
        self.table = np.zeros((size, n_classes), np.int32)
        self.sizes = np.zeros(size, np.int32)
        self.present = np.empty(size, np.int32)
        self.place = np.full(size, -1, np.int32)


def value_sums(rows: Rows, columns: Columns, scratch: Scratch) -> tuple[Ints, Floats]:
    """Number of values of each categorical column in a cell, and its `pair_sums`."""
    from offsample.induction.tree import kernels

    n_values = np.zeros(len(columns.categorical), np.int64)
    sums = np.zeros((len(columns.categorical), 6))
    table, sizes = scratch.table, scratch.sizes
    for i, column in enumerate(columns.categorical.tolist()):
        n = kernels.count_values(columns.codes[column], rows.index, rows.y, table, sizes, scratch.present)
        n_values[i] = n
        kernels.pair_sums(table, sizes, scratch.present[:n], sums[i])
        kernels.clear_values(table, sizes, scratch.present[:n])
    return n_values, sums


class ValueCounts:
    """Counts of the values of a categorical column in a cell, and the splits that they allow."""

    def __init__(self, rows: Rows, columns: Columns, column: int, scratch: Scratch) -> None:
        from offsample.induction.tree import kernels

        self.rows, self.column = rows, column
        self._codes, self._scratch = columns.codes[column], scratch
        table, sizes = scratch.table, scratch.sizes
        n = kernels.count_values(self._codes, rows.index, rows.y, table, sizes, scratch.present)
        self.codes: NDArray[Any] = np.sort(scratch.present[:n])
        self.counts = table[self.codes].astype(np.int64)
        kernels.pair_sums(table, sizes, self.codes, sums := np.empty(6))
        self.sums = sums
        kernels.clear_values(table, sizes, self.codes)

    def multiway(self, scoring: Scoring, min_leaf: int, log_p: float = 0.0) -> Split | None:
        """One child per value."""
        if len(self.codes) < 2 or self.counts.sum(axis=1).min() < min_leaf:
            return None
        parent = self.rows.counts
        gain = float(scoring.terms(parent)) - float(scoring.child_terms(self.counts, parent).sum())
        bits = float(cell_bits(parent.sum()) - cell_bits(self.counts.sum(axis=1)).sum())
        children = np.arange(len(self.codes), dtype=np.int32)
        return Split(
            self.column,
            "multiway",
            gain,
            self.counts,
            log_p,
            1.0,
            bits,
            codes=self.codes,
            child_of_code=children,
        )

    def ordered(
        self,
        scoring: Scoring,
        min_leaf: int,
        folds: NDArray[np.uint8],
        order: Order | ShuffleTest,
    ) -> Split | None:
        """Two children: the values of low and of high score, a row's score being that of other folds' rows.

        The order may be one that is known, or the test by which a new one is learned.
        """
        rows = self.rows
        parent = rows.counts
        fold = folds[rows.index]
        log_p = None
        if isinstance(order, ShuffleTest):
            signal, log_p = (float(x) for x in order.of_sums(self.sums))
            if len(self.codes) < 3 or signal <= 0:
                return None
            local, by_fold = self._count_folds(fold)
            order = self._learn_order(by_fold, signal, order)
            scores = order.by_fold
        else:
            local, by_fold = self._count_folds(fold)
            scores = order.by_fold[:, np.searchsorted(order.codes, self.codes)]
        filled = by_fold.any(axis=2)
        score, counts = scores[filled], by_fold[filled]
        cuts = _quantiles(score, counts.sum(axis=1), _N_CUTS)
        if not len(cuts):
            return None
        group = np.searchsorted(cuts, score, side="left")
        table = np.stack([np.bincount(group, n, len(cuts) + 1) for n in counts.T], axis=1).astype(np.int64)
        left = np.cumsum(table, axis=0)[:-1]
        n_left = left.sum(axis=1)
        valid = (n_left >= min_leaf) & (len(rows.index) - n_left >= min_leaf)
        if not valid.any():
            return None
        terms = scoring.child_terms(left, parent) + scoring.child_terms(parent - left, parent)
        gain = np.where(valid, float(scoring.terms(parent)) - terms, -np.inf)
        best = best_of(gain, float(parent.sum()))
        n_tried = 2.0
        if log_p is None:
            log_p, n_tried = self._log_p_of_cut(left[best], len(cuts))
        sizes = np.array([n_left[best], parent.sum() - n_left[best]])
        is_right = scores > cuts[best]
        return Split(
            self.column,
            "ordered",
            float(gain[best]),
            np.stack([left[best], parent - left[best]]),
            log_p,
            n_tried,
            float(cell_bits(parent.sum()) - cell_bits(sizes).sum()),
            codes=order.codes,
            child_of_code=(order.full > cuts[best]).astype(np.int32),
            child_of_row=is_right[fold, local].astype(np.int32),
            # Where all folds agree, the rows' own classes decide nothing, and nodes below may learn anew.
            order=None if (is_right == is_right[0]).all() else order,
            potential=float(scoring.terms(parent)) - float(scoring.child_terms(table, parent).sum()),
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
        rest = parent - self.counts
        terms = scoring.child_terms(self.counts, parent) + scoring.child_terms(rest, parent)
        gain = np.where(valid, float(scoring.terms(parent)) - terms, -np.inf)
        best = best_of(gain, float(parent.sum()))
        bits = float(cell_bits(parent.sum()) - cell_bits(np.array([size[best], rest[best].sum()])).sum())
        return Split(
            self.column,
            "ordered",
            float(gain[best]),
            np.stack([self.counts[best], rest[best]]),
            float(log_p[best]),
            float(len(self.codes)),
            bits,
            codes=self.codes,
            child_of_code=(np.arange(len(self.codes)) != best).astype(np.int32),
        )

    def _log_p_of_cut(self, left: Ints, n_cuts: int) -> tuple[float, float]:
        """Log p-value of the best cut of an order that was learned elsewhere, and its number of tests."""
        # Two rows of a value decide for each other, so that they count once and not twice.
        log_p = log_p_one_cell(left[None] // 2, self.rows.counts // 2)
        n_tried = n_thresholds_tried(np.array([n_cuts]), log_p, float(self.rows.counts.sum()))
        return float(log_p[0]), float(n_tried[0])

    def _count_folds(self, fold: NDArray[np.uint8]) -> tuple[NDArray[np.int32], Ints]:
        """Place of each row's value among those of the cell, and counts per fold, value and class."""
        from offsample.induction.tree import kernels

        codes, place = self.codes, self._scratch.place
        place[codes] = np.arange(len(codes))
        local = place[self._codes[self.rows.index]]
        place[codes] = -1
        by_fold = np.zeros((N_FOLDS, len(codes), len(self.rows.counts)), np.int64)
        kernels.count_folds(local, self.rows.y, fold, by_fold)
        return local, by_fold

    def _learn_order(self, by_fold: Ints, signal: float, test: ShuffleTest) -> Order:
        """Score values by their class distribution, shrunk to the cell's and projected to one axis.

        A value's distribution is that of its rows and of so many rows of the cell as make it the best linear
        predictor: the variance within values over the one between, of which `signal` is an unbiased estimate.
        The axis (for more than two classes) is the direction in which the values differ most.
        """
        sizes = self.counts.sum(axis=1, keepdims=True)
        prior = self.rows.counts / sizes.sum()
        between = signal / sizes.sum()
        weight = float(np.clip((1 - test.agreement - between) / between, 0.1, 1e6))
        axis = np.zeros(len(prior))
        axis[-1] = 1.0
        if len(prior) > 2:
            distance = (self.counts + weight * prior) / (sizes + weight) - prior
            axis = eigenvector(*np.linalg.eigh(distance.T @ (sizes * distance)))
        return Order(
            self.codes,
            _scores(self.counts - by_fold, prior, axis, weight),
            _scores(self.counts, prior, axis, weight),
        )


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
