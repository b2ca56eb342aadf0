"""Files that are neither Parquet nor CSV, each of which is read once and written as Parquet.

Excel workbooks, JSON, Arrow files and SQLite databases are read whole: what counts and samples then is the
engine that reads the Parquet file. ``#`` and a name behind a workbook or a database say which of its tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from offsample.tables._columns import as_column, reason_of
from offsample.tables._source import OTHERS, Resolved

_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1"
)
_EXCEL_ERRORS = {"#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"}


def as_parquet(found: Resolved, scratch: Path) -> tuple[list[str], list[str]]:
    """Write files as Parquet, with columns c0, c1, …; returns the new files, and the names of the columns."""
    written: list[str] = []
    names: list[str] = []
    for file, plain in zip(found.files, found.plain, strict=True):
        target = scratch / f"table-{len(written):06d}.parquet"
        columns = _write(file, plain, found, str(target))
        if written and columns != names:
            raise ValueError(f"{file!r} has other columns than {found.files[0]!r}: expected the same")
        names = columns
        written.append(str(target))
    return written, names


def _write(file: str, plain: str, found: Resolved, target: str) -> list[str]:
    import duckdb

    kind = OTHERS[found.suffix]
    try:
        with duckdb.connect(":memory:", config={"python_enable_replacements": False}) as connection:
            names, relation = _READERS[kind](connection, plain, found.part)
            relation.project(", ".join(f"#{i + 1} AS c{i}" for i in range(len(names)))).write_parquet(target)
    except ImportError as error:
        extra = {"Excel": "excel", "Arrow": "arrow"}.get(kind, kind)
        raise ImportError(f"{file!r} needs {error.name}: pip install 'offsample[{extra}]'") from error
    except (OSError, MemoryError):
        raise
    except _PartError as error:
        raise ValueError(f"{file!r} {error}") from error
    except BaseException as error:
        raise ValueError(f"{file!r} cannot be read as {kind}: {reason_of(error)}") from error
    return names


class _PartError(ValueError):
    """A table of a file that is not there, or was not named."""


def _json(connection: Any, file: str, _: str) -> tuple[list[str], Any]:
    relation = connection.read_json(file, sample_size=-1)
    if relation.columns == ["json"]:
        raise ValueError("expected an object for each row, in lines or in an array")
    if all(dtype.id in ("struct", "map", "list") for dtype in relation.types) and len(relation.limit(2)) == 1:
        raise ValueError("it is one object of columns, not of rows: write rows, in pandas orient='records'")
    return list(relation.columns), relation


def _arrow(connection: Any, file: str, _: str) -> tuple[list[str], Any]:
    from pyarrow import feather

    table = feather.read_table(file)
    numbered = table.rename_columns([f"c{i}" for i in range(table.num_columns)])
    return list(table.column_names), connection.from_arrow(numbered)


def _excel(connection: Any, file: str, part: str) -> tuple[list[str], Any]:
    from openpyxl import load_workbook

    with closing(load_workbook(file, read_only=True, data_only=True)) as book:
        sheets = {}
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # some programs write wrong ones
            if rows := [row for row in sheet.iter_rows(values_only=True) if any(map(_is_there, row))]:
                sheets[sheet.title] = rows
    names, *rows = sheets[_chosen(part, list(sheets), "sheet")]
    width = max(i for i, cell in enumerate(names, 1) if _is_there(cell))
    if any(_is_there(cell) for row in rows for cell in row[width:]):
        raise ValueError("a row has more cells than the first row has names")
    cells = ([cell if _is_there(cell) else None for cell in row[:width]] for row in rows)
    padded = ([*row, *[None] * (width - len(row))] for row in cells)
    return _columns(connection, ["" if cell is None else str(cell) for cell in names[:width]], padded)


def _is_there(cell: object) -> bool:
    return cell is not None and cell not in _EXCEL_ERRORS


def _sqlite(connection: Any, file: str, part: str) -> tuple[list[str], Any]:
    with closing(sqlite3.connect(f"file:{quote(file)}?mode=ro", uri=True)) as database:
        database.execute("PRAGMA trusted_schema = OFF")
        name = _chosen(part, [one for (one,) in database.execute(_TABLES)], "table")
        rows = database.execute("SELECT * FROM " + '"' + name.replace('"', '""') + '"')
        return _columns(connection, [column[0] for column in rows.description], rows)


def _columns(connection: Any, names: list[str], rows: Iterable[Any]) -> tuple[list[str], Any]:
    """Relation of rows, in which every column has the one type that holds all its values."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    connection.register("rows", {f"c{i}": as_column(list(column)) for i, column in enumerate(columns)})
    return names, connection.table("rows")


def _chosen(part: str, known: list[str], what: str) -> str:
    """Name of the table or sheet that was asked for, or of the only one."""
    if part in known or (not part and len(known) == 1):
        return part or known[0]
    if not known:
        raise _PartError(f"has no {what} with anything in it")
    listed = ", ".join(known[:10]) + ", …" * (len(known) > 10)
    asked = f"has no {what} {part!r}" if part else f"has {len(known)} {what}s"
    raise _PartError(f"{asked}: put # and the name of one behind it, of {listed}")


_READERS: dict[str, Callable[[Any, str, str], tuple[list[str], Any]]]
_READERS = {"Excel": _excel, "JSON": _json, "Arrow": _arrow, "SQLite": _sqlite}
