"""Tables read into memory: for what looks at rows, not at counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample._typing import Ints
from offsample.tables._base import check_names, missing_column
from offsample.tables._columns import as_frame, describe
from offsample.tables._encoder import EncodedTable, TableEncoder, is_dataframe
from offsample.tables._open import scan_path
from offsample.tables._source import Source, TablePath, reading_rows
from offsample.tables.engines import check_engine, holder_of
from offsample.tables.engines._engine import EngineBase


class ReadColumns(dict[Any, Any]):
    """Columns of a path by name, each an array or a series, in the order of the file.

    Attributes
    ----------
    n_source_rows : int
        Rows that the source has; the columns may be a sample of them.
    source : Source or None
        The files that were read, and their rows.
    """

    def __init__(
        self, columns: Iterable[tuple[Any, Any]], n_source_rows: int, files: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(columns)
        self.n_source_rows = n_source_rows
        self.source = None if files is None else Source(files, n_source_rows)


def read_table(
    source: Any,
    *,
    engine: str | None = None,
    max_rows: int | None = None,
    stratify: Any = None,
    random_state: int = 0,
    trusted: bool = True,
) -> Any:
    r"""Read a table into memory, or a random sample of its rows.

    Parameters
    ----------
    source : path, dict of columns, dataframe or relation
        Whatever names a table for `open_table`. A dict or a dataframe in memory comes back as it is; a lazy
        frame or a relation is collected (other than DuckDB's, whole) and sampled.
    engine : {"duckdb", "polars", "dask", "spark"}, optional
        What reads a path; by default DuckDB, the only one that samples while it reads.
    max_rows : int, optional
        If there are more rows, take a random sample of about this size, in the order of the source.
    stratify : name, optional
        A column each of whose values keeps its share of the rows in the sample, to the nearest row.
    random_state : int
        Of the sample.
    trusted : bool
        Whether a text comes from somebody who may run queries here; see `open_table`.

    Returns
    -------
    ReadColumns, dict or dataframe
        Columns as `TableEncoder` and the estimators take them. Of a path: a dict, which also says how many
        rows the source has. Missing is NaN, NaT or None; dates and times are datetime64, in UTC.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from offsample.tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "t.csv"
    ...     _ = path.write_text("city,age\nRome,30\n,40\nOslo,\n")
    ...     table = read_table(path)
    >>> {name: column.tolist() for name, column in table.items()}, table.n_source_rows
    ({'city': ['Rome', None, 'Oslo'], 'age': [30.0, 40.0, nan]}, 3)
    """
    check_engine(engine)
    if max_rows is not None and max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, got {max_rows}")
    if isinstance(source, (str, Path)):
        return _read_path(TablePath.of(source, trusted), engine, max_rows, stratify, random_state)
    if engine is not None:
        raise ValueError(f"engine={engine!r} needs a path, got {describe(source)}")
    frame = source if isinstance(source, Mapping) else as_frame(source, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        names = list(frame.collect_schema().names())
        n_rows, columns = _collect(holder_of(frame), frame, max_rows, _place(stratify, names), random_state)
        if isinstance(columns, nw.DataFrame):
            return columns.to_native()
        return ReadColumns(zip(names, columns, strict=True), n_rows)
    if not isinstance(frame, (Mapping, nw.DataFrame)):
        raise TypeError(f"table is {describe(source)}: expected a path, a dict of columns or a dataframe")
    n_rows = len(next(iter(frame.values()), ())) if isinstance(frame, Mapping) else len(frame)
    if max_rows is None or n_rows <= max_rows:
        return source
    by = None if stratify is None else source[stratify]
    taken = take_rows(source, _sample(n_rows, max_rows, by, random_state))
    if isinstance(frame, nw.DataFrame):
        return taken
    origin = getattr(source, "source", None)
    return ReadColumns(taken.items(), n_rows, origin.files if origin else None)


def _read_path(
    path: TablePath, engine: str | None, max_rows: int | None, stratify: Any, random_state: int
) -> ReadColumns:
    with ExitStack() as stack:
        scan = scan_path(path, engine, stack)
        check_names(scan.names)
        place = _place(stratify, scan.names)
        with reading_rows(path):
            n_rows, columns = _collect(scan.engine, scan.frame, max_rows, place, random_state)
        if isinstance(columns, nw.DataFrame):
            columns = [columns[name].to_native() for name in columns.columns]
        return ReadColumns(zip(scan.names, columns, strict=True), n_rows, scan.files)


def _place(name: Any, names: list[Any]) -> int | None:
    if name is None:
        return None
    if name not in names:
        raise missing_column(name, names, "target")
    return names.index(name)


def _collect(
    engine: EngineBase,
    frame: nw.LazyFrame[Any],
    max_rows: int | None,
    stratify: int | None,
    random_state: int,
) -> tuple[int, Any]:
    """Rows of the source, and its columns or a sample of them: a dataframe, or arrays."""
    found = engine.collect(frame, max_rows, stratify, random_state)
    if isinstance(found, tuple):
        return found
    n_rows = len(found)
    if max_rows is not None and n_rows > max_rows:
        by = None if stratify is None else found[found.columns[stratify]]
        found = found[_sample(n_rows, max_rows, by, random_state).tolist()]
    return n_rows, found


def _sample(n_rows: int, size: int, by: Any, random_state: int) -> Ints:
    """Rows of a sample without replacement, ascending: uniform, or of each value in proportion."""
    random = np.random.default_rng(random_state)
    if by is None:
        return np.sort(random.choice(n_rows, size, replace=False))
    codes = next(TableEncoder("all").fit_transform({"by": by})).values
    order = random.permutation(n_rows)
    order = order[np.argsort(codes[order], kind="stable")]  # value by value, in random order
    totals = np.bincount(codes)
    turn = np.arange(n_rows) - np.repeat(np.cumsum(totals) - totals, totals)
    return np.sort(order[turn < np.repeat(np.round(totals * (size / n_rows)), totals)])


def take_columns(table: Any, positions: list[int]) -> Any:
    """Some columns of an array, a sparse matrix, a dict or a dataframe, as the same kind."""
    if isinstance(table, dict):
        names = list(table)
        return {names[j]: table[names[j]] for j in positions}
    if nw.dependencies.is_pandas_dataframe(table):  # whose names need not be strings
        return table.iloc[:, positions]
    if is_dataframe(table):
        return nw.from_native(table, eager_only=True)[:, positions].to_native()
    return table[:, positions]


def take_rows(table: Any, rows: NDArray[np.integer]) -> Any:
    """Some rows of an array, a sparse matrix, a list, a dict of columns or a dataframe, as the same kind."""
    if isinstance(table, EncodedTable):
        return table.take(rows)
    if isinstance(table, np.ndarray):  # which narwhals takes ten times as long to pass through
        return table[rows]
    if isinstance(table, Mapping):
        return {name: take_rows(column, rows) for name, column in table.items()}
    if nw.dependencies.is_pandas_dataframe(table):  # whose names need not be strings
        return table.iloc[rows]
    frame = nw.from_native(table, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, (nw.DataFrame, nw.Series)):
        return frame[rows.tolist()].to_native()
    return table[rows] if hasattr(table, "shape") else [table[i] for i in rows.tolist()]
