"""Criteria: what the counts of a partition say of its error, on the sample and off it.

`CRITERIA` holds all that has a name, and rankers, trees, rules and the command line take the same names. Two
criteria have two: "gini_error" and "misclassification" are errors; the index functions "gini" and "error",
which are 1 where all classes are equally frequent, are K / (K - 1) times as large, and choose the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from offsample._absolute_losses import absolute_error_loo
from offsample._auc import auc_lpo
from offsample._checks import check_confidence
from offsample._loss_intervals import (
    Judged,
    judge_absolute,
    judge_auc,
    judge_brier,
    judge_log_loss,
    judge_loss,
    moments_interval,
)
from offsample._losses import (
    CostLoss,
    brier_loo,
    brier_losses,
    brier_terms,
    checked_costs,
    cost_loo,
    information_gain_loo,
    log_loss_loo,
    log_loss_terms,
    log_losses,
    rarer_class,
)
from offsample._squared_losses import r2_loo, squared_error_loo, variance_loo
from offsample._typing import Floats
from offsample._votes import u_statistic_error
from offsample.counts import CellCounts, CellMoments, Cells
from offsample.hypotheses import BayesRule, GiniRule, left_out_error, weighted_ginger
from offsample.indexes import INDEX_FUNCTIONS, IndexFunction, index_terms, index_value, is_permissible
from offsample.information import (
    entropy_terms,
    gain_ratio,
    information_gain,
    joint_terms,
    mantaras_distance,
    mean_term,
    size_terms,
)
from offsample.intervals import error_interval

__all__ = [
    "CRITERIA",
    "INDEX_FUNCTIONS",
    "Criterion",
    "absolute_error_loo",
    "auc_lpo",
    "bayes_loo",
    "brier_loo",
    "cost_loo",
    "error_interval",
    "gain_ratio",
    "ginger",
    "gini_error",
    "index_value",
    "information_gain",
    "information_gain_loo",
    "is_permissible",
    "log_loss_loo",
    "mantaras_distance",
    "misclassification",
    "r2_loo",
    "score_interval",
    "squared_error_loo",
    "u_statistic_error",
    "variance_loo",
    "weighted_ginger",
]

Terms = Callable[[NDArray[Any]], Floats]
"""What cells with counts of shape (..., K) contribute to a sum: shape (...)."""
RuleName = Literal["gini", "bayes"]


def misclassification(cells: CellCounts) -> float:
    """Training error of the majority rule, Eq. (1) of Sabato & Shalev-Shwartz (2008).

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import misclassification
    >>> misclassification(CellCounts([[3, 1], [0, 4]]))
    0.125
    """
    cells = cells.profile()
    return mean_term(cells, BayesRule.training_terms(cells.counts))


def gini_error(cells: CellCounts) -> float:
    """Training error of the Gini rule: the Gini index, Eq. (2) of Sabato & Shalev-Shwartz (2008).

    ``(1/m) sum_v (c_v - sum_k N_vk² / c_v)``.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import gini_error
    >>> gini_error(CellCounts([[3, 1], [0, 4]]))
    0.1875
    """
    cells = cells.profile()
    return mean_term(cells, GiniRule.training_terms(cells.counts))


def ginger(cells: CellCounts) -> float:
    """Estimated off-sample error of the Gini rule: the Ginger criterion, Eq. (7) of [1]_ for K classes.

    The leave-one-out error of the rule that predicts a class with its frequency in the cell, and all
    classes alike in a cell that it has not seen:
    ``(1/m) [sum_{c_v > 1} (c_v² - sum_k N_vk²) / (c_v - 1) + (K - 1)/K #{v : c_v = 1}]``.
    Its bias is between 0 and (K - 1)/(K m) (`bounds.ginger_bias`). It may exceed (K - 1)/K, and is
    not clipped there.

    Parameters
    ----------
    cells : CellCounts
        Frequencies. Importance weights need each row: `weighted_ginger`, or ``CRITERIA["ginger"].of_rows``.

    References
    ----------
    .. [1] S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization
       Properties. JMLR 9.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import ginger
    >>> ginger(CellCounts([[3, 1], [0, 4]]))
    0.25
    >>> ginger(CellCounts([[1, 0], [0, 1]], multiplicity=[500, 500]))  # an identifier
    0.5
    """
    cells.require_frequencies("ginger")
    return left_out_error(cells, GiniRule)


def bayes_loo(cells: CellCounts) -> float:
    """Estimated off-sample error of the majority rule: its leave-one-out error.

    Tied classes share the prediction, as do all classes in a cell that the other rows do not show. For two
    classes its bias is between 0 and 1/(2m); unlike Ginger's, its value may jump when one label changes:
    in a cell with two equal classes, every row left out is predicted wrong.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import bayes_loo
    >>> bayes_loo(CellCounts([[4, 4]]))
    1.0
    >>> round(bayes_loo(CellCounts([[4, 5], [5, 4]])), 4)
    0.7222
    """
    cells.require_frequencies("bayes_loo")
    return left_out_error(cells, BayesRule)


@dataclass(frozen=True)
class Criterion:
    """A criterion of a partition, and all that rankers and learners need to know of it.

    Any criterion ranks columns; one with `terms` grows trees and, unless it is a ratio, lists and formulas.

    Attributes
    ----------
    name : str
    function : callable
        Takes `CellCounts` to a float.
    better : {"lower", "higher"}
    cell_terms : callable or None
        For additive criteria, what a cell with counts of shape (..., K) contributes: summed over the cells
        and divided by the number of samples, it is the criterion, or (information gain) the criterion
        less the entropy of the classes, which no partition changes. So the effect of refining one cell
        is the change of its terms.
    rule : {"gini", "bayes"}
        The rule whose error it is, a name in `hypotheses.RULES`; "gini" where it is not an error.
    estimates_error : bool
        Whether its value estimates an error off the sample.
    judge : callable or None
        For another loss, or an order of the rows, off the sample: from cells and a confidence to its value
        and its gain over knowing no cell, with intervals.
    alias_of : str or None
        Name of the criterion that this one is a multiple of: both rank the same and grow the same trees.
    terms_at : callable or None
        For losses: from the class totals of the sample, and counts, to the terms.
    losses : callable
        From probabilities, of shape (..., K), to the loss on a row of each class; log loss by default.
    gain_terms : callable or None
        For gains and ratios of gains: the gain, times m, is the decrease of the sum of these.
    spread_terms : callable or None
        For ratios: the gain, times m, is divided by m log2 m less the sum of these; a ratio of which
        lower is better is subtracted from one.
    fast_gains : callable or None
        Compiled: from the counts of first children, of the cell, and the loss on a row that is alone, per
        class, to the decrease of the terms by splitting the cell into two.
    weighted : callable or None
        From codes, classes and importance weights of rows, where the sums of weights will not do.
    of_class : int or None
        Number of the class, of three or more, that it tells from all others: `function` and `judge` take
        counts of these two, and evidence is of them.
    most : float
        Of costs, the largest: neither the mean of new rows nor what a column adds to it is larger.
    """

    name: str
    function: Callable[[CellCounts], float]
    better: Literal["lower", "higher"] = "lower"
    cell_terms: Terms | None = None
    rule: RuleName = "gini"
    estimates_error: bool = False
    judge: Callable[[CellCounts, float], Judged] | None = None
    alias_of: str | None = None
    terms_at: Callable[[NDArray[Any], NDArray[Any]], Floats] | None = None
    losses: Callable[[Floats], Floats] = log_losses
    gain_terms: Terms | None = None
    spread_terms: Terms | None = None
    fast_gains: Callable[[NDArray[Any], NDArray[Any], Floats], Floats] | None = None
    weighted: Callable[[ArrayLike, ArrayLike, ArrayLike], float] | None = None
    of_class: int | None = None
    most: float = float("inf")

    def __call__(self, cells: CellCounts) -> float:
        """Score a partition."""
        return self.function(cells if self.of_class is None else cells.against_rest(self.of_class))

    def of_rows(self, codes: ArrayLike, y_codes: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Score the partition of rows by the code of their cell.

        Whole weights are frequencies, as in `CellCounts`; any others are importance weights.
        """
        cells = CellCounts.from_codes(codes, y_codes, sample_weight=sample_weight)
        if self.weighted is None or sample_weight is None or cells.is_frequency:
            return self(cells)
        return self.weighted(codes, y_codes, sample_weight)

    @property
    def estimates_loss(self) -> bool:
        """Whether it estimates another loss, or an order of the rows, off the sample."""
        return self.judge is not None

    @property
    def terms(self) -> Terms | None:
        """What a refinement should decrease; None where the criterion is not made of terms of the cells."""
        return self.gain_terms or self.cell_terms

    @property
    def is_off_sample(self) -> bool:
        """Whether it estimates an error or another loss off the sample."""
        return self.estimates_error or self.estimates_loss

    @property
    def is_ratio(self) -> bool:
        """Whether the gain in one cell depends on the other cells."""
        return self.spread_terms is not None

    @property
    def is_index(self) -> bool:
        """Whether it is the mean over the cells of a function of their class distributions."""
        return self.cell_terms is not None and self.better == "lower" and not self.estimates_error

    @property
    def reported_rule(self) -> RuleName:
        """The rule whose error off the sample is reported: its own, if it estimates that."""
        return self.rule if self.estimates_error else "gini"

    def from_sums(self, before: float, after: float, n_samples: int, spread: float = 0.0) -> float:
        """Value of a partition from the terms of all samples as one cell, of its cells, and what divides."""
        if not self.is_ratio:
            return (before - after if self.better == "higher" else after) / n_samples
        ratio = (before - after) / spread if spread > 0 else 0.0
        return ratio if self.better == "higher" or spread <= 0 else 1 - ratio


def _ginger_gains(left: NDArray[Any], parent: NDArray[Any], alone: Floats) -> Floats:
    from offsample import _kernels

    return _kernels.ginger_gains(left, parent, alone)


def index_criterion(index: str | IndexFunction, **known: Any) -> Criterion:
    """Criterion of an index function: a name in `INDEX_FUNCTIONS`, or a function like them."""
    name = index if isinstance(index, str) else getattr(index, "__name__", "index")
    return Criterion(name, lambda cells: index_value(cells, index), "lower", index_terms(index), **known)


CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion
    for criterion in (
        Criterion(
            "ginger",
            ginger,
            cell_terms=GiniRule.loo_terms,
            estimates_error=True,
            fast_gains=_ginger_gains,
            weighted=weighted_ginger,
        ),
        Criterion("bayes_loo", bayes_loo, "lower", BayesRule.loo_terms, "bayes", estimates_error=True),
        Criterion("misclassification", misclassification, "lower", BayesRule.training_terms, "bayes"),
        Criterion("gini_error", gini_error, "lower", GiniRule.training_terms),
        Criterion(
            "information_gain",
            information_gain,
            "higher",
            lambda n: -entropy_terms(n),
            gain_terms=entropy_terms,
        ),
        Criterion("gain_ratio", gain_ratio, "higher", gain_terms=entropy_terms, spread_terms=size_terms),
        Criterion("mantaras_distance", mantaras_distance, gain_terms=entropy_terms, spread_terms=joint_terms),
        Criterion("log_loss_loo", log_loss_loo, judge=judge_log_loss, terms_at=log_loss_terms),
        Criterion("brier_loo", brier_loo, judge=judge_brier, terms_at=brier_terms, losses=brier_losses),
        Criterion("auc_lpo", auc_lpo, "higher", judge=judge_auc),
        index_criterion("gini", alias_of="gini_error"),
        index_criterion("entropy"),
        index_criterion("matsushita"),
        index_criterion("error", rule="bayes", alias_of="misclassification"),
    )
}


