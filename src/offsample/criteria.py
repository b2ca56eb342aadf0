"""Criteria: what the counts of a partition say of its error, on the sample and off it.

`CRITERIA` holds all that has a name, and rankers, trees, rules and the command line take the same names. Two
criteria have two: "gini_error" and "misclassification" are errors; the index functions "gini" and "error",
which are 1 where all classes are equally frequent, are K / (K - 1) times as large, and choose the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._losses import auc_lpo, brier_loo, cost_loo, log_loss_loo
from offsample._typing import Floats
from offsample._votes import win_probability
from offsample.counts import CellCounts
from offsample.hypotheses import BayesRule, GiniRule, left_out_error
from offsample.indexes import INDEX_FUNCTIONS, IndexFunction, index_terms, index_value, is_permissible
from offsample.information import (
    adjusted_mutual_information,
    description_length_gain,
    description_terms,
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
    "adjusted_mutual_information",
    "auc_lpo",
    "bayes_loo",
    "brier_loo",
    "cost_loo",
    "description_length_gain",
    "error_interval",
    "gain_ratio",
    "ginger",
    "gini_error",
    "index_value",
    "information_gain",
    "is_permissible",
    "log_loss_loo",
    "mantaras_distance",
    "misclassification",
    "u_statistic_error",
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


def weighted_ginger(
    codes: ArrayLike, y_codes: ArrayLike, sample_weight: ArrayLike, n_classes: int | None = None
) -> float:
    """Ginger of a sample with importance weights: the weighted mean of the leave-one-out losses.

    ``sum_i w_i L_i / sum_i w_i`` with ``L_i = 1 - (W_{v,y_i} - w_i)/(W_v - w_i)``, and (K - 1)/K for a row
    that is alone in its cell. It needs the weight of each row, not only their sums. A common factor of the
    weights changes nothing; equal weights give `ginger`.

    Examples
    --------
    >>> from offsample.criteria import weighted_ginger
    >>> round(weighted_ginger([0, 0, 0, 1], [0, 0, 1, 1], [1.0, 1.0, 0.5, 0.5]), 4)
    0.4722
    """
    cell, label = np.asarray(codes), np.asarray(y_codes)
    weight = np.asarray(sample_weight, dtype=float)
    if not cell.shape == label.shape == weight.shape:
        raise ValueError(
            f"codes, y_codes and sample_weight differ in shape: {cell.shape}, {label.shape}, {weight.shape}"
        )
    if not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
        raise ValueError("sample_weight must be finite and at least 0, with a positive sum")
    keep = weight > 0
    cell, label, weight = cell[keep], label[keep], weight[keep]
    n_classes = n_classes if n_classes is not None else int(label.max()) + 1
    in_class = np.bincount(cell * n_classes + label, weight)[cell * n_classes + label]
    in_cell = np.bincount(cell, weight)[cell]
    alone = np.bincount(cell)[cell] == 1
    right = (in_class - weight) / np.where(alone, 1, in_cell - weight)
    loss = np.where(alone, (n_classes - 1) / n_classes, 1 - right)
    return float(weight @ loss / weight.sum())


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


def u_statistic_error(cells: CellCounts, order: int) -> float:
    """Estimated error of the majority vote of `order` other rows of the cell.

    The family between `ginger` (order 1) and `bayes_loo` (order c_v - 1 or more): each row is predicted by
    the majority of `order` others of its cell, drawn without replacement, averaged over all draws. Cells
    with fewer rows use all of them. For two classes an even order equals the odd one before it. Orders
    of 5 to 9 often estimate the majority rule's error better than leave-one-out: a little bias for much
    less variance.

    Parameters
    ----------
    cells : CellCounts
    order : int
        Number of voting rows, at least 1.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import u_statistic_error
    >>> cells = CellCounts([[10, 20], [20, 10]])
    >>> [round(u_statistic_error(cells, order), 4) for order in (1, 3, 9, 29)]
    [0.4598, 0.4379, 0.3896, 0.3333]
    """
    if order < 1:
        raise ValueError(f"order is a number of voting rows and must be at least 1, got {order}")
    cells.require_frequencies("u_statistic_error")
    left_out, others, times = cells.left_out()
    terms = np.zeros(len(times))
    for k in range(cells.n_classes):
        terms += left_out[:, k] * (1 - _chance_to_win(others(k), k, order))
    return float(times @ terms) / cells.n_samples


def _chance_to_win(pool: NDArray[Any], k: int, order: int) -> Floats:
    """Probability that class k wins the vote of `order` rows of each pool, or of all where they are fewer."""
    chance = BayesRule.from_counts(pool)[:, k]
    large = pool.sum(axis=1) > order
    if large.any():
        chance[large] = win_probability(pool[large], k, order)
    return chance


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
    estimates_loss : bool
        Whether it estimates another loss, or an order of the rows, off the sample.
    alias_of : str or None
        Name of the criterion that this one is a multiple of: both rank the same and grow the same trees.
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
    """

    name: str
    function: Callable[[CellCounts], float]
    better: Literal["lower", "higher"] = "lower"
    cell_terms: Terms | None = None
    rule: RuleName = "gini"
    estimates_error: bool = False
    estimates_loss: bool = False
    alias_of: str | None = None
    gain_terms: Terms | None = None
    spread_terms: Terms | None = None
    fast_gains: Callable[[NDArray[Any], NDArray[Any], Floats], Floats] | None = None
    weighted: Callable[[ArrayLike, ArrayLike, ArrayLike], float] | None = None

    def __call__(self, cells: CellCounts) -> float:
        """Score a partition."""
        return self.function(cells)

    def of_rows(self, codes: ArrayLike, y_codes: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Score the partition of rows by the code of their cell.

        Whole weights are frequencies, as in `CellCounts`; any others are importance weights.
        """
        cells = CellCounts.from_codes(codes, y_codes, sample_weight=sample_weight)
        if self.weighted is None or sample_weight is None or cells.is_frequency:
            return self(cells)
        return self.weighted(codes, y_codes, sample_weight)

    @property
    def terms(self) -> Terms | None:
        """What a refinement should decrease; None where the criterion is not made of terms of the cells."""
        return self.gain_terms or self.cell_terms

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
        Criterion("adjusted_mutual_information", adjusted_mutual_information, "higher"),
        Criterion("description_length_gain", description_length_gain, "higher", gain_terms=description_terms),
        Criterion("log_loss_loo", log_loss_loo, estimates_loss=True),
        Criterion("brier_loo", brier_loo, estimates_loss=True),
        Criterion("auc_lpo", auc_lpo, "higher", estimates_loss=True),
        index_criterion("gini", alias_of="gini_error"),
        index_criterion("entropy"),
        index_criterion("matsushita"),
        index_criterion("error", rule="bayes", alias_of="misclassification"),
    )
}


def listed(criteria: Iterable[Criterion]) -> str:
    """Names of criteria for a sentence, each with its alias."""
    others = {known.alias_of: f" (or {known.name})" for known in CRITERIA.values()}
    return ", ".join(known.name + others.get(known.name, "") for known in criteria if not known.alias_of)
