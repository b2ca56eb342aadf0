"""Files as DuckDB reads them, for itself and for the engines that leave text to it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from offsample.tables._databases import Read, connect
from offsample.tables._source import TablePath, too_large
from offsample.tables._text import header, separator_of
from offsample.tables.engines import DEFAULT, require

__all__ = ["Read", "Reading"]

# DuckDB's reader takes a column for text if its first number is "inf".
_IS_NUMBER = "TRY_CAST({0} AS DOUBLE) IS NOT NULL AND NOT contains({0}, '_')"
_IS_WHOLE = "regexp_full_match({0}, '[+-]?[0-9]+')"
_FIRST_ROWS = 1000


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
            return _parse(self.connection, self.files, self.scratch)
        relation = self.connection.read_parquet(self.files, union_by_name=False, hive_partitioning=False)
        return relation, _parquet_names(self.connection, self.files[0])

    def as_parquet(self) -> tuple[list[str], list[Any]]:
        """Parquet file of what DuckDB reads, once, for another engine, and the names of the columns."""
        relation, names = self.relation()
        relation.write_parquet(str(self.scratch / "typed.parquet"))
        return [str(self.scratch / "typed.parquet")], names


def _parse(connection: Any, files: list[str], scratch: Path) -> tuple[Any, list[Any]]:
    # The types of all rows count, and the text is parsed once, not once per column.
    options = {"header": True, "sample_size": -1, "compression": "none", "hive_partitioning": False}
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
    # Keys of twenty digits are no integers in Parquet, and would be written as DOUBLE, which takes two for
    # one; longer ones are read as DOUBLE in the first place.
    numbered = ", ".join(f"#{i + 1} AS c{i}" for i in range(len(names)))
    wide = [i for i, kind in enumerate(relation.types) if str(kind) in ("HUGEINT", "UHUGEINT")]
    doubles = [i for i, kind in enumerate(relation.types) if str(kind) == "DOUBLE"]
    first = connection.read_csv(files, all_varchar=True, **options).limit(_FIRST_ROWS).project(numbered)
    wide += _holding(first, doubles, _IS_WHOLE)
    columns, parsed = list(relation.columns), str(scratch / "table.parquet")
    as_text = {columns[i]: "VARCHAR" for i in (*texts, *wide)}
    relation = connection.read_csv(files, dtype=as_text, **options)
    relation.project(numbered).write_parquet(parsed)
    relation = connection.read_parquet(parsed)
    others = [i for i, kind in enumerate(relation.types) if str(kind) == "VARCHAR"]
    others = [i for i in others if i not in texts and i not in wide]
    # Most are not, and that is quick to see.
    others = _holding(relation.limit(_FIRST_ROWS), others, _IS_NUMBER)
    kinds = dict.fromkeys(_holding(relation, texts, "lower({}) IN ('true', 'false')"), "BOOLEAN")
    numbers = [*wide, *_holding(relation, others, _IS_NUMBER)]
    kinds |= dict.fromkeys((i for i in numbers if not _are_keys(relation, i)), "DOUBLE")
    if kinds:
        cast = (f"CAST(c{i} AS {kinds[i]}) AS c{i}" if i in kinds else f"c{i}" for i in range(len(names)))
        relation = relation.project(", ".join(cast))
    return relation, names


def _are_keys(relation: Any, i: int) -> bool:
    """Whether a column of texts holds whole numbers of which DOUBLE would take two for one, or no numbers."""
    counted = f"count(DISTINCT c{i}), count(DISTINCT TRY_CAST(c{i} AS DOUBLE))"
    n_texts, n_numbers = relation.filter(f"c{i} IS NOT NULL").aggregate(counted).fetchall()[0]
    return bool(n_texts != n_numbers) and i in _holding(relation, [i], _IS_WHOLE)


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
