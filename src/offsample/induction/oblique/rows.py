"""Rows of norm at most 1, dense or sparse, and the products with them that a stochastic tree is made of."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

Floats = NDArray[np.float64]

# Rows of a block: the partial sums of float32 products stay exact enough, and a block fits in the cache.
BLOCK = 4096
# Larger arrays are kept in float32 whatever came in: what is summed over them is float64.
MOST_NUMBERS = 2**25
# Threads of a product with fewer numbers wait for each other longer than they work.
_ONE_THREAD = 2**22


@dataclass(frozen=True, eq=False)
class UnitRows:
    """A matrix of rows x with ‖x‖ <= 1.

    A sparse matrix S stands for the rows ``(S - shift) * length⁻¹``: centred without being filled in.

    Attributes
    ----------
    matrix : ndarray or csr_matrix of shape (n, d)
    shift : ndarray of shape (d,) or None
        Of a sparse matrix.
    per_row : ndarray of shape (n,) or None
        Factor of each row of a sparse matrix.
    constant : float or None
        Value of one more column, the bias.
    starts : ndarray of int, shape (K + 1,)
        Rows are sorted by class: class k has the rows from starts[k] to starts[k + 1].
    lengths : ndarray of shape (n,) or None
        What the rows were divided by.
    """

    matrix: Any
    shift: Floats | None
    per_row: Floats | None
    constant: float | None
    starts: NDArray[np.intp]
    lengths: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of weights that a test has."""
        n, d = self.matrix.shape
        return n, d + (self.constant is not None)

    def squared_norms(self) -> Floats:
        """‖x‖² of each row."""
        if self.per_row is None or self.shift is None:
            n = self.matrix.shape[0]
            out = np.empty(n)
            for block in blocks(0, n):
                rows = self.matrix[block].astype(np.float64, copy=False)
                out[block] = np.einsum("ij,ij->i", rows, rows)
        else:
            out = shifted_squares(self.matrix, self.shift) * self.per_row**2
        return out if self.constant is None else out + self.constant**2

    def squared(self) -> UnitRows:
        """The square of each number of each row, without the bias."""
        if self.per_row is None or self.shift is None:
            return replace(self, matrix=self.matrix**2, constant=None)
        # (s - shift)² = (s² - 2 s shift) + shift²: nothing is filled in.
        matrix = self.matrix.copy()
        matrix.data = matrix.data * (matrix.data - 2 * self.shift.astype(matrix.dtype)[matrix.indices])
        return replace(self, matrix=matrix, shift=-(self.shift**2), per_row=self.per_row**2, constant=None)

    def scores(self, weights: Floats) -> Floats:
        """w·x of each row, for one vector w of shape (d,) or several of shape (d, m)."""
        constant = 0.0
        if self.constant is not None:
            constant, weights = self.constant * weights[-1], weights[:-1]
        if self.per_row is None or self.shift is None:
            product = self.matrix @ weights.astype(self.matrix.dtype, copy=False)
            return np.asarray(product + constant, dtype=np.float64)
        product = np.asarray(self.matrix @ weights.astype(self.matrix.dtype, copy=False), dtype=np.float64)
        factor = self.per_row if weights.ndim == 1 else self.per_row[:, None]
        return np.asarray(factor * (product - self.shift @ weights) + constant)

    def sums(self, masses: Floats) -> Floats:
        """Σ mass x of each class, of shape (K, d), or (K, m, d) for masses of shape (n, m)."""
        n_classes, d = len(self.starts) - 1, self.shape[1]
        total = np.zeros((n_classes, *masses.shape[1:], d))
        dense_width = self.matrix.shape[1]
        scaled = masses if self.per_row is None else (masses.T * self.per_row).T
        for k in range(n_classes):
            for block in blocks(self.starts[k], self.starts[k + 1]):
                part = scaled[block].T.astype(self.matrix.dtype, copy=False)
                total[k, ..., :dense_width] += np.asarray(part @ self.matrix[block])
            rows = slice(self.starts[k], self.starts[k + 1])
            if self.shift is not None:
                total[k, ..., :dense_width] -= np.multiply.outer(scaled[rows].sum(axis=0), self.shift)
            if self.constant is not None:
                total[k, ..., -1] = masses[rows].sum(axis=0) * self.constant
        return total

    def second_moments(self, masses: Floats) -> Floats:
        """Σ mass x xᵀ of each class, of shape (K, d, d)."""
        n_classes, d = len(self.starts) - 1, self.shape[1]
        total = np.zeros((n_classes, d, d))
        for k in range(n_classes):
            for block in blocks(self.starts[k], self.starts[k + 1]):
                rows = self.block(block)
                weighted = rows * masses[block, None].astype(rows.dtype, copy=False)
                total[k] += weighted.T @ rows
        return total

    def block(self, rows: slice | NDArray[np.intp]) -> NDArray[Any]:
        """Some rows, written out."""
        part = self.matrix[rows]
        if self.shift is not None and self.per_row is not None:
            part = (part.toarray() - self.shift) * self.per_row[rows, None]
        if self.constant is not None:
            part = np.column_stack([part, np.full(len(part), self.constant, part.dtype)])
        return np.asarray(part)

    def by_class(self, values: Floats) -> Floats:
        """Sum of values, of shape (n, ...), over the rows of each class."""
        return np.asarray(np.add.reduceat(values, self.starts[:-1], axis=0))


def gate(scores: Floats) -> Floats:
    """Probability of the first child."""
    return np.clip((1 + scores) / 2, 0.0, 1.0)


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def blas_threads(n_numbers: int) -> Any:
    """Context in which products with so many numbers have as many threads as they have use for."""
    return _libraries().limit(limits=1, user_api="blas") if n_numbers <= _ONE_THREAD else nullcontext()


def blocks(start: Any, stop: Any, size: int = BLOCK) -> list[slice]:
    """Slices of at most so many rows, one after the other."""
    return [slice(i, min(i + size, int(stop))) for i in range(int(start), int(stop), size)]


def shifted_squares(matrix: Any, shift: Floats) -> Floats:
    """‖s - shift‖² of the rows s of a sparse matrix."""
    squares = np.asarray(matrix.multiply(matrix).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.maximum(squares - 2 * (matrix @ shift) + shift @ shift, 0.0))


def is_sparse(X: Any) -> bool:
    """Whether this is a scipy sparse matrix or array."""
    return bool(issparse(X))
