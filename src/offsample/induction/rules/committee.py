"""Decision committees: conjunctions that vote for or against a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsample._typing import Ints
from offsample.induction.evidence import log_p_many_cells
from offsample.induction.forms import Case, Conditions, Op
from offsample.induction.rules.base import RuleClassifier
from offsample.induction.rules.models import Rule, Truth, conjunction, distinct
from offsample.induction.rules.partition import Options, Partition, Sample
from offsample.induction.rules.symmetric_function import SymmetricModel, moved_up


@dataclass(frozen=True)
class Vote(Rule):
    """A conjunction, the class that it votes for, and the training rows of each class where it is true."""

    right: int  # of them, those of that class

    def __str__(self) -> str:
        return f"{self.condition}: one vote for {self.prediction} ({self.right} of {sum(self.counts)} rows)"


@dataclass(frozen=True, eq=False)
class CommitteeModel(SymmetricModel):
    """Conjunctions with votes of -1 and 1; the cells are the sums of votes from `least` on."""

    monomials: tuple[tuple[int, ...], ...]
    votes: tuple[int, ...]
    monomial_counts: Ints

    @property
    def least(self) -> int:
        """Smallest possible sum."""
        return -sum(vote < 0 for vote in self.votes)

    def _cell(self, tests: Conditions) -> tuple[Op, list[Any]]:
        votes = zip(self.monomials, self.votes, strict=True)
        return Op("+", (-self.least, *(Case(((tests(one), vote),), 0) for one, vote in votes))), []

    def cells(self, truth: Truth, n_rows: int) -> Ints:
        """Sum of the votes, less the smallest possible."""
        total = np.full(n_rows, -self.least, np.int64)
        for monomial, vote in zip(self.monomials, self.votes, strict=True):
            total += vote * conjunction(truth, monomial, n_rows)
        return total


class _CommitteePartition(Partition):
    """One cell for each sum of votes. As those for are where they are true, those against are where not."""

    def __init__(self, sample: Sample, learner: Any) -> None:
        self._term: tuple[int, ...] = ()
        self._inside = np.ones(len(sample.y), bool)  # rows of the conjunction that grows
        self._vote = 0  # its vote
        self._votes = np.zeros(0, np.int64)  # and that with each literal more
        self._done: list[tuple[tuple[int, ...], int, Ints]] = []  # conjunctions, votes and class counts
        super().__init__(sample, learner)

    def cell_counts(self) -> Ints:
        moves = self._inside if self._vote > 0 else ~self._inside
        return self.sample.totals(self.cell + moves * (self._vote != 0), len(self._done) + 2)

    def take(self, literals: tuple[int, ...]) -> None:
        self._term = (*self._term, *literals)
        self._inside = self._inside & self.sample.index.truth(literals[0])
        self._vote = int(self._votes[literals[0]])

    def close(self) -> bool:
        if not self._term:
            return False
        self.cell = self.cell + (self._inside if self._vote > 0 else ~self._inside)
        self._done.append(self._growing())
        self._inside, self._term, self._vote = np.ones(len(self.sample.y), bool), (), 0
        return True

    def _growing(self) -> tuple[tuple[int, ...], int, Ints]:
        return self._term, self._vote, self.sample.counts_of(self._inside)

    def options(self) -> Options | None:
        """Literals that do not make a conjunction that is there already, each with its vote."""
        if self.learner.literals is not None and len(self._term) >= self.learner.literals:
            return None
        sample, n = self.sample, len(self._done) + 1
        inside = np.where(self._inside, self.cell, -1)
        within, whole = sample.totals(inside, n), sample.totals(self.cell, n)
        true = sample.literal_counts(inside, n, within)
        # A vote is for the class that is more frequent where the conjunction is true than elsewhere.
        counts, totals = true.sum(axis=0), whole.sum(axis=0)
        is_for = counts[:, 1] * totals.sum() >= counts.sum(axis=1) * totals[1]
        self._votes = np.where(is_for, 1, -1)
        up = np.where(is_for[:, None], true, whole[:, None, :] - true)
        terms = sample.scoring.terms
        gain = float(terms(self.cell_counts()).sum()) - terms(moved_up(whole, up)).sum(axis=0)
        drawn = counts.sum(axis=1)
        valid = (drawn > 0) & (drawn < within.sum())
        for monomial in (set(one) for one, *_ in self._done):
            if len(monomial) == len(self._term) + 1 and monomial > {*self._term}:
                valid[list(monomial - {*self._term})] = False
        return Options(
            np.where(valid, gain, -np.inf),
            np.tile(sample.log_tried, 2),
            lambda which: log_p_many_cells(true[:, which], within),
            cell=inside,
        )

    def model(self) -> CommitteeModel:
        """The votes, and what the rows with each sum of them are."""
        found = [*self._done, self._growing()] if self._term else self._done
        monomials, votes, counts = zip(*found, strict=True) if found else ((), (), ())
        cells = self.cell_counts()[: len(found) + 1]
        of_monomials = np.array(counts, np.int64).reshape(len(found), self.sample.n_classes)
        return CommitteeModel(tuple(distinct(monomials)), cells, monomials, votes, of_monomials)


class CommitteeClassifier(RuleClassifier):
    """Decision committee: conjunctions of tests, each with one vote for or against a class.

    Conjunctions grow literal by literal, each with a vote for the class that is more frequent where it is
    true than elsewhere, as long as the criterion of the partition by the sum of the votes improves. The sum
    decides: for the majority of the training rows that have it, so that the training error is at most half of
    every permissible index. For two classes.

    Parameters
    ----------
    max_size : int, default=None
        The largest number of literals in all conjunctions.
    literals : int, default=None
        The largest number of literals in a conjunction.
    criterion, stopping, n_thresholds, categorical_features, costs, class_weight, random_state
        See `DecisionListClassifier`.

    Attributes
    ----------
    rules_ : list of Vote
    counts_ : CellCounts
        Training rows with each sum of votes.
    path_, size_, estimated_error_, estimated_error_interval_
        See `DecisionListClassifier`; a step of the path is a literal.

    References
    ----------
    .. [1] R. Nock (2002). Inducing interpretable voting classifiers without trading accuracy for
       simplicity. JAIR 17.
    .. [2] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria. Theoret. Comput. Sci. 321.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.induction import CommitteeClassifier
    >>> X = np.random.default_rng(0).integers(0, 2, (2000, 8))
    >>> y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])
    >>> print(CommitteeClassifier().fit(X, y).to_text())
    x3 = 1 and x2 = 1: one vote for 1 (501 of 501 rows)
    x1 = 1 and x0 = 1: one vote for 1 (501 of 501 rows)
    without a majority of votes: 0
    """

    _partition = _CommitteePartition

    def _rules(self, feature_names: Sequence[Any] | None = None) -> list[Any]:
        assert isinstance(self.model_, CommitteeModel)
        model, rules = self.model_, list[Any]()
        for monomial, vote, counts in zip(model.monomials, model.votes, model.monomial_counts, strict=True):
            condition = self.vocabulary_.describe(monomial, feature_names)
            k = 1 if vote > 0 else 0
            rules.append(Vote(condition, self.classes_[k], tuple(counts.tolist()), int(counts[k])))
        labels = self._labels.tolist()
        sums = range(model.least, model.least + len(labels))  # votes for the second class less the others
        by_votes = [labels[-model.least] if total == 0 else int(total > 0) for total in sums]
        if labels == by_votes:
            return [*rules, f"without a majority of votes: {self.classes_[labels[-model.least]]}"]
        for n in range(len(labels) - 1, 0, -1):
            if labels[n] != labels[n - 1]:
                more = f"at least {sums[n]:+d} votes for {self.classes_[1]} less those for "
                rules.append(f"{more}{self.classes_[0]}: {self.classes_[labels[n]]}")
        return [*rules, f"otherwise: {self.classes_[labels[0]]}"]
