"""Symmetric functions: a class for each number of tests that are true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsample._losses import decide
from offsample._typing import Ints
from offsample.induction.evidence import log_p_many_cells
from offsample.induction.forms import Case, Conditions, Op
from offsample.induction.rules.base import RuleClassifier
from offsample.induction.rules.models import Model, Truth
from offsample.induction.rules.partition import Options, Partition


@dataclass(frozen=True, eq=False)
class SymmetricModel(Model):
    """Counts of the rows for which 0, 1, 2, … of the literals are true."""

    literals: tuple[int, ...]
    counts: Ints

    @property
    def labels(self) -> Ints:
        """Majorities; for a number that was not seen, that of the nearest one (the smaller) that was."""
        seen = np.flatnonzero(self.counts.sum(axis=1))
        distance = np.abs(np.arange(len(self.counts))[:, None] - seen[None, :])
        return decide(self.counts[seen[distance.argmin(axis=1)]], self.costs)

    def _cell(self, tests: Conditions) -> tuple[Op, list[Any]]:
        return Op("+", (0, *(Case(((tests([one]), 1),), 0) for one in self.literals))), []

    def cells(self, truth: Truth, n_rows: int) -> Ints:
        """How many literals are true."""
        number = np.zeros(n_rows, np.int64)
        for literal in self.literals:
            number += truth[literal]
        return number


def moved_up(whole: Ints, up: Ints) -> Ints:
    """Counts of cells after the rows `up` of each, for several steps, are moved to the next cell.

    From shapes (n_cells, K) and (n_cells, n_steps, K), with one cell more.
    """
    after = np.zeros((len(whole) + 1, *up.shape[1:]), np.int64)
    after[:-1] = whole[:, None, :] - up
    after[1:] += up
    return after


class _SymmetricPartition(Partition):
    """One cell for each number of true literals."""

    def model(self) -> SymmetricModel:
        return SymmetricModel(self.added, self.cell_counts())

    def take(self, literals: tuple[int, ...]) -> None:
        self.cell += self.sample.index.truth(literals[0])

    def options(self) -> Options | None:
        """All literals: a row for which one is true moves up by one cell."""
        sample, totals = self.sample, self.cell_counts()
        true = sample.literal_counts(self.cell, len(totals), totals)
        terms = sample.scoring.terms
        gain = float(terms(totals).sum()) - terms(moved_up(totals, true)).sum(axis=0)
        drawn = true.sum(axis=(0, 2))
        return Options(
            np.where((drawn > 0) & (drawn < sample.size), gain, -np.inf),
            np.tile(sample.log_tried, 2) + np.log(2),
            lambda which: log_p_many_cells(true[:, which], totals),
            cell=self.cell,
        )


class SymmetricFunctionClassifier(RuleClassifier):
    """Symmetric function: the class depends on how many of some tests are true.

    The literal that improves the criterion of the partition by this number most is added as long as it does;
    a literal and its negation make different partitions from the second on.

    Parameters
    ----------
    max_size, literals : int, default=None
        The largest number of literals; the smaller of the two counts.
    criterion, stopping, n_thresholds, categorical_features, costs, class_weight, random_state
        See `DecisionListClassifier`.

    Attributes
    ----------
    rules_ : list of Rule
        The class for each number of true literals.
    counts_, path_, size_, estimated_error_, estimated_error_interval_
        See `DecisionListClassifier`; a step of the path is a literal.

    References
    ----------
    .. [1] M. Kearns, M. Li (1993). Learning in the presence of malicious errors. SIAM J. Computing 22.
    .. [2] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria. Theoret. Comput. Sci. 321.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.induction import SymmetricFunctionClassifier
    >>> X = np.random.default_rng(0).integers(0, 2, (1000, 6))
    >>> y = np.where(X[:, :3].sum(axis=1) >= 2, "most", "few")
    >>> print(SymmetricFunctionClassifier().fit(X, y).to_text())
    count how many are true:
      x2 = 1
      x0 = 1
      x1 = 1
    0: few (124 of 124 rows)
    1: few (382 of 382 rows)
    2: most (373 of 373 rows)
    3: most (121 of 121 rows)
    """

    _partition = _SymmetricPartition
    _binary_only = False
    _is_one_term = True

    def _conditions(self, feature_names: Sequence[Any] | None) -> list[str]:
        del feature_names  # the cells are numbers
        return [str(number) for number in range(len(self.model_.counts))]

    def _lines(self, feature_names: Sequence[Any] | None) -> list[Any]:
        """The tests, and the class for each number of them that are true."""
        seen = [rule for rule in self.rules_ if sum(rule.counts)]
        if not self.model_.literals:
            return seen[:1]
        tests = [f"  {self.vocabulary_.describe([one], feature_names)}" for one in self.model_.literals]
        return ["count how many are true:", *tests, *seen]
