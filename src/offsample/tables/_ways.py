"""Ways to write a number, a date or a time of day in text, for Python and for every engine.

A way has a pattern, without anything that only some engines know. It reads texts (`parse`), and says the same
as an expression (`on_engine`); the tests hold the two against each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Literal

import narwhals as nw
import numpy as np

from offsample._typing import Floats

Frame = nw.LazyFrame[Any]
Let = Callable[[nw.Expr], nw.Expr]  # gives a step a name

# What people write where there is no value: it says nothing against a way.
MISSING = frozenset({
    "", "-", "--", "—", "–", ".", "..", "?", "na", "n/a", "n.a.", "#n/a", "nan", "nat", "null", "none", "nil",
    "missing", "unknown", "not available",
})  # fmt: skip
SPACE = "[ \u00a0\u202f]"
MINUS = "[-\u2212]"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ENDS = ("uary", "ruary", "ch", "il", "", "e", "y", "ust", "t(?:ember)?", "ober", "ember", "ember")
_MONTH = f"((?:{'|'.join(f'{m}(?:{e})?' if e else m for m, e in zip(_MONTHS, _ENDS, strict=True))})[.]?)"
_DAY_OR_MONTH, _YEAR = "([0-9]{1,2})", "([0-9]{4})"
# The fields of each order, of which Y is a year of two digits, and b a month by its name.
_FIELDS = {"y": _YEAR, "Y": "([0-9]{2})", "m": _DAY_OR_MONTH, "d": _DAY_OR_MONTH, "b": _MONTH}
ORDERS = ("ymd", "dmy", "mdy", "dmY", "mdY", "dby", "dbY", "bdy", "ym")
_CLOCK = "([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:[.][0-9]{1,9})?))?(?: ?([ap])[.]?m[.]?)?"
_ZONE = "(?: ?(z|utc|gmt|[+-][0-9]{2}:?[0-9]{2}))?"
# Two digits are a year of this century up to here.
_PIVOT = 68
_SECOND = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EPOCHS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 0.001}  # microseconds of each
_FIRST, _LAST = 946_684_800_000_000, 2_051_222_400_000_000  # that numbers are taken for: 2000 to 2035


@dataclass(frozen=True)
class Way:
    """How a text says a quantity: the base of numbers, dates and times, each of which says the four below."""

    @property
    def quantity(self) -> Literal["number", "moment", "duration"]:
        """What it is a number of, as `TableEncoder.quantities` says it."""
        raise NotImplementedError  # each kind says it

    @property
    def pattern(self) -> str:
        """What a text looks like in lower case, without blanks around it."""
        raise NotImplementedError  # each kind says it

    def _number(self, found: re.Match[str]) -> float:
        raise NotImplementedError  # each kind says it

    def _expression(self, text: nw.Expr, let: Let) -> nw.Expr:
        """The number of a text that fits the pattern; null where it is none all the same."""
        raise NotImplementedError  # each kind says it

    @cached_property
    def fits(self) -> Any:
        """Match of a text that has the pattern, or None."""
        return re.compile(self.pattern, re.ASCII).fullmatch

    def read(self, text: str) -> float:
        """Number of a text in lower case, without blanks around it; NaN where it is not written so."""
        found = self.fits(text)
        return math.nan if found is None else self._number(found)

    def parse(self, texts: Sequence[str]) -> Floats:
        """Numbers of texts, moments and durations in microseconds; NaN where a text is not written so."""
        return np.array([self.read(text.strip().lower()) for text in texts], float)

    def on_engine(self, frame: Frame, text: str, name: str) -> Frame:
        """Add the numbers of a column of text as float64, null instead of NaN.

        Steps are columns of their own: an engine would work out what is named twice twice.
        """
        steps = list[str]()

        def let(step: nw.Expr) -> nw.Expr:
            nonlocal frame
            steps.append(f"{name}_{len(steps)}")
            frame = frame.with_columns(step.alias(steps[-1]))
            return nw.col(steps[-1])

        lowered = let(nw.col(text).str.strip_chars().str.to_lowercase())
        fitting = let(nw.when(lowered.str.contains(f"^(?:{self.pattern})$")).then(lowered))
        number = self._expression(fitting, let).cast(nw.Float64).alias(name)
        return frame.with_columns(number).drop(steps)


@dataclass(frozen=True)
class NumberWay(Way):
    """A number with its decimal mark, marks between thousands, a currency before it or a unit after it."""

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""
    quantity = "number"

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is written as programs write it."""
        return self == NumberWay()

    @property
    def between(self) -> str:
        """Pattern of the mark between thousands."""
        return SPACE if self.thousands == " " else re.escape(self.thousands)

    @property
    def pattern(self) -> str:
        if self.is_plain:
            return "([-+]?(?:(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:e[-+]?[0-9]{1,3})?|inf|infinity))"
        whole = f"(?:[1-9][0-9]{{0,2}}(?:{self.between}[0-9]{{3}})+|[0-9]+)" if self.between else "[0-9]+"
        body = f"(?:{whole}(?:[{self.decimal}][0-9]+)?|[{self.decimal}][0-9]+)"
        before = f"(?:{re.escape(self.before)}{SPACE}?)" if self.before else ""
        after = f"(?:{SPACE}?{re.escape(self.after)}s?)" if self.after else ""
        sign = f"(?:{MINUS}|[+])?"
        return f"(?:{sign}{before}{sign}{body}{after}|[(]{before}{body}{after}[)])"

    @cached_property
    def _left(self) -> tuple[str, str, str]:
        """Patterns of what is before the number, after it and within it, and no part of it."""
        others = f"[^0-9{self.decimal}]"
        return f"^{others}*", f"{others}*$", self.between

    def _number(self, found: re.Match[str]) -> float:
        text = found[0]
        if self.is_plain or text.isdigit():
            return float(text)
        first, last, inside = self._left
        number = re.sub(last, "", re.sub(first, "", text))
        number = re.sub(inside, "", number) if inside else number
        is_negative = re.match(f"^[^0-9{self.decimal}]*(?:{MINUS}|[(])", text)
        return float(number.replace(self.decimal, ".")) * (-1 if is_negative else 1)

    def _expression(self, text: nw.Expr, let: Let) -> nw.Expr:  # noqa: ARG002
        if self.is_plain:
            return text.cast(nw.Float64)
        number = text
        for part in filter(None, self._left):
            number = number.str.replace_all(part, "")
        number = number.str.replace_all(self.decimal, ".", literal=True).cast(nw.Float64)
        is_negative = text.str.contains(f"^[^0-9{self.decimal}]*(?:{MINUS}|[(])")
        return nw.when(is_negative).then(-number).otherwise(number)


