"""Other models that can be read, beside the tree or, where they are clearly better, in its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from offsample._ties import rounded
from offsample.induction import (
    DecisionListClassifier,
    DNFClassifier,
    StochasticTreeClassifier,
    TreeClassifier,
)
from offsample.report._formats import amount
from offsample.report._study import Study
from offsample.report.sections.model import Alternative, Model, SizePoint, Validation, spanned
from offsample.tables import take_rows

# A tree of oblique tests looks at all columns of all rows at every split.
_MOST_NUMBERS = 2_000_000
# Another model takes the place of the tree if it is better by so many standard errors of the difference.
_CLEARLY = 2.0
# Sizes of such a model that are cross-validated; trees show all of theirs for the price of one.
_N_SIZES = 6


@dataclass(frozen=True, eq=False)
class Other:
    """A model that is no tree of thresholds: its kind, what its size counts, and the model, fitted."""

    kind: str
    unit: str
    model: Any

    @property
    def size(self) -> int:
        """Number of splits, rules or terms."""
        return int(self.model.path_.n_splits)

    @property
    def text(self) -> str:
        """The model in words."""
        is_tree = isinstance(self.model, StochasticTreeClassifier)
        return str(self.model.export_text() if is_tree else self.model.to_text())

    @property
    def name(self) -> str:
        """What it is, with its size."""
        return f"a {self.kind} with {amount(self.size, self.unit)}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that it looks at."""
        if isinstance(self.model, StochasticTreeClassifier):
            return tuple(map(str, self.model.feature_names_in_))
        tests = self.model.vocabulary_.tests
        used = {tests[literal % len(tests)].column for literal in self.model.model_.literals}
        return tuple(str(self.model.feature_names_in_[j]) for j in sorted(used))

    def of_size(self, size: int) -> Any:
        """Learner of models of at most this size, not fitted."""
        is_tree = isinstance(self.model, StochasticTreeClassifier)
        return clone(self.model).set_params(**{"max_splits" if is_tree else "max_size": size})

    def as_alternative(self) -> Alternative:
        """What the page shows of it beside the recommended model."""
        low, high = self.model.estimated_error_interval_
        return Alternative(self.kind, self.size, self.model.estimated_error_, low, high, self.text)


def beside(
    study: Study,
    features: Collection[Any],
    recommended: Model,
    full: TreeClassifier,
    validation: Validation | None,
) -> Model:
    """The recommended tree with the other models beside it; or the best of them, if it is clearly better."""
    others = list(fit_others(study, features))
    found = None if validation is None else _clearly_better(study, features, others, full, validation)
    if found is None or validation is None:
        shown = (other.as_alternative() for other in others)
        return replace(recommended, alternatives=(*shown, *recommended.alternatives))
    best, validated = found
    alternatives = (other.as_alternative() for other in others if other is not best)
    tree = Alternative(
        recommended.kind,
        recommended.size,
        recommended.error,
        recommended.low,
        recommended.high,
        recommended.text,
    )
    path = tuple(_path(study, features, best, validated, validation))
    low, high = spanned(best.model.estimated_error_interval_, validated, len(study.y))
    return replace(
        recommended,
        kind=best.kind,
        name=best.name,
        size=best.size,
        unit=best.unit,
        columns=best.columns,
        importances=(),
        error=best.model.estimated_error_,
        low=low,
        high=high,
        training_error=best.model.path_[best.size].training_error,
        validated_error=validated,
        path=path,
        text=best.text,
        tree=None,
        alternatives=(tree, *alternatives, *recommended.alternatives),
    )


def fit_others(study: Study, features: Collection[Any]) -> Iterator[Other]:
    """A decision list, a formula for two classes, and a tree of oblique tests for numbers."""
    X = study.columns(features)
    declared: Any = [name for name in study.options.categorical_features if name in X] or "infer"
    rules = [("decision list", "rule", DecisionListClassifier(categorical_features=declared))]
    if len(np.unique(study.labels)) == 2:
        rules.append(("formula", "term", DNFClassifier(categorical_features=declared)))
    for kind, unit, learner in rules:
        if study.has_time_for("decision lists and formulas"):
            yield Other(kind, unit, learner.fit(X, study.y))
    numeric = all(study.encoded[name].kind == "numeric" for name in X if name in study.encoded)
    few = len(X) * len(study.y) <= _MOST_NUMBERS
    if features and numeric and few and study.has_time_for("a tree of oblique tests"):
        yield Other("tree of oblique tests", "split", StochasticTreeClassifier().fit(X, study.y))


def _wrong_when_left_out(
    study: Study, features: Collection[Any], learner: Any, validation: Validation
) -> NDArray[np.bool_] | None:
    X = study.columns(features)
    wrong = np.zeros(len(study.y), bool)
    for train, test in validation.folds:
        if not study.has_time_for("cross-validation of other models"):
            return None
        model = clone(learner).fit(take_rows(X, train), study.y[train])
        wrong[test] = model.predict(take_rows(X, test)) != study.y[test]
    return wrong


def _clearly_better(
    study: Study, features: Collection[Any], others: list[Other], full: TreeClassifier, validation: Validation
) -> tuple[Other, float] | None:
    """The model with the fewest errors on left-out rows, if the largest tree worth growing has more of them.

    The rows and folds are the same, so that the difference is known better than either error. Models that do
    not even claim to be better are not cross-validated. Returned with its error on these rows.
    """
    best: tuple[Other, float] | None = None
    for other in others:
        if not other.size or rounded(other.model.estimated_error_) >= rounded(full.estimated_error_):
            continue
        wrong = _wrong_when_left_out(study, features, other.model, validation)
        if wrong is None:
            break
        gain = validation.wrong.astype(float) - wrong
        clearly = rounded(gain.mean()) > rounded(_CLEARLY * gain.std() / np.sqrt(len(gain)))
        if clearly and (best is None or wrong.mean() < best[1]):
            best = other, float(wrong.mean())
    return best


def _path(
    study: Study, features: Collection[Any], other: Other, own_error: float, validation: Validation
) -> Iterator[SizePoint]:
    """Errors of a model by its size; cross-validated at some sizes, among them its own."""
    steps = other.model.path_
    shown = np.unique(np.geomspace(1, max(1, len(steps) - 1), _N_SIZES).round().astype(int))
    for step in steps:
        validated = own_error if step.n_splits == other.size else None
        if validated is None and step.n_splits in shown:
            wrong = _wrong_when_left_out(study, features, other.of_size(step.n_splits), validation)
            validated = None if wrong is None else float(wrong.mean())
        yield SizePoint(step.n_splits, step.training_error, step.estimated_error, validated)
