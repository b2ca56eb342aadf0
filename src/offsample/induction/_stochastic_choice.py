"""How many splits to keep, and the error to expect of what was chosen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample.induction._path import score_interval
from offsample.induction._stochastic_cells import N_FOLDS, Grower, Measure

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

    Size and thresholds are chosen again without each fold in turn. What the choice costs in the fold that it
    has not seen is what the estimate is too small by.
    """
    if not grower.look_ahead:
        return Choice(len(path) - 1, np.nan, (np.nan, np.nan))
    errors = np.array([measure.estimated_errors for measure in path])
    total = errors.sum(axis=1)
    n_rows = 1 / float(grower.prior_mass @ grower.own_mass)
    size = _best_size(total, n_rows)
    share = np.bincount(grower.folds, grower.prior_mass, N_FOLDS)
    left_out = np.flatnonzero((share > 0) & (share < 1))
    is_tuned = bool(size) and isinstance(grower.threshold, str) and grower.threshold == "tuned"
    unseen = np.zeros(N_FOLDS)
    for fold in left_out:
        rest = 1 - share[fold]
        chosen = _best_size((total - errors[:, fold]) / rest, n_rows * rest)
        unseen[fold] = errors[chosen, fold] - errors[size, fold]
        if is_tuned:
            wrong = grower.is_wrong(grower.best_output, grower.thresholds_without(int(fold)))
            here = grower.folds == fold
            unseen[fold] += float(grower.prior_mass[here] @ wrong[here]) - errors[size, fold]
    naive = float(total[size])
    error = float(np.clip(naive + max(unseen.sum(), 0.0), 0.0, 1.0))
    # What was added is itself known only so well.
    high = min(1.0, error + float(unseen.std()) * np.sqrt(N_FOLDS))
    low, _ = score_interval(naive, naive, max(1, round(n_rows)))
    return Choice(size, error, (low, score_interval(high, high, max(1, round(n_rows)))[1]))


def _best_size(errors: Floats, n_rows: float) -> int:
    """Splits with the fewest errors; none unless that is beyond the luck of the best of many sizes.

    The errors of two predictions of a row differ with a probability of at most the sum of both.
    """
    errors = np.round(errors, 9)
    best = int(np.argmin(errors))
    beyond = errors[0] - errors[best] > 2 * np.sqrt((errors[0] + errors[best]) / n_rows)
    return best if beyond else 0
