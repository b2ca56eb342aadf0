"""The rows of a cell, a way to split them, and where a split sends a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats, Ints

# What is known of cells: counts of the classes or, as float64, sums over the rows of 1, y and y².
Stats = NDArray[Any]


def sizes(stats: Stats) -> Ints:
    """Rows of cells with these counts, or sums, on the last axis."""
    if stats.dtype != np.float64:
        return np.asarray(stats.sum(axis=-1))
    return np.asarray(np.rint(stats[..., 0]).astype(np.int64))


def are_mixed(stats: Stats) -> NDArray[np.bool_]:
    """Whether the rows of cells differ in their class, or number."""
    if stats.dtype != np.float64:
        return np.asarray(stats.max(axis=-1) < sizes(stats))
    return np.asarray(stats[..., 2] * stats[..., 0] - stats[..., 1] ** 2 > 1e-12 * stats[..., 0] ** 2)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a cell."""

    index: NDArray[np.int32]  # positions in the sample, ascending; a row of weight 2 is there twice
    y: NDArray[Any]  # their classes, or 1, y and y² of each
    counts: Stats
    histogram: Stats  # counts of the bins of the numeric columns, of shape (n_bins, K)


@dataclass(frozen=True, eq=False)
class Order:
    """Scores of the values of a categorical column, learned at the first node that is split by them.

    Nodes below it cut the same scores again. To learn new ones there would be to look at a row's own class: a
    row came to a node by the classes of the other rows with its value, and they came by its.
    """

    codes: NDArray[Any]  # the values
    # Of shape (N_FOLDS, n_values), without the rows of a fold: decides for the training rows in that fold.
    by_fold: Floats
    full: Floats  # of shape (n_values,), from all rows: decides for new rows
    low: float = -np.inf  # new rows at the node have values of a score above it,
    high: float = np.inf  # and at most this one


@dataclass(frozen=True, eq=False)
class Split:
    """One way to split a cell."""

    column: int
    kind: Literal["threshold", "multiway", "ordered"]
    gain: float  # decrease of the criterion, in rows
    children: Stats  # of shape (n_children, K)
    log_p: float = 0.0  # of independence of the split and the class, not corrected for the choice
    n_tried: float = 1.0  # number of splits of its column that it was chosen from
    threshold: int = -1  # last bin of the left child
    missing_left: bool = False  # where missing numbers go
    codes: NDArray[Any] | None = None  # values that a categorical split tells apart
    child_of_code: NDArray[np.int32] | None = None  # child of each of them
    child_of_row: NDArray[np.int32] | None = None  # where the code does not decide it
    order: Order | None = None  # what an ordered split cuts, and where
    cut: float = np.nan
    potential: float = 0.0  # gain of cutting that order everywhere


def child_of_row(
    split: Split, codes: NDArray[np.unsignedinteger], n_codes: int, missing_left: bool
) -> NDArray[np.int32]:
    """Child that each code leads to; -1 where the value was not seen at the node."""
    if split.kind == "threshold":
        right = codes > split.threshold
        if missing_left:
            right &= codes != n_codes - 1
        return right.astype(np.int32)
    assert split.codes is not None
    assert split.child_of_code is not None
    table = np.full(n_codes, -1, np.int32)
    table[split.codes] = split.child_of_code
    return np.asarray(table[codes])
