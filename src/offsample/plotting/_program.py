"""A branching program as a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from offsample.plotting._axes import AS_TEXT, ESTIMATE, TRAINING, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_program(program: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a branching program from left to right: tests with two ways on, and nodes that predict.

    Parameters
    ----------
    program : BranchingProgramClassifier
        Or what its `to_dict` returns.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure, large enough for all nodes.

    Returns
    -------
    matplotlib Axes
    """
    nodes = (program if isinstance(program, dict) else program.to_dict())["nodes"]
    place = _places(nodes)
    depth = max(x for x, _ in place.values())
    widest = max(sum(1 for x, _ in place.values() if x == level) for level in range(depth + 1))
    if ax is None:
        ax = new_axes(height=max(2.0, 0.7 * widest + 0.6), width=max(4.0, 2.6 * (depth + 1)))
    for node in nodes:
        x, y = place[node["node"]]
        for on, colour, style in zip(node["where"], (ESTIMATE, TRAINING), ("-", "--"), strict=False):
            to_x, to_y = place[on]
            arrow = {"arrowstyle": "->", "color": colour, "linestyle": style, "shrinkA": 14, "shrinkB": 14}
            ax.annotate("", (to_x, to_y), (x, y), arrowprops=arrow, zorder=1)
        size = sum(node["counts"])
        label = (
            f"{short(node['condition'])}\nn = {size:,}"
            if node["where"]
            else f"{short(node['prediction'])}\n{max(node['counts']):,} of {size:,}"
        )
        box = {
            "boxstyle": "round,pad=0.3",
            "fc": "white" if node["where"] else "0.92",
            "ec": "0.5",
            "lw": 0.6,
        }
        ax.text(x, y, label, ha="center", va="center", fontsize=7, bbox=box, zorder=2, **AS_TEXT)
    ax.plot([], [], color=ESTIMATE, label="true")
    ax.plot([], [], color=TRAINING, ls="--", label="false")
    ax.legend(loc="upper left", fontsize=7, frameon=False)
    ax.set_xlim(-0.6, depth + 0.6)
    ax.set_ylim(-widest / 2 - 0.4, widest / 2 + 0.4)
    ax.set_axis_off()
    return ax


def _places(nodes: list[dict[str, Any]]) -> dict[int, tuple[int, float]]:
    """Column of each node, one behind the last that leads to it, and its height among those of the column."""
    level = {node["node"]: 0 for node in nodes}
    for node in nodes:  # each comes before those that it leads to
        for on in node["where"]:
            level[on] = max(level[on], level[node["node"]] + 1)
    columns: dict[int, list[int]] = {}
    for node in nodes:
        columns.setdefault(level[node["node"]], []).append(node["node"])
    return {
        number: (x, (len(column) - 1) / 2 - i)
        for x, column in columns.items()
        for i, number in enumerate(column)
    }
