"""A grown tree as flat arrays: finding leaves, and showing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from offsample._counting import over_classes
from offsample._ties import best_of, rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.induction.bundles import N_BUNDLES
from offsample.induction.evidence import share_left
from offsample.induction.shrinkage import LEAST, Decide, Nest, with_likeliest
from offsample.induction.tree.grower import Grower
from offsample.induction.tree.lines import Lines

# Rows that a parent's distribution may count for.
_WEIGHTS = np.concatenate([[0.0], np.geomspace(0.25, 256, 21)])
_OF_RIVALS = np.ones(1)  # what was judged on left-out rows predicts with this one
# Arrays of `FlatTree` that tell of all nodes; and what those that tell of splits hold for a leaf.
_OF_NODE = ("parent", "depth", "counts", "shown", "value", "label", "estimated_error")
_OF_LEAF: dict[str, np.generic] = {
    "feature": np.int32(-1),
    "threshold": np.float64(np.nan),
    "missing_left": np.bool_(False),
    **dict.fromkeys(("first_child", "n_children", "table_size"), np.int32(0)),
    "table_start": np.int64(0),
    **dict.fromkeys(("gain", "estimated_gain", "training_gain"), np.float64(0)),
}


@dataclass(frozen=True, eq=False, repr=False)
class FlatTree:
    """Nodes of a tree, in the order in which they were made: a parent before its children."""

    feature: NDArray[np.int32]  # column that a node is split by; -1 for a leaf
    threshold: Floats  # numbers up to this go to the first child; NaN for categories
    missing_left: Booleans  # whether missing numbers go to the first child
    first_child: NDArray[np.int32]  # the children are numbered consecutively
    n_children: NDArray[np.int32]
    table_start: Ints
    table_size: NDArray[np.int32]
    # ``value_table[table_start[node] + code]`` is the child of a value, -1 if unseen.
    value_table: NDArray[np.int32]
    parent: NDArray[np.int32]
    depth: NDArray[np.int32]
    counts: Ints  # of the rows that grew the tree, which orders of values send where other folds say
    shown: Ints  # of the same rows, sent where the conditions of the nodes say, as new rows are
    value: Floats  # predicted class probabilities
    label: Ints  # predicted class
    gain: Floats  # decrease of the estimated error of the criterion's rule, corrected for the choice
    estimated_gain: Floats  # of the estimated error of the prediction
    training_gain: Floats  # of its training error; all three as shares of the sample
    estimated_error: Floats  # share of new rows of the node that its prediction is expected to get wrong
    shrinkage_weight: float  # rows that a parent's distribution counts for
    lines: Lines | None = None  # of a numeric target, what is added to `value`
    unit: float = 1.0  # of a numeric target, what the sums in `counts` are in units of

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.feature)

    @property
    def is_leaf(self) -> Booleans:
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
        from offsample.induction.tree import kernels

        nodes, leaf = np.zeros(len(values), np.int32), self.is_leaf
        if self.n_nodes > 1 and not self.table_size.any():
            kernels.find_leaves(
                values,
                np.where(leaf, 0, self.feature).astype(np.uint32),
                np.where(leaf, np.inf, self.threshold),
                ~(leaf | self.missing_left),
                np.where(leaf, np.arange(self.n_nodes), self.first_child).astype(np.uint32),
                nodes,
            )
        elif self.n_nodes > 1:
            kernels.find_nodes(
                values,
                self.feature,
                self.threshold,
                self.missing_left,
                self.first_child,
                (self.table_start, self.table_size, self.value_table),
                nodes,
            )
        return nodes

    @property
    def in_order(self) -> NDArray[np.intp]:
        """Nodes that are split, in the order in which they were: nodes are numbered as they were made."""
        inner = np.flatnonzero(~self.is_leaf)
        return np.asarray(inner[np.argsort(self.first_child[inner])])

    def staged(self, nodes: NDArray[np.int32], sizes: Sequence[int]) -> NDArray[np.int32]:
        """Where rows that end in `nodes` ended after fewer splits, of shape (len(sizes), n_samples)."""
        # A tree of s splits is the nodes up to a number.
        inner = self.in_order
        n_nodes = np.concatenate([[1], self.first_child[inner] + self.n_children[inner]])
        found = np.empty((len(sizes), len(nodes)), np.int32)
        for place in np.argsort(sizes)[::-1]:  # from the largest tree up to the root
            limit = n_nodes[min(sizes[place], len(inner))]
            while (beyond := nodes >= limit).any():
                nodes = np.where(beyond, self.parent[nodes], nodes)
            found[place] = nodes
        return found

    def staged_without_idle(self, nodes: NDArray[np.int32], n_splits: int) -> NDArray[np.int32]:
        """Where rows that end in `nodes` end after fewer splits, without those that change no prediction."""
        nodes, inner = self.staged(nodes, [n_splits])[0], self.in_order[:n_splits]
        n_nodes = int((self.first_child + self.n_children)[inner].max(initial=1))
        shown = self._idle(self.label, n_nodes)[1]
        while (idle := ~shown[nodes]).any():
            nodes = np.where(idle, self.parent[nodes], nodes)
        return nodes

    def ancestors(self, nodes: NDArray[np.int32]) -> csr_matrix:
        """Indicator of the nodes on the way from the root to each of some nodes."""
        nodes = nodes.copy()
        lengths = self.depth[nodes] + 1
        ends = np.cumsum(lengths)
        indices = np.empty(int(ends[-1]) if len(ends) else 0, np.int32)
        active = np.arange(len(nodes))
        while len(active):
            ends[active] -= 1
            indices[ends[active]] = nodes[active]
            nodes[active] = self.parent[nodes[active]]
            active = active[nodes[active] >= 0]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return csr_matrix((np.ones(len(indices)), indices, starts), shape=(len(lengths), self.n_nodes))

    def without_idle(self, said: Ints, label: Ints) -> FlatTree:
        """The same with fewer nodes: where all below a node say what it does, and predict its `label`."""
        ends, shown = self._idle(said, self.n_nodes, label == self.label)
        if shown.all():
            return self
        rows = self.counts.sum(axis=1)
        wrong = np.where(self.is_leaf, rows * self.estimated_error, 0.0)
        for child in range(self.n_nodes - 1, 0, -1):
            wrong[self.parent[child]] += wrong[child]
        error = np.where(ends & (rows > 0), wrong / np.maximum(rows, 1), self.estimated_error)
        nodes: dict[str, Any] = {
            name: np.where(ends, of_leaf, getattr(self, name)) for name, of_leaf in _OF_LEAF.items()
        }
        return replace(self, **nodes, estimated_error=error)._of_nodes(shown, np.arange(self.n_nodes))

    def with_joined_leaves(self, gain: Callable[[Ints, Ints], float]) -> FlatTree:
        """Join leaves of a split whose values behave alike; what is predicted stays.

        Of leaves with one label, in the order of its share, neighbours are joined if telling them apart has
        no `gain`, of the counts of both and of all their rows.
        """
        into, rows = np.arange(self.n_nodes), self.counts.sum(axis=1)
        for node in np.flatnonzero(self.n_children > 2):
            children = self.first_child[node] + np.arange(self.n_children[node])
            leaves = children[self.is_leaf[children]]
            for label in np.unique(self.label[leaves]):
                for alike in _alike(leaves[self.label[leaves] == label], self.counts, label, gain):
                    into[alike] = min(alike)
            if (into[children] == children[0]).all():  # what changes no prediction is left as it is
                into[children] = children
        kept = into == np.arange(self.n_nodes)
        if kept.all():
            return self
        n_children = np.bincount(self.parent[kept][1:], minlength=self.n_nodes).astype(np.int32)
        joined: dict[str, Any] = {"n_children": n_children}
        for name in ("counts", "shown", "value", "estimated_error"):
            joined[name] = of_node = getattr(self, name).copy()
            for first in np.unique(into[~kept]):
                alike = into == first
                weight = rows[alike] / rows[alike].sum() if of_node.dtype == np.float64 else alike[alike]
                of_node[first] = weight @ of_node[alike]
        return replace(self, **joined)._of_nodes(kept, into)

    def _of_nodes(self, kept: Booleans, into: Ints) -> FlatTree:
        """Some of the nodes, the first child of each among them; others are joined `into` one of these."""
        number = np.cumsum(kept) - 1
        nodes = {name: getattr(self, name)[kept] for name in (*_OF_LEAF, *_OF_NODE)}
        nodes["first_child"] = number[nodes["first_child"]].astype(np.int32)
        nodes["parent"] = np.where(nodes["parent"] < 0, -1, number[nodes["parent"]]).astype(np.int32)
        value_table = np.where(self.value_table < 0, -1, number[into[self.value_table]]).astype(np.int32)
        return replace(self, **nodes, value_table=value_table)

    @property
    def stage_sizes(self) -> list[int]:
        """Number of leaves of the trees of fewer splits that growing went through."""
        return [int(size) for size in np.cumsum([1, *self.n_children[self.in_order] - 1])]

    def sizes_without_idle(self, said: Ints) -> list[int]:
        """Leaves of each tree that growing went through, without splits that change nothing that is said."""
        limits = (self.first_child + self.n_children)[self.in_order]
        return [1, *(int(np.logical_and(*self._idle(said, int(limit))).sum()) for limit in limits)]

    def _idle(self, said: Ints, n_nodes: int, may_end: Booleans | None = None) -> tuple[Booleans, Booleans]:
        """Of the first nodes, which end a branch, and which are there, once idle splits are left out."""
        same = np.ones(n_nodes, bool) if may_end is None else may_end[:n_nodes].copy()
        for node in range(n_nodes - 1, 0, -1):  # children have larger numbers than their parents
            same[self.parent[node]] &= same[node] and said[node] == said[self.parent[node]]
        shown = np.ones(n_nodes, bool)
        for node in range(1, n_nodes):
            shown[node] = shown[self.parent[node]] and not same[self.parent[node]]
        return same | self.is_leaf[:n_nodes] | (self.first_child[:n_nodes] >= n_nodes), shown

    def importances(self, gain: Floats, n_columns: int, nodes: Any = slice(None)) -> Floats:
        """Share of each column in the gains of the splits of some nodes; losses do not count."""
        feature, gain = self.feature[nodes], gain[nodes]
        split = feature >= 0
        total = np.bincount(feature[split], np.maximum(gain[split], 0), minlength=n_columns)
        return np.asarray(total / total.sum() if total.sum() > 0 else total)

    def values_of_child(self, node: int, child: int) -> Ints:
        """Codes that lead from a node to one of its children."""
        start, size = self.table_start[node], self.table_size[node]
        return np.flatnonzero(self.value_table[start : start + size] == child)


def _alike(leaves: Ints, counts: Ints, label: int, gain: Callable[[Ints, Ints], float]) -> list[list[int]]:
    """Leaves that behave alike, of those with a label: all that are pure, and neighbours in its share."""
    share = counts[leaves, label] / counts[leaves].sum(axis=1)
    mixed = leaves[share < 1][np.argsort(share[share < 1], kind="stable")]
    found: list[list[int]] = []
    for more in [*([leaf] for leaf in mixed.tolist()), leaves[share == 1].tolist()]:
        both = np.stack([counts[one].sum(axis=0) for one in (found[-1] if found else [], more)])
        if found and more and rounded(gain(both, both.sum(axis=0)), float(both.sum())) <= 0:
            found[-1] += more
        elif more:
            found.append(more)
    return found


def flatten(
    grower: Grower, n_splits: int, n_classes: int, total: float, decide: Decide | None, *, shrink: bool
) -> tuple[FlatTree, Nest]:
    """The first splits of a grown tree as arrays, and its cells; `total` is the estimated error of the tree.

    The predicted class is the largest of frequencies that are shrunk by squared errors, or of probabilities.
    """
    nodes, left = node_arrays(grower, n_splits)
    parent, depth = nodes["parent"], nodes["depth"]
    counts = np.concatenate(grower.counts)[: len(parent), :n_classes]
    is_leaf = nodes["feature"] < 0
    by_bundle, weights = None, _WEIGHTS if grower.found is None else _OF_RIVALS
    judged: Any = counts[:, None] * np.eye(n_classes), counts[:, None] - np.eye(n_classes)
    if grower.bundles is not None:
        by_bundle = _counted(grower, n_splits, parent, (N_BUNDLES, n_classes))
        judged = by_bundle, by_bundle.sum(axis=1, keepdims=True) - by_bundle
    losses = [left_out_losses(judged[0], judged[1], parent, depth, w)[is_leaf].sum() for w in weights]
    shrunk = _shrunk(counts, parent, weights, losses)
    nest, weight = Nest(counts, parent, depth, is_leaf, left, by_bundle), 0.0
    value = np.asarray(counts / counts.sum(axis=1, keepdims=True))
    label = (shrunk if shrink else value).argmax(axis=1)
    if shrink:
        weight = nest.weight()
        value = nest.values(weight)
        if grower.scoring.criterion.estimates_loss:
            label = value.argmax(axis=1)
    value = with_likeliest(value, label)
    label = label if decide is None else decide(value)
    if decide is None and not grower.scoring.criterion.estimates_loss:
        error = _node_errors(shrunk, label, counts.sum(axis=1), is_leaf, total)
    else:  # `total` is of other labels
        error = 1 - np.take_along_axis(value if shrink else shrunk, label[:, None], axis=1)[:, 0]
    tree = FlatTree(
        **nodes,
        counts=counts,
        shown=counts
        if grower.follows_conditions(n_splits)
        else _counted(grower, n_splits, parent, (n_classes,)),
        value=value,
        label=label,
        estimated_error=error,
        shrinkage_weight=weight,
    )
    return tree, nest


def node_arrays(grower: Grower, n_splits: int) -> tuple[dict[str, Any], Floats]:
    """What `FlatTree` says of the first splits, and the share of each that is not due to its choice."""
    records = grower.records[:n_splits]
    n_nodes = 1 + sum(len(record.split.children) for record in records)
    nodes: dict[str, Any] = {name: np.full(n_nodes, of_leaf) for name, of_leaf in _OF_LEAF.items()}
    parent, left = np.full(n_nodes, -1, np.int32), np.ones(n_nodes)
    tables, n_table = [np.zeros(0, np.int32)], 0
    for record in records:
        split, first, n_children = record.split, record.first_child, len(record.split.children)
        parent[first : first + n_children] = record.node
        left[first : first + n_children] = share_left(np.array(split.log_p), np.array(split.n_tried))
        found = {
            "feature": split.column,
            "threshold": record.threshold,
            "missing_left": record.missing_left,
            "first_child": first,
            "n_children": n_children,
            "gain": record.corrected_gain / grower.size,
            "estimated_gain": record.estimated_gain / grower.size,
            "training_gain": record.training_gain / grower.size,
        }
        if split.codes is not None:
            assert split.child_of_code is not None
            table = np.full(int(split.codes.max()) + 1, -1, np.int32)
            table[split.codes] = split.child_of_code + first
            found |= {"table_start": n_table, "table_size": len(table)}
            tables.append(table)
            n_table += len(table)
        for name, of_node in found.items():
            nodes[name][record.node] = of_node
    nodes |= {"value_table": np.concatenate(tables), "parent": parent}
    return nodes | {"depth": np.concatenate(grower.depth)[:n_nodes]}, left


def _counted(
    grower: Grower, n_splits: int, parent: NDArray[np.int32], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Counts by class, or bundle and class, of the rows that the conditions of each node hold for."""
    nodes = grower.last_nodes(n_splits, np.arange(len(grower.y), dtype=np.int32)).astype(np.int64)
    codes = nodes if len(shape) == 1 or grower.bundles is None else nodes * shape[0] + grower.bundles
    flat = np.bincount(codes * shape[-1] + grower.y, minlength=len(parent) * int(np.prod(shape)))
    counts = flat.reshape(-1, *shape)
    for node in range(len(parent) - 1, 0, -1):  # children have larger numbers than their parents
        counts[parent[node]] += counts[node]
    return counts


