"""Figures from results; nothing is computed here. Needs matplotlib: ``pip install 'offsample[plot]'``."""

from offsample.plotting._ranking import plot_ranking
from offsample.plotting._tree import plot_tree

__all__ = ["plot_ranking", "plot_tree"]
