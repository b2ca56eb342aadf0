"""A time as a feature: the month, the weekday and the hour, which come again, and never the time itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample.tables._columns import given_column, labels_at
from offsample.tables._encode import as_floats, plain
from offsample.tables._kinds import as_quantities
from offsample.tables._meaning import recognised
from offsample.tables._units import is_a_name

# Days that rows go on for, at least, before a part is a feature: from then on its values come again.
PARTS = {"month": 400, "weekday": 14, "hour": 2}
NAMES = {  # of those that are categories
    "month": ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
    "weekday": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
}
_HOUR = 3_600_000_000  # microseconds
_DAY = 24 * _HOUR
_TO_1970 = 719_468  # days from March 1st of the year 0, where this count of days begins


def part_names(time: Any, taken: Collection[Any], made: Collection[Any] = ()) -> dict[str, str]:
    """Name of the column of each part of a time, with a mark where a column of the user has it.

    Where parts were made before, their names stay, whatever the columns are called now.
    """
    names = {part: f"{time if is_a_name(time) else 'time'}: {part}" for part in PARTS}
    known = {str(name).rstrip("_"): name for name in made if name not in taken}
    for part, name in names.items():
        marked = name
        while marked in taken:
            marked += "_"
        names[part] = known.get(name, marked)
    return names


def _parts(microseconds: Any, let: Callable[[Any], Any] = lambda step: step) -> dict[str, Any]:
    """Parts of moments since 1970 in UTC, from 0 on: of an array, or of an engine, which keeps each step.

    The calendar repeats every 400 years, and years that begin in March end with the day that is to be leapt.
    """
    moment = let(microseconds + _TO_1970 * _DAY)
    day = let(moment // _DAY)
    of_400 = let(day % 146_097)
    leap_days = let(of_400 // 1_460 - of_400 // 36_524 + of_400 // 146_096)
    year = let((of_400 - leap_days) // 365)
    of_year = let(of_400 - 365 * year - year // 4 + year // 100)
    month = let(((5 * of_year + 2) // 153 + 2) % 12)
    return {"month": month, "weekday": let((day + 2) % 7), "hour": let(moment // _HOUR % 24)}


def _come_again(low: int, high: int, n_values: dict[str, int]) -> list[str]:
    return [part for part, n in n_values.items() if n > 1 and high - low >= PARTS[part] * _DAY]


def parts_of(column: Any, only: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Parts of the dates in a column, in UTC, as numbers from 0 on; -1 where the date is missing.

    Without a say which, those that vary and come again. No parts of what is no date.
    """
    found = plain(as_quantities(recognised(given_column(column), "time")[0]), as_number=True)
    if found.values.dtype.kind != "M" and only is not None and len(found.values):
        said = labels_at(given_column(column), np.zeros(1, np.intp))[0]
        raise ValueError(f"the time is {said!r}: expected dates, as the model knows them; convert it")
    moments = as_floats(found) if found.values.dtype.kind == "M" else np.empty(0)
    there = np.isfinite(moments)
    known = moments[there].astype(np.int64)
    if not len(known) and only is None:
        return {}
    parts, made = _parts(known), {}
    if only is None:
        only = _come_again(known.min(), known.max(), {part: 1 + np.ptp(parts[part]) for part in parts})
    for part in only:
        made[part] = np.full(len(moments), -1, np.int8)
        made[part][there] = parts[part]
    return made


def with_parts(columns: dict[Any, Any], time: Any, wanted: Collection[Any] | None = None) -> dict[Any, Any]:
    """Columns with the parts of one of them, by default those that come again; months by their names."""
    if time not in columns:
        return dict(columns)
    return columns | named_parts(columns[time], part_names(time, columns, wanted or ()), wanted)


def named_parts(column: Any, names: Mapping[str, str], wanted: Collection[Any] | None) -> dict[str, Any]:
    """Parts of the dates of a column under these names, those that are wanted or else come again."""
    only = None if wanted is None else [part for part, name in names.items() if name in wanted]
    made = {}
    for part, codes in parts_of(column, only).items() if only != [] else ():
        named = np.array([*NAMES.get(part, ()), None], object)
        values = named[codes] if part in NAMES else np.where(codes < 0, np.nan, codes)
        if not len(values):  # which would not show what they are
            values = np.empty(0, "U3" if part in NAMES else float)
        made[names[part]] = values
    return made


def reading_parts(
    names: Sequence[Any], read: Callable[[Any], Any], time: Any
) -> tuple[list[str], Callable[[Any], Any]]:
    """Names of the parts of a time that come again, and a function that reads one, or a column in memory."""
    if time is None or (is_a_name(time) and time not in names):
        return [], read
    called = part_names(time, names)
    made = {called[part]: codes for part, codes in parts_of(read(time) if is_a_name(time) else time).items()}
    return list(made), lambda name: made[name] if name in made else read(name)


def lazy_parts(
    frame: nw.LazyFrame[Any], moment: nw.Expr, alias: str, fetch: Callable[[Any], Any]
) -> tuple[nw.LazyFrame[Any], dict[str, str]]:
    """Add the parts of an engine's microseconds since 1970; return the columns that vary and come again."""
    steps = list[str]()

    def let(step: nw.Expr) -> nw.Expr:
        nonlocal frame
        steps.append(f"{alias}_{len(steps)}")
        frame = frame.with_columns(step.cast(nw.Int64).alias(steps[-1]))
        return nw.col(steps[-1])

    parts = {part: (let(number), steps[-1])[1] for part, number in _parts(let(moment), let).items()}
    ends = [nw.col(steps[0]).min().alias("low"), nw.col(steps[0]).max().alias("high")]
    counts = [nw.col(name).n_unique().alias(part) for part, name in parts.items()]
    low, high, *n_values = (int(number or 0) for number in fetch(frame.select(*ends, *counts))[0])
    varying = dict(zip(parts, n_values, strict=True))
    return frame, {part: parts[part] for part in _come_again(low, high, varying)}
