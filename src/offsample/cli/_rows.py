"""Rows of a table in memory, for commands that fit something to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from offsample.cli._screen import say

__all__ = ["guess_error", "labelled_columns"]


def guess_error(y: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """Error of always guessing the most frequent class, and its interval."""
    from offsample._proportions import wilson

    error = 1 - float(np.unique(y, return_counts=True)[1].max()) / len(y)
    return error, *wilson(error, len(y))


def labelled_columns(
    columns: dict[Any, Any], target: str, features: list[str] | None, ignore: list[str] | None
) -> tuple[np.ndarray[Any, Any], dict[Any, Any], int]:
    """Labels, the columns to learn from, and how many rows had no label."""
    from offsample.tables import TableEncoder, take_rows
    from offsample.tables._base import NO_COLUMNS, ColumnError, check_classes, choose_features, missing_column
    from offsample.tables._columns import unreadable

    if target not in columns:
        raise missing_column(target, list(columns), "target")
    for name in ignore or ():
        if name not in columns:
            raise missing_column(name, list(columns), "column")
    chosen, _ = choose_features(list(columns), target, features, ())
    chosen = [name for name in chosen if name not in (ignore or ())]
    if not chosen:
        raise ValueError(NO_COLUMNS)
    left_out = {name: why for name in chosen if (why := unreadable(columns[name], name))}
    if len(left_out) == len(chosen):
        raise ColumnError(left_out[chosen[0]])
    for why in left_out.values():
        say(f"offsample: left out: {why}", err=True)
    chosen = [name for name in chosen if name not in left_out]
    encoder = TableEncoder([target])
    (codes,) = (column.values for column in encoder.fit_transform({target: columns[target]}))
    labels = encoder.values[0]
    known = np.flatnonzero(codes < len(labels))
    kept = {name: columns[name] for name in chosen}
    if len(known) < len(codes):
        kept = take_rows(kept, known)
    check_classes(labels, repr(target), len(known), len(codes) - len(known))
    y = _as_classes(labels)[codes[known]]
    return y, kept, len(codes) - len(known)


def _as_classes(labels: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Labels as an array that every learner takes: whole numbers and truths as they are, all else as text."""
    from offsample.tables._base import class_names

    types = {type(label) for label in labels}
    is_whole = types == {float} and all(label.is_integer() for label in labels)
    if is_whole or (len(types) == 1 and np.array(labels).dtype.kind in "biuU"):
        return np.array(labels)
    return np.array(class_names(labels))
