"""Disjunctive normal form: a class where one of several conjunctions is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from offsample._losses import decide
from offsample._ties import best_first, largest, rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.induction.evidence import log_p_one_cell
from offsample.induction.rules.base import PROSPECTS, RuleClassifier
from offsample.induction.rules.models import FirstTrue
from offsample.induction.rules.partition import Options, Partition, Sample, term_gain, term_options

# First literals that longer terms are tried from.
_N_FIRST = 12
# Literals of these that need not be significant each: of a rare term, only several together may be.
_N_UNTESTED = 2


@dataclass(frozen=True, eq=False)
class DNFModel(FirstTrue):
    """Terms, which all predict one class."""

    positive: int

    @property
    def labels(self) -> Ints:
        """The positive class for every term; without one, the majority, or the cheapest one."""
        return np.array([*[self.positive] * len(self.rules), int(decide(self.counts[-1], self.costs))])


class _DNFPartition(Partition):
    """One cell for each term (without those before it), the last of which grows, and one for the rest."""

    def __init__(self, sample: Sample, learner: Any) -> None:
        self.positive = len(learner.classes_) - 1
        if learner.positive is not None:
            found = np.flatnonzero(learner.classes_ == learner.positive)
            if not len(found):
                known = learner.classes_.tolist()
                raise ValueError(f"positive is {learner.positive!r}: expected one of {known}")
            self.positive = int(found[0])
        self._terms: list[tuple[int, ...]] = []  # that are done
        self._term: tuple[int, ...] = ()
        self._known: list[tuple[tuple[int, ...], Ints]] | None = None  # chains of this term
        super().__init__(sample, learner)

    @property
    def n_cells(self) -> int:
        return len(self._terms) + 2

    @property
    def _inside(self) -> Booleans:
        return np.asarray(self.sample.active & (self.cell == len(self._terms)))

    def _is_positive(self, counts: Ints) -> bool:
        counts = self.sample.staked(counts)
        return bool(2 * counts[self.positive] > counts.sum())

    def model(self) -> DNFModel:
        """The formula; a term that is not yet for the positive class is no part of it."""
        *closed, inside, rest = self.cell_counts()
        if self._term and self._is_positive(inside):
            return DNFModel((*self._terms, self._term), np.array([*closed, inside, rest]), self.positive)
        return DNFModel(tuple(self._terms), np.array([*closed, inside + rest]), self.positive)

    def take(self, literals: tuple[int, ...]) -> None:
        self._term, self._known = (*self._term, *literals), None
        self.cell[self._inside & ~self.sample.rows_where(literals)] += 1

    def close(self) -> bool:
        """Accept the term; if it is none for the positive class, or has no literal, this is the end."""
        if not self._term or not self._is_positive(self.cell_counts()[-2]):
            return False
        self._terms.append(self._term)  # the rest is the cell of the next one
        self._term, self._known = (), None
        return True

    def options(self) -> Options | None:
        """One or several literals that raise the share of the positive class; of equal gains, the most."""
        if self.learner.literals is not None and len(self._term) >= self.learner.literals:
            return None
        if self.learner.max_size is not None and len(self._terms) >= self.learner.max_size:
            return None
        rows, outside = self._inside, self.cell_counts()[-1]
        true, inside = self.sample.counts_inside(rows)
        one = term_options(
            self.sample,
            rows,
            outside,
            self._term,
            (true, inside),
            allowed=self._share_of(true) > self._share_of(inside) - 1e-12,
            ties=(-self._share_of(true),),
            prospect=self.prospect,
        )
        chains = self._known = self._chains() if self._known is None else self._known
        if not chains:
            return one
        counts = np.array([found for _, found in chains])
        n_single, every = len(true), np.concatenate([true, counts])
        gain = term_gain(self.sample.scoring.terms, counts, inside, outside, self.prospect, not self._term)
        tried = [self.sample.log_conjunctions(literals) for literals, _ in chains]
        return replace(
            one,
            gain=np.concatenate([one.gain, gain]),
            log_tried=np.concatenate([one.log_tried, tried]),
            log_p=lambda which: log_p_one_cell(every[which], inside),
            literals=lambda i: (i,) if i < n_single else chains[i - n_single][0],
            ties=(-self._share_of(every),),
        )

    def _share_of(self, counts: Ints) -> Floats:
        return np.asarray(counts[..., self.positive] / np.maximum(counts.sum(axis=-1), 1))

    def _chains(self) -> list[tuple[tuple[int, ...], Ints]]:
        """Two or more literals to add at once, with the counts where they and the term are true.

        Each of the best first literals is followed by the literal that tells the classes of the term's rows
        apart best, until all are of one class. A first literal alone may gain nothing: the rows that it
        leaves out of the term spoil the rest, and only the complete term makes up for that.
        """
        n_tests, limit = self.sample.index.n_tests, self.learner.literals
        most = n_tests if limit is None else limit - len(self._term)
        found = []
        for first, counts, rows in self._best_inside(self._inside, self._term, _N_FIRST):
            literals = [first]
            while len(literals) < most and counts.max() < counts.sum():
                best = self._best_inside(rows, (*self._term, *literals), 1)
                if not best:
                    break
                literal, counts, rows = best[0]
                literals.append(literal)
                found.append((tuple(literals), counts))
        return found

    def _best_inside(
        self, rows: Booleans, used: Sequence[int], n_wanted: int
    ) -> list[tuple[int, Ints, Booleans]]:
        """Literals that split some rows best, with the counts and the rows of the true side."""
        true, total = self.sample.counts_inside(rows)
        allowed = self._share_of(true) > self._share_of(total) + 1e-12
        # nothing outside: the two sides are told apart, wherever the false one goes
        options = term_options(self.sample, rows, np.zeros_like(total), used, (true, total), allowed)
        gain = rounded(options.gain, self.sample.size)
        order = largest(gain, n_wanted)  # to sort all of them would take longer than to find them
        order = order[best_first(gain[order])]
        order = order[gain[order] > 0]
        is_late = len(used) - len(self._term) >= _N_UNTESTED
        if self.sample.by_evidence and is_late and len(order):
            log_p = options.log_p(order) + options.log_tried[order]
            order = order[rounded(log_p) <= rounded(np.log(self.level))]
        return [(int(i), true[i], rows & self.sample.index.truth(int(i))) for i in order]


@dataclass(kw_only=True, eq=False, repr=False)
class DNFClassifier(RuleClassifier):
    """Disjunctive normal form: one class where any of several conjunctions is true, the other elsewhere.

    A term grows, by one literal or several, as long as the criterion of the partition into terms and rest
    improves; then its rows are set aside and the next one grows on the others. For two classes.

    Parameters
    ----------
    max_size : int, default=None
        The largest number of terms.
    literals : int, default=None
        The largest number of literals in a term.
    positive : object, default=None
        The class that the terms describe; by default the last of `classes_`.
    criterion, stopping, n_thresholds, categorical_features, costs, class_weight, random_state
        See `DecisionListClassifier`.

    Attributes
    ----------
    rules_ : list of Rule
        The terms in the order they were found (the counts are of rows in no earlier one), and "otherwise".
    size_ : int
        Number of terms.
    counts_, path_, estimated_error_, estimated_error_interval_
        See `DecisionListClassifier`; a step of the path is a literal, or several.

    Notes
    -----
    A step adds the literals that improve the criterion most: one, or a chain that starts with one of the 12
    that tell the classes apart best in the term, and goes on with the best one each. A literal may not lower
    the share of the positive class in its term, and a term is accepted if this class is its majority. Where
    no term is true, the majority is predicted.

    References
    ----------
    .. [1] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria. Theoret. Comput. Sci. 321.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.induction import DNFClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (2000, 8))
    >>> y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])
    >>> print(DNFClassifier().fit(X, y).to_text())
    if x3 = 1 and x2 = 1: 1 (501 of 501 rows)
    or x1 = 1 and x0 = 1: 1 (376 of 376 rows)
    otherwise: 0 (1123 of 1123 rows)
    """

    positive: Annotated[Any, "no_validation"] = None

    _partition = _DNFPartition
    _prospects = PROSPECTS

    @property
    def _max_steps(self) -> int | None:  # steps add literals: it is terms that are limited
        return 0 if self.max_size == 0 else None
