"""The same model on other new rows: of known groups, of new groups, of a later time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._held_out_counts import together
from offsample._ties import best_of, rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.report._metrics import Score
from offsample.report._study import Study
from offsample.report._units import NewRows
from offsample.report.sections._choice import Choice, off_by_of, score_of
from offsample.report.sections._kinds import Kind, other_kinds
from offsample.report.sections._validation import (
    Validation,
    cross_validate,
    first_as_good,
    is_better,
    left_out,
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
    mean_absolute_error: Score | None = None  # of a target of numbers, with its 95 % interval


def validated_as(
    study: Study, choice: Choice, new_rows: NewRows, without: Collection[Any] = ()
) -> HonestError | None:
    """Cross-validate the recommended model with other rows left out; None without folds, or time.

    Columns that are the groups themselves are to be done `without`.
    """
    features = [name for name in choice.features if name not in without]
    other, kind = study.seen_as(new_rows), choice.kind
    if not choice.model.used_columns_ or not features:
        return _honest(other, None, 0)
    if not other.folds or not _has_time(study, kind, new_rows):
        return None
    if kind.most_rows is not None:
        found = left_out(other, kind, features, None, choice.model)
        return None if found is None else _honest(other, found, found.stages[0])
    # A tree may have been grown from a few columns only.
    names = [name for name in choice.whole._encoder.names if name in features] or features
    found = cross_validate(other, kind, [names] * len(other.folds), choice.stage + 1)
    return None if found is None else _honest(other, found, choice.stage)


def _honest(study: Study, found: Validation | None, stage: int, knows: bool = False) -> HonestError:
    """Return the figures of a validation, or of guessing."""
    if study.guess_name == "the median" and not (stage or knows):
        found = None  # a tree without a split would say the mean
    wrong = study.guess_is_wrong if found is None else found.wrong_at(stage)
    ends, score = study.error_interval(wrong, len(study.folds)), score_of(study, found, stage)
    off = off_by_of(study, found, stage)
    return HonestError(str(study.new_rows), float(wrong.mean()), *ends, score, knows, off)


def _has_time(study: Study, kind: Kind, new_rows: NewRows) -> bool:
    seconds = len(study.folds) * study.mean_seconds("fold" if kind.most_rows is None else "fit", kind.name)
    return study.has_time_for(f"the error on {new_rows}", seconds)


def _as_chosen(
    study: Study, choice: Choice, kind: Kind, features: Sequence[Any]
) -> tuple[Validation | None, int]:
    """Cross-validate a model, and return the stage that is as good as any, by what is left out."""
    study = study.seen_as(study.new_rows, study.new_rows)
    if kind.most_rows is not None:
        found = left_out(study, kind, features, None, choice.model)
        return found, 0 if found is None else found.stages[0]
    found = cross_validate(study, kind, [features] * len(study.folds))
    return found, 0 if found is None else first_as_good(study, found.losses)


@dataclass(frozen=True, eq=False)
class _Said:
    """What was said of the rows that a fold tests, in the place of a model; numbers have no classes."""

    classes_: NDArray[Any] | None
    proba: Floats

    def predict_proba(self, _: Any) -> Floats:
        return self.proba

    def predict(self, _: Any) -> NDArray[Any]:
        if self.classes_ is None:
            return self.proba[:, 0]
        return np.asarray(self.classes_[rounded(self.proba).argmax(axis=1)])


def _told_groups(study: Study, found: Validation, stage: int, groups: Sequence[str]) -> Validation:
    """Tell the models of the folds which groups the rows are of, and validate them on the same rows.

    A model's answer is multiplied by what the other rows of a row's group have of each class over what the
    model expects of them, both drawn to each other by so many rows more: as many as have the least log loss
    on the rows that were learned from. Other rows are all that a new row would find: none that is left out
    with it, and none that is later. Of several kinds of groups one is asked after the other. To a number is
    added what the others are off by on average, so many rows more being off by nothing.
    """
    easier, stages = study.new_rows, [stage] if found.is_staged else None
    of_numbers, rows = study.task == "regression", np.arange(len(study.y))
    own = study.y[:, None] if of_numbers else np.eye(len(study.classes))[study.labels]
    drawn = _moved if of_numbers else _drawn
    left_out = easier.groups[0] if easier.groups else rows
    codes = [(study.encoded[name], together(study.encoded[name], left_out)) for name in groups]
    wrong, losses = np.zeros((2, 1, len(study.tested)))
    models: list[Any] = []
    for (train, test), model, names in zip(study.folds, found.models, found.features, strict=True):
        learned = np.isin(rows, train)
        shares = np.ones(1) if of_numbers else (own[train].sum(axis=0) + 1 / own.shape[1]) / (len(train) + 1)
        X = study.columns(names)
        tried = said = (
            study.says(model, X, stages)[0][:, None]
            if of_numbers
            else study.probabilities(model, X, stages)[0]
        )
        known = learned if easier.time is not None else np.ones(len(rows), bool)
        for code in codes:
            rivals = [drawn(tried, own, learned, code, weight * shares) for weight in _WEIGHTS]
            best = best_of([_goodness(study, one, train) for one in rivals])
            tried, said = rivals[best], drawn(said, own, known, code, _WEIGHTS[best] * shares)
        models.append(_Said(None if of_numbers else study.classes, said[test]))
        place = study.place(test)
        wrong[:, place], losses[:, place] = study.losses(models[-1], None, test, None)
    return Validation([0], wrong, losses, models, found.features, is_staged=False)


def _goodness(study: Study, said: Floats, rows: Ints) -> float:
    """How well something is said of some rows: minus their log loss, or squared error in their variance."""
    if study.task == "regression":
        return -float(study.wrong(said[rows, 0], rows).mean()) / float(study.y.var())
    return float(np.log(np.maximum(said[rows, study.labels[rows]], 0.5 / len(rows))).mean())


def _moved(said: Floats, own: Floats, known: Booleans, code: tuple[Ints, Ints], more: Floats) -> Floats:
    """Add to what is said of rows what the known others of a group are off by, on average."""
    has, n_known = (_of_others(values * known[:, None], *code) for values in (own - said, np.ones_like(said)))
    return np.asarray(said + has / (n_known + more))


def _drawn(said: Floats, own: Floats, known: Booleans, code: tuple[Ints, Ints], more: Floats) -> Floats:
    """Multiply what is said of rows by what the known others of a group have over what is said of them."""
    has, expected = (_of_others(values * known[:, None], *code) for values in (own, said))
    odds = said * (has + more) / (np.maximum(expected, 0.0) + more)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _of_others(values: Floats, group: Ints, left_out: Ints) -> Floats:
    """Sum values of the rows of a group that are not left out together."""
    sums = []
    for code in (group, left_out):
        of_code = np.zeros((int(code.max()) + 1, values.shape[1]))
        np.add.at(of_code, code, values)
        sums.append(of_code[code])
    return np.asarray(sums[0] - sums[1])


def of_easier(study: Study, choice: Choice, easier: NewRows) -> HonestError | None:
    """Validate what would be recommended for rows that are easier to predict than those of the verdict.

    What varies is the same, but the size of the model is chosen for them, and it may look at the groups that
    they share with known rows, if that loses less: these are of no use on new ones. Instead of a guess
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
        rival, told = plain, False
        if plain is not None and shared:
            # How far groups are believed was decided by rows learned from, down to not at all.
            asked = _told_groups(other, plain, at, list(shared))
            if rounded(np.nanmean(asked.of(0))) < rounded(np.nanmean(plain.of(at))):
                rival, at, told = asked, 0, True
        if rival is not None and (best is None or is_better(best.of(stage), rival.of(at), other)):
            best, stage, knows = rival, at, told
    return None if best is None else _honest(other, best, stage, knows)


def honest_errors(
    study: Study, choice: Choice, main: tuple[float, float, float], score: Score | None
) -> tuple[HonestError, ...]:
    """Return the errors on what is easier to predict, then that of the verdict; none for plain rows."""
    study = study.copied or study
    new_rows = study.new_rows
    if not new_rows or (new_rows.groups and not new_rows.has_known_groups):
        return ()
    easier = [of_easier(study, choice, one) for one in new_rows.weaker()]
    return (*(one for one in easier if one is not None), HonestError(str(new_rows), *main, score))
