"""Columns of whatever holds them in memory: their names, how to read one, its kind, codes and labels."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from offsample._typing import Ints
from offsample.tables._base import ColumnError, check_names
from offsample.tables._encode import Codes, as_floats, dense_codes, encode, ordered_codes, plain, sort_labels
from offsample.tables._kinds import as_numbers, as_quantities, column_kind
from offsample.tables._units import UnitRows, in_order_of_time, missing_unit

# An array of strings has room for the longest in every row: where that is longer, objects take less.
_LONGEST_IN_ARRAY = 100


def array_columns(table: NDArray[Any] | Mapping[Any, Any]) -> tuple[list[Any], Callable[[Any], Any]]:
    """Names of the columns of an array or a dict, and a function that reads one by name."""
    if isinstance(table, Mapping):
        columns = table
        return list(columns), lambda name: given_column(columns[name])
    if table.dtype.names:
        fields = table.reshape(-1)
        return list(table.dtype.names), lambda name: np.asarray(fields[name])
    if table.ndim != 2:
        raise ValueError(f"table is an array of {table.ndim} dimension(s): expected two, rows and columns")
    matrix = table
    position = {f"x{j}": j for j in range(matrix.shape[1])}
    return list(position), lambda name: matrix[:, position[name]]


def frame_names(table: Any) -> list[Any] | None:
    """Names of the columns as a dataframe itself has them: they need not be strings, nor different."""
    names = getattr(table, "column_names", None)  # pyarrow, where `columns` are the data
    names = getattr(table, "columns", None) if names is None else names
    return None if names is None or callable(names) else list(names)


def as_frame(table: Any, **options: Any) -> Any:
    """Frame of narwhals; two columns of one name are refused in our words."""
    try:
        return nw.from_native(table, **options)
    except DuplicateError:
        check_names(frame_names(table) or ())
        raise


def frame_reader(table: Any, frame: nw.DataFrame[Any]) -> Callable[[Any], Any]:
    """Function that reads a column of a dataframe, which narwhals knows as `frame`, by name."""
    if frame.implementation.is_pandas_like():  # whose names need not be strings
        return lambda name: nw.from_native(table[name], series_only=True)
    return lambda name: known_type(frame.get_column(name))


def known_type(series: nw.Series[Any]) -> nw.Series[Any]:
    """Arrow's newer types as those that its functions know: they can neither take nor hash the others."""
    if not series.implementation.is_pyarrow():
        return series
    import pyarrow as pa
    import pyarrow.compute as pc

    column = series.to_native()
    while isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    kind = str(column.type)
    if kind.startswith("run_end_encoded"):
        column = pc.run_end_decode(column)
    elif kind in _VIEWS:
        column = column.cast(_VIEWS[kind])
    elif kind.startswith(("decimal32", "decimal64")):
        column = column.cast(pa.decimal128(column.type.precision, column.type.scale))
    return nw.from_native(column, series_only=True)


_VIEWS = {"string_view": "large_string", "binary_view": "large_binary"}


def given_column(values: Any) -> NDArray[Any] | nw.Series[Any]:
    """Column that was handed over by itself: a Series of any library, or anything like an array."""
    if type(values).__module__.split(".")[0] == "pandas" and not hasattr(values, "iloc"):  # a Categorical
        values = sys.modules["pandas"].Series(values)
    is_array = isinstance(values, np.ndarray)  # which narwhals takes long to tell from all that it knows
    series = values if is_array else nw.from_native(values, series_only=True, pass_through=True)
    return known_type(series) if isinstance(series, nw.Series) else as_column(values)


def as_column(values: Any) -> NDArray[Any]:
    """One-dimensional array of a list or array; numpy alone would make [1, "1"] two equal strings."""
    if not isinstance(values, np.ndarray):
        listed = getattr(values, "to_pylist", lambda: list(values))()  # an Array of Arrow, too
        values = _as_array(values if isinstance(values, (list, tuple)) else listed)
    if values.ndim != 1:
        raise ValueError(f"a column has {values.ndim} dimensions: expected one value per row")
    column: NDArray[Any] = values
    return column


