"""Rows that belong together, rows in time: which they are, for any table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample._counting import stable_order
from offsample._typing import Grouping, Ints

# Rows in time are taken together in so many parts of about equal size, whose means are compared.
N_PARTS = 30


_ISO = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}(:\d{2}(:\d{2}(\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?)?)?")


class Units(NamedTuple):
    """What new rows come in: columns of groups, and a column of time; names, or arrays in memory."""

    groups: tuple[Any, ...] = ()
    time: Any = None

    @classmethod
    def of(cls, group: Any, time: Any) -> Units:
        """Read what a user gave: a name, a list of names, an array, or nothing."""
        if group is None:
            return cls((), time)
        are_names = isinstance(group, list) and all(isinstance(name, str) for name in group)
        # A name that occurs twice is none of a column: these are the groups of the rows.
        if are_names and 0 < len(group) == len(set(group)):
            return cls(tuple(group), time)
        return cls(tuple(kinds(group)), time)

    def __bool__(self) -> bool:
        return bool(self.groups) or self.time is not None

    @property
    def names(self) -> list[Any]:
        """Columns of the table that are units, and so no features."""
        return [unit for unit in (*self.groups, self.time) if unit is not None and is_a_name(unit)]

    @property
    def group_names(self) -> tuple[str, ...]:
        """What to call the kinds of groups."""
        return tuple(str(one) if is_a_name(one) else f"group {n}" for n, one in enumerate(self.groups, 1))

    @property
    def new_rows(self) -> str:
        """What an error is for, in words."""
        named = [f"a new {name!r}" if is_a_name(name) else "a new group" for name in self.groups]
        whose = f" with {' and '.join(named)}" if named else ""
        if self.time is None:
            return f"rows{whose}" if whose else "new rows"
        return f"later rows{whose}"

    def role(self, name: Any) -> str | None:
        """What a column is, if it is one of them."""
        if is_a_name(self.time) and name == self.time:
            return "time"
        return "group" if name in [unit for unit in self.groups if is_a_name(unit)] else None


class UnitRows(NamedTuple):
    """A column with the class and the units of each row that has a class, sorted by time, or else by group.

    Codes go from 0 on, and none is left out.
    """

    values: NDArray[Any]  # codes, or float64 with NaN where missing
    y: NDArray[Any]  # classes as int64, or numbers
    groups: list[Ints]
    time: Ints | None
    n_missing: int = 0

    @classmethod
    def in_order(cls, rows: Ints, y: NDArray[Any], groups: list[Ints], time: Ints | None) -> UnitRows:
        """Numbers of rows, as the values, in the order in which they are counted fastest."""
        y = y if y.dtype == np.float64 else y.astype(np.int64)
        if time is None and not groups:
            return cls(rows, y, [], None)
        first = groups[0] if time is None else time
        order = stable_order(first, int(first.max(initial=0)) + 1)
        time = None if time is None else time[order]
        return cls(rows[order], y[order], [group[order] for group in groups], time)


def is_a_name(unit: Any) -> bool:
    """Whether a unit is the name of a column, and not its values."""
    return isinstance(unit, (str, int, tuple)) and not isinstance(unit, bool)


def missing_unit(role: str, name: Any, n_missing: int) -> ValueError:
    """Error for rows of which it is not known what they belong to, or when they were."""
    how = "" if role == "time" else " (a row that belongs to no other has a value of its own)"
    rows = f"{n_missing:,} row{'s' * (n_missing != 1)}"
    return ValueError(f"{role} {name!r} is missing in {rows}: fill it in{how}, or leave these rows out")


def in_order_of_time(
    values: tuple[Any, ...], codes: NDArray[Any], name: Any
) -> tuple[tuple[Any, ...], NDArray[Any]]:
    """Times that are written as text in their order, those of one moment together: ISO dates, or numbers."""
    try:
        is_iso = all(_ISO.fullmatch(str(value)) for value in values)
        numbers = np.array([_moment(value) if is_iso else float(value) for value in values])
    except ValueError:
        if is_iso:  # a month or a day that is none: in the order of the text
            return values, codes
        odd = next(value for value in values if not _ISO.fullmatch(str(value)))
        raise ValueError(
            f"time {name!r} is text such as {odd!r}, whose order is not that of time: write dates as "
            "2026-11-17 or 2026-11-17T09:30, or give numbers"
        ) from None
    _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    place = np.append(place, len(first))  # a missing value has the last code
    return tuple(values[i] for i in first), place[codes]


def _moment(text: str) -> float:
    """Seconds of an ISO date; one without an offset is in UTC."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def varying(codes: Ints, role: str, name: Any) -> Ints:
    """Return the codes of a unit, or raise if none of the rows can be predicted from others."""
    if codes.any() or not len(codes):
        return codes
    if role == "time":
        raise ValueError(f"all rows have the same time, {name!r}: nothing is earlier than the rest")
    raise ValueError(f"all rows are of one group, {name!r}: no other is there to learn from")


def coarsest(groups: list[Ints]) -> list[Ints]:
    """Groups without those that lie within others: patients within hospitals say nothing beside hospitals."""
    kept = list(groups)
    for fine in groups:
        others = [group for group in kept if group is not fine]
        if any(_is_within(fine, coarse) for coarse in others):
            kept = others
    return kept


def kinds(values: Any) -> list[Any]:
    """Columns of groups: of an array of one or two dimensions, of arrays, or of pairs, one for each row."""
    first = values[0] if isinstance(values, (list, tuple)) and values else None
    if isinstance(first, (list, tuple)):
        return [list(column) for column in zip(*values, strict=True)]
    if isinstance(first, np.ndarray):
        return list(values)
    shape: Sequence[int] = getattr(values, "shape", ())
    return list(np.asarray(values).T) if len(shape) == 2 and shape[1] else [values]


def grouping(groups: Sequence[Ints]) -> Grouping | None:
    """Groups of each row, if any; a tuple of several kinds, of which none lies within another."""
    return tuple(groups) if len(groups) > 1 else groups[0] if groups else None


def taken(groups: Grouping | None, rows: Ints) -> Grouping | None:
    """Groups of some of the rows."""
    if isinstance(groups, tuple):
        return tuple(group[rows] for group in groups)
    return None if groups is None else groups[rows]


def told(groups: Grouping | None) -> Ints | None:
    """Groups that a learner grows by; none where kinds cross: it grows by rows then, and they judge it."""
    return None if isinstance(groups, tuple) else groups


def _is_within(fine: Ints, coarse: Ints) -> bool:
    pairs = np.unique(fine * (int(coarse.max(initial=0)) + 1) + coarse)
    return len(pairs) == len(np.unique(fine))
