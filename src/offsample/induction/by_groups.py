"""Models for new groups: a grown path is validated on whole groups that its models have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from offsample import _folds
from offsample._proportions import lower_end
from offsample._ties import best_of, rounded
from offsample._typing import Floats, Ints
from offsample._unit_intervals import spread_of_units, student
from offsample.tables import take_rows

# A learner is grown without each of this many parts of the groups; without fewer parts where rows are many.
_N_FOLDS, _N_FOLDS_OF_MANY, _MANY_ROWS = 10, 5, 20_000
# Level of the test that predictions have to do with the classes of groups that were left out: below the 5 %
# that are promised, as it is that of the best of many stages.
_LEVEL = 0.005
_MOST_NUMBERS = 1 << 23  # probabilities that are held at once


class Grown(NamedTuple):
    """What a learner has grown and not yet kept."""

    n_steps: int
    n_kept: int  # the number of steps that the learner keeps by itself
    chooses: bool  # whether that number is chosen by what the steps are worth, or all are kept
    keep: Callable[[int, Validated | None], None]  # sets what is learned from the first steps
    is_evident: bool = False  # whether groups were evidence for the first step, at a level
    by_loss: bool = False  # whether it is chosen by the first of the losses that the learner reports


class Validated(NamedTuple):
    """What groups that were left out say of the stages of a path."""

    errors: Floats  # on new groups, of each stage
    kept_within: tuple[int, ...]  # stage that is kept if there are at most 0, 1, 2, … steps
    n_steps: int
    error: float  # on new groups, of the model of this number of steps
    interval: tuple[float, float]
    losses: Floats  # of each group, of the stage that was chosen without it
    size: Floats  # rows of each group
    also: tuple[tuple[float, tuple[float, float]], ...] = ()  # other losses that the learner reports

    def is_better_than(self, other: Validated) -> bool:
        """Whether this has fewer errors, by more than one standard error of the difference by groups."""
        fewer = spread_of_units(other.losses - self.losses, self.size)
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
    n_kinds = 1 + len(learner._reported)  # of losses: first the errors of the class that is most probable
    losses, last = np.zeros((n_kinds, grown.n_steps + 1, n_groups)), np.zeros((n_kinds, n_groups))
    n_reached = np.zeros(n_groups, np.int64)  # steps of the model that did not see the group
    models: list[Any] = []
    for one in range(n_folds if grown.n_steps else 0):  # to guess, nothing was learned but the largest class
        train, test = rows[fold != one], rows[fold == one]
        model = grown_alike(learner, seed)
        times = None if sample_weight is None else weight[fold != one]
        model.grow(take_rows(X, train), y[train], times, groups[train] if is_told else None)
        n_steps = len(model.stage_sizes_) - 1
        n_reached[group[fold == one]] = n_steps
        stages = np.minimum(range(grown.n_steps + 1), n_steps)
        wanted = [*np.unique(stages), n_steps]
        for kind, lost in enumerate(staged_losses(learner, model, take_rows(X, test), y[test], wanted)):
            of_group = _sums(lost, group[fold == one], weight[fold == one], n_groups)
            losses[kind] += of_group[stages]
            last[kind] += of_group[-1]
        models.append(model)
    trained = [
        _sums(lost, group, weight, n_groups)
        for lost in staged_losses(learner, learner, take_rows(X, rows), y[rows], range(grown.n_steps + 1))
    ]
    of_group = class_counts(group, np.searchsorted(learner.classes_, y[rows]), len(learner.classes_), weight)
    part = np.zeros(n_groups, np.int64)
    part[group] = fold
    judges = [_Judge(*known, n_reached, of_group, part) for known in zip(losses, trained, strict=True)]
    judge = judges[judged_by(learner, grown)]

    def as_one(stage: int) -> float:
        """Share of the groups all of whose rows a stage says the same of."""
        said = learner.staged_predict(take_rows(X, rows), [stage])[0]
        first = said[np.unique(group, return_index=True)[1]]
        return 1 - len(np.unique(group[said != first[group]])) / n_groups

    if grown.n_steps and not grown.chooses:
        every = range(grown.n_steps + 1)
        found = judges[0].verdict(every, last[0], as_one(every[-1]))
        return found._replace(also=_also(learner, judges, every[-1], last))
    is_evident, said = grown.is_evident, np.empty(len(rows), y.dtype)
    if grown.n_steps and not is_evident:
        for one, model in enumerate(models):
            said[fold == one] = model.staged_predict(take_rows(X, rows[fold == one]), [judge.best])[0]
        is_evident = agrees(said, y[rows], weight, group, 1.0 if is_told else judge.variance)
    kept = judge.choices(slice(None)) if grown.n_steps and is_evident else [0] * (grown.n_steps + 1)
    if not kept[-1]:
        return judges[0].verdict(kept)._replace(also=_also(learner, judges, 0))
    stage = judge.nested()
    nested = np.array([one.losses[stage, np.arange(n_groups)] for one in judges])
    found = judges[0].verdict(kept, nested[0], as_one(kept[-1]))
    found = found if learner._costs is None else found._replace(losses=nested[-1])
    return found._replace(also=_also(learner, judges, kept[-1], nested))


def grown_alike(learner: Any, seed: int) -> Any:
    """Return a learner for some of the rows, who may lack a class: what mistakes cost is as for all."""
    model = clone(learner).set_params(random_state=seed)
    if learner._costs is not None:
        model._told_costs = learner.classes_, learner._costs
    return model


def judged_by(learner: Any, grown: Grown) -> int:
    """Return the number of the losses that a stage is chosen by: with costs, the last, what it costs."""
    return -1 if learner._costs is not None else int(grown.by_loss)


def staged_losses(
    learner: Any, model: Any, X: Any, y: NDArray[Any], stages: Sequence[int]
) -> list[NDArray[Any]]:
    """Errors of a model's stages on rows, (stages, rows), and the other losses that the learner reports."""
    found: list[NDArray[Any]] = [model.staged_predict(X, stages) != y]
    if not learner._reported:
        return found
    label, n_classes = np.searchsorted(learner.classes_, y), len(learner.classes_)
    n_at_once, parts = max(1, _MOST_NUMBERS // (len(y) * n_classes)), []
    for start in range(0, len(stages), n_at_once):
        known = model.staged_predict_proba(X, stages[start : start + n_at_once])
        # A class that a model has not seen is not impossible.
        value = np.full((*known.shape[:2], n_classes), 0.5 / (1 + len(y)))
        value[..., np.searchsorted(learner.classes_, model.classes_)] = known
        value /= value.sum(axis=2, keepdims=True)
        parts.append([losses(value)[:, np.arange(len(y)), label] for losses in learner._reported])
    return found + [np.concatenate(kind) for kind in zip(*parts, strict=True)]


def _also(
    learner: Any, judges: Sequence[_Judge], stage: int, nested: Floats | None = None
) -> tuple[tuple[float, tuple[float, float]], ...]:
    """Other losses of a stage, whose choice has the losses `nested` if it is not to guess, with intervals."""
    found, costs = [], learner._costs
    ends_of = [(0.0, np.inf)] * len(learner._reported)
    if costs is not None:  # errors, then costs
        ends_of[-2:] = [(0.0, 1.0), (float(costs.min()), float(costs.max()))]
    for kind, losses in enumerate(learner._reported, start=1):
        judge, of_group = judges[kind], judges[kind].of_group
        if nested is None:  # the shares of the classes in the other groups
            others = of_group.sum(axis=0) - of_group
            shares = (others + 1 / others.shape[1]) / (others.sum(axis=1, keepdims=True) + 1)
            spreads = [spread_of_units((of_group * losses(shares)).sum(axis=1), judge.size)]
        else:
            spreads = [
                spread_of_units(lost, judge.size, judge.variance)
                for lost in (judge.losses[stage], nested[kind])
            ]
        ends = [(one.error, student(0.975, one.effective_units) * one.deviation) for one in spreads]
        least, most = ends_of[kind - 1]
        low = min(lower_end(error, radius, least) for error, radius in ends)
        high = min(most, max(sum(end) for end in ends))
        found.append((max(one.error for one in spreads), (low, high)))
    return tuple(found)


def agrees(
    said: NDArray[Any], true: NDArray[Any], weight: Floats, group: Ints, variance: float = 1.0
) -> bool:
    """Whether predictions for groups that were left out have to do with their classes: Student's test.

    The units are the groups. What each adds is the sum over its rows of the product of the one-hot
    prediction and class, both less their means: to guess adds nothing, whatever the class of the group is.
    Models of folds share most of their groups, so that what these add varies together: by so many times the
    `variance` of independent ones. Without it one table of noise in ten has a tree that was grown by rows,
    with 20 groups; oblique trees, which are told the groups, keep noise out without it, and miss with it what
    30 groups show.
    """
    classes, codes = np.unique(np.concatenate([said, true]), return_inverse=True)
    first, second = codes.reshape(2, -1)
    shares = [np.bincount(one, weight, len(classes)) / weight.sum() for one in (first, second)]
    product = (first == second) - shares[0][second] - shares[1][first] + shares[0] @ shares[1]
    sums, size = np.bincount(group, weight * product), np.bincount(group, weight)
    units = size.sum() ** 2 / float(size @ size)
    clearly = student(1 - _LEVEL, units) * sums.std(ddof=1) * np.sqrt(variance * len(sums))
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

    def nested(self) -> Ints:
        """Stage that the other folds choose, for each group."""
        found = np.empty(len(self.size), np.int64)
        for one in np.unique(self.fold):
            here = self.fold == one
            found[here] = self.choices(~here)[-1]
        return found

    @property
    def variance(self) -> float:
        """In independent groups: models share most of theirs, and differ from that of all (Nadeau 2003)."""
        n_folds = len(np.unique(self.fold))
        return 1 + n_folds / (n_folds - 1)

    def verdict(self, kept: Sequence[int], nested: Floats | None = None, as_one: float = 0.0) -> Validated:
        """Error of the last stage of `kept`, whose choice has the losses `nested` if it is not to guess.

        A new group may be wrong as a whole though none was: as far as groups are predicted `as_one`, the
        upper end is not known beyond one of them.
        """
        stage, errors = kept[-1], self.losses.sum(axis=1) / self.size.sum()
        errors[0], ends = guessing(self.of_group)
        if nested is None:
            return Validated(errors, tuple(kept), stage, float(errors[0]), ends, self.trained[0], self.size)
        # A model that ends earlier tells what may happen, but is none like this.
        alike = np.where(self.n_reached >= stage, self.losses[stage], self.trained[stage])
        three = (alike, self.losses[stage], nested)
        spreads = [spread_of_units(loss, self.size, self.variance) for loss in three]
        errors[stage] = max(spread.error for spread in spreads[1:])
        wider = [
            replace(one, deviation=float(np.hypot(one.deviation, as_one / one.effective_units)))
            for one in spreads
        ]
        ends = (
            min(spread.error_interval(0.95)[0] for spread in spreads),
            max(spread.error_interval(0.95)[1] for spread in wider),
        )
        return Validated(errors, tuple(kept), stage, float(errors[stage]), ends, nested, self.size)


def chosen_by_groups(losses: Floats, said: Ints, true: Ints, group: Ints, variance: float) -> int:
    """Stage to keep, given what the stages lose and say of the rows of groups that they have not seen.

    None but the first, which guesses, where groups are no evidence that the best says more.
    """
    weight, place = np.ones(len(true)), np.unique(group, return_inverse=True)[1]
    best = 1 + best_of(-losses[1:].mean(axis=1)) if len(losses) > 1 else 0
    if not best or not agrees(said[best], true, weight, place, variance):
        return 0
    return choices(_sums(losses, place, weight, int(place.max()) + 1), np.bincount(place).astype(float))[-1]


def choices(losses: Floats, size: Floats) -> list[int]:
    """Stage to keep of the first 1, 2, 3, … stages, given the losses (stages × groups) and rows of groups.

    The first that is better than no step and within one standard error, by groups, of the best.
    """
    total = losses.sum(axis=1) / size.sum()
    kept, of_best = [], {0: 0}
    for n_stages in range(1, len(losses) + 1):
        best = best_of(-total[:n_stages])
        for stage in () if best in of_best else range(1, best + 1):  # the last of which is as good as itself
            more = spread_of_units(losses[stage] - losses[best], size)
            as_good = stage == best or rounded(more.error) <= rounded(more.deviation)
            if rounded(total[stage]) < rounded(total[0]) and as_good:
                of_best[best] = stage
                break
        kept.append(of_best[best])
    return kept


def class_counts(group: Ints, label: Ints, n_classes: int, weight: Floats | None = None) -> Floats:
    """Rows of each group and class, by codes of both; groups without rows are left out."""
    place = np.unique(group, return_inverse=True)[1]
    counts = np.zeros((int(place.max()) + 1, n_classes))
    np.add.at(counts, (place, label), 1.0 if weight is None else weight)
    return counts


def guessing(of_group: Floats) -> tuple[float, tuple[float, float]]:
    """Error on new groups of the largest class, and a 95 % interval, given the rows by group and class."""
    size, error = of_group.sum(axis=1), guessing_error(of_group)
    guess = spread_of_units(size - of_group[:, of_group.sum(axis=0).argmax()], size)
    ends = [replace(guess, error=one).error_interval(0.95) for one in (guess.error, error)]
    return error, (min(low for low, _ in ends), max(high for _, high in ends))


def guessing_error(of_group: Floats) -> float:
    """Error on new groups of the largest class, given the rows of each group and class.

    Its training error, if it leads the second class by two standard errors of the lead, by groups. Else
    another may be the largest of new groups, and it is the error of guessing by the shares of the classes in
    the other groups: right on average where the classes are equally frequent, and too large elsewhere.
    """
    total, size = of_group.sum(axis=0), of_group.sum(axis=1)
    error = 1 - float(total.max()) / float(size.sum())
    if len(total) == 1:
        return error
    second, first = np.argsort(total, kind="stable")[-2:]
    lead = spread_of_units(of_group[:, first] - of_group[:, second], size)
    if rounded(lead.error) > rounded(2 * lead.deviation):
        return error
    right = of_group * (total - of_group) / (size.sum() - size)[:, None]
    return max(error, 1 - float(right.sum() / size.sum()))
