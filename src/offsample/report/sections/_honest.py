"""The same model on other new rows: of known groups, of new groups, of a later time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._ties import best_of, rounded
from offsample._typing import Floats, Ints
from offsample.report._metrics import Score
from offsample.report._study import Study
from offsample.report._units import NewRows, error_interval
from offsample.report.sections._choice import Choice
from offsample.report.sections._kinds import Kind, other_kinds
from offsample.report.sections._validation import (
    Validation,
    cross_validate,
    first_as_good,
    is_better,
    left_out,
    rated,
)

# Rows of a group that what a model says of one may count as; at last it alone does.
_WEIGHTS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e9)


@dataclass(frozen=True)
class HonestError:
    """An error of the recommended learner, and what rows it is for."""

    label: str  # in words, such as "rows of a new “id”"
    error: float  # with its 95 % interval
    low: float
    high: float
    score: Score | None = None  # by another metric of the report than the error, with its 95 % interval
    knows: bool = False  # whether the model looks at the groups, where new rows are of known ones


def validated_as(
    study: Study, choice: Choice, new_rows: NewRows, without: Collection[Any] = ()
) -> HonestError | None:
    """Cross-validate the recommended model with other rows left out; None without folds, or time.

    Columns that are the groups themselves are to be done `without`.
    """
    features = [name for name in choice.features if name not in without]
    other, kind = study.seen_as(new_rows), choice.kind
    if not choice.model.used_columns_:
        return _honest(other, None, 0)
    if not other.folds or not _has_time(study, kind, new_rows):
        return None
    if kind.most_rows is not None:
        return _of_found(other, *_left_out(other, choice, kind, features))
    # A tree may have been grown from a few columns only.
    names = [name for name in choice.whole._encoder.names if name in features]
    found = cross_validate(other, kind, [names] * len(other.folds), choice.stage + 1)
    return _of_found(other, found, choice.stage)


def _of_found(study: Study, found: Validation | None, stage: int, knows: bool = False) -> HonestError | None:
    return None if found is None else _honest(study, found, stage, knows)


def _honest(study: Study, found: Validation | None, stage: int, knows: bool = False) -> HonestError:
    """Return the figures of a validation, or of guessing."""
    wrong = study.guess_is_wrong if found is None else found.wrong_at(stage)
    is_error = study.metric.is_error
    score = None if is_error else study.metric.measure(rated(study, found, stage), study.costs)
    ends = error_interval(wrong, study.units, len(study.folds))
    return HonestError(str(study.new_rows), float(wrong.mean()), *ends, score, knows)


def _has_time(study: Study, kind: Kind, new_rows: NewRows) -> bool:
    seconds = len(study.folds) * study.mean_seconds("fold" if kind.most_rows is None else "fit", kind.name)
    return study.has_time_for(f"the error on {new_rows}", seconds)


def _left_out(
    study: Study, choice: Choice, kind: Kind, features: Sequence[Any]
) -> tuple[Validation | None, int]:
    found = left_out(study, kind, features, None, choice.model)
    return found, 0 if found is None else found.stages[0]


def _as_chosen(
    study: Study, choice: Choice, kind: Kind, features: Sequence[Any]
) -> tuple[Validation | None, int]:
    """Cross-validate a model, and return the stage that is as good as any, by what is left out."""
    study = study.seen_as(study.new_rows, study.new_rows)
    if kind.most_rows is not None:
        return _left_out(study, choice, kind, features)
    found = cross_validate(study, kind, [features] * len(study.folds))
    return found, 0 if found is None else first_as_good(study, found.losses)


class _OfGroups:
    """A model that knows groups: its answer times what a group has of each class over what it was said to.

    Both counts are drawn to each other by so many rows more, chosen by the log loss on the rows that were
    learned from, each without itself. Of several kinds of groups one is asked after the other. `answers` are
    those of a model that knows none.
    """

    def __init__(self, study: Study, answers: Any, X: Any, labels: Ints, groups: Sequence[str]) -> None:
        self.classes_, self._answers = study.classes, answers
        self._known: list[tuple[str, Floats, Floats, Floats]] = []
        n_classes, rows, said = len(study.classes), np.arange(len(labels)), answers(X)
        own = np.eye(n_classes)[labels]
        shares = (own.sum(axis=0) + 1 / n_classes) / (len(rows) + 1)
        for name in groups:
            has, expected = np.zeros((2, int(study.encoded[name].max()) + 1, n_classes))
            np.add.at(has, X[name], own)
            np.add.at(expected, X[name], said)
            without, less = has[X[name]] - own, expected[X[name]] - said
            rivals = [_drawn(said, without, less, weight * shares) for weight in _WEIGHTS]
            gains = [np.log(np.maximum(one[rows, labels], 0.5 / len(rows))).mean() for one in rivals]
            said = rivals[best_of(gains)]
            self._known.append((name, has, expected, _WEIGHTS[best_of(gains)] * shares))

    def predict_proba(self, X: Any) -> Floats:
        """Return what the model says of a row, by its group."""
        said = self._answers(X)
        for name, has, expected, more in self._known:
            said = _drawn(said, has[X[name]], expected[X[name]], more)
        return np.asarray(said)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class."""
        return np.asarray(self.classes_[rounded(self.predict_proba(X)).argmax(axis=1)])


