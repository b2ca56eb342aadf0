"""Predictions of several configurations for the same rows, whatever made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._held_out_counts import unit_parts
from offsample._text import amount
from offsample._typing import Booleans
from offsample.assessment._losses import SearchLosses
from offsample.assessment._metrics import metric_of
from offsample.assessment._scores import SearchScores, checked
from offsample.assessment._units import ScoredRows
from offsample.tables import columns_of, is_dataframe, read_table, unit_codes
from offsample.tables._base import missing_column


def predicted_losses(
    predictions: Any,
    metric: Any,
    of_rows: dict[str, Any],
    study: Any = None,
    greater_is_better: bool | None = None,
) -> tuple[SearchScores, SearchLosses]:
    """Score predictions out of fold.

    `of_rows` has y, groups, time and fold, each an array, the name of a column of a table of predictions, or
    None. Rows that no configuration predicts are left out, and so are configurations that lack some rows.
    """
    labels, arrays, given = _configurations(predictions, of_rows, study)
    if not arrays:
        raise ValueError("there are no predictions: expected a column or an array for each configuration")
    n_rows = len(arrays[0])
    for label, p in zip(labels, arrays, strict=True):
        if p.ndim not in (1, 2) or p.shape != arrays[0].shape:
            raise ValueError(
                f"configuration {label!r} has predictions of shape {p.shape}, expected {arrays[0].shape} as "
                "the first has: one for each row, or for each row and class"
            )
    if given["y"] is None and metric != "loss":
        raise ValueError("y is missing: the true values of the rows that were predicted")
    y = np.zeros(n_rows) if given["y"] is None else np.asarray(given["y"])
    if y.shape != (n_rows,):
        raise ValueError(f"y has shape {y.shape}, expected a value for each of the {n_rows} predictions")
    if n_missing := int(_is_missing(y).sum()):
        raise ValueError(f"y has no value in {amount(n_missing, 'row')}: leave them out, of predictions too")
    missing = np.array([_is_missing(p) for p in arrays])
    rows = np.asarray(~missing.all(axis=0))
    whole = np.asarray(~missing[:, rows].any(axis=1))
    if not rows.any() or not whole.any():
        raise ValueError(f"none of the {len(arrays)} configurations has a prediction for every row")
    codes = {
        name: unit_codes(given[name], name, n_rows)[rows]
        for name in ("groups", "time", "fold")
        if given[name] is not None
    }
    units = unit_parts(codes.get("groups"), codes.get("time"))
    unit = np.unique(units[0], return_inverse=True)[1] if units else np.arange(int(rows.sum()))
    fold = np.unique(codes.get("fold", np.zeros_like(unit)), return_inverse=True)[1]
    kept = [p[rows] for p, is_whole in zip(arrays, list(whole), strict=True) if is_whole]
    asked = metric_of(metric, greater_is_better)
    if not callable(metric) and (asked.response != "predict" or not asked.takes_classes):
        for label, p in zip(labels, arrays, strict=True):
            texts = (v for v in p.ravel().tolist() if isinstance(v, str))
            if p.dtype.kind in "OUS" and (text := next(texts, None)) is not None:
                raise ValueError(
                    f"{asked.title} is of numbers, and {label!r} has {text!r}: leave out what is no "
                    "prediction (--ignore on the command line)"
                )
        beside = [p[rows] if p.dtype.kind in "iu" else p[rows].astype(float) for p in arrays]
        _check_alike(labels, beside, asked.title)
    elif not callable(metric):
        classes = {*y[rows].tolist()}
        others = {
            label: p[rows].tolist()[0]
            for label, p in zip(labels, arrays, strict=True)
            if p.ndim == 1 and p.dtype.kind != "f" and not classes & {*p[rows].tolist()}
        }
        if 0 < len(others) < len(arrays):
            label, value = next(iter(others.items()))
            raise ValueError(
                f"{label!r} has {value!s} and none of the classes: leave out what is no prediction (--ignore "
                "on the command line)"
            )
    known, kept, kind = asked.encoded(y[rows], kept)
    scored = ScoredRows(known, fold, unit, bool(units), len(unit))
    if "groups" in codes and "time" not in codes:
        scored.check_whole()
    losses = SearchLosses.of_predictions(kind, scored, kept)
    scores = np.full((len(arrays), losses.folds.shape[1]), np.nan)
    scores[whole] = -losses.folds if kind.greater_is_better else losses.folds
    return replace(checked(scores, tuple(labels), kind.greater_is_better), title=kind.title), losses


def _configurations(
    predictions: Any, given: dict[str, Any], study: Any
) -> tuple[list[Any], list[NDArray[Any]], dict[str, Any]]:
    """Names and predictions of the configurations, and what is known of rows, some of it from columns."""
    if study is not None:
        trials = [trial for trial in study.trials if predictions in trial.user_attrs]
        if not trials:
            kept = sorted({name for trial in study.trials for name in trial.user_attrs})
            raise ValueError(
                f"no trial has the user attribute {predictions!r}, but {', '.join(kept) or 'none'}"
            )
        found = [np.asarray(trial.user_attrs[predictions]) for trial in trials]
        return [dict(trial.params) for trial in trials], found, given
    if isinstance(predictions, str | Path):
        predictions = read_table(predictions)
    if is_dataframe(predictions) or isinstance(predictions, Mapping):
        columns = columns_of(predictions)
        named = {role: column for role, column in given.items() if isinstance(column, str)}
        for role, column in named.items():
            if column not in columns:
                raise missing_column(column, list(columns), "target" if role == "y" else role)
        given = given | {role: columns[column] for role, column in named.items()}
        columns = {name: p for name, p in columns.items() if name not in named.values()}
        return list(columns), [np.asarray(p) for p in columns.values()], given
    arrays = [np.asarray(p) for p in predictions]
    arrays = [np.asarray(predictions)] if arrays and arrays[0].ndim == 0 else arrays
    return list(range(len(arrays))), arrays, given


def _check_alike(labels: list[Any], arrays: list[NDArray[Any]], title: str) -> None:
    """Refuse whole numbers beside fractions: identifiers, most likely; 0 and 1 may be sure predictions."""
    codes = {
        i: float(p.max())
        for i, p in enumerate(arrays)
        if len(np.unique(p)) > 2 and (p.dtype.kind in "iu" or (title == "AUC" and (p % 1 == 0).all()))
    }
    if 0 < len(codes) < len(arrays):
        place, value = next(iter(codes.items()))
        raise ValueError(
            f"{labels[place]!r} has {value:g} where others have fractions, which are what {title} is of: "
            "leave out what is no prediction (--ignore on the command line)"
        )


def _is_missing(p: NDArray[Any]) -> Booleans:
    """Rows without a prediction."""
    flat = p.reshape(len(p), -1)
    if p.dtype.kind == "O":
        return np.array([any(value is None or value != value for value in row) for row in flat], dtype=bool)
    return np.asarray(np.isnan(flat).any(axis=1) if p.dtype.kind == "f" else np.zeros(len(p), dtype=bool))
