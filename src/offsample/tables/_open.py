"""Opening a table: which of the implementations reads what was handed in."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from offsample.tables import _columns
from offsample.tables._base import Table, Wanted, check_names, missing_column
from offsample.tables._calendar import reading_parts
from offsample.tables._columns import describe, reason_of
from offsample.tables._databases import (
    check_result,
    connect,
    name_a_table,
    open_database,
    open_query,
    scratch_directory,
)
from offsample.tables._formats import as_parquet
from offsample.tables._lazy import open_frame
from offsample.tables._meaning import check_types, declared, recognising
from offsample.tables._memory import MemoryTable
from offsample.tables._source import OTHERS, TablePath, TooLargeError, resolve
from offsample.tables._targets import Task, check_task
from offsample.tables._text import all_named, check_headers, check_width, trouble
from offsample.tables._units import Units
from offsample.tables.engines import DEFAULT, check_engine, require
from offsample.tables.engines._engine import EngineBase
from offsample.tables.engines._files import Reading
from offsample.tables.engines.duckdb import few_rows

Scan = tuple[nw.LazyFrame[Any], list[Any], tuple[str, ...], EngineBase]


def open_table(
    table: Any,
    target: Any,
    features: Sequence[Any] | None = None,
    *,
    categorical_features: Collection[Any] | str = "infer",
    engine: str | None = None,
    trusted: bool = True,
    group: Any = None,
    time: Any = None,
    task: Task = "classification",
    types: Mapping[Any, str] | None = None,
) -> Table:
    """Open any table for counting.

    Parameters
    ----------
    table : array, dict of columns, dataframe, relation or path
        A numpy array of two dimensions (its columns are named ``"x0"``, ``"x1"``, …) or with fields, a
        dict of columns, a pandas, polars, pyarrow, PySpark, Dask or ibis table, a DuckDB relation, or a
        path: Parquet, CSV (an empty field is missing), Excel, JSON, Arrow, a directory of such files or, if
        there is no file of that name, a pattern (``part-*.csv``), a database of SQLite or DuckDB with one of
        its tables (``file.db#table``), a query for DuckDB (``SELECT * FROM 'part.parquet' WHERE …``, also
        after the ``#`` of its database), or ``-`` for CSV on standard input.
    target : name, or array-like of shape (n_rows,)
        The column to predict, or, for a table in memory, its values row by row. Rows where it is missing
        are dropped.
    features : list of names, optional
        By default all columns but the target.
    categorical_features : "infer", "all" or list of names
        Columns to read as categorical whatever their type. Otherwise numbers, dates and durations are
        numeric, everything else is categorical, and so are numbers that float64 cannot tell apart, such as
        keys beyond 2**53.
    engine : {"duckdb", "polars", "dask", "spark"}, optional
        What counts. By default a table in memory is counted there, paths by DuckDB (which reads those with
        few rows into memory), anything else by the engine that holds it.
    trusted : bool
        Whether a text comes from somebody who may run queries here. Say False for strangers' texts: only the
        path of a file or directory is read then. `TablePath` has more such options.
    group : name, list of names, or array-like of shape (n_rows,), optional
        Rows that belong together. Of columns that lie within each other the coarsest counts.
    time : name, or array-like of shape (n_rows,), optional
        When rows were made: numbers, dates, or texts that sort by time. Neither is a feature, but the parts
        of a date that come again are: see `rank_features`.
    task : {"classification", "auto", "regression"}
        Whether the target is classes or a number. "auto": text, Booleans, categories and whole numbers of at
        most 20 different values are classes, other numbers are numbers.
    types : dict from names to types, optional
        What columns are, where that is not to be found out from their text: "number", "date", "time",
        "category" or "text", or how they are written, such as "date:dmy" or "number:comma".

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
    check_engine(engine)
    check_task(task)
    known = check_types(types)
    if declared(known) and categorical_features != "all":
        given = () if isinstance(categorical_features, str) else categorical_features
        categorical_features = list(dict.fromkeys([*given, *declared(known)]))
    wanted = Wanted(target, features, categorical_features, Units.of(group, time), task, known)
    if isinstance(table, (str, Path)):
        return _open_path(TablePath.of(table, trusted), wanted, engine)
    if isinstance(table, (np.ndarray, Mapping)):
        if engine is not None:
            raise ValueError(f"engine={engine!r} needs a dataframe or a path, got {describe(table)}")
        return in_memory(*_columns.array_columns(table), wanted)
    # Before narwhals looks at it: duplicate names end there in errors that depend on the library.
    # Those that name their schema have none, and some would look through all files for them.
    names = None if hasattr(table, "collect_schema") else _columns.frame_names(table)
    if names is not None:
        check_names(names)
    frame = nw.from_native(table, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        raise TypeError(
            f"table is {describe(table)}: expected an array, a dict of columns, a pandas, polars, pyarrow, "
            "PySpark, Dask or ibis table, a DuckDB relation or a path"
        )
    if isinstance(frame, nw.DataFrame) and engine is None:
        return in_memory(names or frame.columns, _columns.frame_reader(table, frame), wanted)
    return open_frame(frame, wanted, engine, names)


def in_memory(names: Sequence[Any], read: Callable[[Any], Any], wanted: Wanted) -> MemoryTable:
    """Table of columns in memory, which a function reads by name, and of the parts of their time."""
    read, found = recognising(read, wanted.read_as(names))
    parts, read = reading_parts(names, read, wanted.units.time)
    if is_name(wanted.target, names):
        chosen, declared = wanted.choose(names, parts)
        labels, said = read(wanted.target), repr(wanted.target)
    else:
        labels, said = _columns.given_column(wanted.target), "(given as an array)"
        chosen, declared = wanted._replace(target=None).choose(names, parts)
        if names and (n_rows := len(read(names[0]))) != len(labels):
            raise ValueError(f"the target has {len(labels)} labels for a table of {n_rows} rows")
    table = MemoryTable(read, chosen, declared, labels, said, wanted.task)
    table.units, table.found = wanted.units, found
    return table


def is_name(target: Any, names: Collection[Any]) -> bool:
    """Whether a target is the name of a column; raise if it can only be a name, and is not there."""
    if isinstance(target, (str, int)) or target is None:
        if target not in names:
            raise missing_column(target, list(names), "target")
        return True
    return isinstance(target, tuple) and target in names


def _open_path(path: TablePath, wanted: Wanted, engine: str | None) -> Table:
    with ExitStack() as stack:
        frame, names, files, _ = scan_path(path, engine, stack)
        is_there = isinstance(wanted.target, str) and wanted.target in names
        blocks = few_rows(path, frame.to_native(), names) if engine is None and is_there else None
        table: Table
        if blocks is not None:
            table = in_memory(names, blocks.read, wanted)
        else:
            table = open_frame(frame, wanted, None, names)
        table.files = files
        if blocks is None or not blocks.all_read:
            # Closes also when the table is garbage collected, or when Python ends.
            table.close = weakref.finalize(table, stack.pop_all().close)  # type: ignore[method-assign]
    return table


def scan_path(path: TablePath, engine: str | None, stack: ExitStack) -> Scan:
    """Scan a path on an engine; its connections and temporary files are closed with the stack.

    Returns the frame, the names of its columns, which the engine may have changed, the files, and the engine.
    """
    reader, kind = require(engine or DEFAULT), path.kind
    names: list[Any] | None
    if kind in ("query", "database") and not reader.runs_queries:
        raise ValueError(f"engine={engine!r} cannot read {str(path)!r}: expected engine={DEFAULT!r} or None")
    scratch = scratch_directory(stack)
    if kind == "database":
        (frame, names), files = open_database(path, stack, scratch)
    elif kind == "query":
        files = path.files
        try:
            frame, names = open_query(connect(stack, scratch, path, files), path)
        except ValueError as error:
            if ".wal" in str(error):  # of a database that is taken for a table
                name_a_table(path, stack, scratch)
            raise
    else:
        found = resolve(path, scratch)
        files, plain, is_csv, known_names = found.files, found.plain, found.is_csv, None
        if found.suffix in OTHERS:
            plain, known_names = as_parquet(found, scratch)
        try:
            reading = Reading(path, plain, is_csv, stack, scratch)
            if is_csv:
                check_headers(files, plain, check_width(path, plain[0]))
            elif path.max_bytes is not None:
                reading.check_size(path.max_bytes)
            frame, names = reader.scan(reading)
            names = known_names or names
        except (OSError, ImportError, MemoryError, TooLargeError):
            raise
        except BaseException as error:
            reason = reason_of(error)
            told = trouble(plain[0]) if is_csv else None
            raise ValueError(
                f"{str(path)!r} cannot be read as {'CSV' if is_csv else 'Parquet'}: {told or reason}"
            ) from error
    if kind in ("query", "database") and path.max_bytes is not None:
        check_result(path, frame.to_native(), path.max_bytes)
    names = list(frame.collect_schema().names()) if names is None else names
    return frame, all_named(names), files, reader
