"""What a column is worth by itself, off the sample: the same for classes and for numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from offsample._auc import auc_lpo
from offsample._cell_counts import against_rest
from offsample._held_out_counts import HeldOutCounts, HeldOutRows
from offsample._held_out_moments import HeldOutMoments
from offsample._losses import information_gain_loo
from offsample._partitions import LazyErrors, Partitions
from offsample._ranked import RankedFeature
from offsample._squared_losses import squared_losses
from offsample._typing import Ints
from offsample._unit_intervals import FEWEST_UNITS, interval_is_known
from offsample.counts import CellCounts, CellMoments, CellNumbers
from offsample.criteria import Criterion, RuleName, error_interval
from offsample.evidence import (
    Evidence,
    choose_refinement,
    joint_p_value,
    order_evidence,
    signal_evidence,
)
from offsample.hypotheses import RULES, left_out_error
from offsample.intervals import gain_interval
from offsample.tables import Column

# Counts of few rows cut into few cells: many columns have the same ones.
_FEW_COUNTS = 64


class OfClasses(NamedTuple):
    """Errors of a rule on classes; `baseline` is that of the rule without a column."""

    rule: RuleName
    baseline: float
    unit: float = 1.0  # of errors that compete, of evidence and of another loss
    evidence_unit: float = 1.0
    loss_unit: float = 1.0

    def error(self, cells: CellCounts) -> float:
        """Error off the sample."""
        return left_out_error(cells, RULES[self.rule])

    def figures(
        self, cells: CellCounts, criterion: Criterion, error: float, worse: float, level: float
    ) -> dict[str, Any]:
        """What is said of a way to cut a column, its error so much worse for the choice among several."""
        by_value = cells.profile()
        terms = RULES[self.rule].training_terms(by_value.counts)
        low, high = error_interval(cells, self.rule, level)
        low, high = min(low + worse, error), min(high + worse, 1.0)
        is_error = criterion.estimates_error
        return {
            "low": low,
            "high": high,
            "training_error": float(by_value.multiplicity @ terms) / cells.n_samples,
            "gain_low": gain_interval(cells, self.rule, level)[0] - worse,
            "interval_is_known": interval_is_known(cells, RULES[self.rule]),
            "score": error if is_error or criterion.judge else criterion(cells),
            "score_low": low if is_error else None,
            "score_high": high if is_error else None,
            "auc": None if cells.n_classes != 2 else auc_lpo(cells),
            "bits": information_gain_loo(cells),
        }


class OfNumbers(NamedTuple):
    """Squared errors of means; `baseline` is that of the mean of all rows."""

    baseline: float
    unit: float
    evidence_unit: float
    loss_unit: float

    @classmethod
    def of(cls, cells: CellMoments) -> OfNumbers:
        """What competes are shares of the variance; evidence by ranks has its own unit."""
        baseline = squared_losses(cells).baseline
        if isinstance(cells, CellNumbers):
            return cls(baseline, baseline, 1.0, float(cells.losses[1].mean()))
        return cls(baseline, baseline, baseline, 1.0)

    def error(self, cells: CellMoments) -> float:
        """Error off the sample."""
        return squared_losses(cells).error

    def figures(
        self, cells: CellMoments, criterion: Criterion, error: float, worse: float, level: float
    ) -> dict[str, Any]:
        """What is said of a way to cut a column, its error so much worse for the choice among several."""
        losses, within = squared_losses(cells), float(cells.multiplicity @ cells.sums_of_squares)
        low, high = losses.error_interval(level)
        r2, share = 1 - error / self.baseline, worse / self.baseline
        function: Any = criterion.function  # of either kind of cells
        r2_low, r2_high = (end - share for end in losses.r2_interval(level))
        return {
            "low": min(low + worse, error),
            "high": high + worse,
            "training_error": within / cells.n_samples,
            "gain_low": r2_low * self.baseline,  # both errors of R² are made on the same rows
            "interval_is_known": _is_known(cells),
            "score": function(cells) + (worse if criterion.better == "lower" else -share),
            "r2": r2,
            "r2_low": min(r2_low, r2),
            "r2_high": max(r2_high, r2),
            "training_r2": 1 - within / cells.total_sum_of_squares,
        }


def _is_known(cells: CellMoments) -> bool:
    """Whether there are units enough, and most rows have values that others have too."""
    if not isinstance(cells, HeldOutRows):
        return True
    return min(int(unit.max()) + 1 for unit in cells.units) >= FEWEST_UNITS and cells.missing_mass() <= 0.5


def errors_alone(kind: Any, cells: Any, correction: float = 0.0) -> tuple[float, ...]:
    """Where groups cross, the error on rows that are new in one kind of group alone."""
    is_held_out: bool = isinstance(cells, HeldOutCounts | HeldOutMoments)
    return tuple(kind.error(one) + correction for one in (cells.each_alone() if is_held_out else ()))


class Computed(dict[Any, Any]):
    """What a ranking has computed of counts: of many columns of few rows most have been seen before."""

    def of(self, function: Callable[..., Any], cells: Any, *given: Any) -> Any:
        """Value of a function of cells and numbers, or of other things that stay the same in a ranking."""
        if type(cells) is not CellCounts or cells.counts.size > _FEW_COUNTS:
            return function(cells, *given)
        key = function, given, cells.counts.shape, cells.counts.tobytes(), cells.multiplicity.tobytes()
        if key not in self:
            self[key] = function(cells, *given)
        return self[key]


def judge(
    partitions: Partitions,
    column: Column,
    criterion: Criterion,
    kind: OfClasses | None,
    confidence: float,
    computed: Computed,
) -> RankedFeature:
    """All that can be said of a column by itself; what depends on the others is filled in later.

    Without a `kind` the target is a number.
    """
    candidates, n_tried = list(partitions.candidates), len(partitions.candidates)
    of: Any = kind or OfNumbers.of(candidates[0])
    level = 1 - (1 - confidence) / n_tried

    def evidence_of(cells: Any) -> Evidence:
        found = computed.of(signal_evidence, cells)
        return Evidence(found.signal / of.evidence_unit, found.deviation / of.evidence_unit, found.p_value)

    evidence = [evidence_of(cells) for cells in candidates]
    asked, of_asked, bins = candidates, evidence, partitions.bins
    if (k := criterion.of_class) is not None:
        asked = [cells.against_rest(k) for cells in candidates]
        of_asked = [evidence_of(cells) for cells in asked]
        bins = None if bins is None else against_rest(bins, k)
    errors = LazyErrors(candidates, lambda cells: computed.of(of.error, cells) / of.unit)
    chosen, share = choose_refinement(evidence, errors)
    cells, error, worse = candidates[chosen], share * of.unit, (share - errors[chosen]) * of.unit
    figures = computed.of(of.figures, cells, criterion, error, worse, level)
    judged = RankedFeature(
        name=column.name,
        kind=column.kind,
        n_values=partitions.n_values,
        n_missing=partitions.n_missing,
        n_cells=cells.n_cells,
        error=error,
        optimism=error - figures["training_error"],
        missing_mass=cells.missing_mass(),
        gain=of.baseline - error,
        expected_gain=0.0,
        p_value=p_value_of(bins, [e.p_value for e in of_asked]),
        significant=False,
        errors_alone=errors_alone(of, cells, worse),
        **figures,
    )
    if criterion.judge is None:
        return judged
    return _by_loss(judged, asked, of_asked, criterion, level, of.loss_unit, computed)


def p_value_of(bins: Ints | None, by_cut: Sequence[float]) -> float:
    """P-value of a column, given that of each way to cut it, and class counts in its order if it has one."""
    return joint_p_value(by_cut, None if bins is None else order_evidence(bins).p_value)


def _by_loss(
    feature: RankedFeature,
    candidates: list[CellCounts],
    evidence: list[Evidence],
    criterion: Criterion,
    level: float,
    unit: float,
    computed: Computed,
) -> RankedFeature:
    """Score, gain and interval of a column by a loss, in the way to cut it that the loss prefers."""
    sign = 1 if criterion.better == "lower" else -1
    losses = LazyErrors(candidates, lambda cells: sign * computed.of(criterion.function, cells) / unit)
    chosen, loss = choose_refinement(evidence, losses)
    assert criterion.judge is not None
    judged = computed.of(criterion.judge, candidates[chosen], level)
    loss, worse = loss * unit, (loss - losses[chosen]) * unit
    low, high = judged.low + sign * worse, judged.high + sign * worse
    cells, of_medians = candidates[chosen], dict[str, Any]()
    if isinstance(cells, CellNumbers):  # the error of a column is the one that it is ranked by
        of_medians = {"error": loss, "low": min(low, loss), "high": max(high, loss)}
        of_medians |= {"training_error": cells.training_error, "optimism": loss - cells.training_error}
    return replace(
        feature,
        **of_medians,
        n_cells=cells.n_cells,
        score=sign * loss,
        score_low=min(low, sign * loss),
        score_high=max(min(high, criterion.most), sign * loss),
        gain=judged.gain - worse,
        gain_low=max(judged.gain_low - worse, -criterion.most),
        auc=sign * loss if criterion.function is auc_lpo and feature.auc is not None else feature.auc,
    )