def _drawn(said: Floats, has: Floats, expected: Floats, more: Floats) -> Floats:
    odds = said * (has + more) / (np.maximum(expected, 0.0) + more)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _told_groups(study: Study, found: Validation, stage: int, groups: Sequence[str]) -> Validation:
    """Let the models of the folds know groups, and validate them on the same rows."""
    stages = [stage] if found.is_staged else None
    wrong, losses = np.zeros((2, 1, len(study.tested)))
    models, features = [], []
    for (train, test), model, names in zip(study.folds, found.models, found.features, strict=True):

        def answers(X: Any, model: Any = model, names: Any = names) -> Floats:
            known = X.select(names) or study.columns(()).take(0 * X[groups[0]])
            return np.asarray(study.probabilities(model, known, stages)[0])

        features.append([*names, *groups])
        X = study.columns(features[-1])
        models.append(_OfGroups(study, answers, X.take(train), study.labels[train], groups))
        wrong[:, study.place(test)], losses[:, study.place(test)] = study.losses(
            models[-1], X.take(test), test, None
        )
    return Validation([0], wrong, losses, models, features, is_staged=False)


def of_easier(study: Study, choice: Choice, easier: NewRows) -> HonestError | None:
    """Validate what would be recommended for rows that are easier to predict than those of the verdict.

    What varies is the same, but the size of the model is chosen for them, and it may look at the groups that
    they share with known rows, if that is clearly better: these are of no use on new ones. Instead of a guess
    any kind of model may be, as it would if nobody had said who is new.
    """
    new_rows = study.new_rows
    named = zip(new_rows.names, new_rows.groups, strict=False)  # copies have no name
    shared = {name: group for name, group in named if not any(group is one for one in easier.groups)}
    features = [name for name in choice.features if name not in shared]
    best, stage, knows = None, 0, False
    other = study.seen_as(easier, new_rows).knowing(shared)
    kinds = [choice.kind] if other.folds else []
    if kinds and not choice.model.used_columns_ and not study.options.fast:
        kinds += [kind for kind in other_kinds(study, features) if kind.is_read]
    for kind in kinds:
        if not _has_time(study, kind, easier):
            continue
        plain, at = _as_chosen(other, choice, kind, features)
        rivals = [(plain, at, False)]
        if plain is not None and shared:
            rivals.append((_told_groups(other, plain, at, list(shared)), 0, True))
        for rival, at, told in rivals:
            if rival is not None and (best is None or is_better(best.of(stage), rival.of(at), other)):
                best, stage, knows = rival, at, told
    return _of_found(other, best, stage, knows)


def honest_errors(
    study: Study, choice: Choice, main: tuple[float, float, float], score: Score | None
) -> tuple[HonestError, ...]:
    """Return the errors on what is easier to predict, then that of the verdict; none for plain rows."""
    new_rows = study.new_rows
    if not new_rows or (new_rows.groups and not new_rows.has_known_groups):
        return ()
    easier = [of_easier(study, choice, one) for one in new_rows.weaker()]
    return (*(one for one in easier if one is not None), HonestError(str(new_rows), *main, score))
