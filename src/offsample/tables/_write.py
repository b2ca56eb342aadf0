"""Rows that come in blocks, written to a file as they come."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self


class BlockWriter:
    """Writes blocks of rows to a file, whole or not at all, or to standard output as CSV."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._writer: Any = None
        self._part = None if path is None else path.with_name(f".{path.name}.{os.getpid()}.part")

    def __enter__(self) -> Self:
        return self

    def add(self, block: Any, columns: Mapping[str, Any]) -> None:
        """Write an Arrow table with some columns more; all of them have the same types."""
        import pyarrow as pa
        from pyarrow import compute, csv, parquet

        as_csv = self._path is None or self._path.suffix.lower() == ".csv"
        for i, field in enumerate(block.schema if as_csv else ()):
            if pa.types.is_time(field.type) or pa.types.is_timestamp(field.type):
                text = compute.replace_substring_regex(block.column(i).cast("string"), "[.]0+(Z?)$", r"\1")
                block = block.set_column(i, field.name, text)
        for name, values in columns.items():
            block = block.append_column(name, pa.array(values))
        if self._writer is None:
            where = self._part or sys.stdout.buffer
            self._writer = (csv.CSVWriter if as_csv else parquet.ParquetWriter)(where, block.schema)
        self._writer.write_table(block)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._path is not None and self._part is not None and self._part.exists():
            if kind is None:
                self._part.replace(self._path)
            else:
                self._part.unlink()
