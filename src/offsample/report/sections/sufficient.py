"""Which few columns suffice: the error against the number of columns, and how sure the choice is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from offsample.induction import TreeClassifier
from offsample.margin.sufficient import SufficientColumns, sufficient_columns
from offsample.report._study import Study

__all__ = ["SufficientColumns", "describe", "helps"]

MOST_COLUMNS = 200
MOST_COLUMNS_FAST = 50
# Rows of a second class, without which folds of the sample would lack it.
_LEAST_ROWS = 10
# Every row is compared with every other, column by column: rows are fewer where columns are many.
_MOST_COMPARISONS = 2e8


def describe(study: Study, trusted: Sequence[Any]) -> SufficientColumns | None:
    """The error against the number of columns, of those that may be used; None where it cannot be told.

    The nearest-neighbour rule is tried and, unless the report is to be fast, the tree, whose error then
    decides.
    """
    what = "which few columns suffice"
    fast = study.options.fast
    if not trusted:
        study.skipped.append(f"{what}: no column is left to choose from")
        return None
    max_rows = 1000 if fast else int(min(max((_MOST_COMPARISONS / len(trusted)) ** 0.5, 2000), 5000))
    second = np.sort(np.bincount(study.labels))[::-1][1:2].sum()
    if second * min(1.0, max_rows / len(study.labels)) < _LEAST_ROWS:
        study.skipped.append(f"{what}: too few rows, {second} of the second most frequent class")
        return None
    if fast and len(trusted) > MOST_COLUMNS_FAST:
        study.skipped.append(f"{what}: {len(trusted)} columns take too long for a fast report")
        return None
    if not study.has_time_for(what):
        return None
    if len(trusted) > MOST_COLUMNS:
        study.skipped.append(
            f"{what}: only the first {MOST_COLUMNS} of {len(trusted)} columns, by themselves the best, "
            "were looked at"
        )
        trusted = trusted[:MOST_COLUMNS]
    found = sufficient_columns(
        study.declared_columns(trusted),
        study.y,
        classifier=None if fast else TreeClassifier(random_state=study.options.random_state),
        max_rows=max_rows,
        n_folds=3,
        n_resamples=4 if fast else 5,
        random_state=study.options.random_state,
    )
    return replace(found, columns=tuple(replace(column, name=str(column.name)) for column in found.columns))


def helps(found: SufficientColumns) -> bool:
    """Whether no column at all would not do as well: the rule by which the number is chosen, for none."""
    by_model = [
        (size.model_error, size.model_standard_error)
        for size in found.sizes
        if size.model_error is not None and size.model_standard_error is not None
    ]
    error, standard_error = min(by_model or [(size.error, size.standard_error) for size in found.sizes])
    return error + standard_error < found.baseline_error
