"""Columns of an engine's table with the groups and the time of their rows, read in blocks."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample.tables._base import ColumnError
from offsample.tables._columns import sorted_codes, with_values
from offsample.tables._encode import as_floats, plain
from offsample.tables._memory import read_units
from offsample.tables._units import UnitRows

if TYPE_CHECKING:
    from offsample.tables._lazy import LazyTable

# So few rows come back as they are: to count those that are alike would cost more.
FEW_ROWS = 10_000_000
# Numbers that are read at once.
_BLOCK = 20_000_000


class UnitReader:
    """Reads the columns of a table on an engine with the units of their rows; the last blocks are kept."""

    def __init__(self, table: LazyTable) -> None:
        self._table = table
        # Of numbers, and of other values: columns, and the rows that they are read at.
        self._blocks: dict[bool, tuple[dict[Any, Any], UnitRows]] = {}

    def rows(self, name: Any, as_numbers: bool) -> UnitRows:
        """Column with the class, groups and time of each row; without a name, one value for all."""
        if name is None and self._table.features:  # the rows of any column
            first = self._table.features[0]
            with suppress(ColumnError, RuntimeError):
                rows = self.rows(first, self._table.kind(first) == "numeric")
                return rows._replace(values=np.zeros(len(rows.y), np.int64), n_missing=0)
        block = self._blocks.get(as_numbers)
        if block is None or name not in block[0]:
            size = max(1, _BLOCK // self._table.n_rows) if self._table.n_rows <= FEW_ROWS else 1
            alike = [name, *self._table.of_the_same_kind(name)][:size]
            try:
                block = self._read(alike, as_numbers)
            except (ValueError, RuntimeError):  # of one of them
                block = self._read([name], as_numbers)
            self._blocks[as_numbers] = block
        columns, rows = block
        return with_values(rows, columns[name], name, as_numbers)

    def _read(self, names: list[Any], as_numbers: bool) -> tuple[dict[Any, Any], UnitRows]:
        table = self._table
        is_many = table.n_rows > FEW_ROWS
        frame = table.labelled(names, table.units.names, as_numbers=as_numbers)
        with table.engine_errors("column", names[0]):
            if is_many:
                every = frame.collect_schema().names()
                frame = frame.group_by(*every).agg(nw.len().alias("n")).select(*every, "n")
            labels, *found = table.fetch_columns(frame)
        rows = np.arange(len(labels))
        if is_many:
            rows = np.repeat(rows, plain(found.pop()).values.astype(np.int64))
        y: NDArray[Any]
        if table.is_numeric:
            y = (as_floats(plain(labels)) * table.scale + table.center)[rows]
        else:
            y = sorted_codes(labels, "target", "(of an engine)", table.classes)[1][rows]
        held = dict(zip(table.units.names, found[len(names) :], strict=True))
        groups, time = read_units(table.units, held.__getitem__, len(labels), rows)
        return dict(zip(names, found, strict=False)), UnitRows.in_order(rows, y, groups, time)
