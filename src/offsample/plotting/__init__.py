"""Figures from results; nothing is computed here. Needs matplotlib: ``pip install 'offsample[plot]'``."""

from offsample.plotting._audit import plot_audit
from offsample.plotting._forecast import plot_forecast, plot_learning_curve, plot_sizes
from offsample.plotting._margin import plot_sufficient, plot_weights
from offsample.plotting._path import plot_path
from offsample.plotting._program import plot_program
from offsample.plotting._ranking import plot_ranking
from offsample.plotting._scores import plot_comparison, plot_nested
from offsample.plotting._stochastic_tree import plot_stochastic_tree
from offsample.plotting._tree import plot_tree

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
