"""Intervals for the error of a model that was not tuned on the test rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri
from scipy.stats import t

from offsample._folds import Splits
from offsample._proportions import wilson
from offsample._squared_losses import ratio_interval
from offsample._typing import Floats
from offsample.assessment._metrics import METRICS, OF_NUMBERS, Metric
from offsample.assessment._units import ScoredRows, tested_share


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
    scores: Floats,
    splits: Splits,
    confidence: float,
    metric: Metric | None = None,
    tested: ScoredRows | None = None,
    predicted: Any = None,
) -> tuple[float, float]:
    """Interval of the mean score of some splits, for the model learned from all rows.

    Models that learned from the same rows err together: the variance of a mean over n rows is taken as 1 +
    n / n_train times that of independent ones (Nadeau and Bengio 2003). The share of rows that are right has
    Wilson's interval with as many rows fewer; R² and errors of a number that of the losses of what was
    `predicted`, row by row or, if units are groups, group by group; any other score has the t of the splits.
    ``python -m benchmarks.error_intervals`` is the simulation behind this, on seven problems of others.
    """
    mean, n = float(scores.mean()), len(np.unique(np.concatenate([rows for _, rows in splits])))
    times = float(1 + n / np.mean([len(rows) for rows, _ in splits]))
    if metric is not None and metric.title in OF_NUMBERS and tested is not None:
        return _number_interval(metric.title, mean, tested, np.asarray(predicted, float), times, confidence)
    if metric is METRICS["accuracy"] and not (tested is not None and tested.grouped):
        return wilson_interval(mean * n / times, n / times, confidence)
    return corrected_t_interval(scores, confidence, tested_share(splits))


def _number_interval(
    title: str, mean: float, tested: ScoredRows, predicted: Floats, times: float, confidence: float
) -> tuple[float, float]:
    """By the losses of all rows: small folds have too low an R² and root of squares, yet it stays inside."""
    wrong, others = np.abs(tested.y - predicted), None
    if title == "R²":
        sizes = np.bincount(tested.fold)
        others = (tested.y - (np.bincount(tested.fold, tested.y) / sizes)[tested.fold]) ** 2
        others *= (sizes / np.maximum(sizes - 1, 1))[tested.fold]
        if tested.grouped:  # of few groups in a fold, the mean is near them
            others = (tested.y - tested.y.mean()) ** 2
    losses = wrong if title == "mean absolute error" else wrong**2
    low, high = ratio_interval(losses, others, [tested.unit], times, confidence=confidence)
    if title == "R²":
        low, high = 1 - high, 1 - low
    elif title == "root mean squared error":
        low, high = math.sqrt(low), math.sqrt(high)
    return min(low, mean), max(high, mean)
