"""A grown stochastic tree as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats
from offsample.induction.oblique.grower import Record
from offsample.induction.oblique.rows import Sample, UnitRows, gate
from offsample.induction.oblique.thresholds import Decision

Nodes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class StochasticTree:
    """Nodes in the order in which they were made; the root is node 0."""

    first_child: Nodes  # the first of two children, which follow each other; -1 for a leaf
    parent: Nodes  # -1 for the root
    depth: Nodes
    split_nodes: Nodes  # nodes that have a test, in the order in which they were split
    weights: Floats  # of the tests, of shape (n_splits, d), as in `Split`
    gain: Floats  # decrease of the criterion by each split, in units of the whole sample
    corrected_gain: Floats  # the gain less its expected optimism, where that was estimated
    second_moments: NDArray[np.bool_]  # whether the direction came from second moments
    masses: Floats  # part of the sample that reaches a node, by class
    value: Floats  # vote of a node as a leaf

    @property
    def n_nodes(self) -> int:
        """Number of leaves and tests."""
        return len(self.first_child)

    @property
    def leaves(self) -> NDArray[np.intp]:
        """Numbers of the leaves."""
        return np.flatnonzero(self.first_child < 0)

    def reach(self, rows: UnitRows) -> Floats:
        """Return the probability that each row reaches each node, of shape (n, n_nodes)."""
        reach = np.ones((rows.shape[0], self.n_nodes))
        if len(self.split_nodes):
            p = gate(rows.scores(self.weights.T))
            for i, node in enumerate(self.split_nodes):
                child = self.first_child[node]
                reach[:, child] = reach[:, node] * p[:, i]
                reach[:, child + 1] = reach[:, node] * (1 - p[:, i])
        return reach

    def leaf_reach(self, rows: UnitRows) -> Floats:
        """Return the same for the leaves, of shape (n, n_leaves)."""
        return self.reach(rows)[:, self.leaves]

    def output(self, rows: UnitRows) -> Floats:
        """Return the expected vote of the leaves for each row, of shape (n, K)."""
        return np.asarray(self.leaf_reach(rows) @ self.value[self.leaves])

    def staged_output(self, rows: UnitRows, stages: Iterable[int]) -> Floats:
        """Return the same for the trees of the first so many splits, of shape (n_stages, n, K)."""
        reach, outputs = self.reach(rows), []
        for n_splits in stages:
            first_child = self.first_child[: 1 + 2 * n_splits]
            leaves = np.flatnonzero((first_child < 0) | (first_child >= len(first_child)))
            outputs.append(reach[:, leaves] @ self.value[leaves])
        return np.array(outputs)


def flatten(records: list[Record], sample: Sample, decision: Decision) -> StochasticTree:
    """Make the tree of these splits."""
    n_splits, n_nodes = len(records), 1 + 2 * len(records)
    first_child, parent = np.full((2, n_nodes), -1, np.int32)
    depth = np.zeros(n_nodes, np.int32)
    masses = np.concatenate([sample.shares[None], *(record.masses for record in records)])
    value = np.zeros_like(masses)
    value[0] = decision.value(masses[0])
    for record in records:
        first_child[record.node] = record.first_child
        for child in (record.first_child, record.first_child + 1):
            parent[child], depth[child] = record.node, depth[record.node] + 1
            # An empty leaf says what its parent says.
            value[child] = decision.value(masses[child]) if masses[child].sum() > 0 else value[record.node]
    return StochasticTree(
        first_child=first_child,
        parent=parent,
        depth=depth,
        split_nodes=np.array([r.node for r in records], np.int32),
        weights=np.array([r.split.weights for r in records]).reshape(n_splits, sample.rows.shape[1]),
        gain=np.array([r.split.gain for r in records]),
        corrected_gain=np.array([r.corrected_gain for r in records]),
        second_moments=np.array([r.split.pair is not None for r in records], bool),
        masses=masses,
        value=value,
    )
