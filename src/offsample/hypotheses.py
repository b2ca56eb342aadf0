"""The two rules that predict a class from the counts of a row's cell, and their errors.

References
----------
- S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization Properties. JMLR 9.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._counting import over_classes
from offsample._typing import Floats
from offsample.counts import CellCounts, GroupedCounts, HeldOutCounts

__all__ = ["RULES", "BayesRule", "CellRule", "GiniRule", "left_out_error", "weighted_ginger"]


class CellRule(ABC):
    """A rule that predicts the classes of a cell with probabilities that depend on its counts alone.

    Counts have the shape (..., K). Terms are what each cell contributes to m times an error of the rule; an
    empty cell contributes 0.
    """

    # Whether a class has a probability that depends on its own count and the sum of all alone.
    is_linear = False

    @staticmethod
    @abstractmethod
    def from_counts(counts: NDArray[Any]) -> Floats:
        """Return the class probabilities predicted in cells with these counts; uniform in an empty one."""

    @staticmethod
    @abstractmethod
    def training_terms(counts: NDArray[Any]) -> Floats:
        """Return the expected number of rows of the cell that the rule gets wrong."""

    @staticmethod
    @abstractmethod
    def loo_terms(counts: NDArray[Any]) -> Floats:
        """Return the expected number of rows that the rule gets wrong when each is left out."""

    @classmethod
    def losses(cls, counts: NDArray[Any]) -> Floats:
        """Probability that a row of each class is predicted wrong, where these counts are known."""
        return np.asarray(1 - cls.from_counts(counts))

    @classmethod
    def held_out_terms(cls, counts: NDArray[Any], others: NDArray[Any]) -> Floats:
        """Expected number of rows with these counts that the rule learned from the others gets wrong."""
        return np.asarray((counts * cls.losses(others)).sum(axis=-1))

    @staticmethod
    @abstractmethod
    def loo_pair_terms(counts: NDArray[Any], baseline: Floats) -> Floats:
        """Sum the products of the losses of two rows, over ordered pairs of different classes.

        A loss is that of the rule that has seen neither row, minus the ``baseline`` of the row's class.
        """


class GiniRule(CellRule):
    """Predicts a class at random, with the frequencies of the classes in the cell.

    Its training error is the Gini index, Eq. (2) and (4) of Sabato and Shalev-Shwartz (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.hypotheses import GiniRule
    >>> GiniRule.from_counts(np.array([[3, 1], [0, 0]])).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """

    is_linear = True

    @staticmethod
    def from_counts(counts: NDArray[Any]) -> Floats:
        """Return the class probabilities predicted in cells with these counts."""
        size = counts.sum(axis=-1, keepdims=True)
        uniform = np.full_like(counts, 1 / counts.shape[-1], dtype=float)
        return np.asarray(np.divide(counts, size, out=uniform, where=size > 0))

    @staticmethod
    def training_terms(counts: NDArray[Any]) -> Floats:
        """Return the Gini index of the cell times its size."""
        size = over_classes(counts)
        return np.asarray(_unequal_pairs(counts) / np.where(size > 0, size, 1))

    @staticmethod
    def loo_terms(counts: NDArray[Any]) -> Floats:
        """Return the term of the Ginger criterion."""
        size = over_classes(counts)
        alone = (size == 1) * (1 - 1 / counts.shape[-1])
        return np.asarray(np.where(size > 1, _unequal_pairs(counts) / np.maximum(size - 1, 1), alone))

    @staticmethod
    def loo_pair_terms(counts: NDArray[Any], baseline: Floats) -> Floats:
        """Sum the products of the losses of two rows, over ordered pairs of different classes."""
        left = counts.sum(axis=-1, keepdims=True) - 2
        unseen = 1 - 1 / counts.shape[-1]
        loss = np.where(left > 0, 1 - (counts - 1) / np.maximum(left, 1), unseen) - baseline
        return _unequal_products(counts * loss)


class BayesRule(CellRule):
    """Predicts the most frequent class of the cell; tied classes share the probability.

    Its training error is the misclassification error, Eq. (1) and (5) of Sabato and Shalev-Shwartz (2008). Of
    all rules that are symmetric in values and classes it has the smallest expected error (Theorem 3).

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.hypotheses import BayesRule
    >>> BayesRule.from_counts(np.array([[3, 1], [2, 2]])).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    @staticmethod
    def from_counts(counts: NDArray[Any]) -> Floats:
        """Return the class probabilities predicted in cells with these counts."""
        top = counts == counts.max(axis=-1, keepdims=True)
        return np.asarray(top / top.sum(axis=-1, keepdims=True))

    @staticmethod
    def training_terms(counts: NDArray[Any]) -> Floats:
        """Count the rows of the cell that are not of its most frequent class."""
        return np.asarray(counts.sum(axis=-1) - counts.max(axis=-1), dtype=float)

    @staticmethod
    def loo_terms(counts: NDArray[Any]) -> Floats:
        """Return the expected number of rows that the rule gets wrong when each is left out."""
        # A row is predicted right only if its class still leads, alone or tied, without the row: so only
        # rows of a class that leads alone. With a lead of one they tie with all runners-up.
        top, second, n_top, n_second = _leaders(counts)
        share = np.where(top - 1 > second, 1.0, 1 / (n_second + 1))
        return np.asarray(counts.sum(axis=-1) - np.where(n_top == 1, top * share, 0.0), dtype=float)

    @staticmethod
    def loo_pair_terms(counts: NDArray[Any], baseline: Floats) -> Floats:
        """Sum the products of the losses of two rows, over ordered pairs of different classes."""
        # All lose 1, except where the class of one of the two still leads without them. Two classes that lead
        # together and lose one row each still lead, tied with each other and perhaps with the next. A class
        # that leads alone keeps its lead or shares it with the remaining runners-up; then the other row's
        # class cannot lead.
        top, second, n_top, n_second = _leaders(counts)
        leads = counts == top[..., None]
        runs = (counts == second[..., None]) & ~leads
        excess = counts * (1 - baseline)
        total = excess.sum(axis=-1)

        tied = np.where(top - 1 > second, 2, 2 + n_second)
        # (1 - b_a)(1 - b_b) becomes (1 - 1/t - b_a)(1 - 1/t - b_b), in both orders
        both = 2 * top**2 / tied * (1 / tied - (leads * (1 - baseline)).sum(axis=-1))
        others = total - (leads * excess).sum(axis=-1)
        runners_up = (runs * excess).sum(axis=-1)
        shared = runners_up / np.maximum(n_second, 1) + (others - runners_up) / (n_second + 1)
        alone = -2 * top * np.where(top - 1 > second, others, shared)
        change = np.where(n_top == 2, both, np.where(n_top == 1, alone, 0.0))
        return np.asarray(_unequal_products(excess) + change)


def _unequal_pairs(counts: NDArray[Any]) -> Floats:
    """Count the ordered pairs of rows of different classes, without cancellation, in float64."""
    counts = counts.astype(np.float64)
    if counts.shape[-1] == 2:  # the same number
        return np.asarray(2 * counts[..., 0] * counts[..., 1])
    return over_classes(counts * (over_classes(counts)[..., None] - counts))


def _unequal_products(values: Floats) -> Floats:
    """Sum the products of two different entries, in both orders."""
    return np.asarray(values.sum(axis=-1) ** 2 - (values**2).sum(axis=-1))


def _leaders(counts: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return the largest count, the next smaller one, and how many classes have each."""
    top = counts.max(axis=-1)
    below = np.where(counts == top[..., None], -1, counts)
    second = below.max(axis=-1)
    n_top = (counts == top[..., None]).sum(axis=-1)
    n_second = (below == second[..., None]).sum(axis=-1)
    # Where all classes are equal there is no second.
    none = second < 0
    return top, np.where(none, 0, second), n_top, np.where(none, 0, n_second)


RULES: dict[str, type[CellRule]] = {"gini": GiniRule, "bayes": BayesRule}


def left_out_error(cells: CellCounts, rule: type[CellRule]) -> float:
    """Error of a rule on rows that it has not seen: left out alone, with their group, or with the future."""
    if isinstance(cells, HeldOutCounts):
        return float(cells.losses(rule).mean())
    if isinstance(cells, GroupedCounts) and not cells.of_single_rows:
        if rule.is_linear:
            return float(cells.sums.errors.sum()) / cells.n_samples
        terms = rule.held_out_terms(cells.table.counts, cells.table.others)
        return float(terms.sum()) / cells.n_samples
    cells = cells.profile()
    return float(cells.multiplicity @ rule.loo_terms(cells.counts)) / cells.n_samples


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
