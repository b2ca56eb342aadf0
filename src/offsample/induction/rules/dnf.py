"""Disjunctive normal form: a class where one of several conjunctions is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from scipy.special import gammaln

from offsample._ties import best_first, rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.induction.evidence import log_p_one_cell
from offsample.induction.rules.base import PROSPECTS, RuleClassifier
from offsample.induction.rules.models import FirstTrue
from offsample.induction.rules.partition import (
    Options,
    Partition,
    Sample,
    SequentialPartition,
    term_gain,
    term_options,
)

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
        """The positive class for every term; without one, the majority."""
        return np.array([*[self.positive] * len(self.rules), int(self.counts[-1].argmax())])


@dataclass(eq=False)
class DNFPartition(SequentialPartition):
    """One cell for each term (without those before it), and one for the rest."""

    max_literals: int | None = None
    max_terms: int | None = None
    positive: int = 1
    terms: list[tuple[int, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._term: tuple[int, ...] = ()
        self._closed: list[Ints] = []
        self._rest = self.sample.active.copy()  # rows in no closed term
        self._inside = self._rest.copy()  # those of them in the term that grows
        self._known: list[tuple[tuple[int, ...], Ints]] | None = None  # chains of this term
        super().__post_init__()

    def _open_counts(self) -> Ints:
        """Counts of the growing term and of the rest."""
        cell = np.where(self._inside, 0, np.where(self._rest, 1, -1))
        return self.sample.totals(cell, 2)

    def cell_counts(self) -> Ints:
        """Counts of the terms and of the rest."""
        return np.array([*self._closed, *self._open_counts()])

    def _is_positive(self, counts: Ints) -> bool:
        return bool(2 * counts[self.positive] > counts.sum())

    def model(self) -> DNFModel:
        """The formula; a term that is not yet for the positive class is no part of it."""
        inside, rest = self._open_counts()
        if self._term and self._is_positive(inside):
            return DNFModel((*self.terms, self._term), np.array([*self._closed, inside, rest]), self.positive)
        return DNFModel(tuple(self.terms), np.array([*self._closed, inside + rest]), self.positive)

    def take(self, literals: tuple[int, ...]) -> None:
        """Add literals to the term that grows."""
        self._term, self._known = (*self._term, *literals), None
        self._inside &= self.sample.rows_where(literals)

    def _propose(self) -> float | None:
        """Gain of the best literals for the term that grows, or else for a new one."""
        gain = super()._propose()
        if (gain is None or rounded(gain) <= 0) and self._close_term():
            gain = super()._propose()
        return gain

    def _close_term(self) -> bool:
        """Accept the term; if it is none for the positive class, or has no literal, this is the end."""
        counts = self._open_counts()[0]
        if not self._term or not self._is_positive(counts):
            return False
        self.terms.append(self._term)
        self._closed.append(counts)
        self._rest = self._rest & ~self._inside
        self._inside, self._term, self._known = self._rest.copy(), (), None
        return True

    def options(self) -> Options | None:
        """One or several literals that raise the share of the positive class; of equal gains, the most."""
        if self.max_literals is not None and len(self._term) >= self.max_literals:
            return None
        if self.max_terms is not None and len(self.terms) >= self.max_terms:
            return None
        inside, outside = self._open_counts()
        one = term_options(
            self.sample,
            self._inside,
            outside,
            self._term,
            allowed=lambda true, before: self._share_of(true) > self._share_of(before) - 1e-12,
            ties=lambda true: (-self._share_of(true),),
            prospect=self.prospect,
        )
        if self._known is None:
            self._known = self._chains()
        chains = self._known
        if not chains:
            return one
        n_single, counts = len(one.gain), np.array([found for _, found in chains])
        terms, is_new = self.sample.scoring.terms, not self._term
        gain = term_gain(terms, counts, inside, outside, self.prospect, is_new)

        def log_p(which: Ints) -> Floats:
            single, longer = which[which < n_single], which[which >= n_single] - n_single
            result = np.empty(len(which))
            result[which < n_single] = one.log_p(single)
            result[which >= n_single] = log_p_one_cell(counts[longer], inside)
            return result

        return Options(
            np.concatenate([one.gain, gain]),
            np.concatenate([one.log_tried, [self._log_tried(literals) for literals, _ in chains]]),
            log_p,
            lambda i: one.literals(i) if i < n_single else chains[i - n_single][0],
            (np.concatenate([one.ties[0], -self._share_of(counts)]),),
            one.cell,
        )

    def _share_of(self, counts: Ints) -> Floats:
        return np.asarray(counts[..., self.positive] / np.maximum(counts.sum(axis=-1), 1))

    def _log_tried(self, literals: Sequence[int]) -> float:
        """Log of the number of conjunctions of this length."""
        of_tests = sum(self.sample.log_tried[literal % self.sample.index.n_tests] for literal in literals)
        return float(of_tests + len(literals) * np.log(2) - gammaln(len(literals) + 1))

    def _chains(self) -> list[tuple[tuple[int, ...], Ints]]:
        """Two or more literals to add at once, with the counts where they and the term are true.

        Each of the best first literals is followed by the literal that tells the classes of the term's rows
        apart best, until all are of one class. A first literal alone may gain nothing: the rows that it
        leaves out of the term spoil the rest, and only the complete term makes up for that.
        """
        room = (
            len(self.sample.log_tried) if self.max_literals is None else self.max_literals - len(self._term)
        )
        found = []
        for first, counts, rows in self._best_inside(self._inside, self._term, _N_FIRST):
            literals = [first]
            while len(literals) < room and counts.max() < counts.sum():
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
        # nothing outside: the two sides are told apart, wherever the false one goes
        options = term_options(
            self.sample,
            rows,
            np.zeros_like(total),
            used,
            allowed=lambda true, before: self._share_of(true) > self._share_of(before) + 1e-12,
            counts=(true, total),
        )
        gain = rounded(options.gain, self.sample.size)
        order = best_first(gain)[:n_wanted]
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
    criterion, stopping, n_thresholds, value_sets, categorical_features, random_state
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
    the share of the positive class in its term, and a term is accepted if this class is its majority. As for
    lists, with `stopping="auto"` a term is judged as if later ones would remove a share of what is left. Of
    equal gains the larger share wins, then the fewer literals. Where no term is true, the majority is
    predicted: the other class unless growing stopped before the first term.

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

    _prospects = PROSPECTS

    def _partition(self, sample: Sample) -> Partition:
        positive = len(self.classes_) - 1
        if self.positive is not None:
            found = np.flatnonzero(self.classes_ == self.positive)
            if not len(found):
                raise ValueError(f"positive is {self.positive!r}: expected one of {self.classes_.tolist()}")
            positive = int(found[0])
        return DNFPartition(sample, max_literals=self.literals, max_terms=self.max_size, positive=positive)

    @property
    def _max_steps(self) -> int | None:  # steps add literals: it is terms that are limited
        return 0 if self.max_size == 0 else None
