"""The levels of a branching program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from offsample._ties import DIGITS, rounded
from offsample._typing import Floats, Ints
from offsample.induction.rules.models import Model, Truth, conjunction, distinct
from offsample.induction.rules.partition import Partition
from offsample.induction.rules.search import ConjunctionSearch

# Share of what the tests of a level gain that merging must leave; otherwise the buckets are too wide.
_LEAST_KEPT = 0.5


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


def _reached(nodes: Sequence[Node]) -> tuple[list[int], dict[int, int]]:
    """Nodes that the first one leads to, in order, and the place of each: merging leaves others behind."""
    reached, order = {0}, []
    for i, node in enumerate(nodes):
        if i in reached:
            order.append(i)
            reached.update(node.where)
    return order, {old: new for new, old in enumerate(order)}


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


@dataclass(eq=False)
class ProgramPartition(Partition):
    """A cell for each node that predicts; a step splits the nodes of a level, and merges by class ratio."""

    max_literals: int = 1
    max_nodes: int | None = None
    merge_factor: float = 0.2
    least_share: float = 0.01

    def __post_init__(self) -> None:
        self._search = ConjunctionSearch(self.sample, self.max_literals, prefer_pure=False)
        self._at = np.where(self.sample.active, 0, -1)
        self._nodes = [Node(self.sample.totals(self._at, 1)[0], 0)]
        self._open = [0]  # nodes that may be split
        self._planned: tuple[list[Node], Ints, list[int]] | None = None
        super().__post_init__()

    def cell_counts(self) -> Ints:
        """Counts of the nodes that predict."""
        return np.array([node.counts for node in self._nodes if not node.where])

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
                edges = bucket_edges(self.merge_factor * narrower, self.least_share * narrower)
                nodes, at, still_open = self._merge(*split, edges)
                gain = before - self._total_of(nodes)
                if rounded(gain, self.sample.size) >= least:
                    break
                narrower /= 2
            else:
                return None
            n_used = sum(bool(node.counts.any()) for node in nodes)
            if self.max_nodes is None or n_used <= self.max_nodes:
                worth = sum(step.worth for step in steps)
                raw = sum(step.worth / max(step.share, 1e-12) for step in steps)
                self._share = worth / raw if self.sample.by_evidence and raw > 0 else _mean_share(steps)
                self._planned = nodes, at, still_open
                return gain / self.sample.size
            steps = steps[:-1]  # fewer nodes: leave out the test that is worth least
        return None

    def refine(self) -> list[Self]:
        """Split the level."""
        assert self._planned is not None
        nodes, at, still_open = self._planned
        self._planned = None
        order, place = _reached(nodes)
        self._nodes = [replace(nodes[i], where=tuple(place[j] for j in nodes[i].where)) for i in order]
        moved = np.array([place.get(i, -1) for i in range(len(nodes))])
        self._at, self._open = np.where(at >= 0, moved[at], -1), [place[i] for i in still_open]
        self.steps.append(())
        self._account()
        return [self]

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
            share = nodes[i].counts[-1] / nodes[i].counts.sum()
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


def _mean_share(steps: Sequence[Step]) -> float:
    worth = sum(step.worth for step in steps)
    return sum(step.worth * step.share for step in steps) / worth if worth > 0 else 1.0
