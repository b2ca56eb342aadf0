"""Finite-sample guarantees as plain functions, with their constants and their sources.

A bound on an error or on a difference of errors above 1 says nothing. It is returned all the same, so
that nobody takes a vacuous guarantee for a small one.
"""

from offsample.bounds._amplification import amplification_depth, top_down_size
from offsample.bounds._boosting import adaboost_rounds, certified_error
from offsample.bounds._ginger import (
    bayes_deviation,
    bayes_excess,
    ginger_bias,
    ginger_concentration,
    ginger_deviation,
)
from offsample.bounds._nearest_neighbor import nearest_neighbor_bound
from offsample.bounds._sample_size import (
    agnostic_sample_size,
    holdout_selection_bound,
    no_free_lunch_floor,
    occam_sample_size,
    pac_sample_size,
    vc_deviation,
)
from offsample.bounds._set_cover import (
    relative_decrease,
    relative_decreases,
    set_cover_decrease,
    set_cover_decrease_bound,
)
from offsample.bounds._tuned_holdout import tuned_holdout_deviation, tuned_holdout_size

__all__ = [
    "adaboost_rounds",
    "agnostic_sample_size",
    "amplification_depth",
    "bayes_deviation",
    "bayes_excess",
    "certified_error",
    "ginger_bias",
    "ginger_concentration",
    "ginger_deviation",
    "holdout_selection_bound",
    "nearest_neighbor_bound",
    "no_free_lunch_floor",
    "occam_sample_size",
    "pac_sample_size",
    "relative_decrease",
    "relative_decreases",
    "set_cover_decrease",
    "set_cover_decrease_bound",
    "top_down_size",
    "tuned_holdout_deviation",
    "tuned_holdout_size",
    "vc_deviation",
]
