"""The losses that an audit rests on, and what they say of the best configuration."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtri
from scipy.stats import t

from offsample._typing import Booleans, Floats
from offsample._unit_intervals import Spread, student
from offsample.assessment._correctors import (
    VARIANCE_FACTOR,
    bootstrap,
    distinct,
    redrawn_bootstrap,
    shrinkage,
)
from offsample.assessment._intervals import wilson_interval
from offsample.assessment._scores import SearchScores


@dataclass(frozen=True)
class Redrawn:
    """Losses, configurations × draws, on bootstrap samples of the units of each fold, mean over folds."""

    drawn: Floats
    left_out: Floats  # on the units not drawn, where the loss on those drawn is smallest; NaN elsewhere


@dataclass(frozen=True)
class SearchLosses:
    """Losses of configurations, smaller for better ones."""

    folds: Floats  # configurations × folds
    n_units: int | None  # units (rows) that were tested, if known
    error_shift: float | None  # loss minus error rate: -1 for accuracies, 0 for errors, None for others
    units: Floats | None = None  # configurations × units, where a score is a mean over units
    redrawn: Redrawn | None = None  # where it is not
    sizes: Floats | None = None  # rows of each unit, where units are groups

    @classmethod
    def of_scores(cls, found: SearchScores, n_units: int | None) -> SearchLosses:
        """Take scores between 0 and 1 as accuracies or error rates."""
        losses, shift = found.losses, -1.0 if found.greater_is_better else 0.0
        within = losses.min() >= shift and losses.max() <= shift + 1
        return cls(losses, n_units, shift if within else None)

    def estimates(self) -> dict[str, float]:
        """Return the corrected loss by every method that these losses allow."""
        estimates: dict[str, float] = {}
        losses, shift, n = self.folds, self.error_shift, self.n_units
        if losses.shape[1] > 1 or len(losses) == 1:
            estimates = {"bootstrap": bootstrap(losses), "shrinkage": shrinkage(losses)}
        elif n is not None and shift is not None:
            error = float(losses.min()) - shift
            estimates["shrinkage"] = shrinkage(losses, noise_variance=max(error * (1 - error), 1 / n) / n)
        if self.units is not None:
            estimates["bootstrap"] = bootstrap(self.units, sizes=self.sizes)
        if self.redrawn is not None:
            estimates["bootstrap"] = redrawn_bootstrap(self.redrawn.drawn, self.redrawn.left_out)
        return estimates

    def why_not(self, method: str) -> str:
        """Say why these losses, one for each configuration, do not allow a method."""
        if self.n_units is None:
            return (
                "each configuration has one score: give the scores of the folds, or n_samples, the number of "
                "rows behind each score"
            )
        if method == "bootstrap":
            return (
                "method 'bootstrap' needs the scores of several folds, got one score for each configuration"
            )
        return f"method {method!r} needs accuracies or error rates, got scores outside [0, 1]"

    def interval(self, corrected: float, near: Booleans, confidence: float) -> tuple[float, float]:
        """Return the interval of a corrected loss; `near` are the configurations as good as the best."""
        shift, n_folds, tail = self.error_shift, self.folds.shape[1], (1 + confidence) / 2
        if self.sizes is not None:
            return self._group_interval(corrected, near, confidence)
        by_fold = self.units is None and self.redrawn is None
        if (self.units is not None and shift is not None) or (by_fold and n_folds == 1):
            if self.n_units is None or shift is None:  # one configuration with one score
                return -math.inf, math.inf
            error, n = min(1.0, max(0.0, corrected - shift)), self.n_units / VARIANCE_FACTOR
            low, high = wilson_interval(error * n, n, confidence)
            return low + shift, high + shift
        if self.redrawn is not None:
            variance = float(distinct(self.redrawn.drawn[near]).var(axis=1, ddof=1).mean())
        else:
            losses = self.folds if self.units is None else self.units
            variance = float(distinct(losses[near]).var(axis=1, ddof=1).mean()) / losses.shape[1]
        quantile = float(t.ppf(tail, n_folds - 1) if by_fold else ndtri(tail))
        radius = quantile * math.sqrt(VARIANCE_FACTOR * variance)
        low, high = corrected - radius, corrected + radius
        return (low, high) if shift is None else (max(low, shift), min(high, shift + 1))

    def _group_interval(self, corrected: float, near: Booleans, confidence: float) -> tuple[float, float]:
        """Return the interval of a corrected loss whose units are groups, with Student's quantile."""
        assert self.sizes is not None
        shift, n, total = self.error_shift, len(self.sizes), self.sizes.sum()
        if self.units is not None:
            beyond = distinct(self.units[near])
            beyond = self.sizes * (beyond - beyond @ self.sizes[:, None] / total)
            variance = float((beyond**2).sum(axis=1).mean()) * n / (n - 1) / total**2
        else:
            assert self.redrawn is not None
            # As many groups as folds are not free to vary: each fold is drawn around its own mean.
            variance = float(distinct(self.redrawn.drawn[near]).var(axis=1, ddof=1).mean())
            variance *= n / max(1, n - self.folds.shape[1])
        deviation, effective = math.sqrt(VARIANCE_FACTOR * variance), total**2 / (self.sizes @ self.sizes)
        if shift is not None:
            error = min(1.0, max(0.0, corrected - shift))
            low, high = Spread(error, deviation, n, effective).error_interval(confidence)
            return low + shift, high + shift
        radius = student((1 + confidence) / 2, effective) * deviation
        return corrected - radius, corrected + radius
