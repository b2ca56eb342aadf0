"""Known in time? Each column of the recommended model, and what the model would be without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

from offsample._unit_intervals import student
from offsample.report._formats import amount
from offsample.report._study import Study
from offsample.report.sections._choice import Choice
from offsample.report.sections._validation import cross_validate, first_as_good, left_out, rated, with_choice
from offsample.report.sections.reference import ahead

WHAT = "the error without single columns"
_MOST_COLUMNS = 60  # that a model may take in place of one
# Of trees, and of models of other kinds, which take longer: how many columns are left out, the most important
# first, and how many rows models are fitted to. Trees compete up to 10,000 rows, and take less beyond.
_MOST_TRIED = {True: 12, False: 6}
_MOST_ROWS = {True: 12_000, False: 1_500}


@dataclass(frozen=True)
class WithoutColumn:
    """A column of the recommended model, and the same kind of model if it may not look at it."""

    name: str
    figure: float  # of the report's metric on the same rows held back; NaN if it was not tried
    worse: float  # by how much that is worse than with the column, in the units of the metric
    low: float  # of its 95 % interval, rows or units being paired
    high: float
    instead: tuple[str, ...] = ()  # columns that say almost the same, and can take its place


@dataclass(frozen=True)
class InTime:
    """The columns of the recommended model, the most important first, left out one at a time."""

    columns: tuple[WithoutColumn, ...]
    figure: float  # of the recommended model, with all of them
    n_folds: int  # 0 if none was left out


def describe(study: Study, choice: Choice, known: Any) -> InTime | None:
    """Leave out one column at a time, on the folds of the report; None where the model has no column.

    The model may take any other column instead, and is sized anew. Of a large table both models, with the
    column and without, are fitted to a part of the rows and of the columns: their difference is what counts.
    """
    used = list(choice.model.used_columns_)
    if not used:
        return None
    if known is None or choice.validation is None or study.options.fast:
        study.leave_out(WHAT, "a fast report does without" if known else "there was no cross-validation")
        return InTime(tuple(WithoutColumn(str(name), nan, nan, nan, nan) for name in used), nan, 0)
    figure, radius = study.metric.parts(known, study.costs)[0], student(0.975, known.n_units)
    others = [name for name in choice.features if name not in used]
    features = [*used, *others[: max(0, _MOST_COLUMNS - len(used))]]
    kind, is_tree = choice.kind, choice.kind.most_rows is None
    most, n_tried = _MOST_ROWS[is_tree], _MOST_TRIED[is_tree]
    learned = [] if study.metric.prefers_small else choice.validation.features  # of columns with evidence
    is_part = min(map(len, [features, *learned])) < len(choice.features) or len(study.y) > most
    tried, base = replace(choice, kind=replace(kind, most_rows=most) if is_part else kind), known
    if is_part:
        base = _held_back(study, tried, features)
    found: list[WithoutColumn] = []
    for name in used:
        rest, instead = None, _copies(study, str(name))
        if base is not None and len(found) < n_tried:
            rest = _held_back(study, tried, [one for one in features if one != name])
        if rest is None:
            found.append(WithoutColumn(str(name), nan, nan, nan, nan, instead))
            continue
        worse, deviation = ahead(study, rest, base)
        wide = radius * deviation if known.is_known else nan
        away = -worse if study.metric.higher_is_better else worse
        found.append(WithoutColumn(str(name), figure + away, worse, worse - wide, worse + wide, instead))
    if len(used) > n_tried:
        study.leave_out(WHAT, f"only the first {n_tried} of {amount(len(used), 'column')} were left out")
    return InTime(tuple(found), figure, choice.validation.n_folds)


def _copies(study: Study, name: str) -> tuple[str, ...]:
    """Columns that say almost the same as one."""
    pairs = [(one.column, *one.others) for one in study.findings.values() if one.code == "near-copy"]
    return tuple(one for pair in pairs if name in pair for one in pair if one != name)


def _held_back(study: Study, choice: Choice, features: Sequence[Any]) -> Any:
    """What models of the folds that may look at some columns say of rows held back; None without time."""
    known, kind = choice.validation, choice.kind
    assert known is not None
    if not study.has_time_for(WHAT, study.mean_seconds("fold" if known.is_staged else "fit", kind.name)):
        return None
    if not known.is_staged:
        found = left_out(study, kind, features, None, choice.model)
        return None if found is None else rated(study, found, found.stages[0])
    found = cross_validate(study, kind, [features] * len(study.folds), len(known.stages))
    if found is None:
        return None
    stage = first_as_good(study, found.losses)
    return rated(study, with_choice(study, [found], 0, stage), stage)
