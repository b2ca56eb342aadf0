"""Names or quantities: what a column holds is decided here, for every library and every engine."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats
from offsample.tables._base import Kind
from offsample.tables._encode import as_floats, encode, plain

# Up to here float64 holds every whole number; beyond, two neighbours may be one.
EXACT = 2**53
_WORDS = (nw.Int64, nw.UInt64)
# Of which float64 may take two numbers for one.
WIDE = (*_WORDS, nw.Int128, nw.UInt128, nw.Decimal)
_NUMBERS = (int, float, Decimal, np.integer, np.floating)


def kind_of(dtype: nw.dtypes.DType, *, merged: bool) -> Kind:
    """Kind of a narwhals type: numeric if it has an order, unless float64 has merged two of its numbers."""
    ordered = dtype.is_numeric() or (dtype.is_temporal() and dtype != nw.Time)
    return "numeric" if ordered and not merged else "categorical"


def type_kind(column: NDArray[Any] | nw.Series[Any]) -> Kind:
    """Kind of a column by its type alone."""
    if isinstance(column, np.ndarray):
        return "numeric" if column.dtype.kind in "iufmM" else "categorical"
    return kind_of(column.dtype, merged=False)


def column_kind(column: NDArray[Any] | nw.Series[Any]) -> Kind:
    """Kind of a column in memory that was not declared."""
    return "categorical" if is_merged(column) else type_kind(column)


def is_merged(column: NDArray[Any] | nw.Series[Any], numbers: Floats | None = None) -> bool:
    """Whether two different numbers of a column are the same as float64, which may be known already."""
    if isinstance(column, np.ndarray):
        is_whole = column.dtype.kind in "iu" and column.dtype.itemsize == 8
        is_wide = is_whole or (column.dtype.kind == "f" and column.dtype.itemsize > 8)
    else:
        is_whole, is_wide = column.dtype in _WORDS, column.dtype in WIDE
    if not is_wide:
        return False
    numbers = as_floats(plain(column, as_number=True)) if numbers is None else numbers
    if is_whole and not (numbers >= EXACT).any() and not (numbers <= -EXACT).any():
        return False
    codes, _, missing = encode(plain(column))
    return len(np.unique(codes[codes != missing])) > len(np.unique(numbers[~np.isnan(numbers)]))


def as_quantities(column: Any, *, exact: bool = True) -> Any:
    """Python objects that are all numbers, moments, days or durations, or missing, as an array of those.

    Any other column comes back as it is, and so does, if `exact`, one whose numbers float64 would merge.
    """
    if isinstance(column, np.ndarray):
        objects = column if column.dtype == object else None
    else:
        native = column.to_native()
        objects = native.to_numpy() if str(getattr(native, "dtype", None)) == "object" else None
    if objects is None:
        return column
    values = objects.tolist()
    if isinstance(next((value for value in values if value is not None), None), str):
        return column  # as most are: no need to look at all of them
    values = [None if is_missing(value) else value for value in values]
    types = {type(value) for value in values} - {type(None)}
    if values and not types:
        return column
    if not any(issubclass(t, (bool, np.timedelta64)) for t in types) and _are(types, _NUMBERS):
        numbers = as_numbers(values, exact=exact)
        return column if numbers is None else numbers
    if _are(types, (dt.timedelta, np.timedelta64)):
        with suppress(OverflowError):  # longer than 292,000 years
            return np.array(values, "timedelta64[us]")
        return column
    if _are(types, (dt.datetime, np.datetime64)):
        zones = {getattr(value, "tzinfo", None) is None for value in values if value is not None}
        return np.array([_in_utc(value) for value in values], "datetime64[us]") if len(zones) == 1 else column
    if _are(types, (dt.date,)) and not any(issubclass(t, dt.datetime) for t in types):
        return np.array(values, "datetime64[D]")
    return column


def as_numbers(values: Sequence[Any], *, exact: bool = True) -> Floats | None:
    """Python's numbers as float64; None where one is too large, or, if `exact`, two would be merged."""
    try:
        numbers = np.array([np.nan if value is None else value for value in values], np.float64)
    except (OverflowError, ValueError):  # or a signalling NaN
        return None
    different = {value for value in values if value is not None and value == value} if exact else ()
    return None if len(different) > len(np.unique(numbers[~np.isnan(numbers)])) else numbers


def _are(types: set[type], wanted: tuple[type, ...]) -> bool:
    return all(issubclass(t, wanted) for t in types)


def is_missing(value: Any) -> bool:
    """Whether an object stands for a missing value."""
    is_nan = isinstance(value, (float, np.floating)) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def _in_utc(moment: Any) -> Any:
    if getattr(moment, "tzinfo", None) is None:
        return moment
    return moment.astimezone(dt.UTC).replace(tzinfo=None)
