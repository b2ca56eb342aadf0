"""Drift: columns that predict later rows worse, and values that appear or die out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from offsample._typing import Ints
from offsample.report._formats import percent, short_name
from offsample.report._study import Study
from offsample.report.findings import Finding, Term
from offsample.rows import Drift, find_drift
from offsample.rows._drift import LEAST, LEVEL, shift

CODE = "drift"
TERM = Term(
    "Drift",
    "What the column says about the target, or its values, changed in the course of time.",
    "Expect less of it on later rows; ask what happened.",
)
SHIFT = 0.05  # of the share of a class that is told
SHIFT_OF_MEAN = 0.2  # of a number, in standard deviations
RULE = (
    "Each row of the last fifth is predicted from earlier ones by the column alone. The error is larger, by "
    f"{100 * LEAST:g} point or more, than where times are shuffled among the rows, beyond chance at "
    f"{100 * LEVEL:g} % over all columns; or, where the time is named, the class of interest has "
    f"{100 * SHIFT:g} points more or less in the last fifth than in the first (a number, a mean by "
    f"{SHIFT_OF_MEAN:g} standard deviations higher or lower), at {100 * LEVEL:g} %. The "
    "others are errors; where the report leads with something else about one class, of columns those if that "
    "class and the rest count alike, so that a rare one is seen. It is looked for if rows have a time, or "
    "seem to. Of rows in groups, what varies by chance is groups."
)
QUARANTINES = False


def find(study: Study) -> dict[Any, Finding]:
    """Find columns that worked better in the past."""
    time, name = study.new_rows.time, study.options.time
    if time is None and study.suspected_orders:
        time, name = study.places_in(study.suspected_orders[0]), study.suspected_orders[0].name
    if time is None or not study.has_time_for("drift"):
        return {}
    columns = {known: values for known, values in study.encoded.items() if known != name}
    found = {}
    # The errors of a rare class hardly change: where the page does not lead with them, classes count alike.
    alike = study.task == "classification" and study.is_named and not study.metric.is_error
    labels = (study.labels == study.class_of_interest).astype(np.int64) if alike else study.labels
    of_classes, *of_columns = find_drift(columns, labels, time, study.new_rows.groups, alike=alike)
    # Where the classes change, any column errs more: only what errs still more has changed too.
    least = _rise(of_classes) + LEAST if of_classes.is_found else 0.0
    moved = [] if study.options.time is None else _moved(study, time)  # else the question says it
    for drift in (of_classes, *of_columns):
        more = moved if drift.name is None else []
        if more or (drift.is_found and (drift.name is None or _rise(drift) > least)):
            column = None if drift.name is None else str(drift.name)
            said = "; ".join([*_said(study, drift, alike=alike and drift.name is not None), *more])
            found[drift.name] = Finding(CODE, column, f"{column or study.target}: {said}.")
    return found


def _moved(study: Study, time: Ints) -> list[str]:
    """Say how the share of the class of interest changed from the first fifth of the rows to the last."""
    is_number = study.task == "regression"
    values = rankdata(study.y) if is_number else (study.labels == study.class_of_interest).astype(np.int64)
    first, last, p_value = shift(values, time, study.new_rows.groups)
    shown = study.y if is_number else values
    moved = abs(shown[last].mean() - shown[first].mean()) if first.any() and last.any() else 0.0
    if p_value > LEVEL or moved < (SHIFT_OF_MEAN * study.y.std() if is_number else SHIFT):
        return []
    if is_number:
        return [f"the first fifth of the rows has {study.said_of(first)}, and the last {study.said_of(last)}"]
    before, after = (percent(values[part].mean()) for part in (first, last))
    label = short_name(study.classes[study.class_of_interest])
    return [f"{before} of the first fifth of the rows are {label}, and {after} of the last"]


def _rise(drift: Drift) -> float:
    return drift.error - drift.shuffled_error


def _said(study: Study, drift: Drift, *, alike: bool) -> list[str]:
    said = []
    if drift.is_found:
        classes, of_fifths = "classes", ""
        if study.task == "regression":
            classes, of_fifths = f"fifths of {study.target}", f" about the fifth of {study.target}"
        what = f"the shares of the {classes} alone make" if drift.name is None else "by itself it makes"
        what = f"if both {classes} count alike, {what}" if alike else what
        said.append(
            f"{what} {percent(drift.error)} errors{of_fifths} in the last fifth of the rows, against "
            f"{percent(drift.shuffled_error)} if rows came in any order"
        )
    if drift.stopped_working:
        said.append("it was better than no column before, and is not any more")
    return said
