"""From counts per cell to the profile, and from sorted numbers to bins: arrays in, arrays out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample import _counting
from offsample._typing import Floats, Ints
from offsample.tables._base import Bins, Profile

# A dense table of cells × classes beyond this many numbers (and the rows themselves) is built in pieces.
_DENSE = 1 << 22


def profile_of_codes(
    codes: NDArray[np.integer], n_cells: int, missing: int | None, y: NDArray[np.integer], n_classes: int
) -> Profile:
    """Profile of rows given as cell codes and class codes; class code `n_classes` marks rows to ignore."""
    width = n_classes + 1
    if n_cells <= max(_DENSE, 4 * len(codes)) // width:
        counts = _counting.count_cells(codes, y, n_cells, width)[:, :n_classes]
        n_missing = 0 if missing is None else int(counts[missing].sum())
        return as_profile(collapse(counts), n_missing)
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
    return as_profile(merge(pieces), n_missing)


def as_profile(rows: Ints, n_missing: int) -> Profile:
    """Profile with the number of values read off the multiplicities."""
    return Profile(rows, int(rows[:, -1].sum()), n_missing)


def merge(pieces: list[Ints]) -> Ints:
    """Profile rows of the union of disjoint sets of values."""
    rows = np.concatenate(pieces)
    return collapse(rows[:, :-1], rows[:, -1])


def collapse(counts: NDArray[Any], multiplicity: Ints | None = None) -> Ints:
    """Distinct count vectors that are not all zero, in lexicographic order, each with its multiplicity."""
    rows: Ints = np.column_stack(_counting.collapse(counts, multiplicity)).astype(np.int64, copy=False)
    # Values that are not in use have the least vector of all; to look for them before would cost more.
    return rows[1:] if len(rows) and not rows[0, :-1].any() else rows


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
    is_last = np.append(together[1:] != together[:-1], True)[: len(together)]
    n_values = int(is_last.sum())
    exact = n_values <= max_bins
    if exact:
        edges = together[is_last][:-1]
    else:
        ranks = -(-np.arange(1, max_bins) * len(together) // max_bins)  # rounded up
        edges = np.unique(together[ranks - 1])
        edges = edges[edges < together[-1]]
    counts = [np.diff(np.searchsorted(x, edges, side="right"), prepend=0, append=len(x)) for x in present]
    table = np.column_stack(counts).astype(np.int64)[: n_values or 0]
    return Bins(table, missing, edges, n_values, exact)
