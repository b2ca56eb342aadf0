"""Rows of norm at most 1 and the products with them that a stochastic tree needs; its leaves and tests."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample import _folds
from offsample._group_evidence import libraries
from offsample._typing import Floats, Ints
from offsample.induction.oblique.moments import Moments

# Rows of a block: the partial sums of float32 products stay exact enough, and a block fits in the cache.
BLOCK = 4096
# Rows at a time where several temporary numbers are needed for each.
SLICE = 65536
# Parts of the sample that are left out in turn, and the largest number of rows with as many; more have fewer.
N_FOLDS, _MOST_IN_TENTHS = 10, 20_000
# Larger arrays are kept in float32, whatever came in; sums over them are float64.
MOST_NUMBERS = 2**25
# Two tests whose product is the target have no gain one by one: nothing is lost if they are steeper.
_PAIR_RESCALE = 0.3
# Numbers that thresholds are tuned on.
_TUNED = 8192
# With fewer numbers in a product, threads wait for each other longer than they work.
_ONE_THREAD = 2**22


@dataclass(frozen=True, eq=False)
class UnitRows:
    """A matrix of rows x with ‖x‖ <= 1, sorted by class.

    A sparse matrix S stands for the rows ``(S - shift) * per_row``: it is centred without being filled in.
    """

    matrix: Any  # dense or sparse, of shape (n, d)
    shift: Floats | None  # centre of a sparse matrix
    per_row: Floats | None  # factor of each row of a sparse matrix
    constant: float | None  # value of one more column, the bias
    starts: NDArray[np.intp]  # class k has the rows from starts[k] to starts[k + 1]
    lengths: Floats  # what each row was divided by

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of the weights of a test."""
        n, d = self.matrix.shape
        return n, d + (self.constant is not None)

    def squared(self) -> UnitRows:
        """Return the rows with each number squared."""
        if self.per_row is None or self.shift is None:
            return replace(self, matrix=self.matrix**2)
        # (s - shift)² = (s² - 2 s shift) + shift²: nothing is filled in.
        matrix = self.matrix.copy()
        matrix.data = matrix.data * (matrix.data - 2 * self.shift.astype(matrix.dtype)[matrix.indices])
        return replace(self, matrix=matrix, shift=-(self.shift**2), per_row=self.per_row**2)

    def scores(self, weights: Floats) -> Floats:
        """Return w·x of each row, for one vector w of shape (d,) or several of shape (d, m)."""
        constant = 0.0
        if self.constant is not None:
            constant, weights = self.constant * weights[-1], weights[:-1]
        product = self.matrix @ weights.astype(self.matrix.dtype, copy=False)
        if self.per_row is None or self.shift is None:
            return np.asarray(product + constant, dtype=np.float64)
        factor = self.per_row if weights.ndim == 1 else self.per_row[:, None]
        return np.asarray(factor * (np.asarray(product, np.float64) - self.shift @ weights) + constant)

    def sums(self, masses: Floats) -> Floats:
        """Return Σ mass x of each class, of shape (K, d), or (K, m, d) for masses of shape (n, m)."""
        total = np.zeros((len(self.starts) - 1, *masses.shape[1:], self.shape[1]))
        own = total[..., : self.matrix.shape[1]]  # without the bias
        scaled = masses if self.per_row is None else (masses.T * self.per_row).T
        for k in range(len(total)):
            for block in blocks(self.starts[k], self.starts[k + 1]):
                part = scaled[block].T.astype(self.matrix.dtype, copy=False)
                own[k] += np.asarray(part @ self.matrix[block])
            rows = slice(self.starts[k], self.starts[k + 1])
            if self.shift is not None:
                own[k] -= np.multiply.outer(scaled[rows].sum(axis=0), self.shift)
            if self.constant is not None:
                total[k, ..., -1] = masses[rows].sum(axis=0) * self.constant
        return total

    def second_moments(self, masses: Floats) -> Floats:
        """Return Σ mass x xᵀ of each class, of shape (K, d, d)."""
        ends = zip(self.starts[:-1], self.starts[1:], strict=True)
        return np.stack([self.scatter(masses, blocks(*pair)) for pair in ends])

    def scatter(self, masses: Floats, parts: Iterable[slice | NDArray[np.intp]]) -> Floats:
        """Return Σ mass x xᵀ of some parts of the rows."""
        total = np.zeros((self.shape[1], self.shape[1]))
        for part in parts:
            rows = self.block(part)
            total += (rows * masses[part, None].astype(rows.dtype, copy=False)).T @ rows
        return total

    def block(self, rows: slice | NDArray[np.intp]) -> NDArray[Any]:
        """Return some rows as a dense array."""
        part = self.matrix[rows]
        if self.shift is not None and self.per_row is not None:
            part = (part.toarray() - self.shift) * self.per_row[rows, None]
        if self.constant is not None:
            part = np.column_stack([part, np.full(len(part), self.constant, part.dtype)])
        return np.asarray(part)

    def by_class(self, values: Floats) -> Floats:
        """Return the sums of values of shape (n, ...) over the rows of each class."""
        return np.asarray(np.add.reduceat(values, self.starts[:-1], axis=0))


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that a tree is grown from, and how much each counts."""

    rows: UnitRows
    mass: Floats  # of each row; they sum to 1
    # Missing when a row is left out: where weights are frequencies, one of several equal rows.
    own_mass: Floats
    unit: Floats | None = None  # standard deviations that the columns were divided by, if they were
    groups: Ints | None = None  # rows of one group are left out together
    stakes: Any = 1.0  # of the classes: `mass` is that of the rows times these

    @cached_property
    def plain(self) -> Floats:
        """Mass of each row, whatever is at stake."""
        return self.mass if np.ndim(self.stakes) == 0 else self.mass / self.stakes[self.labels]

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """Class of each row, as a number."""
        return np.repeat(np.arange(len(self.rows.starts) - 1), np.diff(self.rows.starts))

    @cached_property
    def shares(self) -> Floats:
        """Mass of each class."""
        return self.rows.by_class(self.mass)

    @property
    def shown(self) -> slice:
        """Classes that outputs have a column for: of two, only the second."""
        return slice(1, 2) if len(self.shares) == 2 else slice(None)

    @cached_property
    def folds(self) -> NDArray[np.intp]:
        """Fold of each row. As the rows are sorted by class, each fold has its part of each class."""
        n_folds = 0 if self.groups is None else min(self.n_folds, len(np.unique(self.groups)))
        if n_folds > 1:
            random = np.random.default_rng(0)
            return _folds.dealt(len(self.mass), n_folds, random, labels=self.labels, groups=self.groups)
        return _folds.in_turn(np.arange(len(self.mass)), self.n_folds)

    @property
    def n_folds(self) -> int:
        """Number of parts that are left out in turn: two in the largest tables, where half is enough."""
        return max(2, min(N_FOLDS, N_FOLDS * _MOST_IN_TENTHS // max(1, len(self.mass))))

    @cached_property
    def tuned(self) -> NDArray[np.intp]:
        """Rows that thresholds are tuned on: with more, this would be most of the work of a split."""
        return evenly(len(self.mass), _TUNED // len(self.shares))

    @cached_property
    def n_rows(self) -> float:
        """Number of rows that count as much as these do, each with the mass that it is left out with."""
        return 1 / float(self.mass @ self.own_mass)

    @cached_property
    def dimension(self) -> float:
        """tr(S)² / tr(S²) of the second moments S of some of the rows: d for isotropic ones."""
        chosen = evenly(len(self.mass), 512)
        part = self.rows.block(chosen).astype(np.float64) * np.sqrt(self.mass[chosen])[:, None]
        gram = part @ part.T
        square = float((gram**2).sum())
        return max(1.0, float(np.trace(gram)) ** 2 / square) if square > 0 else 1.0


@dataclass(frozen=True, eq=False)
class Cell:
    """A leaf: a distribution over all rows."""

    node: int
    depth: int
    mass: NDArray[Any]  # part of each row that reaches the leaf
    masses: Floats  # sum of `mass` over the rows of each class
    sums: Floats  # sum of ``mass * x`` over the rows of each class, of shape (K, d)
    partner: Floats | None = None  # second direction, where the test of the parent is the first of a pair

    @cached_property
    def total(self) -> float:
        """Part of the sample that reaches the leaf."""
        return float(self.masses.sum())

    @cached_property
    def moments(self) -> Moments:
        """Moments of the normalised distribution."""
        return Moments.from_sums(self.masses, self.sums)

    def steepness(self, scores: Floats, rescale: float) -> float:
        """Return the factor that `rescale` gives to a unit vector with these products w·x."""
        square = float(self.mass @ scores**2) / self.total
        return 1 / (rescale * np.sqrt(square)) if rescale and square > 0 else 1.0


class Pair(NamedTuple):
    """The second of two directions whose product the target follows, and how it follows each class."""

    partner: Floats
    by_class: Floats


class Split(NamedTuple):
    """A test of a leaf."""

    weights: Floats  # a row goes to the first child with probability ``clip((1 + w·x) / 2, 0, 1)``
    steepness: float  # norm of the weights, 1 unless they were rescaled
    gain: float  # decrease of the index, in units of the whole sample
    in_pair: bool = False  # whether the test is one of a pair, the first or the second
    # The other direction, if the test is the first of a pair: one from second moments.
    pair: Pair | None = None
    contrast: Floats | None = None  # of the classes that a test with an offset follows


def rescale_of_pairs(rescale: float) -> float:
    """Return the `rescale` of the two tests of a pair."""
    return min(rescale, _PAIR_RESCALE)


def evenly(n: int, most: int) -> NDArray[np.intp]:
    """Return the numbers of at most `most` of n rows, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp))


def gate(scores: Floats) -> Floats:
    """Return the probability of the first child for products w·x."""
    return np.clip((1 + scores) / 2, 0.0, 1.0)


def blas_threads(n_numbers: int) -> Any:
    """Return a context in which products with a matrix of this many numbers use threads if it pays."""
    return libraries().limit(limits=1, user_api="blas") if n_numbers <= _ONE_THREAD else nullcontext()


def blocks(start: Any, stop: Any, size: int = BLOCK) -> list[slice]:
    """Return consecutive slices of at most `size` rows."""
    return [slice(i, min(i + size, int(stop))) for i in range(int(start), int(stop), size)]
