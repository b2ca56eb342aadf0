"""Finite-sample guarantees as plain functions, with their constants and their sources.

A guarantee holds with probability `confidence` = 1 - δ over samples. A bound above 1 says nothing; it is
returned all the same, so that nobody takes a vacuous guarantee for a small one.

References
----------
- R. Gilad-Bachrach, A. Navot, N. Tishby (2004). Margin Based Feature Selection - Theory and Algorithms. ICML.
- T. Jurgenson, Y. Mansour (2018). Learning Decision Trees with Stochastic Linear Classifiers. ALT.
- M. Kearns, Y. Mansour (1999). On the boosting ability of top-down decision tree learning algorithms. Journal
  of Computer and System Sciences 58.
- R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria. Theoretical Computer Science.
- S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization Properties. JMLR 9.
- T. Scheffer (1999). Error Estimation and Model Selection. TU Berlin.
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
