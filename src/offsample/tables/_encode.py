"""Columns in memory as numpy arrays, and those as integer codes, by the fastest exact route per type."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample._counting import most_cells
from offsample._typing import Booleans, Floats, Ints
from offsample.tables import _strings


class Plain(NamedTuple):
    """A column as one numpy array: numbers, dates, objects, or codes that stand for other values."""

    values: NDArray[Any]
    missing: Booleans | None = None  # besides the NaN and NaT in values
    n_codes: int | None = None  # where values are known to be codes below it


class Codes(NamedTuple):
    """A value's code per row; not every code below `n_codes` need occur."""

    codes: NDArray[np.integer]
    n_codes: int
    missing: int | None


class Unreadable(NamedTuple):
    """Stands for each value of a column that an engine cannot read."""

    reason: str


def plain(column: Any, as_number: bool = False) -> Plain:
    """Array of a column of any library: its numbers, or any codes that tell its values apart."""
    if isinstance(column, np.ma.MaskedArray):
        return Plain(column.data, np.ma.getmaskarray(column))
    if isinstance(column, np.ndarray):
        return _plain_strings(column) if column.dtype.kind in "UST" else Plain(column)
    if column.implementation.is_polars():
        return _plain_polars(column, as_number)
    if column.implementation.is_pyarrow():
        return _plain_arrow(column.to_native(), as_number)
    return _plain_pandas(column.to_native(), as_number)


def _plain_strings(values: NDArray[Any]) -> Plain:
    if values.dtype.kind != "T" and _strings.is_worth_it(len(values)):
        codes, n_codes = _strings.encode_strings(_strings.fixed_width_strings(values))
        return Plain(codes, None, n_codes)
    return Plain(values.astype(object))  # pyarrow would cut them at a zero byte


def _plain_polars(column: nw.Series[Any], as_number: bool) -> Plain:
    import polars as pl

    series = column.to_native().rename("v")  # polars methods take a name such as "^a.*$" for a pattern
    if series.dtype.is_decimal() or str(series.dtype) in ("Int128", "UInt128"):  # numpy has none
        series = series.cast(pl.Float64 if as_number else pl.String)
    if series.dtype == pl.String and _strings.is_worth_it(len(series)) and find_spec("pyarrow"):
        import pyarrow as pa

        return _plain_arrow(pa.chunked_array([series.to_arrow(compat_level=pl.CompatLevel.oldest())]), False)
    if series.dtype == pl.String:
        series = series.cast(pl.Categorical)
    if series.dtype in (pl.Categorical, pl.Enum, pl.Time):
        series = series.to_physical()
    if series.dtype.is_nested():
        raise TypeError(f"values of type {series.dtype}")
    if not series.null_count() or series.dtype.is_temporal():  # a temporal null becomes NaT
        return Plain(series.to_numpy())
    mask = series.is_null().to_numpy()
    if series.dtype.is_float():
        return Plain(series.to_numpy(), mask)
    if series.dtype.is_integer() or series.dtype == pl.Boolean:
        return Plain(series.fill_null(0 if series.dtype.is_integer() else False).to_numpy(), mask)
    return Plain(np.array(series.to_list(), dtype=object))


def _plain_arrow(column: Any, as_number: bool) -> Plain:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_nested(kind):
        raise TypeError(f"values of type {kind}")
    if pa.types.is_null(kind):
        return Plain(np.full(len(column), np.nan))
    if pa.types.is_decimal(kind) and as_number:
        column = column.cast(pa.float64())
    elif pa.types.is_dictionary(kind):
        return _plain_dictionary(column)
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and not _is_dated(kind):
        if "view" in str(kind):  # has no hash kernel
            column = column.cast(pa.large_string() if "string" in str(kind) else pa.large_binary())
        is_text = str(column.type).removeprefix("large_") in ("string", "binary")
        if is_text and _strings.is_worth_it(len(column)):
            mask = pc.is_null(column).to_numpy() if column.null_count else None
            codes, n_codes = _strings.encode_strings(_strings.arrow_strings(column))
            return Plain(codes, mask, n_codes)
        return _plain_dictionary(column.dictionary_encode())
    if not column.null_count or _is_dated(kind):
        return Plain(column.to_numpy())
    mask = pc.is_null(column).to_numpy()
    return Plain(pc.fill_null(column, pa.scalar(0, column.type)).to_numpy(), mask)


def _is_dated(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_duration(kind))


def _plain_dictionary(column: Any) -> Plain:
    import pyarrow as pa
    import pyarrow.compute as pc

    array = column.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else array.type.wrap_array(pa.array([]))
    values, indices = array.dictionary, array.indices
    # Legal, and silent: a dictionary may hold a value twice, or a null, or both NaN and -0.0.
    is_plain = not (values.null_count or pa.types.is_floating(values.type) or pa.types.is_nested(values.type))
    if not is_plain or len(pc.unique(values)) < len(values):
        return _plain_arrow(pa.chunked_array([array.dictionary_decode()]), False)
    mask = pc.is_null(indices).to_numpy(zero_copy_only=False) if indices.null_count else None
    return Plain(pc.fill_null(indices, 0).to_numpy(zero_copy_only=False), mask)


