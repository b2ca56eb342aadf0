"""polars: lazy frames, Parquet files, and dataframes in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from offsample.tables._columns import labels_at, reason_of
from offsample.tables._source import MAX_TEXT_BYTES
from offsample.tables.engines._engine import EngineBase, Frame, checked, rename_exactly
from offsample.tables.engines._files import Read, Reading


class _Polars(EngineBase):
    package = "polars"
    install = "'offsample[polars]'"
    takes_frames = True
    rename = staticmethod(rename_exactly)

    def native_types(self, frame: Frame) -> dict[str, str]:
        return {name: str(kind) for name, kind in frame.to_native().collect_schema().items()}

    def parquet(self, files: list[str]) -> Any:
        import polars as pl

        return pl.scan_parquet(files, glob=False)

    def scan(self, reading: Reading) -> Read:
        if not reading.is_csv:
            try:
                return checked(self.parquet(reading.files)), None
            except BaseException as error:  # it has not all types of Parquet, and reads no column then
                reason_of(error)
            reading.check_size(MAX_TEXT_BYTES)
        return self.scan_parsed(reading)

    def fetch_rows(self, frame: Frame) -> list[tuple[Any, ...]]:
        collected = frame.collect()  # whose rows() panics where Python has no such date
        everywhere = np.arange(len(collected))
        return list(zip(*(labels_at(column, everywhere) for column in collected.iter_columns()), strict=True))


ENGINE = _Polars
