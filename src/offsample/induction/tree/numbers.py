"""Trees of a numeric target: what a split is worth, and how many of them left-out rows ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, stdtr

from offsample._cell_moments import CellMoments
from offsample._deadline import time_is_up
from offsample._held_out_moments import HeldOutMoments
from offsample._partitions import nested_bins
from offsample._squared_losses import ratio_interval
from offsample._ties import rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.criteria import NUMERIC_CRITERIA, Criterion
from offsample.evidence import signal_evidence
from offsample.induction.tree.columns import Columns
from offsample.induction.tree.grower import Grower, Measure, Record
from offsample.induction.tree.lines import Lines
from offsample.induction.tree.splits.categories import Scratch
from offsample.induction.tree.splits.split import Split, Stats

# Rows that the mean of the node above a node may count for.
WEIGHTS = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
# Ways to cut a numeric column that are tested before the first split: 2, 4, … bins.
_MOST_LEVELS = 6
_MORE_SPLITS = 20


def squares(stats: Stats) -> Floats:
    """Sum of the squared distances of the rows of cells to their mean."""
    size = np.where(stats[..., 0] > 0, stats[..., 0], 1.0)
    return np.asarray(np.maximum(stats[..., 2] - stats[..., 1] ** 2 / size, 0.0))


@dataclass(frozen=True)
class NumberScoring:
    """A criterion of a numeric target as a sum over cells; the sibling of `Scoring`."""

    criterion: Criterion
    power: int  # of c / (c - 1): 1 for the variance, 2 for the squared error of the mean

    @classmethod
    def of(cls, criterion: str) -> NumberScoring:
        """Criterion by its name; "ginger" is the variance."""
        chosen = NUMERIC_CRITERIA[criterion]
        return cls(chosen, 1 if chosen is NUMERIC_CRITERIA["variance_loo"] else 2)

    def terms(self, stats: Stats) -> Floats:
        """What cells contribute: the leave-one-out losses of their rows."""
        size = stats[..., 0]
        return np.asarray((size / np.maximum(size - 1, 1)) ** self.power * squares(stats))

    def child_terms(self, children: Stats, parent: Stats) -> Floats:
        """Terms of cells that a cell is split into: a row alone is predicted by the mean of the others.

        Half its squared difference to a random one, as in a cell of two, would be paid once where the cell
        above pays twice: every row beyond a standard deviation of the others would gain by being alone.
        """
        others = (parent[1] - children[..., 1]) / max(1.0, parent[0] - 1)
        apart = (children[..., 1] - others) ** 2
        return np.where(children[..., 0] == 1, apart, self.terms(children))

    def gain(self, children: Stats, parent: Stats) -> float:
        """Decrease of the terms by splitting a cell into `children`."""
        return float(self.terms(parent)) - float(self.child_terms(children, parent).sum())

    def gains(self, left: Stats, parent: Stats) -> Floats:
        """Decrease of the terms by splits into two, given the first child of each."""
        from offsample.induction.tree import kernels

        return kernels.number_gains(left, parent, self.power, float(self.terms(parent)))

    def spread(self, stats: Stats) -> float:  # noqa: ARG002
        """What a ratio divides by: this is none."""
        return 0.0

    def bits(self, children: Stats) -> Floats:  # noqa: ARG002
        """Increase of that."""
        return np.zeros(())


class MeanTest:
    """How far the values of a column in a cell seem to differ in their means."""

    def __init__(self, totals: Stats) -> None:
        self.size = int(totals[0])
        self.possible = self.size >= 4
        self.spread = float(squares(totals)) / max(1, self.size - 1)  # the variance in the cell

    def of_sums(self, sums: Floats) -> tuple[float, float]:
        """Variance between values times rows, by `product_sums`; no p-value, which is not asked for."""
        return float(sums[0] + self.spread / max(1, self.size) * sums[1]), 0.0

    def log_p(self, gain: float) -> float:
        """Log p-value of two means that save so much: their squared distance in its unit, of one degree."""
        z2 = max(0.0, gain / self.spread + 1) if self.spread > 0 else 0.0
        return float(np.log(2.0) + log_ndtr(-np.sqrt(z2)))


class NumberGrower(Grower):
    """What the cells of one tree of a numeric target share; errors are squared."""

    def start(self, counts: Stats) -> None:
        """Begin with one cell of these sums."""
        self.size = int(counts[0])
        self.scratch = Scratch(self.columns, self.n_classes, np.float64)
        self.begin(counts)
        self._training, self._estimated = float(squares(counts)), float(_left_out.terms(counts))

    def test(self, counts: Stats) -> Any:
        """How far values seem to differ."""
        return MeanTest(counts)

    def carry_out(
        self, node: int, parent: Stats, depth: int, split: Split, threshold: float, missing_left: bool
    ) -> int:
        """Record the split of a node with these sums, and return the number of its first child."""
        first, children = self.n_nodes, split.children
        training = float(squares(parent) - squares(children).sum())
        estimated = _left_out.gain(children, parent)
        record = Record(node, split, threshold, missing_left, first, split.gain, training, estimated)
        self._add(record, depth)
        return first

    def parents(self) -> NDArray[np.int32]:
        """Node above each node; -1 for the root."""
        parent = np.full(self.n_nodes, -1, np.int32)
        for record in self.records:
            parent[record.first_child : record.first_child + len(record.split.children)] = record.node
        return parent


_left_out = NumberScoring.of("squared_error_loo")


def shrunk_means(stats: Stats, parent: NDArray[np.int32], weights: Floats) -> Floats:
    """Mean of each node, drawn toward that of the node above, for each of the weights that this may have.

    Parents come before their children.
    """
    value = np.empty((len(stats), len(weights)))
    value[0] = stats[0, 1] / stats[0, 0]
    for node in range(1, len(stats)):
        value[node] = (stats[node, 1] + weights * value[parent[node]]) / (stats[node, 0] + weights)
    return value


def root_p_value(columns: Columns, scores: Floats, groups: Ints | None) -> float:
    """Probability that noise shows as much of a signal in one of the columns, by the ranks of the numbers."""
    found: list[float] = []
    whole = CellMoments.from_codes(np.zeros(len(scores), np.int64), scores).in_one
    for j, codes in enumerate(columns.codes):
        if found and time_is_up():
            break
        known = np.bincount(codes, minlength=columns.n_codes[j])
        ways: list[Ints] = [np.cumsum(known > 0) - 1]
        if columns.edges[j] is not None:
            filled = np.flatnonzero(known[:-1])
            if not len(filled):
                continue
            place = np.zeros(columns.n_codes[j], np.int64)
            levels = nested_bins(known[filled])[:_MOST_LEVELS]
            ways = []
            for level in levels:
                way = place.copy()
                way[filled], way[-1] = level, int(level.max()) + 1
                ways.append(way)
        p_values = []
        for way in ways:
            cell = np.unique(way[codes], return_inverse=True)[1]
            if groups is None:
                cells = CellMoments.from_codes(cell, scores)
                cells.__dict__["in_one"] = whole  # of all rows, the same for every column
            else:
                cells = HeldOutMoments(cell, scores, groups=[groups])
            p_values.append(signal_evidence(cells).p_value)
        # One level refines the other: Simes' inequality holds for what goes together.
        found.append(min(len(ways) * p / i for i, p in enumerate(sorted(p_values), start=1)))
    return min([1.0, *(len(found) * p for p in found)])


@dataclass(frozen=True, eq=False)
class Validated:
    """What rows that were left out say of trees of 0, 1, 2, … splits."""

    n_splits: int
    weight: float
    errors: Floats  # of each number of splits, with this weight
    losses: Floats  # of each row, of the size and weight that the other folds choose
    error: float
    blind: Floats | None = None  # of each row, by the mean of the other folds
    n_parts: int = 0  # folds that trees were grown without
    is_linear: bool = False  # whether leaves have lines
    folds: Ints | None = None  # of each row

    def p_value(self, units: Ints | None) -> float:
        """Probability that trees of noise save as much on left-out rows: Student's test, by rows or units."""
        if self.blind is None:
            return 1.0
        saved = self.blind - self.losses
        unit = np.arange(len(saved)) if units is None else np.unique(units, return_inverse=True)[1]
        sums = np.bincount(unit, saved)
        deviation = float(sums.std(ddof=1) * np.sqrt(len(sums)))
        if sums.sum() <= 0 or deviation == 0:
            return 1.0
        return float(stdtr(len(sums) - 1, -sums.sum() / deviation))

    def interval(self, units: Ints | None, unit: float) -> tuple[float, float]:
        """95 % interval of the error, in squares of a unit: rows, or groups, are what varies."""
        together = [] if units is None else [np.unique(units, return_inverse=True)[1]]
        k = self.n_parts
        # Trees differ with the rows that they are grown from: twice the variance and a bit, after Nadeau and
        # Bengio (2003). A mean differs less.
        times = 1 + k / (k - 1) if self.n_splits and k > 1 else 1.44
        low, high = ratio_interval(self.losses, None, together, times, self.error)
        if self.folds is not None and self.n_splits and units is None:
            lower, share = self._of_better_folds(times)
            low = min(low, low ** (1 - share) * lower**share)
        return low * unit, high * unit

    def _of_better_folds(self, times: float) -> tuple[float, float]:
        """Lower end by the better half of the folds, and how much of their difference rows do not explain.

        Where growth hangs on a few rows, as if columns say little but together, the trees of some folds miss
        what the tree of all rows has found: then it may be as good as the better ones of them.
        """
        assert self.folds is not None
        size = np.bincount(self.folds)
        mean = np.bincount(self.folds, self.losses) / size
        within = np.bincount(self.folds, (self.losses - mean[self.folds]) ** 2) / np.maximum(size - 1, 1)
        share = 1 - float((within / size).mean() / max(mean.var(ddof=1), 1e-300))
        better = self.losses[(mean <= np.median(mean))[self.folds]]
        return ratio_interval(better, None, (), times)[0], min(1.0, max(0.0, share))


