"""Columns of other tables, read as what they were when a model was fitted, however they are stored there.

A number may be text, a truth a word or a number, and a code a number, depending on the program that wrote the
file: every form of a value is the same here. What is none of the kind is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from offsample._text import shorten
from offsample._typing import Booleans, Floats
from offsample.tables._base import ColumnError, Kind
from offsample.tables._columns import labels_at, sorted_codes
from offsample.tables._encode import as_floats, plain
from offsample.tables._kinds import as_quantities, type_kind
from offsample.tables._meaning import AS_IT_IS, Found, epoch_of, is_text, recognised, said
from offsample.tables._ways import MISSING, DateWay, EpochWay, NumberWay, TimeWay

_QUANTITIES = {"date": "moment", "time": "duration", "dura": "duration"}  # by the first letters of a type
# How programs write each quantity, as text, and how people call it.
_WRITTEN = {
    "number": (NumberWay(), "numbers"),
    "moment": (DateWay(), "dates"),
    "duration": (TimeWay(), "times of the day"),
}
# Truths, as words that stand for them.
_TRUTHS = dict.fromkeys(("true", "t", "yes", "y", "1"), True) | dict.fromkeys(
    ("false", "f", "no", "n", "0"), False
)


@dataclass(frozen=True, eq=False)
class Known:
    """What is remembered of a column."""

    name: Any
    kind: Kind
    values: tuple[Any, ...]
    any_type: bool  # whether the values are names whatever their type
    quantity: str = ""  # of a numeric column: "number", "moment" (since 1970) or "duration" (in microseconds)
    found: Found = AS_IT_IS  # how its text is read


def known_numbers(column: Any, known: Known) -> tuple[Floats, Booleans]:
    """Numbers of a column that was numeric, whatever it is now, and the rows whose value is none of these."""
    is_number = column.dtype.kind in "iuf" if isinstance(column, np.ndarray) else column.dtype.is_numeric()
    if type_kind(column) == "numeric":
        numbers = floats_of(column, known.name)
        way = known.found.way if isinstance(known.found.way, EpochWay) else None
        if known.quantity == "moment" and is_number:
            way = way or epoch_of(numbers)
            return (numbers if way is None else way.parse(numbers)), ~np.isnan(numbers) & (way is None)
        if known.quantity == ("number" if is_number else quantity_of(column)):
            return numbers, np.zeros(len(numbers), bool)
    labels, codes = sorted_codes(column, "column", repr(known.name))
    texts, words = [label if isinstance(label, str) else "" for label in labels], list(map(str, labels))
    way = known.found.way or (recognised(column, known.name)[1].way if is_text(column) else None)
    written, _ = _WRITTEN[known.quantity]
    read = np.full(len(labels), np.nan)
    if way is not None and way.quantity == known.quantity and not isinstance(way, EpochWay):
        read = way.parse(texts)
    if isinstance(way, EpochWay):
        read = way.parse(NumberWay().parse(words))
    read = np.where(np.isnan(read), written.parse(words), read)
    if known.quantity == "number":  # Booleans are numbers, too
        truths = [{"true": 1.0, "false": 0.0}.get(text.lower(), np.nan) for text in words]
        read = np.where(np.isnan(read), truths, read)
    is_missing = np.array([text.strip().lower() in MISSING for text in words], bool)
    return np.append(read, np.nan)[codes], np.append(np.isnan(read) & ~is_missing, False)[codes]


def said_of(column: Any, unread: Booleans, numbers: Floats, known: Known) -> Booleans | None:
    """Say which values of a column could not be read; raise where most could not."""
    n, n_read = int(unread.sum()), int((~np.isnan(numbers) & ~unread).sum())
    if not n:
        return None
    way = known.found.way
    as_what = _WRITTEN[known.quantity][1] if way is None else said(way)
    (example,) = labels_at(column, np.flatnonzero(unread)[:1])
    told = (
        f"column {known.name!r}: {n:,} of {n + n_read:,} values cannot be read as {as_what}, as they were at "
        f"fit, such as {shorten(str(example), 40)!r}"
    )
    if n > n_read:
        raise ValueError(f"{told}: convert the column to the type that it had")
    warn(f"{told}; they count as missing", UnreadWarning, stacklevel=2)
    return unread


class UnreadWarning(UserWarning):
    """Some values of a column are not of the kind that a model knows."""


def known_codes(column: Any, known: Known) -> NDArray[np.int32]:
    """Codes of a column that was categorical: of the same values, or else of those that are written alike."""
    name, n = repr(known.name), len(known.values)
    _, codes = sorted_codes(column, "column", name, known.values)
    if not (codes == n + 1).any():
        return codes
    words = {_word(value): code for code, value in enumerate(known.values)}
    truths = {_TRUTHS.get(word.lower()): code for word, code in words.items()}
    is_truth = None not in truths and len(truths) == n
    may_be_numbers = is_truth or known.any_type or np.isfinite(NumberWay().parse(list(words))).any()
    if not may_be_numbers and type_kind(as_quantities(column)) == "numeric":
        (example,) = labels_at(column, np.flatnonzero(codes == n + 1)[:1])
        raise ValueError(
            f"column {known.name!r} is numeric here, such as {example}, but was categorical at fit, such as "
            f"{known.values[0]!r}: convert it to the type that it had"
        )
    labels, own = sorted_codes(column, "column", name)
    place = {value: code for code, value in enumerate(known.values)}
    recode = np.full(len(labels) + 1, n, np.int32)
    for i, label in enumerate(labels):
        word = _word(label)
        found = place.get(label, words.get(word))
        if found is None and is_truth:
            found = truths.get(_TRUTHS.get(word.lower()))
        recode[i] = found if found is not None else n + bool(word.strip())
    return recode[own]


def _word(value: Any) -> str:
    """A value as text, whole numbers without a fraction."""
    is_whole = isinstance(value, (float, np.floating)) and value == np.rint(value)
    return str(int(value) if is_whole and np.isfinite(value) else value)


def quantity_of(column: Any) -> str:
    """What the numbers of a column are, by its type."""
    return _QUANTITIES.get(str(column.dtype).lower()[:4], "number")


def floats_of(column: Any, name: Any) -> Floats:
    """Numbers of a column; an error names it."""
    try:
        return as_floats(plain(column, as_number=True))
    except MemoryError:
        raise
    except Exception as error:
        raise ColumnError(f"column {name!r} cannot be read as numbers: {error}") from error
