"""How far the error on new groups may be from its estimate: the groups are the units that vary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import stdtrit

from offsample._grouped_counts import GroupedCounts, GroupTable
from offsample._typing import Floats, Ints
from offsample.hypotheses import CellRule, GiniRule

__all__ = ["GroupSums", "group_error_interval", "group_gain_interval", "interval_is_known", "sum_groups"]

# Values with at most this many groups are summed over all pairs of groups; above, to first order.
MOST_EXACT = 16
# With fewer groups, nothing can be said of new ones.
FEWEST_GROUPS = 10
_MOST_NUMBERS = 1 << 22


@dataclass(frozen=True)
class GroupSums:
    """All that an interval needs to know of the groups: sums over them, which an engine can make.

    With c the rows of a group, E the expected errors on them of the rule learned without the group, and F
    those of the rule that knows no cell.

    Attributes
    ----------
    n_groups : int
    n_rows : int
    size_size, error_error, error_size, base_base, base_size, error_base : float
        Sums of c², E², E c, F², F c and E F.
    error, base : float
        Sums of E and F.
    pairs : float
        Sum over ordered pairs of groups g ≠ h of D_gh D_hg, where D_gh is the change of E_g at one value when
        the rule is learned without h too; summed over the values.
    """

    n_groups: int
    n_rows: int
    size_size: float
    error: float
    error_error: float
    error_size: float
    base: float
    base_base: float
    base_size: float
    error_base: float
    pairs: float

    @property
    def effective_groups(self) -> float:
        """Number of groups of equal size that would weigh as these do."""
        return self.n_rows**2 / self.size_size

    def deviation(self, of_gain: bool = False) -> float:
        """Standard error of the estimated error on new groups, or of its gain over the base.

        Let a_g be the loss of group g by the rule learned without it, less the mean loss of so many rows,
        and a_g|h the same by the rule learned without g and h. As in Robbins' argument, the expectation of
        (estimate - error)² over fresh groups is that of ``mean over g ≠ h of a_g|h a_h|g - 2 a_g|h a_h``, in
        units of (G/m)². With a_g|h = a_g + D_gh and sum a_g = 0 this is
        ``(sum_g a_g² + sum_{g≠h} D_gh D_hg) / (G (G - 1))``; products of changes at different values are left
        out. Never less than without the second sum.
        """
        total = self.base - self.error if of_gain else self.error
        mean = total / self.n_rows
        if of_gain:
            squares = self.base_base - 2 * self.error_base + self.error_error
            by_size = self.base_size - self.error_size
        else:
            squares, by_size = self.error_error, self.error_size
        squares = max(0.0, squares - 2 * mean * by_size + mean**2 * self.size_size)
        groups = self.n_groups
        return float(np.sqrt((squares + max(0.0, self.pairs)) * groups / (groups - 1))) / self.n_rows


def group_error_interval(
    cells: GroupedCounts, rule: type[CellRule], confidence: float
) -> tuple[float, float]:
    """Interval for the error of a rule on rows of new groups, around the leave-one-group-out estimate.

    Student's, with as many degrees of freedom as there are effective groups less one. Its upper end is at
    least that of a sample of so many groups without an error.
    """
    sums = _sums_of(cells, rule)
    radius = _quantile(sums, confidence) * sums.deviation()
    estimate = sums.error / sums.n_rows
    least = 1 - ((1 - confidence) / 2) ** (1 / sums.effective_groups)
    return max(0.0, estimate - radius), min(1.0, max(estimate + radius, least))


def group_gain_interval(cells: GroupedCounts, rule: type[CellRule], confidence: float) -> tuple[float, float]:
    """Interval for how much lower the error on rows of new groups is than without any column."""
    sums = _sums_of(cells, rule)
    # A difference of losses that is the same in all groups is not known beyond one group either.
    deviation = np.hypot(sums.deviation(of_gain=True), 1 / sums.effective_groups)
    radius = float(_quantile(sums, confidence) * deviation)
    gain = (sums.base - sums.error) / sums.n_rows
    return gain - radius, gain + radius


def interval_is_known(cells: GroupedCounts, rule: type[CellRule]) -> bool:
    """Whether there are groups enough, and most of the error is not on values that one group has alone."""
    sums = _sums_of(cells, rule)
    unseen = cells.missing_mass() * (1 - 1 / cells.n_classes)
    return sums.n_groups >= FEWEST_GROUPS and unseen <= sums.error / sums.n_rows / 2


def _quantile(sums: GroupSums, confidence: float) -> float:
    return float(stdtrit(max(sums.effective_groups - 1, 1e-3), (1 + confidence) / 2))


@lru_cache(maxsize=2)  # the intervals of a column's error and of its gain are asked for together
def _sums_of(cells: GroupedCounts, rule: type[CellRule]) -> GroupSums:
    if cells.table is None:
        raise ValueError("an interval needs to know which rows are of the same group: give the table")
    return sum_groups(cells.table, rule)


def sum_groups(table: GroupTable, rule: type[CellRule]) -> GroupSums:
    """Sum up what intervals need over the groups of a table in memory."""
    if table.n_groups < 2:
        raise ValueError("all rows are of one group: no other is there to learn from")
    others = table.over_values(table.counts)[table.value] - table.counts
    error = table.over_groups(rule.held_out_terms(table.counts, others))
    of_group = table.over_groups(table.counts)
    base = rule.held_out_terms(of_group, of_group.sum(axis=0) - of_group)
    size = of_group.sum(axis=1)
    return GroupSums(
        n_groups=table.n_groups,
        n_rows=int(size.sum()),
        size_size=float(size @ size),
        error=float(error.sum()),
        error_error=float(error @ error),
        error_size=float(error @ size),
        base=float(base.sum()),
        base_base=float(base @ base),
        base_size=float(base @ size),
        error_base=float(error @ base),
        pairs=_sum_pairs(table, rule),
    )


def _sum_pairs(table: GroupTable, rule: type[CellRule]) -> float:
    """Sum over values, and pairs of groups there, of the products of their changes without each other."""
    starts = table.starts
    n_there = np.diff(starts, append=len(table.value))
    total = 0.0
    for n_groups in np.unique(n_there[(n_there > 1) & (n_there <= MOST_EXACT)]).tolist():
        places = starts[n_there == n_groups][:, None] + np.arange(n_groups)
        step = max(1, _MOST_NUMBERS // (n_groups**2 * table.counts.shape[1]))
        for first in range(0, len(places), step):
            total += exact_pairs(table.counts[places[first : first + step]], rule)
    if rule is GiniRule and (n_there > MOST_EXACT).any():
        large = np.repeat(n_there > MOST_EXACT, n_there)
        value = np.cumsum(np.diff(table.value[large], prepend=-1) != 0) - 1
        total += _first_order_pairs(GroupTable(value, table.group[large], table.counts[large]))
    return total


def exact_pairs(counts: Ints, rule: type[CellRule]) -> float:
    """Sum of the products over all pairs of groups; counts of shape (n_values, n_groups, n_classes)."""
    others = counts.sum(axis=1, keepdims=True) - counts
    without_both = others[:, :, None] - counts[:, None]  # negative where both are the same group
    both = rule.from_counts(np.maximum(without_both, 0))
    change = (counts[:, :, None] * (rule.from_counts(others)[:, :, None] - both)).sum(axis=-1)
    same = np.arange(counts.shape[1])
    change[:, same, same] = 0.0
    return float((change * change.swapaxes(1, 2)).sum())


def _first_order_pairs(table: GroupTable) -> float:
    """Sum of the products for the Gini rule, in time linear in the number of groups.

    The change is ``(n_g · n_h - q_g c_h) / (c - c_g - c_h)``, where q_g is the expected number of hits on
    group g. The denominator is nearly the product ``c (1 - c_g/c) (1 - c_h/c)``; then all sums over pairs are
    products of sums over groups.
    """
    counts = table.counts.astype(float)
    totals = table.over_values(counts)
    whole = totals.sum(axis=1)
    others = totals[table.value] - counts
    size = counts.sum(axis=1)
    hits = (counts * GiniRule.from_counts(others)).sum(axis=1)
    weight = (1 - size / whole[table.value]) ** -2
    length = (counts**2).sum(axis=1)
    products = np.zeros(len(whole))
    for k in range(counts.shape[1]):
        products += (table.over_values(counts * (weight * counts[:, k])[:, None]) ** 2).sum(axis=1)
    by_hits = table.over_values(counts * (weight * hits)[:, None])
    by_size = table.over_values(counts * (weight * size)[:, None])
    products += table.over_values(weight * hits * size) ** 2 - 2 * (by_hits * by_size).sum(axis=1)
    products -= table.over_values(weight**2 * (length - hits * size) ** 2)
    answer: Floats = products / whole**2
    return float(answer.sum())
