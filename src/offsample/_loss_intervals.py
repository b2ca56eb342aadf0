"""How far a loss, or an AUC, may be from its estimate off the sample: by the argument that serves the error.

With a_i the loss on unit i (a row, a group) by what was learned without it, less the mean, and D_ij what it
changes without j too, the expected square of estimate minus loss is ``sum a_i² + sum_{i≠j} D_ij D_ji``
(`_unit_intervals.spread_of`). Where decisions flip, the second sum is mostly 0 and seldom large: it is made
with j left out and with j twice, and both are added if positive. What all rows say is held fixed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri, stdtrit

from offsample._auc import Placement, auc_lpo, large_cells, order_of_large
from offsample._grouped_counts import GroupTable
from offsample._held_out_counts import deviation_by
from offsample._losses import (
    BrierLoss,
    CostLoss,
    LeftOut,
    LogLoss,
    Loss,
    leaves_out_groups,
    left_out_rows,
    mean_loss,
)
from offsample._proportions import wilson
from offsample._squared_losses import alike, freedom_of, log_interval, squared_losses
from offsample._ties import best_first, rounded
from offsample._typing import Floats, Ints
from offsample._unit_intervals import by_value, exact_pairs, student
from offsample.counts import CellCounts, CellMoments, CellNumbers, GroupedCounts, HeldOutCounts
from offsample.evidence import signal_evidence

# Of more classes than this, pairs of rows of the most frequent ones are asked what they change.
_MOST_CLASSES = 16
# Times as many rows as a unit has in a cell that others must have, for a decision there to be theirs too.
_LEAST_OTHERS = 9


class Judged(NamedTuple):
    """A loss (or an AUC), what it gains over knowing no column, and intervals of both."""

    value: float
    low: float
    high: float
    gain: float
    gain_low: float
    gain_high: float


class _Spread(NamedTuple):
    """Standard errors of a mean loss and of its gain; what a unit that loses, or saves, adds to them."""

    deviation: float
    gain: float
    gain_deviation: float
    lost: float
    saved: float
    n_units: float
    # Of decisions that no unit changes, if these are decisions: mean of the loss and of its gain, each before
    # and after what chance adds, the less favourable last, and standard error.
    decided: tuple[tuple[float, float, float], tuple[float, float, float]] | None = None
    # Of outcomes that decisions may have, for the loss and for the gain: what they would add to it if every
    # unit with that decision had them; the share that has them; how many units there are.
    outcomes: tuple[Floats, Floats] = (np.empty((0, 3)), np.empty((0, 3)))


def judge_loss(
    cells: CellCounts, loss: Loss, confidence: float, least: float = 0.0, most: float = 2.0
) -> Judged:
    """Estimate a loss on new rows, with intervals; a row has this loss at least, and at most.

    Its variance grows in proportion to it, as that of rare events does; no unit is known better than one of
    those that lose. Where to leave a unit out may turn decisions over, intervals hold those that stay.
    """
    value, spread = mean_loss(cells, loss), _spread(cells, loss, least)
    quantile = student((1 + confidence) / 2, spread.n_units)
    unit = spread.lost or (most - least) / spread.n_units
    variance = spread.deviation**2 + unit**2
    slope = quantile**2 * variance / max(value - least, unit, 1e-300) / 2
    radius = float(np.sqrt(quantile**2 * variance + slope**2))
    far = quantile * float(np.hypot(spread.gain_deviation, max(unit, spread.saved)))
    rarer, rarer_saved = (_beyond(known, confidence, quantile) for known in spread.outcomes)
    low, high = value + slope - radius, value + max(slope + radius, float(np.hypot(radius, rarer)))
    gain_low, gain_high = spread.gain - float(np.hypot(far, rarer_saved)), spread.gain + far
    if spread.decided is not None:
        (kept, by_chance, kept_far), (of_gain, gain_by_chance, gain_far) = spread.decided
        low, high = min(low, kept - quantile * kept_far), max(high, by_chance + quantile * kept_far)
        gain_low = min(gain_low, gain_by_chance - quantile * gain_far)
        gain_high = max(gain_high, of_gain + quantile * gain_far)
    if isinstance(loss, CostLoss):  # where none was saved that could be, savings seem not to vary: losses do
        gain_high = max(gain_high, spread.gain + value - max(least, low))
        largest, apart = float(loss.matrix.max()), float(np.ptp(loss.matrix))
        high, gain_low, gain_high = min(high, largest), max(gain_low, -apart), min(gain_high, apart)
    return Judged(value, max(least, low), high, spread.gain, gain_low, gain_high)


def _beyond(outcomes: Floats, confidence: float, quantile: float) -> float:
    """How much further than standard errors say a mean may lie, since few outcomes were seen, or none.

    Clopper & Pearson's upper ends of their shares, each less that of the normal law, summed up in squares
    (Zou & Donner 2008).
    """
    most, share, n = outcomes.T
    upper = np.where(
        share < 1, betaincinv(n * share + 1, np.maximum(n - n * share, 1e-9), (1 + confidence) / 2), 1.0
    )
    excess = (upper - share) ** 2 - quantile**2 * share * (1 - share) / n
    return float(np.sqrt((most**2 * np.maximum(excess, 0.0)).sum()))


def judge_log_loss(cells: CellCounts, confidence: float) -> Judged:
    """The same of `log_loss_loo`."""
    return judge_loss(cells, LogLoss(1.0, 0.5 / cells.n_samples), confidence)


def judge_brier(cells: CellCounts, confidence: float) -> Judged:
    """The same of `brier_loo`."""
    return judge_loss(cells, BrierLoss(), confidence)


def judge_auc(cells: CellCounts, confidence: float) -> Judged:
    """Estimate `auc_lpo`, with Wilson's interval of so many rows as have its standard error.

    Student's quantile is for units that hold the rarer class. ½ is inside unless there is evidence. Where
    pairs that are left out turn the order of large cells, it is that of the order of all rows, from what is
    left of it after chance on (`order_of_large`), and holds the estimate.
    """
    value, totals = auc_lpo(cells), np.asarray(cells.class_totals, dtype=float)
    known = np.flatnonzero((totals > 0) & (totals < totals.sum()))
    known = known[-1:] if len(totals) == 2 else known
    if not len(known) or totals.sum() < 4:
        return Judged(value, 0.0, 1.0, value - 0.5, -0.5, 0.5)
    normal, deviation, least = float(ndtri((1 + confidence) / 2)), 0.0, 0.0
    ordered = after_chance = value
    # The mean of several classes varies at most as much as if all varied together.
    for k, weight in zip(known, totals[known] / totals[known].sum(), strict=True):
        spread = _spread(cells, Placement.of(cells, int(k)))
        wider = student((1 + confidence) / 2, spread.n_units) / normal
        # A class of one row says nothing about new ones, but its AUC cannot be off by more than one.
        deviation += weight * min(wider * float(np.hypot(spread.deviation, 0.5 / spread.n_units)), 1 / normal)
        least += weight / (4 * spread.n_units)
        turned, by_chance = order_of_large(cells, int(k))
        ordered, after_chance = ordered + weight * turned, after_chance + weight * (turned - by_chance)
    (low, _), (_, high) = (
        wilson(middle, float(max(middle * (1 - middle), least) / deviation**2), normal**2)
        for middle in (min(max(after_chance, 0.0), 1.0), min(max(ordered, 0.0), 1.0))
    )
    low, high = float(min(low, value)), float(max(high, value))
    if signal_evidence(cells).p_value >= 1 - confidence:
        low, high = min(low, 0.5), max(high, 0.5)
    return Judged(value, low, high, value - 0.5, low - 0.5, high - 0.5)


def judge_absolute(cells: CellNumbers, confidence: float) -> Judged:
    """`absolute_error_loo` and its gain over the median of all rows, with intervals."""
    (losses, blind), m = cells.losses, len(cells.losses[0])
    value, gain = float(losses.mean()), float(blind.mean() - losses.mean())
    freedom = freedom_of(alike(blind))
    one_row = float(blind.mean()) / m  # not surer than of one row
    low, high = log_interval(value, float(np.hypot(cells.deviation(0.0), one_row)), freedom, confidence)
    far = float(stdtrit(freedom, (1 + confidence) / 2) * np.hypot(cells.deviation(1.0), one_row))
    return Judged(value, low, high, gain, gain - far, gain + far)


def moments_interval(cells: CellMoments, criterion: Any, confidence: float) -> tuple[float, float]:
    """Interval of a criterion of a numeric target; a variance has the relative width of squared errors."""
    value = criterion(cells)  # which says what cells it needs
    if criterion.judge is not None:
        return judge_absolute(cells, confidence)[1:3]  # type: ignore[arg-type]
    losses = squared_losses(cells)
    if criterion.better == "higher":
        return losses.r2_interval(confidence)
    low, high = losses.error_interval(confidence)
    times = value / losses.error if losses.error > 0 else 1.0
    return low * times, high * times


def _spread(cells: CellCounts, loss: Loss, least: float = 0.0) -> _Spread:
    """Standard errors of a mean loss, with rows, groups or parts of the time as units."""
    is_held_out, m = isinstance(cells, HeldOutCounts), int(cells.n_samples)
    grouped = isinstance(cells, GroupedCounts) and leaves_out_groups(cells)
    cells = cells if grouped or is_held_out else CellCounts.profile(cells)
    table = cells.table if isinstance(cells, GroupedCounts) and grouped else None
    left = list(left_out_rows(cells))
    value = np.arange(len(left[0].rows)) if table is None else table.value
    here = loss if is_held_out else loss.within(value)
    rows = np.column_stack([part.rows for part in left])
    losses = np.column_stack([here.on(k, part.others, part.shares) for k, part in enumerate(left)])
    blind = np.column_stack([loss.on(k, part.in_all, part.shares) for k, part in enumerate(left)])
    pairs, of_blind = _pairs(cells, loss)
    units: list[Ints] = cells.units if isinstance(cells, HeldOutCounts) else []
    units = units if table is None else [table.group]

    def deviation(terms: Floats, pairs: float) -> float:
        """Of the mean of these terms of the rows, of each class at each place, which sum up to 0."""
        if not units:
            return float(np.sqrt((rows * terms**2).sum() + pairs)) / m
        of_place, of_unit = (rows * terms).sum(axis=1), rows.sum(axis=1)
        if table is None:
            return deviation_by(units, of_place, pairs / 2, power=2)
        of_group = table.over_groups(of_place) / np.maximum(1 - table.over_groups(of_unit) / m, 0.5)
        return float(np.sqrt(of_group @ of_group + pairs)) / m

    def typical(terms: Floats) -> float:
        """Mean over what is summed up, rather than over the units."""
        of_places = (rows * np.abs(terms)).sum(axis=1)
        squares = [float((np.bincount(unit, of_places) ** 2).sum()) for unit in units]
        return max(squares or [float((rows * terms**2).sum())]) / max(float(of_places.sum()), 1e-300) / m

    if isinstance(loss, Placement):  # positives and negatives have a mean each
        side = np.arange(cells.n_classes) == loss.positive
        sums, sizes = ([one @ side, one @ ~side] for one in ((rows * losses).sum(axis=0), rows.sum(axis=0)))
        centred = losses - np.where(side, *(np.array(sums) / np.maximum(sizes, 1)))
    else:
        centred = losses - (rows * losses).sum() / m
    saved = blind - losses
    gain = float((rows * saved).sum()) / m
    sides = [rows.sum(axis=1)]
    if isinstance(loss, Placement):
        sides = [rows[:, loss.positive], rows.sum(axis=1) - rows[:, loss.positive]]
    n_units = min(_effective(units, side) for side in sides)
    of_gain = deviation(saved - gain, pairs + of_blind)
    known = deviation(centred, pairs), gain, of_gain, typical(losses - least), typical(saved), n_units
    if not isinstance(loss, CostLoss):
        return _Spread(*known)
    outcomes = _outcomes(rows, left, loss, units)
    if is_held_out:
        return _Spread(*known, outcomes=outcomes)
    cheap, blind = losses.copy(), np.empty(cells.n_classes)
    for k, part in enumerate(left):
        own = np.eye(cells.n_classes, dtype=np.int64)[k] if table is None else table.counts
        known_well = part.others.sum(axis=1) >= _LEAST_OTHERS * own.sum(axis=-1)
        cheap[:, k] = np.where(known_well, loss.on(k, part.others + own, part.shares), losses[:, k])
        blind[k] = loss.on(k, np.asarray(cells.class_totals), part.shares)
    lost, kept, spent = (float((rows * terms).sum()) / m for terms in (losses, cheap, blind + 0 * losses))
    chance, of_all = _chance_of_decisions(cells, table, loss.matrix)
    of_loss = kept, kept + chance, deviation(cheap - kept, 0.0)
    at_least = spent - max(lost, kept + chance)
    of_saving = spent + of_all - lost, at_least, deviation(blind - losses - (spent - lost), 0.0)
    return _Spread(*known, (of_loss, of_saving), outcomes)


def _chance_of_decisions(cells: CellCounts, table: GroupTable | None, matrix: Floats) -> tuple[float, float]:
    """What chance adds to the savings of the cheapest decisions in cells, and of that in all rows, per row.

    A decision that saves d more than the next one, with standard error s, was chosen for it: of two that cost
    the same it seems to save ``s φ(0)`` more than their mean. Of cells where a unit is a small part.
    """
    of_value = cells.counts if table is None else table.over_values(table.counts)

    def of_units(totals: Ints, counts: Ints | None, value: Ints, times: NDArray[Any]) -> float:
        costs = totals @ matrix
        order = np.argsort(rounded(costs, float(np.abs(costs).max()) or 1.0), axis=1, kind="stable")
        apart = matrix.T[order[:, 1]] - matrix.T[order[:, 0]]
        more = (totals * apart).sum(axis=1)
        beyond = apart - (more / totals.sum(axis=1))[:, None]
        squares = (totals * beyond**2).sum(axis=1)
        if counts is not None:
            squares = np.bincount(value, (counts * beyond[value]).sum(axis=1) ** 2, len(totals))
        far = np.sqrt(np.maximum(squares, 1e-300))
        return float(times @ (far * np.exp(-((more / far) ** 2) / 2))) / float(np.sqrt(2 * np.pi)) / m

    m, all_rows = int(cells.n_samples), np.asarray(cells.class_totals)[None]
    if table is None:
        is_known = of_value.sum(axis=1) > _LEAST_OTHERS
        none = np.empty(0, np.int64)
        chance = of_units(of_value, None, none, cells.multiplicity * is_known)
        return chance, of_units(all_rows, None, none, np.ones(1))
    largest = np.maximum.reduceat(table.counts.sum(axis=1), table.starts)
    is_known = of_value.sum(axis=1) > _LEAST_OTHERS * largest
    whole = table.over_groups(table.counts).astype(np.int64)
    chance = of_units(of_value, table.counts, table.value, is_known)
    return chance, of_units(all_rows, whole, np.zeros(len(whole), np.int64), np.ones(1))


def _outcomes(rows: Ints, left: list[LeftOut], loss: CostLoss, units: list[Ints]) -> tuple[Floats, Floats]:
    """What may come of each decision, and of each that differs from that without a cell (see `_Spread`)."""
    m, matrix = int(rows.sum()), loss.matrix
    here = [n[:, None] * loss.decided(part.others) for n, part in zip(rows.T, left, strict=True)]
    # Rows of each class, by decision and by that without a cell.
    counts = np.stack(
        [of.T @ loss.decided(part.in_all) for of, part in zip(here, left, strict=True)], axis=-1
    )
    n_units = [_effective(units, sum(of[:, d] for of in here)) for d in range(len(matrix))]
    found: list[list[tuple[float, float, float]]] = [[], []]
    for d, other in np.ndindex(matrix.shape):
        of_loss = found[0], counts[d].sum(axis=0) * (other == d), matrix[:, d]
        of_gain = found[1], counts[d, other] * (other != d), matrix[:, d] - matrix[:, other]
        for kept, with_it, lost in (of_loss, of_gain):
            n = float(with_it.sum())
            for cost in np.unique(lost)[1:] if n else ():
                share = float(with_it[lost == cost].sum()) / n
                n_known = max(1.0, n_units[d] * n / float(counts[d].sum()))
                kept.append(((cost - lost.min()) * n / m, share, n_known))
    return np.array(found[0]).reshape(-1, 3), np.array(found[1]).reshape(-1, 3)


def _pairs(cells: CellCounts, loss: Loss) -> tuple[float, float]:
    """What pairs of units add to the variance of a sum of losses, and of those that know no cell."""
    counted: list[GroupedCounts] = []
    if isinstance(cells, HeldOutCounts):
        groups = cells.groups if cells.time is None else []
        counted = [GroupedCounts.from_rows(cells.cell, cells.label, one, cells.n_classes) for one in groups]
    elif isinstance(cells, GroupedCounts) and leaves_out_groups(cells):
        counted = [cells]
    else:
        whole = CellCounts(np.asarray(cells.class_totals)[None])
        return _pairs_of_rows(cells, loss), _pairs_of_rows(whole, loss)
    sums = np.zeros(2)
    for one in counted:
        loss = Placement.of(one, loss.positive) if isinstance(loss, Placement) else loss
        blind = GroupTable.from_codes(np.zeros_like(one.rows.value), *one.rows[1:], cells.n_classes)
        sums += [_pairs_of_groups(one.table, loss), _pairs_of_groups(blind, loss)]
    return float(sums[0]), float(sums[1])


def _effective(units: list[Ints], rows: NDArray[Any]) -> float:
    """Number of units of equal size that would weigh as these rows do; of the rows, if there are none."""
    sizes = [np.bincount(unit, rows) for unit in units]
    return min(
        (float(size.sum() ** 2 / max(size @ size, 1e-300)) for size in sizes), default=float(rows.sum())
    )


def _pairs_of_rows(cells: CellCounts, loss: Loss) -> float:
    """Sum over pairs of rows of the products of their changes: without each other, and with each twice."""
    counts, totals = cells.counts, np.asarray(cells.class_totals, dtype=float)
    loss, one = loss.within(np.arange(len(counts))), np.eye(cells.n_classes, dtype=np.int64)
    shares = np.maximum(totals - one, 0) / max(1.0, totals.sum() - 1)
    classes = best_first(totals, totals.sum())[:_MOST_CLASSES]
    times = cells.multiplicity
    if isinstance(loss, Placement):
        times = times * ~large_cells(counts, times, loss.positive)
    total = 0.0
    for step in (-1, 1):
        change = {}
        for k in classes:
            fewer = np.maximum(counts - one[k], 0)
            alone = loss.on(k, fewer, shares[k])
            for j in classes:
                change[k, j] = loss.on(k, np.maximum(fewer + step * one[j], 0), shares[k]) - alone
        products = 0.0
        for k, j in change:
            n_pairs = counts[:, k] * np.maximum(counts[:, j] - (k == j), 0)
            products += float((times * n_pairs) @ (change[k, j] * change[j, k]))
        total += max(0.0, products)
    return total


def _pairs_of_groups(table: GroupTable, loss: Loss) -> float:
    """Sum over pairs of groups at a value; where it has many, of bundles of groups."""
    shares = table.counts.sum(axis=0) / table.counts.sum()
    sums = np.zeros(2)
    of_value = table.over_values(table.counts)
    is_large = np.zeros(len(of_value), bool)
    if isinstance(loss, Placement):
        is_large = large_cells(of_value, np.ones(len(of_value), np.int64), loss.positive)
    for values, counts in by_value(table, bundled=True):
        values, counts = values[~is_large[values]], counts[~is_large[values]]
        rule = _Fixed(loss.within(values), shares)
        sums += [exact_pairs(counts, rule, sign) for sign in (-1, 1)]
    return float(np.maximum(sums, 0).sum())


class _Fixed(NamedTuple):
    """A loss as a rule of the counts of a cell."""

    loss: Loss
    shares: Floats

    def losses(self, counts: NDArray[Any]) -> Floats:
        """Loss on a row of each class."""
        return np.stack([self.loss.on(k, counts, self.shares) for k in range(counts.shape[-1])], axis=-1)
