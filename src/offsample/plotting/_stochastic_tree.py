"""The first tests of a stochastic tree as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from offsample.plotting._axes import AS_TEXT, ESTIMATE, TRAINING, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_stochastic_tree(tree: Any, *, max_splits: int = 3, max_weights: int = 10) -> list[Axes]:
    """Draw the largest weights of the first splits, one panel for each, with the names of their columns.

    Parameters
    ----------
    tree : StochasticTreeClassifier
    max_splits : int
        How many tests, in the order in which leaves were split.
    max_weights : int
        How many weights of each, the largest.

    Returns
    -------
    list of matplotlib Axes
    """
    n_splits = min(max_splits, tree.n_splits_)
    if n_splits < 1:
        raise ValueError("the tree has no splits to draw: it predicts the same for all rows")
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'offsample[plot]'") from error
    shown = [tree.named_weights(i, max_weights) for i in range(n_splits)]
    height = 1.2 + 0.26 * max(map(len, shown))
    figure, grid = plt.subplots(
        1, n_splits, figsize=(3.6 * n_splits, height), layout="constrained", squeeze=False
    )
    axes: list[Axes] = list(grid[0])
    for i, (ax, weights) in enumerate(zip(axes, shown, strict=True)):
        node = int(tree.tree_.split_nodes[i])
        share = float(tree.tree_.masses[node].sum())
        colours = [ESTIMATE if weight > 0 else TRAINING for _, weight in weights]
        ax.barh(range(len(weights)), [weight for _, weight in weights], color=colours)
        ax.set_yticks(range(len(weights)), [short(name, 24) for name, _ in weights], **AS_TEXT)
        ax.invert_yaxis()
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_title(f"{_place(tree.tree_, node)}\n{share:.0%} of the rows", fontsize=9)
        ax.set_xlabel(f"weight; gain {tree.tree_.gain[i]:.3f}")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
    figure.suptitle(
        "First tests of the tree: rows with a large weighted sum go to the high side", fontsize=10
    )
    return axes


def _place(tree: Any, node: int) -> str:
    """Way from the root to a node, in words."""
    steps = []
    while tree.parent[node] >= 0:
        parent = int(tree.parent[node])
        steps.append("high" if node == tree.first_child[parent] else "low")
        node = parent
    return "root, " + ", ".join(reversed(steps)) if steps else "root"
