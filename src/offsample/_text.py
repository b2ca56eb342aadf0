"""Text that strangers wrote, and tables of text, on a screen."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

# The guesses that know no column, by the same name in every command.
MAJORITY = "always guessing the most frequent class"
SHARES = "guessing by class shares"
OTHERS = "guessing the most frequent class of all other rows"

# Joiners of Persian and Indic words and of emoji: invisible, but part of the word.
_JOINERS = "\u200c\u200d"
_SHORT_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
# What is ours to draw with, where a terminal knows ASCII only.
_PLAIN = str.maketrans({
    "─": "-", "┆": "|", "●": "o", "█": "#", "–": "-", "—": "-", "−": "-", "…": "...", "±": "+/-", "×": "x",
    "“": '"', "”": '"', "‘": "'", "’": "'", "≤": "<=", "≥": ">=", "→": "->", "\xa0": " ", "\u202f": " ",
})  # fmt: skip
# A name may be cut to so many cells before a column is given up for it.
_COMFORTABLE = 32
_GAP = 2
# From here on digits behind the point are noise.
_LARGE = 1e6
# In microseconds; and moments of which Python has dates.
_UNITS = ((86_400e6, "days"), (3_600e6, "hours"), (60e6, "minutes"), (1e6, "seconds"))
_MOST_MOMENTS = 6e16


def visible(value: object, *, lines: bool = False) -> str:
    r"""Text in which no character acts on the screen: what would is written as an escape.

    Control characters, terminal sequences, line breaks, marks that reverse the direction of reading and
    halves of surrogate pairs become what a Python string would show; with `lines`, line breaks stay.

    Examples
    --------
    >>> visible("\x1b[31mred\n"), visible("naïve [b]"), visible("")
    ('\\x1b[31mred\\n', 'naïve [b]', '""')
    """
    text = str(value)
    if not text.isprintable():
        text = "".join(c if _is_harmless(c) or (lines and c == "\n") else _escape(c) for c in text)
    return text if lines or text.strip() else f'"{text}"'


def _is_harmless(character: str) -> bool:
    if character.isprintable() or character in _JOINERS:
        return True
    return unicodedata.category(character) in ("Zs", "Co", "Cn")


def _escape(character: str) -> str:
    code = ord(character)
    known = _SHORT_ESCAPES.get(character)
    if known is not None:
        return known
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def plain(text: str, encoding: str) -> str:
    r"""The text in characters that an encoding has: the nearest, or an escape.

    >>> plain("0.1–0.2 of “é”", "ascii"), plain("0.1–0.2 of “é”", "latin-1")
    ('0.1-0.2 of "\\xe9"', '0.1-0.2 of "é"')
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text


def shorten(text: str, width: int, mark: str = "…") -> str:
    """The text in at most so many cells of a screen: beginning and end, which tell names apart.

    >>> shorten("income_before_tax_2019", 12), shorten("income", 12)
    ('income_be…19', 'income')
    """
    if _width(text) <= width:
        return text
    room = width - len(mark)
    if room < 2:
        return _head(text, width)
    end = room // 4
    return f"{_head(text, room - end)}{mark}{_head(text[::-1], end)[::-1]}"


def _head(text: str, width: int) -> str:
    """As much of the beginning as fits."""
    text = text[: 4 * width]
    while _width(text) > width:
        text = text[:-1]
    return text


def _width(text: str) -> int:
    """Cells that a text takes: two for a character as wide as it is high."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


@dataclass(frozen=True)
class Field:
    """A column of a table on a screen."""

    title: str
    cells: Sequence[str]
    right: bool = True  # set to the right, as numbers are
    rank: int = 0  # where the table is too wide, the field with the lowest goes first; 0 stays


def fit_table(fields: Sequence[Field], width: int, encoding: str = "utf-8") -> list[str]:
    """Lines of a table that is no wider than the screen, its titles first: no line is ever broken.

    The first field holds names. Where there is too little room, other fields are left out, then names are
    shortened.
    """
    names, *others = (replace(f, cells=[plain(cell, encoding) for cell in f.cells]) for f in fields)
    natural = _field_width(names)
    shown = list(others)
    while min(natural, _COMFORTABLE) + _total(shown) > width and any(field.rank for field in shown):
        shown.remove(min((field for field in shown if field.rank), key=lambda field: field.rank))
    room = max(1, min(natural, width - _total(shown)))
    mark = plain("…", encoding)
    cut = replace(
        names, title=shorten(names.title, room), cells=[shorten(cell, room, mark) for cell in names.cells]
    )
    columns = [_padded(field) for field in (cut, *shown)]
    return [_head((" " * _GAP).join(row), width).rstrip() for row in zip(*columns, strict=True)]


def _total(fields: Sequence[Field]) -> int:
    return sum(_field_width(field) + _GAP for field in fields)


def _field_width(field: Field) -> int:
    return max(map(_width, (field.title, *field.cells)))


def _padded(field: Field) -> list[str]:
    width = _field_width(field)
    blanks = [(text, " " * (width - _width(text))) for text in (field.title, *field.cells)]
    return [blank + text if field.right else text + blank for text, blank in blanks]


def amount(n: float, noun: str, nouns: str | None = None) -> str:
    """A number of things.

    >>> amount(1, "column"), amount(1200, "leaf", "leaves")
    ('1 column', '1,200 leaves')
    """
    return f"{n:,.0f} {noun if n == 1 else nouns or units(noun)}"


def units(unit: str) -> str:
    """The plural of what the size of a model counts.

    >>> units("split"), units("leaf")
    ('splits', 'leaves')
    """
    return "leaves" if unit == "leaf" else f"{unit}s"


def number(value: float) -> str:
    """A score with four decimals, in thousands without, or of a large one four digits; no negative zero.

    >>> number(0.91234), number(-0.00001), number(17874.4241), number(-1.5e200)
    ('0.9123', '0.0000', '17,874', '-1.5e+200')
    """
    places = 0 if abs(value) >= 1000 else 4
    return f"{value:.4g}" if abs(value) >= _LARGE else f"{round(value, places) + 0.0:,.{places}f}"


def value_text(value: float, kind: str = "number") -> str:
    """A number with six digits; a moment, in microseconds since 1970, as a date, a duration in its units.

    >>> value_text(0.123456789), value_text(1735732800e6, "moment"), value_text(5400e6, "duration")
    ('0.123457', '2025-01-01 12:00:00', '1.5 hours')
    >>> value_text(20241231.0), value_text(20241231.5)
    ('20241231', '20241231.5')
    """
    if kind == "moment" and abs(value) < _MOST_MOMENTS:
        return str(datetime(1970, 1, 1) + timedelta(microseconds=round(value))).removesuffix(" 00:00:00")
    if kind == "duration":
        size, unit = next(((s, u) for s, u in _UNITS if abs(value) >= s), _UNITS[-1])
        return f"{value / size:.6g} {unit}"
    return f"{value:.{16 if abs(value) < 1e15 and float(2 * value).is_integer() else 6}g}"


def digits(value: float, n: int = 4) -> str:
    """A number with so many digits, and without an exponent where people would write none.

    >>> digits(73590.26), digits(0.012345), digits(1234567.0, 3)
    ('73590', '0.01235', '1230000')
    """
    return f"{float(f'{value:.{n}g}'):.12g}"


def percentage(share: float) -> str:
    """A chosen share, such as a confidence: with all of its digits, so that 0.999 is not all.

    >>> percentage(0.95), percentage(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.12g}%"
