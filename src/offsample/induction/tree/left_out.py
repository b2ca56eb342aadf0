"""What the leaves of a tree of numbers predict of a row without it, or without its group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._held_out_counts import together
from offsample._typing import Floats, Ints
from offsample.induction.tree.flat import FlatTree, node_arrays
from offsample.induction.tree.grower import Measure
from offsample.induction.tree.lines import Lines
from offsample.induction.tree.numbers import NumberGrower, Validated, shrunk_means
from offsample.induction.tree.splits.split import Stats

# Of a leaf with more rows, so many of their ranks are kept.
_MOST_KEPT = 1_000
# How far the mean of a small leaf may be off, by the others of its node: leaves are chosen for large ones.
_STANDARD_ERRORS = 3.0


def left_out_values(stats: Stats, parent: NDArray[np.int32], weight: float) -> tuple[Floats, Floats]:
    """Shrunk means of nodes that have not seen a row i, as ``a + b y_i``: it is in no node on its way."""
    a, b = np.empty(len(stats)), np.empty(len(stats))
    for node in range(len(stats)):
        rows = stats[node, 0] - 1 + (weight if node else 0.0)
        if rows <= 0:
            a[node], b[node] = (a[parent[node]], b[parent[node]]) if node else (0.0, 0.0)
            continue
        above = (a[parent[node]], b[parent[node]]) if node else (0.0, 0.0)
        of_parent = weight if node else 0.0
        a[node] = (stats[node, 1] + of_parent * above[0]) / rows
        b[node] = (of_parent * above[1] - 1) / rows
    return a, b


def left_out_distances(
    stats: Stats, parent: NDArray[np.int32], leaf: Ints, y: Floats, weight: float, lines: Lines | None, X: Any
) -> Floats:
    """Distance of each row to the prediction of its leaf, a mean or a line, that has not seen it."""
    if lines is not None:
        value = lines.means(shrunk_means(stats, parent, np.array([weight])))[leaf, 0]
        return lines.left_out(leaf, stats[lines.source[leaf], 0], y - value, X)
    a, b = left_out_values(stats, parent, weight)
    return np.asarray((1 - b[leaf]) * y - a[leaf])


def without_groups(
    stats: Stats, parent: NDArray[np.int32], leaf: Ints, y: Floats, groups: Ints, weight: float
) -> Floats:
    """Shrunk mean of the leaf of each row that has seen no row of its group, in any node on its way."""
    depth = np.zeros(len(stats), np.int64)
    for i in range(1, len(stats)):
        depth[i] = depth[parent[i]] + 1
    way = np.full((int(depth.max()) + 1, len(y)), -1)
    node = leaf.copy()
    for level in range(len(way))[::-1]:
        here = depth[node] == level
        way[level, here] = node[here]
        node = np.where(here & (level > 0), parent[node], node)
    value, w = np.zeros(len(y)), 0.0
    for nodes in way:
        rows = np.flatnonzero(nodes >= 0)
        node, both = nodes[rows], together(nodes[rows], groups[rows])
        n_rest = stats[node, 0] - np.bincount(both)[both] + w
        rest = stats[node, 1] - np.bincount(both, y[rows])[both] + w * value[rows]
        value[rows] = np.where(n_rest > 0.25, rest / np.maximum(n_rest, 0.25), value[rows])
        w = weight
    return value


def without_validation(
    grower: NumberGrower,
    path: list[Measure],
    leaf: Ints,
    y: Floats,
    weights: Floats,
    groups: Ints | None,
    X: Floats | None = None,
) -> Validated:
    """Keep all splits; errors are those on left-out rows, or groups, of the means of leaves.

    If numbers of the columns are given, a leaf has a line where that is closer to left-out rows.
    """
    nodes, _ = node_arrays(grower, len(path) - 1)
    stats, parent = np.concatenate(grower.counts), nodes["parent"]
    if groups is None:
        each = [left_out_distances(stats, parent, leaf, y, w, None, X) ** 2 for w in weights]
    else:
        each = [(y - without_groups(stats, parent, leaf, y, groups, w)) ** 2 for w in weights]
    errors = [float(losses.mean()) for losses in each]
    best = int(np.argmin(np.round(errors, 10)))
    weight, error, losses, is_linear = float(weights[best]), errors[best], each[best], False
    if groups is None and X is not None:
        lines = Lines.of_tree(grower, len(path) - 1, np.arange(len(y), dtype=np.int32), X, y)
        by_lines = left_out_distances(stats, parent, leaf, y, 0.0, lines, X) ** 2
        if is_linear := float(by_lines.mean()) < error:
            losses, weight, error = by_lines, 0.0, float(by_lines.mean())
    steps = np.array([measure.estimated_errors for measure in path]) / len(y)
    steps[-1] = error
    return Validated(len(path) - 1, weight, steps, losses, error, is_linear=is_linear)


@dataclass(frozen=True, eq=False)
class LeafResiduals:
    """Distances of rows to the prediction of their leaf, with the number of rows that each stands for."""

    leaf: Ints
    distance: Floats
    weight: Floats

    @classmethod
    def of_tree(cls, leaf: Ints, found: Validated, off: Floats, unit: float) -> LeafResiduals:
        """Distances as far as trees are off that had not seen the rows, given those of its own leaves."""
        more = np.sqrt(max(1.0, found.error / float((off**2).mean()))) if off.any() else 1.0
        return cls.of(leaf, off * more * unit)

    @classmethod
    def of(cls, leaf: Ints, distance: Floats) -> LeafResiduals:
        """Distances of all rows; of a large leaf as many ranks, evenly far apart."""
        order = np.lexsort((distance, leaf))
        leaves, first, size = np.unique(leaf[order], return_index=True, return_counts=True)
        kept = np.minimum(size, _MOST_KEPT)
        rank = [((np.arange(k) + 0.5) * n / k).astype(np.int64) for n, k in zip(size, kept, strict=True)]
        place = np.concatenate([f + r for f, r in zip(first, rank, strict=True)])
        return cls(np.repeat(leaves, kept), distance[order][place], np.repeat(size / kept, kept))

    def ends(self, tree: FlatTree, nodes: Ints, confidence: float) -> Floats:
        """Least and largest distance of a new row that ends in each of some nodes.

        Of k rows these are of the ranks ``(1 - confidence) / 2 (k + 1)``, rounded down, from both ends. If
        there are too few rows for that, as many as are missing are made up of the others of the lowest node
        above with enough of them, all of which weigh the same.
        """
        tail = (1 - confidence) / 2
        leaves, place = np.unique(self.leaf, return_inverse=True)
        is_below = tree.ancestors(leaves.astype(np.int32)).toarray() > 0
        found = np.empty((len(nodes), 2))
        for i, node in enumerate(nodes.tolist()):
            above, inside = node, is_below[place, node]
            missing = 1 / tail - self.weight[inside].sum()
            while missing > 0 and tree.parent[above] >= 0 and tree.counts[above, 0] < 1 / tail:
                above = int(tree.parent[above])
            others = is_below[place, above] & ~inside
            share = min(1.0, max(missing, 0.0) / max(float(self.weight[others].sum()), 1.0))
            weight = np.where(inside, self.weight, share * others * self.weight)
            # A row with a value that was not seen is predicted by the node where it ends, not by a leaf.
            apart = tree.value[self.leaf, 0] - tree.value[node, 0]
            # A small leaf may be one of a few large numbers by chance, and its mean as far off, toward that
            # of the node above: three standard errors of it at most.
            squares = float((self.weight * self.distance**2)[inside].sum())
            far = _STANDARD_ERRORS * np.sqrt(squares) / max(1.0, float(self.weight[inside].sum()))
            toward = np.clip(tree.value[above, 0] - tree.value[node, 0], -far, far)
            distance = (self.distance + np.where(inside, apart, toward))[weight > 0]
            weight = weight[weight > 0]
            found[i] = -_above(-distance, weight, tail), _above(distance, weight, tail)
        return found


def _above(distance: Floats, weight: Floats, tail: float) -> float:
    """Distance that a new one is above with this probability; the largest if there are too few."""
    order = np.argsort(distance, kind="stable")
    total = np.cumsum(weight[order])
    place = int(np.searchsorted(total, (1 - tail) * (total[-1] + 1) - 1e-9))
    return float(distance[order][min(place, len(order) - 1)])
