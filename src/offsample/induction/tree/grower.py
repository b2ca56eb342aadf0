"""What the cells of one growing tree share: its data, its budget of errors, and the record of its splits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Bytes, Floats, Ints
from offsample.hypotheses import BayesRule
from offsample.induction.evidence import ShuffleTest, level_for_share, share_left
from offsample.induction.scoring import Scoring, loss_without, majority_terms
from offsample.induction.tree.columns import Columns
from offsample.induction.tree.index_paths import IndexPath
from offsample.induction.tree.splits.categories import Scratch
from offsample.induction.tree.splits.split import Order, Split, Stats, child_of_row

# Probability of splitting the root where no column has to do with the class. Less than the 5 % that are
# promised, as p-values of samples with few rows of a class may be too small by up to a half.
ROOT_LEVEL = 0.03
# Level of the tests below the root, before splits are taken back.
_MAX_LEVEL = 0.2
# Share of the splits that may have to do with nothing.
MAX_SPURIOUS = 0.1


class Measure(NamedTuple):
    """The partition after some splits; errors are of the majority rule, in rows."""

    column: int
    criterion: float
    corrected: float
    training_errors: float
    estimated_errors: float


class Record(NamedTuple):
    """A split that was carried out: the node, its first child, and what it changed, in rows."""

    node: int
    split: Split
    threshold: float
    missing_left: bool
    first_child: int
    corrected_gain: float
    training_gain: float
    estimated_gain: float


@dataclass(eq=False)
class Grower:
    """What the cells of one tree share: columns, criterion, limits, and the record of its splits."""

    columns: Columns
    y: NDArray[Any]
    n_classes: int
    scoring: Scoring
    folds: Bytes  # fold of each row, for orders of values that do not see the row they are used for
    by_evidence: bool = True  # whether a split must be significant and is chosen by its expected gain
    max_depth: int | None = None
    max_size: int | None = None
    min_samples_leaf: int = 1
    categorical_split: str = "auto"
    bundles: Bytes | None = None  # of the groups of the rows, if splits are for new groups
    found: IndexPath | None = None  # if a compiled loop found the splits
    by_pairs: bool = True  # whether pairs of columns are tested where no column is significant
    records: list[Record] = field(default_factory=list)
    # Of the values of categorical columns in the whole sample.
    first_orders: dict[int, Order] = field(default_factory=dict)
    # Of "nothing in this node has to do with the class".
    p_values: dict[int, float] = field(default_factory=dict)

    def start(self, counts: Ints) -> None:
        """Begin with one cell of these counts."""
        self.size = int(counts.sum())
        self.scoring = self.scoring.at(counts)
        self.scratch = Scratch(self.columns, self.n_classes)
        self.begin(counts)
        self._training = float(counts.sum() - counts.max())
        self._estimated = float(majority_terms(counts))
        self._errors, self._expected = [self._estimated], [counts / max(1, self.size)]

    def begin(self, counts: Stats) -> None:
        """Forget all splits: one node is left."""
        self.records.clear()
        self.counts, self.depth = [counts[None]], [np.zeros(1, np.int32)]
        self.n_nodes = 1
        self._total = float(self.scoring.terms(counts))
        self._root_terms = self._corrected = self._total
        self._spread = self.scoring.spread(counts)

    def test(self, counts: Stats) -> ShuffleTest:
        """The test of splits of a cell against shuffles of its classes."""
        return ShuffleTest(counts)

    @property
    def may_order(self) -> bool:
        """Whether values may be ordered; "auto" needs an off-sample estimate that could prefer it."""
        if self.categorical_split == "auto":
            return self.scoring.criterion.is_off_sample
        return self.categorical_split == "ordered"

    def level(self, node: int) -> float:
        """Level of the tests in a node."""
        return _MAX_LEVEL if node else ROOT_LEVEL

    def measure(self) -> Measure:
        """Where the partition stands."""
        column = self.records[-1].split.column if self.records else -1
        value = self.scoring.criterion.from_sums(self._root_terms, self._total, self.size, self._spread)
        return Measure(column, value, self._corrected, self._training, self._estimated)

    def measured_by(self, scoring: Scoring, path: list[Measure]) -> list[Measure]:
        """Return the path that has grown with the values of another criterion, which estimates the error.

        So are the gains of the splits, of which columns have their importance.
        """
        counts, self.scoring = np.concatenate(self.counts), scoring
        gains = [scoring.gain(record.split.children, counts[record.node]) for record in self.records]
        shares = self.shares_left([record.split for record in self.records])
        self.records = [
            record._replace(corrected_gain=gain * (share if gain > 0 else 1.0))
            for record, gain, share in zip(self.records, gains, shares, strict=True)
        ]
        terms = float(scoring.terms(counts[0])) - np.cumsum([0.0, *gains])
        values = [scoring.criterion.from_sums(terms[0], after, self.size, 0.0) for after in terms]
        return [measure._replace(criterion=value) for measure, value in zip(path, values, strict=True)]

    def ratio_after(self, gain: Floats, bits: Floats) -> Floats:
        """Gain over spread of the partition after splits with these gains and increases of the spread."""
        spread = np.maximum(self._spread + bits, 1e-300)
        return np.asarray((self._root_terms - self._total + gain) / spread)

    def shares_left(self, splits: list[Split]) -> list[float]:
        """Part of the gain of each split to expect on new rows: it is the best of those tried, at a level."""
        log_p, n_tried = (
            np.array([getattr(split, name) for split in splits]) for name in ("log_p", "n_tried")
        )
        return [float(share) for share in share_left(log_p, n_tried / self.level(0))]

    def share_left(self, split: Split) -> float:
        """The same of one split."""
        return self.shares_left([split])[0]

    def carry_out(
        self, node: int, parent: Ints, depth: int, split: Split, threshold: float, missing_left: bool
    ) -> int:
        """Record the split of a node with these counts, and return the number of its first child."""
        children, first = split.children, self.n_nodes
        share = self.share_left(split)
        training = float(children.max(axis=1).sum() - parent.max())
        terms = majority_terms(children)
        alone = children.sum(axis=1) == 1
        if alone.any():
            uniform = np.full(self.n_classes, 1 - 1 / self.n_classes)
            loss = loss_without(parent, BayesRule) if self.scoring.falls_back else uniform
            terms[alone] = children[alone] @ loss
        corrected = split.gain * (share if split.gain > 0 else 1.0)
        if self.by_evidence:
            estimated = float(majority_terms(parent)) - float(terms.sum())
            estimated *= share if estimated > 0 else 1.0
        else:
            estimated = self._errors[node] - self._mixed_errors(node, children, terms, share)
        self._add(Record(node, split, threshold, missing_left, first, corrected, training, estimated), depth)
        return first

    def _mixed_errors(self, node: int, children: Ints, terms: Floats, share: float) -> float:
        """Estimated errors in the children of a split that need not be significant.

        As far as the split is due to chance, new rows of a child have the classes of the whole node, and the
        majority of the child is right as often as that class occurs there.
        """
        size = children.sum(axis=1)
        whole = self._expected[node]
        errors = share * terms + (1 - share) * size * (1 - whole[children.argmax(axis=1)])
        self._errors.extend(errors)
        self._expected.extend(share * children / size[:, None] + (1 - share) * whole)
        return float(errors.sum())

    def _add(self, record: Record, depth: int) -> None:
        children = record.split.children
        self.counts.append(children)
        self.depth.append(np.full(len(children), depth + 1, np.int32))
        self.n_nodes += len(children)
        self._total -= record.split.gain
        self._spread += float(self.scoring.bits(children))
        self._corrected -= record.corrected_gain
        self._training -= record.training_gain
        self._estimated -= record.estimated_gain
        self.records.append(record)

    @property
    def n_leaves(self) -> int:
        """Number of leaves so far."""
        return self.n_nodes - len(self.records)

    def without_last(self) -> list[Measure]:
        """Take the last split back, and return the path of those that are left."""
        path = self._replay(self.records[:-1])
        self.p_values = {node: p for node, p in self.p_values.items() if node < self.n_nodes}
        return path

    def without_spurious(self, path: list[Measure]) -> list[Measure]:
        """Take back splits until no more than `MAX_SPURIOUS` of them are expected by chance; return the path.

        A split is taken back if the p-value of its node exceeds the level of `level_for_share`, and if all
        splits below it are taken back. The root, which has a level of its own, stays.
        """
        if not self.records:
            return path
        p = {record.node: self.p_values[record.node] for record in self.records}
        others = [p_value for node, p_value in self.p_values.items() if node not in p]
        level = level_for_share(np.array(list(p.values())), np.array(others), MAX_SPURIOUS)
        parent = np.zeros(self.n_nodes, np.int64)
        for record in self.records:
            parent[record.first_child : record.first_child + len(record.split.children)] = record.node
        kept: set[int] = set()
        for record in reversed(self.records):  # a node comes after its ancestors
            if p[record.node] <= level or record.node in kept or record.node == 0:
                kept.update((record.node, int(parent[record.node])))
        if not kept.issuperset(p):
            return self._replay([record for record in self.records if record.node in kept])
        return path

    def _replay(self, records: list[Record]) -> list[Measure]:
        counts, depth = np.concatenate(self.counts), np.concatenate(self.depth)
        number = {0: 0}
        self.start(counts[0])
        path = [self.measure()]
        for record in records:
            first = self.n_nodes
            for i in range(len(record.split.children)):
                number[record.first_child + i] = first + i
            level = int(depth[record.node])
            self._add(record._replace(node=number[record.node], first_child=first), level)
            path.append(self.measure())
        return path

    def routed(
        self, n_splits: int, rows: NDArray[np.int32]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int32]]]:
        """After each split, the places of the rows that it moved, and the last node of all rows."""
        node = np.zeros(len(rows), np.int32)
        places_of: dict[int, NDArray[np.intp]] = {0: np.arange(len(rows))}
        for record in self.records[:n_splits]:
            places = places_of.pop(record.node, np.zeros(0, np.intp))
            column = record.split.column
            codes = self.columns.codes[column][rows[places]]
            child = child_of_row(record.split, codes, self.columns.n_codes[column], record.missing_left)
            for i in np.flatnonzero(np.bincount(child[child >= 0])).tolist():
                here = places_of[record.first_child + i] = places[child == i]
                node[here] = record.first_child + i
            yield places, node

    def last_nodes(self, n_splits: int, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """Node in which each row ends after the first splits."""
        node = np.zeros(len(rows), np.int32)
        for _, node in self.routed(n_splits, rows):  # noqa: B007 - the last is kept
            pass
        return node

    def has_pair(self, n_splits: int) -> bool:
        """Whether one of the first splits is that of a pair of columns."""
        splits = [record.split for record in self.records[:n_splits]]
        return any(split.log_p == 0.0 and split.n_tried == 1.0 for split in splits)

    def unchosen_errors(self, n_splits: int) -> float:
        """Estimated errors without what is charged to the choice of the splits, if one is that of a pair.

        What the choice of a pair of columns cost is charged to all that is found below it: too much.
        """
        if not self.has_pair(n_splits):
            return np.inf
        records = self.records[:n_splits]
        counts = np.concatenate(self.counts)[: 1 + sum(len(record.split.children) for record in records)]
        leaves = np.delete(counts, [record.node for record in records], axis=0)
        return float(majority_terms(leaves).sum())

    def follows_conditions(self, n_splits: int) -> bool:
        """Whether the rows that grew the tree went where its conditions send new rows."""
        return all(record.split.child_of_row is None for record in self.records[:n_splits])
