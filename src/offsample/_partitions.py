"""The ways to cut a column into cells, as counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offsample.tables import Bins, Column, Table

# A numeric column with at most this many values is read value by value; others are cut into 2, 4, … bins.
_FEW_VALUES = 32
_MAX_BINS = 1024


@dataclass(frozen=True)
class Partitions:
    """The ways to cut a column that are compared, coarsest first."""

    candidates: list[NDArray[np.int64]]  # rows of counts, then the multiplicity
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
    if not isinstance(numeric, str) or (bins.exact and len(bins.counts) <= _FEW_VALUES):
        return Partitions([_with_missing(bins.counts, bins)], n_values, n_missing)
    candidates = [_with_missing(counts, bins) for counts in _nested(bins.counts)]
    # Numbers that are names in disguise (codes, postal areas) repeat, and may say more than their order.
    if not bins.exact and n_values is not None and n_values <= source.n_rows / 2:
        candidates.append(source.value_counts(column.name).rows)
    return Partitions(candidates, n_values, n_missing)


def _nested(fine: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Merge fine bins into 2, 4, 8, … of about equal size, each a refinement of the one before."""
    size = fine.sum(axis=1)
    middle = (np.cumsum(size) - size / 2) / max(1, size.sum())
    levels = []
    n_bins = 2
    while n_bins < len(fine):
        group = (middle * n_bins).astype(int)
        merged = np.zeros((n_bins, fine.shape[1]), np.int64)
        np.add.at(merged, group, fine)
        levels.append(merged)
        n_bins *= 2
    return [*levels, fine]


def _with_missing(counts: NDArray[np.int64], bins: Bins) -> NDArray[np.int64]:
    cells = np.vstack([counts, bins.missing])
    return np.column_stack([cells, np.ones(len(cells), np.int64)])
