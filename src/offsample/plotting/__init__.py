"""Figures from results; nothing is computed here. Needs matplotlib: ``pip install 'offsample[plot]'``.

Each function draws on the axes that it is given, or on those of a new figure, and returns them.
"""

from offsample.plotting._curves import (
    plot_forecast,
    plot_learning_curve,
    plot_path,
    plot_sizes,
    plot_sufficient,
)
from offsample.plotting._graphs import plot_program, plot_tree
from offsample.plotting._intervals import plot_audit, plot_comparison, plot_nested, plot_ranking
from offsample.plotting._weights import plot_stochastic_tree, plot_weights

__all__ = [
    "plot_audit",
    "plot_comparison",
    "plot_forecast",
    "plot_learning_curve",
    "plot_nested",
    "plot_path",
    "plot_program",
    "plot_ranking",
    "plot_sizes",
    "plot_stochastic_tree",
    "plot_sufficient",
    "plot_tree",
    "plot_weights",
]
