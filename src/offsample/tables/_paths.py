"""Files, databases and standard input: opened by an engine, with everything temporary removed at the end."""

from __future__ import annotations

import csv
import glob
import gzip
import os
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import narwhals as nw

from offsample.tables._base import Table
from offsample.tables._engines import open_frame, require
from offsample.tables._open import in_memory

_DUCKDB_URL = "duckdb:///"
_PARQUET = (".parquet", ".pq", ".parq")
_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")

# A query for each column takes longer than to read so little; the types are those that numpy has too.
_FEW_CELLS = 20_000_000
_FEW_ROWS = 100_000
_NUMPY_TYPES = {
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "FLOAT", "DOUBLE", "VARCHAR", "TIMESTAMP",
}  # fmt: skip


def open_path(
    path: str,
    target: Any,
    features: Sequence[Any] | None,
    categorical: Collection[Any] | str,
    engine: str | None,
) -> Table:
    """Open a path on an engine, DuckDB by default. Arguments as in `open_table`."""
    with ExitStack() as stack:
        frame, names = scan_path(path, engine, stack)
        names = list(frame.collect_schema().names()) if names is None else names
        is_there = isinstance(target, str) and target in names
        columns = _small_columns(frame.to_native(), names) if engine is None and is_there else None
        if columns is not None:
            return in_memory(names, columns.__getitem__, target, features, categorical)
        table = open_frame(frame, target, features, categorical, None, names)
        # Closes also when the table is garbage collected, or when Python ends.
        table.close = weakref.finalize(table, stack.pop_all().close)  # type: ignore[method-assign]
    return table


def _small_columns(relation: Any, names: list[Any]) -> dict[Any, Any] | None:
    """Columns of a small DuckDB relation, read into memory; None for any other."""
    if not {str(kind) for kind in relation.types} <= _NUMPY_TYPES:
        return None
    n_rows = int(relation.aggregate("count(*)").fetchall()[0][0])
    if n_rows > min(_FEW_ROWS, _FEW_CELLS // len(names)):
        return None
    columns = relation.project(", ".join(f"#{i + 1} AS c{i}" for i in range(len(names)))).fetchnumpy()
    return {name: columns[f"c{i}"] for i, name in enumerate(names)}


Read = tuple[nw.LazyFrame[Any], list[Any] | None]


def scan_path(path: str, engine: str | None, stack: ExitStack) -> Read:
    """Lazy frame of a path on an engine, and the names of its columns where the engine changed them.

    What the frame needs, connections and temporary files, is closed with the stack.
    """
    engine = engine or "duckdb"
    require("pyspark" if engine == "spark" else engine)
    if path.startswith(_DUCKDB_URL) or _is_query(path):
        if engine != "duckdb":
            raise ValueError(f"engine={engine!r} cannot read {path!r}: expected engine='duckdb' or None")
        if path.startswith(_DUCKDB_URL):
            return _database(path, stack)
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="offsample-")))
        return _query(_connect(stack, scratch), path)
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="offsample-")))
    files, is_csv = _resolve(path, scratch)
    # Dask guesses the types of a CSV from its first rows, fails where later ones differ, and takes "None"
    # for missing. So DuckDB parses it, once, on this machine.
    by_duckdb = engine == "duckdb" or (engine == "dask" and is_csv)
    connection = _connect(stack, scratch) if by_duckdb else None
    try:
        if connection is not None:
            frame, names = _duckdb(connection, files, is_csv, scratch)
            if engine == "duckdb":
                return frame, names
            frame.to_native().write_parquet(str(scratch / "typed.parquet"))
            return _parquet([str(scratch / "typed.parquet")], engine), names
        return _csv(files, engine, scratch) if is_csv else (_parquet(files, engine), None)
    except (OSError, ImportError, MemoryError):
        raise
    except Exception as error:
        kind = "CSV" if is_csv else "Parquet"
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        told = _trouble(files[0]) if is_csv else None
        raise ValueError(f"{path!r} cannot be read as {kind}: {told or reason}") from error


def _resolve(path: str, scratch: Path) -> tuple[list[str], bool]:
    """Files that a path stands for, and whether they are CSV."""
    if path == "-":
        spooled = scratch / "stdin.csv"
        with spooled.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        if not spooled.stat().st_size:
            raise ValueError("standard input is empty: expected CSV with a header")
        return [str(spooled)], True
    files = [path]
    if Path(path).is_dir():
        files = sorted(str(f) for f in Path(path).iterdir() if f.name.endswith((*_PARQUET, *_CSV)))
        if not files:
            raise FileNotFoundError(
                f"directory {path!r} has no file to read: expected {', '.join((*_PARQUET, *_CSV))}"
            )
    elif not Path(path).exists():
        files = sorted(glob.glob(path))  # noqa: PTH207 - Path.glob takes no absolute pattern
    if not files:
        raise FileNotFoundError(f"no such file: {path!r}")
    kinds = {_is_csv(file) for file in files}
    if len(kinds) > 1:
        raise ValueError(f"{path!r} stands for both CSV and Parquet files: expected files of one kind")
    return files, kinds.pop()


def _is_csv(file: str) -> bool:
    with Path(file).open("rb") as stream:
        start = stream.read(4)
    if start == b"PAR1":
        return False
    name = file.lower()
    if not start:
        raise ValueError(f"{file!r} is empty: expected a Parquet file, or CSV with a header")
    if not name.endswith((*_PARQUET, *_CSV)):
        raise ValueError(f"{file!r} is neither Parquet nor CSV: expected {', '.join((*_PARQUET, *_CSV))}")
    return not name.endswith(_PARQUET)


