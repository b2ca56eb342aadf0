"""Whether one model is better than another, or only seems so by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom, f, t

from offsample._typing import Floats, Ints
from offsample._unit_intervals import spread_of_losses
from offsample.assessment._result import Result
from offsample.assessment._units import MOST_FOLDS
from offsample.tables import unit_codes

PairedMethod = Literal["auto", "corrected_t", "t", "5x2cv_f", "mcnemar", "sign", "permutation"]
Alternative = Literal["two-sided", "less", "greater"]
_ENUMERATED = 20


@dataclass(frozen=True)
class PairedTest(Result):
    """Test of a difference between two models on the same rows or folds."""

    method: str
    alternative: str
    difference: float  # mean of the first minus the second: above 0 the first has more score, or more loss
    statistic: float  # t or F; for "mcnemar" and "sign" the number of pairs in which the first is larger
    p_value: float
    n_pairs: int  # pairs that count: rows, folds, or those that differ
    assumed: str = ""  # what is taken for granted of fold scores in one row


def paired_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    method: PairedMethod = "auto",
    alternative: Alternative = "two-sided",
    test_share: float | None = None,
    groups: ArrayLike | None = None,
    n_draws: int = 9999,
    random_state: int | None = 0,
) -> PairedTest:
    """Test whether two models differ, from scores or losses on the same folds or rows.

    Parameters
    ----------
    first, second : array-like
        Scores (or losses) of two models, in pairs. Fold scores of repeated cross-validation have the shape
        (repeats, folds): repeats test the same rows again, and tell nothing new of them.
    method : str, default="auto"
        auto
            "corrected_t", or with groups "t".
        corrected_t
            For fold scores of cross-validation or random splits: ``t = mean / sqrt((1/K + n_test/n_train)
            s²)`` with K - 1 degrees of freedom (Nadeau and Bengio 2003). Because training sets overlap, the
            plain t of fold scores finds differences that are not there.
        t
            For losses of the rows of one hold-out set: Sec. 2.5 of Scheffer (1999), who prints the
            denominator as 0.
        5x2cv_f
            For scores of shape (5, 2) of five times two-fold cross-validation: F with 10 and 5 degrees of
            freedom (Alpaydin 1999).
        mcnemar
            For hits (1) and misses (0) on the rows of one hold-out set: exact binomial test of the rows on
            which the models differ.
        sign
            Exact binomial test of the signs of the differences, without equal pairs.
        permutation
            Exact test of the mean difference under exchange within pairs: enumerated for up to 20 pairs or
            whole numbers, else by `n_draws` random exchanges.
    alternative : {"two-sided", "less", "greater"}
        How the first differs from the second.
    test_share : float, optional
        Test rows over training rows, for "corrected_t"; 1/(K - 1) by default, of scores of K folds or of the
        shape (repeats, K). More than ten scores in one row need it: they are seldom of one cross-validation.
    groups : array-like, optional
        Rows that belong together, for scores or losses of rows: the differences are summed over each group,
        and groups are the pairs. "t" has then as many degrees of freedom, plus one, as there would be groups
        of equal size that weigh the same; "mcnemar" becomes "permutation", which is the same for groups of
        one row. Fold scores of "corrected_t" and "5x2cv_f" have no rows: make their folds of whole groups.
    n_draws, random_state : int
        For "permutation".

    Examples
    --------
    >>> from offsample.assessment import paired_test
    >>> found = paired_test([0.81, 0.84, 0.79, 0.83, 0.82], [0.78, 0.80, 0.79, 0.80, 0.78])
    >>> round(found.difference, 3), round(found.p_value, 3)
    (0.028, 0.064)
    >>> right = paired_test([1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 1], method="mcnemar")
    >>> right.p_value
    0.125
    """
    if method not in get_args(PairedMethod):
        raise ValueError(f"method must be one of {get_args(PairedMethod)}, got {method!r}")
    if alternative not in get_args(Alternative):
        raise ValueError(f"alternative must be one of {get_args(Alternative)}, got {alternative!r}")
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape:
        raise ValueError(f"first and second must have one shape, got {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("first and second must be finite: leave out the pairs that failed")
    if method == "auto":
        method = "corrected_t" if groups is None else "t"
    if method == "mcnemar" and not (np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all()):
        raise ValueError("method 'mcnemar' needs 0 or 1 for each row")
    if groups is not None and method in ("corrected_t", "5x2cv_f"):
        raise ValueError(
            f"method {method!r} is for fold scores, and groups are for rows: make the folds of whole groups, "
            "and leave them out here"
        )
    if a.ndim > 1 and len(a) > 1 and method not in ("corrected_t", "5x2cv_f"):
        raise ValueError(f"repeats of folds are for 'corrected_t': {method!r} takes their rows as new ones")
    if method == "5x2cv_f":
        return _five_by_two(a - b, alternative)
    pairs = (a - b).ravel()
    n, mean, spread = len(pairs), float(pairs.mean()) if pairs.size else math.nan, None
    if groups is not None:
        of = unit_codes(groups, "groups", n)
        spread = spread_of_losses(pairs, [of])
        pairs, n, mean = np.bincount(of, pairs).astype(float), spread.n_units, spread.error
        if n < 2:
            raise ValueError("all rows are of one group: expected several")
    if n < (2 if method in ("corrected_t", "t") else 1):
        raise ValueError(f"method {method!r} needs more pairs, got {n}")
    if method in ("corrected_t", "t"):
        told = f"The scores are taken as those of {n} folds that share no test row: else give test_share."
        assumed = "" if method == "t" or test_share is not None or a.ndim > 1 else told
        share = 0.0 if method == "t" else _share(a) if test_share is None else test_share
        error, freedom = math.sqrt(float(pairs.var(ddof=1)) * (1 / n + share)), n - 1.0
        if spread is not None:
            error, freedom = spread.deviation, spread.effective_units - 1
        statistic = mean / error if error > 0 else math.copysign(math.inf, mean) if mean else 0.0
        p_value = _tails(float(t.cdf(statistic, freedom)), float(t.sf(statistic, freedom)), alternative)
        return PairedTest(method, alternative, mean, statistic, p_value, n, assumed)
    if method == "permutation" or (method == "mcnemar" and spread is not None):
        p_value = _permutation(pairs, alternative, n_draws, random_state)
        return PairedTest(method, alternative, mean, mean, p_value, n)
    larger, differing = int((pairs > 0).sum()), int((pairs != 0).sum())
    below, above = binom.cdf(larger, differing, 0.5), binom.sf(larger - 1, differing, 0.5)
    p_value = _tails(float(below), float(above), alternative)
    return PairedTest(method, alternative, mean, larger, p_value, differing)


def _share(scores: Floats) -> float:
    """Return test rows over training rows, of scores of folds or of repeats of folds."""
    n_folds = int(scores.shape[-1])
    if scores.ndim == 1 and n_folds > MOST_FOLDS:
        raise ValueError(
            f"{n_folds} scores may be of as many folds, or of repeated or random splits, which test the same "
            "rows again: give them the shape (repeats, folds), or test_share, test rows over training rows; "
            "scores of single rows, such as losses, are for method='t'"
        )
    return 1 / max(1, n_folds - 1)


def _tails(below: float, above: float, alternative: str) -> float:
    """Return the p-value from the probabilities of at most and at least what was found."""
    return {"less": below, "greater": above}.get(alternative, min(1.0, 2 * min(below, above)))


def _five_by_two(difference: Floats, alternative: str) -> PairedTest:
    if difference.shape != (5, 2):
        raise ValueError(f"method '5x2cv_f' needs scores of shape (5, 2), got {difference.shape}")
    if alternative != "two-sided":
        raise ValueError("method '5x2cv_f' is two-sided only")
    spread = ((difference - difference.mean(axis=1, keepdims=True)) ** 2).sum()
    squares = float((difference**2).sum())
    statistic = squares / (2 * float(spread)) if spread > 0 else math.inf if squares else 0.0
    mean = float(difference.mean())
    return PairedTest("5x2cv_f", alternative, mean, statistic, float(f.sf(statistic, 10, 5)), 10)


def _permutation(difference: Floats, alternative: str, n_draws: int, random_state: int | None) -> float:
    """Probability, under exchange within pairs, of a sum at least as extreme as the one found."""
    found, scale = float(difference.sum()), float(np.abs(difference).sum())
    whole = difference == np.round(difference)
    if whole.all() and scale < 1e6:
        sums, weights = _whole_sums(np.abs(difference).astype(np.int64))
    elif len(difference) <= _ENUMERATED:
        sums = np.zeros(1)
        for value in np.abs(difference):
            sums = np.concatenate([sums - value, sums + value])
        weights = np.full(len(sums), 1 / len(sums))
    else:
        rng = np.random.default_rng(random_state)
        signs = rng.choice([-1.0, 1.0], size=(n_draws, len(difference)))
        # The sample itself is one of the exchanges, so the p-value is never 0 and the test keeps its level.
        sums = np.concatenate([[found], signs @ np.abs(difference)])
        weights = np.full(len(sums), 1 / len(sums))
    slack = 1e-12 * max(1.0, scale)
    if alternative == "two-sided":
        return min(1.0, float(weights[np.abs(sums) >= abs(found) - slack].sum()))
    extreme = sums <= found + slack if alternative == "less" else sums >= found - slack
    return min(1.0, float(weights[extreme].sum()))


def _whole_sums(sizes: Ints) -> tuple[Floats, Floats]:
    """Return all sums with random signs, in order, and their probabilities."""
    weights = np.ones(1)
    for size, times in zip(*np.unique(sizes[sizes > 0], return_counts=True), strict=True):
        of_size = np.zeros(2 * size * times + 1)
        of_size[:: 2 * size] = binom.pmf(np.arange(times + 1), times, 0.5)
        weights = np.convolve(weights, of_size)
    total = int(sizes.sum())
    return np.arange(-total, total + 1, dtype=float), weights
