"""How the figures are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RULE_COLORS = {"gini": "#c4622d", "bayes": "#1f5f8b"}


def panels(n_rows: int, n_columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    """A figure and its axes, always an array of rows and columns."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
        axis.xaxis.label.set_size(9)
        axis.yaxis.label.set_size(9)
    return figure, axes


def legend(figure: Any, entries: Mapping[str, Mapping[str, Any]], n_columns: int | None = None) -> None:
    """One legend above all axes: how the line of each name is drawn."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=name, **style) for name, style in entries.items()]
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=n_columns or len(handles),
        frameon=False,
        fontsize=9,
    )
