"""The recommended model: the best that can be read, as small as is as good, and what it was chosen among."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._deadline import OutOfTime
from offsample.induction import TreeClassifier
from offsample.induction._path import score_interval
from offsample.report._formats import amount
from offsample.report._study import Study
from offsample.report.sections._branches import described
from offsample.report.sections._kinds import Kind, other_kinds, tree_kind

Booleans = NDArray[np.bool_]

# Another kind of model takes the place of the tree if it is better by so many standard errors.
_CLEARLY = 2.0
# Models that only compete are fitted to at most so many rows, each class with its share.
_MOST_ROWS = 20_000
# Left-out rows beyond these tell hardly more about a model that only competes.
_ENOUGH_TESTED = 30_000


@dataclass(frozen=True)
class SizePoint:
    """The model at one size.

    Attributes
    ----------
    size : int
        Leaves, rules or terms.
    training_error, estimated_error : float
        On the sample; and off it, estimated by the learner itself.
    validated_error : float or None
        On rows left out, by cross-validation at this size.
    """

    size: int
    training_error: float
    estimated_error: float
    validated_error: float | None


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


@dataclass(frozen=True)
class Model:
    """The recommended model and how it was chosen.

    Attributes
    ----------
    kind : {"tree", "decision list", "formula", "tree of oblique tests"}
    name : str
        In words, such as "a tree with 7 leaves".
    size : int
        Leaves, rules or terms: what a reader counts.
    unit : {"leaf", "rule", "term"}
        What the size counts.
    columns : tuple of str
        That it looks at, the most important first.
    importances : tuple of float
        Their shares in the decrease of the estimated error; empty where the model does not know them.
    error, low, high : float
        Error off the sample: by cross-validation or, where there was none, as estimated by the learner
        itself; and a 95 % interval, which spans that of cross-validation and the learner's own.
    training_error, estimated_error : float
        On the sample; and off it, estimated by the learner itself.
    validated_error : float or None
        By cross-validation.
    n_folds : int
        Of the cross-validation; 0 if there was none.
    baseline_error : float
        Of always predicting the most frequent class.
    n_rows : int
        That it was fitted to.
    path : tuple of SizePoint
        The sizes that were compared.
    text : str
        The model in words, one line per node or rule.
    tree : dict or None
        A tree as nested plain data: see `TreeClassifier.to_dict`. A branch of many values has a `summary`.
    classes : tuple of str
    larger : Alternative or None
        A tree with as many leaves as it wants, where that is better than any that can be read.
    alternatives : tuple of Alternative
        Models of other kinds that can be read.
    """

    kind: str
    name: str
    size: int
    unit: str
    columns: tuple[str, ...]
    importances: tuple[float, ...]
    error: float
    low: float
    high: float
    training_error: float
    estimated_error: float
    validated_error: float | None
    n_folds: int
    baseline_error: float
    n_rows: int
    path: tuple[SizePoint, ...]
    text: str
    tree: dict[str, Any] | None
    classes: tuple[str, ...]
    larger: Alternative | None
    alternatives: tuple[Alternative, ...]

    @property
    def is_constant(self) -> bool:
        """Whether it looks at no column, and always predicts the most frequent class."""
        return not self.columns


@dataclass(frozen=True, eq=False)
class Validation:
    """Cross-validation of one learner at several sizes.

    Attributes
    ----------
    sizes : sequence of int
    wrong : ndarray of bool, shape (n_sizes, n_rows)
        Rows that a model of each size got wrong when they were left out.
    models : list
        The model of each fold.
    """

    sizes: Sequence[int]
    wrong: Booleans
    models: list[Any]

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.models)

    def of(self, size: int) -> Booleans:
        """Rows that were wrong at a size, or at the largest."""
        return np.asarray(self.wrong[min(self.sizes.index(size), len(self.wrong) - 1)])

    def error(self, size: int) -> float:
        """Share of them."""
        return float(self.of(size).mean())


@dataclass(frozen=True, eq=False)
class Choice:
    """The recommended model, fitted, with what is needed to describe it.

    Attributes
    ----------
    kind : Kind
    model : estimator
    whole : estimator
        The same before it was cut to the size that is as good.
    validation : Validation or None
    features : list
        The columns that it was allowed to use.
    larger : Alternative or None
    alternatives : tuple of Alternative
    """

    kind: Kind
    model: Any
    whole: Any
    validation: Validation | None
    features: list[Any]
    larger: Alternative | None = None
    alternatives: tuple[Alternative, ...] = ()


def choose(study: Study, features: Sequence[Any]) -> Choice:
    """The tree of the size that is as good as any that can be read, cross-validated."""
    kind, X = tree_kind(study), study.columns(features)
    with study.deadline(keep_part=True):
        whole = kind.of_size(study.options.max_size).fit(X, study.y)
    validation = cross_validate(study, features, kind) if whole.n_splits_ else None
    size = _as_good(whole, validation)
    model = whole
    if size < whole.size_:
        with study.deadline(keep_part=True):
            model = kind.of_size(size).fit(X, study.y)
    larger = None
    if whole.n_splits_ + 1 == study.options.max_size:
        larger = _larger(study, features, validation, size, model)
    return Choice(kind, model, whole, validation, list(features), larger)


def _as_good(tree: TreeClassifier, validation: Validation | None) -> int:
    """Fewest leaves whose error is within one standard error of the least, the difference taken row by row.

    On left-out rows; without them by the tree's own estimates, where trees differ on the rows that they
    predict differently.
    """
    if validation is not None:
        wrong = validation.wrong[: tree.size_].astype(float)
        best = int(np.round(wrong.mean(axis=1), 12).argmin())
        for n_splits, row in enumerate(wrong):
            difference = row - wrong[best]
            if difference.mean() <= difference.std() / np.sqrt(len(row)):
                return n_splits + 1
    errors = np.array([step.estimated_error for step in tree.path_][: tree.size_])
    best = int(np.round(errors, 12).argmin())
    leaves = np.flatnonzero(tree.tree_.is_leaf)
    rows = tree.tree_.counts[leaves].sum(axis=1)
    label = tree.tree_.value.argmax(axis=1)[tree.tree_.staged(leaves.astype(np.int32), range(tree.size_))]
    for n_splits in range(best):
        differing = rows[label[n_splits] != label[best]].sum() / rows.sum()
        if errors[n_splits] - errors[best] <= np.sqrt(differing / rows.sum()):
            return n_splits + 1
    return best + 1


def cross_validate(study: Study, features: Collection[Any], kind: Kind) -> Validation | None:
    """Cross-validate a kind of model at all its sizes; None where there are too few rows, or no time."""
    X, sizes = study.columns(features), range(1, study.options.max_size + 1)
    wrong = np.zeros((len(sizes), len(study.y)), bool)
    models: list[Any] = []
    for train, test in study.folds:
        if not study.has_time_for("cross-validation", study.mean_seconds("fold", kind.name)):
            return None
        with study.deadline(), study.timed("fold", kind.name):
            try:
                model = kind.of_size(study.options.max_size).fit(X.take(train), study.y[train])
            except OutOfTime:
                study.leave_out("cross-validation")
                return None
        staged = model.staged_predict(X.take(test), [size - 1 for size in sizes])
        wrong[:, test] = staged != study.y[test]
        models.append(model)
    return Validation(sizes, wrong, models) if models else None


def _larger(
    study: Study, features: Collection[Any], validation: Validation | None, size: int, model: Any
) -> Alternative | None:
    """A tree of any size, if it is better: by rows left out where there is time, else by its own estimate."""
    X, learner = study.columns(features), study.learner
    if not study.has_time_for("a larger tree", 3 * study.mean_seconds("fold", "tree")):
        return None
    try:
        with study.deadline(), study.timed("fit", "larger tree"):
            tree = learner.fit(X, study.y)
    except OutOfTime:
        study.leave_out("a larger tree")
        return None
    named = f"a larger tree, of {amount(tree.size_, 'leaf')}"
    if validation is None:
        low, high = tree.estimated_error_interval_
        better = high < model.estimated_error_
        return Alternative(named, tree.size_, "leaf", tree.estimated_error_, low, high) if better else None
    wrong = _wrong_when_left_out(study, features, learner, None, validation.of(size), "a larger tree")
    if wrong is None or not _is_better(validation.of(size), wrong, 1.0):
        return None
    error, n_tested = float(np.nanmean(wrong)), int(np.isfinite(wrong).sum())
    low, high = spanned(tree.estimated_error_interval_, error, n_tested)
    return Alternative(named, tree.size_, "leaf", error, low, high, True)


def with_others(study: Study, choice: Choice) -> Choice:
    """The best of the tree and the models of other kinds; one takes the tree's place if clearly better.

    Models that do not even claim to be better are not cross-validated, and cross-validation ends as soon as
    one cannot win any more.
    """
    features, validation = choice.features, choice.validation
    of_tree = None if validation is None else validation.of(choice.model.size_)
    sample = study.sample_of(np.arange(len(study.y)), _MOST_ROWS)
    X = study.columns(features).take(sample)
    shown: list[tuple[Kind, Any]] = []
    best: tuple[float, Kind] | None = None
    for kind in other_kinds(study, features):
        what = "decision lists and formulas" if kind.unit != "leaf" else f"a {kind.name}"
        if not study.has_time_for(what):
            continue
        try:
            with study.deadline(), study.timed("fit", kind.name):
                model = kind.of_size(study.options.max_size).fit(X, study.y[sample])
        except OutOfTime:
            study.leave_out(what)
            continue
        shown.append((kind, model))
        claims = model.used_columns_ and model.estimated_error_ < choice.model.estimated_error_
        if of_tree is None or not claims:
            continue
        learner = kind.of_size(study.options.max_size)
        wrong = _wrong_when_left_out(study, features, learner, _MOST_ROWS, of_tree, kind.name)
        if wrong is not None and _is_better(of_tree, wrong, _CLEARLY):
            error = float(np.nanmean(wrong))
            beats = _is_better(study.y != study.classes[study.class_counts.argmax()], wrong, _CLEARLY)
            if beats and (best is None or error < best[0]):
                best = error, kind
    alternatives = tuple(_as_alternative(k, m) for k, m in shown if best is None or k is not best[1])
    if best is None:
        return replace(choice, alternatives=alternatives)
    kind = best[1]
    replaced = _replacement(study, choice, kind)
    if replaced is None:
        return replace(choice, alternatives=tuple(_as_alternative(k, m) for k, m in shown))
    return replace(replaced, alternatives=(_as_alternative(choice.kind, choice.model), *alternatives))


def _replacement(study: Study, choice: Choice, kind: Kind) -> Choice | None:
    """The model of another kind, fitted to all rows and cross-validated like the tree."""
    X = study.columns(choice.features)
    try:
        with study.deadline(), study.timed("fit", kind.name):
            model = kind.of_size(study.options.max_size).fit(X, study.y)
    except OutOfTime:
        study.leave_out(f"a {kind.name} in place of the tree")
        return None
    wrong = np.zeros((1, len(study.y)), bool)
    models = []
    for train, test in study.folds:
        rows = study.sample_of(train, _MOST_ROWS)
        fitted = kind.of_size(study.options.max_size).fit(X.take(rows), study.y[rows])
        wrong[0, test] = fitted.predict(X.take(test)) != study.y[test]
        models.append(fitted)
    validation = Validation([model.size_], wrong, models)
    return replace(choice, kind=kind, model=model, whole=model, validation=validation)


def _wrong_when_left_out(
    study: Study, features: Collection[Any], learner: Any, most_rows: int | None, rival: Booleans, what: str
) -> NDArray[np.float64] | None:
    """1 for rows that are wrong when left out, 0 for right, NaN for rows of folds that were not needed.

    None as soon as it is clear that it cannot be better than the rival, or that there is no time.
    """
    X = study.columns(features)
    wrong = np.full(len(study.y), np.nan)
    for train, test in study.folds:
        rows = train if most_rows is None else study.sample_of(train, most_rows)
        if not study.has_time_for(f"cross-validation of {what}", study.mean_seconds("fit", what)):
            return None
        try:
            with study.deadline(), study.timed("fit", what):
                model = learner.fit(X.take(rows), study.y[rows])
        except OutOfTime:
            study.leave_out(f"cross-validation of {what}")
            return None
        wrong[test] = model.predict(X.take(test)) != study.y[test]
        gain = (rival - wrong)[np.isfinite(wrong)]
        if gain.mean() + _CLEARLY * gain.std() / np.sqrt(len(gain)) < 0:
            return None
        if len(gain) >= _ENOUGH_TESTED:
            break
    return wrong


def _is_better(rival: Booleans, wrong: NDArray[np.float64], n_errors: float) -> bool:
    """Whether there are fewer errors than a rival's on the same rows, by so many standard errors."""
    gain = (rival - wrong)[np.isfinite(wrong)]
    return bool(gain.mean() > n_errors * gain.std() / np.sqrt(len(gain)))


