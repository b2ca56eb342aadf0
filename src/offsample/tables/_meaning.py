"""What the text of a column says: numbers, dates, times of the day, or the names that it consists of.

A wrong conversion is worse than a missed one. A way has to read nearly all rows, and where two do, or where
the texts look like codes, the column stays what it is; `Found.why` says so.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats
from offsample.tables._base import IN_DAYS, ColumnError
from offsample.tables._columns import labels_at, sorted_codes
from offsample.tables._encode import as_floats, plain
from offsample.tables._kinds import EXACT, as_quantities, is_missing
from offsample.tables._ways import (
    MINUS,
    MISSING,
    ORDERS,
    SPACE,
    DateWay,
    EpochWay,
    NumberWay,
    TimeWay,
    Way,
    said,
)

# Share of the rows with a text that a way has to read, or one that a user asks for: others are missing.
LEAST, _LEAST_ASKED = 0.95, 0.5
# Sentences have so many words, and there are so many of them, at least.
_WORDS_OF_PROSE, _FEW_TEXTS = 4, 10
_SAMPLE = 400  # texts that are looked at first
_LIKELY = 0.8  # share of them that a way has to read to be tried on all
# Moments, in microseconds, that a column of dates is about: the years from 1700 to 2200.
RANGE = (-8_520_336_000_000_000.0, 7_258_118_400_000_000.0)
EPOCH_NAME = re.compile(
    r"(?:^|[^a-z])(?:time|timestamp|ts|epoch|unix|date|datetime|when|at|created|updated|utc)(?:[^a-z]|$)|"
    r"(?:time|timestamp|date)(?:s|ms)?$"
)
_CODE_NAME = re.compile(r"version|release|(?:^|[^a-z])(?:ip|phone|tel|fax|zip|postcode|postal|sku|isbn)")
_CURRENCY = "[$€£¥₹₽₩₪₺₫₴₦฿]|us[$]|usd|eur|gbp|chf|jpy|cad|aud|inr|cny|sek|nok|dkk|pln|brl"
_SHAPE = re.compile(
    rf"[(]?(?:{MINUS}|[+])?(?P<before>{_CURRENCY})?{SPACE}?(?:{MINUS}|[+])?"
    rf"(?P<number>[.,]?[0-9](?:[0-9.,' \u00a0\u202f]*[0-9])?(?:e[-+]?[0-9]{{1,3}})?){SPACE}?"
    rf"(?P<after>(?:[^\W\d_]|[%‰°µ$€£¥₹])(?:[^\W\d_]|[²³/°]){{0,11}})?[)]?"
)
_MARKS = ((".", ""), (".", ","), (",", "."), (",", " "), (".", " "), (".", "'"), (",", ""))
# Texts with a leading zero, long ones with a plus, and whole numbers as programs write them, or codes (3E78).
ZEROS, PLUS, WHOLE = "^[-+]?0[0-9]", "^[+][0-9]{7}", "^-?[0-9]+$|^[0-9]+[eE][0-9]+$"
_FEW_CODES, _FEW_MONTHS = 30, 3

# What a user may say of a column, and the ways that it is then read in.
_UNITS = "s", "ms", "us", "ns"  # of time since 1970
TYPES = ("number", "date", "time", "category", "text")


class Found(NamedTuple):
    """A way to read a column's text, or none, the reason, the rows with a text, and those that it reads."""

    way: Way | None
    why: str
    n_texts: int = 0
    n_read: int = 0


AS_IT_IS = Found(None, "")


class Tally(NamedTuple):
    """What was counted in all rows of a column."""

    n_texts: int
    n_read: Sequence[int]  # by each way
    n_zeros: int  # texts with a leading zero
    n_plus: int  # long ones with a plus
    n_whole: int  # whole numbers as programs write them
    n_missing: int  # words for a missing value; an empty text is none, as a file of CSV has no other
    largest: float  # number by the first way


