"""Tables read into memory: for what looks at rows, not at counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample._typing import Ints
from offsample.tables._base import (
    NO_COLUMNS,
    ColumnError,
    Wanted,
    check_classes,
    check_names,
    class_names,
    missing_column,
)
from offsample.tables._calendar import with_parts
from offsample.tables._columns import as_frame, describe, given_column, unreadable
from offsample.tables._derived import with_derived
from offsample.tables._encoder import EncodedTable, TableEncoder, is_dataframe
from offsample.tables._meaning import check_types, recognised
from offsample.tables._memory import read_units
from offsample.tables._open import scan_path
from offsample.tables._source import Source, TablePath, reading_rows
from offsample.tables._targets import Center, Task, check_task, numbers_of
from offsample.tables._units import Units
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
        n_rows, columns = _collect(holder_of(frame), frame, names, max_rows, stratify, random_state)
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


def read_blocks(
    source: str | Path | TablePath, n_rows: int = 100_000, as_text: Collection[str] = ()
) -> Iterator[Any]:
    """Read a path by DuckDB in Arrow tables of at most so many rows, in its order; at least one table.

    Some columns of CSV may stay the text that they are.
    """
    path = TablePath.of(source, trusted=True)
    path.as_text = as_text
    with ExitStack() as stack:
        frame, names, _, _ = scan_path(path, None, stack)
        check_names(names)
        with reading_rows(path):
            import pyarrow as pa

            reader = frame.to_native().to_arrow_reader(n_rows)
            blocks = (pa.Table.from_batches([batch]) for batch in reader)
            first = next(blocks, None)
            yield (reader.schema.empty_table() if first is None else first).rename_columns(names)
            for block in blocks:
                yield block.rename_columns(names)


def _read_path(
    path: TablePath, engine: str | None, max_rows: int | None, stratify: Any, random_state: int
) -> ReadColumns:
    with ExitStack() as stack:
        frame, names, files, reader = scan_path(path, engine, stack)
        check_names(names)
        with reading_rows(path):
            n_rows, columns = _collect(reader, frame, names, max_rows, stratify, random_state)
        if isinstance(columns, nw.DataFrame):
            columns = [columns[name].to_native() for name in columns.columns]
        return ReadColumns(zip(names, columns, strict=True), n_rows, files)


def _collect(
    engine: EngineBase,
    frame: nw.LazyFrame[Any],
    names: list[Any],
    max_rows: int | None,
    stratify: Any,
    random_state: int,
) -> tuple[int, Any]:
    """Rows of the source, and its columns or a sample of them: a dataframe, or arrays."""
    if stratify is not None and stratify not in names:
        raise missing_column(stratify, names, "target")
    place = None if stratify is None else names.index(stratify)
    found = engine.collect(frame, max_rows, place, random_state)
    if isinstance(found, tuple):
        return found
    n_rows = len(found)
    if max_rows is not None and n_rows > max_rows:
        by = None if place is None else found[found.columns[place]]
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


class LabelledRows(NamedTuple):
    """Labels, the columns to learn from, rows without a label, and why some columns were left out."""

    y: NDArray[Any]
    columns: dict[Any, Any]
    n_dropped: int
    left_out: tuple[str, ...]
    groups: tuple[Ints, ...] = ()  # codes of the columns of groups, without those that lie within others
    time: Ints | None = None
    is_numeric: bool = False  # whether `y` are numbers


def labelled_rows(
    columns: Mapping[Any, Any],
    target: Any,
    features: Sequence[Any] | None = None,
    ignore: Collection[Any] = (),
    units: Units | None = None,
    task: Task = "classification",
    types: Mapping[Any, str] | None = None,
) -> LabelledRows:
    """Split columns in memory into labels, or numbers, and features, without the rows that have none.

    Parameters
    ----------
    columns : mapping from names to columns
    target : name
        The column to predict. Whole numbers and truths stay what they are, other labels become text.
    features : list of names, optional
        By default all columns but the target.
    ignore : collection of names
        Columns to leave out; so is, with a sentence in `left_out`, one that cannot be read.
    units : Units, optional
        Columns that say which rows belong together, and when they were: no features.
    task : {"auto", "classification", "regression"}
        Whether the target holds classes or numbers, as in `rank_features`.
    types : dict from names to types, optional
        What columns are, as in `rank_features`.

    Examples
    --------
    >>> from offsample.tables import labelled_rows
    >>> rows = labelled_rows({"city": ["Rome", "Oslo", "Rome"], "churned": [1, 0, None]}, "churned")
    >>> rows.y.tolist(), rows.columns, rows.n_dropped
    ([1, 0], {'city': ['Rome', 'Oslo']}, 1)
    """
    units = units or Units()
    columns = dict(columns)
    for name, asked in check_types(types).items():
        if name not in columns:
            raise missing_column(name, list(columns), "column")
        columns[name] = recognised(given_column(columns[name]), name, asked)[0]
    columns = with_parts(columns, units.time)
    columns = with_derived(columns, {target, *units.names, *ignore}, types=types)
    names = list(columns)
    for name, role in ((target, "target"), *((name, "column") for name in ignore)):
        if name not in columns:
            raise missing_column(name, names, role)
    chosen = [name for name in Wanted(target, features, units=units).choose(names)[0] if name not in ignore]
    if not chosen:
        raise ValueError(NO_COLUMNS)
    left_out = {name: why for name in chosen if (why := unreadable(columns[name], name))}
    if len(left_out) == len(chosen):
        raise ColumnError(left_out[chosen[0]])
    check_task(task)
    numbers = numbers_of(given_column(columns[target]), task, repr(target))
    if numbers is None:
        encoder = TableEncoder([target])
        (codes,) = (column.values for column in encoder.fit_transform({target: columns[target]}))
        labels = encoder.values[0]
        known = np.flatnonzero(codes < len(labels))
    else:
        codes, known = numbers, np.flatnonzero(~np.isnan(numbers))
    kept = {name: columns[name] for name in chosen if name not in left_out}
    if len(known) < len(codes):
        kept = take_rows(kept, known)
    n_dropped = len(codes) - len(known)
    if numbers is None:
        check_classes(labels, repr(target), len(known), n_dropped)
        y = _as_classes(labels)[codes[known]]
    else:
        y = numbers[known]
        ends = [float(of(y)) for of in (np.mean, np.min, np.max)] if len(y) else [0.0] * 3
        Center.of(ends, repr(target), len(y), n_dropped)  # which raises unless they can be predicted
    groups, time = read_units(units, columns.__getitem__, len(codes), known)
    return LabelledRows(
        y, kept, n_dropped, tuple(left_out.values()), tuple(groups), time, numbers is not None
    )


def _as_classes(labels: tuple[Any, ...]) -> NDArray[Any]:
    """Labels as an array that every learner takes: whole numbers and truths as they are, all else as text."""
    types = {type(label) for label in labels}
    is_whole = types == {float} and all(label.is_integer() for label in labels)
    if is_whole or (len(types) == 1 and np.array(labels).dtype.kind in "biuU"):
        return np.array(labels)
    return np.array(class_names(labels))
