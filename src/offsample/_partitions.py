"""The ways to cut a column into cells, as counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from offsample._grouped_counts import GroupedCounts
from offsample._moment_sums import united
from offsample._typing import Ints
from offsample.counts import CellCounts, CellMoments, CellNumbers, Cells, cells_of, count_units
from offsample.tables import Column, Table, ordered_codes

# A numeric column with at most this many values, and at most this share of rows alone in theirs, is read by
# value; others are cut into 2, 4, … bins of at least this many rows on average.
_FEW_VALUES = 32
MOST_ALONE = 0.1
MAX_BINS = 1024
ROWS_PER_BIN = 8


@dataclass(frozen=True)
class Partitions:
    """The ways to cut a column that are compared, coarsest first."""

    candidates: list[Any]  # of CellCounts or, for a numeric target, of CellMoments
    n_values: int | None
    n_missing: int
    bins: Ints | None = None  # class counts in the order of the numbers, if that says more than these


class LazyErrors(Sequence[float]):
    """Errors of partitions, computed when they are asked for: with groups that takes long."""

    def __init__(self, candidates: list[Any], error: Callable[[Any], float]) -> None:
        self._of = cache(lambda i: error(candidates[i]))
        self._n = len(candidates)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: Any) -> Any:
        return self._of(i)


def partition(source: Table, column: Column, numeric: str | int, *, by_rows: bool = False) -> Partitions:
    """Cut a column in each way that its kind and `numeric` allow; where asked for, with all numbers."""
    is_named = column.kind == "categorical" or numeric == "distinct"
    if source.in_units or by_rows:
        return _partition_rows(source, column, numeric, is_named)

    def counted(rows: NDArray[Any]) -> Cells:
        cells = cells_of(source, rows)
        return cells if source.is_numeric else cells.profile()  # moments come by size

    if is_named:
        profile = source.value_counts(column.name)
        return Partitions([counted(profile.rows)], profile.n_values, profile.n_missing)
    bins = source.binned_counts(column.name, MAX_BINS if isinstance(numeric, str) else numeric)
    n_missing = int(bins.sizes[-1])
    n_values = None if bins.n_values is None else bins.n_values + (n_missing > 0)

    def merged(level: Ints) -> Cells:
        if source.is_numeric:
            into = np.append(level, int(level.max(initial=-1)) + 1)
            cells = united(np.vstack([bins.counts, bins.missing]), into, int(into[-1]) + 1)
            return CellMoments.from_cells(cells, source.center)
        counts = np.zeros((int(level.max(initial=-1)) + 1, len(source.classes)), np.int64)
        np.add.at(counts, level, bins.counts)
        return CellCounts.collapsed(np.vstack([counts, bins.missing]), None, source.classes)

    levels, by_value = _levels(bins.sizes[:-1], bins.exact, n_values, source.n_rows, numeric)
    candidates = [merged(level) for level in levels]
    if by_value and bins.exact:
        candidates.append(merged(np.arange(len(bins.counts))))
    elif by_value:
        candidates.append(counted(source.value_counts(column.name).rows))
    is_order = not source.is_numeric and len(bins.counts) > 2
    return Partitions(candidates, n_values, n_missing, bins.counts if is_order else None)


def one_cell(source: Table) -> CellCounts:
    """All rows in one cell: what a rule without a column errs, of classes."""
    if source.in_units:
        rows = source.unit_rows(None)
        return cast("CellCounts", count_units(rows, rows.values, source.classes))
    return CellCounts([source.class_totals], classes=source.classes)


def _partition_rows(source: Table, column: Column, numeric: str | int, is_named: bool) -> Partitions:
    """Cut a column whose rows belong together, or come in time: by the codes of the rows."""
    rows = source.unit_rows(column.name, as_numbers=not is_named)

    def counted(codes: Ints) -> Cells:
        if not source.in_units:
            return CellNumbers(codes, rows.y)
        return count_units(rows, codes, source.classes)

    if is_named:
        return Partitions([counted(rows.values)], int(rows.values.max()) + 1, rows.n_missing)
    codes = ordered_codes(rows.values)
    n_values = int(codes.max()) + 1
    n_numbers, n_present = n_values - (rows.n_missing > 0), len(codes) - rows.n_missing
    sizes = np.bincount(codes, minlength=n_values)[:n_numbers]
    most = MAX_BINS if isinstance(numeric, str) else numeric
    fine = np.arange(n_numbers)
    if n_numbers > most:
        fine = np.unique((np.cumsum(sizes) - sizes) * most // n_present, return_inverse=True)[1]

    fine_codes = codes if n_numbers <= most else np.append(fine, int(fine.max()) + 1)[codes]
    finest = counted(fine_codes)

    def merged(level: Ints) -> Cells:
        bins = np.unique(level, return_inverse=True)[1]
        into = np.append(bins, int(bins.max(initial=-1)) + 1)[: int(fine_codes.max()) + 1]
        return finest.merged(into) if isinstance(finest, GroupedCounts) else counted(into[fine_codes])

    levels, by_value = _levels(
        np.bincount(fine, sizes).astype(np.int64), n_numbers <= most, n_values, source.n_rows, numeric
    )
    candidates = [merged(level) for level in levels]
    if by_value:
        candidates.append(finest if fine_codes is codes else counted(codes))
    return Partitions(candidates, n_values, rows.n_missing)


def _levels(
    sizes: Ints, exact: bool, n_values: int | None, n_rows: int, numeric: str | int
) -> tuple[list[Ints], bool]:
    """Merged bin of each fine bin, for each way to cut; and whether the values themselves are a way too."""
    n_alone = int((sizes == 1).sum())
    are_few = exact and len(sizes) <= _FEW_VALUES and n_alone <= MOST_ALONE * int(sizes.sum())
    if isinstance(numeric, int) or are_few:
        return [np.arange(len(sizes))], False
    # Numbers that are names in disguise (codes, postal areas) repeat, and may say more than their order.
    return nested_bins(sizes), n_values is not None and n_values <= n_rows / 2


def nested_bins(sizes: Ints) -> list[Ints]:
    """Merge fine bins into 2, 4, 8, … of about equal size, each a refinement of the one before.

    A row alone in its bin would count as a value not seen before, which a new number never is. Returns the
    merged bin of each fine one.
    """
    n_rows, n_fine = int(sizes.sum()), len(sizes)
    every = np.arange(n_fine)
    if n_fine <= 2:
        return [every]
    middle = (np.cumsum(sizes) - sizes / 2) / n_rows
    levels = []
    n_bins = 2
    while n_bins < n_fine and (n_bins == 2 or n_bins * ROWS_PER_BIN <= n_rows):
        levels.append((middle * n_bins).astype(int))
        n_bins *= 2
    return levels if n_fine * ROWS_PER_BIN > n_rows else [*levels, every]
