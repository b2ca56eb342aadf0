"""Identifier: values too rare to generalise, however perfect they look on the sample."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from scipy.stats import kstest

from offsample.ranking import RankedFeature
from offsample.report._formats import percent, quantity, r2_text
from offsample.report._study import Study
from offsample.report.findings import Finding, Term
from offsample.report.findings.leak import limit_of
from offsample.rows import Entity
from offsample.tables._meaning import is_prose

CODE = "identifier"
TERM = Term(
    "Identifier",
    "Its values name single rows, or what rows belong to. It may look perfect in training, but what is "
    "learned from a value that never comes back is of no use on new rows.",
    "Drop it, or derive something from it that repeats, such as the region from a postcode. The model "
    "here does not use it.",
)
RULE = (
    "Text and categories: more than half of new rows will bring a value not seen before, with 95 % "
    "confidence; or no value occurs more than three times; or the column would be a leak, but rows seem to "
    "belong to its values, as visits do to patients (see Suspected group). Whole numbers: no two rows share "
    "one, and they either run on with few gaps, as invoice numbers do, or are spread evenly and say nothing "
    "about the target, as random keys do. Numbers with decimals, dates and free text are never identifiers."
)
QUARANTINES = True

_MIN_ROWS = 20  # with fewer rows a column of names may well be free of repetitions
_KEY_ROWS = 200
_KEY_TIMES = 3


def find(study: Study) -> dict[Any, Finding]:
    """Find columns whose values name rows."""
    found = {}
    for feature in study.ranking:
        look = _names_of_rows if feature.kind == "categorical" else _numbers_of_rows
        reason = look(feature, study)
        if reason:
            found[feature.name] = Finding(CODE, str(feature.name), f"{feature.name}: {reason}.")
    return found


def _names_of_rows(feature: RankedFeature, study: Study) -> str | None:
    n_rows = study.ranking.n_samples
    if is_prose(study.as_read.known[feature.name].values, len(study.y)):  # words of it may say something
        return None
    # The squared error of the Good–Turing estimate is at most 1/(n + 1) on average (Robbins, 1968).
    if n_rows >= _MIN_ROWS and feature.missing_mass - 1.645 / sqrt(n_rows + 1) > 0.5:
        unseen = f"{percent(feature.missing_mass)} of {study.new_rows} will have a value not seen before, so"
        if study.by_medians is not None:
            known = study.by_medians[feature.name]
            trained, new = quantity(known.training_error), quantity(known.error)
            return f"{unseen} its medians, off by {trained} in training, are off by {new} on {study.new_rows}"
        if feature.r2 is not None:
            trained, new = r2_text(feature.training_r2), r2_text(feature.r2)
            return f"{unseen} R² falls from {trained} in training to {new} on {study.new_rows}"
        if not study.metric.is_error:
            return f"{unseen} what is learned from these is of no use on {study.new_rows}"
        trained, new = percent(feature.training_error), percent(min(feature.error, 1))
        return f"{unseen} the error rises from {trained} in training to {new} on {study.new_rows}"
    if feature.high <= limit_of(study) and (entity := _entity(study, feature.name)):
        return (
            f"rows seem to belong to its {entity.n_groups:,} values, {entity.rows_per_group:.3g} to each: "
            "what it says of these it says of no new one. If new rows are of new ones, name it as the group"
        )
    if n_rows < _KEY_ROWS or study.encoded.kind(feature.name) != "categorical":
        return None
    times = int(np.bincount(study.encoded[feature.name]).max()) if len(study.y) == n_rows else _KEY_TIMES + 1
    if times <= _KEY_TIMES and feature.n_missing <= _KEY_TIMES:
        return f"no value occurs more than {times} times in {n_rows:,} rows"
    return None


def _entity(study: Study, name: Any) -> Entity | None:
    """What rows belong to, if it is the values of this column, and the user has not said another."""
    entities = () if study.options.group else study.entities
    return next((one for one in entities if one.names == (name,)), None)


def _numbers_of_rows(feature: RankedFeature, study: Study) -> str | None:
    values = np.asarray(study.encoded[feature.name], dtype=float)
    values = values[~np.isnan(values)]
    is_number = study.encoded.known[feature.name].quantity == "number"
    if len(values) < _MIN_ROWS or not is_number or (values != np.floor(values)).any():
        return None
    n_present = study.ranking.n_samples - feature.n_missing
    n_values = None if feature.n_values is None else feature.n_values - (feature.n_missing > 0)
    unique = n_values == n_present if n_values is not None else len(np.unique(values)) == len(values)
    if not unique:
        return None
    span = values.max() - values.min() + 1
    if span <= 2 * n_present:
        return f"running numbers: each of {n_present:,} rows has its own, with few gaps"
    even = kstest(values, "uniform", args=(values.min(), span)).pvalue > 0.01
    if even and not feature.significant:
        return f"each of {n_present:,} rows has its own number, and it says nothing about the target"
    return None
