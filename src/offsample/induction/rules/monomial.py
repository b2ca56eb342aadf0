"""Monomials: one conjunction of tests, and everything else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsample._typing import Ints
from offsample.induction.rules.base import RuleClassifier
from offsample.induction.rules.models import Model, Truth, conjunction
from offsample.induction.rules.partition import Options, Partition, majority_share, term_options


@dataclass(frozen=True, eq=False)
class MonomialModel(Model):
    """Counts where the conjunction is true, and where it is not."""

    literals: tuple[int, ...]
    counts: Ints

    def cells(self, truth: Truth, n_rows: int) -> Ints:
        """0 where the conjunction is true."""
        return np.where(conjunction(truth, self.literals, n_rows), 0, 1)


class _MonomialPartition(Partition):
    """Two cells: the rows for which all literals are true, and the others."""

    n_cells = 2

    def model(self) -> MonomialModel:
        return MonomialModel(self.added, self.cell_counts())

    def take(self, literals: tuple[int, ...]) -> None:
        self.cell[~self.sample.index.truth(literals[0])] = 1

    def options(self) -> Options | None:
        """Literals; of equal ones that with the less pure true cell, as only this can be refined."""
        inside, outside = self.cell == 0, self.cell_counts()[1]
        counts = self.sample.counts_inside(inside)
        return term_options(
            self.sample, inside, outside, self.added, counts, ties=(majority_share(counts[0]),)
        )


class MonomialClassifier(RuleClassifier):
    """One conjunction of tests: a class where all are true, another where one is not.

    The literal that improves the criterion most is added as long as it does. For two classes.

    Parameters
    ----------
    max_size, literals : int, default=None
        The largest number of literals; the smaller of the two counts.
    criterion, stopping, n_thresholds, categorical_features, costs, class_weight, random_state
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

    _partition = _MonomialPartition
    _is_one_term = True
