"""The best conjunction of a few literals in a cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from offsample._counting import over_classes
from offsample._ties import DIGITS, best_first, largest, rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.induction.evidence import log_p_one_cell
from offsample.induction.rules.partition import N_SHORTLISTED, Options, Sample, majority_share

# All conjunctions of a length are tried if they are not more than this, about a third of a second's work;
# otherwise only extensions of the best that have one literal less.
_MAX_TRIED = 1_000_000
_BEAM = 32
# Pairs of which the best are kept at a time, and how many of them are scored at once, in a fast memory.
_CHUNK = 400_000
_AT_ONCE = 16_384


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """Some conjunctions of literals, with the class counts where they are true."""

    literals: list[tuple[int, ...]]
    counts: Ints
    score: Floats


@dataclass(frozen=True, eq=False)
class ConjunctionSearch:
    """Finds conjunctions of up to `max_literals` literals of different tests."""

    sample: Sample
    max_literals: int
    min_coverage: int = 1  # rows that a conjunction must hold for
    # Whether the side where it is true is closed, and only the other is refined: see `options`.
    closes: bool = True

    def options(self, inside: Booleans, prospect: float = 0.0) -> Options:
        """Ways to split the rows `inside` in two; `prospect` is that of the side where they are false.

        What is closed may leave no more doubt than the rest holds, which can still be refined. It may gain
        nothing if it is pure: the error index sees no other step before the last. Of equal gains the purer,
        and then the larger wins.
        """
        sample = self.sample
        totals = sample.counts_of(inside)
        terms = sample.scoring.terms

        def gain(true: Ints) -> Floats:
            size = over_classes(true)
            doubt, rest = terms(true) / sample.size, terms(totals - true) / sample.size
            value = (1 - prospect) * (float(terms(totals)) / sample.size - rest) - doubt
            allowed = (size >= self.min_coverage) & (size < totals.sum())
            if self.closes:
                least = np.where(true.max(axis=1) == size, 0.0, 10.0**-DIGITS)
                allowed &= (rounded(doubt - rest) <= 0) & (rounded(value) >= least)
            return np.where(allowed, value, -np.inf)

        found = self.best(inside, totals, gain)
        if len(found.literals) > sample.n_shortlisted:  # as many as will be looked at, and their equals
            score = rounded(found.score)
            kept = np.flatnonzero(score >= np.sort(score)[-sample.n_shortlisted])
            found = Conjunctions([found.literals[i] for i in kept], found.counts[kept], found.score[kept])
        return Options(
            found.score * sample.size,
            np.array([self.log_tried(literals) for literals in found.literals], float),
            lambda which: log_p_one_cell(found.counts[which], totals),
            lambda i: found.literals[i],
            (-majority_share(found.counts), -found.counts.sum(axis=1)) if self.closes else (),
            np.where(inside, 0, -1),
        )

    def log_tried(self, literals: Sequence[int]) -> float:
        """Log of the number of conjunctions of this length, times that of lengths."""
        n_lengths = min(self.max_literals, self.sample.index.n_tests)
        return self.sample.log_conjunctions(literals) + math.log(n_lengths)

    def best(self, inside: Booleans, totals: Ints, score: Callable[[Ints], Floats]) -> Conjunctions:
        """The conjunctions with the largest score of their counts: the best, its equals, and some more."""
        n_tests = self.sample.index.n_tests
        if n_tests == 0:
            return Conjunctions([], np.zeros((0, len(totals)), np.int64), np.zeros(0))
        single, _ = self.sample.counts_inside(inside)
        literals = np.arange(2 * n_tests)[:, None]
        found = _shortlist(literals, single, score, n_kept=self.sample.n_shortlisted)
        for n in range(2, min(self.max_literals, n_tests) + 1):
            if 2 ** (n - 2) * math.comb(n_tests, n - 2) * 2 * n_tests**2 > _MAX_TRIED:
                longer = self._extended(n, found, inside, score)
            elif n == 2:
                longer = self._pairs(inside, totals, single[:n_tests], (), score)
            else:
                longer = self._all_of_length(n, inside, score)
            found = _merged([found, *longer])
        return found

    def _pairs(
        self,
        inside: Booleans,
        totals: Ints,
        single: Ints,
        prefix: tuple[int, ...],
        score: Callable[[Ints], Floats],
    ) -> Iterator[Conjunctions]:
        """Pairs of literals of tests behind those of a prefix, in its rows."""
        index, n_classes = self.sample.index, self.sample.n_classes
        n = index.n_tests
        group = np.where(inside & self.sample.active, self.sample.y, -1).astype(np.int32)
        start = 1 + max((literal % n for literal in prefix), default=-1)
        step = max(1, _CHUNK // (4 * n))
        for first in range(start, n - 1, step):
            last = min(n - 1, first + step)
            a, b = np.nonzero(np.arange(n) > np.arange(first, last)[:, None])
            both = index.pair_counts(group, n_classes, first, last)[:, a, b]
            a += first
            of_a, of_b, of_all = single.T[:, a], single.T[:, b], totals[:, None]
            counts = np.concatenate([both, of_a - both, of_b - both, of_all - of_a - of_b + both], axis=1).T
            signs = np.array([[0, 0], [0, n], [n, 0], [n, n]])
            pairs = (np.stack([a, b], axis=1) + signs[:, None]).reshape(-1, 2)
            yield _shortlist(pairs, counts, score, prefix)

    def _all_of_length(
        self, n: int, inside: Booleans, score: Callable[[Ints], Floats]
    ) -> Iterator[Conjunctions]:
        n_tests = self.sample.index.n_tests
        for tests in combinations(range(n_tests), n - 2):
            for signs in product((0, n_tests), repeat=n - 2):
                prefix = tuple(test + sign for test, sign in zip(tests, signs, strict=True))
                rows = inside & self.sample.rows_where(prefix)
                single, totals = self.sample.counts_inside(rows)
                if totals.sum() >= self.min_coverage:
                    yield from self._pairs(rows, totals, single[:n_tests], prefix, score)

    def _extended(
        self, n: int, found: Conjunctions, inside: Booleans, score: Callable[[Ints], Floats]
    ) -> Iterator[Conjunctions]:
        n_tests = self.sample.index.n_tests
        shorter = [i for i in best_first(found.score) if len(found.literals[i]) == n - 1]
        for i in shorter[:_BEAM]:
            prefix = found.literals[i]
            counts, _ = self.sample.counts_inside(inside & self.sample.rows_where(prefix))
            is_free = np.ones((2, n_tests), bool)
            is_free[:, [literal % n_tests for literal in prefix]] = False
            free = np.flatnonzero(is_free)
            yield _shortlist(free[:, None], counts[free], score, prefix)


def _shortlist(
    literals: Ints,
    counts: Ints,
    score: Callable[[Ints], Floats],
    prefix: tuple[int, ...] = (),
    n_kept: int = N_SHORTLISTED,
) -> Conjunctions:
    """Those with the largest scores, and all that equal the best."""
    values = np.concatenate([score(part) for part in np.array_split(counts, len(counts) // _AT_ONCE + 1)])
    gain = rounded(values)
    kept = np.flatnonzero(gain > -np.inf)
    if len(kept) > n_kept:
        top = kept[largest(gain[kept], n_kept)]
        kept = np.union1d(top, kept[gain[kept] == gain[kept].max()])
    ordered = [tuple(sorted((*prefix, *row))) for row in literals[kept].tolist()]
    return Conjunctions(ordered, counts[kept], values[kept])


def _merged(parts: Sequence[Conjunctions]) -> Conjunctions:
    """All of them, the shorter first, and then in the order of their literals."""
    literals = [one for part in parts for one in part.literals]
    first: dict[tuple[int, ...], int] = {}
    for i, one in enumerate(literals):
        first.setdefault(one, i)
    order = [first[one] for one in sorted(first, key=lambda one: (len(one), one))]
    counts = np.concatenate([part.counts for part in parts])
    score = np.concatenate([part.score for part in parts])
    return Conjunctions([literals[i] for i in order], counts[order], score[order])
