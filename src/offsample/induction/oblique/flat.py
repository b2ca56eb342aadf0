"""A grown stochastic tree as arrays, and the expectation over its leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offsample.induction.oblique.cell import Grower
from offsample.induction.oblique.rows import UnitRows, gate

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class StochasticTree:
    """Nodes in the order in which they were made; the root is node 0.

    Attributes
    ----------
    first_child : ndarray of int32, shape (n_nodes,)
        The second child is the node after it; -1 for a leaf.
    parent : ndarray of int32, shape (n_nodes,)
        -1 for the root.
    depth : ndarray of int32, shape (n_nodes,)
    split_nodes : ndarray of int32, shape (n_splits,)
        Nodes that have a test, in the order in which they were split.
    weights : ndarray of shape (n_splits, d)
        Of these tests: ``clip((1 + w·x) / 2, 0, 1)`` is the probability of the first child.
    gain : ndarray of shape (n_splits,)
        Decrease of the criterion by each split, in units of the whole sample.
    corrected_gain : ndarray of shape (n_splits,)
        The same less its expected optimism; equal to it where that was not estimated.
    second_moments : ndarray of bool, shape (n_splits,)
        Whether a direction came from second moments.
    masses : ndarray of shape (n_nodes, K)
        Part of the sample that reaches a node, by class: those of the leaves sum to 1.
    value : ndarray of shape (n_nodes, K)
        What a node says as a leaf.
    """

    first_child: Ints
    parent: Ints
    depth: Ints
    split_nodes: Ints
    weights: Floats
    gain: Floats
    corrected_gain: Floats
    second_moments: NDArray[np.bool_]
    masses: Floats
    value: Floats

    @property
    def n_nodes(self) -> int:
        """Leaves and tests."""
        return len(self.first_child)

    @property
    def leaves(self) -> NDArray[np.intp]:
        """Numbers of the leaves."""
        return np.flatnonzero(self.first_child < 0)

    def reach(self, rows: UnitRows) -> Floats:
        """Probability that each row reaches each node, of shape (n, n_nodes)."""
        reach = np.ones((rows.shape[0], self.n_nodes))
        if len(self.split_nodes):
            p = gate(rows.scores(self.weights.T))
            for i, node in enumerate(self.split_nodes):
                child = self.first_child[node]
                reach[:, child] = reach[:, node] * p[:, i]
                reach[:, child + 1] = reach[:, node] * (1 - p[:, i])
        return reach


def flatten(grower: Grower, n_splits: int) -> StochasticTree:
    """The tree of the first splits."""
    records = grower.records[:n_splits]
    n_nodes = 1 + 2 * n_splits
    first_child, parent = np.full(n_nodes, -1, np.int32), np.full(n_nodes, -1, np.int32)
    for record in records:
        first_child[record.node] = record.first_child
        parent[record.first_child : record.first_child + 2] = record.node
    masses = np.array(grower.masses[:n_nodes])
    value = np.array([grower.value(m) for m in masses[:1]] + [np.zeros(masses.shape[1])] * (n_nodes - 1))
    for node in range(1, n_nodes):
        value[node] = grower.value(masses[node]) if masses[node].sum() > 0 else value[parent[node]]
    return StochasticTree(
        first_child,
        parent,
        np.array(grower.depth[:n_nodes], np.int32),
        np.array([r.node for r in records], np.int32),
        np.array([r.split.weights for r in records]).reshape(n_splits, grower.rows.shape[1]),
        np.array([r.split.gain for r in records]),
        np.array([r.corrected_gain for r in records]),
        np.array([r.split.by_second_moments for r in records], bool),
        masses,
        value,
    )
