"""Files as DuckDB reads them, for itself and for the engines that leave text to it."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from offsample.tables._databases import Read, connect
from offsample.tables._source import TablePath, too_large
from offsample.tables._text import header, separator_of
from offsample.tables.engines import DEFAULT, require

__all__ = ["Read", "Reading"]

_DATE, _CLOCK = "[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}", "[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}([.][0-9]{{1,6}})?Z?"
# Types that a column of text is given where all of it is written so, and what is looked for. Other dates and
# numbers stay text, which is read as what it says in the same way whatever file it comes from.
_TYPES = {
    "BIGINT": "regexp_full_match({0}, '[-+]?[0-9]{{1,18}}')",
    "DOUBLE": "TRY_CAST({0} AS DOUBLE) IS NOT NULL AND NOT contains({0}, '_')",
    "BOOLEAN": "lower({0}) IN ('true', 'false')",
    "DATE": f"regexp_full_match({{0}}, '{_DATE}') AND TRY_CAST({{0}} AS DATE) IS NOT NULL",
    "TIMESTAMP": f"regexp_full_match({{0}}, '{_DATE}[ T]{_CLOCK}') "
    "AND TRY_CAST({0} AS TIMESTAMP) IS NOT NULL",
}
# A zip code, a telephone number, and a code such as 3E78, of which text is judged as in any other file.
_IS_CODE = "regexp_matches({0}, '^[-+]?0[0-9]|^[+][0-9]{{7}}|^[0-9]+[eE][0-9]+$')"
_IS_WHOLE = "regexp_full_match({0}, '[+-]?[0-9]+')"
_FIRST_ROWS, _MANY = 1000, 200
_TO_MICRO = {"s": "* 1000000", "ms": "* 1000", "us": "", "ns": "// 1000"}  # seconds


@dataclass(frozen=True)
class Reading:
    """Files that an engine is to scan, under names that none takes for anything else."""

    path: TablePath
    files: list[str]
    is_csv: bool
    stack: ExitStack  # of what is closed with the table
    scratch: Path

    @cached_property
    def connection(self) -> Any:
        """The one connection of DuckDB to the files, opened where it is asked for."""
        require(DEFAULT)
        return connect(self.stack, self.scratch, self.path, self.files)

    def check_size(self, limit: int) -> None:
        """Raise where Parquet files hold more bytes than allowed."""
        size = "SELECT sum(greatest(num_values, total_uncompressed_size)) FROM parquet_metadata(?)"
        if (self.connection.execute(size, [self.files]).fetchall()[0][0] or 0) > limit:
            raise too_large(self.path, limit, "data")

    def relation(self) -> tuple[Any, list[Any]]:
        """Relation of DuckDB, and the names of its columns as they are in the files."""
        if self.is_csv:
            return _parse(self.connection, self.files, self.scratch, self.path.as_text)
        relation = self.connection.read_parquet(self.files, union_by_name=False, hive_partitioning=False)
        names = _parquet_names(self.connection, self.files[0])
        return _with_durations(self.connection, self.files[0], relation), names

    def as_parquet(self) -> tuple[list[str], list[Any]]:
        """Parquet file of what DuckDB reads, once, for another engine, and the names of the columns."""
        relation, names = self.relation()
        relation.write_parquet(str(self.scratch / "read.parquet"))
        return [str(self.scratch / "read.parquet")], names


def _parse(
    connection: Any, files: list[str], scratch: Path, as_text: Collection[str]
) -> tuple[Any, list[Any]]:
    # The types of all rows count, and the text is parsed once, not once per column.
    options = {"header": True, "all_varchar": True, "compression": "none", "hive_partitioning": False}
    if separator := separator_of(files[0]):
        options["delimiter"] = separator
    dialect = connection.execute("SELECT Delimiter, Quote FROM sniff_csv(?, header = true)", [files[0]])
    sniffed, quote = dialect.fetchall()[0]
    quote = quote if len(quote) == 1 else '"'
    names = header(files[0], separator or sniffed, quote)
    if len(names) > _MANY:  # each dialect that is tried takes a millisecond a column
        options |= {"delimiter": separator or sniffed, "quotechar": quote, "escapechar": quote}
    relation = connection.read_csv(files, **options)
    if len(names) != len(relation.columns):  # a file that only DuckDB's sniffer understands
        names = list(relation.columns)
    if len(names) == 1 and any(mark in names[0] for mark in ",;\t|"):
        raise ValueError(f"rows do not have as many fields as the header {names[0]!r}")
    parsed, typed = str(scratch / "table.parquet"), str(scratch / "typed.parquet")
    numbered = ", ".join(f"#{i + 1} AS c{i}" for i in range(len(names)))
    relation.project(numbered).write_parquet(parsed)
    source = "read_parquet('{}')".format(parsed.replace("'", "''"))
    (n_rows,) = connection.execute(f"SELECT count(*) FROM {source}").fetchall()[0]

    def holding(columns: list[int], test: str, agree: str = "bool_and", rows: str = source) -> list[int]:
        return _holding(connection, rows, columns, test, agree)

    first = f"(SELECT * FROM {source} LIMIT {_FIRST_ROWS})"
    kinds: dict[int, str] = {}
    for kind, test in _TYPES.items():
        left = [i for i in range(len(names)) if i not in kinds and names[i] not in as_text]
        if n_rows > _FIRST_ROWS:  # most are not, and that is quick to see
            left = holding(left, test, rows=first)
        kinds |= dict.fromkeys(holding(left, test), kind)
    numbers = [i for i, kind in kinds.items() if kind in ("BIGINT", "DOUBLE")]
    coded = set(holding(numbers, _IS_CODE, "bool_or"))
    whole = holding([i for i in numbers if kinds[i] == "DOUBLE"], _IS_WHOLE)
    coded |= {i for i in whole if _are_keys(connection, source, i)}
    kinds = {i: kind for i, kind in kinds.items() if i not in coded}
    cast = (f"CAST(c{i} AS {kinds[i]}) AS c{i}" if i in kinds else f"c{i}" for i in range(len(names)))
    connection.sql(f"SELECT {', '.join(cast)} FROM {source}").write_parquet(typed)
    return connection.read_parquet(typed), names


def _are_keys(connection: Any, source: str, i: int) -> bool:
    """Whether a column of whole numbers as text has some of which DOUBLE would take two for one."""
    counted = f"SELECT count(DISTINCT c{i}), count(DISTINCT TRY_CAST(c{i} AS DOUBLE)) FROM {source}"
    n_texts, n_numbers = connection.execute(counted).fetchall()[0]
    return bool(n_texts != n_numbers)


def _holding(connection: Any, source: str, columns: list[int], test: str, agree: str) -> list[int]:
    """Those of some columns all of whose values, of which there are some, pass a test."""
    if not columns:
        return []
    if len(columns) > _MANY:  # one below the other: many expressions take the square of their time
        below = f"(UNPIVOT (SELECT {', '.join(f'c{i}' for i in columns)} FROM {source}) ON COLUMNS(*))"
        query = f"SELECT name, {agree}({test.format('value')}) FROM {below} GROUP BY name"
        found = dict(connection.execute(query).fetchall())
        return [i for i in columns if found.get(f"c{i}")]
    tests = ", ".join(f"{agree}({test.format(f'c{i}')}) FILTER (c{i} IS NOT NULL)" for i in columns)
    found = connection.execute(f"SELECT {tests} FROM {source}").fetchall()[0]
    return [i for i, holds in zip(columns, found, strict=True) if holds]


def _with_durations(connection: Any, file: str, relation: Any) -> Any:
    """Relation whose durations are some: Parquet has whole numbers for them, and Arrow's schema beside."""
    query = "SELECT value FROM parquet_kv_metadata(?) WHERE key = 'ARROW:schema'"
    schema = connection.execute(query, [file]).fetchall()
    if not schema or not find_spec("pyarrow"):
        return relation
    import pyarrow as pa

    try:
        kinds = pa.ipc.read_schema(pa.py_buffer(b64decode(schema[0][0]))).types
    except (pa.ArrowException, OSError, ValueError):  # of kinds that pyarrow does not know
        return relation
    quoted = ('"' + name.replace('"', '""') + '"' for name in relation.columns)
    spans = [pair for pair in zip(quoted, kinds, strict=False) if pa.types.is_duration(pair[1])]
    known = ", ".join(f"to_microseconds({name} {_TO_MICRO[kind.unit]}) AS {name}" for name, kind in spans)
    return relation.project(f"* REPLACE ({known})") if spans else relation


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