def check_types(types: Mapping[Any, str] | None) -> dict[Any, str]:
    """Types that a user gave; raise where one is not known."""
    for name, asked in (types or {}).items():
        kind, _, detail = str(asked).partition(":")
        known = {"date": (*ORDERS, *_UNITS), "number": ("point", "comma")}.get(kind, ())
        if kind not in TYPES or (detail and detail not in known):
            raise ValueError(
                f"type {asked!r} of column {name!r} is not known: expected one of {', '.join(TYPES)}, or one "
                f"that says how it is written: number:comma, number:point, date:ms and the like since 1970 "
                f"({', '.join(_UNITS)}), or date:dmy and the like ({', '.join(ORDERS)})"
            )
    return dict(types or {})


def declared(types: Mapping[Any, str]) -> list[Any]:
    """Columns that are said to be categories."""
    return [name for name, asked in types.items() if asked in ("category", "text")]


def candidates(sample: Sequence[str], name: Any, asked: str = "") -> tuple[list[Way], str]:
    """Ways that read most of some texts, in the order of preference, or the reason why there are none."""
    texts = Counter(text for text in (one.strip().lower() for one in sample) if text not in MISSING)
    kind, _, detail = asked.partition(":")
    least = 1.0 if asked else max(1, _LIKELY * texts.total())
    if sum(n for text, n in texts.items() if any(c.isdigit() for c in text)) < least:
        return [], "text"
    # As most codes: without a mark there is no date and no time, and every number says the same.
    are_digits = all(text.isdigit() and text.isascii() for text in texts)
    ways: list[Way] = []
    if kind in ("", "date") and not are_digits:
        orders = [detail] if detail in ORDERS else ORDERS if not detail else ()
        ways += [DateWay(o, s) for o in orders for s in ("-" if o == "ym" else " -" if "b" in o else "-/.")]
    elif asked in ("date", "date:ymd"):
        ways.append(DateWay(separator=""))
    if kind in ("", "time") and not are_digits:
        ways.append(TimeWay())
    why = "text"
    if kind in ("", "number"):
        pairs = Counter[tuple[str, str]]()
        for text, n in texts.items():
            if one := _SHAPE.fullmatch(text):
                pairs[one["before"] or "", _singular(one["after"] or "")] += n
        (before, after), n = pairs.most_common(1)[0] if pairs else (("", ""), 0)
        if n >= least:
            marks = [mark for mark in _MARKS if not detail or mark[0] == {"point": ".", "comma": ","}[detail]]
            ways += [NumberWay(*mark, before, after) for mark in marks]
        elif pairs.total() >= least:
            units = sorted({" ".join(filter(None, pair)) or "none" for pair in pairs})[:4]
            why = f"numbers in different units ({', '.join(units)})"
    likely = [way for way in ways if are_digits or _reads(way, texts, texts.total() - least)]
    kept = likely if asked else [way for way in likely if _is_meant(way, list(texts), name)]
    if likely and not kept:
        why = "text that looks like codes"
        if any(isinstance(way, DateWay) for way in likely):
            why = "text that may be dates with years of two digits: say date:dmY or date:mdY if it is"
    return kept, why


def are_moments(labels: Sequence[Any]) -> bool:
    """Whether labels are texts that say days or times, as the first of them do."""
    ways, _ = candidates([one for one in labels[:_SAMPLE] if isinstance(one, str)], "")
    return bool(ways) and ways[0].quantity != "number"


def _reads(way: Way, texts: Counter[str], n_others: float) -> bool:
    """Whether a way reads all but so many of some texts: mostly the first few tell."""
    for text, n in texts.items():
        n_others -= 0 if math.isfinite(way.read(text)) else n
        if n_others < 0:
            return False
    return True


def _singular(unit: str) -> str:
    return unit[:-1] if len(unit) > 2 and unit.endswith("s") else unit


