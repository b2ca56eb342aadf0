"""Models for new groups: a grown path is validated on whole groups that its models have not seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit
from sklearn.base import clone
from sklearn.utils import check_random_state

from offsample import _folds
from offsample._ties import best_of, rounded
from offsample._typing import Floats, Ints
from offsample._unit_intervals import Spread
from offsample.tables import take_rows

# A learner is grown without each of this many parts of the groups; without fewer parts where rows are many.
_N_FOLDS, _N_FOLDS_OF_MANY, _MANY_ROWS = 10, 5, 20_000
# Probability of a step where none helps on new groups.
_LEVEL = 0.03


class Grown(NamedTuple):
    """What a learner has grown and not yet kept."""

    n_steps: int
    n_kept: int  # the number of steps that the learner keeps by itself
    chooses: bool  # whether that number is chosen by what the steps are worth, or all are kept
    keep: Callable[[int, Validated | None], None]  # sets what is learned from the first steps


class Validated(NamedTuple):
    """What groups that were left out say of the stages of a path."""

    errors: Floats  # on new groups, of each stage
    kept_within: tuple[int, ...]  # stage that is kept if there are at most 0, 1, 2, … steps
    n_steps: int
    error: float  # on new groups, of the model of this number of steps
    interval: tuple[float, float]


def validate(
    learner: Any,
    grown: Grown,
    X: Any,
    y: NDArray[Any],
    sample_weight: ArrayLike | None,
    groups: Ints,
) -> Validated:
    """Choose the number of steps, and estimate its error, by models that were grown without some groups.

    Of each part of the groups in turn, the losses are those of all stages of a model that was grown without
    it. The first stage is kept that is within one standard error, by groups, of the best; none unless it is
    clearly better than the largest class. The error of the stage so chosen is the larger of two: its own in
    all parts, and in each part that of the stage which the other parts choose.
    """
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    rows = np.flatnonzero(np.broadcast_to(weight, len(y)))  # copies of a row belong to its group
    weight, group = np.broadcast_to(weight, len(y))[rows], np.unique(groups[rows], return_inverse=True)[1]
    n_groups = int(group.max()) + 1
    if n_groups < 2:
        raise ValueError("all rows are of one group: no other is there to learn from")
    seed = learner.random_state
    seed = 0 if seed is None else int(check_random_state(seed).randint(2**31))
    n_folds = min(_N_FOLDS if len(rows) <= _MANY_ROWS else _N_FOLDS_OF_MANY, n_groups)
    fold = _folds.dealt(len(rows), n_folds, np.random.default_rng(seed), labels=y[rows], groups=group)
    losses, last = np.zeros((grown.n_steps + 1, n_groups)), np.zeros(n_groups)
    for one in range(n_folds if grown.n_steps else 0):  # to guess, nothing was learned but the largest class
        train, test = rows[fold != one], rows[fold == one]
        model = clone(learner).set_params(random_state=seed)
        times = None if sample_weight is None else weight[fold != one]
        model.grow(take_rows(X, train), y[train], times, groups[train])
        stages = range(min(grown.n_steps, len(model.stage_sizes_) - 1) + 1)
        predicted = model.staged_predict(take_rows(X, test), [*stages, len(model.stage_sizes_) - 1])
        here, of_row = group[fold == one], weight[fold == one]
        wrong = [np.bincount(here, of_row * (stage != y[test]), n_groups) for stage in predicted]
        last += wrong.pop()
        losses[: len(stages)] += wrong
        losses[len(stages) :] += wrong[-1]
    of_group = np.zeros((n_groups, len(learner.classes_)))
    np.add.at(of_group, (group, np.searchsorted(learner.classes_, y[rows])), weight)
    part = np.zeros(n_groups, np.int64)
    part[group] = fold
    return _judged(losses, last if not grown.chooses else None, of_group, part, n_folds)


def _judged(losses: Floats, last: Floats | None, of_group: Floats, fold: Ints, n_folds: int) -> Validated:
    """Make a choice from the losses (stages × groups); or keep all steps, whose models lost `last`."""
    size, guess = of_group.sum(axis=1), of_group.sum(axis=0).argmax()
    n_rows = size.sum()
    # Without a group the largest class may be another, just where the group is of this one: so the class is
    # that of all rows, which makes no step look better than it is.
    without = size - of_group[:, guess]
    tested = np.vstack([without, losses[1:]])
    kept_within = choices(tested, size)
    chosen = kept_within[-1] if last is None else len(losses) - 1
    errors = losses.sum(axis=1) / n_rows
    errors[0] = _guessing_error(of_group)
    if chosen == 0:
        low, high = _spread(without, size).error_interval(0.95)
        higher = _spread(without, size, error=errors[0]).error_interval(0.95)[1]
        return Validated(errors, tuple(kept_within), 0, float(errors[0]), (low, max(high, higher)))
    naive, nested = losses[chosen], last
    if nested is None:
        nested = np.empty(len(size))
        for one in range(n_folds):
            others = fold != one
            stage = choices(tested[:, others], size[others])[-1]
            nested[~others] = losses[stage, ~others]
    # The models of the folds share most of their groups, and differ from the one of all rows (Nadeau & Bengio
    # 2003).
    variance = 1 + n_folds / (n_folds - 1)
    spreads = [_spread(loss, size, variance) for loss in (naive, nested)]
    errors[chosen] = error = max(spread.error for spread in spreads)
    ends = [spread.error_interval(0.95) for spread in spreads]
    kept = tuple(kept_within) if last is None else tuple(range(len(losses)))
    return Validated(errors, kept, chosen, error, (ends[0][0], max(high for _, high in ends)))


def choices(losses: Floats, size: Floats) -> list[int]:
    """Stage to keep of the first 1, 2, 3, … stages, given the losses (stages × groups) and rows of groups."""
    n_rows = size.sum()
    total = losses.sum(axis=1) / n_rows
    own = (1 - size / n_rows) ** -2.0  # a group has a part in the mean
    products, sizes = (losses * own) @ losses.T, losses @ (own * size)
    units = n_rows**2 / (size @ size)
    clearly = float(stdtrit(max(units - 1, 1e-3), 1 - _LEVEL))

    def deviation(stages: Any, other: int) -> Floats:
        """Standard errors of the differences of mean losses."""
        mean = total[stages] - total[other]
        squares = products.diagonal()[stages] - 2 * products[stages, other] + products[other, other]
        squares = squares - 2 * mean * (sizes[stages] - sizes[other]) + mean**2 * (own @ size**2)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)) / n_rows)

    every = np.arange(len(losses))
    is_better = rounded(total[0] - total) > rounded(clearly * deviation(every, 0))
    kept = []
    for n_stages in range(1, len(losses) + 1):
        best = best_of(-total[:n_stages])
        as_good = rounded(total - total[best]) <= rounded(deviation(every, best))
        kept.append(int((as_good & is_better)[: best + 1].argmax()) if is_better[best] else 0)
    return kept


def _spread(losses: Floats, size: Floats, variance: float = 1.0, error: float | None = None) -> Spread:
    """How far a mean loss may be from that on new groups; `variance` is in units of independent groups."""
    n_rows = float(size.sum())
    mean = float(losses.sum()) / n_rows
    beyond = (losses - mean * size) / (1 - size / n_rows)
    return Spread(
        error=mean if error is None else error,
        deviation=float(np.sqrt(variance * (beyond @ beyond))) / n_rows,
        gain=0.0,
        gain_deviation=0.0,
        n_units=len(size),
        effective_units=n_rows**2 / float(size @ size),
    )


def _guessing_error(of_group: Floats) -> float:
    """Error on new groups of the largest class, given the rows of each group and class.

    The training error and what it is too small by, as in `scoring.majority_terms`, where the standard
    deviation of the lead over the second class is that by groups.
    """
    total, size = of_group.sum(axis=0), of_group.sum(axis=1)
    n_rows = float(size.sum())
    if len(total) == 1:
        return 0.0
    second, first = np.argsort(total, kind="stable")[-2:]
    lead = of_group[:, first] - of_group[:, second]
    s = _spread(lead, size).deviation
    mean = float(lead.sum()) / n_rows
    error = 1 - float(total[first]) / n_rows
    if s <= 0:
        return error
    more = np.sqrt(5) * s * np.exp(-2 * (mean / s) ** 2) / np.sqrt(2 * np.pi)
    return float(min(error + more, max(error, 1 - 1 / len(total))))
