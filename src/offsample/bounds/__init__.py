"""Finite-sample guarantees as plain functions, with their constants and their sources.

A bound on an error or on a difference of errors above 1 says nothing. It is returned all the same, so
that nobody takes a vacuous guarantee for a small one.
"""

from offsample.bounds._ginger import (
    bayes_deviation,
    bayes_excess,
    ginger_bias,
    ginger_concentration,
    ginger_deviation,
)
from offsample.bounds._nearest_neighbor import nearest_neighbor_bound
from offsample.bounds._set_cover import relative_decrease, set_cover_decrease, set_cover_decrease_bound

__all__ = [
    "bayes_deviation",
    "bayes_excess",
    "ginger_bias",
    "ginger_concentration",
    "ginger_deviation",
    "nearest_neighbor_bound",
    "relative_decrease",
    "set_cover_decrease",
    "set_cover_decrease_bound",
]
