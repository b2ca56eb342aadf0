"""What the best of many scores shows by luck alone, and how far off a score may be."""

from __future__ import annotations

import math
import sys

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, bdtrc, log1p, log_ndtr
from scipy.stats import binom

from offsample._checks import check_count
from offsample.assessment._leaked_labels import window
from offsample.assessment._metrics import Metric

_MOST_TERMS = 2**14


def standard_error_of(score: float, metric: Metric, n_test: int, n_positive: int | None) -> float:
    """Return that of Hanley and McNeil (1982) for an AUC, of normal errors for R²."""
    if metric.title == "AUC":
        if n_positive is None:
            raise ValueError("n_positive is missing: how many of the test rows are of the class of the AUC?")
        check_count("n_positive", n_positive, 1, n_test - 1)
        others = n_test - n_positive
        # A perfect AUC would be certain: it is taken to have one row of the smaller class out of place.
        least = min(0.5, 1 / min(n_positive, others))
        area = min(max(score, least), 1 - least)
        above, below = area / (2 - area) - area**2, 2 * area**2 / (1 + area) - area**2
        pairs = area * (1 - area) + (n_positive - 1) * above + (others - 1) * below
        return math.sqrt(pairs / (n_positive * others))
    if metric.title == "R²" and score < 1:
        # The logarithm of the ratio of two mean squares has the variance 4 R² / n, and 2 / n² where R² is 0.
        return (1 - score) * math.sqrt(4 * abs(score) / n_test + 2 / n_test**2)
    raise ValueError(
        "standard_error is missing: losses of rows have no bound, and "
        f"{metric.title} {score:g} does not tell it"
    )


def normal_best_mean(n: float) -> float:
    """Mean of the largest of n independent standard normal numbers.

    >>> round(normal_best_mean(2), 4), round(normal_best_mean(64), 3)
    (0.5642, 2.344)
    """
    x = (np.arange(-40_000, 40_000) + 0.5) / 1000
    below = np.exp(n * log_ndtr(x))  # the probability that all are
    return float(np.where(x > 0, 1 - below, -below).sum() / 1000)


def best_of_mean(n_test: int, rate: float, n_configurations: float) -> float:
    """Mean of the best of `n_configurations` independent binomial rates, all with the same mean.

    ``E[max] = sum_s (1 - F(s)^N)`` over s = 0 … n - 1, with F the binomial distribution function. With many
    rows, where the terms form a smooth curve, the sum goes in steps.

    Examples
    --------
    >>> from offsample.assessment import best_of_mean
    >>> round(best_of_mean(200, 0.5, 42), 3)
    0.577
    """
    first, last = window(n_test * rate, math.sqrt(n_test * rate * (1 - rate)), 0, n_test - 1)
    step = (last - first) // _MOST_TERMS | 1  # odd, so that the middle of a step is a row
    s = np.arange(first + step // 2, last + 1, step)
    below, above = bdtr(s, n_test, rate), bdtrc(s, n_test, rate)
    # log F from the smaller side, so that neither tail is rounded away.
    with np.errstate(divide="ignore"):
        log_cdf = np.where(above < 0.5, log1p(-above), np.log(below))
    with np.errstate(over="ignore"):  # with enough configurations one surely reaches it
        return (first - step * float(np.expm1(n_configurations * log_cdf).sum())) / n_test


def log_upper_tail(hits: int, n_test: int, rate: float) -> float:
    """Logarithm of the probability of `hits` or more, also where the probability underflows."""
    tail = float(binom.sf(hits - 1, n_test, rate))
    if tail > sys.float_info.min or rate == 0:
        return math.log(tail) if tail > 0 else -math.inf
    # Each term is smaller than the one before by a ratio that falls.
    ratio = (n_test - hits) / (hits + 1) * rate / (1 - rate)
    j = np.arange(hits, min(n_test, hits + math.ceil(40 / (1 - ratio))), dtype=float)
    terms = np.cumsum(np.log((n_test - j) / (j + 1)) + math.log(rate) - math.log1p(-rate))
    return float(binom.logpmf(hits, n_test, rate)) + math.log1p(float(np.exp(terms).sum()))


def accuracy_behind(accuracy: float, n_test: int, n_configurations: float) -> float:
    """Accuracy of equal and independent configurations whose best shows `accuracy` on average."""
    if n_configurations == 1:
        return accuracy
    if accuracy <= best_of_mean(n_test, 0.0, n_configurations):
        return 0.0
    if accuracy >= 1.0:  # a mean of 1 would need perfect configurations: take half an error instead
        accuracy = 1 - 0.5 / n_test
    return float(brentq(lambda rate: best_of_mean(n_test, rate, n_configurations) - accuracy, 0.0, 1.0))
