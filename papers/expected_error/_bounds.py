"""Guarantees that the thesis compares its analysis with."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, expm1, log, log1p, sqrt

from offsample._checks import check_count, risk
from offsample.bounds import vc_deviation
from offsample.bounds._sample_size import _check


def agnostic_sample_size(log_size: float, error: float, confidence: float = 0.95) -> int:
    """Rows after which every error on the sample is within `error` of the true one, in a finite model.

    ``(ln |H| + ln 2/δ) / (2 ε²)``, by Hoeffding's inequality and the union bound. The hypothesis with the
    fewest errors, which need not be consistent, is then at most 2ε worse than the best.

    Parameters
    ----------
    log_size : float
        Logarithm of the number of hypotheses, ln |H|.
    error : float
        Deviation ε, between 0 and 1.
    confidence : float, default=0.95

    Examples
    --------
    >>> from math import log
    >>> from papers.expected_error._bounds import agnostic_sample_size
    >>> agnostic_sample_size(log(1000), 0.05)
    2120
    """
    _check(log_size, error)
    return ceil((log_size + log(2 / risk(confidence))) / (2 * error**2))


def holdout_selection_bound(
    training_errors: Sequence[float],
    dimensions: Sequence[int],
    n_train: int,
    n_holdout: int,
    confidence: float = 0.95,
) -> float:
    """Bound on the error of the hypothesis chosen by hold-out among those of k models, after Kearns (1996).

    ``min_i (E_i + vc_deviation(d_i)) + 2 sqrt(ln(4k/δ) / (2 m''))`` with the deviations at confidence
    1 - δ/(2k): the best of the k bounds, and a penalty for the choice. Kearns gives orders of growth; the
    constants are those of Vapnik's bound, Hoeffding's inequality and the union bound.

    Parameters
    ----------
    training_errors : sequence of float
        Training error of the hypothesis learned in each model.
    dimensions : sequence of int
        VC dimension of each model.
    n_train, n_holdout : int
        Rows of each part.
    confidence : float, default=0.95

    Examples
    --------
    >>> from papers.expected_error._bounds import holdout_selection_bound
    >>> round(holdout_selection_bound([0.2, 0.1], [2, 20], 50_000, 10_000), 3)
    0.257
    """
    if len(training_errors) != len(dimensions) or not len(dimensions):
        raise ValueError(
            f"training_errors has {len(training_errors)} models and dimensions {len(dimensions)}: "
            f"expected as many"
        )
    if not all(0 <= error <= 1 for error in training_errors):
        raise ValueError("training_errors must lie between 0 and 1")
    check_count("n_samples", n_holdout, 1)
    delta, k = risk(confidence), len(dimensions)
    best = min(
        error + vc_deviation(dimension, n_train, 1 - delta / (2 * k))
        for error, dimension in zip(training_errors, dimensions, strict=True)
    )
    return best + 2 * sqrt(log(4 * k / delta) / (2 * n_holdout))


def no_free_lunch_floor(n_attributes: int, n_samples: int) -> float:
    """Least expected error of any learner when the target is drawn uniformly from all functions of d bits.

    ``(1/2) (1 - 2^-d)^m``, rows drawn uniformly: a row outside the sample is a coin toss. This is the error
    over all rows; off the sample alone it is 1/2 (Wolpert 1992).

    Parameters
    ----------
    n_attributes, n_samples : int
        Bits d and rows m.

    Examples
    --------
    >>> from papers.expected_error._bounds import no_free_lunch_floor
    >>> round(no_free_lunch_floor(6, 50), 4)
    0.2275
    """
    check_count("n_samples", n_samples, 1)
    check_count("n_attributes", n_attributes, 0)
    if n_attributes == 0:
        return 0.0
    return 0.5 * (1 + expm1(n_samples * log1p(-(2.0**-n_attributes))))