def _is_meant(way: Way, texts: list[str], name: Any) -> bool:
    """Whether texts of this look are not rather something else."""
    if isinstance(way, DateWay) and way.order in ("dmY", "mdY"):  # or else the year may as well be the day
        return max(int(text.split(way.separator)[2][:2]) for text in texts if way.fits(text)) > 31
    if not isinstance(way, NumberWay):
        return True
    if not way.is_plain and all(text.startswith("(") for text in texts):
        return False
    # Telephone numbers have blanks too, but always.
    if way.thousands == " " and all(re.search(f"[0-9]{SPACE}[0-9]", text) for text in texts):
        return False
    return bool(way.before or way.after) or not _CODE_NAME.search(str(name).lower())


def chosen(ways: Sequence[Way], tally: Tally, sample: Sequence[str], asked: str = "") -> Found:
    """The way that reads the most rows, if it is enough of them and no other one reads them otherwise."""
    n, least = tally.n_texts, _LEAST_ASKED if asked else LEAST
    rates = [count / max(1, n) for count in tally.n_read]
    if not ways or not n:
        return Found(None, "text", n)
    first = rates.index(max(rates))
    way, n_read = ways[first], tally.n_read[first]
    if rates[first] < least or not n_read:
        return Found(None, f"text: {rates[first]:.0%} of it reads as {said(way)}", n)
    rivals = [other for other, rate in zip(ways, rates, strict=True) if rate >= least and other != way]
    if asked in ("", "date") and isinstance(way, DateWay) and {way.order[:2]} & {"dm", "md"}:
        swapped = DateWay(way.order[1] + way.order[0] + way.order[2], way.separator)
        if swapped in ways and tally.n_read[ways.index(swapped)] == n_read:
            days = _constant_field(way, sample)
            if days is None:
                unclear = "may be day-first or month-first: no day is above 12; say date:dmy or date:mdy"
                if asked:
                    return Found(way, f"{said(way)}, but they {unclear}", n, n_read)
                return Found(None, f"dates that {unclear}", n)
            order = ("dm" if days == 0 else "md") + way.order[2]
            why = f"dates, day {('first', 'second')[days]}: it is always 1"
            return Found(DateWay(order, way.separator), why, n, n_read)
    elif not asked:
        earlier = [other for other in rivals if ways.index(other) < first]
        mine = way.parse(sample)
        for other in earlier:
            theirs = other.parse(sample)
            both = np.isfinite(mine) & np.isfinite(theirs)
            if (mine[both] != theirs[both]).any():
                return Found(None, f"numbers that may be {said(other)} or {said(way)}", n)
    if asked in ("", "number") and isinstance(way, NumberWay) and _may_be_thousands(way, sample):
        unclear = "may have decimals or thousands after '.': say number:point or number:comma"
        if asked:
            return Found(way, f"{said(way)}, but they {unclear}", n, n_read)
        return Found(None, f"numbers that {unclear}", n)
    if isinstance(way, NumberWay) and not asked:
        if not (way.before or way.after) and tally.n_zeros:
            return Found(None, "codes: some begin with a zero", n)
        if tally.n_plus:
            return Found(None, "codes: long ones with a plus, as telephone numbers", n)
        # Of text alone a file of CSV would have made numbers, and of few different ones nothing is lost.
        is_clean = not tally.n_missing or len(set(sample)) <= _FEW_CODES
        if way.is_plain and tally.n_whole == n and is_clean:
            return Found(None, "whole numbers that are stored as text: taken for codes", n)
        if way.is_plain and tally.largest >= EXACT:
            return Found(None, "codes: numbers with too many digits to be told apart", n)
    shown = way
    if isinstance(way, NumberWay) and not any(re.search(f"[0-9]{way.between}[0-9]", text) for text in sample):
        shown = replace(way, thousands="")
    return Found(way, said(shown), n, n_read)


def _may_be_thousands(way: NumberWay, sample: Sequence[str]) -> bool:
    """Whether each point has three digits after it, as in 850 € and 1.234 €, and nothing tells what it is."""
    if (way.decimal, way.thousands) != (".", ""):
        return False
    mine, theirs = way.parse(sample), NumberWay(",", ".", way.before, way.after).parse(sample)
    largest = np.abs(mine[mine == theirs]).max(initial=0)  # of those without a point
    least = 0 if re.fullmatch(_CURRENCY, way.before or way.after) else 100
    is_point, is_read = np.isfinite(mine) & (mine != theirs), np.isfinite(theirs)
    return bool(is_point.any() and is_read[np.isfinite(mine)].all()) and least <= largest < 1000


