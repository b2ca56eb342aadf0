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

    literals: Ints  # a row for each, ascending, behind as many -1 as it is shorter than the longest
    counts: Ints
    score: Floats

    def at(self, i: int) -> tuple[int, ...]:
        """Literals of one."""
        return tuple(self.literals[i][self.literals[i] >= 0].tolist())


@dataclass(frozen=True, eq=False)
class _Scores:
    """Scores of class counts, looked up by one number for each where all that there can be were scored."""

    of: Callable[[Ints], Floats]
    shape: tuple[int, ...] = ()  # one more than the totals of the classes, if there is a table
    table: Floats | None = None

    @classmethod
    def up_to(cls, totals: Ints, score: Callable[[Ints], Floats], n_scored: int) -> _Scores:
        """With a table, if it is not longer than what is scored."""
        shape = tuple((totals + 1).tolist())
        if math.prod(shape) > n_scored:
            return cls(score)
        every = np.indices(shape).reshape(len(shape), -1).T
        return cls(score, shape, cls(score).exact(every))

    def coded(self, counts: Ints) -> Ints:
        """What is added, subtracted and looked up instead of counts, whose first axis is that of classes."""
        if self.table is None:
            return counts
        steps = [math.prod(self.shape[k:]) for k in range(1, len(self.shape) + 1)]
        return np.asarray(sum(step * one for step, one in zip(steps, counts, strict=True)))[None]

    def counts(self, codes: Ints) -> Ints:
        """The counts again, a row for each; codes have one too."""
        return codes if self.table is None else np.stack(np.unravel_index(codes[:, 0], self.shape), axis=1)

    def exact(self, codes: Ints) -> Floats:
        """Scores, which are rounded to compare them."""
        if self.table is not None:
            return self.table[codes[:, 0]]
        if len(codes) < _AT_ONCE:
            return self.of(codes)
        parts = np.array_split(codes, len(codes) // _AT_ONCE + 1)
        return np.concatenate([self.of(part) for part in parts])


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
        whole = float(terms(totals)) / sample.size

        def gain(true: Ints) -> Floats:
            size = over_classes(true)
            doubt, rest = terms(true) / sample.size, terms(totals - true) / sample.size
            value = (1 - prospect) * (whole - rest) - doubt
            allowed = (size >= self.min_coverage) & (size < totals.sum())
            if self.closes:
                least = np.where(true.max(axis=1) == size, 0.0, 10.0**-DIGITS)
                allowed &= (rounded(doubt - rest) <= 0) & (rounded(value) >= least)
            return np.where(allowed, value, -np.inf)

        found = self.best(inside, totals, gain)
        if len(found.literals) > sample.n_shortlisted:  # as many as will be looked at, and their equals
            score = rounded(found.score)
            kept = np.flatnonzero(score >= np.sort(score)[-sample.n_shortlisted])
            found = Conjunctions(found.literals[kept], found.counts[kept], found.score[kept])
        return Options(
            found.score * sample.size,
            np.array([self.log_tried(found.at(i)) for i in range(len(found.score))], float),
            lambda which: log_p_one_cell(found.counts[which], totals),
            found.at,
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
            return Conjunctions(np.zeros((0, 1), np.int64), np.zeros((0, len(totals)), np.int64), np.zeros(0))
        single, _ = self.sample.counts_inside(inside)
        literals, scores = np.arange(2 * n_tests)[:, None], _Scores(score)
        found = _shortlist(literals.__getitem__, single, scores, n_kept=self.sample.n_shortlisted)
        for n in range(2, min(self.max_literals, n_tests) + 1):
            n_tried = 2 ** (n - 2) * math.comb(n_tests, n - 2) * 2 * n_tests**2
            n_scored = n_tried if n_tried <= _MAX_TRIED else 2 * n_tests * _BEAM
            scores = _Scores.up_to(totals, score, n_scored) if n == 2 else scores
            if n_tried > _MAX_TRIED:
                longer = self._extended(n, found, inside, scores)
            elif n == 2:
                longer = self._pairs(inside, totals, single[:n_tests], (), scores)
            else:
                longer = self._all_of_length(n, inside, scores)
            found = _merged([found, *longer])
        return found

    def _pairs(
        self, inside: Booleans, totals: Ints, single: Ints, prefix: tuple[int, ...], scores: _Scores
    ) -> Iterator[Conjunctions]:
        """Pairs of literals of tests behind those of a prefix, in its rows."""
        index, n_classes = self.sample.index, self.sample.n_classes
        n = index.n_tests
        group = np.where(inside & self.sample.active, self.sample.y, -1).astype(np.int32)
        start = 1 + max((literal % n for literal in prefix), default=-1)
        step = max(1, _CHUNK // (4 * n))
        alone, of_all = scores.coded(single.T), scores.coded(totals[:, None])
        for first in range(start, n - 1, step):
            last = min(n - 1, first + step)
            a, b = np.nonzero(np.arange(n) > np.arange(first, last)[:, None])
            both = scores.coded(index.pair_counts(group, n_classes, first, last))[:, a, b]
            a += first
            of_a, of_b = alone[:, a], alone[:, b]
            codes = np.concatenate([both, of_a - both, of_b - both, of_all - of_a - of_b + both], axis=1).T

            def pairs(which: Ints, a: Ints = a, b: Ints = b) -> Ints:
                negated, pair = np.divmod(which, len(a))
                return np.stack([a[pair] + n * (negated // 2), b[pair] + n * (negated % 2)], axis=1)

            yield _shortlist(pairs, codes, scores, prefix)

    def _all_of_length(self, n: int, inside: Booleans, scores: _Scores) -> Iterator[Conjunctions]:
        n_tests = self.sample.index.n_tests
        for tests in combinations(range(n_tests), n - 2):
            for signs in product((0, n_tests), repeat=n - 2):
                prefix = tuple(test + sign for test, sign in zip(tests, signs, strict=True))
                rows = inside & self.sample.rows_where(prefix)
                single, totals = self.sample.counts_inside(rows)
                if totals.sum() >= self.min_coverage:
                    yield from self._pairs(rows, totals, single[:n_tests], prefix, scores)

    def _extended(
        self, n: int, found: Conjunctions, inside: Booleans, scores: _Scores
    ) -> Iterator[Conjunctions]:
        n_tests = self.sample.index.n_tests
        order = best_first(found.score)
        for i in order[(found.literals[order] >= 0).sum(axis=1) == n - 1][:_BEAM].tolist():
            prefix = found.at(i)
            counts, _ = self.sample.counts_inside(inside & self.sample.rows_where(prefix))
            is_free = np.ones((2, n_tests), bool)
            is_free[:, [literal % n_tests for literal in prefix]] = False
            free = np.flatnonzero(is_free)
            codes = scores.coded(counts.T).T[free]
            yield _shortlist(free[:, None].__getitem__, codes, scores, prefix)


def _shortlist(
    literals: Callable[[Ints], Ints],
    codes: Ints,
    scores: _Scores,
    prefix: tuple[int, ...] = (),
    n_kept: int = N_SHORTLISTED,
) -> Conjunctions:
    """Those with the largest scores, and all that equal the best."""
    score = scores.exact(codes)
    gain = rounded(score)
    kept = np.flatnonzero(gain > -np.inf)
    if len(kept) > n_kept:
        top = kept[largest(gain[kept], n_kept)]
        kept = np.union1d(top, kept[gain[kept] == gain[kept].max()])
    longer = [np.full((len(kept), len(prefix)), prefix, np.int64), literals(kept)]
    literals_of = np.sort(np.concatenate(longer, axis=1), axis=1)
    return Conjunctions(literals_of, scores.counts(codes[kept]), score[kept])


def _merged(parts: Sequence[Conjunctions]) -> Conjunctions:
    """All of them, the shorter first, and then in the order of their literals."""
    most = max(part.literals.shape[1] for part in parts)
    counts = np.concatenate([part.counts for part in parts])
    literals, start = np.full((len(counts), most), -1, np.int64), 0
    for part in parts:
        n, width = part.literals.shape
        literals[start : start + n, most - width :] = part.literals
        start += n
    order = np.lexsort(literals.T[::-1])
    order = order[np.diff(literals[order], axis=0, prepend=-2).any(axis=1)]
    return Conjunctions(literals[order], counts[order], np.concatenate([part.score for part in parts])[order])
