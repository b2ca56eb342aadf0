"""Columns of whatever holds them in memory: their names, how to read one, its kind, codes and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample.tables._base import Kind, kind_of
from offsample.tables._encode import Codes, encode, plain


def array_columns(table: NDArray[Any] | Mapping[Any, Any]) -> tuple[list[Any], Callable[[Any], Any]]:
    """Names of the columns of an array or a dict, and a function that reads one by name."""
    if isinstance(table, Mapping):
        columns = table

        def read(name: Any) -> Any:
            series = nw.from_native(columns[name], series_only=True, pass_through=True)
            return series if isinstance(series, nw.Series) else as_column(columns[name])

        return list(columns), read
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


def frame_reader(table: Any, frame: nw.DataFrame[Any]) -> Callable[[Any], Any]:
    """Function that reads a column of a dataframe, which narwhals knows as `frame`, by name."""
    if frame.implementation.is_pandas_like():  # whose names need not be strings
        return lambda name: nw.from_native(table[name], series_only=True)
    return frame.get_column


def as_column(values: Any) -> NDArray[Any]:
    """One-dimensional array of a list or array; numpy alone would make [1, "1"] two equal strings."""
    if not isinstance(values, np.ndarray):
        values = values if isinstance(values, (list, tuple)) else list(values)
        types = {type(value) for value in values}
        if types in ({int}, {float}, {bool}, {int, float}) or types == {str}:
            array = np.array(values)
        elif types <= {int, float, type(None)} and float in types:
            array = np.array(values, np.float64)  # None becomes NaN
        else:
            array = np.empty(len(values), object)
            array[:] = values
        values = array
    if values.ndim != 1:
        raise ValueError(f"a column has {values.ndim} dimensions: expected one value per row")
    column: NDArray[Any] = values
    return column


def column_kind(column: NDArray[Any] | nw.Series[Any]) -> Kind:
    """Kind of a column that was not declared: numbers, dates and durations are numeric."""
    if isinstance(column, np.ndarray):
        return "numeric" if column.dtype.kind in "iufmM" else "categorical"
    return kind_of(column.dtype)


def codes_of(column: Any, role: str, name: str) -> Codes:
    """Integer codes of a column's values; role and name are what an error calls it."""
    with hash_errors(role, name):
        return encode(plain(column))


@contextmanager
def hash_errors(role: str, name: str) -> Iterator[None]:
    """Say of values that cannot be compared which column holds them."""
    try:
        yield
    except TypeError as error:
        raise ValueError(
            f"{role} {name} holds values that cannot be compared by hash ({error}): expected strings, "
            "numbers, dates or other hashable values; convert it, for example to strings, or leave it out"
        ) from error


def labels_at(column: Any, rows: NDArray[np.intp]) -> list[Any]:
    """Labels at some rows as native Python values."""
    if not isinstance(column, np.ndarray):
        return list(column[rows.tolist()].to_list())
    values = column[rows]
    if values.dtype.kind in "mM":  # nanoseconds would become integers
        values = values.astype(f"{values.dtype.kind}8[us]")
    return list(values.tolist())


def describe(table: Any) -> str:
    """What an error calls a table: its library and type."""
    return f"a {type(table).__module__.split('.')[0]} {type(table).__qualname__}"