def _constant_field(way: DateWay, sample: Sequence[str]) -> int | None:
    """Which of the first two fields is always 1, as days of monthly figures are; None unless one is."""
    parts = [text.strip().split(way.separator)[:2] for text in sample if way.fits(text.strip().lower())]
    values = [{int(part[i]) for part in parts} for i in (0, 1)]
    found = [i for i in (0, 1) if values[i] == {1} and len(values[1 - i]) >= _FEW_MONTHS]
    return found[0] if found else None


def is_text(column: NDArray[Any] | nw.Series[Any]) -> bool:
    """Whether a column may hold text, by its type: a category is one by intent."""
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "UTO"
    return column.dtype in (nw.String, nw.Object)


def texts_at(column: Any) -> list[str] | None:
    """Texts of some rows, spread evenly; None if these are no text, or there are none."""
    rows = np.unique(np.linspace(0, max(0, len(column) - 1), min(_SAMPLE, len(column))).astype(np.intp))
    labels = [label for label in labels_at(column, rows) if not is_missing(label)]
    return labels if labels and all(isinstance(label, str) for label in labels) else None


def recognised(column: Any, name: Any, asked: str = "") -> tuple[Any, Found]:
    """Column in memory as what it says, and the way that it was read, if it is text that says a quantity."""
    if asked.partition(":")[0] in ("category", "text"):
        return column, Found(None, "as you said")
    sample = texts_at(column) if is_text(column) else None
    if sample is None:
        return _of_numbers(column, name, asked)
    ways, why = candidates(sample, name, asked)
    but = f"; {IN_DAYS}" if asked == "number" and are_moments(sample) else ""
    other = ColumnError(f"column {name!r} cannot be read as {asked}: its text is such as {sample[0]!r}{but}")
    if not ways:
        if asked:
            raise other
        return column, Found(None, why)
    texts, codes = distinct_texts(column, name)
    if texts is None:
        return column, Found(None, "text and other values")
    times = np.bincount(codes, minlength=len(texts) + 1)[:-1]
    there = np.array([text.strip().lower() not in MISSING for text in texts], bool)
    not_empty = np.array([bool(text.strip()) for text in texts], bool)
    n_texts, read, counts = int(times[there].sum()), list[Floats](), [0] * len(ways)
    for i, way in enumerate(ways):
        read.append(way.parse(texts))
        counts[i] = int(times[there & _counted(way, read[i])].sum())
        if counts[i] == n_texts and way in (NumberWay(), DateWay()):
            break  # as programs write it: no other way is asked
    zeros, plus, whole = (
        int(times[[bool(re.search(look, text.strip())) for text in texts]].sum())
        for look in (ZEROS, PLUS, WHOLE)
    )
    largest = float(np.nanmax(np.abs(read[0]), initial=0.0)) if isinstance(ways[0], NumberWay) else 0.0
    tally = Tally(n_texts, counts, zeros, plus, whole, int(times[~there & not_empty].sum()), largest)
    found = chosen(ways, tally, sample, asked)
    if asked and found.way is None:
        raise other
    return as_found(column, found, name, (texts, codes)), found


def recognising(
    read: Callable[[Any], Any], asked: Mapping[Any, str]
) -> tuple[Callable[[Any], Any], dict[Any, Found]]:
    """Reader of columns as what they say, of those that are asked for, and how each was read so far."""
    found = dict[Any, Found]()
    last: list[Any] = [None, None]  # name and column: a column is read several times in a row

    def recognise(name: Any) -> Any:
        if name not in asked:
            return read(name)
        if last[0] != name or name not in found:
            if name in found:
                column = as_found(read(name), found[name], name)
            else:
                column, found[name] = recognised(read(name), name, asked[name])
            last[:] = name, column
        return last[1]

    return recognise, found