_NUMERIC: Any = (("variance_loo", variance_loo), ("squared_error_loo", squared_error_loo), ("r2_loo", r2_loo))
NUMERIC_CRITERIA: dict[str, Criterion] = {
    name: Criterion(name, function, "higher" if function is r2_loo else "lower", estimates_error=True)
    for name, function in _NUMERIC
}
NUMERIC_CRITERIA["ginger"] = NUMERIC_CRITERIA["variance_loo"]
_absolute: Any = absolute_error_loo, judge_absolute  # of the numbers themselves
NUMERIC_CRITERIA["absolute_error_loo"] = Criterion("absolute_error_loo", _absolute[0], judge=_absolute[1])
"""Criteria of a numeric target."""


def numeric_criterion(name: str, costs: Any = None, positive: Any = None) -> Criterion:
    """Criterion of this name for a numeric target, of which "ginger" is the variance; raise for others."""
    if costs is not None or positive is not None:
        raise ValueError("costs and positive are for classes: the target is a number (task='regression')")
    if name not in NUMERIC_CRITERIA:
        raise ValueError(
            f"criterion {name!r} is for classes, and the target is a number: expected one of "
            f"{', '.join(map(repr, sorted(NUMERIC_CRITERIA)))}; or give task='classification'"
        )
    return NUMERIC_CRITERIA[name]


