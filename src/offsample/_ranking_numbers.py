"""What a column is worth for a numeric target: R² and squared error off the sample."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from offsample._auc import auc_lpo
from offsample._held_out_moments import HeldOutMoments
from offsample._partitions import LazyErrors, Partitions
from offsample._ranked import RankedFeature
from offsample._squared_losses import squared_losses
from offsample._unit_intervals import FEWEST_UNITS
from offsample.counts import CellCounts, CellMoments, CellNumbers
from offsample.criteria import NUMERIC_CRITERIA, Criterion
from offsample.evidence import Evidence, choose_refinement, signal_evidence
from offsample.tables import Column


def numeric_criterion(name: str, costs: Any, positive: Any) -> Criterion:
    """Criterion of this name for a numeric target, of which "ginger" is the variance; raise for others."""
    if costs is not None or positive is not None:
        raise ValueError("costs and positive are for classes: the target is a number (task='regression')")
    if name not in NUMERIC_CRITERIA:
        raise ValueError(
            f"criterion {name!r} is for classes, and the target is a number: expected one of "
            f"{', '.join(map(repr, sorted(NUMERIC_CRITERIA)))}; or give task='classification'"
        )
    return NUMERIC_CRITERIA[name]


def judge_numbers(
    partitions: Partitions, column: Column, criterion: Criterion, confidence: float
) -> RankedFeature:
    """All that can be said of a column by itself; what depends on the others is filled in later."""
    candidates: list[Any] = list(partitions.candidates)
    baseline = squared_losses(candidates[0]).baseline  # the unit of what competes
    unit = 1.0 if isinstance(candidates[0], CellNumbers) else baseline  # ranks have their own
    evidence = [_in_units(signal_evidence(cells), unit) for cells in candidates]
    errors = LazyErrors(candidates, lambda cells: squared_losses(cells).error / baseline)
    n_tried = len(candidates)
    chosen, share = choose_refinement(evidence, errors)
    cells: CellMoments = candidates[chosen]
    losses, level = squared_losses(cells), 1 - (1 - confidence) / n_tried
    error, correction = share * baseline, (share - errors[chosen]) * baseline
    training = float(cells.multiplicity @ cells.sums_of_squares) / cells.n_samples
    low, high = losses.error_interval(level)
    low, high = min(low + correction, error), high + correction
    r2_low, r2_high = (end - correction / baseline for end in losses.r2_interval(level))
    r2, score = 1 - share, criterion.function(candidates[chosen])
    score = score + correction if criterion.better == "lower" else score - correction / baseline
    alone = cells.each_alone() if isinstance(cells, HeldOutMoments) else []
    judged = RankedFeature(
        name=column.name,
        kind=column.kind,
        n_values=partitions.n_values,
        n_missing=partitions.n_missing,
        n_cells=cells.n_cells,
        score=score,
        error=error,
        low=low,
        high=high,
        training_error=training,
        optimism=error - training,
        missing_mass=cells.missing_mass(),
        gain=baseline - error,
        gain_low=r2_low * baseline,
        expected_gain=0.0,
        p_value=min(1.0, n_tried * min(e.p_value for e in evidence)),
        significant=False,
        interval_is_known=_is_known(cells),
        errors_alone=tuple(squared_losses(one).error + correction for one in alone),
        r2=r2,
        r2_low=min(r2_low, r2),
        r2_high=max(r2_high, r2),
        training_r2=1 - training * cells.n_samples / cells.total_sum_of_squares,
    )
    if criterion.judge is None:
        return judged
    unit = float(candidates[0].losses[1].mean())
    return by_loss(judged, candidates, evidence, criterion, level, unit)


def by_loss(
    feature: RankedFeature,
    candidates: list[CellCounts],
    evidence: list[Evidence],
    criterion: Criterion,
    level: float,
    unit: float = 1.0,
) -> RankedFeature:
    """Score, gain and interval of a column by a loss, in the way to cut it that the loss prefers."""
    sign = 1 if criterion.better == "lower" else -1
    losses = LazyErrors(candidates, lambda cells: sign * criterion(cells) / unit)
    chosen, loss = choose_refinement(evidence, losses)
    assert criterion.judge is not None
    judged = criterion.judge(candidates[chosen], level)
    loss, worse = loss * unit, (loss - losses[chosen]) * unit
    low, high = judged.low + sign * worse, judged.high + sign * worse
    return replace(
        feature,
        n_cells=candidates[chosen].n_cells,
        score=sign * loss,
        score_low=min(low, sign * loss),
        score_high=max(high, sign * loss),
        gain=judged.gain - worse,
        gain_low=judged.gain_low - worse,
        auc=sign * loss if criterion.function is auc_lpo and feature.auc is not None else feature.auc,
    )


def _in_units(evidence: Evidence, unit: float) -> Evidence:
    return Evidence(evidence.signal / unit, evidence.deviation / unit, evidence.p_value)


def _is_known(cells: CellMoments) -> bool:
    """Whether there are units enough, and most rows have values that others have too."""
    if not isinstance(cells, HeldOutMoments):
        return True
    return min(int(unit.max()) + 1 for unit in cells.units) >= FEWEST_UNITS and cells.missing_mass() <= 0.5
