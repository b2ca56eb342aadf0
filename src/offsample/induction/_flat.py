"""A grown tree as flat arrays: finding leaves, and showing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample.induction._cells import Grower
from offsample.induction._scoring import majority_terms

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class FlatTree:
    """Nodes of a tree, in the order in which they were made: a parent before its children.

    Attributes
    ----------
    feature : ndarray of int32, shape (n_nodes,)
        Column that the node is split by; -1 for a leaf.
    threshold : ndarray of float64
        Numeric splits: rows with at most this value go to the first child. NaN otherwise.
    missing_left : ndarray of bool
        Numeric splits: whether missing values go to the first child.
    first_child, n_children : ndarray of int32
        The children are numbered consecutively.
    table_start, table_size, value_table
        Categorical splits: ``value_table[table_start[node] + code]`` is the child of a value, -1 if unseen.
    parent, depth : ndarray of int32
    counts : ndarray of int64, shape (n_nodes, n_classes)
    value : ndarray of float64, shape (n_nodes, n_classes)
        Predicted class probabilities.
    gain, estimated_gain, training_gain : ndarray of float64
        By how much the split lowers the estimated error of the criterion's rule (corrected for the choice),
        that of the prediction, and the training error of the prediction, as shares of the sample.
    estimated_error : ndarray of float64
        Estimated error, on new rows, of predicting the majority of this node.
    """

    feature: NDArray[np.int32]
    threshold: Floats
    missing_left: NDArray[np.bool_]
    first_child: NDArray[np.int32]
    n_children: NDArray[np.int32]
    table_start: Ints
    table_size: NDArray[np.int32]
    value_table: NDArray[np.int32]
    parent: NDArray[np.int32]
    depth: NDArray[np.int32]
    counts: Ints
    value: Floats
    gain: Floats
    estimated_gain: Floats
    training_gain: Floats
    estimated_error: Floats

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.feature)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return self.feature < 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    def __repr__(self) -> str:
        return f"FlatTree(n_nodes={self.n_nodes}, n_leaves={self.n_leaves}, depth={int(self.depth.max())})"

    def find(self, values: Floats) -> NDArray[np.int32]:
        """Last node that each row reaches; `values` holds numbers and codes, with a column per feature."""
        from offsample.induction import _kernels

        nodes = np.zeros(len(values), np.int32)
        if self.n_nodes > 1:
            _kernels.find_nodes(
                values,
                self.feature,
                self.threshold,
                self.missing_left,
                self.first_child,
                self.table_start,
                self.table_size,
                self.value_table,
                nodes,
            )
        return nodes

    def values_of_child(self, node: int, child: int) -> Ints:
        """Codes that lead from a node to one of its children."""
        start, size = self.table_start[node], self.table_size[node]
        return np.flatnonzero(self.value_table[start : start + size] == child)


def flatten(grower: Grower, n_splits: int, value_of: Any) -> FlatTree:
    """The first splits of a grown tree, as arrays.

    Parameters
    ----------
    grower : Grower
    n_splits : int
    value_of : callable
        From counts and parents of the nodes, and which are leaves, to their class probabilities.
    """
    records = grower.records[:n_splits]
    n_nodes = 1 + sum(len(record.split.children) for record in records)
    counts = np.concatenate(grower.counts)[:n_nodes]
    depth = np.concatenate(grower.depth)[:n_nodes]
    feature = np.full(n_nodes, -1, np.int32)
    threshold = np.full(n_nodes, np.nan)
    missing_left = np.zeros(n_nodes, bool)
    first_child, n_children = np.zeros((2, n_nodes), np.int32)
    parent = np.full(n_nodes, -1, np.int32)
    table_start, table_size = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int32)
    gains = np.zeros((3, n_nodes))
    tables: list[NDArray[np.int32]] = []
    n_table = 0
    for record in records:
        node, split = record.node, record.split
        feature[node], threshold[node] = split.column, record.threshold
        missing_left[node] = record.missing_left
        first_child[node], n_children[node] = record.first_child, len(split.children)
        parent[record.first_child : record.first_child + len(split.children)] = node
        gains[:, node] = record.corrected_gain, record.estimated_gain, record.training_gain
        if split.codes is not None:
            assert split.child_of_code is not None
            table = np.full(int(split.codes.max()) + 1, -1, np.int32)
            table[split.codes] = split.child_of_code + record.first_child
            tables.append(table)
            table_start[node], table_size[node] = n_table, len(table)
            n_table += len(table)
    return FlatTree(
        feature,
        threshold,
        missing_left,
        first_child,
        n_children,
        table_start,
        table_size,
        np.concatenate(tables) if tables else np.zeros(0, np.int32),
        parent,
        depth,
        counts,
        value_of(counts, parent, feature < 0),
        gains[0] / grower.size,
        gains[1] / grower.size,
        gains[2] / grower.size,
        majority_terms(counts) / counts.sum(axis=1),
    )