def validate(
    grow: Callable[[NDArray[np.int32], int], tuple[NumberGrower, list[Measure]]],
    y: Floats,
    folds: Ints,
    n_most: int,
    weights: Floats,
    X: Floats | None = None,
) -> Validated:
    """Choose the number of splits, and what a parent counts for, by trees grown without each fold in turn.

    Where the numbers of the columns are given, lines in the leaves compete with that.

    The first tree says how many splits the others may be asked for: some more than twice its best number.
    """
    n_folds, n_stages = int(folds.max()) + 1, n_most + 1
    sums = np.zeros((n_folds, n_stages, len(weights) * (1 + (X is not None))))
    kept = []
    for fold in range(n_folds):
        train, test = (np.flatnonzero(mask).astype(np.int32) for mask in (folds != fold, folds == fold))
        grower, path = grow(train, n_stages - 1)
        value = shrunk_means(np.concatenate(grower.counts), grower.parents(), weights)
        n_last = min(n_stages, len(path)) - 1
        lines = None if X is None else Lines.of_tree(grower, n_last, train, X, y)

        def said(node: Any, rows: Any, value: Floats = value, lines: Lines | None = lines) -> Floats:
            if lines is None or X is None:
                return np.asarray(value[node])
            by_line = value[lines.source[node]] + lines.terms(node, X[rows])[:, None]
            return np.column_stack([value[node], by_line])

        loss = np.asarray((y[test][:, None] - said(np.zeros(len(test), np.int64), test)) ** 2)
        sums[fold, 0] = loss.sum(axis=0)
        for n, (places, node) in enumerate(grower.routed(n_last, test), start=1):
            moved = (y[test[places]][:, None] - said(node[places], test[places])) ** 2
            sums[fold, n] = sums[fold, n - 1] + (moved - loss[places]).sum(axis=0)
            loss[places] = moved
        sums[fold, n_last + 1 :] = sums[fold, n_last]
        kept.append((grower, said, value[0, 0], test, n_last))
        if not fold:
            n_stages = min(n_stages, 2 * _least(sums[0][:, : len(weights)], len(y))[0] + _MORE_SPLITS + 1)
            sums = sums[:, :n_stages]
    scale = float(len(y))
    n_splits, at = _least(sums.sum(axis=0), scale)
    losses, blind = np.empty(len(y)), np.empty(len(y))
    for fold, (grower, said, root, test, n_last) in enumerate(kept):
        n, w = _least(sums.sum(axis=0) - sums[fold], scale)
        node = grower.last_nodes(min(n, n_last), test)
        losses[test], blind[test] = (y[test] - said(node, test)[:, w]) ** 2, (y[test] - root) ** 2
    errors = sums.sum(axis=0)[:, at] / len(y)
    error = max(float(losses.mean()), float(errors[n_splits]))
    weight, is_linear = float(weights[at % len(weights)]), at >= len(weights)
    return Validated(n_splits, weight, errors, losses, error, blind, n_folds, is_linear, folds)


def _least(sums: Floats, scale: float) -> tuple[int, int]:
    """Fewest splits, then the smallest weight, with the least sum."""
    place = int(np.argmin(rounded(sums, scale)))
    return place // sums.shape[1], place % sums.shape[1]


def of_leaves(stats: Floats, spread: Floats, is_leaf: Booleans, total: float) -> Floats:
    """Squared error to expect in each node: its own spread, in the leaves such that the mean is `total`."""
    share = stats[:, 0] / stats[0, 0]
    now = float((share * spread)[is_leaf].sum())
    own = spread * (total / now) if now > 0 else np.full(len(spread), total)
    return np.where(is_leaf, own, spread)
