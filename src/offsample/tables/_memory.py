"""Tables in memory: a column at a time becomes integer codes, and the codes are counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample._typing import Ints
from offsample.tables._base import Bins, Kind, Profile, Table, check_classes
from offsample.tables._columns import given_column, hash_errors, sorted_codes, unit_of, values_of
from offsample.tables._encode import as_floats, encode, plain
from offsample.tables._kinds import as_quantities, column_kind
from offsample.tables._profile import bins_of_classes, profile_of_codes
from offsample.tables._units import UnitRows, Units, coarsest, is_a_name, unit_order, varying

_NAMELESS = "(given as an array)"


def unit_codes(values: Any, role: str, n_rows: int, kept: Any = slice(None), name: Any = _NAMELESS) -> Ints:
    """Codes from 0 on of the group or the time of each row that is kept; those of a time in its order."""
    column = given_column(values)
    if len(column) != n_rows:
        raise ValueError(f"{role} has {len(column)} values for a table of {n_rows} rows")
    return unit_of(column, role, name, kept)[1]


def read_units(
    units: Units, read: Callable[[Any], Any], n_rows: int, kept: Any = slice(None)
) -> tuple[list[Ints], Ints | None]:
    """Codes of the groups, without those that lie within others, and of the time of the rows that are kept.

    A column is read by its name.
    """

    def codes(unit: Any, role: str) -> Ints:
        values, name = (read(unit), unit) if is_a_name(unit) else (unit, _NAMELESS)
        return varying(unit_codes(values, role, n_rows, kept, name), role, name)

    groups = coarsest([codes(unit, "group") for unit in units.groups])
    return groups, None if units.time is None else codes(units.time, "time")


class MemoryTable(Table):
    """A table in memory, whose columns, arrays or narwhals Series, `read` gives by name; so is the target."""

    def __init__(
        self,
        read: Callable[[Any], Any],
        features: Sequence[Any],
        categorical: frozenset[Any] | None,
        target: Any,
        target_name: str,
    ) -> None:
        super().__init__(features, categorical)
        self._read = read
        # A row without a label gets the class after the last: cheaper than to filter every column.
        self.classes, codes = sorted_codes(target, "target", target_name)
        n_classes = len(self.classes)
        *totals, self.n_dropped = np.bincount(codes, minlength=n_classes + 1).tolist()
        check_classes(self.classes, target_name, sum(totals), self.n_dropped)
        self._y = codes.astype(np.min_scalar_type(n_classes))
        self.class_totals = np.array(totals, np.int64)

    def _natural_kind(self, name: Any) -> Kind:
        return column_kind(as_quantities(self._read(name)))

    def value_counts(self, name: Any) -> Profile:
        """Count the classes at every distinct value of a column; a missing value is a value of its own."""
        self._require_feature(name)
        column = self._column(name)
        with hash_errors("column", repr(name)):
            codes, n_codes, missing = encode(plain(column))
        return profile_of_codes(codes, n_codes, missing, self._y, len(self.classes))

    def _binned_counts(self, name: Any, max_bins: int) -> Bins:
        column = as_quantities(self._column(name))
        with hash_errors("column", repr(name)):
            numbers = as_floats(plain(column, as_number=True))
        return bins_of_classes([numbers[rows] for rows in self._rows_of_class], max_bins)

    def unit_rows(self, name: Any, *, as_numbers: bool = False) -> UnitRows:
        """Read a column with the class, groups and time of each row; without a name, one value for all."""
        kept, y, groups, time = self._unit_codes
        if name is None:
            return UnitRows(np.zeros(len(y), np.int64), y, groups, time, 0)
        self._require_feature(name)
        column = self._column(name)
        values, n_missing = values_of(column, name, kept, as_numbers)
        return UnitRows(values, y, groups, time, n_missing)

    @cached_property
    def _unit_codes(self) -> tuple[NDArray[np.intp], Ints, list[Ints], Ints | None]:
        """Rows with a label, their classes, groups and time."""
        kept = np.flatnonzero(self._y < len(self.classes))
        groups, time = read_units(self.units, self._column, len(self._y), kept)
        order = unit_order(groups, time)
        groups, time = [group[order] for group in groups], None if time is None else time[order]
        return kept[order], self._y[kept[order]].astype(np.int64), groups, time

    def _column(self, name: Any) -> NDArray[Any] | nw.Series[Any]:
        column = self._read(name)
        if len(column) != len(self._y):
            raise ValueError(f"column {name!r} has {len(column)} rows, but the target has {len(self._y)}")
        return column  # type: ignore[no-any-return]

    @cached_property
    def _rows_of_class(self) -> list[NDArray[np.intp]]:
        order = np.argsort(self._y, kind="stable")
        return np.split(order, np.cumsum(self.class_totals))[:-1]
