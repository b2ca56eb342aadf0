"""Columns of other tables, read as what they were when a model was fitted, however they are stored there."""

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
from offsample.tables._meaning import AS_IT_IS, Found
from offsample.tables._ways import MISSING, DateWay, EpochWay, NumberWay, TimeWay, as_epochs, said

_QUANTITIES = {"date": "moment", "time": "duration", "dura": "duration"}  # by the first letters of a type
_WRITTEN = {"number": NumberWay(), "moment": DateWay(), "duration": TimeWay()}  # by programs, as text
_TRUTHS = {word: i < 5 for i, word in enumerate(["true", "t", "yes", "y", "1", "false", "f", "no", "n", "0"])}


class UnreadWarning(UserWarning):
    """Some values of a column are not of the kind that a model knows."""


@dataclass(frozen=True, eq=False)
class Known:
    """What is remembered of a column."""

    name: Any
    kind: Kind
    values: tuple[Any, ...]
    any_type: bool  # whether the values are names whatever their type
    quantity: str = ""  # of a numeric column: "number", "moment" (since 1970) or "duration" (in microseconds)
    found: Found = AS_IT_IS  # how its text is read


def known_numbers(column: Any, known: Known) -> tuple[Floats, Booleans | None]:
    """Numbers of a column that was numeric, whatever it is now, and rows whose value is none of these.

    Each value is read by itself, as what the model knows: other rows have no say in what it is.
    """
    way, column = known.found.way, as_quantities(column, exact=False)
    if type_kind(column) == "numeric":
        numbers, quantity = floats_of(column, known.name), quantity_of(column)
        if isinstance(way, EpochWay) and quantity == "number":
            return way.parse(numbers), None
        if known.quantity == quantity or np.isnan(numbers).all():
            return numbers, None
    labels, codes = sorted_codes(column, "column", repr(known.name))
    texts, words = [label if isinstance(label, str) else "" for label in labels], list(map(str, labels))
    read = np.full(len(labels), np.nan)
    if isinstance(way, EpochWay):
        read = way.parse(NumberWay().parse(words))
    elif way is not None:
        read = way.parse(texts)
    read = np.where(np.isnan(read), _WRITTEN[known.quantity].parse(words), read)
    if known.quantity == "moment":
        read = np.where(np.isnan(read), as_epochs(NumberWay().parse(words)), read)
    elif known.quantity == "number":  # Booleans are numbers, too
        truths = [{"true": 1.0, "false": 0.0}.get(word.lower(), np.nan) for word in words]
        read = np.where(np.isnan(read), truths, read)
    is_other = np.isnan(read) & np.array([word.strip().lower() not in MISSING for word in words], bool)
    unread, numbers = np.append(is_other, False)[codes], np.append(read, np.nan)[codes]
    if not unread.any():
        return numbers, None
    n, n_read = int(unread.sum()), int((~np.isnan(numbers)).sum())
    told = f"{n:,} of {n + n_read:,} values cannot be read as {said(way or _WRITTEN[known.quantity])}"
    example = shorten(words[is_other.argmax()], 40)
    advice = ": convert the column to the type that it had" if n > n_read else ""
    told = f"column {known.name!r}: {told}, as they were at fit, such as {example!r}"
    warn(f"{told}; they count as missing{advice}", UnreadWarning, stacklevel=2)
    return numbers, unread


def known_codes(column: Any, known: Known) -> NDArray[np.int32]:
    """Codes of a column that was categorical: of the same values, or else of those that are written alike."""
    name, n = repr(known.name), len(known.values)
    _, codes = sorted_codes(column, "column", name, known.values)
    if not (codes == n + 1).any():
        return codes
    words = {_word(value): code for code, value in enumerate(known.values)}
    truths = {_TRUTHS.get(word.lower()): code for word, code in words.items()}
    if None in truths or len(truths) < n:
        truths = {}
    may_be_numbers = truths or known.any_type or np.isfinite(NumberWay().parse(list(words))).any()
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
        found = place.get(label, words.get(word, truths.get(_TRUTHS.get(word.lower()))))
        recode[i] = found if found is not None else n + bool(word.strip())
    return recode[own]


def _word(value: Any) -> str:
    """A value as text, whole numbers without a fraction."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


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
