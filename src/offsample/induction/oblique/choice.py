"""How many splits to keep, and the error to expect of the tree that was chosen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offsample._ties import best_of, rounded
from offsample._typing import Floats
from offsample.induction.oblique.grower import Growth
from offsample.induction.oblique.rows import N_FOLDS, Sample
from offsample.induction.oblique.thresholds import Decision, predicted, tuned_thresholds
from offsample.induction.path import score_interval

# Standard errors by which splits must be better than none: chance reaches it once in a hundred, for one size.
_MARGIN = 2.33
# Bootstrap samples in which the size is chosen again.
N_SAMPLES = 50


class Choice(NamedTuple):
    """A tree of the path, with the error to expect on new rows and a 95 % interval for it."""

    n_splits: int
    error: float
    interval: tuple[float, float]


def choose(growth: Growth, sample: Sample, decision: Decision) -> Choice:
    """Choose the splits with the fewest estimated errors; all of them if no error was estimated.

    As the least of many estimates is too small, size and thresholds are chosen again without some of the
    rows, and what that costs on these rows is added.
    """
    path = growth.path
    if growth.best_output is None:
        return Choice(len(path) - 1, np.nan, (np.nan, np.nan))
    size = _best_size(
        np.array([measure.estimated_errors.sum() for measure in path]),
        np.array([measure.noise.sum() for measure in path]),
    )
    naive = least = float(path[size].estimated_errors.sum())
    if path[size].held_out is not None:
        lost, spread = _lost_in_samples(growth, size, sample, decision), 0.0
    else:
        lost, spread = _lost_in_folds(growth, size, sample, decision)
        least = min(naive, path[size].training_error)  # the part of a row in its output is an approximation
    error = float(np.clip(naive + max(lost, 0.0), 0.0, 1.0))
    interval = score_interval(least, min(1.0, error + spread), max(1, round(sample.n_rows)))
    return Choice(size, error, interval)


def _lost_in_folds(growth: Growth, size: int, sample: Sample, decision: Decision) -> tuple[float, float]:
    """Errors that choosing without each fold in turn costs there, and their standard error."""
    assert growth.best_output is not None
    errors = np.array([measure.estimated_errors for measure in growth.path])
    noise = np.array([measure.noise for measure in growth.path])
    total, total_noise = errors.sum(axis=1), noise.sum(axis=1)
    share = np.bincount(sample.folds, sample.mass, N_FOLDS)
    lost = np.zeros(N_FOLDS)
    for fold in np.flatnonzero((share > 0) & (share < 1)):
        rest = 1 - share[fold]
        chosen = _best_size((total - errors[:, fold]) / rest, (total_noise - noise[:, fold]) / rest**2)
        lost[fold] = errors[chosen, fold] - errors[size, fold]
        if size and decision.is_tuned:
            seen = sample.tuned[sample.folds[sample.tuned] != fold]
            thresholds = tuned_thresholds(
                growth.best_output[seen], sample.labels[seen], sample.mass[seen], sample.shares
            )
            here = sample.folds == fold
            wrong = predicted(growth.best_output[here], thresholds) != sample.labels[here]
            lost[fold] += float(sample.mass[here] @ wrong) - errors[size, fold]
    return float(lost.sum()), float(lost.std()) * np.sqrt(N_FOLDS)


def _lost_in_samples(growth: Growth, size: int, sample: Sample, decision: Decision) -> float:
    """Errors that choosing in bootstrap samples costs on the rows that are not in them, on average."""
    n, mass, labels = len(sample.mass), sample.mass, sample.labels
    outputs = [measure.held_out for measure in growth.path if measure.held_out is not None]
    pairs = zip(outputs, growth.path, strict=True)
    wrong = np.array([predicted(output, measure.thresholds) != labels for output, measure in pairs])
    rng = np.random.default_rng(0)
    lost = []
    for _ in range(N_SAMPLES):
        drawn = np.bincount(rng.integers(0, n, n), minlength=n)
        seen, new = np.flatnonzero(drawn), np.flatnonzero(drawn == 0)
        if not len(new):
            continue
        weight = mass[seen] * drawn[seen]
        weight /= weight.sum()
        noise = (wrong[:, seen] != wrong[0, seen]) @ (weight * sample.own_mass[seen])
        chosen = _best_size(wrong[:, seen] @ weight, noise)
        shares = np.bincount(labels[seen], weight, len(sample.shares)).astype(np.float64)
        output = outputs[chosen] if chosen else np.tile(decision.value(shares)[sample.shown], (n, 1))
        tuned = decision.thresholds(chosen > 0, output[seen], labels[seen], weight, shares)
        again = predicted(output[new], tuned) != labels[new]
        lost.append(float(mass[new] @ (again.astype(float) - wrong[size, new])) / mass[new].sum())
    return float(np.mean(lost)) if lost else 0.0


def _best_size(errors: Floats, noise: Floats) -> int:
    """Number of splits with the fewest errors; 0 unless chance, by the variance `noise`, explains fewer."""
    best = best_of(-errors)
    return best if rounded(errors[0] - errors[best]) > rounded(_MARGIN * np.sqrt(noise[best])) else 0
