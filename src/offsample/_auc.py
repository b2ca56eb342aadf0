"""How well cells order the rows of a class off the sample: both rows of a pair are left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._counting import over_classes
from offsample._grouped_counts import N_BUNDLES
from offsample._losses import Loss, frequencies, leaves_out_groups, left_out_rows
from offsample._typing import Booleans, Floats, Ints
from offsample.counts import CellCounts, GroupedCounts, HeldOutCounts

# Ratings of values without pairs of groups: of more, not all pairs are compared.
_MOST_RATED = 1 << 16
_MOST_PAIRS = 1 << 14  # of rows that are rated by what both may know
# The order of so many cells, the largest, with so many rows of either kind, is looked at pair by pair.
_MOST_LARGE, _LEAST_LARGE = 64, 5


def auc_lpo(cells: CellCounts, positive: int | None = None) -> float:
    """Estimated probability that a new row of a class is rated above a new row that is not of it.

    A row is rated by the share of the class among the others of its cell. To leave one row out alone would
    bias the comparison downward: without a positive, its cell has a smaller share. So both rows of a pair
    are left out (leave-pair-out [1]_): a positive in cell u is compared by ``(n_u1 - 1)/(c_u - 1)`` with a
    negative in another cell w by ``n_w1/(c_w - 1)``, each by the share in the other rows where its cell has
    no other; rows of one cell are ties. With groups both groups are left out, of each kind where they cross,
    and where rows are in time both are rated by what was before the earlier one; where nothing is left, pairs
    of groups are ties, and pairs in time are not compared. Of very many pairs some are, as many for each row.

    Parameters
    ----------
    cells : CellCounts
    positive : int, optional
        Number of the class. By default the second of two, and with more classes the mean over all, weighted
        by their frequencies, each against the rest.

    References
    ----------
    .. [1] A. Airola et al. (2011). An experimental comparison of cross-validation techniques for estimating
       the area under the ROC curve. Computational Statistics & Data Analysis 55.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import auc_lpo
    >>> round(auc_lpo(CellCounts([[30, 10], [5, 55]])), 4)
    0.8516
    >>> auc_lpo(CellCounts([[1, 0], [0, 1]], [60, 40]))  # an identifier
    0.5
    """
    cells.require_frequencies("auc_lpo")
    if positive is None and cells.n_classes > 2:
        totals = np.asarray(cells.class_totals, dtype=float)
        known = np.flatnonzero((totals > 0) & (totals < totals.sum()))
        if not len(known):
            return 0.5
        return float(totals[known] @ [auc_lpo(cells, int(k)) for k in known] / totals[known].sum())
    k = 1 if positive is None else positive
    n_positive = float(cells.class_totals[k])
    if not 0 < n_positive < cells.n_samples:
        return 0.5
    if isinstance(cells, GroupedCounts) and leaves_out_groups(cells):
        return _auc_by_groups(cells, k)
    if isinstance(cells, HeldOutCounts):
        return _auc_of_pairs(cells, k)[0]
    cells = CellCounts.profile(cells)
    left = list(left_out_rows(cells))[k]
    below = Placement.of(cells, k).within(np.arange(len(left.rows))).misplaced(k, left.others)
    return 1 - float(left.rows @ below) / n_positive


def _auc_by_groups(cells: GroupedCounts, k: int) -> float:
    """Share of the pairs of a positive and a negative whose positive is rated higher, without both groups.

    Many groups are bundled; with many values each bundle is compared with some others, as many for each.
    """
    table = cells.bundled
    bundle = table.group % N_BUNDLES
    n_bundles = int(bundle.max()) + 1
    hits = np.ascontiguousarray(table.counts[:, k])
    rows = np.column_stack([hits, over_classes(table.counts) - hits])
    most, n_offsets = n_bundles // 2, int(np.clip(_MOST_RATED // (2 * len(bundle)), 1, n_bundles // 2))
    offsets = np.arange(1, n_offsets + 1) * most // n_offsets if n_offsets < most else np.arange(most + 1)
    of_bundle, of_value = (
        np.column_stack([np.bincount(code, n) for n in rows.T]).astype(np.int64)
        for code in (bundle, table.value)
    )
    from offsample import _group_kernels

    order = np.argsort(bundle.astype(np.uint8), kind="stable")  # of so few, by counting
    starts = np.searchsorted(bundle[order], np.arange(n_bundles + 1))
    by_bundle = table.value[order], *rows[order].T.copy()
    room = np.empty((2 * int(np.diff(starts).max()), 6))
    return _group_kernels.share_above(by_bundle, starts, of_bundle, of_value, offsets, room)


def large_cells(counts: Ints, multiplicity: Ints, k: int) -> Booleans:
    """Which cells have rows enough, of class k and of others, for the order of two of them to be learned."""
    sizes, hits = counts.sum(axis=1), counts[:, k]
    known = np.minimum(hits, sizes - hits) >= _LEAST_LARGE
    order = np.lexsort((hits, -sizes))
    among = np.empty(len(order), bool)
    among[order] = np.cumsum((multiplicity * known)[order]) <= _MOST_LARGE
    known &= among
    return np.asarray(known & (multiplicity @ known > 1))


def order_of_large(cells: CellCounts, k: int) -> tuple[float, float]:
    """What `auc_lpo` lacks where pairs turn the order of large cells, and what chance adds to that order.

    Where two cells tie to a row, either is rated below the other once a positive of it is left out: all their
    pairs count as wrong, though whichever is above, about half of them are right. The first number is what
    the order of all rows has more. That order was learned from the same rows, though: where two shares differ
    by d, with the standard error s, chance adds about ``√2 s φ(d/s)`` to it, of which the mean is right where
    they are equal; that is the second.
    """
    if isinstance(cells, HeldOutCounts):
        return 0.0, 0.0
    grouped = isinstance(cells, GroupedCounts) and leaves_out_groups(cells)
    cells = cells if grouped else cells.profile()
    is_large = large_cells(cells.counts, cells.multiplicity, k)
    if not is_large.any():
        return 0.0, 0.0
    counts, times = cells.counts[is_large], cells.multiplicity[is_large]
    size, share = counts.sum(axis=1), counts[:, k] / counts.sum(axis=1)
    if isinstance(cells, GroupedCounts) and grouped:
        rows, table = cells.rows, cells.table
        here = is_large[rows.value]
        kept = (rows.value[here], rows.label[here], rows.group[here])
        among: CellCounts = GroupedCounts.from_rows(*kept, n_classes=cells.n_classes)
        beyond = (
            table.counts[:, k]
            - over_classes(table.counts) * (cells.counts[:, k] / cells.cell_sizes)[table.value]
        )
        variance = table.over_values(beyond**2)[is_large] / size**2
    else:
        among, variance = CellCounts(counts, times), share * (1 - share) / size
    size, share, variance = (np.repeat(of, times) for of in (size, share, variance))
    apart = share[:, None] - share
    deviation = np.sqrt(variance[:, None] + variance)
    n_pairs = np.outer(size, size)
    order = n_pairs * share[:, None] * (1 - share) * (0.5 + 0.5 * np.sign(apart))
    chance = n_pairs * deviation * np.exp(-((apart / deviation) ** 2) / 2) / np.sqrt(4 * np.pi)
    np.fill_diagonal(chance, 0.0)
    n_hits, n_others = float(size @ share), float(size @ (1 - share))
    of_all = float(cells.class_totals[k]) * (cells.n_samples - float(cells.class_totals[k]))
    turned = float(order.sum()) - auc_lpo(among, k) * n_hits * n_others
    return turned / of_all, float(chance.sum()) / of_all


def _auc_of_pairs(cells: HeldOutCounts, k: int) -> tuple[float, Floats]:
    """Share of the pairs whose positive is rated higher by what both may know, and what each row lacks of it.

    The latter are such that those of the positives, and those of the negatives, have the mean of the pairs.
    """
    cell, is_hit = cells.cell, cells.label == k
    units = [*cells.groups, *([] if cells.time is None else [cells.time])]
    weight = np.bincount(cell, 1.0 + units[0] + is_hit)[cell]  # an order that does not depend on names
    order = np.lexsort((weight, *units))
    sides = order[is_hit[order]], order[~is_hit[order]]
    n = min(len(sides[0]) * len(sides[1]), _MOST_PAIRS)
    first, second = np.arange(n) * len(sides[0]) // n, np.arange(n) % len(sides[1])
    if n == _MOST_PAIRS:  # spread evenly over both sides, by the golden ratio
        second = (np.arange(n) * (5**0.5 - 1) / 2 % 1 * len(sides[1])).astype(np.int64)
    pair = sides[0][first], sides[1][second]
    in_all = cells.known_to_both(np.zeros(n, np.int64), np.zeros_like(cell), pair, is_hit)
    compared, shares = in_all.any(axis=1), frequencies(in_all, np.full(2, 0.5))
    above, below = (
        frequencies(cells.known_to_both(cell[row], cell, pair, is_hit), shares)[:, 0] for row in pair
    )
    lost = 0.5 - 0.5 * np.sign(above - below) * (cell[pair[0]] != cell[pair[1]])
    mean = float(lost[compared].mean()) if compared.any() else 0.5
    off = (lost - mean) * compared / max(1, compared.sum())
    of_rows = (len(side) * np.bincount(row, off, len(cell)) for side, row in zip(sides, pair, strict=True))
    return 1 - mean, mean + np.add(*of_rows)


@dataclass(frozen=True, eq=False)
class Placement(Loss):
    """Share of the rows of the other kind on the wrong side of a row, in units with one mean over all."""

    positive: int
    ratings: tuple[Floats, ...]  # of negatives and of positives, by cell
    weights: tuple[Floats, ...]  # how many rows of a cell these are
    sorted: tuple[tuple[Floats, Floats], ...]  # ratings, and rows below
    share: float  # the rating of rows that are alone
    cell: Ints | None = None  # that of the counts which are asked for: its rows are ties
    of_rows: Floats | None = None  # what each row loses, where pairs of rows know what others do not

    @classmethod
    def of(cls, cells: CellCounts, k: int) -> Placement:
        """Ratings as rows have them that are left out; in groups, as cells have them that two groups know."""
        if isinstance(cells, HeldOutCounts):
            sizes = [np.array([np.sum((cells.label == k) == is_hit)]) for is_hit in (False, True)]
            twice = tuple(zip(sizes, sizes, strict=True))
            return cls(k, (), (), twice, 0.5, None, _auc_of_pairs(cells, k)[1])
        grouped = isinstance(cells, GroupedCounts) and leaves_out_groups(cells)
        cells = cells if grouped else cells.profile()
        hits, size = cells.counts[:, k].astype(float), cells.cell_sizes.astype(float)
        own, alone = 1, size < 2
        share = (float(hits @ cells.multiplicity) - 1) / max(1, cells.n_samples - 2)  # without the pair
        if isinstance(cells, GroupedCounts) and grouped:
            own, alone = 0, np.diff(cells.table.starts, append=len(cells.table.value)) < 2
        left = np.maximum(size - own, 1)
        ratings = [np.where(alone, share, n / left) for n in (hits, np.maximum(hits - own, 0))]
        weights, ranked = (size - hits, hits), []
        for rating, weight in zip(ratings, weights, strict=True):
            order = np.argsort(rating, kind="stable")
            below = np.cumsum((weight * cells.multiplicity)[order])
            ranked.append((rating[order], np.append(0.0, below)))
        return cls(k, tuple(ratings), weights, tuple(ranked), share)

    def within(self, cell: Ints) -> Placement:
        """Return the same for counts of these cells."""
        return replace(self, cell=cell)

    def misplaced(self, k: int, others: NDArray[Any]) -> Floats:
        """Share of the others that are on the wrong side of a row of class k."""
        if self.of_rows is not None:
            return self.of_rows
        rating = frequencies(others, np.asarray(self.share))[..., self.positive]
        other = 0 if k == self.positive else 1
        ranked, below = self.sorted[other]
        lower = sum(below[np.searchsorted(ranked, rating, side)] for side in ("left", "right"))
        if self.cell is not None:
            cell = self.cell.reshape(self.cell.shape + (1,) * (rating.ndim - self.cell.ndim))
            theirs = self.ratings[other][cell]
            lower = lower + self.weights[other][cell] * (1.0 - 2 * (theirs < rating) - (theirs == rating))
        share = lower / (2 * below[-1])
        return np.asarray(share if other else 1 - share)

    def on(self, k: int, others: NDArray[Any], shares: Floats) -> Floats:
        """Loss on a row of class k."""
        del shares
        negative, positive = (below[-1] for _, below in self.sorted)
        times = (negative + positive) / (positive if k == self.positive else negative)
        return np.asarray(times * self.misplaced(k, others))
