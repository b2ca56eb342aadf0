"""The same model on other new rows: of known groups, of new groups, of a later time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsample._ties import best_of
from offsample._typing import Booleans
from offsample.report._study import Study
from offsample.report._units import NewRows, error_interval
from offsample.report.sections._choice import Choice
from offsample.report.sections._validation import cross_validate, first_as_good, left_out


@dataclass(frozen=True)
class HonestError:
    """An error of the recommended learner, and what rows it is for."""

    label: str  # in words, such as "rows of a new “id”"
    error: float  # with its 95 % interval
    low: float
    high: float


def validated_as(
    study: Study,
    choice: Choice,
    new_rows: NewRows,
    varying: NewRows | None = None,
    without: Collection[Any] = (),
) -> HonestError | None:
    """Cross-validate the recommended model with other rows left out; None without folds, or time.

    Where rows are easier to predict than those of the verdict, and `varying` says what varies all the same,
    the learner chooses the size of its model by them: it may use there what is of no use on new groups.
    Columns that are the groups themselves are to be done `without`.
    """
    features = [name for name in choice.features if name not in without]
    other, kind, is_easier = study.seen_as(new_rows, varying), choice.kind, varying is not None
    wrong, n_folds, is_staged = other.guess_is_wrong, len(other.folds), kind.most_rows is None
    if choice.model.used_columns_ or is_easier:
        seconds = n_folds * study.mean_seconds("fold" if is_staged else "fit", kind.name)
        if not n_folds or not study.has_time_for(f"the error on {new_rows}", seconds):
            return None
        if not is_staged:
            found = left_out(other, kind, features, np.ones(len(other.tested), bool), choice.model.size_)
            validated = None if found is None else found[0] > 0
        elif is_easier:
            validated = _as_chosen(other, choice)
        else:  # a tree may have been grown from a few columns only
            names = [name for name in choice.whole._encoder.names if name in features]
            validation = cross_validate(other, kind, [names] * n_folds, choice.stage + 1)
            validated = None if validation is None else validation.of(choice.stage)
        if validated is None:
            return None
        wrong = validated
    return HonestError(str(new_rows), float(wrong.mean()), *error_interval(wrong, other.units, n_folds))


def _as_chosen(study: Study, choice: Choice) -> Booleans | None:
    """Return where the tree of the size that is as good as any, by what is left out, is wrong."""
    study = study.seen_as(study.new_rows, study.new_rows)
    validation = cross_validate(study, choice.kind, [choice.features] * len(study.folds))
    if validation is None:
        return None
    best = int(best_of(-validation.wrong.mean(axis=1)))
    return np.asarray(validation.wrong[first_as_good(study, validation.wrong, best)])


def honest_errors(study: Study, choice: Choice, main: tuple[float, float, float]) -> tuple[HonestError, ...]:
    """Return the errors on what is easier to predict, then that of the verdict; none for plain rows."""
    new_rows = study.new_rows
    if not new_rows or (new_rows.groups and not new_rows.has_known_groups):
        return ()
    easier = [validated_as(study, choice, one, new_rows) for one in new_rows.weaker()]
    return (*(one for one in easier if one is not None), HonestError(str(new_rows), *main))
