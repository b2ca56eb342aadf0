"""How numbers, names and times are written: once, for every rendering."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from offsample._text import amount as amount
from offsample._text import units as units

Width = Callable[[str], float]

MISSING = "–"
LONGEST_NAME = 40
_LONGEST_LINE = 240
MOST_LINES = 400

# Characters that a page cannot hold (lone surrogates, most control characters), that show nothing or that
# reorder the text around them become visible signs.
_UNPRINTABLE = {
    **{code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
    **dict.fromkeys((0xFFFE, 0xFFFF), 0xFFFD),
}
_UNNAMEABLE = {
    **_UNPRINTABLE,
    0x09: 0x2409,
    0x0A: 0x240A,
    **dict.fromkeys((0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}


def printable(text: str) -> str:
    """Replace every character that cannot be encoded or seen by one that can."""
    return text.translate(_UNPRINTABLE)


def full_name(name: object) -> str:
    """Write the name of a column, a value or a class as one visible line."""
    text = str(name)
    return text.translate(_UNNAMEABLE) if text.strip() else f"“{text.translate(_UNNAMEABLE)}”"


def listed(names: Sequence[Any], most: int = 3) -> str:
    """Write names one after the other, and how many more there are than can be named."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(short_name, map(str, names[:most]))) + more


def short_name(name: object, longest: float = LONGEST_NAME, width: Width = len) -> str:
    """Cut a name to at most `longest` characters, or to this width: beginning and end."""
    text = full_name(name)
    if width(text) <= longest:
        return text
    end = _beginning(text[::-1], 2 * longest / 5, width)[::-1]
    return f"{_beginning(text, longest - width(f'…{end}'), width)}…{end}"


def _beginning(text: str, room: float, width: Width) -> str:
    """Return as much of a text as there is room for."""
    return text[: bisect_right(range(1, len(text) + 1), room, key=lambda n: width(text[:n]))]


