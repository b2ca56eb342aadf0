"""ibis: tables that a user brings, of whatever engine is behind them."""

from __future__ import annotations

import narwhals as nw

from offsample.tables._lazy import microseconds
from offsample.tables.engines._engine import Dated, Dtypes, EngineBase, Frame


class _Ibis(EngineBase):
    def with_dates(self, frame: Frame, dtypes: Dtypes, target: str) -> Dated:  # noqa: ARG002
        native, numbers = frame.to_native(), {}
        dates = [alias for alias, dtype in dtypes.items() if dtype in (nw.Date, nw.Datetime)]
        for alias in dates:
            moment = native[alias].cast("timestamp")
            seconds = moment.truncate("s").epoch_seconds()  # which would round
            numbers[microseconds(alias)] = seconds.cast("int64") * 1_000_000 + moment.microsecond()
        return nw.from_native(native.mutate(**numbers)) if numbers else frame, dtypes, dates


ENGINE = _Ibis