@dataclass(frozen=True)
class DateWay(Way):
    """A day, month and year in some order, perhaps with the time of the day."""

    order: str = "ymd"
    separator: str = "-"
    quantity = "moment"

    @property
    def pattern(self) -> str:
        if not self.separator:
            return f"{_YEAR}([0-9]{{2}})([0-9]{{2}})"
        mark = f"[{self.separator}]"
        marks = [f",?{mark}" if self.order == "bdy" and i == 1 else mark for i in range(len(self.order) - 1)]
        fields = [_FIELDS[field] for field in self.order]
        date = "".join(field + after for field, after in zip(fields, [*marks, ""], strict=True))
        return date if self.order == "ym" else f"{date}(?:(?:t|,? ){_CLOCK}{_ZONE})?"

    def _number(self, found: re.Match[str]) -> float:
        groups = found.groups()
        parts = dict(zip(self.order, groups, strict=False))
        year = int(parts.get("y") or parts["Y"])
        year += 0 if "y" in parts else 2000 if year <= _PIVOT else 1900
        month = _MONTHS.index(parts["b"][:3]) + 1 if "b" in parts else int(parts["m"])
        hour, minute, second, half, zone = groups[len(self.order) :] or (None,) * 5
        try:
            moment = datetime(year, month, int(parts.get("d", 1)), tzinfo=UTC)
        except ValueError:
            return np.nan
        clock = _clock(hour or "0", minute or "0", second or "0", half)
        ahead = 0
        if zone and zone[0] in "+-":
            offset = int(zone[1:3]) * 60 + int(zone[-2:])
            ahead = (-offset if zone[0] == "-" else offset) * 60 * _SECOND
        return (moment - _EPOCH) // timedelta(microseconds=1) + clock - ahead

    def _expression(self, text: nw.Expr, let: Let) -> nw.Expr:
        if not self.separator:
            year, month, day = (text.str.slice(*at).cast(nw.Int64) for at in ((0, 4), (4, 2), (6, 2)))
            return _days(let(year), let(month), let(day)) * (86_400 * _SECOND)
        mark, date = f"[{self.separator}]", let(_without(text, "(?:t|,? )[0-9]{1,2}:.*$"))
        first, last = _without(date, f",?{mark}.*$"), _without(date, f"^.*{mark}")
        middle = _without(_without(date, f"^[^{self.separator}]*{mark}"), f",?{mark}.*$")
        parts = (first, last) if self.order == "ym" else (first, middle, last)
        fields = dict(zip(self.order, parts, strict=True))
        name = let(fields["b"]) if "b" in fields else None
        if name is None:
            month = fields["m"].cast(nw.Int64)
        else:
            month = nw.sum_horizontal(
                *[name.str.starts_with(m).cast(nw.Int64) * i for i, m in enumerate(_MONTHS, 1)]
            )
        year = (fields["y"] if "y" in fields else fields["Y"]).cast(nw.Int64)
        if "Y" in fields:
            year = nw.when(year <= _PIVOT).then(year + 2000).otherwise(year + 1900)
        day = fields["d"].cast(nw.Int64) if "d" in fields else nw.lit(1)
        moment = let(_days(let(year), let(month), let(day)) * (86_400 * _SECOND))
        if self.order == "ym":
            return moment
        has_clock = text.str.contains(":")
        of_day = _clock_expression(let(nw.when(has_clock).then(text)), let)
        clock = nw.when(has_clock).then(of_day).otherwise(0.0)
        # Valid or null: a sum with a null is null.
        zone = let(_without(text, "^[^:]*:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,9})?)?"))
        has_zone = has_clock & zone.str.contains("[+-]")
        digits: nw.Expr = nw.when(has_zone).then(_without(zone, "[^0-9]")).cast(nw.Int64)
        ahead = (digits // 100 * 60 + digits % 100) * (60 * _SECOND)
        ahead = nw.when(zone.str.contains("-")).then(-ahead).otherwise(ahead)
        return moment + clock - nw.when(has_zone).then(ahead).otherwise(0)


@dataclass(frozen=True)
class TimeWay(Way):
    """A time of the day, as the time since midnight."""

    quantity = "duration"

    @property
    def pattern(self) -> str:
        return _CLOCK

    def _number(self, found: re.Match[str]) -> float:
        return _clock(found[1], found[2], found[3] or "0", found[4])

    def _expression(self, text: nw.Expr, let: Let) -> nw.Expr:
        return _clock_expression(text, let)


@dataclass(frozen=True)
class EpochWay(Way):
    """A number, of seconds, milliseconds, microseconds or nanoseconds since 1970, or "ymd": 20241231."""

    unit: str = "s"
    quantity = "moment"

    @staticmethod
    def of(numbers: Floats, unit: str = "") -> EpochWay | None:
        """Return the way of a unit, or of whole numbers all of which are moments from 2000 to 2035 in one."""
        known = numbers[np.isfinite(numbers)]
        is_whole = len(known) and (known == np.rint(known)).all()
        units = [one for one in EPOCHS if is_whole and np.isfinite(as_epochs(known, (one,))).all()]
        return next((EpochWay(one) for one in [unit, *units] if one in EPOCHS), None)

    def parse(self, texts: Any) -> Floats:
        """Microseconds of numbers."""
        if self.unit == "ymd":
            return DateWay(separator="").parse([f"{number:.0f}" for number in np.asarray(texts, float)])
        return np.asarray(texts, float) * EPOCHS[self.unit]

    def on_engine(self, frame: Frame, text: str, name: str) -> Frame:
        """Microseconds of a column of numbers."""
        if self.unit == "ymd":
            digits = nw.col(text).cast(nw.Int64).cast(nw.String).alias(f"{name}_")
            return (
                DateWay(separator="").on_engine(frame.with_columns(digits), f"{name}_", name).drop(f"{name}_")
            )
        return frame.with_columns((nw.col(text).cast(nw.Float64) * EPOCHS[self.unit]).alias(name))


def as_epochs(numbers: Floats, units: Iterable[str] = EPOCHS) -> Floats:
    """Microseconds of numbers, each in the unit in which it is a moment from 2000 to 2035; NaN if in none."""
    found = np.full(len(numbers), np.nan)
    for moments in (EpochWay(unit).parse(numbers) for unit in units):
        found = np.where((moments >= _FIRST) & (moments <= _LAST), moments, found)
    return found


def _clock(hour: str, minute: str, second: str, half: str | None) -> float:
    """Microseconds since midnight; NaN where there is no such time."""
    hours, seconds = int(hour), round(float(second) * _SECOND)
    if half is not None:
        if not 1 <= hours <= 12:
            return np.nan
        hours = hours % 12 + 12 * (half == "p")
    if hours > 23 or int(minute) > 59 or seconds >= 60 * _SECOND:
        return np.nan
    return (hours * 60 + int(minute)) * 60 * _SECOND + seconds


def _clock_expression(text: nw.Expr, let: Let) -> nw.Expr:
    """The same of the text with the clock at its end, or before a zone."""
    hour = let(_without(_without(text, ":.*$"), "^.*[t ]").cast(nw.Int64))
    rest = let(_without(text, "^[^:]*:"))
    minute = rest.str.slice(0, 2).cast(nw.Int64)
    shown = rest.str.contains("^[0-9]{2}:[0-9]")
    second = _without(_without(nw.when(shown).then(rest), "^[0-9]{2}:"), "[^0-9.].*$").cast(nw.Float64)
    second = nw.when(shown).then(second).otherwise(0.0)
    has_half, is_late = rest.str.contains("[ap][.]?m"), rest.str.contains("p[.]?m")
    hours = nw.when(has_half).then(hour % 12 + 12 * is_late.cast(nw.Int64)).otherwise(hour)
    there = (minute <= 59) & (second < 60) & (hours <= 23) & (~has_half | ((hour >= 1) & (hour <= 12)))
    return nw.when(there).then((hours * 60 + minute) * (60.0 * _SECOND) + (second * _SECOND).round())


def _days(year: nw.Expr, month: nw.Expr, day: nw.Expr) -> nw.Expr:
    """Days since 1970; null where there is no such day. Years begin in March here, to end with a leap day."""
    is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    long = (month == 4) | (month == 6) | (month == 9) | (month == 11)
    last = nw.when(month == 2).then(28 + is_leap.cast(nw.Int64)).otherwise(31 - long.cast(nw.Int64))
    there = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= last)
    of_march = (month + 9) % 12
    years = year - (month <= 2).cast(nw.Int64)
    days = 365 * years + years // 4 - years // 100 + years // 400 + (153 * of_march + 2) // 5 + day - 1
    return nw.when(there).then(days - 719_468)


def _without(text: nw.Expr, pattern: str) -> nw.Expr:
    return text.str.replace_all(pattern, "")


_ORDER_SAID = {
    "ymd": "year first", "dmy": "day first", "mdy": "month first", "dmY": "day first, years of two digits",
    "mdY": "month first, years of two digits", "dby": "months by name", "bdy": "months by name",
    "dbY": "months by name, years of two digits",     "ym": "months",
}  # fmt: skip


def said(way: Way) -> str:
    """A way in words."""
    if isinstance(way, DateWay) or way == EpochWay("ymd"):
        return f"dates, {_ORDER_SAID[getattr(way, 'order', 'ymd')]}"
    if isinstance(way, EpochWay):
        prefix = {"ms": "milli", "us": "micro", "ns": "nano"}.get(way.unit, "")
        return f"dates, {prefix}seconds since 1970"
    if isinstance(way, TimeWay):
        return "times of the day"
    assert isinstance(way, NumberWay)
    marks = {",": "decimal comma"}.get(way.decimal, "")
    thousands = f"thousands by {way.thousands!r}" if way.thousands else ""
    units = f"in {way.before or way.after}" if way.before or way.after else ""
    return ", ".join(filter(None, ["numbers", units, marks, thousands]))