def _connect(stack: ExitStack, scratch: Path, database: str = ":memory:") -> Any:
    import duckdb

    # By default DuckDB would spill into the working directory.
    # Nothing is fetched from elsewhere, whatever a query or a file asks for.
    config: dict[str, Any] = {
        "temp_directory": str(scratch / "spill"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    connection = duckdb.connect(database, read_only=database != ":memory:", config=config)
    stack.callback(connection.close)
    if memory := os.environ.get("OFFSAMPLE_DUCKDB_MEMORY"):
        try:
            connection.execute(f"SET memory_limit = {_quoted(memory, quote=chr(39))}").fetchall()
        except duckdb.Error as error:
            raise ValueError(
                f"OFFSAMPLE_DUCKDB_MEMORY is {memory!r}: expected a size such as '1GB'"
            ) from error
    return connection


def _database(url: str, stack: ExitStack) -> Read:
    import duckdb

    file, _, name = url.removeprefix(_DUCKDB_URL).partition("#")
    if not Path(file).is_file():
        raise FileNotFoundError(
            f"no such file: {file!r} (a path after {_DUCKDB_URL} is absolute if it starts with /)"
        )
    if not name:
        raise ValueError(f"{url!r} names no table: expected {_DUCKDB_URL}file.db#table")
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="offsample-")))
    try:
        connection = _connect(stack, scratch, file)
    except duckdb.Error as error:
        raise ValueError(f"{file!r} cannot be read as a DuckDB database: {error}") from error
    if _is_query(name):
        return _query(connection, name)
    tables = [
        row[0] for row in connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
    ]
    try:
        relation = connection.sql(f"FROM {_quoted(name)}") if name in tables else connection.table(name)
    except duckdb.Error as error:
        raise ValueError(f"{file!r} has no table {name!r}: expected one of {', '.join(tables)}") from error
    return nw.from_native(relation), None


def _is_query(text: str) -> bool:
    return re.match(r"\s*(select|with|from)\s", text, re.IGNORECASE) is not None


def _query(connection: Any, query: str) -> Read:
    import duckdb

    try:
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise ValueError(f"the query {query!r} is not a single SELECT")
        return nw.from_native(connection.sql(query)), None
    except duckdb.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"the query {query!r} failed: {reason}") from error


def _quoted(text: str, quote: str = '"') -> str:
    return quote + text.replace(quote, quote * 2) + quote


def _duckdb(connection: Any, files: list[str], is_csv: bool, scratch: Path) -> Read:
    if not is_csv:
        relation = connection.read_parquet(files, union_by_name=False)
        return nw.from_native(relation), _parquet_names(connection, files[0])
    # The types of all rows count, and the text is parsed once, not once per column.
    options: dict[str, Any] = {"header": True, "sample_size": -1}
    if separator := _separator(files[0]):
        options["delimiter"] = separator
    relation = connection.read_csv(files, **options)
    dialect = connection.execute("SELECT Delimiter, Quote FROM sniff_csv(?, header = true)", [files[0]])
    sniffed, quote = dialect.fetchall()[0]
    names = _header(files[0], separator or sniffed, quote if len(quote) == 1 else '"')
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
    if texts:
        tests = ", ".join(f"bool_and(lower(c{i}) IN ('true', 'false'))" for i in texts)
        booleans = {
            i for i, known in zip(texts, relation.aggregate(tests).fetchall()[0], strict=True) if known
        }
        kinds = (f"CAST(c{i} AS BOOLEAN) AS c{i}" if i in booleans else f"c{i}" for i in range(len(names)))
        relation = relation.project(", ".join(kinds))
    return nw.from_native(relation), names


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


def _csv(files: list[str], engine: str, scratch: Path) -> Read:
    separator = _separator(files[0]) or ","
    frame: Any
    if engine == "polars":
        import polars as pl

        text = pl.scan_csv(files, separator=separator, infer_schema_length=None, try_parse_dates=True)
        text.sink_parquet(scratch / "table.parquet")  # parsed once, not once per column
        frame = pl.scan_parquet(scratch / "table.parquet")
    else:
        frame = _spark_session().read.csv(files, header=True, inferSchema=True, sep=separator)
    return nw.from_native(frame), _header(files[0], separator)


def _spark_session() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def _separator(file: str) -> str | None:
    return "\t" if ".tsv" in Path(file).name.lower() else None


def _header(file: str, separator: str, quote: str = '"') -> list[str]:
    """Names as they are in the file: every engine has its own way to change what it does not like."""
    with _text(file) as lines:
        return next(csv.reader(lines, delimiter=separator, quotechar=quote))


def _trouble(file: str) -> str | None:
    """What is wrong with a CSV file, where it is one of two common things: engines do not say it plainly."""
    try:
        with _text(file) as lines:
            rows = csv.reader(lines, delimiter=_separator(file) or ",")
            n_names = len(next(rows))
            for row in rows:
                if row and len(row) != n_names:
                    return f"line {rows.line_num} has {len(row)} fields, the header {n_names}"
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} is not UTF-8: expected text in UTF-8"
    except (csv.Error, EOFError, OSError):
        return None
    return None


def _text(file: str) -> Any:
    opened: Callable[..., Any] = gzip.open if file.lower().endswith(".gz") else open
    return opened(file, "rt", encoding="utf-8-sig", newline="")
