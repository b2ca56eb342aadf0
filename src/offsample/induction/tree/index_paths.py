"""Paths by an index of the sample, grown by compiled loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample._ties import DIGITS, best_of, largest, rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.induction.tree.columns import Columns
from offsample.induction.tree.splits.categories import MAX_SINGLE

# What the kernels call a way to split by categories; the last is one value against the rest, and nodes of
# little depth are split by what may follow, before all others: so much is added to their gains.
WAYS = {"multiway": 1, "single": 2, "ahead": 3}
_FIRST = 10.0
# Columns and bins that are looked at there: fewer bins of fewer rows, and of more classes.
_COLUMNS, _BINS, _ROWS_OF_BIN = 16, 16, 16


class IndexPath(NamedTuple):
    """A path that was grown: the gain of the best split of each node, as a share of rows, and the split."""

    n_splits: int
    gain: Floats
    split: Ints


class Limits(NamedTuple):
    """Rows of a leaf at least; depth, splits and leaves at most; splits beyond twice the best number."""

    leaf: int
    depth: int
    splits: int
    leaves: int
    beyond: int


def index_values(index: str, most: int, n_classes: int) -> Floats:
    """Return f, a and b, of which ``a[n] Σ f[counts] - b[n]`` is how pure n rows are.

    That is minus the entropy, in rows times nats; the sum of squares of the counts over their number (Gini);
    or the rows that the other rows of the cell get right by chance, off the sample (Ginger).
    """
    n = np.arange(1.0, most + 1)
    values = np.zeros((3, most + 1))
    squares, entropies = n * n, n * np.log(n)
    others = np.maximum(n - 1, 1)  # of one row, which none can be told by, as the classes are equally likely
    off_sample = np.where(n > 1, n / others, -1.0 / n_classes)
    values[:, 1:] = {
        "entropy": (entropies, np.ones(most), entropies),
        "gini": (squares, 1 / n, np.zeros(most)),
        "ginger": (squares, (n > 1) / others, off_sample),
    }[index]
    return values


class CodedRows:
    """Rows that paths are grown of.

    Attributes
    ----------
    table : tuple
        Codes (columns × rows), their number, which columns are categorical, and classes: for the kernels.
    """

    def __init__(self, columns: Columns, labels: NDArray[np.uint16], n_classes: int) -> None:
        codes = np.stack([code.astype(np.uint16) for code in columns.codes])
        is_categorical = np.array([edges is None for edges in columns.edges])
        self.table = codes, np.array(columns.n_codes, np.int64), is_categorical, labels
        self.n_classes = n_classes
        self._orders = np.argsort(codes, axis=1, kind="stable").astype(np.int32)
        self._values: dict[str, Floats] = {}

    def grow(
        self, index: str, ways: str, limits: Limits, part: Booleans, wrong: Booleans | None = None
    ) -> IndexPath:
        """Grow a path without the rows of a part; mark which of those each of its trees gets wrong.

        ``wrong[s, i]`` is filled for trees of s splits and rows i of the part.
        """
        from offsample.induction.tree import path_kernels

        codes, n_codes, _, y = self.table
        rows = np.ascontiguousarray(self._orders[~part[self._orders]].reshape(len(codes), -1))
        held, (n, most) = np.flatnonzero(part).astype(np.int32)[None], (rows.shape[1], int(n_codes.max()))
        wrong = np.zeros((limits.splits + 1, len(y)), bool) if wrong is None else wrong
        if index not in self._values:
            self._values[index] = index_values(index, len(y), self.n_classes)
        values = self._values[index]
        nodes, counts = np.zeros((2 * n + 1, 6), np.int64), np.zeros((2 * n + 1, self.n_classes), np.int64)
        nodes[0, [1, 3]], counts[0] = (n, held.size), np.bincount(y[rows[0]], minlength=self.n_classes)
        value, gain, found = np.zeros(counts.shape), np.zeros(len(nodes)), np.full((len(nodes), 5), -1)
        value[0] = counts[0] / n
        wrong[0, held] = y[held] != value[0].argmax()
        n_wrong = int(wrong[0, held].sum())
        state = 1, 0, 0, n_wrong, n_wrong, 0
        of_rows = np.zeros((2, most + 2), np.int64), np.zeros(len(y), np.int32), np.empty(len(y), np.int32)
        of_cell = tuple(np.zeros((4, self.n_classes), np.int64))
        room = of_cell, np.zeros(most + 1, np.int32), of_rows, np.zeros(len(codes))
        of_path = WAYS[ways], limits.leaf, MAX_SINGLE, *limits[1:]
        tree = nodes, counts, value, gain, found
        while True:
            n_splits, state = path_kernels.grow_path(
                self.table, (rows, held), tree, room, of_path, tuple(values), state, wrong
            )
            if n_splits >= 0:
                return IndexPath(n_splits, np.abs(gain) / 10**DIGITS, found)
            node = -1 - n_splits
            start, stop, nodes[node, 5] = *nodes[node, :2], 1
            of_node = np.ascontiguousarray(rows[:, start:stop])
            n_bins = max(4, min(_BINS, (stop - start) // _ROWS_OF_BIN, 2 * _BINS // self.n_classes))
            of_ahead = max(2, limits.leaf), _COLUMNS, n_bins
            ahead = self.look_ahead(of_node, counts[node], of_ahead, n, values, found[node])
            gain[node] = ahead + _FIRST * 10**DIGITS if ahead > 0 else 0.0

    def look_ahead(
        self,
        rows: NDArray[np.int32],
        counts: Ints,
        limits: tuple[int, int, int],
        n_sample: int,
        values: Floats,
        found: Ints,
    ) -> float:
        """Gain of the best split of a cell with the best ones below it, 0 for none; fill in what it is.

        ``rows[j]`` are those of the cell in the order of column j. `limits` are the rows of a leaf at least,
        and the columns (with the best splits by themselves) and bins at most.
        """
        from offsample.induction.tree import ahead_kernels as kernels

        codes, n_codes, is_categorical, y = self.table
        (least, n_kept, n_bins), n, n_columns, k = limits, rows.shape[1], len(codes), self.n_classes
        ends, bins = np.zeros((n_columns, kernels.MOST_BINS), int), np.ones(n_columns + 1, int)
        bin_of = np.zeros((n_columns + 1, len(y)), np.uint8)
        kernels.bin_rows(self.table, rows, n_bins, ends, bins, bin_of)
        of_bins = bins, bin_of, np.append(is_categorical, True)  # the last has one bin: no second split
        most: Any = bins.max()
        room = np.zeros((most, most, k), int), np.zeros((2, most, k), int), np.zeros((2, k), int)
        pure = np.full((*ends.shape, 2), -np.inf)

        def look(pairs: list[Any]) -> Floats:
            of = np.array(pairs, int).reshape(-1, 2)
            kernels.look_ahead(of, rows[0], of_bins, y, least, values, room, pure)
            return np.asarray(pure[kept].sum(axis=2))

        kept = np.flatnonzero(bins[:-1] > 1)
        alone = look([(j, n_columns) for j in kept]).max(axis=1)
        kept = kept[largest(rounded(alone, n_sample), n_kept)]
        gains = look([(a, b) for a in kept for b in kept if a <= b])
        gains -= values[1, n] * values[0, counts].sum() - values[2, n]
        if not (rounded(gains, n_sample) > 0).any():
            return 0.0
        place, t = divmod(best_of(gains.ravel(), n_sample), gains.shape[1])
        j, last = kept[place], ends[kept[place], t]
        after = codes[j, rows[j]]
        after = after[after > last]
        way = kernels.THRESHOLD if not is_categorical[j] else WAYS["multiway" if bins[j] == 2 else "single"]
        found[:] = j, way, last, after[0] if len(after) else n_codes[j] - 1, 0
        return float(np.rint(gains[place, t] / n_sample * kernels.UNITS))
