"""Monomials: one conjunction of tests, and everything else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsample._typing import Ints
from offsample.induction.rules.base import RuleClassifier
from offsample.induction.rules.models import Model, Truth, conjunction
from offsample.induction.rules.partition import (
    Options,
    Partition,
    Sample,
    SequentialPartition,
    majority_share,
    term_options,
)


@dataclass(frozen=True, eq=False)
class MonomialModel(Model):
    """Counts where the conjunction is true, and where it is not."""

    literals: tuple[int, ...]
    counts: Ints

    def cells(self, truth: Truth, n_rows: int) -> Ints:
        """0 where the conjunction is true."""
        return np.where(conjunction(truth, self.literals, n_rows), 0, 1)


@dataclass(eq=False)
class MonomialPartition(SequentialPartition):
    """Two cells: the rows for which all literals are true, and the others."""

    def __post_init__(self) -> None:
        self._inside = self.sample.active.copy()
        super().__post_init__()

    def cell_counts(self) -> Ints:
        """Counts inside and outside."""
        return self.sample.totals(np.where(self._inside, 0, 1), 2)

    def model(self) -> MonomialModel:
        """The conjunction."""
        return MonomialModel(self.added, self.cell_counts())

    def take(self, literals: tuple[int, ...]) -> None:
        """Add a literal."""
        self._inside &= self.sample.index.truth(literals[0])

    def options(self) -> Options | None:
        """Literals; of equal ones that with the less pure true cell, as only this can be refined."""
        outside = self.cell_counts()[1]
        return term_options(
            self.sample, self._inside, outside, self.added, ties=lambda true: (majority_share(true),)
        )


class MonomialClassifier(RuleClassifier):
    """One conjunction of tests: a class where all are true, another where one is not.

    The literal that improves the criterion most is added as long as it does. For two classes.

    Parameters
    ----------
    max_size, literals : int, default=None
        The largest number of literals; the smaller of the two counts.
    criterion, stopping, n_thresholds, value_sets, categorical_features, random_state
        See `DecisionListClassifier`.

    Attributes
    ----------
    rules_ : list of Rule
        The conjunction, and "otherwise".
    counts_, path_, size_, estimated_error_, estimated_error_interval_
        See `DecisionListClassifier`; a step of the path is a literal.

    References
    ----------
    .. [1] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria. Theoret. Comput. Sci. 321.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.induction import MonomialClassifier
    >>> X = np.random.default_rng(0).integers(0, 2, (500, 6))
    >>> y = X[:, 0] & (1 - X[:, 3])
    >>> print(MonomialClassifier().fit(X, y).to_text())
    if x3 = 0 and x0 = 1: 1 (134 of 134 rows)
    otherwise: 0 (366 of 366 rows)
    """

    _is_one_term = True

    def _partition(self, sample: Sample) -> Partition:
        return MonomialPartition(sample)
