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
from offsample.tables._databases import check_result, connect, named_in, open_database, open_query
from offsample.tables._lazy import open_frame
from offsample.tables._open import in_memory
from offsample.tables._source import TablePath, TooLargeError, resolve
from offsample.tables._text import all_named, check_headers, check_width, trouble
from offsample.tables.engines import DEFAULT, require
from offsample.tables.engines._engine import EngineBase
from offsample.tables.engines._files import Reading
from offsample.tables.engines.duckdb import few_rows


def open_path(
    path: TablePath,
    target: Any,
    features: Sequence[Any] | None,
    categorical: Collection[Any] | str,
    engine: str | None,
) -> Table:
    """Open a path on an engine, DuckDB by default. Arguments as in `open_table`."""
    with ExitStack() as stack:
        scan = scan_path(path, engine, stack)
        frame, names = scan.frame, scan.names
        is_there = isinstance(target, str) and target in names
        blocks = few_rows(path, frame.to_native(), names) if engine is None and is_there else None
        table: Table
        if blocks is not None:
            table = in_memory(names, blocks.read, target, features, categorical)
        else:
            table = open_frame(frame, target, features, categorical, None, names)
        table.files = scan.files
        if blocks is not None and blocks.all_read:
            return table
        # Closes also when the table is garbage collected, or when Python ends.
        table.close = weakref.finalize(table, stack.pop_all().close)  # type: ignore[method-assign]
    return table


class Scan(NamedTuple):
    """A path on an engine."""

    frame: nw.LazyFrame[Any]
    names: list[Any]  # of the columns: the engine may have changed them
    files: tuple[str, ...]
    engine: EngineBase


def scan_path(path: TablePath, engine: str | None, stack: ExitStack) -> Scan:
    """Lazy frame of a path on an engine, the names of its columns, and the files.

    What the frame needs, connections and temporary files, is closed with the stack.
    """
    reader, kind = require(engine or DEFAULT), path.kind
    names: list[Any] | None
    if kind in ("query", "database") and not reader.runs_queries:
        raise ValueError(f"engine={engine!r} cannot read {str(path)!r}: expected engine={DEFAULT!r} or None")
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="offsample-")))
    if kind == "database":
        (frame, names), files = open_database(path, stack, scratch)
    elif kind == "query":
        files = named_in(path)
        frame, names = open_query(connect(stack, scratch, path, files), path)
    else:
        files, plain, is_csv = resolve(path, scratch)
        try:
            reading = Reading(path, plain, is_csv, stack, scratch)
            if is_csv:
                check_headers(files, plain, check_width(path, plain[0]))
            elif path.max_bytes is not None:
                reading.check_size(path.max_bytes)
            frame, names = reader.scan(reading)
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
    return Scan(frame, all_named(names), files, reader)
