"""Tables in memory: a column at a time becomes integer codes, and the codes are counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample import _counting
from offsample._moment_sums import by_size, moments_of_codes
from offsample._typing import Booleans, Floats, Grouping, Ints, Words
from offsample.tables._base import Bins, Kind, Profile, Table, check_classes, collapse, merge
from offsample.tables._columns import given_column, hash_errors, sorted_codes, unit_of, with_values
from offsample.tables._encode import as_floats, encode, plain
from offsample.tables._kinds import as_quantities, column_kind
from offsample.tables._targets import Center, Task, numbers_of
from offsample.tables._units import UnitRows, Units, coarsest, grouping, is_a_name, kinds, varying

_NAMELESS = "(given as an array)"
# A dense table of cells × classes beyond this many numbers (and the rows themselves) is built in pieces.
_DENSE = 1 << 22


def unit_codes(values: Any, role: str, n_rows: int, kept: Any = slice(None), name: Any = _NAMELESS) -> Ints:
    """Codes from 0 on of the group or the time of each row that is kept; those of a time in its order."""
    if len(kinds(values)) > 1 or len(getattr(values, "shape", ())) > 1:
        raise ValueError(
            f"{role} has columns: expected one value for each of the {n_rows} rows. Of columns that lie "
            "within each other give the coarsest; of those that cross, as users and items do, give one"
        )
    column = given_column(values)
    if len(column) != n_rows:
        raise ValueError(f"{role} has {len(column)} values for a table of {n_rows} rows")
    return unit_of(column, role, name, kept)


def joined_groups(values: Any, n_rows: int, sample_weight: Any = None) -> Grouping | None:
    """Group of each row, beside X and y; None where there are none, or each is one row that counts once.

    Of columns that lie within each other the coarsest; several that cross are a tuple.
    """
    given = [] if values is None else kinds(values)
    codes = [unit_codes(one, "groups", n_rows) for one in given]
    if len(codes) > 1:
        codes = coarsest([varying(one, "groups", _NAMELESS) for one in codes])
        if len(codes) > 1 and sample_weight is not None:
            raise ValueError(
                "sample_weight does not go with groups that cross: write each row as often as it counts"
            )
    alone = [one for one in codes if sample_weight is None and int(one.max(initial=-1)) + 1 == n_rows > 1]
    return None if alone else grouping(codes)


def several_groups(values: Any, n_rows: int) -> Ints:
    """Group of each row, beside X and y; raise where all rows are of one."""
    codes = unit_codes(values, "groups", n_rows)
    if not codes.any():
        raise ValueError("all rows are of one group: no other is there to learn from")
    return codes


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
        task: Task = "classification",
    ) -> None:
        super().__init__(features, categorical)
        self._read = read
        if (numbers := numbers_of(target, task, target_name)) is not None:
            self.classes, self._has_label = (), ~np.isnan(numbers)
            known = numbers if self._has_label.all() else numbers[self._has_label]
            self.n_dropped = len(numbers) - len(known)
            with np.errstate(over="ignore", invalid="ignore"):  # Center.of refuses what cannot be added up
                ends = [float(f(known)) for f in (np.mean, np.min, np.max)] if len(known) else [0.0] * 3
            self.center = Center.of(ends, target_name, len(known), self.n_dropped).mean
            self._y: NDArray[Any] = numbers - self.center
            self.class_totals = np.array([len(known)], np.int64)
            return
        # A row without a label gets the class after the last: cheaper than to filter every column.
        self.classes, codes = sorted_codes(target, "target", target_name)
        n_classes = len(self.classes)
        *totals, self.n_dropped = np.bincount(codes, minlength=n_classes + 1).tolist()
        check_classes(self.classes, target_name, sum(totals), self.n_dropped)
        self._y = codes.astype(np.min_scalar_type(n_classes))
        self._has_label = self._y < n_classes
        self.class_totals = np.array(totals, np.int64)

    def _natural_kind(self, name: Any) -> Kind:
        return column_kind(as_quantities(self._read(name)))

    def _value_counts(self, name: Any) -> Profile:
        column = self._column(name)
        with hash_errors("column", repr(name)):
            codes, n_codes, missing = encode(plain(column))
        if self.is_numeric:
            cells = self._moments(codes, n_codes)
            return Profile(by_size(cells), 0 if missing is None else int(cells[missing, 0]))
        return profile_of_codes(codes, n_codes, missing, self._y, len(self.classes))

    def _binned_counts(self, name: Any, max_bins: int) -> Bins:
        column = as_quantities(self._column(name))
        with hash_errors("column", repr(name)):
            numbers = as_floats(plain(column, as_number=True))
        if self.is_numeric:
            present = numbers[self._has_label & ~np.isnan(numbers)]
            edges, n_values = bin_edges(np.sort(present), max_bins)
            bins = np.where(np.isnan(numbers), len(edges) + 1, np.searchsorted(edges, numbers))
            cells = self._moments(bins, len(edges) + 2)
            return Bins(cells[: -1 if n_values else 0], cells[-1], edges, n_values, n_values <= max_bins)
        return bins_of_classes([numbers[rows] for rows in self._rows_of_class], max_bins)

    def _moments(self, codes: NDArray[np.integer], n_cells: int) -> Floats:
        """Moments of the target in the cells of the rows that have one."""
        if self.n_dropped:
            return moments_of_codes(codes[self._has_label], self._y[self._has_label], n_cells)
        return moments_of_codes(codes, self._y, n_cells)

    def _unit_rows(self, name: Any, as_numbers: bool) -> UnitRows:
        rows = self._labelled_rows
        if name is None:
            return rows._replace(values=np.zeros(len(rows.y), np.int64))
        return with_values(rows, self._column(name), name, as_numbers)

    def n_distinct(self, names: Sequence[Any]) -> tuple[int, int]:
        """Count the distinct rows by a hash of their values."""
        columns = [self._column(name) for name in (*names, *self.units.names)]
        return distinct_rows(columns, self._y, self._has_label)

    @cached_property
    def _labelled_rows(self) -> UnitRows:
        """Numbers of the rows that have a label, with their classes, groups and time."""
        kept = np.flatnonzero(self._has_label)
        groups, time = read_units(self.units, self._column, len(self._y), kept)
        y = self._y[kept] + self.center if self.is_numeric else self._y[kept]
        return UnitRows.in_order(kept, y, groups, time)

    def _column(self, name: Any) -> NDArray[Any] | nw.Series[Any]:
        column = self._read(name)
        if len(column) != len(self._y):
            raise ValueError(f"column {name!r} has {len(column)} rows, but the target has {len(self._y)}")
        return column  # type: ignore[no-any-return]

    @cached_property
    def _rows_of_class(self) -> list[NDArray[np.intp]]:
        order = np.argsort(self._y, kind="stable")
        return np.split(order, np.cumsum(self.class_totals))[:-1]


def distinct_rows(columns: Sequence[Any], y: NDArray[Any], kept: Booleans) -> tuple[int, int]:
    """Count the rows, of those kept, that differ in a column or in the target, and in a column.

    Floats are looked at first: they are hashed as they are, and mostly tell all rows apart.
    """

    def words(column: Any) -> Words:
        found = plain(column)
        if found.values.dtype.kind in "biu" and found.missing is None:
            return found.values[kept].astype(np.uint64)
        if found.values.dtype.kind != "f":
            return encode(found)[0][kept].astype(np.uint64)
        numbers = as_floats(found)[kept]
        return np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)

    def count(row: Words) -> int:  # np.unique hashes, and takes longer
        in_order = np.sort(row)
        return int((in_order[1:] != in_order[:-1]).sum()) + (len(row) > 0)

    n_rows = int(kept.sum())
    by_kind: list[list[Any]] = [[], []]
    for column in columns:
        is_array = isinstance(column, np.ndarray)
        is_float = column.dtype.kind == "f" if is_array else column.dtype.is_float()
        by_kind[not is_float].append(column)
    row = np.zeros(n_rows, np.uint64)
    for some in by_kind:
        row = _counting.row_hash([row, *map(words, some)], n_rows)
        if (n_different := count(row)) == n_rows:
            return n_rows, n_rows
    return count(_counting.row_hash([row, words(y)], n_rows)), n_different


def profile_of_codes(
    codes: NDArray[np.integer], n_cells: int, missing: int | None, y: NDArray[np.integer], n_classes: int
) -> Profile:
    """Profile of rows given as cell codes and class codes; class code `n_classes` marks rows to ignore."""
    width = n_classes + 1
    if n_cells <= max(_DENSE, 4 * len(codes)) // width:
        counts = _counting.count_cells(codes, y, n_cells, width)[:, :n_classes]
        n_missing = 0 if missing is None else int(counts[missing].sum())
        return Profile(collapse(counts), n_missing)
    # Many cells and many classes: nearly all counts are zero, so count the pairs that occur.
    pairs, times = np.unique(codes.astype(np.intp) * width + y, return_counts=True)
    cell, label = np.divmod(pairs, width)
    counted = label < n_classes
    cell, label, times = cell[counted], label[counted], times[counted]
    n_missing = 0 if missing is None else int(times[cell == missing].sum())
    step = max(1, _DENSE // n_classes)
    cell = np.cumsum(np.diff(cell, prepend=cell[:1]) != 0)  # without the unused codes
    pieces = []
    for start in range(0, int(cell[-1]) + 1, step):
        first, last = np.searchsorted(cell, [start, start + step])
        counts = np.zeros((step, n_classes), np.int64)
        counts[cell[first:last] - start, label[first:last]] = times[first:last]
        pieces.append(collapse(counts))
    return Profile(merge(pieces), n_missing)


def bins_of_classes(values: list[Floats], max_bins: int) -> Bins:
    """Bins of the numbers of each class (NaN where missing); sorts them in place."""
    missing = np.zeros(len(values), np.int64)
    present = []
    for k, numbers in enumerate(values):
        numbers.sort()  # NaN goes to the end
        n_present = int(np.searchsorted(numbers, np.nan))
        missing[k] = len(numbers) - n_present
        present.append(numbers[:n_present])
    together = np.sort(np.concatenate(present))
    edges, n_values = bin_edges(together, max_bins)
    counts = [np.diff(np.searchsorted(x, edges, side="right"), prepend=0, append=len(x)) for x in present]
    table = np.column_stack(counts).astype(np.int64)[: n_values or 0]
    return Bins(table, missing, edges, n_values, n_values <= max_bins)


def bin_edges(together: Floats, max_bins: int) -> tuple[Floats, int]:
    """Largest value of each bin but the last, of sorted numbers, and how many of these are different."""
    is_last = np.append(together[1:] != together[:-1], True)[: len(together)]
    n_values = int(is_last.sum())
    if n_values <= max_bins:
        return together[is_last][:-1], n_values
    ranks = -(-np.arange(1, max_bins) * len(together) // max_bins)  # rounded up
    edges = np.unique(together[ranks - 1])
    return edges[edges < together[-1]], n_values
