"""A grown stochastic tree as arrays, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._text import visible
from offsample._ties import best_first, best_of
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
        """Return the same after the first splits, for some numbers of them, of shape (n_stages, n, K)."""
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
        second_moments=np.array([r.split.pair is not None for r in records], bool),
        masses=masses / sample.stakes,
        value=value,
    )


def named_weights(weights: Floats, names: list[Any], max_weights: int | None) -> list[tuple[Any, float]]:
    """Return weights with their names, the largest in absolute value first."""
    order = best_first(np.abs(weights), np.abs(weights).max(initial=0.0) or 1.0)[:max_weights]
    return [(names[j], float(weights[j])) for j in order]


def formula(weights: Floats, names: list[Any], max_weights: int) -> str:
    """Return the largest weights as a sum."""
    shown = named_weights(weights, names, max_weights)
    text = " ".join(f"{'-' if w < 0 else '+'} {abs(w):.2f} {name}" for name, w in shown)
    more = f" … {len(weights) - len(shown)} more" if len(weights) > len(shown) else ""
    return text.removeprefix("+ ") + more


def tree_to_text(
    tree: StochasticTree, names: list[Any], classes: NDArray[Any], max_weights: int, max_depth: int
) -> str:
    """Return one line per node, indented by depth."""
    split_of = {int(node): i for i, node in enumerate(tree.split_nodes)}
    lines, todo = [], [(0, "all rows")]
    while todo:
        node, label = todo.pop()
        depth = int(tree.depth[node])
        share, best = tree.masses[node].sum(), best_of(tree.value[node])
        text = f"{'|   ' * depth}{label}: {share:.1%} of the rows"
        i = split_of.get(node)
        if i is None:
            text += f", {classes[best]} ({tree.value[node, best]:.3f})"
        elif depth >= max_depth:
            text += ", split further"
        else:
            text += f", test {formula(tree.weights[i], names, max_weights)}"
            child = int(tree.first_child[node])
            todo += [(child + 1, "low"), (child, "high")]
        lines.append(visible(text))
    return "\n".join(lines)


def tree_to_dict(
    tree: StochasticTree, names: list[Any], classes: NDArray[Any], max_weights: int | None
) -> dict[str, Any]:
    """Return nested plain data, for JSON and for drawing."""
    split_of = {int(node): i for i, node in enumerate(tree.split_nodes)}
    root: dict[str, Any] = {}
    todo = [(0, root)]
    while todo:
        node, result = todo.pop()
        prediction = classes[best_of(tree.value[node])]
        result.update(
            node=node,
            share=float(tree.masses[node].sum()),
            masses=tree.masses[node].tolist(),
            probabilities=tree.value[node].tolist(),
            prediction=prediction.item() if isinstance(prediction, np.generic) else prediction,
        )
        i = split_of.get(node)
        if i is None:
            continue
        result["gain"] = float(tree.gain[i])
        result["weights"] = [
            {"name": str(name), "weight": weight}
            for name, weight in named_weights(tree.weights[i], names, max_weights)
        ]
        result["children"] = [{"condition": "high"}, {"condition": "low"}]
        child = int(tree.first_child[node])
        todo += [(child + k, branch) for k, branch in enumerate(result["children"])]
    return root
