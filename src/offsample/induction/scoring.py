"""What a criterion says of cells and of splitting one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats
from offsample.criteria import CRITERIA, Criterion, Terms, index_criterion, listed
from offsample.hypotheses import RULES, CellRule
from offsample.information import size_terms

TREE_CRITERIA = {
    name: criterion for name, criterion in CRITERIA.items() if criterion.terms or criterion.terms_at
}
RULE_CRITERIA = {name: criterion for name, criterion in TREE_CRITERIA.items() if not criterion.is_ratio}


def check_criterion(criterion: str | Callable[..., Any], known: dict[str, Criterion]) -> None:
    """Raise if a criterion is neither a function nor known."""
    if not callable(criterion) and criterion not in known:
        hint = {
            "auc_lpo": ", no sum over cells: grow by log_loss_loo, and judge what was grown by the area",
            "cost_loo": ": give costs= instead, which choose the class; grow by log_loss_loo",
        }.get(criterion, "")
        raise ValueError(
            f"criterion must be a function or one of {listed(known.values())}, got {criterion!r}{hint}"
        )


@dataclass(frozen=True)
class Scoring:
    """A criterion as a sum over cells, lower being better, in units of rows."""

    criterion: Criterion
    terms: Terms  # counts of shape (..., K) to what each cell contributes
    falls_back: bool  # whether a row that is alone in its cell is predicted from the cell that was split

    @classmethod
    def of(cls, criterion: str | Callable[..., Any], unseen: str) -> Scoring:
        """Criterion of a learner: a name, or a function of class distributions."""
        chosen = index_criterion(criterion) if callable(criterion) else CRITERIA[criterion]
        terms = chosen.terms or (lambda counts: np.full(counts.shape[:-1], np.nan))  # see `at`
        return cls(chosen, terms, chosen.estimates_error and unseen == "parent")

    def at(self, totals: NDArray[Any], stakes: Floats | None = None) -> Scoring:
        """The same for a sample with these class totals, which the terms of a loss depend on.

        With `stakes`, rows of a class count what they have at stake, all of them together as many as there
        are: then cells are told apart near the share where the decision changes. Losses of probabilities are
        those of the rows as they are.
        """
        known, own = self.criterion, self.terms
        if known.terms_at is not None:
            return replace(self, terms=partial(known.terms_at, totals))
        if stakes is None:
            return self
        weights = stakes * (totals.sum() / (totals @ stakes))
        if known.estimates_error:
            return replace(self, terms=partial(left_out_terms, RULES[known.rule], weights))
        return replace(self, terms=lambda counts: own(counts * weights))

    def gain(self, children: NDArray[Any], parent: NDArray[Any]) -> float:
        """Decrease of the terms by splitting a cell into `children`, of shape (n_children, K)."""
        terms = self.child_terms(np.concatenate([children, parent[None]]), parent)
        return float(terms[-1]) - float(terms[:-1].sum())

    def gains(self, left: NDArray[Any], parent: NDArray[Any]) -> Floats:
        """Decrease of the terms by splits into two, given the first child of each."""
        if self.criterion.fast_gains is not None:
            return self.criterion.fast_gains(left, parent, self.loss_alone(parent))
        terms = self.child_terms(left, parent) + self.child_terms(parent - left, parent)
        return np.asarray(float(self.terms(parent)) - terms)

    def spread(self, counts: NDArray[Any]) -> float:
        """What a ratio divides by, before the first split of a cell with these counts; 0 for no ratio."""
        terms = self.criterion.spread_terms
        return 0.0 if terms is None else float(size_terms(counts) - terms(counts))

    def bits(self, children: NDArray[Any]) -> Floats:
        """Increase of that by splitting a cell into `children`, of shape (..., n_children, K)."""
        terms = self.criterion.spread_terms
        if terms is None:
            return np.zeros(children.shape[:-2])
        return np.asarray(terms(children.sum(axis=-2)) - terms(children).sum(axis=-1))

    def child_terms(self, children: NDArray[Any], parent: NDArray[Any]) -> Floats:
        """Terms of cells, of shape (..., K), that a cell with the counts `parent` is split into."""
        terms = self.terms(children)
        if self.falls_back:
            alone = children.sum(axis=-1) == 1
            if alone.any():
                terms[alone] = children[alone] @ self.loss_alone(parent)
        return terms

    def held_out_losses(self, counts: NDArray[Any]) -> Floats:
        """Loss, on a new row of each class, of what cells with these counts, of shape (..., K), predict."""
        if not self.criterion.estimates_loss:
            return 1 - RULES[self.criterion.rule].from_counts(counts)
        return self.criterion.losses(
            (counts + 1 / counts.shape[-1]) / (counts.sum(axis=-1, keepdims=True) + 1)
        )

    def loss_alone(self, parent: NDArray[Any]) -> Floats:
        """Loss, per class, on a row that is alone in its cell: what is known of the cell that was split."""
        if self.falls_back:
            return loss_without(parent, RULES[self.criterion.rule])
        return np.full(len(parent), 1 - 1 / len(parent))


def loss_without(counts: NDArray[Any], rule: type[CellRule]) -> Floats:
    """Loss, on a row of each class of a cell, of the rule that has seen the other rows."""
    others = np.maximum(counts - np.eye(len(counts), dtype=counts.dtype), 0)
    return np.asarray(1 - np.diagonal(rule.from_counts(others)))


def left_out_terms(rule: type[CellRule], weights: Floats, counts: NDArray[Any]) -> Floats:
    """Weight of the rows of cells, of shape (..., K), that a rule which has seen the others gets wrong.

    Rows of a class count by its weight, also in what the rule says: with weights of one, `rule.loo_terms`.
    """
    weighted = counts * weights
    total = np.zeros(counts.shape[:-1])
    for k, weight in enumerate(weights):
        others = weighted.copy()
        others[..., k] = np.maximum(counts[..., k] - 1, 0) * weight
        total += weighted[..., k] * (1 - rule.from_counts(others)[..., k])
    return total


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
