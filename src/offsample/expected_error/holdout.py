"""Choosing a model by its errors on held-out rows, and the best split for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsample._frames import make_frame
from offsample._ties import DIGITS
from offsample._typing import Floats, Ints
from offsample.expected_error._binomial import mixture_law
from offsample.expected_error.analysis import ErrorForecast, Method, check_whole, expected_error
from offsample.expected_error.prior import ErrorPrior

# Up to this many rows every split is tried; beyond, a grid that is refined where the error is smallest.
_TRY_ALL = 128
_GRID = 24


@dataclass(frozen=True, eq=False, repr=False)
class HoldoutSelection:
    """The result of choosing among models by their hold-out error and learning again on all rows."""

    selection_probability: Floats  # (n_models,): that each is chosen
    errors: Floats  # possible true errors of the final hypothesis
    posterior: Floats  # their probabilities
    mean: float  # the expected one
    forecasts: tuple[ErrorForecast, ...]  # of each model, learned on all rows
    n_train: int
    n_holdout: int

    def to_frame(self) -> Any:
        """Return a dataframe with one row per model, of the library that is installed."""
        means = [forecast.mean for forecast in self.forecasts]
        chances = list(self.selection_probability)
        return make_frame(
            {"model": list(range(len(means))), "selection_probability": chances, "expected_error": means}
        )

    def __repr__(self) -> str:
        chances = ", ".join(f"{p:.3f}" for p in self.selection_probability)
        return (
            f"HoldoutSelection(mean={self.mean:.4g}, {self.n_train} rows to train and {self.n_holdout} "
            f"to choose, chances {chances})"
        )


def holdout_selection(
    priors: Sequence[ErrorPrior],
    log_sizes: Sequence[float],
    n_train: int,
    n_holdout: int,
    method: Method = "exact",
) -> HoldoutSelection:
    """Law of the true error after choosing a model by hold-out, Theorem 14 of Scheffer (1999).

    A hypothesis of each model is learned on `n_train` rows and tested on `n_holdout` others; the model with
    the fewest errors, the first of equals, is chosen and learned again on all rows. The tests of different
    models are taken as independent, and the second learning as independent of the choice.

    Parameters
    ----------
    priors : sequence of ErrorPrior
        Prior of each model; `offsample.expected_error.languages` makes them from data.
    log_sizes : sequence of float
        Natural logarithms of their numbers of hypotheses.
    n_train, n_holdout : int
        Rows of each part.
    method : str
        Method of `expected_error`.

    Examples
    --------
    >>> from offsample.expected_error import ErrorPrior, holdout_selection
    >>> good, bad = ErrorPrior([0.1]), ErrorPrior([0.4])
    >>> choice = holdout_selection([bad, good], [0.0, 0.0], n_train=10, n_holdout=20)
    >>> choice.selection_probability.round(3).tolist(), round(choice.mean, 3)
    ([0.016, 0.984], 0.105)
    """
    if len(priors) != len(log_sizes) or not len(priors):
        raise ValueError(
            f"got {len(priors)} priors and {len(log_sizes)} log_sizes: expected one each, at least one"
        )
    check_whole("n_train", n_train, 1)
    check_whole("n_holdout", n_holdout, 1)
    total = n_train + n_holdout
    tried = [expected_error(p, size, n_train, method) for p, size in zip(priors, log_sizes, strict=True)]
    final = tuple(expected_error(p, size, total, method) for p, size in zip(priors, log_sizes, strict=True))
    chances = selection_chances([mixture_law(f.prior.errors, f.posterior, n_holdout) for f in tried])
    errors, posterior = _mixture(final, chances)
    mean = float(chances @ [forecast.mean for forecast in final])
    return HoldoutSelection(chances, errors, posterior, mean, final, int(n_train), int(n_holdout))


def selection_chances(laws: Sequence[Floats]) -> Floats:
    """Probability that each of several independent counts is the smallest, the first of equals; Eq. (4.9)."""
    chances = np.empty(len(laws))
    at_least = [np.append(np.cumsum(law[::-1])[::-1], 0.0) for law in laws]
    for i, law in enumerate(laws):
        others = np.ones(len(law))
        for j, tail in enumerate(at_least):
            if j != i:
                others *= tail[1:] if j < i else tail[:-1]
        chances[i] = law @ others
    return np.asarray(chances / chances.sum())  # rounding


def _mixture(forecasts: Sequence[ErrorForecast], chances: Floats) -> tuple[Floats, Floats]:
    first = forecasts[0].prior.errors
    if all(np.array_equal(forecast.prior.errors, first) for forecast in forecasts):
        return first, chances @ np.stack([forecast.posterior for forecast in forecasts])
    errors, place = np.unique(np.concatenate([f.prior.errors for f in forecasts]), return_inverse=True)
    weights = np.concatenate([p * f.posterior for p, f in zip(chances, forecasts, strict=True)])
    return errors, np.bincount(place, weights).astype(float)


@dataclass(frozen=True, eq=False, repr=False)
class BestSplit:
    """The split of a sample with the least expected error of hold-out selection."""

    n_train: int
    n_holdout: int
    mean: float  # expected error with this split
    curve: tuple[tuple[int, float], ...]  # rows to train on and expected error of each split tried

    def to_frame(self) -> Any:
        """Return a dataframe with one row per split tried."""
        n_train, means = (list(column) for column in zip(*self.curve, strict=True))
        return make_frame({"n_train": n_train, "expected_error": means})

    def __repr__(self) -> str:
        return f"BestSplit(n_train={self.n_train}, n_holdout={self.n_holdout}, mean={self.mean:.4g})"


def best_split(
    priors: Sequence[ErrorPrior], log_sizes: Sequence[float], n_samples: int, method: Method = "exact"
) -> BestSplit:
    """Find how many rows to train on, and how many to hold out for the choice among models.

    Up to 128 rows every split is tried; beyond, 24 of them and then those near the best. Of equal splits the
    one with more rows to train on is returned.

    Parameters
    ----------
    priors, log_sizes, method
        As in `holdout_selection`.
    n_samples : int
        Rows to split, at least 2.

    Examples
    --------
    >>> from offsample.expected_error import ErrorPrior, best_split
    >>> best_split([ErrorPrior([0.1, 0.5], [0.01, 0.99]), ErrorPrior([0.3])], [4.7, 0.0], 60)
    BestSplit(n_train=31, n_holdout=29, mean=0.1042)
    """
    check_whole("n_samples", n_samples, 2)
    means: dict[int, float] = {}

    def evaluate(sizes: Ints) -> None:
        for n in sizes.tolist():
            if 1 <= n < n_samples and n not in means:
                means[n] = holdout_selection(priors, log_sizes, n, n_samples - n, method).mean

    if n_samples <= _TRY_ALL:
        evaluate(np.arange(1, n_samples))
    else:
        width = n_samples / _GRID
        evaluate(np.rint(np.linspace(1, n_samples - 1, _GRID)).astype(np.int64))
        while width > max(1.0, n_samples / 500):
            best = _best(means)
            width /= 3
            evaluate(np.rint(best + width * np.arange(-2, 3)).astype(np.int64))
    best = _best(means)
    return BestSplit(best, int(n_samples) - best, means[best], tuple(sorted(means.items())))


def _best(means: dict[int, float]) -> int:
    return min(means, key=lambda n: (round(means[n], DIGITS), -n))
