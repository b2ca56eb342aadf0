"""Columns as small unsigned codes: what tree growing looks at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats, Ints
from offsample.induction.cuts import cut_points, finite
from offsample.tables._encoder import EncodedColumn

# A numeric column with at most this many distinct values has a bin for each; others are cut at quantiles.
MAX_EXACT = 1024
N_BINS = 255
# Quantiles are those of at most this many rows, evenly spaced.
_SAMPLE = 1 << 16
_FEW_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Columns:
    """Codes of the columns of a sample."""

    # A number's bin, one more than the last where missing; a category's code in `TableEncoder`.
    codes: list[NDArray[Any]]
    n_codes: list[int]  # number of codes that may occur, the one for missing included
    # Of numeric columns: ``x <= edges[b]`` where the bin is at most b; None for others.
    edges: list[Floats | None]

    @classmethod
    def from_encoded(cls, columns: Iterable[EncodedColumn]) -> Columns:
        """Code columns as they come, one at a time."""
        result = cls([], [], [])
        for column in columns:
            if column.kind == "categorical":
                size = int(column.values.max(initial=0)) + 1
                result.codes.append(column.values.astype(code_type(size, len(column.values)), copy=False))
                result.n_codes.append(size)
                result.edges.append(None)
            else:
                numbers = np.asarray(column.values, np.float64)
                edges = bin_edges(numbers)
                result.codes.append(codes_of(numbers, edges))
                result.n_codes.append(len(edges) + 2)
                result.edges.append(edges)
        return result

    def take(self, rows: NDArray[np.integer]) -> Columns:
        """The same columns of other rows."""
        return Columns([codes[rows] for codes in self.codes], self.n_codes, self.edges)

    def shuffled_places(self, labels: NDArray[np.unsignedinteger], seed: int) -> Ints:
        """Place of each row in a random order that depends on what the rows are, not on where they stand.

        What places decide is a function of the rows as a multiset. Equal rows have places as others do: were
        they neighbours, parts that are dealt out in turn would be copies where columns have few values.
        """
        places = np.empty(len(labels), np.int64)
        places[self._sorted(labels, seed)] = np.random.default_rng(seed).permutation(len(labels))
        return places

    def distinct_places(self, numbers: Floats, seed: int) -> Ints:
        """The same of different rows, given a number of each beside its codes: equal ones share a place."""
        labels = numbers.view(np.uint64)
        order = self._sorted(labels, seed)
        starts = np.zeros(len(order), bool)
        for codes in (*self.codes, labels):
            starts |= np.diff(codes[order].astype(np.int64), prepend=-1) != 0
        places = np.empty(len(order), np.int64)
        places[order] = np.cumsum(starts) - starts[:1].sum()
        return places

    def _sorted(self, labels: NDArray[np.unsignedinteger], seed: int) -> NDArray[np.intp]:
        """Rows in an order by what they are, in which equal ones are neighbours."""
        mixed = np.full(len(labels), seed, np.uint64)
        for codes in (*self.codes, labels):
            mixed = (mixed ^ codes.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
            mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
            mixed ^= mixed >> np.uint64(32)
        return np.argsort(mixed, kind="stable")

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.codes)

    @cached_property
    def numeric(self) -> Ints:
        """Numeric columns."""
        return np.array([j for j, edges in enumerate(self.edges) if edges is not None], np.int64)

    @cached_property
    def categorical(self) -> Ints:
        """Categorical columns."""
        return np.array([j for j, edges in enumerate(self.edges) if edges is None], np.int64)

    @cached_property
    def offsets(self) -> Ints:
        """Where the bins of each numeric column start in the histogram of a cell, and their end."""
        return np.concatenate([[0], np.cumsum([self.n_codes[j] for j in self.numeric])]).astype(np.int64)


def bin_edges(values: Floats) -> Floats:
    """Cut points between bins, halfway between neighbouring values."""
    sample = values if len(values) <= _SAMPLE else values[:: -(-len(values) // _SAMPLE)]
    ordered = finite(np.sort(sample[~np.isnan(sample)]))
    distinct = ordered[np.concatenate([[True], ordered[1:] > ordered[:-1]])] if len(ordered) else ordered
    if len(distinct) <= MAX_EXACT and len(sample) < len(values):
        distinct = np.unique(finite(values[~np.isnan(values)]))
    if len(distinct) > MAX_EXACT:
        at = np.searchsorted(distinct, ordered[np.arange(1, N_BINS) * len(ordered) // N_BINS])
        at = np.unique(np.maximum(at, 1))
        lower, upper = distinct[at - 1], distinct[at]
    else:
        lower, upper = distinct[:-1], distinct[1:]
    return cut_points(lower, upper)


def code_type(largest: int, n_rows: int) -> Any:
    """Smallest type of codes; of few rows one for all, as loops are compiled for each type."""
    return np.uint16 if n_rows <= _FEW_ROWS and largest < 1 << 16 else np.min_scalar_type(largest)


def codes_of(values: Floats, edges: Floats) -> NDArray[Any]:
    """Bin of each value."""
    from offsample.induction.tree import kernels

    codes: NDArray[Any] = np.empty(len(values), code_type(len(edges) + 1, len(values)))
    kernels.bin_codes(values, edges, codes, np.zeros(kernels.GRID + 1, np.int32))
    return codes
