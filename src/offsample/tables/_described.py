"""What each column of a table is read as, and why, without counting anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from offsample._text import value_text
from offsample._typing import Ints
from offsample.tables._base import ColumnError, missing_column
from offsample.tables._columns import given_column, sorted_codes, unreadable
from offsample.tables._encode import as_floats, plain
from offsample.tables._encoder import TableEncoder, columns_of
from offsample.tables._kinds import as_quantities
from offsample.tables._meaning import check_types, is_prose

# Two words that answer a question.
_TRUTHS = [
    {"yes", "no"}, {"y", "n"}, {"true", "false"}, {"t", "f"}, {"ja", "nein"}, {"oui", "non"}, {"si", "no"},
    {"sí", "no"}, {"on", "off"},
]  # fmt: skip
_EXAMPLES = 3

Kind = Literal["number", "date", "duration", "boolean", "category", "text", "left out"]


@dataclass(frozen=True)
class ColumnRead:
    """What a column is read as."""

    name: Any
    # Numbers, dates and durations have an order, and are split by thresholds; the others have values.
    kind: Kind
    why: str  # what was found, in words
    n_rows: int  # rows, those without a value (also those with a text that is not read), and different values
    n_missing: int
    n_values: int
    n_unread: int  # rows with a text that is neither read nor a word for a missing value: they are missing
    # Share of the rows with a text that the way to read it reads; None where none was needed.
    share_read: float | None
    examples: tuple[str, ...]  # the most frequent values as they are stored, most frequent first


def describe_columns(table: Any, types: Mapping[Any, str] | None = None) -> Iterator[ColumnRead]:
    """Say of each column of a table in memory what it is read as.

    Parameters
    ----------
    table : array, dict of columns or dataframe
    types : dict from names to types, optional
        As for `open_table`.

    Examples
    --------
    >>> from offsample.tables import describe_columns
    >>> table = {"paid": ["$1,200.50", "$80.00", "N/A"], "zip": ["01234", "90210", "10115"]}
    >>> for column in describe_columns(table):
    ...     print(column.name, column.kind, column.why, sep=": ")
    paid: number: numbers, in $, thousands by ','
    zip: category: text that looks like codes
    """
    columns, asked = columns_of(table), check_types(types)
    for name in asked:
        if name not in columns:
            raise missing_column(name, list(columns), "column")
    for name, column in columns.items():
        wish = {name: asked[name]} if name in asked else None
        yield _described(name, given_column(column), wish)


def _described(name: Any, column: Any, wish: dict[Any, str] | None) -> ColumnRead:
    if said := unreadable(column, name):
        return ColumnRead(name, "left out", said, len(column), 0, 0, 0, None, ())
    encoder = TableEncoder(types=wish)
    try:
        encoded = next(encoder.fit_transform({name: column}))
    except ColumnError as error:
        if wish is not None:
            raise
        return ColumnRead(name, "left out", str(error), len(column), 0, 0, 0, None, ())
    values, found, quantity = encoder.values[0], encoder.found[0], encoder.quantities[0]
    codes = encoded.values
    if encoded.kind == "numeric":
        n_missing, n_values = int(np.isnan(codes).sum()), len(np.unique(codes[~np.isnan(codes)]))
    else:
        n_missing, n_values = int((codes == len(values)).sum()), len(values)
    kind: Kind = {"number": "number", "moment": "date", "duration": "duration"}.get(quantity, "category")  # type: ignore[assignment]
    why = found.why if wish is None or found.way else "as you said"
    if kind == "category":
        kind, why = _of_names(values, n_values, len(column) - n_missing, why, wish)
    elif not found.why:
        why = f"stored as {kind}s"
    n_unread = found.n_texts - found.n_read if found.way else 0
    share = found.n_read / found.n_texts if found.way and found.n_texts else None
    shown = _examples(column, quantity if not found.way else "", name)
    return ColumnRead(name, kind, why, len(column), n_missing, n_values, n_unread, share, shown)


def _of_names(
    values: tuple[Any, ...], n_values: int, n_there: int, why: str, wish: dict[Any, str] | None
) -> tuple[Kind, str]:
    lowered = {str(value).strip().lower() for value in values}
    if set(map(type, values)) == {bool} or lowered in _TRUTHS:
        return "boolean", f"two words, {' and '.join(sorted(lowered))}"
    if list((wish or {}).values()) == ["text"] or (wish is None and is_prose(values, n_there)):
        return "text", "sentences, most of them different" if wish is None else why
    if why not in ("", "text"):
        return "category", why
    if n_there > 1 and n_values == n_there:
        return "category", "every row has its own value"
    return "category", "names" if all(isinstance(value, str) for value in values) else "stored as categories"


def _examples(column: Any, quantity: str, name: Any) -> tuple[str, ...]:
    """The most frequent values as they are stored, of equals the first."""
    if quantity:  # without a code for each of very many
        numbers = as_floats(plain(as_quantities(column), as_number=True))
        distinct, first, times = np.unique(numbers[~np.isnan(numbers)], return_index=True, return_counts=True)
        order: Ints = np.lexsort((first, -times))[:_EXAMPLES]
        return tuple(value_text(distinct[i], quantity) for i in order)
    values, codes = sorted_codes(column, "column", repr(name))
    times = np.bincount(codes, minlength=len(values) + 1)[: len(values)]
    _, first = np.unique(codes, return_index=True)
    place = dict(zip(codes[first].tolist(), first.tolist(), strict=True))
    order = np.lexsort((np.array([place.get(i, 0) for i in range(len(values))]), -times))[:_EXAMPLES]
    return tuple(str(values[i]) for i in order)
