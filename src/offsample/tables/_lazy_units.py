"""Columns of an engine's table with the groups and the time of their rows, read in blocks."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats
from offsample.tables._base import ColumnError
from offsample.tables._columns import sorted_codes, with_values
from offsample.tables._encode import as_floats, plain
from offsample.tables._memory import read_units
from offsample.tables._units import N_PARTS, UnitRows, missing_unit

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
        self._blind: Floats | None = None

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

    @cached_property
    def starts(self) -> list[Any]:
        """First time of each part of the time but the first; the parts have about equal numbers of rows."""
        table = self._table
        rows = table.labelled([None], [table.units.time])
        n_before = nw.col("n").cum_sum().over(order_by="u0") - nw.col("n")
        with table.engine_errors("time", table.units.time):
            times = rows.group_by("u0").agg(nw.len().cast(nw.Int64).alias("n"))
            missing = table.fetch_rows(times.filter(nw.col("u0").is_null()).select("n"))
            parts = times.with_columns((n_before * N_PARTS // table.n_rows).alias("part"))
            firsts = table.fetch_rows(parts.group_by("part").agg(nw.col("u0").min()).select("part", "u0"))
        if missing:
            raise missing_unit("time", table.units.time, int(missing[0][0]))
        return [start for _, start in sorted(firsts)][1:]

    def sum_over_time(self, name: Any) -> Floats:
        """Sum what the rules err in each part of the time, by counts of a value over all earlier times.

        For each part: rows, expected errors of the Gini and of the majority rule learned from strictly
        earlier rows, and rows of values that were not seen before. Without a name, rows have one value.
        """
        if name is None and self._blind is not None:
            return self._blind
        table, every = self._table, range(len(self._table.classes))
        is_class = [(nw.col("y") == table.classes[k]).cast(nw.Int64).alias(f"n{k}") for k in every]
        here, before = [nw.col(f"n{k}") for k in every], [nw.col(f"b{k}") for k in every]
        is_later = [(nw.col("u0") >= start).cast(nw.Int64) for start in self.starts]
        n_before = [(n.cum_sum().over("v0", order_by="u0") - n).alias(f"b{k}") for k, n in enumerate(here)]
        size, known, top = (nw.col(column) for column in ("size", "known", "top"))
        leads = [(b == top).cast(nw.Float64) for b in before]
        is_new = (known == 0).cast(nw.Int64)
        hits = nw.sum_horizontal(*(here[k] * before[k].cast(nw.Float64) for k in every)) / (known + is_new)
        votes = nw.sum_horizontal(*(here[k] * leads[k] for k in every)) / nw.sum_horizontal(*leads)
        with table.engine_errors("column", name):
            rows = table.labelled([name], [table.units.time])
            counts = rows.select("v0", "u0", *is_class).group_by("v0", "u0").agg(*(n.sum() for n in here))
            counts = counts.with_columns(*(n.cast(nw.Int64) for n in here))  # DuckDB's sums are wider
            seen = counts.with_columns(*n_before, nw.sum_horizontal(*here).alias("size"))
            seen = seen.with_columns(
                nw.sum_horizontal(*before).alias("known"), nw.max_horizontal(*before).alias("top")
            )
            sums = seen.select(
                nw.sum_horizontal(nw.lit(0), *is_later).alias("part"),
                size.cast(nw.Float64),
                (size - hits - is_new * size / len(every)).alias("gini"),
                (size - votes).alias("bayes"),
                (size * is_new).cast(nw.Float64).alias("unseen"),
            )
            found = table.fetch_rows(sums.group_by("part").agg(nw.all().sum()))
        answer = np.array(sorted(found), float)[:, 1:]
        self._blind = answer if name is None else self._blind
        return answer

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
