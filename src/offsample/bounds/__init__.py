"""Finite-sample guarantees as plain functions, with their constants and their sources.

A guarantee holds with probability `confidence` = 1 - δ over samples. A bound above 1 says nothing; it is
returned all the same, so that nobody takes a vacuous guarantee for a small one.

References
----------
- R. Gilad-Bachrach, A. Navot, N. Tishby (2004). Margin Based Feature Selection - Theory and Algorithms. ICML.
- T. Jurgenson, Y. Mansour (2018). Learning Decision Trees with Stochastic Linear Classifiers. ALT.
- S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization Properties. JMLR 9.
- T. Scheffer (1999). Error Estimation and Model Selection. TU Berlin.
"""

from typing import TYPE_CHECKING

from offsample._lazy import lazy_names

if TYPE_CHECKING:  # all public names; each is loaded on first use
    from offsample.bounds._boosting import adaboost_rounds as adaboost_rounds
    from offsample.bounds._boosting import amplification_depth as amplification_depth
    from offsample.bounds._ginger import bayes_deviation as bayes_deviation
    from offsample.bounds._ginger import bayes_excess as bayes_excess
    from offsample.bounds._ginger import ginger_bias as ginger_bias
    from offsample.bounds._ginger import ginger_concentration as ginger_concentration
    from offsample.bounds._ginger import ginger_deviation as ginger_deviation
    from offsample.bounds._nearest_neighbor import nearest_neighbor_bound as nearest_neighbor_bound
    from offsample.bounds._sample_size import occam_sample_size as occam_sample_size
    from offsample.bounds._sample_size import pac_sample_size as pac_sample_size
    from offsample.bounds._sample_size import tuned_holdout_deviation as tuned_holdout_deviation
    from offsample.bounds._sample_size import tuned_holdout_size as tuned_holdout_size
    from offsample.bounds._sample_size import vc_deviation as vc_deviation

__all__, __getattr__, __dir__ = lazy_names(__name__)
