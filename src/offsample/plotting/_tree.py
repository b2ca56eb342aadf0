"""A tree as a picture."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from offsample.plotting._axes import AS_TEXT, new_axes, plain, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL_LINE = 32


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
        ax = new_axes(height=max(2.0, 0.5 * n_leaves + 0.4), width=2.3 * (depth + 1))
    from matplotlib import colormaps

    for node, level, height, above in rows:
        share = max(node["counts"]) / max(1, node["n_samples"]) if "counts" in node else 0.0
        if above is not None:  # from middle to middle: the boxes cover the ends
            across, down = [level - 1, level - 0.5, level - 0.5, level], [above, above, height, height]
            ax.plot(across, down, color="0.6", lw=0.8, zorder=1)
        box = {
            "boxstyle": "round,pad=0.25",
            "fc": colormaps["Blues"](0.1 + 0.5 * share),
            "ec": "0.5",
            "lw": 0.6,
        }
        ax.text(
            level, height, _label(node), ha="center", va="center", fontsize=7, bbox=box, zorder=2, **AS_TEXT
        )
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
    condition = "\n".join(
        wrap(plain(node.get("condition", "all rows")), _LABEL_LINE, max_lines=2, placeholder=" …")
    )
    text = f"{condition}\nn = {node['n_samples']:,}"
    if "prediction" in node and "children" not in node:
        text += f" → {short(node['prediction'])}, error {node['estimated_error']:.3f}"
    return text
