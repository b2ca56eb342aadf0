"""Criteria: what the counts of a partition say of its error, on the sample and off it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, xlogy

from offsample._votes import vote_terms
from offsample.counts import CellCounts
from offsample.hypotheses import BayesRule, GiniRule
from offsample.indexes import INDEX_FUNCTIONS, entropy_bits, index_terms, index_value, is_permissible
from offsample.intervals import error_interval

__all__ = [
    "CRITERIA",
    "INDEX_FUNCTIONS",
    "Criterion",
    "adjusted_mutual_information",
    "bayes_loo",
    "description_length_gain",
    "error_interval",
    "gain_ratio",
    "ginger",
    "gini_error",
    "index_value",
    "information_gain",
    "is_permissible",
    "mantaras_distance",
    "misclassification",
    "u_statistic_error",
    "weighted_ginger",
]

Floats = NDArray[np.float64]


def _entropy_terms(counts: NDArray[Any]) -> Floats:
    """Bits of entropy of the classes in a cell, times its size."""
    size = counts.sum(axis=-1)
    terms = xlogy(size, size) - xlogy(counts, counts).sum(axis=-1)
    return np.asarray(np.maximum(terms, 0) / np.log(2))


def _mean_term(cells: CellCounts, terms: Floats) -> float:
    return float(cells.multiplicity @ terms / cells.n_samples)


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
    return _mean_term(cells, BayesRule.training_terms(cells.counts))


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
    return _mean_term(cells, GiniRule.training_terms(cells.counts))


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
        Frequencies; for importance weights see `weighted_ginger`.

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
    cells = cells.profile()
    return _mean_term(cells, GiniRule.loo_terms(cells.counts))


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
    cells = cells.profile()
    return _mean_term(cells, BayesRule.loo_terms(cells.counts))


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
    cells = cells.profile()
    terms = BayesRule.loo_terms(cells.counts)
    large = cells.cell_sizes - 1 > order
    if large.any():
        terms[large] = vote_terms(cells.counts[large], order)
    return _mean_term(cells, terms)


def information_gain(cells: CellCounts) -> float:
    """Mutual information of cell and class in the sample, in bits.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import information_gain
    >>> information_gain(CellCounts([[4, 0], [0, 4]]))
    1.0
    """
    cells = cells.profile()
    within = _mean_term(cells, _entropy_terms(cells.counts))
    return max(0.0, float(entropy_bits(cells.class_totals / cells.n_samples)) - within)


def _cell_bits(cells: CellCounts) -> float:
    """Entropy of the cell, in bits."""
    share = cells.cell_sizes / cells.n_samples
    return float(cells.multiplicity @ -xlogy(share, share) / np.log(2))


def gain_ratio(cells: CellCounts) -> float:
    """Information gain divided by the entropy of the cell (Quinlan 1993); 0 for a single cell.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import gain_ratio
    >>> gain_ratio(CellCounts([[1, 0], [0, 1]], multiplicity=[2, 2]))
    0.5
    """
    cells = cells.profile()
    bits = _cell_bits(cells)
    return information_gain(cells) / bits if bits > 0 else 0.0


def mantaras_distance(cells: CellCounts) -> float:
    """Normalised distance between the partition and the classes, 1 - I(X;Y)/H(X,Y) (de Mantaras 1991).

    In [0, 1]; 0 where the cells are the classes.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import mantaras_distance
    >>> mantaras_distance(CellCounts([[4, 0], [0, 4]]))
    0.0
    """
    cells = cells.profile()
    joint = _cell_bits(cells) + _mean_term(cells, _entropy_terms(cells.counts))
    return 1 - min(1.0, information_gain(cells) / joint) if joint > 0 else 0.0


def adjusted_mutual_information(cells: CellCounts) -> float:
    """Mutual information adjusted for chance: 0 for a shuffled column in expectation, 1 for a copy.

    ``(I - E[I]) / ((H(X) + H(Y))/2 - E[I])``, with the expectation over shuffles of the classes
    (Vinh, Epps & Bailey 2010). A comparator: it finds signals well, but its value is no error rate.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import adjusted_mutual_information
    >>> adjusted_mutual_information(CellCounts([[4, 0], [0, 4]]))
    1.0
    >>> round(adjusted_mutual_information(CellCounts([[3, 1], [1, 3]])), 4)
    0.0835
    """
    cells.require_frequencies("adjusted_mutual_information")
    cells = cells.profile()
    expected = _expected_information(cells)
    mean_bits = (_cell_bits(cells) + float(entropy_bits(cells.class_totals / cells.n_samples))) / 2
    if mean_bits == 0:  # one cell and one class
        return 1.0
    room = mean_bits - expected
    # Where every cell is a single row nothing is left to adjust.
    return float((information_gain(cells) - expected) / room) if room > 1e-12 * mean_bits else 0.0


def _expected_information(cells: CellCounts) -> float:
    """Mean information gain, in bits, when the classes are shuffled among the rows."""
    m = int(cells.n_samples)
    sizes, row = np.unique(cells.cell_sizes, return_inverse=True)
    times = np.bincount(row, cells.multiplicity)
    expected = 0.0
    for total in cells.class_totals:
        if not total:
            continue
        for size, n_cells in zip(sizes, times, strict=True):
            # The count of this class in such a cell is hypergeometric.
            n = np.arange(max(1, size + total - m), min(size, total) + 1)
            log_probability = (
                _log_choose(size, n) + _log_choose(m - size, total - n) - _log_choose(m, np.asarray(total))
            )
            bits = n / m * np.log2(m * n / (float(size) * float(total)))
            expected += float(n_cells * (np.exp(log_probability) @ bits))
    return expected


def _log_choose(n: int, k: NDArray[np.int64]) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def description_length_gain(cells: CellCounts) -> float:
    """Bits per row saved by coding the classes cell by cell (Kononenko 1995); negative where none are.

    The length of a cell's code is that of its class counts, ``log2 C(c + K - 1, K - 1)``, and of which
    row has which, ``log2 (c! / (n_1! … n_K!))``. A comparator.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import description_length_gain
    >>> round(description_length_gain(CellCounts([[10, 0], [0, 10]])), 4)
    0.7484
    """
    cells.require_frequencies("description_length_gain")
    cells = cells.profile()
    whole = float(_description_terms(np.asarray(cells.class_totals)))
    return whole / cells.n_samples - _mean_term(cells, _description_terms(cells.counts))


def _description_terms(counts: NDArray[Any]) -> Floats:
    size, extra = counts.sum(axis=-1), counts.shape[-1] - 1
    of_counts = gammaln(size + extra + 1) - gammaln(size + 1) - gammaln(extra + 1)
    of_rows = gammaln(size + 1) - gammaln(counts + 1).sum(axis=-1)
    return np.asarray((of_counts + of_rows) / np.log(2))


@dataclass(frozen=True)
class Criterion:
    """A criterion of a partition, and what an algorithm may know of it.

    Attributes
    ----------
    name : str
    function : callable
        Takes `CellCounts` to a float.
    better : {"lower", "higher"}
    estimates_error : bool
        Whether its value estimates an error off the sample.
    cell_terms : callable or None
        For additive criteria, what a cell with counts of shape (..., K) contributes: summed over the cells
        and divided by the number of samples, it is the criterion, or (information gain) the criterion
        less the entropy of the classes, which no partition changes. So the effect of refining one cell
        is the change of its terms.
    """

    name: str
    function: Callable[[CellCounts], float]
    better: Literal["lower", "higher"]
    estimates_error: bool = False
    cell_terms: Callable[[NDArray[Any]], Floats] | None = None

    def __call__(self, cells: CellCounts) -> float:
        """Score a partition."""
        return self.function(cells)


def _index_criterion(name: str) -> Criterion:
    return Criterion(name, lambda cells: index_value(cells, name), "lower", cell_terms=index_terms(name))


CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion
    for criterion in (
        Criterion("ginger", ginger, "lower", estimates_error=True, cell_terms=GiniRule.loo_terms),
        Criterion("bayes_loo", bayes_loo, "lower", estimates_error=True, cell_terms=BayesRule.loo_terms),
        Criterion("misclassification", misclassification, "lower", cell_terms=BayesRule.training_terms),
        Criterion("gini_error", gini_error, "lower", cell_terms=GiniRule.training_terms),
        Criterion("information_gain", information_gain, "higher", cell_terms=lambda n: -_entropy_terms(n)),
        Criterion("gain_ratio", gain_ratio, "higher"),
        Criterion("mantaras_distance", mantaras_distance, "lower"),
        Criterion("adjusted_mutual_information", adjusted_mutual_information, "higher"),
        Criterion("description_length_gain", description_length_gain, "higher"),
        *map(_index_criterion, INDEX_FUNCTIONS),
    )
}
