"""The ways to cut a column into cells, as counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsample._typing import Ints
from offsample.tables import Bins, Column, Table

# A numeric column with at most this many values, and at most this share of rows alone in theirs, is read by
# value; others are cut into 2, 4, … bins of so many rows on average, at least.
_FEW_VALUES = 32
_MOST_ALONE = 0.1
_MAX_BINS = 1024
_ROWS_PER_BIN = 8


@dataclass(frozen=True)
class Partitions:
    """The ways to cut a column that are compared, coarsest first."""

    candidates: list[Ints]  # rows of counts, then the multiplicity
    n_values: int | None
    n_missing: int


def partition(source: Table, column: Column, numeric: str | int) -> Partitions:
    """Cut a column in each way that its kind and `numeric` allow."""
    if column.kind == "categorical" or numeric == "distinct":
        profile = source.value_counts(column.name)
        return Partitions([profile.rows], profile.n_values, profile.n_missing)
    bins = source.binned_counts(column.name, _MAX_BINS if isinstance(numeric, str) else numeric)
    n_missing = int(bins.missing.sum())
    n_values = None if bins.n_values is None else bins.n_values + (n_missing > 0)
    if isinstance(numeric, int) or (bins.exact and _few(bins.counts)):
        return Partitions([_with_missing(bins.counts, bins)], n_values, n_missing)
    candidates = [_with_missing(counts, bins) for counts in nested_bins(bins.counts)]
    # Numbers that are names in disguise (codes, postal areas) repeat, and may say more than their order.
    if n_values is not None and n_values <= source.n_rows / 2:
        candidates.append(
            _with_missing(bins.counts, bins) if bins.exact else source.value_counts(column.name).rows
        )
    return Partitions(candidates, n_values, n_missing)


def _few(values: Ints) -> bool:
    size = values.sum(axis=1)
    return len(values) <= _FEW_VALUES and int((size == 1).sum()) <= _MOST_ALONE * int(size.sum())


def nested_bins(fine: Ints) -> list[Ints]:
    """Merge fine bins into 2, 4, 8, … of about equal size, each a refinement of the one before.

    A row alone in its bin would count as a value not seen before, which a new number never is.
    """
    size = fine.sum(axis=1)
    n_rows = int(size.sum())
    if len(fine) <= 2:
        return [fine]
    middle = (np.cumsum(size) - size / 2) / n_rows
    levels = []
    n_bins = 2
    while n_bins < len(fine) and (n_bins == 2 or n_bins * _ROWS_PER_BIN <= n_rows):
        merged = np.zeros((n_bins, fine.shape[1]), np.int64)
        np.add.at(merged, (middle * n_bins).astype(int), fine)
        levels.append(merged)
        n_bins *= 2
    return levels if len(fine) * _ROWS_PER_BIN > n_rows else [*levels, fine]


def _with_missing(counts: Ints, bins: Bins) -> Ints:
    cells = np.vstack([counts, bins.missing])
    return np.column_stack([cells, np.ones(len(cells), np.int64)])