def _plain_pandas(series: Any, as_number: bool) -> Plain:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy()
        return Plain(codes, codes < 0)
    if isinstance(dtype, np.dtype):
        return plain(series.to_numpy(), as_number)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return Plain(series.to_numpy(f"datetime64[{dtype.unit}]"))
    if isinstance(dtype, pd.ArrowDtype) or (
        isinstance(dtype, pd.StringDtype) and dtype.storage.startswith("pyarrow")
    ):
        import pyarrow as pa

        array = series.array.__arrow_array__()
        chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
        return _plain_arrow(chunked, as_number)
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype):
        mask = series.isna().to_numpy()
        kind = dtype.numpy_dtype if hasattr(dtype, "numpy_dtype") else np.dtype(np.float64)
        return Plain(series.to_numpy(kind, **({"na_value": kind.type(0)} if mask.any() else {})), mask)
    return Plain(series.astype(object).to_numpy())


def encode(column: Plain) -> Codes:
    """Integer codes of the values. None, NaN, NaT and NA are one value, and so are -0.0 and 0.0.

    Objects are the same where Python says that they are equal: 1, 1.0 and True are one value, "1" another.
    """
    values, mask, n_codes = column
    if mask is not None and not mask.any():
        mask = None
    if n_codes is not None:
        return _with_missing(values, n_codes, mask)
    if values.dtype.kind == "O":
        if mask is not None:
            values = values.copy()
            values[mask] = None
        return _encode_objects(values)
    if values.dtype.kind == "f":
        return _encode_sorted(values if mask is None else np.where(mask, np.nan, values))
    if values.dtype.kind in "mM":
        mask = np.isnat(values) if mask is None else mask | np.isnat(values)
        values = np.ascontiguousarray(values).view(np.int64)
    elif values.dtype.kind == "b":
        values = np.ascontiguousarray(values).view(np.uint8)
    elif values.dtype.kind not in "iu":
        raise TypeError(f"values of type {values.dtype}")
    return _encode_integers(values, mask if mask is None or mask.any() else None)


def _encode_integers(values: NDArray[np.integer], mask: Booleans | None) -> Codes:
    present = values if mask is None else values[~mask]
    if not len(present):
        return Codes(np.zeros(len(values), np.int8), 1, 0)
    low, high = int(present.min()), int(present.max())
    limit = most_cells(len(values))
    if high - low >= limit:
        codes, n_codes, _ = _encode_sorted(values)
        return _with_missing(codes, n_codes, mask)
    if low < 0 or high >= limit:
        # uint64 does not fit in int64 before the subtraction, and int8 overflows in it.
        wide = values if values.dtype.itemsize == 8 else values.astype(np.int64)
        values, high = (wide - wide.dtype.type(low)).astype(np.int64, copy=False), high - low
    return _with_missing(values, high + 1, mask)


def _with_missing(values: NDArray[np.integer], n_codes: int, mask: Booleans | None) -> Codes:
    if mask is None:
        return Codes(values, n_codes, None)
    codes = values.astype(np.intp)
    codes[mask] = n_codes
    return Codes(codes, n_codes + 1, n_codes)


def _encode_sorted(values: NDArray[Any]) -> Codes:
    distinct, codes = np.unique(values, return_inverse=True)  # one NaN at most, at the end
    has_nan = len(distinct) > 0 and distinct[-1] != distinct[-1]
    return Codes(codes, len(distinct), len(distinct) - 1 if has_nan else None)


def _encode_objects(values: NDArray[np.object_]) -> Codes:
    if len(values) and isinstance(values[0], Unreadable):
        raise ValueError(values[0].reason)
    if "pandas" in sys.modules or find_spec("pandas"):
        import pandas as pd

        codes, distinct = pd.factorize(values)
        return Codes(codes + 1, len(distinct) + 1, 0)
    known: dict[Any, int] = {}
    objects = values.tolist()
    listed = [0 if v is None or v != v else known.setdefault(v, len(known) + 1) for v in objects]
    return Codes(np.array(listed, np.intp), len(known) + 1, 0)


def as_floats(column: Plain) -> Floats:
    """Numbers as float64 with NaN where missing; dates and durations in microseconds."""
    values, mask, _ = column
    if values.dtype.kind in "mM":
        nat = np.isnat(values)
        mask = nat if mask is None else mask | nat
        values = values.astype(f"{values.dtype.kind}8[us]").view(np.int64)
    numbers = values.astype(np.float64, copy=False) + 0.0  # -0.0 becomes 0.0, in the edges too
    if mask is not None:
        numbers[mask] = np.nan
    return numbers


def dense_codes(codes: NDArray[np.integer]) -> Ints:
    """Codes of which none is left out, in the same order, of codes from 0 on."""
    there = np.bincount(codes) > 0
    return (np.cumsum(there) - 1)[codes] if not there.all() else codes.astype(np.int64, copy=False)


def ordered_codes(values: NDArray[Any]) -> Ints:
    """Codes from 0 on of values in their order, of which none is left out; missing numbers have the last."""
    kind = values.dtype.kind
    if kind in "iufb" and len(values):
        if values.dtype.itemsize < 8:
            values = values.astype(np.float64 if kind == "f" else np.int64)
        missing = np.isnan(values) if kind == "f" else np.zeros(0, bool)
        known = values[~missing] if missing.any() else values
        # Numbers of Python, whose difference overflows without a warning.
        low, high = (known.min().item(), known.max().item()) if len(known) else (0, 0)
        if high - low < most_cells(len(values)) and (kind != "f" or (known == np.rint(known)).all()):
            place = values - low  # no need to sort
            if missing.any():
                place[missing] = high - low + 1
            return dense_codes(place.astype(np.int64, copy=False))
    return np.unique(values, return_inverse=True)[1].astype(np.int64, copy=False)


def sort_labels(labels: Iterable[Any]) -> list[Any]:
    """Labels in one order on every engine, also where their types cannot be compared."""
    labels = list(labels)
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=lambda label: (type(label).__name__, repr(label)))
