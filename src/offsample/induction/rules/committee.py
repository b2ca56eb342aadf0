"""Decision committees: conjunctions that vote for or against a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsample._ties import rounded
from offsample._typing import Booleans, Ints
from offsample.induction.evidence import log_p_many_cells
from offsample.induction.forms import Case, Conditions, Op
from offsample.induction.rules.base import RuleClassifier
from offsample.induction.rules.models import Model, Rule, Truth, conjunction, distinct, shares
from offsample.induction.rules.partition import Options, Partition, Sample


@dataclass(frozen=True)
class Vote(Rule):
    """A conjunction, the class that it votes for, and the training rows of each class where it is true."""

    def __str__(self) -> str:
        return f"{self.condition}: one vote for {self.prediction} ({shares(self.counts)})"


@dataclass(frozen=True, eq=False)
class CommitteeModel(Model):
    """Conjunctions with votes of -1 and 1; the cells are the sums of votes from `least` on."""

    monomials: tuple[tuple[int, ...], ...]
    votes: tuple[int, ...]
    monomial_counts: Ints
    counts: Ints
    default: int

    @property
    def least(self) -> int:
        """Smallest possible sum."""
        return -sum(vote < 0 for vote in self.votes)

    @property
    def labels(self) -> Ints:
        """Class 1 for a positive sum, 0 for a negative one, and for 0 the majority of such rows."""
        total = np.arange(len(self.counts)) + self.least
        return np.where(total > 0, 1, np.where(total < 0, 0, self.default))

    @property
    def literals(self) -> Sequence[int]:  # type: ignore[override]
        """Literals of all conjunctions."""
        return distinct(self.monomials)

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
    """One cell for each set of conjunctions that are true together."""

    def __init__(self, sample: Sample, learner: Any) -> None:
        self._term: tuple[int, ...] = ()
        self._inside = np.ones(len(sample.y), bool)  # rows of the conjunction that grows
        self._monomials: list[tuple[int, ...]] = []  # those that are done, and their rows
        self._true: list[Booleans] = []
        self._n_patterns = 1  # of the latter: the cells, each of which the growing one divides
        super().__init__(sample, learner)

    def cell_counts(self) -> Ints:
        return self.sample.totals(2 * self.cell + self._inside, 2 * self._n_patterns)

    def take(self, literals: tuple[int, ...]) -> None:
        self._term = (*self._term, *literals)
        self._inside = self._inside & self.sample.index.truth(literals[0])

    def close(self) -> bool:
        if not self._term:
            return False
        self._monomials.append(self._term)
        self._true.append(self._inside)
        found, self.cell = np.unique(2 * self.cell + self._inside, return_inverse=True)
        self._n_patterns = len(found)
        self._inside, self._term = np.ones(len(self.sample.y), bool), ()
        return True

    def options(self) -> Options | None:
        """Literals that do not make a conjunction that is there already."""
        if self.learner.literals is not None and len(self._term) >= self.learner.literals:
            return None
        sample, n = self.sample, self._n_patterns
        inside = np.where(self._inside, self.cell, -1)
        within, whole = sample.totals(inside, n), sample.totals(self.cell, n)
        true = sample.literal_counts(inside, n, within)
        terms = sample.scoring.terms
        gain = float(terms(self.cell_counts()).sum()) - terms(true).sum(axis=0)
        gain -= terms(whole[:, None, :] - true).sum(axis=0)
        drawn = true.sum(axis=(0, 2))
        valid = (drawn > 0) & (drawn < within.sum())
        for monomial in map(set, self._monomials):
            if len(monomial) == len(self._term) + 1 and monomial > {*self._term}:
                valid[list(monomial - {*self._term})] = False
        return Options(
            np.where(valid, gain, -np.inf),
            np.tile(sample.log_tried, 2),
            lambda which: log_p_many_cells(true[:, which], within),
            cell=inside,
        )

    def model(self) -> CommitteeModel:
        """The votes that lower the exponential loss most, one conjunction after the other."""
        sample = self.sample
        monomials = [*self._monomials, self._term] if self._term else self._monomials
        rows = [one[sample.active] for one in ([*self._true, self._inside] if self._term else self._true)]
        y = sample.y[sample.active]
        weight = np.ones(len(y))
        kept, votes, counts = [], [], []
        total = np.zeros(len(y), np.int64)
        for monomial, true in zip(monomials, rows, strict=True):
            of_class = np.bincount(y[true], weight[true], minlength=2)
            for_one, against = of_class[1], of_class[0]
            # exp(-1) a + exp(1) b < a + b: a vote must be right e times as often as wrong, by weight
            loss = {1: for_one / np.e + against * np.e, -1: against / np.e + for_one * np.e}
            vote = 1 if rounded(loss[1], len(y)) <= rounded(loss[-1], len(y)) else -1
            if rounded(loss[vote], len(y)) >= rounded(for_one + against, len(y)):
                continue
            kept.append(monomial)
            votes.append(vote)
            counts.append(np.bincount(y[true], minlength=sample.n_classes))
            weight[true] *= np.exp(-vote * (2 * y[true] - 1))
            total[true] += vote
        least = -sum(vote < 0 for vote in votes)
        cells = np.bincount((total - least) * 2 + y, minlength=2 * (len(votes) + 1)).reshape(-1, 2)
        tied = np.bincount(y[total == 0], minlength=2)
        default = int((tied if tied.any() else np.bincount(y, minlength=2)).argmax())
        return CommitteeModel(
            tuple(kept), tuple(votes), np.array(counts, np.int64).reshape(-1, 2), cells, default
        )


class CommitteeClassifier(RuleClassifier):
    """Decision committee: conjunctions of tests, each with one vote for or against a class.

    Conjunctions grow literal by literal as long as the criterion of the partition by the sets of conjunctions
    that are true together improves; then each gets a vote of 1, -1 or none, by what lowers the exponential
    loss. The sum of the votes decides; a tie goes to the majority of the rows that tie. For two classes.

    Parameters
    ----------
    max_size : int, default=None
        The largest number of literals in all conjunctions.
    literals : int, default=None
        The largest number of literals in a conjunction.
    criterion, stopping, n_thresholds, value_sets, categorical_features, costs, class_weight, random_state
        See `DecisionListClassifier`.

    Attributes
    ----------
    rules_ : list of Vote
    counts_ : CellCounts
        Training rows with each sum of votes.
    path_, size_, estimated_error_, estimated_error_interval_
        See `DecisionListClassifier`; a step of the path is a literal. The errors are those of the vote, the
        criterion is that of the partition.

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
        model, last, rules = self.model_, len(self.classes_) - 1, list[Any]()
        for monomial, vote, counts in zip(model.monomials, model.votes, model.monomial_counts, strict=True):
            condition = self.vocabulary_.describe(monomial, feature_names)
            rules.append(Vote(condition, self.classes_[1 if vote > 0 else 0], tuple(counts.tolist())))
        return [*rules, f"without a majority of votes: {self.classes_[min(model.default, last)]}"]
