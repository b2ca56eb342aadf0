"""Intervals for the error of a model that was not tuned on the test rows."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincinv, ndtri
from scipy.stats import t

from offsample._folds import Splits
from offsample._proportions import wilson
from offsample._typing import Floats
from offsample.assessment._units import tested_share


def clopper_pearson_interval(n_errors: float, n_test: float, confidence: float = 0.95) -> tuple[float, float]:
    """Exact interval of a binomial proportion; it covers every proportion with at least this confidence.

    Examples
    --------
    >>> from offsample.assessment import clopper_pearson_interval
    >>> [round(end, 4) for end in clopper_pearson_interval(0, 100)]
    [0.0, 0.0362]
    """
    tail = (1 - confidence) / 2
    low = float(betaincinv(n_errors, n_test - n_errors + 1, tail)) if n_errors > 0 else 0.0
    high = float(betaincinv(n_errors + 1, n_test - n_errors, 1 - tail)) if n_errors < n_test else 1.0
    return low, high


def wilson_interval(n_errors: float, n_test: float, confidence: float = 0.95) -> tuple[float, float]:
    """Score interval of a binomial proportion; it is shorter and covers with this confidence on average.

    Examples
    --------
    >>> from offsample.assessment import wilson_interval
    >>> [round(end, 4) for end in wilson_interval(0, 100)]
    [0.0, 0.037]
    """
    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    return wilson(n_errors / n_test, n_test, z2)


def corrected_t_interval(
    folds: Floats, confidence: float = 0.95, test_share: float | None = None
) -> tuple[float, float]:
    """Mean of fold scores ± t times the corrected standard error of Nadeau and Bengio."""
    if (n_folds := len(folds)) < 2:
        return -math.inf, math.inf
    share = 1 / (n_folds - 1) if test_share is None else test_share
    error = math.sqrt(float(folds.var(ddof=1)) * (1 / n_folds + share))
    radius = float(t.ppf((1 + confidence) / 2, n_folds - 1)) * error
    return float(folds.mean()) - radius, float(folds.mean()) + radius


def score_interval(
    scores: Floats, splits: Splits, confidence: float, *, of_rows: bool
) -> tuple[float, float]:
    """Interval of the mean score of some splits, for the model learned from all rows.

    Models that learned from the same rows err together: the variance of a mean over n rows is taken as 1 +
    n / n_train times that of independent ones (Nadeau and Bengio 2003). A share `of_rows` that are right has
    Wilson's interval with as many rows fewer, any other score the t of the splits. ``python -m
    benchmarks.error_intervals`` is the simulation behind this, on seven problems of others.
    """
    if of_rows:
        n = len(np.unique(np.concatenate([rows for _, rows in splits])))
        n_effective = float(n / (1 + n / np.mean([len(rows) for rows, _ in splits])))
        return wilson_interval(float(scores.mean()) * n_effective, n_effective, confidence)
    return corrected_t_interval(scores, confidence, tested_share(splits))
