"""Files, databases and standard input: opened by an engine, with everything temporary removed at the end."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw

from offsample.tables._base import Table
from offsample.tables._columns import reason_of
from offsample.tables._databases import Read, check_result, connect, named_in, open_database, open_query
from offsample.tables._engines import open_frame, require
from offsample.tables._open import in_memory
from offsample.tables._read import fetch_columns
from offsample.tables._source import (
    MAX_TEXT_BYTES,
    TablePath,
    TooLargeError,
    reading_rows,
    resolve,
    too_large,
)
from offsample.tables._text import all_named, check_headers, check_width, header, separator_of, trouble

# A query for each column takes longer than to read so little; the types are those that numpy has too.
_FEW_CELLS = 20_000_000
_FEW_ROWS = 100_000
_MANY_COLUMNS = 1000
_NUMPY_TYPES = {
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "FLOAT", "DOUBLE", "VARCHAR", "TIMESTAMP",
}  # fmt: skip


def open_path(
    path: TablePath,
    target: Any,
    features: Sequence[Any] | None,
    categorical: Collection[Any] | str,
    engine: str | None,
) -> Table:
    """Open a path on an engine, DuckDB by default. Arguments as in `open_table`."""
    with ExitStack() as stack:
        frame, names, files = scan_path(path, engine, stack)
        is_there = isinstance(target, str) and target in names
        blocks = _few_rows(path, frame.to_native(), names) if engine is None and is_there else None
        table: Table
        if blocks is not None:
            table = in_memory(names, blocks.read, target, features, categorical)
        else:
            table = open_frame(frame, target, features, categorical, None, names)
        table.files = files
        if blocks is not None and blocks.all_read:
            return table
        # Closes also when the table is garbage collected, or when Python ends.
        table.close = weakref.finalize(table, stack.pop_all().close)  # type: ignore[method-assign]
    return table


def _few_rows(path: TablePath, relation: Any, names: list[Any]) -> _Blocks | None:
    """Columns of a DuckDB relation with few rows; None for any other."""
    if not {str(kind) for kind in relation.types} <= _NUMPY_TYPES:
        return None
    with reading_rows(path):
        n_rows = int(relation.aggregate("count(*)").fetchall()[0][0])
    is_small = n_rows * len(names) <= _FEW_CELLS or len(names) >= _MANY_COLUMNS
    return _Blocks(path, relation, names, n_rows) if n_rows <= _FEW_ROWS and is_small else None


class _Blocks:
    """Columns of a DuckDB relation, read by so many at once as fit; the last block is kept."""

    def __init__(self, path: TablePath, relation: Any, names: list[Any], n_rows: int) -> None:
        self._path, self._relation, self._names = path, relation, names
        self._position = {name: i for i, name in enumerate(names)}
        self._size = max(1, _FEW_CELLS // max(1, n_rows))
        self._block, self._columns = -1, dict[Any, Any]()

    @property
    def all_read(self) -> bool:
        return len(self._columns) == len(self._names)

    def read(self, name: Any) -> Any:
        block = self._position[name] // self._size
        if block != self._block:
            places = range(block * self._size, min((block + 1) * self._size, len(self._names)))
            with reading_rows(self._path):
                chosen = fetch_columns(self._relation.project(", ".join(f"#{i + 1} AS c{i}" for i in places)))
            self._block, self._columns = block, {self._names[i]: chosen[f"c{i}"] for i in places}
            if self.all_read:
                self._relation = None  # which would keep the connection
        return self._columns[name]


class Scan(NamedTuple):
    """A path on an engine."""

    frame: nw.LazyFrame[Any]
    names: list[Any]  # of the columns: the engine may have changed them
    files: tuple[str, ...]


def scan_path(path: TablePath, engine: str | None, stack: ExitStack) -> Scan:
    """Lazy frame of a path on an engine, the names of its columns, and the files.

    What the frame needs, connections and temporary files, is closed with the stack.
    """
    engine = engine or "duckdb"
    require("pyspark" if engine == "spark" else engine)
    kind = path.kind
    if kind in ("query", "database") and engine != "duckdb":
        raise ValueError(f"engine={engine!r} cannot read {str(path)!r}: expected engine='duckdb' or None")
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="offsample-")))
    if kind == "database":
        (frame, names), files = open_database(path, stack, scratch)
    elif kind == "query":
        files = named_in(path)
        frame, names = open_query(connect(stack, scratch, path, files), path)
    else:
        files, plain, is_csv = resolve(path, scratch)
        try:
            if is_csv:
                check_width(path, plain[0])
                check_headers(files, plain)
            frame, names = _scan_files(path, plain, is_csv, engine, stack, scratch)
        except (OSError, ImportError, MemoryError, TooLargeError):
            raise
        except BaseException as error:
            reason = reason_of(error)
            told = trouble(plain[0]) if is_csv else None
            by_duckdb = engine in ("duckdb", "polars") or (engine == "dask" and is_csv)
            other = "" if told or by_duckdb else f" (by {engine}; DuckDB reads more)"
            raise ValueError(
                f"{str(path)!r} cannot be read as {'CSV' if is_csv else 'Parquet'}: {told or reason}{other}"
            ) from error
    if kind in ("query", "database") and path.max_bytes is not None:
        check_result(path, frame.to_native(), path.max_bytes)
    names = list(frame.collect_schema().names()) if names is None else names
    return Scan(frame, all_named(names), files)


def _scan_files(
    path: TablePath, files: list[str], is_csv: bool, engine: str, stack: ExitStack, scratch: Path
) -> Read:
    # Every engine has its own idea of the separator, of the types, of what is missing and where lines end.
    # So DuckDB parses text, once, on this machine; all but Spark, whose files may be on another.
    by_duckdb = engine == "duckdb" or (is_csv and engine != "spark")
    if path.max_bytes is not None and not is_csv:
        _check_parquet_size(connect(stack, scratch, path, files), path, files, path.max_bytes)
    if not by_duckdb:
        try:
            return _spark_csv(files) if is_csv else (_parquet(files, engine), None)
        except BaseException as error:
            reason_of(error)
            if engine != "polars":
                raise
    require("duckdb")
    connection = connect(stack, scratch, path, files)
    if not by_duckdb:  # polars has not all types of Parquet, and reads no column then
        _check_parquet_size(connection, path, files, MAX_TEXT_BYTES)
    frame, names = _duckdb(connection, files, is_csv, scratch)
    if engine == "duckdb":
        return frame, names
    frame.to_native().write_parquet(str(scratch / "typed.parquet"))
    return _parquet([str(scratch / "typed.parquet")], engine), names


def _check_parquet_size(connection: Any, path: TablePath, files: Sequence[str], limit: int) -> None:
    size = "SELECT sum(greatest(num_values, total_uncompressed_size)) FROM parquet_metadata(?)"
    if (connection.execute(size, [list(files)]).fetchall()[0][0] or 0) > limit:
        raise too_large(path, limit, "data")


def _duckdb(connection: Any, files: list[str], is_csv: bool, scratch: Path) -> Read:
    if not is_csv:
        relation = connection.read_parquet(files, union_by_name=False, hive_partitioning=False)
        return nw.from_native(relation), _parquet_names(connection, files[0])
    # The types of all rows count, and the text is parsed once, not once per column.
    options: dict[str, Any] = {
        "header": True,
        "sample_size": -1,
        "compression": "none",
        "hive_partitioning": False,
    }
    if separator := separator_of(files[0]):
        options["delimiter"] = separator
    relation = connection.read_csv(files, **options)
    dialect = connection.execute("SELECT Delimiter, Quote FROM sniff_csv(?, header = true)", [files[0]])
    sniffed, quote = dialect.fetchall()[0]
    names = header(files[0], separator or sniffed, quote if len(quote) == 1 else '"')
    if len(names) != len(relation.columns):  # a file that only DuckDB's sniffer understands
        names = list(relation.columns)
    if len(names) == 1 and any(mark in names[0] for mark in ",;\t|"):
        raise ValueError(f"rows do not have as many fields as the header {names[0]!r}")
    # DuckDB takes yes and no for booleans, which would give the classes other labels than elsewhere.
    texts = [i for i, kind in enumerate(relation.types) if str(kind) == "BOOLEAN"]
    if texts:
        relation = connection.read_csv(
            files, dtype={relation.columns[i]: "VARCHAR" for i in texts}, **options
        )
    parsed = str(scratch / "table.parquet")
    relation.project(", ".join(f"#{i + 1} AS c{i}" for i in range(len(names)))).write_parquet(parsed)
    relation = connection.read_parquet(parsed)
    others = [i for i, kind in enumerate(relation.types) if str(kind) == "VARCHAR" and i not in texts]
    others = _holding(
        relation.limit(_FIRST_ROWS), others, _IS_NUMBER
    )  # most are not, and that is quick to see
    kinds = dict.fromkeys(_holding(relation, texts, "lower({}) IN ('true', 'false')"), "BOOLEAN")
    kinds |= dict.fromkeys(_holding(relation, others, _IS_NUMBER), "DOUBLE")
    if kinds:
        columns = (f"CAST(c{i} AS {kinds[i]}) AS c{i}" if i in kinds else f"c{i}" for i in range(len(names)))
        relation = relation.project(", ".join(columns))
    return nw.from_native(relation), names


# DuckDB's reader takes a column for text if its first number is "inf".
_IS_NUMBER = "TRY_CAST({0} AS DOUBLE) IS NOT NULL AND NOT contains({0}, '_')"
_FIRST_ROWS = 1000


def _holding(relation: Any, columns: list[int], test: str) -> list[int]:
    """Those of some columns all of whose values, of which there are some, pass a test."""
    if not columns:
        return []
    tests = ", ".join(f"bool_and({test.format(f'c{i}')}) FILTER (c{i} IS NOT NULL)" for i in columns)
    return [i for i, holds in zip(columns, relation.aggregate(tests).fetchall()[0], strict=True) if holds]


def _parquet_names(connection: Any, file: str) -> list[str]:
    """Names as they are in the file."""
    query = "SELECT name, coalesce(num_children, 0) FROM parquet_schema(?)"
    schema = connection.execute(query, [file]).fetchall()
    names, position = [], 1
    while position < len(schema):
        names.append(schema[position][0])
        pending = 1
        while pending:  # skip the fields of a nested column
            pending += schema[position][1] - 1
            position += 1
    return names


def _parquet(files: list[str], engine: str) -> nw.LazyFrame[Any]:
    native: Any
    if engine == "polars":
        import polars as pl

        native = pl.scan_parquet(files, glob=False)
    elif engine == "dask":
        import dask.dataframe as dd

        # By default integers with nulls would become floats, and large ones the same.
        native = dd.read_parquet(files, dtype_backend="pyarrow")
    else:
        native = _spark_session().read.parquet(*files)
    frame: nw.LazyFrame[Any] = nw.from_native(native)
    frame.collect_schema()  # a file that is not Parquet fails here, not in the first count
    return frame


def _spark_csv(files: list[str]) -> Read:
    separator = separator_of(files[0]) or ","
    frame = _spark_session().read.csv(files, header=True, inferSchema=True, sep=separator)
    scanned: nw.LazyFrame[Any] = nw.from_native(frame)
    names, n_columns = header(files[0], separator), len(scanned.collect_schema().names())
    if n_columns != len(names):  # such as of a carriage return in a name that is not quoted
        raise ValueError(f"the header has {len(names)} names, but spark finds {n_columns} columns")
    return scanned, names


def _spark_session() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()
