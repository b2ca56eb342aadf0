"""Figures from results; nothing is computed here. Needs matplotlib: ``pip install 'offsample[plot]'``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from offsample.ranking import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_ranking", "plot_tree"]

# Blue and orange are told apart by nearly everyone, also in grey.
_ESTIMATE, _TRAINING, _QUIET = "#1f5fa8", "#d9730d", "#8a8a8a"
_LABEL_LINE = 26


def plot_ranking(ranking: Ranking, *, max_columns: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the error of each column off the sample, with its interval, beside the error on the sample.

    Columns without evidence of a signal are grey. The gap between the two marks is what fools a criterion
    that looks at the sample alone.

    Parameters
    ----------
    ranking : Ranking
        Of `rank_features`.
    max_columns : int
        How many of the first columns to draw.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    shown = ranking.features[:max_columns]
    own_figure = ax is None
    ax = ax if ax is not None else _new_axes(height=1.4 + 0.28 * len(shown))
    for row, feature in enumerate(shown):
        colour = _ESTIMATE if feature.significant else _QUIET
        ax.plot([feature.training_error, feature.error], [row, row], color=_QUIET, linewidth=0.6, zorder=1)
        ax.plot([feature.low, feature.high], [row, row], color=colour, linewidth=3, alpha=0.45, zorder=2)
    rows = range(len(shown))
    ax.scatter(
        [f.training_error for f in shown], rows, s=26, marker="D", facecolors="none",
        edgecolors=_TRAINING, zorder=3, label="on the sample",
    )  # fmt: skip
    ax.scatter(
        [f.error for f in shown], rows, s=30, zorder=4, label="estimated off the sample",
        color=[_ESTIMATE if f.significant else _QUIET for f in shown],
    )  # fmt: skip
    ax.axvline(ranking.baseline_error, color="black", linewidth=1, linestyle=":", label="without any column")
    ax.set_yticks(list(rows), [_short(feature.name) for feature in shown])
    ax.invert_yaxis()
    ax.set_xlim(left=min(0.0, *(f.low for f in shown)) - 0.005)
    ax.set_xlabel(f"error, with {ranking.confidence:.0%} interval")
    ax.set_title(f"{len(shown)} of {len(ranking)} columns by {ranking.criterion}, {ranking.n_samples:,} rows")
    if own_figure:
        ax.figure.legend(loc="outside lower center", ncols=3, frameon=False)
    else:
        ax.legend(frameon=False)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def plot_tree(tree: Any, *, max_children: int = 8, ax: Axes | None = None) -> Axes:
    """Draw a fitted tree from left to right: nodes with counts, leaves with prediction and estimated error.

    Parameters
    ----------
    tree : TreeClassifier
        Or what its `to_dict` returns.
    max_children : int
        Of nodes with more children the largest are drawn, and the others counted.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure, large enough for all leaves.

    Returns
    -------
    matplotlib Axes
    """
    root = tree if isinstance(tree, dict) else tree.to_dict()
    rows: list[tuple[dict[str, Any], int, float, float | None]] = []
    n_leaves = _place(root, 0, 0, None, max_children, rows)[0]
    depth = max(level for _, level, _, _ in rows)
    if ax is None:
        ax = _new_axes(height=max(2.0, 0.42 * n_leaves + 0.6), width=3.2 * (depth + 1))
    from matplotlib import colormaps

    for node, level, height, above in rows:
        share = max(node["counts"]) / max(1, node["n_samples"]) if "counts" in node else 0.0
        if above is not None:
            ax.plot([level - 1 + 0.36, level - 0.36], [above, height], color="0.6", lw=0.8, zorder=1)
        box = {
            "boxstyle": "round,pad=0.25",
            "fc": colormaps["Blues"](0.1 + 0.5 * share),
            "ec": "0.5",
            "lw": 0.6,
        }
        ax.text(level, height, _label(node), ha="center", va="center", fontsize=7, bbox=box, zorder=2)
    ax.set_xlim(-0.5, depth + 0.5)
    ax.set_ylim(n_leaves - 0.5, -0.5)
    ax.set_axis_off()
    return ax


def _place(
    node: dict[str, Any],
    level: int,
    top: int,
    above: float | None,
    max_children: int,
    rows: list[tuple[dict[str, Any], int, float, float | None]],
) -> tuple[int, float]:
    """Add a node and what is below it; return how many leaves those are, and the height of the node."""
    children = node.get("children", [])
    if len(children) > max_children:
        by_size = sorted(children, key=lambda child: -child["n_samples"])
        rest = by_size[max_children - 1 :]
        others = {"condition": f"{len(rest)} other values", "n_samples": sum(c["n_samples"] for c in rest)}
        children = [*by_size[: max_children - 1], others]
    place = len(rows)
    rows.append((node, level, 0.0, above))
    if not children:
        rows[place] = (node, level, float(top), above)
        return 1, float(top)
    n_leaves, heights, starts = 0, [], []
    for child in children:
        starts.append(len(rows))
        below, height = _place(child, level + 1, top + n_leaves, 0.0, max_children, rows)
        n_leaves += below
        heights.append(height)
    middle = (heights[0] + heights[-1]) / 2
    rows[place] = (node, level, middle, above)
    for start in starts:
        rows[start] = (*rows[start][:3], middle)
    return n_leaves, middle


def _label(node: dict[str, Any]) -> str:
    condition = node.get("condition", "all rows")
    if len(condition) > 2 * _LABEL_LINE:
        condition = condition[: 2 * _LABEL_LINE - 1] + "…"
    text = f"{condition}\nn = {node['n_samples']:,}"
    if "prediction" in node and "children" not in node:
        text += f" → {node['prediction']}, error {node['estimated_error']:.3f}"
    return text


def _new_axes(height: float, width: float = 8) -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'offsample[plot]'") from error
    axes: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return axes


def _short(name: Any, length: int = 32) -> str:
    text = str(name).replace("$", r"\$")  # which would start a formula
    return text if len(text) <= length else text[: length - 1] + "…"
