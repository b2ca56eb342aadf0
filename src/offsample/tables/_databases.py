"""DuckDB databases and queries: opened read-only, and closed to every file but those that were named.

Also temporary directories and open connections, which have to go when the process is told to end.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import narwhals as nw

from offsample.tables._base import check_names
from offsample.tables._columns import reason_of
from offsample.tables._source import (
    DUCKDB_URL,
    TablePath,
    is_database,
    is_query,
    named_in,
    reaches_out,
    reading_rows,
    too_large,
)

Read = tuple[nw.LazyFrame[Any], list[Any] | None]

# The types of DuckDB that numpy has too, and all whose values take eight bytes at most.
NUMPY_TYPES = {
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "FLOAT", "DOUBLE", "VARCHAR", "TIMESTAMP",
}  # fmt: skip
_MOST_NAMES = 10
_CONNECTIONS: list[Any] = []
_DIRECTORIES: list[Path] = []
_FIXED = NUMPY_TYPES - {"VARCHAR"} | {"DATE", "TIME", "TIMESTAMP WITH TIME ZONE"}


def connect(stack: ExitStack, scratch: Path, path: TablePath, files: Sequence[str]) -> Any:
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
    _keep(_CONNECTIONS, connection, stack)  # until then, `interrupt_queries` reaches it
    if memory := os.environ.get("OFFSAMPLE_DUCKDB_MEMORY"):
        try:
            connection.execute(f"SET memory_limit = {_quoted(memory, quote=chr(39))}").fetchall()
        except duckdb.Error as error:
            said = f"OFFSAMPLE_DUCKDB_MEMORY is {memory!r}: expected a size such as '1GB'"
            raise ValueError(said) from error
    if path.kind == "database":
        _attach(connection, files[0])
    elif path.kind != "query":  # it looks at the statistics of all columns, and fails for all if one is odd
        connection.execute("SET disabled_optimizers = 'join_order'")
    if not path.allow_external:
        # A view can read the settings, and this one would name the home of the user.
        connection.execute("SET secret_directory = 'secrets'")
        directories = [str(scratch), *(file for file in files if Path(file).is_dir())]
        connection.execute("SET allowed_directories = ?", [directories])
        connection.execute("SET allowed_paths = ?", [list(files)])
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    return connection


def _attach(connection: Any, file: str) -> None:
    """Use a database as if it had been opened; two tables of one process may share it that way."""
    known = "SELECT database_name FROM duckdb_databases()"
    before = set(connection.execute(known).fetchall())
    name = ' AS "database"' if Path(file).stem in ("memory", "system", "temp") else ""
    connection.execute(f"ATTACH {_quoted(file, quote=chr(39))}{name} (READ_ONLY, TYPE duckdb)")
    (attached,) = set(connection.execute(known).fetchall()) - before
    connection.execute(f"USE {_quoted(attached[0])}")


def open_database(url: TablePath, stack: ExitStack, scratch: Path) -> tuple[Read, tuple[str, ...]]:
    """Lazy frame of a table, a view or a query of a database file, and the files."""
    import duckdb

    file, _, name = url.removeprefix(DUCKDB_URL).partition("#")
    if not Path(file).is_file():
        raise FileNotFoundError(
            f"no such file: {file!r} (a path after {DUCKDB_URL} is absolute if it starts with /)"
        )
    if url.max_bytes is not None and Path(file).stat().st_size > url.max_bytes:
        raise too_large(url, url.max_bytes, "data")
    also = named_in(name) if is_query(name) else ()
    try:
        connection = connect(stack, scratch, url, [str(Path(file).absolute()), *also])
    except duckdb.Error as error:
        raise ValueError(f"{file!r} cannot be read as a DuckDB database: {error}") from error
    if is_query(name):
        return open_query(connection, name), (file, *also)
    tables = _tables(connection)
    if not name and len(tables) == 1:
        (name,) = tables
    if not name:
        known = f", with one of {_some(tables)}" if tables else ""
        raise ValueError(f"{str(url)!r} names no table: expected {file}#table{known}")
    try:
        relation = connection.sql(f"FROM {tables[name]}") if name in tables else connection.table(name)
    except duckdb.PermissionException as error:
        raise ValueError(f"table {name!r} of {file!r} {reaches_out(error)}") from error
    except duckdb.Error as error:
        if name in tables:
            raise ValueError(f"table {name!r} of {file!r} cannot be read: {reason_of(error)}") from error
        raise ValueError(f"{file!r} has no table {name!r}: expected one of {_some(tables)}") from error
    return (nw.from_native(relation), None), (f"{file}#{name}",)


def name_a_table(query: TablePath, stack: ExitStack, scratch: Path) -> None:
    """Raise where a file of a query is a database, with the tables of it that can be named."""
    for file in filter(is_database, query.files):
        tables = _tables(connect(stack, scratch, TablePath(file), [str(Path(file).absolute())])) or {
            "table": ""
        }
        said = f"the query {str(query)!r} names the DuckDB database {str(file)!r}: put it before the query"
        raise ValueError(f"{said}, as in {file}#SELECT * FROM {next(iter(tables))}; it has {_some(tables)}")


def _tables(connection: Any) -> dict[str, str]:
    """Tables of a database by the names that they have after ``#``, as they are named in a query."""
    found = connection.execute(
        "SELECT nullif(table_schema, current_schema()), table_name FROM information_schema.tables "
        "ORDER BY ALL NULLS FIRST"
    )
    tables: dict[str, str] = {}
    for names in (tuple(filter(None, names)) for names in found.fetchall()):
        tables.setdefault(".".join(names), ".".join(map(_quoted, names)))  # "a.b" before b of a
    return tables


