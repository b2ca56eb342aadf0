"""What a criterion says of cells and of splitting one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from offsample.criteria import CRITERIA
from offsample.hypotheses import RULES, CellRule
from offsample.indexes import index_terms

Floats = NDArray[np.float64]

NAMES = (
    "ginger",
    "bayes_loo",
    "gini",
    "entropy",
    "matsushita",
    "error",
    "information_gain",
    "gain_ratio",
)
_LOO_RULES = {"ginger": "gini", "bayes_loo": "bayes"}


@dataclass(frozen=True)
class Scoring:
    """A criterion as a sum over cells, lower being better, in units of rows.

    Attributes
    ----------
    name : str
    terms : callable
        Counts of shape (..., K) to what each cell contributes.
    rule : CellRule class or None
        Of criteria that estimate the error off the sample: the rule whose leave-one-out error it is.
    falls_back : bool
        Whether a row that is alone in its cell is predicted from the cell that was split.
    """

    name: str
    terms: Callable[[NDArray[Any]], Floats]
    rule: type[CellRule] | None
    falls_back: bool

    @classmethod
    def of(cls, criterion: str | Callable[..., Any], unseen: str) -> Scoring:
        """Criterion of a `TreeClassifier`."""
        if callable(criterion):
            return cls(getattr(criterion, "__name__", "index"), index_terms(criterion), None, False)
        # The gain ratio is the information gain divided by the bits of the cell.
        chosen = CRITERIA["information_gain" if criterion == "gain_ratio" else criterion]
        terms = chosen.cell_terms
        assert terms is not None
        signed = terms if chosen.better == "lower" else lambda counts: -terms(counts)
        rule = RULES[_LOO_RULES[criterion]] if criterion in _LOO_RULES else None
        return cls(criterion, signed, rule, rule is not None and unseen == "parent")

    @property
    def is_ratio(self) -> bool:
        """Whether the criterion is not a sum over cells."""
        return self.name == "gain_ratio"

    def child_terms(self, children: NDArray[Any], parent: NDArray[Any]) -> Floats:
        """Terms of cells, of shape (..., K), that a cell with the counts `parent` is split into."""
        terms = self.terms(children)
        if self.falls_back:
            alone = children.sum(axis=-1) == 1
            if alone.any():
                terms[alone] = children[alone] @ self.loss_alone(parent)
        return terms

    def loss_alone(self, parent: NDArray[Any]) -> Floats:
        """Loss, per class, on a row that is alone in its cell: what is known of the cell that was split."""
        if self.falls_back and self.rule is not None:
            return loss_without(parent, self.rule)
        return np.full(len(parent), 1 - 1 / len(parent))


def loss_without(counts: NDArray[Any], rule: type[CellRule]) -> Floats:
    """Loss, on a row of each class of a cell, of the rule that has seen the other rows."""
    others = np.maximum(counts - np.eye(len(counts), dtype=counts.dtype), 0)
    return np.asarray(1 - np.diagonal(rule.from_counts(others)))


def cell_bits(sizes: NDArray[Any]) -> Floats:
    """What cells of these sizes subtract from m log2 m to give m times the entropy of the cell."""
    return np.asarray(xlogy(sizes, sizes) / np.log(2))


def majority_terms(counts: NDArray[Any]) -> Floats:
    """Estimated errors off the sample, in rows, of the majority rule in cells of shape (..., K).

    The training errors plus their expected optimism. With D the lead of the first class over the second and
    s its standard deviation, this optimism is ``E[s φ(D / s)]`` where D is the mean lead; leave-one-out
    estimates it by a spike at a tie, of which the smooth ``√5 s φ(2 D / s)`` is the convolution with a
    normal law: unbiased at a tie, a little too large elsewhere, and of bounded variance.
    """
    if counts.shape[-1] == 1:
        return np.zeros(counts.shape[:-1])
    ordered = np.sort(counts, axis=-1)[..., -2:].astype(float)
    first, second = ordered[..., 1], ordered[..., 0]
    size = counts.sum(axis=-1)
    lead = first - second
    s = np.sqrt(np.maximum(first + second - lead**2 / np.maximum(size, 1), 0))
    density = np.exp(-2 * (lead / np.where(s > 0, s, 1)) ** 2) / np.sqrt(2 * np.pi)
    return np.asarray(size - first + np.where(s > 0, np.sqrt(5) * s * density, 0.0))
