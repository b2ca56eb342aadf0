"""Branching programs: trees whose nodes of similar class ratio are merged, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from offsample._ties import DIGITS, rounded
from offsample._typing import Floats, Ints
from offsample.induction.forms import Conditions, Expression, case
from offsample.induction.rules.base import RuleClassifier
from offsample.induction.rules.models import Model, Truth, conjunction, distinct, shares
from offsample.induction.rules.partition import Partition, Sample
from offsample.induction.rules.search import ConjunctionSearch

# Share of what the tests of a level gain that merging must leave; otherwise the buckets are too wide.
_LEAST_KEPT = 0.5
# γ: within a bucket, merging multiplies Matsushita's index by at most 1 + γ; and ε: shares of a class below
# it are in one bucket, to which that does not apply.
_MERGE_FACTOR, _LEAST_SHARE = 0.2, 0.01


@dataclass(frozen=True, eq=False)
class Node:
    """A node: its test and where it leads, or no test; class counts of the training rows that come by."""

    counts: Ints
    level: int
    test: tuple[int, ...] = ()
    where: tuple[int, ...] = ()

    @property
    def sink(self) -> int | None:
        """The only class of a pure node that predicts."""
        is_pure = not self.where and self.counts.any() and self.counts.max() == self.counts.sum()
        return int(self.counts.argmax()) if is_pure else None


@dataclass(frozen=True, eq=False)
class ProgramModel(Model):
    """Nodes in an order in which every one comes before those that it leads to."""

    nodes: tuple[Node, ...]

    @property
    def leaves(self) -> list[int]:
        """Nodes that predict."""
        return [i for i, node in enumerate(self.nodes) if not node.where]

    @property
    def counts(self) -> Ints:  # type: ignore[override]
        """Counts of the nodes that predict."""
        return np.array([self.nodes[i].counts for i in self.leaves])

    @property
    def literals(self) -> Sequence[int]:  # type: ignore[override]
        """Literals of all tests."""
        return distinct(node.test for node in self.nodes)

    def _cell(self, tests: Conditions) -> tuple[Expression, list[dict[str, Expression]]]:
        places = {node: place for place, node in enumerate(self.leaves)}
        parts: list[Expression] = [places.get(i) for i in range(len(self.nodes))]
        steps = []
        led_to = [to for node in self.nodes for to in node.where]
        for i, node in reversed([*enumerate(self.nodes)]):
            if node.where:
                parts[i] = case([(tests(node.test), parts[node.where[0]])], parts[node.where[1]])
                if led_to.count(i) > 1 or i == 0:  # it is written once
                    steps.append({f"node{i}": parts[i]})
                    parts[i] = f"node{i}"
        return parts[0], steps

    def cells(self, truth: Truth, n_rows: int) -> Ints:
        """Place of the node where a row ends, among those that predict."""
        at = np.zeros(n_rows, np.int64)
        for i, node in enumerate(self.nodes):
            if node.where:
                here = at == i
                true = conjunction(truth, node.test, n_rows)
                at[here & true], at[here & ~true] = node.where
        place = np.full(len(self.nodes), -1)
        place[self.leaves] = np.arange(len(self.leaves))
        return np.asarray(place[at])


class Step(NamedTuple):
    """The test of one node: what it is worth, in rows, and the share of its gain to expect on new rows."""

    node: int
    test: tuple[int, ...]
    worth: float
    share: float


def bucket_edges(merge_factor: float, least_share: float) -> Floats:
    """Ends of the buckets: ε, ε(1+γ)², … below ½, ½, and their mirror images.

    Merging nodes multiplies Matsushita's index by at most ``(r^¼ + r^-¼) / 2``, where r is the ratio of the
    odds at the ends of their bucket, which two nodes there with equal shares of the index reach. It is below
    1 + γ in all buckets but the two at the ends.
    """
    n = int(np.ceil(np.log(0.5 / least_share) / (2 * np.log1p(merge_factor)) - 1e-9))
    below = least_share * (1 + merge_factor) ** (2.0 * np.arange(n))
    return np.concatenate([below, [0.5], 1 - below[::-1]])


class ProgramPartition(Partition):
    """A cell for each node that predicts; a step splits the nodes of a level, and merges by class ratio."""

    def __init__(self, sample: Sample, learner: Any) -> None:
        self._search = ConjunctionSearch(sample, learner.literals or 1, closes=False)
        self._at = np.where(sample.active, 0, -1)
        self._nodes = [Node(sample.totals(self._at, 1)[0], 0)]
        self._open = [0]  # nodes that may be split
        super().__init__(sample, learner)

    def cell_counts(self) -> Ints:
        """Counts of the nodes that predict."""
        return self.model().counts

    def model(self) -> ProgramModel:
        """The program."""
        return ProgramModel(tuple(self._nodes))

    def propose(self) -> float | None:
        """Gain of splitting the nodes of this level and merging their children."""
        steps = sorted(
            self._best_tests(), key=lambda step: (-rounded(step.worth, self.sample.size), step.node)
        )
        while steps:
            before = self._total_of(self._nodes)
            split = self._split(steps)
            least = (before - self._total_of(split[0])) * _LEAST_KEPT / self.sample.size
            least = max(round(least, DIGITS), 10.0**-DIGITS)
            narrower = 1.0
            while narrower > 1e-3:
                edges = bucket_edges(_MERGE_FACTOR * narrower, _LEAST_SHARE * narrower)
                nodes, at, still_open = self._merge(*split, edges)
                gain = before - self._total_of(nodes)
                if rounded(gain, self.sample.size) >= least:
                    break
                narrower /= 2
            else:
                return None
            n_used = sum(bool(node.counts.any()) for node in nodes)
            if self.learner.max_size is None or n_used <= self.learner.max_size:
                worth = sum(step.worth for step in steps)
                raw = sum(step.worth / max(step.share, 1e-12) for step in steps)
                kept = sum(step.worth * step.share for step in steps) / worth if worth > 0 else 1.0
                self._share = worth / raw if self.sample.by_evidence and raw > 0 else kept
                self._planned = nodes, at, still_open
                return gain / self.sample.size
            steps = steps[:-1]  # fewer nodes: leave out the test that is worth least
        return None

    def take(self, literals: tuple[int, ...]) -> None:
        """Split the level as planned; merging leaves nodes behind to which no other leads."""
        del literals  # a level has many tests
        nodes, at, still_open = self._planned
        reached, order = {0}, []
        for i, node in enumerate(nodes):
            if i in reached:
                order.append(i)
                reached.update(node.where)
        place = {old: new for new, old in enumerate(order)}
        self._nodes = [replace(nodes[i], where=tuple(place[j] for j in nodes[i].where)) for i in order]
        moved = np.array([place.get(i, -1) for i in range(len(nodes))])
        self._at, self._open = np.where(at >= 0, moved[at], -1), [place[i] for i in still_open]

    def _best_tests(self) -> list[Step]:
        steps = []
        for node in self._open:
            counts = self._nodes[node].counts
            if counts.max() == counts.sum():
                continue
            options = self._search.options(self._at == node)
            # Every node of the level is a chance to find something.
            level = self.level * 2 / max(2, len(self._open))
            found = options.best(self.sample, level)
            if found is not None and rounded(found[1], self.sample.size) > 0:
                steps.append(Step(node, options.literals(found[0]), found[1], found[2]))
        return steps

    def _total_of(self, nodes: Sequence[Node]) -> float:
        counts = np.array([node.counts for node in nodes if not node.where and node.counts.any()])
        return float(self.sample.scoring.terms(counts).sum())

    def _split(self, steps: Sequence[Step]) -> tuple[list[Node], Ints, list[int], list[int]]:
        """Nodes after the tests, node of each row, the children, and the nodes that had no test."""
        nodes, at = list(self._nodes), self._at.copy()
        level = 1 + max(self._nodes[i].level for i in self._open)
        waiting = [i for i in self._open if i not in {step.node for step in steps}]
        children: list[int] = []
        for step in steps:
            here = self._at == step.node
            side = np.where(here, np.where(self.sample.rows_where(step.test), 0, 1), -1)
            pair = (len(nodes), len(nodes) + 1)
            nodes += [Node(counts, level) for counts in self.sample.totals(side, 2)]
            nodes[step.node] = replace(nodes[step.node], test=step.test, where=pair)
            at[side == 0], at[side == 1] = pair
            children += pair
        return nodes, at, children, waiting

    def _merge(
        self, nodes: list[Node], at: Ints, children: list[int], waiting: list[int], edges: Floats
    ) -> tuple[list[Node], Ints, list[int]]:
        """Make one node of all those of the level whose class ratio is in one bucket."""
        nodes, level = list(nodes), nodes[-1].level
        buckets: dict[int, list[int]] = {}
        # The sinks are those of all levels: a pure child may join a pure node of an earlier one.
        sinks = [i for i, node in enumerate(nodes) if node.sink is not None and i not in children]
        for i in [*sinks, *waiting, *children]:
            sink = nodes[i].sink
            staked = self.sample.staked(nodes[i].counts)
            share = staked[-1] / staked.sum()
            bucket = int(np.searchsorted(edges, share, side="right")) if sink is None else -1 - sink
            buckets.setdefault(bucket, []).append(i)
        still_open = []
        becomes = {}
        for bucket in sorted(buckets):
            members = buckets[bucket]
            kept = members[0]
            if len(members) > 1:
                kept = len(nodes)
                nodes.append(Node(np.sum([nodes[i].counts for i in members], axis=0), level))
                becomes.update(dict.fromkeys(members, kept))
            if bucket >= 0:
                still_open.append(kept)
        for i in becomes:
            nodes[i] = Node(np.zeros_like(nodes[i].counts), nodes[i].level)
        nodes = [replace(node, where=tuple(becomes.get(j, j) for j in node.where)) for node in nodes]
        moved = np.array([becomes.get(i, i) for i in range(len(nodes) + 1)])
        return nodes, np.where(at >= 0, moved[at], -1), still_open


@dataclass(frozen=True)
class ProgramRule:
    """A node in words: its test and the nodes to go to, or its class; and its training rows of each class."""

    node: int
    condition: str | None  # None for a node that predicts
    where: tuple[int, ...]  # where to go if the test is true, and if it is false
    prediction: Any
    counts: tuple[int, ...]
    right: int | None = None  # rows of the class that is predicted

    def __str__(self) -> str:
        if self.condition is None:
            return f"{self.node}: {self.prediction} ({shares(self)})"
        return f"{self.node}: if {self.condition} go to {self.where[0]}, else to {self.where[1]}"


@dataclass(kw_only=True, eq=False, repr=False)
class BranchingProgramClassifier(RuleClassifier):
    """Branching program: a graph of tests, narrower than a tree as nodes of similar class ratio merge.

    All nodes of a level are split by the test that improves the criterion most; then children whose share of
    the second class falls into the same of some buckets become one node of the next level. For two classes.

    Parameters
    ----------
    max_size : int, default=None
        The largest number of nodes, those that predict included.
    max_depth : int, default=None
        The largest number of levels of tests.
    literals : int, default=1
        The largest number of literals of a test.
    criterion, stopping, n_thresholds, categorical_features, costs, class_weight, random_state
        See `DecisionListClassifier`.

    Attributes
    ----------
    rules_ : list of ProgramRule
        The nodes; the first is where to start.
    counts_ : CellCounts
        Training rows of the nodes that predict.
    n_nodes_ : int
    path_, size_, estimated_error_, estimated_error_interval_
        See `DecisionListClassifier`; a step of the path is a level.

    Notes
    -----
    Buckets end at ε, ε(1+γ)², ε(1+γ)⁴, … below ½, with ε = .01 and γ = .2, and at their mirror images: from ε
    on, merging multiplies Matsushita's index by at most 1 + γ. Pure children are not merged with others.
    Where merging would cost more than half of what the tests of a level gain, γ and ε are halved until it
    does not. A node without a test that helps waits for the next level.

    References
    ----------
    .. [1] Y. Mansour, D. McAllester (2002). Boosting using branching programs. J. Comput. System Sci. 64.
    .. [2] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria. Theoret. Comput. Sci. 321.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.induction import BranchingProgramClassifier
    >>> X = np.random.default_rng(0).integers(0, 2, (1000, 6))
    >>> y = np.where(X[:, :3].sum(axis=1) >= 2, "most", "few")
    >>> program = BranchingProgramClassifier().fit(X, y)
    >>> print(program.to_text())
    0: if x2 = 1 go to 1, else to 2
    1: if x0 = 1 go to 5, else to 3
    2: if x1 = 1 go to 4, else to 6
    3: if x1 = 1 go to 5, else to 6
    4: if x0 = 1 go to 5, else to 6
    5: most (494 of 494 rows)
    6: few (506 of 506 rows)
    """

    max_depth: int | None = None
    literals: int | None = 1

    _partition = ProgramPartition
    _least: ClassVar[dict[str, int]] = {**RuleClassifier._least, "max_depth": 0}

    @property
    def _max_steps(self) -> int | None:
        return self.max_depth

    @property
    def n_nodes_(self) -> int:
        """Number of nodes."""
        return len(self._nodes)

    @property
    def _nodes(self) -> tuple[Node, ...]:
        assert isinstance(self.model_, ProgramModel)
        return self.model_.nodes

    def _describe_step(self, step: tuple[int, ...]) -> str:
        del step  # a level has many tests
        return "level"

    def _rules(self, feature_names: Sequence[Any] | None = None) -> list[Any]:
        rules, labels = [], iter(self._labels)
        for i, node in enumerate(self._nodes):
            text = self.vocabulary_.describe(node.test, feature_names) if node.where else None
            label = None if node.where else next(labels)
            counts = tuple(node.counts.tolist()[: max(1, len(self.classes_))])
            found = (None, None) if label is None else (self.classes_[label], counts[label])
            rules.append(ProgramRule(i, text, node.where, found[0], counts, found[1]))
        return rules

    def to_dict(self) -> dict[str, Any]:
        """The program as plain data, for JSON and for drawing."""
        nodes = [
            {
                "node": rule.node,
                "level": node.level,
                "condition": rule.condition,
                "where": list(rule.where),
                "prediction": rule.prediction.item() if hasattr(rule.prediction, "item") else rule.prediction,
                "counts": list(rule.counts),
            }
            for rule, node in zip(self.rules_, self._nodes, strict=True)
        ]
        return {**super().to_dict(), "nodes": nodes}
