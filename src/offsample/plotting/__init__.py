"""Figures from results; nothing is computed here. Needs matplotlib: ``pip install 'offsample[plot]'``.

Each function draws on the matplotlib Axes `ax` that it is given, or on those of a new figure, large enough
for what is drawn, and returns them.
"""

from typing import TYPE_CHECKING

from offsample._lazy import lazy_names

if TYPE_CHECKING:  # all public names; each is loaded on first use
    from offsample.plotting._curves import plot_forecast as plot_forecast
    from offsample.plotting._curves import plot_learning_curve as plot_learning_curve
    from offsample.plotting._curves import plot_path as plot_path
    from offsample.plotting._curves import plot_sizes as plot_sizes
    from offsample.plotting._curves import plot_sufficient as plot_sufficient
    from offsample.plotting._graphs import plot_program as plot_program
    from offsample.plotting._graphs import plot_tree as plot_tree
    from offsample.plotting._intervals import plot_audit as plot_audit
    from offsample.plotting._intervals import plot_comparison as plot_comparison
    from offsample.plotting._intervals import plot_nested as plot_nested
    from offsample.plotting._intervals import plot_ranking as plot_ranking
    from offsample.plotting._weights import plot_stochastic_tree as plot_stochastic_tree
    from offsample.plotting._weights import plot_weights as plot_weights

__all__, __getattr__, __dir__ = lazy_names(__name__)