def short_names(names: Iterable[object], longest: float = LONGEST_NAME, width: Width = len) -> dict[str, str]:
    """Cut names to at most `longest` characters, or to this width, so that different names stay different.

    Names that begin and end alike show where they begin to differ.

    >>> list(short_names(["number_of_rooms_per_house", "number_of_heads_per_house"], 16).values())
    ['num…rooms_per_h…', 'num…heads_per_h…']
    """
    known = list(dict.fromkeys(map(str, names)))
    alike: dict[str, list[str]] = {}
    for name in known:
        alike.setdefault(short_name(name, longest, width), []).append(name)
    shown: dict[str, str] = {}
    taken = set(alike)
    for short, group in alike.items():
        shown[group[0]] = short
        if len(group) > 1:
            first, last = min(group), max(group)
            unlike = (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
            common = first[: next(unlike, len(first))]
            for number, name in enumerate(group, start=1):
                shown[name] = _unlike(name, common, longest, width, taken, number)
                taken.add(shown[name])
    return {name: shown[name] for name in known}


def _unlike(name: str, common: str, longest: float, width: Width, taken: Collection[str], number: int) -> str:
    """Cut a name to where it differs from others that begin alike; number it if that is not enough."""
    text = full_name(name)
    word = re.search(r"[^\W_]*$", common)  # do not begin within a word, unless it is a long one
    start = word.start() if word and width(word[0]) < longest // 2 else len(common)
    head = _beginning(text[:start], longest / 5, width)
    room = longest - width(f"{head}……")
    short = f"{head}…{text[start:]}"
    if width(short) > longest:
        short = f"{head}…{_beginning(text[start:], room, width)}…"
    while short in taken:
        ending = f"…{number}"
        short, number = _beginning(text, longest - width(ending), width) + ending, number + 1
    return short


def shorten_names(text: str, names: Iterable[object]) -> str:
    """Shorten long names in a sentence."""
    for name in sorted({str(name) for name in names if len(str(name)) > LONGEST_NAME}, key=len, reverse=True):
        text = text.replace(name, short_name(name))
    return printable(text)


def shorten_text(text: str, longest: int = _LONGEST_LINE) -> str:
    """Cut a text to at most 400 lines of 240 characters."""
    lines = printable(text).split("\n")
    shown = [line if len(line) <= longest else f"{line[: longest - 1]}…" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"… {count(len(lines) - MOST_LINES)} more lines")
    return "\n".join(shown)


def is_missing(value: float | None) -> bool:
    """Say whether there is no number to show."""
    return value is None or math.isnan(value)


def percent(share: float | None) -> str:
    """Write a share as a percentage: one decimal, and two significant digits below one percent.

    >>> percent(0.17734), percent(0.00034), percent(0), percent(None)
    ('17.7 %', '0.034 %', '0 %', '–')
    """
    digits = _percent_digits(share)
    return digits if digits == MISSING else f"{digits} %"


def auc_text(area: float | None) -> str:
    """Write an AUC: two decimals, three near 1.

    >>> auc_text(0.714), auc_text(0.9962), auc_text(1), auc_text(0.5)
    ('.71', '.996', '1.00', '.50')
    """
    if area is None or is_missing(area):
        return MISSING
    return f"{area:.{3 if 0.985 < area < 0.9995 else 2}f}".removeprefix("0")


def column_auc(column: Any) -> str:
    """Write the AUC of a column; below one half it says nothing, unless there is evidence."""
    says_nothing = column.auc is not None and column.auc < 0.5 and not column.significant
    return "≤ .50" if says_nothing else auc_text(column.auc)


def r2_text(share: float | None) -> str:
    """Write R²: two decimals, three near 1.

    >>> r2_text(0.714), r2_text(0.9962), r2_text(-0.03), r2_text(-0.001)
    ('0.71', '0.996', '−0.03', '0.00')
    """
    if share is None or is_missing(share):
        return MISSING
    text = f"{share:.{3 if 0.985 < share < 0.9995 else 2}f}"
    return text.replace("-", "−") if float(text) else "0.00"


def quantity(number: float | None, spread: float | None = None) -> str:
    """Write a number in three significant digits, or in those that a spread asks for.

    >>> quantity(21287.3), quantity(0.03124), quantity(1000021.4, 3), quantity(1e18), quantity(-0.001, 1)
    ('21,300', '0.0312', '1,000,021.40', '1.00e+18', '0.00')
    """
    if number is None or is_missing(number):
        return MISSING
    size = abs(number) if spread is None else spread
    if not 0 < size < math.inf:
        return f"{number:.6g}".replace("-", "−")
    if not 1e-6 <= max(size, abs(number)) < 1e15:
        return f"{number:.2e}".replace("-", "−")
    digits = min(2 - math.floor(math.log10(size)), 15)
    return f"{round(number, digits) + 0.0:,.{max(0, digits)}f}".replace("-", "−")


def decimal(number: float | None) -> str:
    """Write a number in three significant digits, whole from 100 on.

    >>> decimal(0.31249), decimal(12.345), decimal(12345.6), decimal(0)
    ('0.312', '12.3', '12,346', '0')
    """
    if number is None or is_missing(number):
        return MISSING
    if number == 0:
        return "0"
    digits = min(max(0, 2 - math.floor(math.log10(abs(number)))), 6)
    return f"{number:,.{digits}f}".replace("-", "−")


def points(difference: float | None) -> str:
    """Write a difference of shares in percentage points, with its sign.

    >>> points(0.0123), points(-0.2)
    ('+1.2', '−20.0')
    """
    if difference is None or is_missing(difference):
        return MISSING
    rounded = round(100 * difference, 1)
    return "0.0" if rounded == 0 else f"{rounded:+.1f}".replace("-", "−")


def interval(low: float | None, high: float | None) -> str:
    """Write an interval of shares.

    >>> interval(0.1671, 0.1884)
    '16.7 – 18.8 %'
    """
    if is_missing(low) or is_missing(high):
        return MISSING
    return f"{_percent_digits(low)} – {_percent_digits(high)} %"


def count(number: float | None) -> str:
    """Write a whole number with thousands separators."""
    return MISSING if number is None or is_missing(number) else f"{number:,.0f}"


def p_value(p: float | None) -> str:
    """Write a p-value in two significant digits, none below 0.0001.

    >>> p_value(0.0312), p_value(1e-30), p_value(0.8)
    ('0.031', '< 0.0001', '0.80')
    """
    if p is None or is_missing(p):
        return MISSING
    if p < 1e-4:
        return "< 0.0001"
    return f"{p:.{1 - math.floor(math.log10(p))}f}" if p < 0.995 else "1.00"


def seconds(time: float | None) -> str:
    """Write a duration.

    >>> seconds(0.0123), seconds(3.21), seconds(75)
    ('0.01 s', '3.2 s', '1 min 15 s')
    """
    if time is None or is_missing(time):
        return MISSING
    if round(time) >= 60:
        return f"{round(time) // 60} min {round(time) % 60} s"
    return f"{time:.1f} s" if time >= 1 else f"{time:.2f} s"


def moment(iso: str) -> str:
    """Write an ISO time as people read it; any other text stays as it is.

    >>> moment("2026-11-16T01:25:57+00:00")
    '16 November 2026, 01:25 UTC'
    """
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return full_name(iso)
    if time.tzinfo is not None:
        time = time.astimezone(UTC)
    return f"{time.day} {time:%B %Y, %H:%M} UTC"


def plain_value(value: Any) -> str:
    """Write the value of an option: lists joined, missing values as a dash."""
    if value is None or value in ([], (), {}):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return f"{value:.15g}"
    if isinstance(value, Mapping):
        return short_name(", ".join(f"{key}: {plain_value(item)}" for key, item in value.items()), 400)
    if isinstance(value, list | tuple | set | frozenset):
        return short_name(", ".join(plain_value(item) for item in value), 400)
    return short_name(value, 400)


def _percent_digits(share: float | None) -> str:
    if share is None or is_missing(share):
        return MISSING
    value = 100 * share
    if value == 0:
        return "0"
    if abs(value) < 0.95:
        text = f"{value:.{1 - math.floor(math.log10(abs(value)))}f}" if abs(value) >= 1e-6 else "< 0.000001"
    else:
        text = f"{value:.1f}"
    return re.sub(r"^-", "−", text)