def _some(names: Collection[str]) -> str:
    return ", ".join(list(names)[:_MOST_NAMES]) + ", …" * (len(names) > _MOST_NAMES)


def open_query(connection: Any, query: str) -> Read:
    """Lazy frame of a query that is a single SELECT."""
    import duckdb

    try:
        statements = connection.extract_statements(str(query))
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise ValueError(f"the query {str(query)!r} is not a single SELECT")
        relation = connection.sql(str(query))
        check_names(relation.columns)
        return nw.from_native(relation), None
    except duckdb.PermissionException as error:
        raise ValueError(f"the query {str(query)!r} {reaches_out(error)}") from error
    except duckdb.Error as error:
        raise ValueError(f"the query {str(query)!r} failed: {reason_of(error)}") from error


def check_result(path: TablePath, relation: Any, limit: int) -> None:
    """Raise where the result of a query or a view has more bytes than allowed: eight a value, and its text.

    A query that gives its rows one by one ends here as soon as they are too many.
    """
    n_columns = len(relation.columns)
    texts = [i for i, kind in enumerate(relation.types) if str(kind) not in _FIXED]
    lengths = (f"coalesce(strlen(CAST(c{i} AS VARCHAR)), 0)" for i in texts)
    size = f"count(*) * {8 * n_columns} + coalesce(sum({' + '.join(['0', *lengths])}), 0)"
    some = relation.limit(limit // (8 * n_columns) + 1)
    with reading_rows(path):
        n_bytes = some.project(", ".join(f"#{i + 1} AS c{i}" for i in range(n_columns))).aggregate(size)
        if n_bytes.fetchall()[0][0] > limit:
            raise too_large(path, limit, "data")


def _quoted(text: str, quote: str = '"') -> str:
    return quote + text.replace(quote, quote * 2) + quote


def scratch_directory(stack: ExitStack) -> Path:
    """Make a directory for temporary files, which is removed when the stack closes."""
    directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="offsample-")))
    _keep(_DIRECTORIES, directory, stack)
    return directory


def _keep(those: list[Any], one: Any, stack: ExitStack) -> None:
    those.append(one)
    stack.callback(those.remove, one)


def interrupt_queries() -> None:
    """Let every query that DuckDB is at work on fail at once, in whatever thread; connections stay open."""
    for connection in tuple(_CONNECTIONS):
        connection.interrupt()


def abandon_tables() -> None:
    """Remove the temporary files of all open tables, for a process that is about to end in another thread."""
    for directory in tuple(_DIRECTORIES):
        shutil.rmtree(directory, ignore_errors=True)
