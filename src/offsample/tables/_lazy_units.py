"""Columns of an engine's table with the groups and the time of their rows, read in blocks."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from offsample._typing import Ints
from offsample.tables._base import ColumnError
from offsample.tables._columns import sorted_codes, unit_of, values_of
from offsample.tables._encode import plain
from offsample.tables._units import UnitRows, coarsest, unit_order

if TYPE_CHECKING:
    from offsample.tables._lazy import LazyTable

# So few rows come back as they are: to count those that are alike would cost more.
FEW_ROWS = 10_000_000
# Numbers that are read at once.
_BLOCK = 20_000_000


class _Block(NamedTuple):
    """Some columns of the same rows, and which place each has in the order in which rows are counted."""

    columns: dict[Any, Any]
    rows: Ints
    y: Ints
    groups: list[Ints]
    time: Ints | None


class UnitReader:
    """Reads the columns of a table on an engine with the units of their rows; the last blocks are kept."""

    def __init__(self, table: LazyTable) -> None:
        self._table = table
        self._blocks: dict[bool, _Block] = {}  # of numbers, and of other values
        self._values: dict[Any, Any] = {}  # of groups and times, in their order

    def rows(self, name: Any, as_numbers: bool) -> UnitRows:
        """Column with the class, groups and time of each row; without a name, one value for all."""
        if name is None and self._table.features:  # the rows of any column
            first = self._table.features[0]
            with suppress(ColumnError, RuntimeError):
                rows = self.rows(first, self._table.kind(first) == "numeric")
                return rows._replace(values=np.zeros(len(rows.y), np.int64), n_missing=0)
        block = self._blocks.get(as_numbers)
        if block is None or name not in block.columns:
            size = max(1, _BLOCK // self._table.n_rows) if self._table.n_rows <= FEW_ROWS else 1
            alike = [name, *self._table.of_the_same_kind(name)][:size]
            try:
                block = self._read(alike, as_numbers)
            except (ValueError, RuntimeError):  # of one of them
                block = self._read([name], as_numbers)
            self._blocks[as_numbers] = block
        values, n_missing = values_of(block.columns[name], name, block.rows, as_numbers)
        return UnitRows(values, block.y, block.groups, block.time, n_missing)

    def _read(self, names: list[Any], as_numbers: bool) -> _Block:
        table = self._table
        kinds = [("group", unit) for unit in table.units.groups]
        kinds += [] if table.units.time is None else [("time", table.units.time)]
        is_many = table.n_rows > FEW_ROWS
        keys = [f"v{i}" for i in range(len(names))]
        frame = table.labelled(names, [unit for _, unit in kinds], as_numbers)
        with table.engine_errors("column", names[0]):
            if is_many:
                every = frame.collect_schema().names()
                frame = frame.group_by(*every).agg(nw.len().alias("n")).select(*every, "n")
            labels, *found = table.fetch_columns(frame)
        rows = np.arange(len(labels))
        if is_many:
            rows = np.repeat(rows, plain(found.pop()).values.astype(np.int64))
        y = sorted_codes(labels, "target", "(of an engine)", table.classes)[1][rows]
        read = []
        for column, (role, unit) in zip(found[len(keys) :], kinds, strict=True):
            self._values[unit], codes = unit_of(column, role, unit, rows, self._values.get(unit))
            read.append(codes)
        groups = coarsest(read[: len(table.units.groups)])
        time = None if table.units.time is None else read[-1]
        order = unit_order(groups, time)
        return _Block(
            columns=dict(zip(names, found, strict=False)),
            rows=rows[order],
            y=y[order].astype(np.int64),
            groups=[group[order] for group in groups],
            time=None if time is None else time[order],
        )