def find_criterion(
    name: str, costs: Any = None, n_classes: int = 2, positive: int | None = None
) -> Criterion:
    """Return the criterion of this name; with costs, that of the cheapest class, "cost_loo".

    Of more classes than two, the AUC, and costs of "fn" and "fp", are of the `positive` one against the rest,
    if there is one.
    """
    is_of_one = isinstance(costs, Mapping) or (costs is None and name == "auc_lpo")
    if is_of_one and n_classes > 2 and positive is not None:
        return replace(find_criterion(name, costs, 2, 1), of_class=positive)
    if costs is None and name in CRITERIA:
        return CRITERIA[name]
    if costs is None and name == "cost_loo":
        raise ValueError("criterion 'cost_loo' needs costs, such as {'fn': 10, 'fp': 1}")
    if name in NUMERIC_CRITERIA and name not in CRITERIA:
        raise ValueError(f"criterion {name!r} is for a numeric target (task='regression'), not for classes")
    if costs is None or name not in (*CRITERIA, "cost_loo"):
        raise ValueError(f"criterion must be one of {sorted(CRITERIA)}, got {name!r}")
    if name not in ("ginger", "cost_loo"):
        raise ValueError(f"costs are for criterion 'cost_loo', not for {name!r}: leave out one of the two")
    matrix = checked_costs(costs, n_classes, positive)
    ends = float(matrix.min()), float(matrix.max())
    return Criterion(
        "cost_loo",
        lambda cells: cost_loo(cells, matrix),
        judge=lambda cells, level: judge_loss(cells, CostLoss(matrix), level, *ends),
        most=ends[1],
    )