def _as_alternative(kind: Kind, model: Any) -> Alternative:
    low, high = model.estimated_error_interval_
    return Alternative(
        kind.name, model.size_, kind.unit, model.estimated_error_, low, high, text=model.to_text()
    )


def describe(study: Study, choice: Choice) -> Model:
    """All that is shown of the recommended model."""
    model, validation, kind = choice.model, choice.validation, choice.kind
    columns = tuple(str(name) for name in model.used_columns_)
    validated = None if validation is None else validation.error(model.size_)
    own = model.estimated_error_
    low, high = spanned(model.estimated_error_interval_, validated, len(study.y))
    error = own if validated is None else validated
    if not columns:
        error, name = study.majority_error, "the most frequent class"
        low, high = min(low, error), max(high, error)
    else:
        name = f"a {kind.name} with {amount(model.size_, kind.unit)}"
    importances: tuple[float, ...] = ()
    if isinstance(model, TreeClassifier):
        share = dict(zip(model._encoder.names, model.feature_importances_.tolist(), strict=True))
        importances = tuple(share[name] for name in model.used_columns_)
    n_kept = model.path_.n_splits
    return Model(
        kind=kind.name,
        name=name,
        size=model.size_,
        unit=kind.unit,
        columns=columns,
        importances=importances,
        error=error,
        low=low,
        high=high,
        training_error=model.path_[n_kept].training_error,
        estimated_error=own,
        validated_error=validated,
        n_folds=0 if validation is None else validation.n_folds,
        baseline_error=study.majority_error,
        n_rows=len(study.y),
        path=_path(choice),
        text=model.to_text(),
        tree=described(study, model) if isinstance(model, TreeClassifier) else None,
        classes=tuple(map(str, model.classes_)),
        larger=choice.larger,
        alternatives=choice.alternatives,
    )


def _path(choice: Choice) -> tuple[SizePoint, ...]:
    """The sizes that growing went through, each once: a step of a formula need not add a term."""
    grown = choice.whole
    sizes = grown.stage_sizes_ if hasattr(grown, "stage_sizes_") else range(1, grown.size_ + 1)
    points = {}
    for size, step in zip(sizes, grown.path_, strict=False):
        known = choice.validation is not None and size in choice.validation.sizes
        validated = choice.validation.error(size) if known and choice.validation is not None else None
        points[size] = SizePoint(size, step.training_error, step.estimated_error, validated)
    return tuple(points.values())


def spanned(interval: tuple[float, float], validated: float | None, n_rows: int) -> tuple[float, float]:
    """The learner's own interval, widened to that of cross-validation: they err differently."""
    if validated is None:
        return interval
    low, high = score_interval(validated, validated, n_rows)
    return min(interval[0], low), max(interval[1], high)
