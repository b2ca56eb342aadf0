"""The cells of a tree for `top_down.grow`: each finds its best split, and carries it out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._ties import best_of, rounded
from offsample._typing import Floats, Ints
from offsample.hypotheses import RULES
from offsample.induction.bundles import BundleCounts
from offsample.induction.evidence import ShuffleTest, least_log_p, log_p_one_cell, n_thresholds_tried
from offsample.induction.tree.grower import Grower
from offsample.induction.tree.index_paths import WAYS
from offsample.induction.tree.splits.categories import MAX_SINGLE, ValueCounts, value_sums, without_hasty
from offsample.induction.tree.splits.interactions import interaction_split
from offsample.induction.tree.splits.split import Order, Rows, Split, Stats, are_mixed, child_of_row, sizes
from offsample.induction.tree.splits.thresholds import Thresholds, cut_point, histogram, threshold_splits

# Of the level of a test, the part that is spent on pairs of columns.
_PAIRS_SHARE = 0.2


@dataclass(eq=False)
class TreeCell:
    """A node that may be split."""

    grower: Grower
    node: int
    index: NDArray[np.int32]
    counts: Stats
    depth: int
    orders: dict[int, Order]  # of the categorical columns that were cut above
    is_quiet: bool = False  # whether a cell above shows nothing, by one column or two

    def __post_init__(self) -> None:
        self._histogram: Stats | None = None
        self._split: Split | None = None
        self._gain = 0.0
        self._cached: tuple[Thresholds | None, Floats, list[tuple[Split, Floats]]] | None = None

    @property
    def is_open(self) -> bool:
        """Whether a split could be looked for at all."""
        deep = self.grower.max_depth is not None and self.depth >= self.grower.max_depth
        enough = sizes(self.counts) >= max(2, 2 * self.grower.min_samples_leaf)
        return bool(enough and not deep and are_mixed(self.counts))

    def _rows(self) -> Rows:
        y = self.grower.y.take(self.index, axis=0)
        if self._histogram is None:
            self._histogram = histogram(self.grower.columns, self.index, y, len(self.counts))
        return Rows(self.index, y, self.counts, self._histogram)

    def propose(self) -> float | None:
        """Gain of the best split of this node, as a share of the sample."""
        if self.grower.found is not None:  # what the split is, `refine` looks up
            return float(self.grower.found.gain[self.node]) or None
        if not self.is_open:
            return None
        if self.grower.scoring.criterion.is_ratio:
            self._choose_by_ratio()
        elif self._split is None or not self._fits(self._split):
            self._split = None
            (self._choose_by_evidence if self.grower.by_evidence else self._choose_by_gain)()
        if self._split is None:
            self._histogram = None
            return None
        # A histogram larger than the rows costs more to keep than to count again.
        if self._histogram is not None and self._histogram.shape[0] > len(self.index):
            self._histogram = None
        return self._gain if self.grower.scoring.criterion.is_ratio else self._gain / self.grower.size

    def _fits(self, split: Split) -> bool:
        """Whether the leaves of a split are not too many."""
        grower = self.grower
        return grower.max_size is None or grower.n_leaves + len(split.children) - 1 <= grower.max_size

    def _candidates(self, rows: Rows) -> tuple[Thresholds | None, list[Split]]:
        """All splits, whatever their evidence."""
        grower = self.grower
        leaf, ways = grower.min_samples_leaf, grower.categorical_split
        thresholds = threshold_splits(rows, grower.columns, grower.scoring, leaf)
        test = grower.test(self.counts)
        splits: list[Split | None] = []
        for column in grower.columns.categorical.tolist():
            values = ValueCounts(rows, grower.columns, column, grower.scratch)
            known = self.orders.get(column)
            if known is None and (ways in ("auto", "multiway") or len(values.codes) == 2):
                log_p = float(test.of_sums(values.sums)[1]) if test.possible else 0.0
                splits.append(values.multiway(grower.scoring, leaf, log_p))
            if grower.may_order and len(values.codes) > 2 and (known is not None or test.possible):
                splits.append(values.ordered(grower.scoring, leaf, grower.folds, known or test))
        return thresholds, [split for split in splits if split is not None]

    def _choose_by_gain(self) -> None:
        thresholds, splits = self._candidates(self._rows())
        splits = [split for split in splits if self._fits(split)]
        columns, n_positions = {split.column for split in splits}, 0
        if thresholds is not None:
            best = thresholds.best_per_column()
            columns.update(thresholds.column[best].tolist())
            splits.append(thresholds.split(best[best_of(thresholds.gain[best], self.grower.size)]))
            n_positions = int(thresholds.n_positions(np.array([splits[-1].column]))[0])
        if splits:
            chosen = min(splits, key=lambda s: (-rounded(s.gain, self.grower.size), s.column))
            self._split = self._with_evidence(chosen, n_positions, len(columns))
            self._gain = chosen.gain
            if self.counts.dtype == np.float64 and not self.is_quiet and not self._is_evident(self._split):
                found, level = self._pair(self._rows()), np.log(self.grower.level(0))
                self.is_quiet = True
                if found is not None and rounded(found[2]) <= rounded(level):
                    self._split, self._gain, self.is_quiet = *found[:2], False

    def _found_split(self) -> Split:
        """The split that a compiled loop found."""
        grower, columns, leaf = self.grower, self.grower.columns, self.grower.min_samples_leaf
        assert grower.found is not None
        column, way, place, _, side = grower.found.split[self.node].tolist()
        y, n_classes = grower.y[self.index], len(self.counts)
        if way == WAYS["multiway"]:
            rows = Rows(self.index, y, self.counts, self.counts[:0])
            values, test = ValueCounts(rows, columns, column, grower.scratch), grower.test(self.counts)
            log_p = float(test.of_sums(values.sums)[1]) if test.possible else 0.0
            chosen = values.multiway(grower.scoring, leaf, log_p)
            assert chosen is not None
            return self._with_evidence(chosen, 0, columns.n_columns)
        codes, known = columns.codes[column][self.index], np.arange(columns.n_codes[column])
        n_values, to = float((np.bincount(codes) > 0).sum()), (known != place).astype(np.int32)
        split = Split(column, "ordered", 0.0, y, n_tried=n_values, codes=known, child_of_code=to)
        if columns.edges[column] is not None:
            split = Split(column, "threshold", 0.0, y, threshold=place, missing_left=side == 1)
        child = child_of_row(split, codes, columns.n_codes[column], split.missing_left)
        children = np.bincount(child * n_classes + y, minlength=2 * n_classes).reshape(2, n_classes)
        log_p = float(log_p_one_cell(children[:1], self.counts)[0])
        gain = grower.scoring.gain(children, self.counts)
        split = replace(split, gain=gain, children=children, log_p=log_p)
        return self._with_evidence(split, int(n_values) - 1, columns.n_columns)

    def _with_evidence(self, split: Split, n_positions: int, n_columns: int) -> Split:
        """Note how likely chance is to do as well, and among how many the split was chosen."""
        if self.counts.dtype == np.float64:
            test: Any = self.grower.test(self.counts)
            split = replace(split, log_p=test.log_p(split.gain))
        elif split.kind == "threshold":
            split = replace(split, log_p=float(log_p_one_cell(split.children[:1], self.counts)[0]))
        if split.kind == "threshold":
            log_p = np.array([split.log_p])
            n_tried = n_thresholds_tried(np.array([n_positions]), log_p, float(sizes(self.counts)))
            split = replace(split, n_tried=float(n_tried[0]))
        return replace(split, n_tried=split.n_tried * n_columns)

    def _is_evident(self, split: Split) -> bool:
        """Whether chance would hardly do as well in this cell."""
        limit = np.log((1 - _PAIRS_SHARE) * self.grower.level(0))
        return bool(rounded(split.log_p + np.log(split.n_tried)) <= rounded(limit))

    def _pair(self, rows: Rows) -> tuple[Split, float, float] | None:
        """First split of two columns that say something together, its worth, and the log p-value of both."""
        grower = self.grower
        free = [j for j in range(grower.columns.n_columns) if j not in self.orders]
        found = interaction_split(rows, grower.columns, free, grower.scoring, grower.min_samples_leaf)
        if found is None:
            return None
        pair, gain, cells = found
        if grower.bundles is not None:
            pair, gain = self._pair_by_groups(rows, pair, cells)
        # Its own gain, if any, is that of the pair: none of it is evidence for the one split.
        return replace(pair, log_p=0.0, n_tried=1.0), gain, pair.log_p - np.log(_PAIRS_SHARE)

    def _choose_by_ratio(self) -> None:
        if self._cached is None:
            thresholds, splits = self._candidates(self._rows())
            self._histogram = None
            spread = self.grower.scoring.bits
            bits = np.zeros(0) if thresholds is None else spread(thresholds.children)
            self._cached = thresholds, bits, [(split, spread(split.children)) for split in splits]
        thresholds, bits, with_bits = self._cached
        self._split = None
        options = []
        if thresholds is not None:
            value = self.grower.ratio_after(thresholds.gain, bits)
            value[thresholds.gain <= 1e-9] = -np.inf
            i = best_of(value)
            options.append((float(value[i]), thresholds.split(i)))
        for split, its_bits in with_bits:
            value = self.grower.ratio_after(np.array(split.gain), its_bits)
            options.append((float(value) if split.gain > 1e-9 and self._fits(split) else -np.inf, split))
        options = [option for option in options if option[0] > -np.inf]
        if options:
            self._gain, chosen = min(options, key=lambda o: (-rounded(o[0]), o[1].column))
            n_columns = len({split.column for _, split in options})
            of_chosen = thresholds.n_positions(np.array([chosen.column])) if thresholds is not None else [0]
            self._split = self._with_evidence(chosen, int(of_chosen[0]), n_columns)

    def _choose_by_evidence(self) -> None:
        grower = self.grower
        level = np.log(grower.level(self.node))
        test = ShuffleTest(self.counts)
        if rounded(least_log_p(self.counts)) > rounded(level) or not test.possible:
            return
        rows = self._rows()
        tested = self._tested(rows, test, float(level + np.log(1 - _PAIRS_SHARE)))
        if tested is None:
            return
        splits, log_p = tested[0], tested[1] - np.log(1 - _PAIRS_SHARE)
        splits = without_hasty([split for split in splits if self._fits(split)])
        worth = [split.gain * share for split, share in zip(splits, grower.shares_left(splits), strict=True)]
        best_split, best_worth = min(
            zip(splits, worth, strict=True),
            key=lambda o: (-rounded(o[1], grower.size), o[0].column),
            default=(None, 0.0),
        )
        if rounded(best_worth, grower.size) <= 0:
            best_split, best_worth = None, 0.0
            found = self._pair(rows) if grower.by_pairs else None
            if found is not None:
                log_p = min(log_p, found[2])
                if rounded(found[2]) <= rounded(np.log(grower.level(0))):
                    best_split, best_worth = found[:2]
        grower.p_values[self.node] = float(rounded(np.exp(min(0.0, log_p))))
        self._split, self._gain = best_split, best_worth

    def _tested(self, rows: Rows, test: ShuffleTest, level: float) -> tuple[list[Split], float] | None:
        """Splits, of thresholds the best of a column, that are significant; and the least log p-value.

        P-values are corrected for all thresholds and columns that a split was chosen from. None if no split
        could be significant, whatever the classes of the rows: this is not a test (Tarone 1990).
        """
        grower, columns = self.grower, self.grower.columns
        thresholds = threshold_splits(rows, columns, grower.scoring, grower.min_samples_leaf)
        n_values, sums = value_sums(rows, columns, grower.scratch)
        n_columns = int((n_values > 1).sum())
        splits, least = [], 0.0
        if thresholds is not None:
            best = thresholds.best_per_column()
            n_columns += len(best)
        if rounded(least_log_p(self.counts) + np.log(max(1, n_columns))) > rounded(level):
            return None
        if thresholds is not None:
            log_p = log_p_one_cell(thresholds.left[best], self.counts)
            n_positions = thresholds.n_positions(thresholds.column[best])
            n_tried = n_thresholds_tried(n_positions, log_p, float(self.counts.sum()))
            corrected = log_p + np.log(n_tried * n_columns)
            least = float(corrected.min())
            found = np.flatnonzero(rounded(corrected) <= rounded(level))
            splits = [thresholds.split(best[i], float(log_p[i]), float(n_tried[i])) for i in found]
        if (n_values > 1).any():
            log_p = test.of_sums(sums)[1]
            limit = float(level - np.log(n_columns))
            least = min(least, float(log_p[n_values > 1].min() + np.log(n_columns)))
            for i in np.flatnonzero(n_values > 1):
                column, n = int(columns.categorical[i]), int(n_values[i])
                splits += self._value_splits(rows, column, n, float(log_p[i]), limit, test)
        if grower.bundles is not None and splits:
            splits = [self._by_groups(rows, split) for split in splits]
            least = 0.0
        splits = [replace(split, n_tried=split.n_tried * n_columns) for split in splits]
        corrected = np.array([split.log_p + np.log(split.n_tried) for split in splits])
        found = np.flatnonzero(rounded(corrected) <= rounded(level))
        return [splits[i] for i in found], min(least, float(corrected.min(initial=0.0)))

    def _by_groups(self, rows: Rows, split: Split) -> Split:
        """The split with its gain in groups that it never saw, and how likely chance is to do as well."""
        grower, child = self.grower, split.child_of_row
        assert grower.bundles is not None
        if child is None:
            codes = grower.columns.codes[split.column][rows.index]
            child = child_of_row(split, codes, grower.columns.n_codes[split.column], split.missing_left)
        bundle, shape = grower.bundles[rows.index], split.children.shape
        counts = BundleCounts(child, bundle, rows.y, *shape)
        log_p, n_tried = max(split.log_p, counts.log_p()), np.array([split.n_tried])
        if split.kind == "threshold":
            n_tried = n_thresholds_tried(n_tried, np.array([log_p]), float(self.counts.sum()))
        gain = self._gain_by_groups(counts)
        return replace(split, gain=gain, log_p=log_p, n_tried=float(n_tried[0]))

    def _gain_by_groups(self, counts: BundleCounts) -> float:
        scoring, rule = self.grower.scoring, RULES[self.grower.scoring.criterion.rule]
        is_loss = scoring.criterion.estimates_loss
        return counts.saved(scoring.held_out_losses) if is_loss else counts.gain(rule, scoring.falls_back)

    def _pair_by_groups(self, rows: Rows, pair: Split, cells: Ints) -> tuple[Split, float]:
        """The first split of a pair with the log p-value of all four cells, and their gain per split."""
        grower = self.grower
        assert grower.bundles is not None
        counts = BundleCounts(cells, grower.bundles[rows.index], rows.y, 4, len(self.counts))
        log_p = min(0.0, max(pair.log_p, counts.log_p() + np.log(pair.n_tried)))
        gain = self._gain_by_groups(counts)
        return replace(pair, log_p=log_p), gain / 3

    def _value_splits(
        self, rows: Rows, column: int, n_values: int, log_p: float, limit: float, test: ShuffleTest
    ) -> list[Split]:
        """Ways to split by one categorical column, given its log p-value and what it must not exceed."""
        grower = self.grower
        leaf, ways = grower.min_samples_leaf, grower.categorical_split
        known = self.orders.get(column)
        # The order of the whole sample knows more of each value, that of the node what is different here.
        order = known if known is not None else grower.first_orders.get(column)
        few = n_values <= MAX_SINGLE and known is None
        passes = bool(rounded(log_p) <= rounded(limit))
        if not passes and (not grower.may_order or (order is None and not few)):
            return []
        values = ValueCounts(rows, grower.columns, column, grower.scratch)
        splits: list[Split | None] = []
        if known is None and passes and (ways != "ordered" or len(values.codes) == 2):
            splits.append(values.multiway(grower.scoring, leaf, log_p))
        if grower.may_order and len(values.codes) > 2:
            if few:
                splits.append(values.one_against_rest(grower.scoring, leaf, limit))
            if order is not None:
                splits.append(values.ordered(grower.scoring, leaf, grower.folds, order))
            if known is None and passes:
                splits.append(values.ordered(grower.scoring, leaf, grower.folds, test))
                if self.node == 0 and splits[-1] is not None and splits[-1].order is not None:
                    grower.first_orders[column] = splits[-1].order
        # All values at once, and each against the rest, are two chances to be significant.
        if few and grower.may_order and len(values.codes) > 2:
            return [replace(split, n_tried=2 * split.n_tried) for split in splits if split is not None]
        return [split for split in splits if split is not None]

    def refine(self) -> list[TreeCell]:
        """Split the node; return its children that may be split further."""
        from offsample.induction.tree import kernels

        grower = self.grower
        split = self._split if grower.found is None else self._found_split()
        assert split is not None
        codes = grower.columns.codes[split.column][self.index]
        child = split.child_of_row
        if child is None:
            child = child_of_row(split, codes, grower.columns.n_codes[split.column], split.missing_left)
        size = sizes(split.children)
        ends = np.cumsum(size)
        ordered = np.empty_like(self.index)
        kernels.sort_by_child(self.index, child, (ends - size).astype(np.int64), ordered)
        threshold, missing_left = cut_point(split, codes, grower.columns.edges[split.column])
        first = grower.carry_out(self.node, self.counts, self.depth, split, threshold, missing_left)
        cells, orders = [], self.orders
        for i in np.flatnonzero(are_mixed(split.children)):
            if split.order is not None:
                order = replace(split.order, low=split.cut) if i else replace(split.order, high=split.cut)
                orders = {**self.orders, split.column: order}
            part = ordered[ends[i] - size[i] : ends[i]]
            known = split.children[i], self.depth + 1, orders, self.is_quiet
            cells.append(TreeCell(grower, first + int(i), part, *known))
        cells = [cell for cell in cells if grower.found is not None or cell.is_open]
        if len(size) == 2 and self._histogram is not None and cells:
            self._share_histogram(cells, ordered, int(size[0]), first)
        self._histogram = self._cached = None
        return cells

    def _share_histogram(
        self, cells: list[TreeCell], ordered: NDArray[np.int32], n_left: int, first: int
    ) -> None:
        """Count the smaller child; the larger one's counts are what is left."""
        left_is_smaller = 2 * n_left <= len(ordered)
        smaller = ordered[:n_left] if left_is_smaller else ordered[n_left:]
        y = self.grower.y.take(smaller, axis=0)
        counted = histogram(self.grower.columns, smaller, y, len(self.counts))
        assert self._histogram is not None
        rest = self._histogram
        rest -= counted
        for cell in cells:
            cell._histogram = counted if (cell.node == first) == left_is_smaller else rest


def root_cell(grower: Grower, index: NDArray[np.int32]) -> TreeCell:
    """Cell of all these rows, for a tree that begins."""
    y = grower.y[index]
    counts = y.sum(axis=0) if y.ndim > 1 else np.bincount(y, minlength=grower.n_classes).astype(np.int64)
    grower.start(counts)
    return TreeCell(grower, 0, index, counts, 0, {})
