"""How far an error on new groups, or later, may be from its estimate: groups and times are what varies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from offsample._grouped_counts import MOST_EXACT, GroupedCounts, Groups, GroupTable, by_rows
from offsample._held_out_counts import deviation_by, effective_units, unit_squares
from offsample._proportions import wilson
from offsample._ties import best_of, rounded
from offsample._typing import Floats, Ints
from offsample.counts import CellCounts, HeldOutCounts
from offsample.hypotheses import CellRule, GiniRule

# With fewer groups or parts of the time, nothing can be said of new ones.
FEWEST_UNITS = 10
_FEW_UNSEEN = 0.05
_MOST_NUMBERS = 1 << 22


@dataclass(frozen=True)
class Spread:
    """An estimated error and its gain over the rule without a column, and how far they may be off."""

    error: float
    deviation: float
    n_units: int
    effective_units: float
    gain: float = 0.0
    gain_deviation: float = 0.0

    def error_interval(self, confidence: float) -> tuple[float, float]:
        """Wilson's interval of as many independent rows as would have this standard error.

        With Student's quantile, for as many degrees of freedom as there are effective units less one. The
        upper end is at least that of as many units without an error.
        """
        quantile = student((1 + confidence) / 2, self.effective_units)
        least = 1 - ((1 - confidence) / 2) ** (1 / self.effective_units)
        low, high = max(0.0, self.error - quantile * self.deviation), self.error
        binomial = self.error * (1 - self.error)
        if binomial > 0 and self.deviation > 0:
            low, high = wilson(self.error, binomial / self.deviation**2, quantile**2)
        return low, max(high, least)

    def gain_interval(self, confidence: float) -> tuple[float, float]:
        """Student's interval; a gain that is the same in all units is not known beyond one unit either."""
        deviation = float(np.hypot(self.gain_deviation, 1 / self.effective_units))
        radius = student((1 + confidence) / 2, self.effective_units) * deviation
        return self.gain - radius, self.gain + radius

    def gain_p_value(self) -> float:
        """Probability that units without a gain show one as large."""
        if self.gain <= 0 or self.gain_deviation == 0:
            return 1.0
        return float(1 - stdtr(max(self.effective_units - 1, 1e-3), self.gain / self.gain_deviation))


def student(probability: float, effective_units: float) -> float:
    """Student's quantile, for as many degrees of freedom as there are effective units less one."""
    return float(stdtrit(max(effective_units - 1, 1e-3), probability))


@lru_cache(maxsize=2)  # the intervals of a column's error and of its gain are asked for together
def spread_of(cells: GroupedCounts | HeldOutCounts, rule: type[CellRule]) -> Spread:
    """Estimate a rule's error on new units, with its standard error.

    Let a_g be the loss of group g by the rule learned without it, less its share of the whole loss, and a_g|h
    the same by the rule learned without g and h. As in Robbins' argument, the expectation of
    (estimate - error)² over fresh groups is that of ``mean over g ≠ h of a_g|h a_h|g - 2 a_g|h a_h``, in
    units of (G/m)². With a_g|h = a_g + D_gh and sum a_g = 0 this is
    ``(sum_g a_g² + sum_{g≠h} D_gh D_hg) / (G (G - 1))``. Products of changes at different values are left
    out, and the second sum varies much: in simulations intervals hold with twice that sum, if positive.
    """
    if isinstance(cells, HeldOutCounts):
        losses, blind = cells.losses(rule), cells.losses(rule, blind=True)
        by_group = [
            GroupedCounts.from_rows(cells.cell, cells.label, one, cells.n_classes) for one in cells.groups
        ]
        pairs = sum(max(0.0, sum_pairs(counted, rule)) for counted in by_group)
        return Spread(
            error=float(losses.mean()),
            deviation=cells.deviation(losses, pairs),
            gain=float((blind - losses).mean()),
            gain_deviation=cells.deviation(blind - losses, pairs),
            n_units=min(int(unit.max()) + 1 for unit in cells.units),
            effective_units=cells.effective_units,
        )
    if rule is GiniRule:
        losses = cells.sums.errors
    else:
        losses = cells.table.over_groups(rule.held_out_terms(cells.table.counts, cells.table.others))
    if len(losses) < 2:
        raise ValueError("all rows are of one group: no other is there to learn from")
    gain, size = _losses_without_cells(cells.groups, rule) - losses, cells.groups.size
    n_rows, of_pairs = int(size.sum()), 2 * max(0.0, sum_pairs(cells, rule))
    return Spread(
        error=float(losses.sum()) / n_rows,
        deviation=float(np.sqrt(unit_squares(losses, size, least=0) + of_pairs)) / n_rows,
        gain=float(gain.sum()) / n_rows,
        gain_deviation=float(np.sqrt(unit_squares(gain, size, least=0) + of_pairs)) / n_rows,
        n_units=len(size),
        effective_units=n_rows**2 / float(size @ size),
    )


@lru_cache(maxsize=2)  # the same for all columns of a table
def _losses_without_cells(groups: Groups, rule: type[CellRule]) -> Floats:
    return rule.held_out_terms(groups.counts, groups.without)


