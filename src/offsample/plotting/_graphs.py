"""Models as graphs: trees and branching programs, drawn from left to right."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from offsample._text import digits
from offsample.plotting._axes import AS_TEXT, ESTIMATE, TRAINING, new_axes, plain, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL_LINE = 32
_Row = tuple[dict[str, Any], int, float, float | None]  # node, level, height, and that of the node before


def plot_tree(tree: Any, *, max_children: int = 8, ax: Axes | None = None) -> Axes:
    """Draw a fitted tree from left to right: nodes with counts, leaves with prediction and estimated error.

    Parameters
    ----------
    tree : TreeClassifier or TreeRegressor, or what its `to_dict` returns
    max_children : int
        Of nodes with more children the largest are drawn, and the others counted.
    """
    root = tree if isinstance(tree, dict) else tree.to_dict()
    rows: list[_Row] = []
    n_leaves = _place(root, 0, 0, None, max_children, rows)[0]
    depth = max(level for _, level, _, _ in rows)
    ax = ax or new_axes(height=max(2.0, 0.5 * n_leaves + 0.4), width=2.3 * (depth + 1))
    from matplotlib import colormaps

    for node, level, height, above in rows:
        share = max(node["counts"]) / max(1, node["n_samples"]) if "counts" in node else 0.0
        if above is not None:  # from middle to middle: the boxes cover the ends
            across, down = [level - 1, level - 0.5, level - 0.5, level], [above, above, height, height]
            ax.plot(across, down, color="0.6", lw=0.8, zorder=1)
        _box(ax, (level, height), _label(node), colormaps["Blues"](0.1 + 0.5 * share), padding=0.25)
    ax.set_xlim(-0.5, depth + 0.5)
    ax.set_ylim(n_leaves - 0.5, -0.5)
    ax.set_axis_off()
    return ax


def _box(ax: Axes, place: tuple[float, float], label: str, colour: Any, padding: float) -> None:
    box = {"boxstyle": f"round,pad={padding}", "fc": colour, "ec": "0.5", "lw": 0.6}
    ax.text(*place, label, ha="center", va="center", fontsize=7, bbox=box, zorder=2, **AS_TEXT)


def _place(
    node: dict[str, Any], level: int, top: int, above: float | None, max_children: int, rows: list[_Row]
) -> tuple[int, float]:
    """Add a node and what is below it; return how many leaves those are, and the height of the node."""
    children = node.get("children", [])
    if len(children) > max_children:
        by_size = sorted(children, key=lambda child: -child["n_samples"])
        rest = by_size[max_children - 1 :]
        others = {"condition": f"{len(rest)} other values", "n_samples": sum(c["n_samples"] for c in rest)}
        children = [*by_size[: max_children - 1], others]
    place = len(rows)
    rows.append((node, level, float(top), above))
    if not children:
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
    condition = plain(node.get("condition", "all rows"))
    text = "\n".join(wrap(condition, _LABEL_LINE, max_lines=2, placeholder=" …"))
    text += f"\nn = {node['n_samples']:,}"
    if "prediction" in node and "children" not in node:
        if "probabilities" in node:
            text += f" → {short(node['prediction'])}, error {node['estimated_error']:.3f}"
        else:  # a number, and how far the rows differ
            text += f" → {digits(node['prediction'])} ± {digits(node['deviation'], 3)}"
    return text


def plot_program(program: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a branching program from left to right: tests with two ways on, and nodes that predict.

    Parameters
    ----------
    program : BranchingProgramClassifier, or what its `to_dict` returns
    """
    nodes = (program if isinstance(program, dict) else program.to_dict())["nodes"]
    place = _places(nodes)
    depth = max(x for x, _ in place.values())
    widest = max(sum(1 for x, _ in place.values() if x == level) for level in range(depth + 1))
    ax = ax or new_axes(height=max(2.0, 0.7 * widest + 0.6), width=max(4.0, 2.6 * (depth + 1)))
    for node in nodes:
        here, size = place[node["node"]], sum(node["counts"])
        for on, colour, style in zip(node["where"], (ESTIMATE, TRAINING), ("-", "--"), strict=False):
            arrow = {"arrowstyle": "->", "color": colour, "linestyle": style, "shrinkA": 14, "shrinkB": 14}
            ax.annotate("", place[on], here, arrowprops=arrow, zorder=1)
        if node["where"]:
            _box(ax, here, f"{short(node['condition'])}\nn = {size:,}", "white", padding=0.3)
        else:
            label = f"{short(node['prediction'])}\n{max(node['counts']):,} of {size:,}"
            _box(ax, here, label, "0.92", padding=0.3)
    ax.plot([], [], color=ESTIMATE, label="true")
    ax.plot([], [], color=TRAINING, ls="--", label="false")
    ax.legend(loc="upper left", fontsize=7, frameon=False)
    ax.set_xlim(-0.6, depth + 0.6)
    ax.set_ylim(-widest / 2 - 0.4, widest / 2 + 0.4)
    ax.set_axis_off()
    return ax


def _places(nodes: list[dict[str, Any]]) -> dict[int, tuple[int, float]]:
    """Find the column of each node, one behind the last that leads to it, and its height in the column."""
    level = {node["node"]: 0 for node in nodes}
    for node in nodes:  # each comes before those that it leads to
        for on in node["where"]:
            level[on] = max(level[on], level[node["node"]] + 1)
    columns = [[one for one in level if level[one] == x] for x in range(max(level.values()) + 1)]
    return {
        number: (x, (len(column) - 1) / 2 - i)
        for x, column in enumerate(columns)
        for i, number in enumerate(column)
    }
