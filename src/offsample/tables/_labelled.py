"""Rows with a label, and the columns to learn from: what is fitted to a table in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Ints
from offsample.tables._base import (
    NO_COLUMNS,
    ColumnError,
    Wanted,
    check_classes,
    class_names,
    missing_column,
)
from offsample.tables._columns import unreadable
from offsample.tables._encoder import TableEncoder
from offsample.tables._memory import read_units
from offsample.tables._read import take_rows
from offsample.tables._units import Units


class LabelledRows(NamedTuple):
    """Labels, the columns to learn from, rows without a label, and why some columns were left out."""

    y: NDArray[Any]
    columns: dict[Any, Any]
    n_dropped: int
    left_out: tuple[str, ...]
    groups: tuple[Ints, ...] = ()  # codes of the columns of groups, without those that lie within others
    time: Ints | None = None


def labelled_rows(
    columns: Mapping[Any, Any],
    target: Any,
    features: Sequence[Any] | None = None,
    ignore: Collection[Any] = (),
    units: Units | None = None,
) -> LabelledRows:
    """Split columns in memory into labels and features, without the rows that have no label.

    Parameters
    ----------
    columns : mapping from names to columns
    target : name
        The column to predict. Whole numbers and truths stay what they are, other labels become text.
    features : list of names, optional
        By default all columns but the target.
    ignore : collection of names
        Columns to leave out; so is, with a sentence in `left_out`, one that cannot be read.
    units : Units, optional
        Columns that say which rows belong together, and when they were: no features.

    Examples
    --------
    >>> from offsample.tables import labelled_rows
    >>> rows = labelled_rows({"city": ["Rome", "Oslo", "Rome"], "churned": [1, 0, None]}, "churned")
    >>> rows.y.tolist(), rows.columns, rows.n_dropped
    ([1, 0], {'city': ['Rome', 'Oslo']}, 1)
    """
    names, units = list(columns), units or Units()
    for name, role in ((target, "target"), *((name, "column") for name in ignore)):
        if name not in columns:
            raise missing_column(name, names, role)
    chosen = [name for name in Wanted(target, features, units=units).choose(names)[0] if name not in ignore]
    if not chosen:
        raise ValueError(NO_COLUMNS)
    left_out = {name: why for name in chosen if (why := unreadable(columns[name], name))}
    if len(left_out) == len(chosen):
        raise ColumnError(left_out[chosen[0]])
    encoder = TableEncoder([target])
    (codes,) = (column.values for column in encoder.fit_transform({target: columns[target]}))
    labels = encoder.values[0]
    known = np.flatnonzero(codes < len(labels))
    kept = {name: columns[name] for name in chosen if name not in left_out}
    if len(known) < len(codes):
        kept = take_rows(kept, known)
    n_dropped = len(codes) - len(known)
    check_classes(labels, repr(target), len(known), n_dropped)
    y = _as_classes(labels)[codes[known]]
    groups, time = read_units(units, columns.__getitem__, len(codes), known)
    return LabelledRows(y, kept, n_dropped, tuple(left_out.values()), tuple(groups), time)


def _as_classes(labels: tuple[Any, ...]) -> NDArray[Any]:
    """Labels as an array that every learner takes: whole numbers and truths as they are, all else as text."""
    types = {type(label) for label in labels}
    is_whole = types == {float} and all(label.is_integer() for label in labels)
    if is_whole or (len(types) == 1 and np.array(labels).dtype.kind in "biuU"):
        return np.array(labels)
    return np.array(class_names(labels))