def spread_of_units(losses: Floats, size: Floats, variance: float = 1.0) -> Spread:
    """Mean loss on rows that come in units, given the loss and the rows of each.

    `variance` is in units of that of independent units.
    """
    n_rows = float(size.sum())
    deviation = float(np.sqrt(variance * unit_squares(losses, size))) / n_rows
    return Spread(float(losses.sum()) / n_rows, deviation, len(size), n_rows**2 / float(size @ size))


def spread_of_losses(losses: Floats, units: Sequence[Ints], power: int = 1) -> Spread:
    """Mean loss on rows that come in units, by what has not seen theirs, with its standard error.

    `units` has codes from 0 on, one array for each kind; `power` is that of `deviation_by`.
    """
    n_units = min(len(np.unique(unit)) for unit in units)
    deviation = deviation_by(units, losses, power=power)
    return Spread(float(losses.mean()), deviation, n_units, effective_units(units))


def standard_error(values: Floats, units: Sequence[Ints] = ()) -> float:
    """Standard error of a mean over rows that vary by themselves or, if there are units, by units."""
    return deviation_by(units, values) if units else float(values.std() / np.sqrt(len(values)))


def loss_interval(
    losses: Floats,
    units: Sequence[Ints] = (),
    *,
    error: float | None = None,
    times: float = 1,
    power: int = 1,
) -> tuple[float, float]:
    """95 % interval of an error: that of losses of 0 and 1, unless it is given.

    The variance is so many `times` that of independent rows, or units.
    """
    error = float(losses.mean()) if error is None else error
    if not units:
        return wilson(error, max(1, round(len(losses) / times)))
    spread = spread_of_losses(losses, units, power)
    deviation = float(np.sqrt(times)) * spread.deviation
    return replace(spread, error=error, deviation=deviation).error_interval(0.95)


def first_as_good(losses: Sequence[Floats] | Floats, units: Sequence[Ints] = ()) -> int:
    """Return the first model whose mean loss is within one standard error of the least, unit by unit."""
    best = best_of([-row.mean() for row in losses])
    for n, row in enumerate(losses):
        difference = row - losses[best]
        if rounded(difference.mean()) <= rounded(standard_error(difference, units)):
            return n
    return best


def interval_is_known(cells: CellCounts, rule: type[CellRule]) -> bool:
    """Whether there are units enough, and most of the error is not on values that were not seen.

    A few such rows do not matter, whatever the error is.
    """
    cells = by_rows(cells)
    if not isinstance(cells, (GroupedCounts, HeldOutCounts)):
        return True
    spread = spread_of(cells, rule)
    unseen = cells.missing_mass()
    is_most = unseen > _FEW_UNSEEN and unseen * (1 - 1 / cells.n_classes) > spread.error / 2
    return spread.n_units >= FEWEST_UNITS and not is_most


def sum_pairs(cells: GroupedCounts, rule: type[CellRule]) -> float:
    """Sum over values, and ordered pairs of groups g ≠ h there, of D_gh D_hg.

    D_gh is the change of the loss on g when the rule is learned without h too.

    For the Gini rule it is ``(n_g · n_h - q_g c_h) / (c - c_g - c_h)``, where q_g is the expected number of
    hits on group g. To first order the denominator is the product ``c (1 - c_g/c) (1 - c_h/c)``; then all
    sums over pairs are products of sums over groups, in time linear in the number of groups.
    """
    if rule is GiniRule:
        return cells.sums.pairs
    return sum(exact_pairs(counts, rule) for _, counts in by_value(cells.table))


def by_value(table: GroupTable, bundled: bool = False) -> Iterator[tuple[Ints, Ints]]:
    """Values with few groups, as many at a time, and counts of shape (n_values, n_groups, n_classes).

    Where `bundled`, all values: of many groups some are taken together.
    """
    n_there = np.diff(table.starts, append=len(table.value))
    place = np.arange(len(table.value)) - np.repeat(table.starts, n_there)
    n_groups = np.minimum(n_there, MOST_EXACT) if bundled else n_there
    for n in np.unique(n_groups[(n_groups > 1) & (n_groups <= MOST_EXACT)]).tolist():
        values = np.flatnonzero(n_groups == n)
        step = max(1, _MOST_NUMBERS // (n**2 * table.counts.shape[1]))
        for first in range(0, len(values), step):
            row = np.full(len(n_there), -1)
            row[values[first : first + step]] = np.arange(len(values[first : first + step]))
            kept = row[table.value] >= 0
            counts = np.zeros((int(row.max()) + 1, n, table.counts.shape[1]), np.int64)
            np.add.at(counts, (row[table.value[kept]], place[kept] % n), table.counts[kept])
            yield values[first : first + step], counts


def exact_pairs(counts: Ints, rule: Any, sign: int = -1) -> float:
    """Sum of the products over all pairs of groups; counts of shape (n_values, n_groups, n_classes).

    Of the changes of the losses of a rule on one group without the other; with `sign` 1, with it twice.
    """
    others = counts.sum(axis=1, keepdims=True) - counts
    changed = others[:, :, None] + sign * counts[:, None]  # negative where both are the same group
    both = rule.losses(np.maximum(changed, 0))
    change = (counts[:, :, None] * (both - rule.losses(others)[:, :, None])).sum(axis=-1)
    same = np.arange(counts.shape[1])
    change[:, same, same] = 0.0
    return float((change * change.swapaxes(1, 2)).sum())