def _counted(way: Way, numbers: Floats) -> Any:
    """Which numbers speak for a way."""
    if way.quantity == "moment":
        return (numbers >= RANGE[0]) & (numbers <= RANGE[1])
    return ~np.isnan(numbers)


def _of_numbers(column: Any, name: Any, asked: str) -> tuple[Any, Found]:
    """Column of numbers, which may be seconds since 1970, where its name says so or the user does."""
    if asked.partition(":")[0] not in ("", "date") or not (asked or EPOCH_NAME.search(str(name).lower())):
        return column, AS_IT_IS
    numbers = as_quantities(column)
    is_number = numbers.dtype.kind in "iuf" if isinstance(numbers, np.ndarray) else numbers.dtype.is_numeric()
    if not is_number:
        return column, AS_IT_IS
    found = epoch_found(as_floats(plain(numbers, as_number=True)), name, asked)
    return as_found(column, found, name), found


def epoch_found(numbers: Floats, name: Any, asked: str) -> Found:
    """How numbers, or their ends, are moments since 1970; raise where a user says so in vain."""
    way = EpochWay.of(numbers, asked.partition(":")[2])
    if way is None and asked in ("date", "date:ymd"):  # the first and the last tell
        ends = np.array([np.nanmin(numbers, initial=np.inf), np.nanmax(numbers, initial=-np.inf)])
        way = EpochWay("ymd") if _counted(EpochWay(), EpochWay("ymd").parse(ends)).all() else None
    if way is None and asked and np.isfinite(numbers).any():
        raise ColumnError(
            f"column {name!r} cannot be read as {asked}: its numbers are such as {np.nanmax(numbers):.15g}, "
            "which is no moment from 2000 to 2035, as time since 1970; say the unit, such as date:s or "
            "date:ms, or write dates as text, such as 2024-12-31"
        )
    return AS_IT_IS if way is None else Found(way, said(way))


def distinct_texts(column: Any, name: Any) -> tuple[list[str] | None, NDArray[np.int32]]:
    """Distinct texts of a column, None if it has other values too, and their codes; the last is missing."""
    texts, codes = sorted_codes(column, "column", repr(name))
    return (list(texts) if all(isinstance(text, str) for text in texts) else None), codes


def as_found(
    column: Any, found: Found, name: Any, known: tuple[list[str], NDArray[np.int32]] | None = None
) -> Any:
    """Column read in a way: float64, or moments or durations in microseconds; what is no text as it is."""
    way = found.way
    column = as_quantities(column) if isinstance(way, EpochWay) else column
    if way is None or isinstance(way, EpochWay) != (not is_text(column)):
        return column
    if isinstance(way, EpochWay):
        numbers = way.parse(as_floats(plain(column, as_number=True)))
    else:
        texts, codes = known or distinct_texts(column, name)
        if texts is None:
            return column
        numbers = np.append(way.parse(texts), np.nan)[codes]
    return numbers if way.quantity == "number" else as_moments(numbers, way.quantity)


def as_moments(microseconds: Floats, quantity: str = "moment") -> NDArray[Any]:
    """Moments since 1970, or durations, NaT for NaN."""
    whole = np.where(np.isnan(microseconds), 0, microseconds).astype(np.int64)
    moments = whole.astype("datetime64[us]" if quantity == "moment" else "timedelta64[us]")
    moments[np.isnan(microseconds)] = "NaT"
    return moments


def is_prose(values: Sequence[Any], n_rows: int) -> bool:
    """Whether values are sentences that people wrote: several words each, and most of them different."""
    are_texts = all(isinstance(value, str) for value in values[:_SAMPLE])
    if len(values) < max(_FEW_TEXTS, n_rows / 2) or not are_texts:
        return False
    texts = values[:: max(1, len(values) // _SAMPLE)]
    words = [len(re.findall(r"[^\W\d_]{2,}", text)) for text in texts]
    return float(np.median(words)) >= _WORDS_OF_PROSE
