"""Models for new groups: a grown path is validated on whole groups that its models have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
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
# Level of the test that predictions have to do with the classes of groups that were left out: below the 5 %
# that are promised, as it is that of the best of many stages.
_LEVEL = 0.005


class Grown(NamedTuple):
    """What a learner has grown and not yet kept."""

    n_steps: int
    n_kept: int  # the number of steps that the learner keeps by itself
    chooses: bool  # whether that number is chosen by what the steps are worth, or all are kept
    keep: Callable[[int, Validated | None], None]  # sets what is learned from the first steps
    is_evident: bool = False  # whether groups were evidence for the first step, at a level


class Validated(NamedTuple):
    """What groups that were left out say of the stages of a path."""

    errors: Floats  # on new groups, of each stage
    kept_within: tuple[int, ...]  # stage that is kept if there are at most 0, 1, 2, … steps
    n_steps: int
    error: float  # on new groups, of the model of this number of steps
    interval: tuple[float, float]
    losses: Floats  # of each group, of the stage that was chosen without it
    size: Floats  # rows of each group

    def is_better_than(self, other: Validated) -> bool:
        """Whether this has fewer errors, by more than one standard error of the difference by groups."""
        fewer = _spread(other.losses - self.losses, self.size)
        return bool(rounded(fewer.error) > rounded(fewer.deviation))


def validate(
    learner: Any,
    grown: Grown,
    X: Any,
    y: NDArray[Any],
    sample_weight: ArrayLike | None,
    groups: Ints,
    *,
    is_told: bool = True,
) -> Validated:
    """Choose the number of steps, and estimate its error, by models that were grown without some groups.

    Of each part of the groups in turn, the losses are those of all stages of a model that was grown without
    it. The first stage is kept that is within one standard error, by groups, of the best; none where groups
    are no evidence of a signal, or the largest class errs less. The error of that stage is the larger of two:
    its own in all parts, and in each part that of the stage which the other parts choose. A learner that is
    not told the groups grows as rows alone would have it.
    """
    weight = np.broadcast_to(1.0 if sample_weight is None else np.asarray(sample_weight, np.float64), len(y))
    rows = np.flatnonzero(weight)  # copies of a row belong to its group
    weight, group = weight[rows], np.unique(groups[rows], return_inverse=True)[1]
    n_groups = int(group.max()) + 1
    if n_groups < 2:
        raise ValueError("all rows are of one group: no other is there to learn from")
    seed = learner.random_state
    seed = 0 if seed is None else int(check_random_state(seed).randint(2**31))
    n_folds = min(_N_FOLDS if len(rows) <= _MANY_ROWS else _N_FOLDS_OF_MANY, n_groups)
    fold = _folds.dealt(len(rows), n_folds, np.random.default_rng(seed), labels=y[rows], groups=group)
    losses, last = np.zeros((grown.n_steps + 1, n_groups)), np.zeros(n_groups)
    n_reached = np.zeros(n_groups, np.int64)  # steps of the model that did not see the group
    models: list[Any] = []
    for one in range(n_folds if grown.n_steps else 0):  # to guess, nothing was learned but the largest class
        train, test = rows[fold != one], rows[fold == one]
        model = clone(learner).set_params(random_state=seed)
        times = None if sample_weight is None else weight[fold != one]
        model.grow(take_rows(X, train), y[train], times, groups[train] if is_told else None)
        n_steps = len(model.stage_sizes_) - 1
        n_reached[group[fold == one]] = n_steps
        stages = np.minimum(range(grown.n_steps + 1), n_steps)
        predicted = model.staged_predict(take_rows(X, test), [*np.unique(stages), n_steps])
        wrong = _sums(predicted != y[test], group[fold == one], weight[fold == one], n_groups)
        models.append(model)
        losses += wrong[stages]
        last += wrong[-1]
    trained = _sums(learner.staged_predict(take_rows(X, rows)) != y[rows], group, weight, n_groups)
    of_group = np.zeros((n_groups, len(learner.classes_)))
    np.add.at(of_group, (group, np.searchsorted(learner.classes_, y[rows])), weight)
    part = np.zeros(n_groups, np.int64)
    part[group] = fold
    judge = _Judge(losses, trained, n_reached, of_group, part)
    if grown.n_steps and not grown.chooses:
        return judge.verdict(range(grown.n_steps + 1), last)
    is_evident, said = grown.is_evident, np.empty(len(rows), y.dtype)
    if grown.n_steps and not is_evident:
        for one, model in enumerate(models):
            said[fold == one] = model.staged_predict(take_rows(X, rows[fold == one]), [judge.best])[0]
        is_evident = agrees(said, y[rows], weight, group)
    kept = judge.choices(slice(None)) if grown.n_steps and is_evident else [0] * (grown.n_steps + 1)
    return judge.verdict(kept, judge.nested() if kept[-1] else None)


def agrees(said: NDArray[Any], true: NDArray[Any], weight: Floats, group: Ints) -> bool:
    """Whether predictions for groups that were left out have to do with their classes: Student's test.

    The units are the groups. What each adds is the sum over its rows of the product of the one-hot
    prediction and class, both less their means: to guess adds nothing, whatever the class of the group is.
    """
    classes, codes = np.unique(np.concatenate([said, true]), return_inverse=True)
    first, second = codes.reshape(2, -1)
    shares = [np.bincount(one, weight, len(classes)) / weight.sum() for one in (first, second)]
    product = (first == second) - shares[0][second] - shares[1][first] + shares[0] @ shares[1]
    sums, size = np.bincount(group, weight * product), np.bincount(group, weight)
    units = size.sum() ** 2 / float(size @ size)
    clearly = float(stdtrit(max(units - 1, 1e-3), 1 - _LEVEL)) * sums.std(ddof=1) * np.sqrt(len(sums))
    return bool(rounded(sums.sum(), size.sum()) > rounded(clearly, size.sum()))


def _sums(wrong: NDArray[Any], group: Ints, weight: Floats, n_groups: int) -> Floats:
    """Weight of the rows that are wrong, by stage and group."""
    return np.array([np.bincount(group, weight * stage, n_groups) for stage in wrong])


@dataclass(frozen=True, eq=False)
class _Judge:
    """Losses of the stages in the groups, and what they say."""

    losses: Floats  # (stages, groups), of models that did not see the group
    trained: Floats  # the same of the model of all rows
    n_reached: Ints  # steps of the model that did not see the group
    of_group: Floats  # rows of each group and class
    fold: Ints

    @cached_property
    def size(self) -> Floats:
        """Rows of each group."""
        return np.asarray(self.of_group.sum(axis=1))

    def choices(self, groups: Any) -> list[int]:
        """Stage to keep of the first 1, 2, 3, … stages, by the losses in some groups.

        Without a group the largest class may be another, just where the group is of this one. So what the
        steps are compared with is the largest class of all rows, which makes none look better than it is.
        """
        tested = np.vstack([self.trained[:1], self.losses[1:]])
        return choices(tested[:, groups], self.size[groups])

    @property
    def best(self) -> int:
        """Stage with the fewest errors, but that of guessing."""
        return 1 + best_of(-self.losses[1:].sum(axis=1), self.size.sum())

    def nested(self) -> Floats:
        """Losses in each fold of the stage that the other folds choose."""
        found = np.empty(len(self.size))
        for one in np.unique(self.fold):
            here = self.fold == one
            found[here] = self.losses[self.choices(~here)[-1], here]
        return found

    def verdict(self, kept: Sequence[int], nested: Floats | None = None) -> Validated:
        """Error of the last stage of `kept`, whose choice has the losses `nested` if it is not to guess."""
        stage, errors = kept[-1], self.losses.sum(axis=1) / self.size.sum()
        errors[0] = _guessing_error(self.of_group)
        if nested is None:
            spreads = [_spread(self.trained[0], self.size, error=error) for error in (None, float(errors[0]))]
        else:
            # A model that ends earlier tells what may happen, but is none like this.
            alike = np.where(self.n_reached >= stage, self.losses[stage], self.trained[stage])
            # The models of the folds share most of their groups, and differ from that of all rows (Nadeau &
            # Bengio 2003).
            n_folds = len(np.unique(self.fold))
            variance = 1 + n_folds / (n_folds - 1)
            spreads = [_spread(loss, self.size, variance) for loss in (alike, self.losses[stage], nested)]
        errors[stage] = max(spread.error for spread in spreads[1:])
        losses = self.trained[0] if nested is None else nested
        low, high = zip(*(spread.error_interval(0.95) for spread in spreads), strict=True)
        ends = min(low), max(high)
        return Validated(errors, tuple(kept), stage, float(errors[stage]), ends, losses, self.size)


def choices(losses: Floats, size: Floats) -> list[int]:
    """Stage to keep of the first 1, 2, 3, … stages, given the losses (stages × groups) and rows of groups.

    The first that is better than no step and within one standard error, by groups, of the best.
    """
    total = losses.sum(axis=1) / size.sum()
    kept, of_best = [], {0: 0}
    for n_stages in range(1, len(losses) + 1):
        best = best_of(-total[:n_stages])
        for stage in () if best in of_best else range(1, best + 1):
            more = _spread(losses[stage] - losses[best], size)
            if rounded(total[stage]) < rounded(total[0]) and rounded(more.error) <= rounded(more.deviation):
                of_best[best] = stage
                break
        kept.append(of_best[best])
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
