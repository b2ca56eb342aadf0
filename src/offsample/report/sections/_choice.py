"""Which model to recommend: the tree of the size that is as good as any, or another kind that is better."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from offsample._deadline import OutOfTime
from offsample._ties import best_of, rounded
from offsample._typing import Booleans, Floats
from offsample.induction import TreeClassifier
from offsample.induction.path import score_interval
from offsample.report._formats import amount
from offsample.report._study import Study
from offsample.report.sections._kinds import Kind, other_kinds, tree_kind

# Another model is better if it has fewer errors by so many standard errors of the difference.
_CLEARLY = 2.0
# Left-out rows that tell whether a larger tree is better.
_ENOUGH_OF_LARGER = 5_000
# How many times as large it may be.
_LARGER = 10


@dataclass(frozen=True)
class Alternative:
    """Another model, for comparison.

    Attributes
    ----------
    name : str
        In words, such as "a larger tree".
    size : int
    unit : {"leaf", "rule", "term"}
        What the size counts.
    error, low, high : float
        Error off the sample, with its 95 % interval.
    validated : bool
        Whether the error was measured by cross-validation; otherwise the learner estimated it itself.
    text : str
        The model in words, where it can be read.
    """

    name: str
    size: int
    unit: str
    error: float
    low: float
    high: float
    validated: bool = False
    text: str = ""


@dataclass(frozen=True, eq=False)
class Validation:
    """Cross-validation of one learner at several stages of its growth.

    Attributes
    ----------
    stages : sequence of int
        How many steps of growth were made.
    wrong : ndarray of bool, shape (n_stages, n_rows)
        Rows that a model at each stage got wrong when they were left out.
    models : list
        The model of each fold.
    """

    stages: Sequence[int]
    wrong: Booleans
    models: list[Any]

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.models)

    def of(self, stage: int) -> Booleans:
        """Rows that were wrong at a stage."""
        return np.asarray(self.wrong[self.stages.index(stage)])

    def error(self, stage: int) -> float:
        """Share of them."""
        return float(self.of(stage).mean())


@dataclass(frozen=True, eq=False)
class Choice:
    """The recommended model, fitted, with what is needed to describe it.

    Attributes
    ----------
    kind : Kind
    model : estimator
        As it is shown: without splits that change no prediction.
    whole : estimator
        As it was grown, to the largest size.
    stage : int
        After how many steps of that growth the model is as good as any.
    validation : Validation or None
    features : list
        The columns that it was allowed to use.
    larger : Alternative or None
    alternatives : tuple of Alternative
    """

    kind: Kind
    model: Any
    whole: Any
    stage: int
    validation: Validation | None
    features: list[Any]
    larger: Alternative | None = None
    alternatives: tuple[Alternative, ...] = ()


def choose(study: Study, features: Sequence[Any]) -> Choice:
    """The tree of the size that is as good as any that can be read, cross-validated."""
    kind, X = tree_kind(study), study.columns(features)
    with study.deadline(keep_part=True):
        whole = kind.of_size(study.options.max_size).fit(X, study.y)
    if study.seconds_left is not None and study.seconds_left <= 0:
        study.leave_out("splits of the tree")
    validation = cross_validate(study, kind, [features] * len(study.folds)) if whole.n_splits_ else None
    choice = cut(study, kind, whole, validation, list(features))
    if whole.n_splits_ + 1 < study.options.max_size or study.options.fast:
        return choice
    return replace(choice, larger=_larger(study, choice))


def cut(
    study: Study, kind: Kind, whole: TreeClassifier, validation: Validation | None, features: list[Any]
) -> Choice:
    """A grown tree, cut to the size that is as good as any."""
    stage, tree = _as_good(study, whole, validation), whole
    if stage < whole.n_splits_ and study.seconds_left is not None and study.seconds_left <= 0:
        stage = whole.n_splits_  # no time to grow it again
    elif stage < whole.n_splits_:
        with study.deadline(keep_part=True):
            tree = kind.of_size(stage + 1).fit(study.columns(whole._encoder.names), study.y)
    return Choice(kind, tree.without_idle_splits(), whole, stage, validation, features)


def _as_good(study: Study, tree: TreeClassifier, validation: Validation | None) -> int:
    """Fewest splits whose error is within one standard error of the least, the difference taken row by row.

    On left-out rows; without them by the tree's own estimates, where trees differ on the rows that they
    predict differently.
    """
    n_stages = tree.n_splits_ + 1
    if validation is not None:
        wrong = validation.wrong[:n_stages]
        return first_as_good(study, wrong, int(best_of(-wrong.mean(axis=1))))
    errors = np.array([step.estimated_error for step in tree.path_][:n_stages])
    best = int(best_of(-errors))
    leaves = np.flatnonzero(tree.tree_.is_leaf)
    rows = tree.tree_.counts[leaves].sum(axis=1)
    label = tree.tree_.value.argmax(axis=1)[tree.tree_.staged(leaves.astype(np.int32), range(n_stages))]
    for n_splits in range(best):
        differing = rows[label[n_splits] != label[best]].sum() / rows.sum()
        if rounded(errors[n_splits] - errors[best]) <= rounded(np.sqrt(differing / rows.sum())):
            return n_splits
    return best


def first_as_good(study: Study, wrong: Booleans, best: int) -> int:
    """The first of several models, the simplest, that is as good as the best of them.

    Its error is within one standard error that the difference would have were both as good, by the rows that
    they do not agree on (McNemar 1947); and it is clearly better than guessing. If none is, the first.
    """
    if not is_better(study.guess_is_wrong, wrong[best].astype(float)):
        return 0
    for place, row in enumerate(wrong[:best]):
        more = int(row.sum()) - int(wrong[best].sum())
        if more > np.sqrt((row != wrong[best]).sum()):
            continue
        if is_better(study.guess_is_wrong, row.astype(float)):
            return place
    return best


def cross_validate(
    study: Study, kind: Kind, features: Sequence[Collection[Any]], max_size: int | None = None
) -> Validation | None:
    """Cross-validate trees at all stages of their growth; None where there are too few rows, or no time.

    Parameters
    ----------
    study : Study
    kind : Kind
    features : sequence of collections of names
        The columns to learn from in each fold.
    max_size : int, optional
        Most leaves; by default as many as a person reads.
    """
    stages = range(max_size or study.options.max_size)
    wrong = np.zeros((len(stages), len(study.y)), bool)
    models: list[Any] = []

    def fitted(job: tuple[tuple[Any, Any], Collection[Any]]) -> Any:
        (train, test), names = job
        X = study.columns(names)
        with study.timed("fold", kind.name):
            model = kind.of_size(len(stages)).fit(X.take(train), study.y[train])
        return model, model.staged_predict(X.take(test), stages)

    jobs = list(zip(study.folds, features, strict=True))
    try:
        with study.deadline():
            for (_, test), (model, staged) in zip(study.folds, study.side_by_side(fitted, jobs), strict=True):
                wrong[:, test] = staged != study.y[test]
                models.append(model)
    except OutOfTime:
        study.leave_out("cross-validation")
        return None
    return Validation(stages, wrong, models) if models else None


def as_validated(study: Study, tree: TreeClassifier, features: Collection[Any], name: str) -> Alternative:
    """A tree with its error on rows held back or, where there is no time, by its own estimate."""
    validation = cross_validate(study, tree_kind(study), [features] * len(study.folds))
    error, (low, high) = tree.estimated_error_, tree.estimated_error_interval_
    if validation is not None:
        error = validation.error(tree.n_splits_)
        low, high = spanned((low, high), error, len(study.y), validation.n_folds)
    return Alternative(name, tree.size_, "leaf", error, low, high, validation is not None)


def _larger(study: Study, choice: Choice) -> Alternative | None:
    """A tree of any size, if it is better on left-out rows or, where there are none, by its own estimate.

    Of a large table some of the folds are enough: the difference to the recommended model is measured on the
    same rows, and is known better than either error.
    """
    what, features, validation = "a larger tree", choice.features, choice.validation
    learner = study.learner.set_params(max_splits=_LARGER * study.options.max_size - 1)
    if not study.has_time_for(what, 3 * study.mean_seconds("fold", "tree")):
        return None
    try:
        with study.deadline(), study.timed("fit", what):
            tree = clone(learner).fit(study.columns(features), study.y)
    except OutOfTime:
        study.leave_out(what)
        return None
    error, (low, high) = tree.estimated_error_, tree.estimated_error_interval_
    if validation is None:
        better = bool(rounded(high) < rounded(choice.model.estimated_error_))
    else:
        rival = validation.of(choice.stage)
        found = _left_out(study, features, learner, rival, "larger tree", enough=_ENOUGH_OF_LARGER)
        better = found is not None and is_better(rival, found[0])
        if found is not None:
            wrong = found[0]
            tested = np.isfinite(wrong)
            error = max(0.0, float(rival.mean() - (rival - wrong)[tested].mean()))
            low, high = spanned((low, high), error, int(tested.sum()), len(study.folds))
    if not better:
        return None
    name = f"a larger tree, of {amount(tree.size_, 'leaf')}"
    return Alternative(name, tree.size_, "leaf", error, low, high, validation is not None)


def with_others(study: Study, choice: Choice) -> Choice:
    """The best of the tree and the models of other kinds; one takes the tree's place if clearly better.

    It must have fewer errors on the same left-out rows than the tree and than the most frequent class. One
    that cannot be read takes it only from the most frequent class; otherwise it is named beside it. Models
    that do not even claim to be better are not cross-validated, and cross-validation ends as soon as one
    cannot win any more.
    """
    tree, features = choice, choice.features
    of_tree = None if tree.validation is None else tree.validation.of(tree.stage)
    best, shown = tree, [tree]
    for kind in other_kinds(study, features):
        other = _fitted(study, features, kind)
        if other is None:
            continue
        shown.append(other)
        claims = other.model.used_columns_ and rounded(other.model.estimated_error_) < rounded(
            tree.model.estimated_error_
        )
        if of_tree is None or not claims:
            continue
        learner = kind.of_size(study.options.max_size)
        found = _left_out(study, features, learner, of_tree, kind.name, most_rows=kind.most_rows)
        if found is None or not (is_better(of_tree, found[0]) and is_better(study.guess_is_wrong, found[0])):
            continue
        wrong, models = found
        other = shown[-1] = replace(other, validation=Validation([other.stage], wrong[None] > 0, models))
        if not kind.is_read and best.model.used_columns_:
            best = _beside(best, other)
        elif best is tree or wrong.mean() < best.validation.wrong.mean():  # type: ignore[union-attr]
            larger = tree.larger if tree.larger and tree.larger.error < wrong.mean() else None
            best = replace(other, larger=larger)
    others = (one for one in shown if one.kind is not best.kind and one.model.used_columns_)
    alternatives = tuple(_as_alternative(one) for one in others)
    if best.larger is not None:  # which is named already
        alternatives = tuple(one for one in alternatives if one.text != best.larger.text)
    return replace(best, alternatives=alternatives)


def _beside(best: Choice, other: Choice) -> Choice:
    """The recommended model with one that is better and cannot be read, unless a better one is known."""
    found = _as_alternative(other)
    known = best.larger
    assert best.validation is not None
    if found.error >= min(best.validation.error(best.stage), 1.0 if known is None else known.error):
        return best
    return replace(best, larger=replace(found, name=f"a {found.name}, of {amount(found.size, found.unit)}"))


def _fitted(study: Study, features: list[Any], kind: Kind) -> Choice | None:
    """A model of another kind, fitted to as many rows as it takes; None if there is no time."""
    what = f"a {kind.name}"
    if not study.has_time_for(what):
        return None
    rows = study.sample_of(np.arange(len(study.y)), kind.most_rows)
    try:
        with study.deadline(), study.timed("fit", kind.name):
            model = kind.of_size(study.options.max_size).fit(
                study.columns(features).take(rows), study.y[rows]
            )
    except OutOfTime:
        study.leave_out(what)
        return None
    stage = len(model.stage_sizes_) - 1
    return Choice(kind, model, model, stage, None, features)


def _left_out(
    study: Study,
    features: Collection[Any],
    learner: Any,
    rival: Booleans,
    what: str,
    *,
    most_rows: int | None = None,
    enough: int | None = None,
) -> tuple[Floats, list[Any]] | None:
    """1 for rows that are wrong when left out, 0 for right; and the models of the folds.

    NaN for the rows of folds that are not needed once `enough` rows were tested. None as soon as it is clear
    that it cannot be better than the rival, or that there is no time.
    """
    X = study.columns(features)
    wrong, models = np.full(len(study.y), np.nan), []

    def fitted(fold: tuple[Any, Any]) -> Any:
        rows = study.sample_of(fold[0], most_rows)
        with study.timed("fit", what):
            model = clone(learner).fit(X.take(rows), study.y[rows])
        return model, model.predict(X.take(fold[1]))

    if not study.has_time_for(f"cross-validation of a {what}", study.mean_seconds("fit", what)):
        return None
    tested = np.cumsum([len(test) for _, test in study.folds])
    folds = study.folds if enough is None else study.folds[: int((tested < enough).sum()) + 1]
    try:
        with study.deadline():
            for (_, test), (model, predicted) in zip(folds, study.side_by_side(fitted, folds), strict=True):
                models.append(model)
                wrong[test] = predicted != study.y[test]
                gain = (rival - wrong)[np.isfinite(wrong)]
                if rounded(gain.mean() + _CLEARLY * gain.std() / np.sqrt(len(gain))) < 0:
                    return None
    except OutOfTime:
        study.leave_out(f"cross-validation of a {what}")
        return None
    return wrong, models


def is_better(rival: Booleans, wrong: Floats) -> bool:
    """Whether there are clearly fewer errors than a rival's on the same rows."""
    gain = (rival - wrong)[np.isfinite(wrong)]
    return bool(rounded(gain.mean()) > rounded(_CLEARLY * gain.std() / np.sqrt(len(gain))))


def _as_alternative(choice: Choice) -> Alternative:
    model, kind, validation = choice.model, choice.kind, choice.validation
    error, interval = model.estimated_error_, model.estimated_error_interval_
    if validation is not None:
        error = validation.error(choice.stage)
        interval = spanned(interval, error, validation.wrong.shape[1], validation.n_folds)
    low, high = interval
    validated, text = validation is not None, model.to_text()
    return Alternative(kind.name, model.size_, kind.unit, error, low, high, validated, text)


def spanned(
    interval: tuple[float, float], validated: float | None, n_rows: int, n_folds: int
) -> tuple[float, float]:
    """The learner's own interval, widened to that of cross-validation: they err differently.

    The estimates of the folds have most of their rows in common, and the model that is recommended differs
    from those of the folds: the variance is 1 + k / (k - 1) times that of as many independent rows (Nadeau &
    Bengio 2003).
    """
    if validated is None:
        return interval
    n_worth = max(1, round(n_rows / (1 + n_folds / max(1, n_folds - 1))))
    low, high = score_interval(validated, validated, n_worth)
    return min(interval[0], low), max(interval[1], high)
