"""Figures of these experiments: axes, colours that the colour-blind can tell apart, one style per curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

__all__ = ["STYLES", "finished", "new_figure", "plot_curves"]

# Black, blue, orange, green, purple, light blue, vermilion (Okabe and Ito), each with its own marker.
STYLES = (
    {"color": "#000000", "marker": "o", "linestyle": "-"},
    {"color": "#0072B2", "marker": "s", "linestyle": "-"},
    {"color": "#E69F00", "marker": "^", "linestyle": "--"},
    {"color": "#009E73", "marker": "D", "linestyle": "-."},
    {"color": "#CC79A7", "marker": "v", "linestyle": ":"},
    {"color": "#56B4E9", "marker": "P", "linestyle": "--"},
    {"color": "#D55E00", "marker": "X", "linestyle": "-."},
)


def new_figure(n_columns: int = 1, *, width: float = 6.4, height: float = 4.2) -> tuple[Figure, Any]:
    """A figure and its axes: one, or an array of them side by side."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, n_columns)


def plot_curves(
    ax: Any, x: Sequence[float], curves: Mapping[str, Any], errors: Mapping[str, Any] | None = None
) -> None:
    """One line per name, with bars of a standard error where there is one."""
    for style, (name, values) in zip(STYLES, curves.items(), strict=False):
        bars = (errors or {}).get(name)
        ax.errorbar(x, values, yerr=bars, label=name, markersize=5, linewidth=1.4, capsize=2, **style)


def finished(ax: Any, x: str, y: str, *, zero: bool = True, title: str = "") -> None:
    """Names of the axes, and a legend."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if title:
        ax.set_title(title, fontsize=10)
    if zero:
        ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)
