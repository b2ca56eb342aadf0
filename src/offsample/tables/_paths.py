"""Files, databases and standard input: opened by an engine, with everything temporary removed at the end."""

from __future__ import annotations

import glob
import os
import re
import tempfile
import weakref
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw

from offsample.tables._base import Table
from offsample.tables._engines import open_frame, require
from offsample.tables._open import in_memory
from offsample.tables._source import (
    DUCKDB_URL,
    TablePath,
    TooLargeError,
    is_query,
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

# Connections of this process, for those who have to end it.
_OPEN: list[Any] = []


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
                chosen = self._relation.project(", ".join(f"#{i + 1} AS c{i}" for i in places)).fetchnumpy()
            self._block, self._columns = block, {self._names[i]: chosen[f"c{i}"] for i in places}
            if self.all_read:
                self._relation = None  # which would keep the connection
        return self._columns[name]


Read = tuple[nw.LazyFrame[Any], list[Any] | None]


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
        (frame, names), files = _database(path, stack, scratch)
    elif kind == "query":
        files = _named_in(path)
        frame, names = _query(_connect(stack, scratch, path, files), path)
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
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # of polars
                raise
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            told = trouble(plain[0]) if is_csv else None
            other = "" if told or engine == "duckdb" else f" (by {engine}; DuckDB reads more)"
            raise ValueError(
                f"{str(path)!r} cannot be read as {'CSV' if is_csv else 'Parquet'}: {told or reason}{other}"
            ) from error
    names = list(frame.collect_schema().names()) if names is None else names
    return Scan(frame, all_named(names), files)


def _scan_files(
    path: TablePath, files: list[str], is_csv: bool, engine: str, stack: ExitStack, scratch: Path
) -> Read:
    # Dask guesses the types of a CSV from its first rows, fails where later ones differ, and takes "None"
    # for missing. So DuckDB parses it, once, on this machine.
    by_duckdb = engine == "duckdb" or (engine == "dask" and is_csv)
    is_limited = path.max_bytes is not None and not is_csv
    if not by_duckdb and not is_limited:
        return _csv(files, engine, scratch) if is_csv else (_parquet(files, engine), None)
    connection = _connect(stack, scratch, path, files)
    if path.max_bytes is not None and not is_csv:
        size = "SELECT sum(greatest(num_values, total_uncompressed_size)) FROM parquet_metadata(?)"
        if (connection.execute(size, [files]).fetchall()[0][0] or 0) > path.max_bytes:
            raise too_large(path, path.max_bytes, "data")
    if not by_duckdb:
        return _parquet(files, engine), None
    frame, names = _duckdb(connection, files, is_csv, scratch)
    if engine == "duckdb":
        return frame, names
    frame.to_native().write_parquet(str(scratch / "typed.parquet"))
    return _parquet([str(scratch / "typed.parquet")], engine), names


def _connect(stack: ExitStack, scratch: Path, path: TablePath, files: Sequence[str]) -> Any:
    """Connection that can read these files and the scratch directory, and nothing else."""
    import duckdb

    # By default DuckDB would spill into the working directory, and take a Python variable for a table.
    config: dict[str, Any] = {
        "temp_directory": str(scratch / "spill"),
        "python_enable_replacements": False,
        "autoinstall_known_extensions": path.allow_external,
        "autoload_known_extensions": path.allow_external,
    }
    connection = duckdb.connect(":memory:", config=config)
    stack.callback(connection.close)
    _OPEN.append(connection)
    stack.callback(_OPEN.remove, connection)
    if memory := os.environ.get("OFFSAMPLE_DUCKDB_MEMORY"):
        try:
            connection.execute(f"SET memory_limit = {_quoted(memory, quote=chr(39))}").fetchall()
        except duckdb.Error as error:
            raise ValueError(
                f"OFFSAMPLE_DUCKDB_MEMORY is {memory!r}: expected a size such as '1GB'"
            ) from error
    if path.kind == "database":
        _attach(connection, files[0])
    if not path.allow_external:
        directories = [str(scratch), *(file for file in files if Path(file).is_dir())]
        connection.execute("SET allowed_directories = ?", [directories])
        connection.execute("SET allowed_paths = ?", [list(files)])
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    return connection


def interrupt_queries() -> None:
    """Let what DuckDB is at work on fail at once, in whatever thread; the connections stay open."""
    for connection in tuple(_OPEN):
        connection.interrupt()


def _attach(connection: Any, file: str) -> None:
    """Use a database as if it had been opened; two tables of one process may share it that way."""
    known = "SELECT database_name FROM duckdb_databases()"
    before = set(connection.execute(known).fetchall())
    name = ' AS "database"' if Path(file).stem in ("memory", "system", "temp") else ""
    connection.execute(f"ATTACH {_quoted(file, quote=chr(39))}{name} (READ_ONLY, TYPE duckdb)")
    (attached,) = set(connection.execute(known).fetchall()) - before
    connection.execute(f"USE {_quoted(attached[0])}")


def _database(url: TablePath, stack: ExitStack, scratch: Path) -> tuple[Read, tuple[str, ...]]:
    import duckdb

    file, _, name = url.removeprefix(DUCKDB_URL).partition("#")
    if not Path(file).is_file():
        raise FileNotFoundError(
            f"no such file: {file!r} (a path after {DUCKDB_URL} is absolute if it starts with /)"
        )
    if not name:
        raise ValueError(f"{str(url)!r} names no table: expected {DUCKDB_URL}file.db#table")
    if url.max_bytes is not None and Path(file).stat().st_size > url.max_bytes:
        raise too_large(url, url.max_bytes, "data")
    also = _named_in(name) if is_query(name) else ()
    try:
        connection = _connect(stack, scratch, url, [str(Path(file).absolute()), *also])
    except duckdb.Error as error:
        raise ValueError(f"{file!r} cannot be read as a DuckDB database: {error}") from error
    if is_query(name):
        return _query(connection, name), (file, *also)
    tables = [
        row[0] for row in connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
    ]
    try:
        relation = connection.sql(f"FROM {_quoted(name)}") if name in tables else connection.table(name)
    except duckdb.PermissionException as error:
        raise ValueError(f"table {name!r} of {file!r} {_reaches_out(error)}") from error
    except duckdb.Error as error:
        raise ValueError(f"{file!r} has no table {name!r}: expected one of {', '.join(tables)}") from error
    return (nw.from_native(relation), None), (f"{file}#{name}",)


def _reaches_out(error: Exception) -> str:
    what = re.search(r'"(.*)"', str(error))
    named = f" ({what[1]})" if what else ""
    return (
        f"reads what was not named{named}: other files, extensions and the network are closed to it; open "
        "them with --allow-external (in Python TablePath(path, allow_external=True)) if you trust where it "
        "comes from"
    )


# A table of a query is a file: after FROM and JOIN, and in functions such as read_csv and parquet_scan.
_BEFORE_A_FILE = re.compile(
    r"(?:\b(?:from|join)\s*\(?|\b(?:read_|sniff_|glob|\w+_scan)\w*\s*\(\s*\[?)\s*$", re.I
)


def _named_in(query: str) -> tuple[str, ...]:
    """Files that a query names where a table stands, and its patterns: not every text that is compared."""
    found: list[str] = []
    end, is_file = 0, False
    for one in re.finditer(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"", query):
        before, text = query[end : one.start()], (one[1] or "").replace("''", "'")
        text, end = text or (one[2] or "").replace('""', '"'), one.end()
        is_file = bool(_BEFORE_A_FILE.search(before)) or (is_file and before.strip() == ",")
        if not (is_file and text):
            continue
        if os.path.isfile(text):  # noqa: PTH113 - Path.is_file raises where a text is too long
            found.append(text)
        elif matched := glob.glob(text, recursive=True):  # noqa: PTH207 - Path.glob takes no absolute pattern
            found += [text, *matched]
    return tuple(dict.fromkeys(found))


def _query(connection: Any, query: str) -> Read:
    import duckdb

    try:
        statements = connection.extract_statements(str(query))
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise ValueError(f"the query {str(query)!r} is not a single SELECT")
        return nw.from_native(connection.sql(str(query))), None
    except duckdb.PermissionException as error:
        raise ValueError(f"the query {str(query)!r} {_reaches_out(error)}") from error
    except duckdb.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"the query {str(query)!r} failed: {reason}") from error


def _quoted(text: str, quote: str = '"') -> str:
    return quote + text.replace(quote, quote * 2) + quote


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
    separator = separator_of(files[0]) or ","
    frame: Any
    if engine == "polars":
        import polars as pl

        text = pl.scan_csv(
            files, glob=False, separator=separator, infer_schema_length=None, try_parse_dates=True
        )
        text.sink_parquet(scratch / "table.parquet")  # parsed once, not once per column
        frame = pl.scan_parquet(scratch / "table.parquet", glob=False)
    else:
        frame = _spark_session().read.csv(files, header=True, inferSchema=True, sep=separator)
    scanned, names = nw.from_native(frame), header(files[0], separator)
    n_columns = len(scanned.collect_schema().names())
    if n_columns != len(names):  # such as of a carriage return in a name that is not quoted
        raise ValueError(f"the header has {len(names)} names, but {engine} finds {n_columns} columns")
    return scanned, names


def _spark_session() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()