def score_interval(
    cells: Cells, criterion: str = "log_loss_loo", confidence: float = 0.95, costs: Any = None
) -> tuple[float, float]:
    """Interval for a loss or an AUC on new rows, around its estimate off the sample.

    Parameters
    ----------
    cells : CellCounts, or CellMoments of a numeric target
        With groups (`GroupedCounts`) or time (`HeldOutCounts`, `HeldOutMoments`) these are what varies.
    criterion : {"log_loss_loo", "brier_loo", "auc_lpo", "cost_loo", "ginger", "bayes_loo"}
        For the last two it is `error_interval`. Of a number: "variance_loo" (or "ginger"),
        "squared_error_loo", "r2_loo" and, of `CellNumbers`, "absolute_error_loo".
    confidence : float
        Nominal probability that the interval holds what the rule learned from this sample loses on new rows.
    costs : array-like or dict, optional
        For "cost_loo", as in `cost_loo`.

    Notes
    -----
    How often it holds is what ``python -m tests.statistical.loss_samples`` shows: docs/losses.md.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import auc_lpo, score_interval
    >>> cells = CellCounts([[300, 10], [500, 5], [100, 40]])
    >>> round(auc_lpo(cells), 3), [round(end, 3) for end in score_interval(cells, "auc_lpo")]
    (0.843, [0.775, 0.893])
    """
    check_confidence(confidence)
    cells.require_frequencies("score_interval")
    if isinstance(cells, CellMoments):
        return moments_interval(cells, numeric_criterion(criterion, costs), confidence)
    rarer = rarer_class(cells.class_totals) if cells.n_classes == 2 else None
    known = find_criterion(criterion, costs, cells.n_classes, rarer)
    if known.estimates_error:
        return error_interval(cells, known.rule, confidence)
    if known.judge is None:
        raise ValueError(f"{criterion} is of the sample itself, and has no interval")
    return known.judge(cells, confidence)[1:3]


def listed(criteria: Iterable[Criterion]) -> str:
    """Names of criteria for a sentence, each with its alias."""
    others = {known.alias_of: f" (or {known.name})" for known in CRITERIA.values()}
    return ", ".join(known.name + others.get(known.name, "") for known in criteria if not known.alias_of)
