"""Opening a table: which of the implementations reads what was handed in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample.tables._base import Table, check_names, choose_features, missing_column
from offsample.tables._memory import MemoryTable

Engine = Literal["duckdb", "polars", "dask", "spark"]
ENGINES: tuple[Engine, ...] = get_args(Engine)


def open_table(
    table: Any,
    target: Any,
    features: Sequence[Any] | None = None,
    *,
    categorical: Collection[Any] | str = (),
    engine: str | None = None,
) -> Table:
    """Open any table for counting.

    Parameters
    ----------
    table : array, dict of columns, dataframe, relation or path
        A numpy array of two dimensions (its columns are named ``"x0"``, ``"x1"``, …) or with fields, a
        dict of columns, a pandas, polars, pyarrow, PySpark, Dask or ibis table, a DuckDB relation, or a
        path: Parquet, CSV (an empty field is missing), a glob or directory of those,
        ``duckdb:///file.db#table``, or ``-`` for CSV on standard input.
    target : name, or array-like of shape (n_rows,)
        The column to predict, or, for a table in memory, its values row by row. Rows where it is missing
        are dropped.
    features : list of names, optional
        By default all columns but the target.
    categorical : list of names or "all"
        Columns to read as categorical whatever their type. Otherwise numbers, dates, times and durations
        are numeric, everything else is categorical.
    engine : {"duckdb", "polars", "dask", "spark"}, optional
        What counts. By default a table in memory is counted there, paths by DuckDB, anything else by the
        engine that holds it.

    Returns
    -------
    Table

    Examples
    --------
    >>> from offsample.tables import open_table
    >>> table = open_table({"city": ["Rome", "Oslo", "Rome", None], "churned": [1, 0, 1, 0]}, "churned")
    >>> table.classes, table.class_totals.tolist()
    ((0, 1), [2, 2])
    >>> table.value_counts("city").rows.tolist()  # counts of 0 and 1, then how many cities have them
    [[0, 2, 1], [1, 0, 2]]
    """
    if engine is not None and engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(map(repr, ENGINES))} or None, got {engine!r}")
    if isinstance(table, (str, Path)):
        from offsample.tables import _paths

        return _paths.open_path(str(table), target, features, categorical, engine)
    if isinstance(table, (np.ndarray, Mapping)):
        if engine is not None:
            raise ValueError(f"engine={engine!r} needs a dataframe or a path, got {_describe(table)}")
        names, read = _arrays(table)
        return _in_memory(names, read, target, features, categorical)
    return _open_frame(table, target, features, categorical, engine)


def _open_frame(
    table: Any,
    target: Any,
    features: Sequence[Any] | None,
    categorical: Collection[Any] | str,
    engine: str | None,
) -> Table:
    # Before narwhals looks at it: duplicate names end there in errors that depend on the library.
    names = None if nw.dependencies.is_polars_lazyframe(table) else _names(table)
    if names is not None:
        check_names(names)
    frame = nw.from_native(table, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        raise TypeError(
            f"table is {_describe(table)}: expected an array, a dict of columns, a pandas, polars, pyarrow, "
            "PySpark, Dask or ibis table, a DuckDB relation or a path"
        )
    if isinstance(frame, nw.DataFrame) and engine is None:
        return _in_memory(names or frame.columns, _reader(table, frame), target, features, categorical)

    from offsample.tables import _engines

    return _engines.open_frame(frame, target, features, categorical, engine)


def _in_memory(
    names: Sequence[Any],
    read: Callable[[Any], Any],
    target: Any,
    features: Sequence[Any] | None,
    categorical: Collection[Any] | str,
) -> MemoryTable:
    if is_name(target, names):
        chosen, declared = choose_features(names, target, features, categorical)
        return MemoryTable(read, chosen, declared, read(target), repr(target))
    labels = nw.from_native(target, series_only=True, pass_through=True)
    labels = labels if isinstance(labels, nw.Series) else as_column(target)
    chosen, declared = choose_features(names, None, features, categorical)
    if names and len(read(names[0])) != len(labels):
        raise ValueError(f"the target has {len(labels)} labels for a table of {len(read(names[0]))} rows")
    return MemoryTable(read, chosen, declared, labels, "(given as an array)")


def is_name(target: Any, names: Collection[Any]) -> bool:
    """Whether a target is the name of a column; raise if it can only be a name, and is not there."""
    if isinstance(target, (str, int)) or target is None:
        if target not in names:
            raise missing_column(target, list(names), "target")
        return True
    return isinstance(target, tuple) and target in names


def _names(table: Any) -> list[Any] | None:
    names = getattr(table, "column_names", None)  # pyarrow, where `columns` are the data
    names = getattr(table, "columns", None) if names is None else names
    return None if names is None or callable(names) else list(names)


def _reader(table: Any, frame: nw.DataFrame[Any]) -> Callable[[Any], Any]:
    if frame.implementation.is_pandas_like():  # whose names need not be strings
        return lambda name: nw.from_native(table[name], series_only=True)
    return frame.get_column


def _arrays(table: NDArray[Any] | Mapping[Any, Any]) -> tuple[list[Any], Callable[[Any], Any]]:
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


def _describe(table: Any) -> str:
    return f"a {type(table).__module__.split('.')[0]} {type(table).__qualname__}"