def _shrunk(counts: Ints, parent: NDArray[np.int32], weights: Floats, losses: Sequence[float]) -> Floats:
    """Frequencies shrunk toward the parent's, ``(counts + w * parent's) / (size + w)``.

    Of several `weights`, w has the least of `losses`, squared errors in the leaves; the smaller of equals.
    """
    sizes = counts.sum(axis=1)
    weight = float(weights[best_of([-loss for loss in losses], float(sizes[0]))])
    value = np.empty(counts.shape)
    # The root is never shrunk: its own frequencies are the prior of all others.
    value[0] = counts[0] / sizes[0]
    for node in range(1, len(counts)):
        value[node] = (counts[node] + weight * value[parent[node]]) / (sizes[node] + weight)
    return value


def left_out_losses(
    counts: Any, others: Any, parent: NDArray[np.int32], depth: NDArray[np.int32], weight: float
) -> Floats:
    """Squared loss in each node of shrunk class probabilities that have not seen what is judged.

    The counts, of shape (n_nodes, n_bundles, n_classes), are judged by the `others`: bundles by those of the
    other bundles; rows, in a bundle for each class, by those less one of it. The probabilities of a node are
    ``(counts + weight * parent's) / (size + weight)``, the root's parent being uniform.
    """
    without = np.empty(counts.shape)
    for level in range(int(depth.max()) + 1):
        nodes = np.flatnonzero(depth == level)
        prior = without[parent[nodes]] if level else 1 / counts.shape[2]
        size = over_classes(others[nodes])[..., None] + weight
        mixed = (others[nodes] + weight * prior) / np.maximum(size, LEAST)
        without[nodes] = mixed if weight else np.where(size > 0, mixed, prior)
    squares = over_classes(without**2)[..., None]
    return np.asarray((counts * (1 - 2 * without + squares)).sum(axis=(1, 2)))


def _node_errors(shrunk: Floats, label: Ints, sizes: Ints, is_leaf: Booleans, total: float) -> Floats:
    """Share of new rows of each node that its predicted class, `label`, gets wrong.

    Of a node by itself this is one less the shrunk frequency of that class. The
    leaves are optimistic together, as the same rows chose classes and splits: their errors are moved toward
    guessing until their mean is `total`, the estimate for the tree (or down in proportion, if that is
    smaller).
    """
    errors: Floats = 1 - np.take_along_axis(shrunk, label[:, None], axis=1)[:, 0]
    own, share = errors[is_leaf], sizes[is_leaf] / sizes[0]
    guessing = np.maximum(own, 1 - 1 / shrunk.shape[1])
    now, most = float(share @ own), float(share @ guessing)
    if total <= now:
        own = own * (total / now if now > 0 else 1.0)
    elif total <= most:
        own = own + (guessing - own) * (total - now) / (most - now)
    else:
        own = np.minimum(1.0, guessing + (1 - guessing) * (total - most) / max(1 - most, 1e-300))
    errors[is_leaf] = own
    return np.clip(errors, 0.0, 1.0)
