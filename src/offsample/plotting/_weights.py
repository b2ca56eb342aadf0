"""Weights of columns as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from offsample.plotting._axes import ESTIMATE, QUIET, TRAINING, finish, name_rows, new_axes, new_panels, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_weights(selector: Any, *, max_columns: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the weights of the features, the largest first; those that were selected are blue.

    Parameters
    ----------
    selector : fitted Relief, Simba or GFlip
    max_columns : int
        Features to show.
    """
    weights = selector.feature_weights_
    names = getattr(selector, "feature_names_in_", [f"x{j}" for j in range(len(weights))])
    shown = np.argsort(-weights, kind="stable")[:max_columns]
    ax = ax or new_axes(height=1 + 0.24 * len(shown))
    kept = selector.get_support()
    ax.barh(range(len(shown)), weights[shown], color=[ESTIMATE if kept[j] else QUIET for j in shown])
    name_rows(ax, [short(names[j]) for j in shown])
    title = f"{kept.sum():,} of {len(weights):,} features selected by {type(selector).__name__}"
    return finish(ax, "weight", title=title)


def plot_stochastic_tree(tree: Any, *, max_splits: int = 3, max_weights: int = 10) -> list[Axes]:
    """Draw the largest weights of the first splits, one panel for each, with the names of their columns.

    Parameters
    ----------
    tree : StochasticTreeClassifier
    max_splits : int
        How many tests, in the order in which leaves were split.
    max_weights : int
        How many weights of each, the largest.
    """
    n_splits = min(max_splits, tree.n_splits_)
    if n_splits < 1:
        raise ValueError("the tree has no splits to draw: it predicts the same for all rows")
    shown = [tree.named_weights(i, max_weights) for i in range(n_splits)]
    axes = new_panels(n_splits, height=1.2 + 0.26 * max(map(len, shown)), width=3.6 * n_splits)
    for i, (ax, weights) in enumerate(zip(axes, shown, strict=True)):
        node = int(tree.tree_.split_nodes[i])
        share = float(tree.tree_.masses[node].sum())
        colours = [ESTIMATE if weight > 0 else TRAINING for _, weight in weights]
        ax.barh(range(len(weights)), [weight for _, weight in weights], color=colours)
        name_rows(ax, [short(name, 24) for name, _ in weights], ticks=False)
        ax.axvline(0, color="black", linewidth=0.8)
        finish(ax, f"weight; gain {tree.tree_.gain[i]:.3f}")
        ax.set_title(f"{_place(tree.tree_, node)}\n{share:.0%} of the rows", fontsize=9)
    title = "First tests of the tree: rows with a large weighted sum go to the high side"
    axes[0].figure.suptitle(title, fontsize=10)
    return axes


def _place(tree: Any, node: int) -> str:
    """Describe the way from the root to a node in words."""
    steps = []
    while tree.parent[node] >= 0:
        parent = int(tree.parent[node])
        steps.append("high" if node == tree.first_child[parent] else "low")
        node = parent
    return "root, " + ", ".join(reversed(steps)) if steps else "root"
