"""Intervals for the error of a model that was not tuned on the test rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri
from scipy.stats import t

from offsample import _folds
from offsample._checks import check_confidence, check_count
from offsample._proportions import wilson
from offsample._text import percentage
from offsample._typing import Floats
from offsample.assessment._result import Result

IntervalMethod = Literal["auto", "clopper_pearson", "wilson", "corrected_t", "nested_cv", "conservative_z"]


@dataclass(frozen=True)
class ErrorInterval(Result):
    """An estimate of an error and its interval.

    Attributes
    ----------
    error, low, high : float
    n : int
        Test rows, or folds for "corrected_t".
    method, confidence
    """

    error: float
    low: float
    high: float
    method: str
    confidence: float
    n: int

    def __repr__(self) -> str:
        interval = f"{percentage(self.confidence)} interval {self.low:.4f}–{self.high:.4f}"
        return f"ErrorInterval: error {self.error:.4f}, {interval}, by {self.method}"


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


def error_interval_of(
    errors: float | ArrayLike | Any,
    X: Any = None,
    y: Any = None,
    *,
    n_test: int | None = None,
    method: IntervalMethod = "auto",
    confidence: float = 0.95,
    test_share: float | None = None,
    n_folds: int = 10,
    n_repeats: int = 10,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> ErrorInterval:
    """Interval for the error of a model on new rows, from a hold-out set or from cross-validation.

    Parameters
    ----------
    errors : number of errors, array, or estimator
        The number of errors on a hold-out set (with `n_test`) or its losses row by row; the error of each
        fold (with "corrected_t"); or an estimator, which is cross-validated on X and y.
    X, y : array-like, optional
        For an estimator.
    n_test : int, optional
        Rows of the hold-out set.
    method : str, default="auto"
        For a hold-out set that was not used before, not even to choose a model:

        clopper_pearson
            The default: exact for independent rows.
        wilson
            Shorter, and right on average. Assumes independent rows.

        From cross-validation, for the mean error of models trained on as many rows, less one fold:

        corrected_t
            The default for fold errors, of Nadeau and Bengio (2003): ``t`` with K - 1 degrees of freedom and
            the variance of the fold errors times ``1/K + n_test/n_train``. Assumes normal fold errors whose
            correlation is the share of test rows: a rule of thumb, mostly conservative for K ≥ 10.
        nested_cv
            The default for an estimator, of Bates et al. (2024). Compares inner estimates with the outer
            fold, and so measures what the variance of cross-validation leaves out. Assumes independent rows;
            costs ``n_repeats K (K + 1) / 2`` fits.
        conservative_z
            Cross-validates random halves (Nadeau and Bengio 2003), whose difference over-estimates the
            variance because they have fewer rows: wide, and conservative from ten repetitions on. Assumes
            independent rows and an error that varies no more with more rows. Costs ``(2 n_repeats + 1) K``
            fits.
    confidence : float, default=0.95
    test_share : float, optional
        Test rows over training rows, for "corrected_t"; 1/(K - 1) by default, as in K-fold cross-validation.
    n_folds, n_repeats : int
        For an estimator.
    random_state : int or None, default=0
    n_jobs : int, optional

    Notes
    -----
    Coverage of the 95 % interval for the error of the model learned from all rows, in 150 samples of 80 rows
    with three repetitions (``tests/statistical/test_tuning_optimism.py``), with 5 and 10 folds: "corrected_t"
    97 and 99 %, "nested_cv" 95 and 98 %, "conservative_z" 93 and 93 %. With ten repetitions and 10 folds
    "conservative_z" covers 99 %: a variance of three squares is too uncertain for a normal quantile. Exact
    coverage for hold-out sets: "clopper_pearson" 95 % or more at every error, "wilson" 95 % on average.

    Examples
    --------
    >>> from offsample.assessment import error_interval_of
    >>> error_interval_of(12, n_test=200)
    ErrorInterval: error 0.0600, 95% interval 0.0314–0.1025, by clopper_pearson
    >>> error_interval_of([0.12, 0.08, 0.15, 0.10, 0.09])
    ErrorInterval: error 0.1080, 95% interval 0.0563–0.1597, by corrected_t
    """
    if method not in get_args(IntervalMethod):
        raise ValueError(f"method must be one of {get_args(IntervalMethod)}, got {method!r}")
    check_confidence(confidence)
    if hasattr(errors, "fit"):
        if X is None or y is None:
            raise ValueError("an estimator needs X and y to be cross-validated on")
        rng = np.random.default_rng(random_state)
        refits = _Refits(
            errors, X, np.asarray(y), n_folds=n_folds, n_repeats=n_repeats, rng=rng, n_jobs=n_jobs
        )
        return refits.interval(method, confidence)
    if n_test is not None or method in ("clopper_pearson", "wilson"):
        return _of_holdout(errors, n_test, method, confidence)
    if method not in ("auto", "corrected_t"):
        raise ValueError(f"method {method!r} refits models: give an estimator with X and y")
    folds = np.asarray(errors, dtype=float)
    if folds.ndim != 1 or len(folds) < 2 or not np.isfinite(folds).all():
        raise ValueError(
            "expected the finite errors of two or more folds, or the number of errors with n_test"
        )
    low, high = corrected_t_interval(folds, confidence, test_share)
    return ErrorInterval(float(folds.mean()), low, high, "corrected_t", confidence, len(folds))


def corrected_t_interval(
    folds: Floats, confidence: float = 0.95, test_share: float | None = None
) -> tuple[float, float]:
    """Mean of fold scores ± t times the corrected standard error of Nadeau and Bengio."""
    n_folds = len(folds)
    share = 1 / (n_folds - 1) if test_share is None else test_share
    error = math.sqrt(float(folds.var(ddof=1)) * (1 / n_folds + share))
    radius = float(t.ppf((1 + confidence) / 2, n_folds - 1)) * error
    return float(folds.mean()) - radius, float(folds.mean()) + radius


def _of_holdout(errors: Any, n_test: int | None, method: str, confidence: float) -> ErrorInterval:
    chosen = "clopper_pearson" if method == "auto" else method
    interval = {"clopper_pearson": clopper_pearson_interval, "wilson": wilson_interval}.get(chosen)
    if interval is None:
        raise ValueError(f"method {method!r} is for cross-validation: use 'clopper_pearson' or 'wilson'")
    losses = np.asarray(errors, dtype=float)
    if losses.ndim == 1:
        if not np.isin(losses, (0, 1)).all():
            raise ValueError("losses of hold-out rows must be 0 or 1")
        n_test, n_errors = len(losses), float(losses.sum())
    elif n_test is None:
        raise ValueError("n_test is missing: how many rows does the hold-out set have?")
    else:
        n_errors = float(losses)
    if n_test < 1 or not 0 <= n_errors <= n_test:
        raise ValueError(f"expected from 0 to n_test errors, got {n_errors:g} of {n_test}")
    low, high = interval(n_errors, n_test, confidence)
    return ErrorInterval(n_errors / n_test, low, high, chosen, confidence, n_test)


@dataclass(frozen=True)
class _Refits:
    """An estimator that is fitted again and again on parts of its rows."""

    estimator: Any
    X: Any
    y: NDArray[Any]
    n_folds: int
    n_repeats: int
    rng: np.random.Generator
    n_jobs: int | None

    def interval(self, method: str, confidence: float) -> ErrorInterval:
        from sklearn.base import is_classifier

        chosen, n = "nested_cv" if method == "auto" else method, len(self.y)
        if chosen in ("clopper_pearson", "wilson"):
            raise ValueError(f"method {method!r} is for a hold-out set: give the number of errors and n_test")
        check_count("n_folds", self.n_folds, 3)
        if chosen == "corrected_t":
            losses, folds = self._cross_validated(np.arange(n))
            n, means = self.n_folds, np.array([losses[folds == k].mean() for k in range(self.n_folds)])
            error = float(means.mean())
            low, high = corrected_t_interval(means, confidence)
        else:
            error, spread = self._nested_cv() if chosen == "nested_cv" else self._conservative_z()
            radius = float(ndtri((1 + confidence) / 2)) * spread
            low, high = error - radius, error + radius
        low, high = max(0.0, low), min(1.0, high) if is_classifier(self.estimator) else high
        return ErrorInterval(error, low, high, chosen, confidence, n)

    def _losses_without(
        self, rows: NDArray[Any], folds: NDArray[Any], left_out: list[tuple[int, ...]]
    ) -> dict[tuple[int, ...], Floats]:
        """Losses on the folds left out, in the order of rows, of the models trained on all others."""
        from offsample._estimators import row_losses
        from offsample.assessment._units import run_all

        tests = [np.isin(folds, without) for without in left_out]
        jobs = [(self.estimator, self.X, self.y, rows[~test], rows[test]) for test in tests]
        return dict(zip(left_out, run_all(row_losses, jobs, self.n_jobs), strict=True))

    def _cross_validated(self, rows: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
        """Losses and folds of the given rows."""
        folds = _folds.dealt(len(rows), self.n_folds, self.rng)
        found = self._losses_without(rows, folds, [(k,) for k in range(self.n_folds)])
        losses = np.zeros(len(rows))
        for k in range(self.n_folds):
            losses[folds == k] = found[k,]
        return losses, folds

    def _nested_cv(self) -> tuple[float, float]:
        """Estimate and standard error of Bates, Hastie and Tibshirani, with their correction of the bias."""
        squares, noise, inner_means, outer_means, variances = [], [], [], [], []
        n, n_folds = len(self.y), self.n_folds
        left_out: list[tuple[int, ...]] = [(k,) for k in range(n_folds)]
        left_out += combinations(range(n_folds), 2)
        for _ in range(self.n_repeats):
            folds = _folds.dealt(n, n_folds, self.rng)
            losses = self._losses_without(np.arange(n), folds, left_out)
            outer = np.concatenate([losses[k,] for k in range(n_folds)])
            outer_means.append(outer.mean())
            variances.append(outer.var(ddof=1))
            for k in range(n_folds):
                # The model without folds j and k: its losses on j are inner ones, for the outer fold k.
                pairs = [(j, (min(j, k), max(j, k))) for j in range(n_folds) if j != k]
                inner = np.concatenate([losses[p][folds[np.isin(folds, p)] == j] for j, p in pairs])
                squares.append((inner.mean() - losses[k,].mean()) ** 2)
                noise.append(losses[k,].var(ddof=1) / len(losses[k,]))
                inner_means.append(inner.mean())
        naive = math.sqrt(float(np.mean(variances)) / n)
        mse = max(0.0, float(np.mean(squares) - np.mean(noise)))
        spread = min(max(math.sqrt((n_folds - 1) / n_folds * mse), naive), math.sqrt(n_folds) * naive)
        nested = float(np.mean(inner_means))
        bias = (1 + (n_folds - 2) / n_folds) * (nested - float(np.mean(outer_means)))
        return nested - bias, spread

    def _conservative_z(self) -> tuple[float, float]:
        """Estimate of K-fold cross-validation, and the spread of those on random halves."""
        n = len(self.y)
        losses, _ = self._cross_validated(np.arange(n))
        squares = []
        for _ in range(self.n_repeats):
            order = self.rng.permutation(n)
            halves = order[: n // 2], order[n // 2 : 2 * (n // 2)]
            first, second = (self._cross_validated(half)[0].mean() for half in halves)
            squares.append((first - second) ** 2 / 2)
        return float(losses.mean()), math.sqrt(float(np.mean(squares)))
