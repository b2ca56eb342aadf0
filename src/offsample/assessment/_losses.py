"""The losses that an audit rests on, and what they say of the best configuration."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import chi2, t

from offsample._ties import best_of
from offsample._typing import Booleans, Floats
from offsample._unit_intervals import Spread, student
from offsample.assessment._correctors import (
    VARIANCE_FACTOR,
    bootstrap,
    distinct,
    redrawn_bootstrap,
    share_of_choice,
    shrinkage,
)
from offsample.assessment._intervals import wilson_interval
from offsample.assessment._metrics import Metric
from offsample.assessment._scores import SearchScores
from offsample.assessment._units import ScoredRows, draw_counts, parts_of

N_DRAWS = 200
# Of the spread of the true means, which is estimated; see `python -m tests.statistical.assessed_splits`.
SPREAD_QUANTILE = 0.25
_TIE = 1e-12
# Scores of draws, from how often each row of a fold counts in them: draws × rows.
FoldScorer = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Draws:
    """Bootstrap samples of the units that were tested."""

    tested: ScoredRows
    counts: NDArray[np.uint8]  # draws × units
    n_strata: int

    @classmethod
    def of(cls, tested: ScoredRows, by_class: bool) -> Draws:
        """Draw the units of each fold by themselves, and class by class."""
        strata = tested.strata(by_class)
        return cls(tested, draw_counts(strata, N_DRAWS), int(strata.max()) + 1)

    def of_rows(self, k: int) -> Floats:
        """How often each row of a fold counts; before the draws, each counts once."""
        rows = self.tested.unit[self.tested.rows[k]]
        return np.vstack([np.ones(len(rows)), self.counts[:, rows]])


@dataclass(frozen=True)
class SearchLosses:
    """Losses of configurations, smaller for better ones."""

    folds: Floats  # configurations × folds
    n_rows: int | None  # that were tested, if known
    error_shift: float | None  # loss minus error rate: -1 for accuracies, 0 for errors, None for others
    units: Floats | None = None  # configurations × units, where a score is a mean over units
    # Where it is not: losses on bootstrap samples of the units, configurations × draws, mean over folds, and
    # on the units not drawn, where the loss on those drawn is smallest, NaN elsewhere.
    drawn: Floats | None = None
    left_out: Floats | None = None
    n_strata: int = 1  # that the units were drawn in
    weights: Floats | None = None  # of the units
    grouped: bool = False  # whether units are groups of rows
    n_repeats: int = 1  # cross-validations that the folds are of, one after the other
    guess: float | None = None  # loss of a prediction that knows nothing, if known

    @classmethod
    def of_scores(cls, found: SearchScores, n_rows: int | None, n_repeats: int = 1) -> SearchLosses:
        """Take scores between 0 and 1 as accuracies; a loss as an error rate if it is called so, or alone."""
        losses, shift = found.losses, -1.0 if found.greater_is_better else 0.0
        within = losses.min() >= shift and losses.max() <= shift + 1
        rates = {"accuracy", "error"} | ({"score"} if shift or losses.shape[1] == 1 else set())
        return cls(losses, n_rows, shift if within and found.title in rates else None, n_repeats=n_repeats)

    @classmethod
    def of_predictions(cls, metric: Metric, tested: ScoredRows, predictions: Sequence[Any]) -> SearchLosses:
        """Score what each configuration predicts for the rows that were tested."""
        sign = -1.0 if metric.greater_is_better else 1.0
        guess = metric.guess(tested.y)
        guess = None if guess is None else sign * guess
        if metric.row is not None:
            rows = np.empty((len(predictions), len(tested.y)))
            for of in tested.rows:
                rows[:, of] = [sign * np.asarray(metric.row(tested.y[of], p[of]), float) for p in predictions]
            return cls(
                tested.by_fold(rows),
                tested.n_rows,
                metric.error_shift,
                units=tested.by_unit(rows),
                weights=tested.weights,
                grouped=tested.grouped,
                guess=guess,
            )
        scorers = [[partial(metric.score, tested.y[of], p[of]) for of in tested.rows] for p in predictions]
        draws = Draws.of(tested, metric.takes_classes)
        counts = [draws.of_rows(k) for k in range(len(tested.rows))]
        scores = [[score(of) for score, of in zip(of_folds, counts, strict=True)] for of_folds in scorers]
        return cls.of_draws(scorers, np.array(scores), draws, sign, guess)

    @classmethod
    def of_draws(
        cls,
        scorers: Sequence[Sequence[FoldScorer]],
        scores: Floats,
        draws: Draws,
        sign: float,
        guess: float | None = None,
    ) -> SearchLosses:
        """Take scores, configurations × folds × (all rows, then each draw), that are no means over rows.

        What each draw chooses is judged on the units that it leaves out; as few rows have worse scores,
        less strictly by as much as the best configuration of all rows is worse on what is left out.
        """
        tested = draws.tested

        def left_out_of(i: int, kept: Any) -> Any:
            out = draws.counts[kept] == 0
            parts = [
                score(out[:, tested.unit[rows]].astype(float))
                for score, rows in zip(scorers[i], tested.rows, strict=True)
            ]
            return sign * _mean_of_known(np.array(parts), axis=0)

        folds, losses = sign * scores[:, :, 0], sign * _mean_of_known(scores[:, :, 1:], axis=1)
        left_out, chosen = np.full(losses.shape, np.nan), np.zeros(losses.shape, dtype=bool)
        defined = np.isfinite(losses).all(axis=0)
        chosen[:, defined] = (share_of_choice(losses[:, defined].T) > 0).T if defined.any() else False
        for i in np.flatnonzero(chosen.any(axis=1)).tolist():
            left_out[i, chosen[i]] = left_out_of(i, chosen[i])
        known = np.isfinite(left_out).any(axis=0)
        if not known.any():
            raise ValueError(
                "no bootstrap sample of the rows defines the score, as where a fold lacks a class: "
                "stratify the folds, or leave out fold (of a search, X and y)"
            )
        whole = folds.mean(axis=1)
        best = best_of(-whole)
        of_best = left_out_of(best, known)
        of_best = of_best[np.isfinite(of_best)]
        worse = float(of_best.mean() - whole[best]) if len(of_best) else 0.0
        return cls(
            folds,
            tested.n_rows,
            None,
            drawn=losses[:, known],
            left_out=left_out[:, known] - worse,
            n_strata=draws.n_strata,
            weights=tested.weights,
            grouped=tested.grouped,
            guess=guess,
        )

    @property
    def has_rows(self) -> bool:
        """Whether more is known than the scores of folds."""
        return self.units is not None or self.drawn is not None

    @property
    def repeats(self) -> list[Floats]:
        """Losses of the folds of each cross-validation by itself: those of another test the same rows."""
        return [self.folds[:, part] for part in parts_of(self.folds.shape[1], self.n_repeats)]

    @property
    def variance_factor(self) -> float:
        """How much more a corrected score varies than a mean of independent units: see `audit_search`."""
        n_folds = self.folds.shape[1] / self.n_repeats
        return VARIANCE_FACTOR if len(self.folds) > 1 or n_folds < 2 else 1 + n_folds / (n_folds - 1)

    def estimates(self) -> dict[str, float]:
        """Return the corrected loss by every method that these losses allow."""
        estimates: dict[str, float] = {}
        losses, shift, n = self.folds, self.error_shift, self.n_rows
        if losses.shape[1] > 1 or len(losses) == 1:
            estimates = {
                corrector.__name__: float(np.mean([corrector(once) for once in self.repeats]))
                for corrector in (bootstrap, shrinkage)
            }
        elif n is not None and shift is not None:
            error = float(losses.min()) - shift
            estimates["shrinkage"] = shrinkage(losses, noise_variance=max(error * (1 - error), 1 / n) / n)
        if self.units is not None:
            estimates["bootstrap"] = bootstrap(self.units, weights=self.weights)
        if self.drawn is not None and self.left_out is not None:
            estimates["bootstrap"] = redrawn_bootstrap(self.drawn, self.left_out)
        return estimates

    def why_not(self, method: str) -> str:
        """Say why these losses, one for each configuration, do not allow a method."""
        if self.n_rows is None:
            return (
                "each configuration has one score: give the scores of the folds, or n_samples, the number of "
                "rows behind each score"
            )
        if method == "bootstrap":
            return "method 'bootstrap' needs the scores of several folds, got one for each configuration"
        return f"method {method!r} needs accuracies or error rates between 0 and 1, got others"

    def interval(self, corrected: float, near: Booleans, confidence: float) -> tuple[float, float]:
        """Return the interval of a corrected loss; `near` are those not told from the best."""
        shift, n_folds, tail = self.error_shift, self.folds.shape[1], (1 + confidence) / 2
        effective = math.nan if self.weights is None else _effective(self.weights)
        is_rate = self.units is not None and shift is not None
        if not self.grouped and (is_rate or (not self.has_rows and n_folds == 1)):
            if self.n_rows is None or shift is None:  # one configuration with one score
                return -math.inf, math.inf
            n = (self.n_rows if self.weights is None else effective) / self.variance_factor
            low, high = wilson_interval(min(1.0, max(0.0, corrected - shift)) * n, n, confidence)
            return low + shift, high + shift
        if self.drawn is not None:
            variance = float(distinct(self.drawn[near]).var(axis=1, ddof=1).mean())
            if self.grouped and self.weights is not None:
                # As many groups as strata are not free to vary: each is drawn around its own mean.
                variance *= len(self.weights) / max(1, len(self.weights) - self.n_strata)
        elif self.units is not None:
            variance = self._variance_of_mean(near)
        else:
            variance = float(
                np.mean([distinct(of[near]).var(axis=1, ddof=1).mean() / of.shape[1] for of in self.repeats])
            )
        deviation = math.sqrt(self.variance_factor * variance)
        if self.grouped and shift is not None and self.weights is not None:
            spread = Spread(min(1.0, max(0.0, corrected - shift)), deviation, len(self.weights), effective)
            low, high = spread.error_interval(confidence)
            return low + shift, high + shift
        normal = float(ndtri(tail) if self.has_rows else t.ppf(tail, n_folds - self.n_repeats))
        radius = (student(tail, effective) if self.grouped else normal) * deviation
        low, high = corrected - radius, corrected + radius
        return (low, high) if shift is None else (max(low, shift), min(high, shift + 1))

    def as_good_as_best(self, confidence: float, tolerance: float | None) -> tuple[Booleans, float]:
        """Mark the configurations that are not worse than the best by more than a tolerance, with confidence.

        The differences to the best are paired, by units on bootstrap samples, or by folds with the corrected
        variance of Nadeau and Bengio. They are too large, for the best was lucky: true means that vary by τ²
        are, given what was seen, normal about the observed ones shrunk by k = τ² / (τ² + σ²), so that a
        difference d with standard error s is normal about k d with variance k s². Of τ² the upper quartile is
        taken; and none may seem worse than the tolerance, by default one standard error of the best score.
        """
        means = self.folds.mean(axis=1)
        best, n = best_of(-means), self.folds.shape[1]
        if not self.has_rows and n < 2:
            return np.asarray(means <= means[best] + _TIE), tolerance or 0.0
        drawn = self.folds
        if self.has_rows:
            drawn = self._drawn_means() if self.drawn is None else self.drawn
            factor, share, quantile = 1.0, 1.0, float(ndtri(confidence))
        else:
            share = self.n_repeats / n
            factor = 1 / n + share / max(share, 1 - share)
            quantile = float(t.ppf(confidence, n - 1))
        spread = np.sqrt(factor * (drawn - drawn[best]).var(axis=1, ddof=1))
        different = np.unique(np.column_stack([means, drawn]), axis=0)
        kept = 0.0
        if len(different) > 1:
            contrasts = different[:, 1:] - different[:, 1:].mean(axis=0)
            noise = share * contrasts.var(axis=1, ddof=1).sum() / (len(different) - 1)
            freedom = len(different) - 1  # how far the means spread is not known well of few: take more
            total = float(different[:, 0].var(ddof=1)) * freedom / float(chi2.ppf(SPREAD_QUANTILE, freedom))
            kept = max(0.0, 1 - noise / total) if total > 0 else 0.0
        allowed = math.sqrt(factor * drawn[best].var(ddof=1)) if tolerance is None else tolerance
        worse = kept * (means - means[best]) + quantile * math.sqrt(kept) * spread
        return np.asarray(np.maximum(worse, means - means[best]) <= allowed + _TIE), allowed

    def _drawn_means(self) -> Floats:
        """Mean losses on bootstrap samples of the units, configurations × draws."""
        assert self.units is not None
        counts = draw_counts(np.zeros(self.units.shape[1], dtype=int), N_DRAWS).astype(float)
        counts *= 1 if self.weights is None else self.weights
        return np.asarray(self.units @ counts.T / counts.sum(axis=1))

    def _variance_of_mean(self, near: Booleans) -> float:
        """Variance of the weighted mean of the units, on average over the configurations `near`."""
        assert self.units is not None
        assert self.weights is not None
        beyond, n, total = distinct(self.units[near]), len(self.weights), self.weights.sum()
        beyond = self.weights * (beyond - beyond @ self.weights[:, None] / total)
        return float((beyond**2).sum(axis=1).mean() * n / (n - 1) / total**2)


def _effective(weights: Floats) -> float:
    """Units of equal weight whose mean varies as much."""
    return float(weights.sum() ** 2 / (weights @ weights))


def _mean_of_known(scores: Floats, axis: int) -> Any:
    """Return the mean over the folds on which the score is defined; NaN where it is defined on none."""
    known = np.isfinite(scores)
    n = known.sum(axis=axis)
    return np.where(n > 0, np.where(known, scores, 0).sum(axis=axis) / np.maximum(n, 1), np.nan)
