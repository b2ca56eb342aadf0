"""How many splits to keep, and the error to expect of what was chosen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample._ties import best_of, rounded
from offsample.induction.oblique.cell import N_FOLDS, Grower, Measure
from offsample.induction.path import score_interval

# Standard errors by which a split must be better than none: one in a hundred for one size.
_LUCK = 2.33
# Samples with replacement in which the size is chosen again.
N_SAMPLES = 50

Floats = NDArray[np.float64]


class Choice(NamedTuple):
    """A size of the path.

    Attributes
    ----------
    n_splits : int
    error : float
        The estimate, with what it is too small by for being the best of many.
    interval : tuple of float
        95 % interval for the error on new rows.
    """

    n_splits: int
    error: float
    interval: tuple[float, float]


def choose(path: list[Measure], grower: Grower) -> Choice:
    """The splits with the fewest estimated errors, or all where nothing was estimated.

    The least of many estimates is too small. Size and thresholds are chosen again without some of the rows,
    and what that costs on these is added.
    """
    if not grower.look_ahead:
        return Choice(len(path) - 1, np.nan, (np.nan, np.nan))
    total = np.array([measure.estimated_errors.sum() for measure in path])
    n_rows = 1 / float(grower.prior_mass @ grower.own_mass)
    size = _best_size(total, np.array([measure.noise.sum() for measure in path]))
    again = _lost_in_samples if grower.held_out is not None else _lost_in_folds
    lost, spread = again(path, grower, size)
    naive = float(total[size])
    error = float(np.clip(naive + max(lost, 0.0), 0.0, 1.0))
    # What was added is itself known only so well; and so is, to first order, what a row does to its output.
    high = min(1.0, error + spread)
    least = naive if grower.held_out is not None else min(naive, path[size].training_error)
    low, _ = score_interval(least, least, max(1, round(n_rows)))
    return Choice(size, error, (low, score_interval(high, high, max(1, round(n_rows)))[1]))


def _lost_in_folds(path: list[Measure], grower: Grower, size: int) -> tuple[float, float]:
    """Errors that the choice without each fold in turn costs there, and how well that is known."""
    errors = np.array([measure.estimated_errors for measure in path])
    noise = np.array([measure.noise for measure in path])
    total, total_noise = errors.sum(axis=1), noise.sum(axis=1)
    share = np.bincount(grower.folds, grower.prior_mass, N_FOLDS)
    is_tuned = bool(size) and isinstance(grower.threshold, str) and grower.threshold == "tuned"
    lost = np.zeros(N_FOLDS)
    for fold in np.flatnonzero((share > 0) & (share < 1)):
        rest = 1 - share[fold]
        chosen = _best_size((total - errors[:, fold]) / rest, (total_noise - noise[:, fold]) / rest**2)
        lost[fold] = errors[chosen, fold] - errors[size, fold]
        if is_tuned:
            wrong = grower.is_wrong(grower.best_output, grower.thresholds_without(int(fold)))
            here = grower.folds == fold
            lost[fold] += float(grower.prior_mass[here] @ wrong[here]) - errors[size, fold]
    return float(lost.sum()), float(lost.std()) * np.sqrt(N_FOLDS)


def _lost_in_samples(path: list[Measure], grower: Grower, size: int) -> tuple[float, float]:
    """Errors that the choice in samples of the rows, with replacement, costs on rows that are not in them."""
    n, mass, labels = len(grower.labels), grower.prior_mass, grower.labels
    outputs = [measure.held_out for measure in path if measure.held_out is not None]
    wrong = np.array([grower.is_wrong(o, m.thresholds) for o, m in zip(outputs, path, strict=True)])
    rng = np.random.default_rng(0)
    lost = []
    for _ in range(N_SAMPLES):
        drawn = np.bincount(rng.integers(0, n, n), minlength=n)
        seen, new = np.flatnonzero(drawn), np.flatnonzero(drawn == 0)
        if not len(new):
            continue
        weight = mass[seen] * drawn[seen]
        weight /= weight.sum()
        noise = (wrong[:, seen] != wrong[0, seen]) @ (weight * grower.own_mass[seen])
        chosen = _best_size(wrong[:, seen] @ weight, noise)
        output = outputs[chosen]
        shares = np.bincount(labels[seen], weight, len(grower.masses[0])).astype(np.float64)
        if not chosen:
            output = np.tile(grower.value(shares)[grower.shown], (n, 1))
        thresholds = grower.thresholds(chosen > 0, output[seen], labels[seen], weight, shares)
        again = grower.is_wrong(output, thresholds)
        lost.append(float(mass[new] @ (again[new].astype(float) - wrong[size, new])) / mass[new].sum())
    return (float(np.mean(lost)), 0.0) if lost else (0.0, 0.0)


def _best_size(errors: Floats, noise: Floats) -> int:
    """Splits with the fewest errors; none unless that is beyond the luck of the best of many sizes.

    `noise` is the variance of what they differ by from the errors without a split.
    """
    best = best_of(-errors)
    return best if rounded(errors[0] - errors[best]) > rounded(_LUCK * np.sqrt(noise[best])) else 0