def _as_array(values: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    types = {type(value) for value in values}
    short = types == {str} and max(map(len, values)) <= _LONGEST_IN_ARRAY
    if types in ({float}, {bool}) or short:
        return np.array(values)
    if types == {int} and (array := np.array(values)).dtype.kind in "iu":  # not where it needs more bits
        return array
    if types <= {int, float, type(None)} and float in types:
        numbers = as_numbers(values)  # None becomes NaN
        if numbers is not None:
            return numbers
    objects = np.empty(len(values), object)
    objects[:] = values
    return objects


def codes_of(column: Any, role: str, name: str) -> Codes:
    """Integer codes of a column's values; role and name are what an error calls it."""
    with hash_errors(role, name):
        return encode(plain(column))


@contextmanager
def hash_errors(role: str, name: str) -> Iterator[None]:
    """Name the column whose values cannot be compared, or cannot be read at all."""
    try:
        yield
    except (MemoryError, ColumnError):
        raise
    except TypeError as error:
        raise ColumnError(f"{role} {name} {not_hashable(str(error))}") from error
    except BaseException as error:
        advice = "convert it, for example to strings, or leave it out"
        raise ColumnError(f"{role} {name} cannot be read ({reason_of(error)}): {advice}") from error


def reason_of(error: BaseException) -> str:
    """First line of an error; what is no failure of a library, such as an interrupt, is raised again."""
    kind = type(error).__name__
    if not isinstance(error, Exception) and kind != "PanicException":  # of polars
        raise error
    return (str(error).strip() or kind).splitlines()[0]


def not_hashable(what: str) -> str:
    """What is said of a column of lists, structs or other values that are no categories."""
    return (
        f"holds values that cannot be compared by hash ({what}): expected strings, numbers, "
        "dates or other hashable values; convert it, for example to strings, or leave it out"
    )


def unreadable(column: Any, name: Any) -> str | None:
    """Why a column cannot be read, judged by its types and first rows; None if it can."""
    try:
        series = array_columns({name: column})[1](name)
        if isinstance(series, nw.Series):
            if series.dtype.is_nested():
                return f"column {name!r} {not_hashable(str(series.dtype))}"
            values = series.to_list() if series.dtype == nw.Object else []
        else:
            values = series.tolist() if series.dtype.kind == "O" else []
        odd = next((kind for kind in {type(v) for v in values} if kind.__hash__ is None), None)
        if odd is not None:
            return f"column {name!r} {not_hashable(f'unhashable type: {odd.__name__!r}')}"
        codes_of(series[:_FIRST_ROWS], "column", repr(name))
    except ColumnError as error:
        return str(error)
    return None


_FIRST_ROWS = 100


def labels_at(column: Any, rows: NDArray[np.intp]) -> list[Any]:
    """Labels at some rows as native Python values, or as text where Python has no such value.

    Python lacks moments finer than microseconds and years beyond 9999. A label depends on its value alone.
    """
    chosen = column[rows] if isinstance(column, np.ndarray) else column[rows.tolist()]
    moments = _moments(chosen)
    if moments is None:
        return list(chosen.tolist() if isinstance(chosen, np.ndarray) else chosen.to_list())
    known, unit = moments[~np.isnat(moments)], f"{moments.dtype.kind}8[us]"
    is_native = np.ones(len(moments), bool)
    is_native[~np.isnat(moments)] = known.astype(unit).astype(moments.dtype) == known
    if moments.dtype.kind == "M":
        years = moments.astype("datetime64[Y]").view(np.int64) + 1970
        is_native &= np.isnat(moments) | ((years >= 1) & (years <= 9999))
    native, others = np.flatnonzero(is_native), np.flatnonzero(~is_native)
    labels: list[Any] = [None] * len(moments)
    if isinstance(chosen, np.ndarray):
        values, texts = moments[native].astype(unit).tolist(), moments[others].astype(str).tolist()
    else:
        values, texts = chosen[native.tolist()].to_list(), moments[others].astype(str).tolist()
        if chosen.dtype == nw.Time:  # of the day
            days = np.datetime64("1970-01-01") + moments[others]
            texts = [text.partition("T")[2] for text in days.astype(str).tolist()]
    for places, found in ((native, values), (others, texts)):
        for place, label in zip(places.tolist(), found, strict=True):
            labels[place] = label
    return labels


def _moments(column: NDArray[Any] | nw.Series[Any]) -> NDArray[Any] | None:
    """Dates, times and durations as numpy has them; None for any other column."""
    if isinstance(column, np.ndarray):
        return column if column.dtype.kind in "mM" else None
    if column.dtype != nw.Time:
        return plain(column).values if column.dtype.is_temporal() else None
    if column.implementation.is_polars():
        return np.asarray(column.to_native().to_physical().to_numpy()).astype("timedelta64[ns]")
    native = column.to_native()
    if str(getattr(native, "type", None)) == "time64[ns]":
        return np.asarray(native.cast("int64").to_numpy()).astype("timedelta64[ns]")
    return None


def sorted_codes(
    column: Any, role: str, name: str, values: tuple[Any, ...] | None = None
) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    """Values of a column in one order on every engine, or those that are given, and the code of each row.

    A missing value has the code after the last value, and a value that was not given the next.
    """
    codes, n_codes, missing = codes_of(column, role, name)
    some_row = np.full(n_codes, -1, np.intp)
    some_row[codes] = np.arange(len(codes))
    if missing is not None:
        some_row[missing] = -1
    present = np.flatnonzero(some_row >= 0)
    with hash_errors(role, name):
        labels = labels_at(column, some_row[present])
    values = tuple(sort_labels(labels)) if values is None else values
    place = {value: code for code, value in enumerate(values)}
    recode = np.full(n_codes, len(values), np.int32)
    recode[present] = [place.get(label, len(values) + 1) for label in labels]
    return values, recode[codes]


def with_values(rows: UnitRows, column: Any, name: Any, as_numbers: bool) -> UnitRows:
    """The numbers, or codes of which none is left out, of a column at the rows whose numbers are known."""
    with hash_errors("column", repr(name)):
        if as_numbers:
            numbers = as_floats(plain(as_quantities(column), as_number=True))[rows.values]
            return rows._replace(values=numbers, n_missing=int(np.isnan(numbers).sum()))
        codes, _, missing = encode(plain(column))
    codes = codes.take(rows.values)
    n_missing = 0 if missing is None else int((codes == missing).sum())
    return rows._replace(values=dense_codes(codes), n_missing=n_missing)


def unit_of(column: Any, role: str, name: Any, rows: Any) -> Ints:
    """Codes of a unit at some rows, in the order of its values, of which none is left out."""
    numbers = None
    with hash_errors(role, repr(name)):
        if role == "time":
            from offsample.tables._meaning import recognised  # which needs this module

            read, found = recognised(column, name)
            column = read if found.n_read == found.n_texts else column  # no row may lose its time
            quantities = as_quantities(column)
            if column_kind(quantities) == "numeric":
                numbers = as_floats(plain(quantities, as_number=True))[rows]
        elif _is_whole(column) and (whole := plain(column)).missing is None:
            return ordered_codes(whole.values[rows])  # in the order of Python's labels, and far sooner
        if numbers is None:
            values, codes = sorted_codes(column, role, repr(name))
    if numbers is None and role == "time" and any(isinstance(value, str) for value in values):
        values, codes = in_order_of_time(values, codes, name)
    missing = codes[rows] == len(values) if numbers is None else np.isnan(numbers)
    if n_missing := int(missing.sum()):
        raise missing_unit(role, name, n_missing)
    return dense_codes(codes[rows]) if numbers is None else ordered_codes(numbers)


def _is_whole(column: Any) -> bool:
    return column.dtype.kind in "iu" if isinstance(column, np.ndarray) else bool(column.dtype.is_integer())


def describe(table: Any) -> str:
    """What an error calls a table: its library and type."""
    return f"a {type(table).__module__.split('.')[0]} {type(table).__qualname__}"
