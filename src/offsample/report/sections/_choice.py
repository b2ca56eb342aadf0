"""Which model to recommend: the tree of the size that is as good as any, or another kind that is better."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from offsample._deadline import OutOfTime
from offsample._screened import evident_columns
from offsample._ties import best_of, rounded
from offsample.induction import TreeClassifier
from offsample.ranking import RankedFeature, Ranking
from offsample.report._encoded import COMPARED_ROWS
from offsample.report._estimator import at_median, half_way
from offsample.report._formats import amount
from offsample.report._metrics import Score
from offsample.report._study import Study
from offsample.report._units import standard_error
from offsample.report.sections._kinds import Kind, other_kinds, tree_kind
from offsample.report.sections._validation import (
    BEYOND_DOUBT,
    Validation,
    cross_validate,
    ends_of,
    first_as_good,
    is_better,
    left_out,
    picked,
    rated,
    say_together,
    with_choice,
)

# Left-out rows that tell whether a larger tree is better, and how many times as large it may be.
_ENOUGH_OF_LARGER = 5_000
_LARGER = 10
# Rows of a leaf of a tree that is grown for its probabilities, at least: more in larger tables.
_LEAST_ROWS, _LEAVES_AT_MOST = (5, 15), 50
# Standard errors, by groups, by which a tree that is grown by rows must be better than guessing.
_BY_ROWS = 3


@dataclass(frozen=True)
class Alternative:
    """Another model, for comparison."""

    name: str  # in words, such as "a larger tree"
    size: int
    unit: str  # what the size counts: "leaf", "rule" or "term"
    error: float  # off the sample, with its 95 % interval
    low: float
    high: float
    validated: bool = False  # or whether its error is the learner's own estimate
    text: str = ""  # the model in words, where it can be read
    score: Score | None = None  # by another metric of the report than the error, with its 95 % interval
    mean_absolute_error: Score | None = None  # of a target of numbers, with its 95 % interval


@dataclass(frozen=True, eq=False)
class Choice:
    """The recommended model, fitted, with what is needed to describe it."""

    kind: Kind
    model: Any  # as it is shown: without splits that change no prediction
    whole: Any  # as it was grown, to the largest size
    stage: int  # after how many steps of that growth the model is as good as any
    validation: Validation | None
    features: list[Any]  # the columns that it was allowed to use
    larger: Alternative | None = None
    alternatives: tuple[Alternative, ...] = ()
    undecided: Choice | None = None  # where nothing is shown: the best that was tried, if it seems to help


def choose(study: Study, features: Sequence[Any]) -> Choice:
    """Choose the tree of the size that is as good as any that can be read, cross-validated.

    A tree for new groups is grown by what groups say or, where that is better on groups left out by more than
    one standard error, by what rows say, of which there are more; then no learner is told the groups.
    """
    told = _chosen(study, features)
    if study.told_groups is None or not study.has_time_for("a tree grown by rows"):
        return told
    untold = study.telling(None)
    rival = _chosen(untold, features)
    if rival.validation is None:
        return told
    # Groups were no evidence for its splits: it must be better than guessing beyond the best of many sizes.
    losses, guess = rival.validation.of(rival.stage), study.guess_losses
    known = guess if told.validation is None else told.validation.of(told.stage)
    for other, n_errors in ((known, 1), (guess, _BY_ROWS)):
        fewer = other.astype(float) - losses
        if rounded(fewer.mean()) <= rounded(n_errors * standard_error(fewer, study.units)):
            return told
    study.told_groups = None
    return rival


def _chosen(study: Study, features: Sequence[Any]) -> Choice:
    """Choose the size of the tree that learners grow with what they are told."""
    kind, X = tree_kind(study), study.columns(features)
    is_evident = any(f.significant for f in _among(study.ranking, features))
    if study.metric.is_error or not is_evident:
        with study.deadline(keep_part=True):
            whole = study.fitted(kind.of_size(study.max_size), X, whole=True)
        is_evident = is_evident or bool(whole.n_splits_)
    if not study.metric.is_error:
        # That there is something to find is tested; how much of it to use, rows held back say.
        least = int(np.clip(len(study.y) // _LEAVES_AT_MOST, *_LEAST_ROWS))
        grown_by = {"stopping": "none", "min_samples_leaf": least, **study.grown_by}
        kind = replace(kind, learner=kind.learner.set_params(**grown_by))
        with study.deadline(keep_part=True):
            whole = study.fitted(kind.of_size(study.max_size), X, whole=True)
    if study.is_out_of_time:
        study.leave_out("splits of the tree")
    validation = cross_validate(study, kind, [features] * len(study.folds)) if whole.n_splits_ else None
    if validation is None or study.metric.prefers_small:
        stage = _as_good(study, whole, validation)
    else:
        evident = _evident(study, features)
        rival = cross_validate(study, kind, evident[1:]) if evident else None
        tried = [validation] if rival is None else [rival, validation]
        which, stage = picked(study, tried)
        validation = with_choice(study, tried, which, stage)
        if tried[which] is rival:
            X = study.columns(evident[0])
            with study.deadline(keep_part=True):
                whole = study.fitted(kind.of_size(study.max_size), X, whole=True)
    tree, undecided = whole, 0
    if validation is not None and not study.metric.is_error:
        lost = validation.of(stage)
        is_evident = is_evident or is_better(study.guess_losses, lost, study, BEYOND_DOUBT)
        is_evident = is_evident or (bool(stage) and say_together(study, features))
        stage = min(stage, whole.n_splits_)
        own, guess = lost.mean(), study.guess_losses.mean()
        if study.guess_name == "the median":
            said = rated(study, validation, stage)
            own, guess = said.mean_absolute_error().value, said.blind_error
        if not is_evident or rounded(own) >= rounded(guess):
            is_unshown = study.task != "regression" and rounded(own) < rounded(guess)
            undecided, stage = stage if is_unshown and not study.metric.is_of_decisions else 0, 0
    if stage < whole.n_splits_ and study.is_out_of_time:
        stage = whole.n_splits_  # no time to grow it again
    elif stage < whole.n_splits_:
        with study.deadline(keep_part=True):
            tree = study.fitted(kind.of_size(stage + 1), X, whole=True)
    choice = Choice(kind, shown_of(study, tree), whole, stage, validation, list(features))
    if undecided and not study.is_out_of_time:
        tree = half_way(study.fitted(kind.of_size(undecided + 1), X, whole=True).without_idle_splits())
        choice = replace(choice, undecided=replace(choice, model=tree, stage=undecided))
    if whole.n_splits_ + 1 < study.max_size or study.options.fast:
        return choice
    return replace(choice, larger=_larger(study, choice))


def _evident(study: Study, features: Sequence[Any]) -> list[list[Any]]:
    """Name the columns that have evidence of their own, then those of each fold; none if no column or all.

    Of few rows of a class any column seems to say something: a tree of these has fewer leaves that are noise.
    """
    named = [[f.name for f in _among(study.ranking, features) if f.significant]]
    if len(named[0]) in (0, len(features)) or not study.has_time_for("columns with evidence alone"):
        return []
    X, asked, groups = study.columns(features), study.ranked_by(), study.told_groups
    for train, _ in study.folds:
        rows = study.sample_of(train, COMPARED_ROWS)
        if len(np.unique(study.labels[rows])) < len(study.classes):
            return []
        asked["group"] = None if groups is None else groups[rows]
        named.append(evident_columns(X.take(rows), study.y[rows], **asked))
    return named


def _among(ranking: Ranking, features: Collection[Any]) -> list[RankedFeature]:
    """Ranked columns that are among some."""
    wanted = frozenset(features)
    return [feature for feature in ranking if feature.name in wanted]


def shown_of(study: Study, tree: Any) -> Any:
    """Leave out splits that change no prediction or, where these count, no probability."""
    if study.guess_name == "the median" and not tree.n_splits_:
        return at_median(tree, study.y)
    return tree if study.task == "regression" else tree.without_idle_splits()


def _as_good(study: Study, tree: TreeClassifier, validation: Validation | None) -> int:
    """Return the fewest splits whose error is within one standard error of the least, compared row by row.

    Errors are those on left-out rows; without them the tree's own estimates, where trees differ on the rows
    that they predict differently.
    """
    n_stages = tree.n_splits_ + 1
    if validation is not None:
        return first_as_good(study, validation.losses[:n_stages])
    errors = np.array([step.estimated_error for step in tree.path_][:n_stages])
    best = int(best_of(-errors))
    leaves = np.flatnonzero(tree.tree_.is_leaf)
    rows = tree.tree_.counts[leaves].sum(axis=1)
    label = tree.tree_.label[tree.tree_.staged(leaves.astype(np.int32), range(n_stages))]
    for n_splits in range(best):
        differing = rows[label[n_splits] != label[best]].sum() / rows.sum()
        if rounded(errors[n_splits] - errors[best]) <= rounded(np.sqrt(differing / rows.sum())):
            return n_splits
    return best


def as_validated(study: Study, tree: TreeClassifier, features: Collection[Any], name: str) -> Alternative:
    """Describe a tree by its error on rows held back or, where there is no time, by its own estimate."""
    validation = cross_validate(study, tree_kind(study), [features] * len(study.folds))
    return _alternative(study, tree, validation, tree.n_splits_, (name, "leaf"), "")


def _alternative(
    study: Study, model: Any, validation: Validation | None, stage: int, called: tuple[str, str], text: str
) -> Alternative:
    """Describe a model by its error and score on rows held back, or by its own estimate of the error."""
    error, (low, high), score, off = model.estimated_error_, model.estimated_error_interval_, None, None
    if validation is not None:
        error = validation.error(stage)
        of_tree = (low, high) if called[0] == "tree" else None
        low, high = ends_of(study, validation.wrong_at(stage), validation.n_folds, of_tree=of_tree)
        score, off = score_of(study, validation, stage), off_by_of(study, validation, stage)
    name, unit = called
    return Alternative(name, model.size_, unit, error, low, high, validation is not None, text, score, off)


def score_of(study: Study, validation: Validation | None, stage: int) -> Score | None:
    """Measure a model by the metric of the report; None if it is the error, which has its own fields."""
    if study.metric.is_error:
        return None
    return study.metric.measure(rated(study, validation, stage), study.costs)


def off_by_of(study: Study, validation: Validation | None, stage: int) -> Score | None:
    """Measure by how much a model of numbers is off on average; None of classes."""
    return rated(study, validation, stage).mean_absolute_error() if study.task == "regression" else None


def _larger(study: Study, choice: Choice) -> Alternative | None:
    """Grow a tree of any size; None unless it is better on left-out rows or else by its own estimate.

    Some folds of a large table are enough: the difference to the recommended model is measured on the same
    rows, and is known better than either error.
    """
    what, features, validation = "a larger tree", choice.features, choice.validation
    kind = Kind("larger tree", "leaf", study.learner.set_params(max_splits=_LARGER * study.max_size - 1))
    if not study.has_time_for(what, 3 * study.mean_seconds("fold", "tree")):
        return None
    try:
        with study.deadline(), study.timed("fit", what):
            tree = study.fitted(clone(kind.learner), study.columns(features))
    except OutOfTime:
        study.leave_out(what)
        return None
    if study.task == "regression":  # which has chosen its size by growing as many trees as a cross-validation
        kind = replace(kind, learner=clone(kind.learner).set_params(max_size=tree.size_, stopping="none"))
    error, interval, score = tree.estimated_error_, tree.estimated_error_interval_, None
    if validation is None:
        if rounded(interval[1]) >= rounded(choice.model.estimated_error_):
            return None
    else:
        rival, stage = validation.wrong_at(choice.stage), len(tree.stage_sizes_) - 1
        found = left_out(study, kind, features, validation.of(choice.stage), tree, enough=_ENOUGH_OF_LARGER)
        if found is None or not is_better(validation.of(choice.stage), found.of(stage), study):
            return None
        wrong = found.wrong_at(stage)
        tested = np.isfinite(wrong)
        error = max(0.0, float(rival.mean() - (rival - wrong)[tested].mean()))
        interval = ends_of(study, wrong, len(study.folds), error, interval)
        score = score_of(study, found, stage)
    name, (low, high) = f"a larger tree, of {amount(tree.size_, 'leaf')}", interval
    return Alternative(name, tree.size_, "leaf", error, low, high, validation is not None, score=score)


def with_others(study: Study, choice: Choice) -> Choice:
    """Choose the best of the tree and the models of other kinds; one replaces the tree if clearly better.

    It must have fewer errors on the same left-out rows than the tree and than the most frequent class. One
    that cannot be read replaces only the most frequent class; otherwise it is named beside the tree. Models
    of rows without groups that do not even claim to be better are not cross-validated, and cross-validation
    ends as soon as one cannot win any more.
    """
    tree, features = choice, choice.features
    of_tree = None if tree.validation is None else tree.validation.of(tree.stage)
    best, shown = tree, [tree]
    for kind in other_kinds(study, features):
        other = _fitted(study, features, kind)
        if other is None:
            continue
        shown.append(other)
        claimed, known = other.model.estimated_error_, tree.model.estimated_error_
        # Of another loss than the error only the tree has an estimate of its own.
        claims = rounded(claimed) < rounded(known) or not study.metric.is_error
        if of_tree is None or not ((claims and other.model.used_columns_) or other.validation):
            continue
        validation = other.validation or left_out(study, kind, features, of_tree, other.model)
        if validation is None:
            continue
        losses = validation.of(other.stage)
        if not all(is_better(one, losses, study) for one in (of_tree, study.guess_losses)):
            continue
        other = shown[-1] = replace(other, validation=validation)
        if not kind.is_read and best.model.used_columns_:
            best = _beside(study, best, other)
        elif best is tree or losses.mean() < best.validation.of(best.stage).mean():  # type: ignore[union-attr]
            larger, found = tree.larger, as_alternative(study, other)
            is_ahead = larger is not None and badness(study, larger) < badness(study, found)
            best = replace(other, larger=larger if is_ahead else None)
    others = [one for one in shown if one.kind is not best.kind and one.model.used_columns_]
    if not study.metric.is_error:
        others = [one for one in others if one.validation is not None]
    alternatives = tuple(as_alternative(study, one) for one in others)
    if best.larger is not None:  # which is named already
        alternatives = tuple(one for one in alternatives if one.text != best.larger.text)
    return replace(best, alternatives=alternatives)


def ordering(study: Study, choice: Choice) -> tuple[Alternative, Any] | None:
    """Where no model decides better than a guess, but columns carry a signal: a tree that orders rows.

    With what its models said of rows held back. None unless it is shown to order them better than chance.
    """
    signals = [f for f in _among(study.ranking, choice.features) if f.significant]
    if choice.model.used_columns_ or not study.metric.is_of_decisions or not signals:
        return None
    if not study.has_time_for("how well columns order rows"):
        return None
    other = study.seen_as(study.new_rows, study.varying)
    other.metric = study.metric_of_order
    found = _chosen(other, choice.features)
    if not orders(other, found):
        return None
    told = as_alternative(other, found)
    return replace(told, name=_looking(told, found)), rated(other, found.validation, found.stage)


def orders(study: Study, choice: Choice) -> bool:
    """Whether a model is shown to order rows better than chance, as on a page that leads with the AUC."""
    if not choice.model.used_columns_ or choice.validation is None:
        return False
    is_shown = is_better(study.guess_losses, choice.validation.of(choice.stage), study)
    score = as_alternative(study, choice).score
    return is_shown and score is not None and score.low > 0.5


def undecided(study: Study, choice: Choice) -> Alternative | None:
    """Describe the model that is handed over where none is shown to help: by a figure that claims nothing."""
    if choice.undecided is None or not choice.undecided.model.used_columns_:
        return None
    told = as_alternative(study, choice.undecided)
    if study.metric.name == "auc" and told.score is not None and told.score.low > 0.5:
        told = replace(told, score=replace(told.score, low=0.5))  # the best of many sizes
    return replace(told, name=_looking(told, choice.undecided))


def _looking(told: Alternative, choice: Choice) -> str:
    """Say how large a model is, and at how many columns it looks."""
    looks = amount(len(choice.model.used_columns_), "column")
    return f"a {told.name} with {amount(told.size, told.unit)} that looks at {looks}"


def rated_as(study: Study, choice: Choice) -> Any:
    """Return what was said of rows held back by models like the recommended one; None without such."""
    if not choice.model.used_columns_:
        return rated(study, None)
    return None if choice.validation is None else rated(study, choice.validation, choice.stage)


def _beside(study: Study, best: Choice, other: Choice) -> Choice:
    """Name a model that is better and cannot be read beside the recommended one, unless a better one is."""
    found, known = as_alternative(study, other), best.larger
    least = min(badness(study, one) for one in (as_alternative(study, best), known) if one is not None)
    if badness(study, found) >= least:
        return best
    return replace(best, larger=replace(found, name=f"a {found.name}, of {amount(found.size, found.unit)}"))


def badness(study: Study, model: Alternative) -> float:
    """Return the figure by which a model is compared with others: the smaller, the better."""
    if model.score is None:
        return model.error
    return -model.score.value if study.metric.higher_is_better else model.score.value


def _fitted(study: Study, features: list[Any], kind: Kind) -> Choice | None:
    """Fit a model of another kind to as many rows as it takes; None if there is no time.

    Its size for new groups is chosen as that of a tree, by the folds of all models.
    """
    what, X, is_whole = f"a {kind.name}", study.columns(features), bool(study.new_rows.groups)
    if not study.has_time_for(what):
        return None
    rows = study.sample_of(np.arange(len(study.y)), kind.most_rows)
    try:
        with study.deadline(), study.timed("fit", kind.name):
            model = whole = study.fitted(clone(kind.learner), X, rows, whole=is_whole)
        sizes, validation = whole.stage_sizes_, None
        stage = len(sizes) - 1
        if is_whole and stage:
            validation = cross_validate(study, kind, [features] * len(study.folds), len(sizes))
            if validation is None:
                return None
            size = sizes[first_as_good(study, validation.losses)]
            if size == sizes[0]:
                return None
            stage = max(i for i, one in enumerate(sizes) if one == size)
            with study.deadline():
                model = study.fitted(kind.of_size(size), X, rows, whole=True)
    except OutOfTime:
        study.leave_out(what)
        return None
    return Choice(kind, model, whole, stage, validation, features)


def as_alternative(study: Study, choice: Choice) -> Alternative:
    kind, text = choice.kind, choice.model.to_text()
    return _alternative(study, choice.model, choice.validation, choice.stage, (kind.name, kind.unit), text)
