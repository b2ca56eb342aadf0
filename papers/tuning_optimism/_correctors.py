"""Corrections of the best score that lost the comparison with those of `audit_search`.

Each takes losses (smaller is better), one row per configuration and one column per fold, and returns the loss
to expect of the configuration with the smallest mean.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from offsample._typing import Floats
from offsample.assessment._correctors import distinct, share_of_choice

__all__ = ["information", "left_out_fold", "tibshirani"]


def tibshirani(losses: Floats) -> float:
    """Add the optimism of choosing by one fold: the best loss minus the smallest, mean over folds.

    It is about right for five folds, and far too large for many small ones (+.10 instead of 0 for 20 folds of
    10 rows of noise).

    R. J. Tibshirani, R. Tibshirani (2009). A bias correction for the minimum error rate in cross-validation.
    Annals of Applied Statistics 3.
    """
    losses = distinct(losses)
    smallest = float(losses.mean(axis=1).min())
    return smallest + (smallest - float(losses.min(axis=0).mean()))


def left_out_fold(losses: Floats) -> float:
    """Choose by all folds but one and judge on that one: nearly unbiased, with the largest variance."""
    losses = distinct(losses)
    n_folds = losses.shape[1]
    if n_folds < 2:
        return float(losses.min())
    others = (losses.sum(axis=1, keepdims=True) - losses) / (n_folds - 1)
    return float((share_of_choice(others.T) * losses.T).sum(axis=1).mean())


def information(losses: Floats, n_samples: int, n_configurations: int, shared: bool = True) -> float:
    """Error without the labels that a choice among `n_configurations` can encode, on average.

    Sec. 5.5 of Scheffer (1999) with the mean in place of the probability: ``log2(n_configurations)`` labels
    of two balanced classes are encoded per fold. Labels of the majority over n folds are right
    ``E[max(y, n - y)] / n`` of the time; with ``shared=False`` (or one fold) always. Solved for the error
    before tuning. This is what a tuner can gain who codes labels into parameters; the best of many
    configurations that err on different rows can gain more.
    """
    n_folds = losses.shape[1]
    found = float(losses.mean(axis=1).min())
    told = min(1.0, n_folds * math.log2(n_configurations) / n_samples)
    if told == 1.0:
        return max(found, 0.5)
    y, wrong = np.arange(n_folds + 1), 0.0
    if shared:
        wrong = float(np.minimum(y, n_folds - y) @ binom.pmf(y, n_folds, 0.5)) / n_folds
    return float(max(found, (found - told * wrong) / (1 - told)))
