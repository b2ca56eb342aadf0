"""Which rows which tests are true for, in two forms that count fast."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from offsample._typing import Booleans, Ints, Words

Groups = NDArray[np.int32]


class BitIndex:
    """Which rows of a sample which tests are true for, 64 rows to a word, of truth (n_tests, n_rows).

    A *literal* is a number: that of a test, or `n_tests` more for its negation. A *group* is a number for
    each row, negative for rows to leave out.
    """

    def __init__(self, truth: Any) -> None:
        rows = np.asarray(truth, bool)
        self.n_tests, self.n_rows = rows.shape
        packed = np.zeros((self.n_tests, -(-self.n_rows // 64) * 8), np.uint8)
        packed[:, : -(-self.n_rows // 8)] = np.packbits(rows, axis=1, bitorder="little")
        self._bits = packed.view(np.uint64)

    def _masked(self, group: Groups, n_groups: int) -> tuple[Words, Words]:
        """Bits and masks, without the words that no group has a row in."""
        from offsample.induction.rules import kernels

        masks = kernels.pack_groups(group, n_groups)
        used = np.flatnonzero(masks.any(axis=0))
        if 2 * len(used) > masks.shape[1]:
            return self._bits, masks
        return np.ascontiguousarray(self._bits[:, used]), np.ascontiguousarray(masks[:, used])

    def counts(self, group: Groups, n_groups: int) -> Ints:
        """Rows of each group in which each test is true, of shape (n_groups, n_tests)."""
        from offsample.induction.rules import kernels

        return kernels.count_bits(*self._masked(group, n_groups))

    def pair_counts(self, group: Groups, n_groups: int, first: int, last: int) -> Ints:
        """The same for tests a from `first` to ``last - 1`` and b > a, 0 elsewhere, of 3 dimensions."""
        from offsample.induction.rules import kernels

        return kernels.count_bit_pairs(*self._masked(group, n_groups), first, last)

    def truth(self, literal: int) -> Booleans:
        """Truth of a literal in each row."""
        rows = self._true_rows(literal % self.n_tests)
        return rows if literal < self.n_tests else ~rows

    def _true_rows(self, test: int) -> Booleans:
        words = self._bits[test].view(np.uint8)
        return np.unpackbits(words, count=self.n_rows, bitorder="little").view(bool)

    def bits(self) -> Words:
        """All tests as bits, 64 rows to a word."""
        return self._bits


class InvertedIndex(BitIndex):
    """The same of sparse data, of shape (n_rows, n_tests): what is stored is true."""

    def __init__(self, present: Any) -> None:
        by_test, by_row = csc_array(present), csr_array(present)
        by_row.sort_indices()
        self.n_rows, self.n_tests = by_test.shape
        self._starts, self._rows = by_test.indptr.astype(np.int64), by_test.indices.astype(np.int32)
        self._row_starts, self._tests = by_row.indptr.astype(np.int64), by_row.indices.astype(np.int32)

    def counts(self, group: Groups, n_groups: int) -> Ints:
        """Rows of each group in which each test is true."""
        from offsample.induction.rules import kernels

        return kernels.count_postings(self._starts, self._rows, group, n_groups)

    def pair_counts(self, group: Groups, n_groups: int, first: int, last: int) -> Ints:
        """Rows of each group in which two tests are true."""
        from offsample.induction.rules import kernels

        return kernels.count_posting_pairs(
            self._starts, self._rows, self._row_starts, self._tests, group, n_groups, first, last
        )

    def _true_rows(self, test: int) -> Booleans:
        rows = np.zeros(self.n_rows, bool)
        rows[self._rows[self._starts[test] : self._starts[test + 1]]] = True
        return rows

    def bits(self) -> Words:
        """All tests as bits."""
        n_bytes = self.n_tests * self.n_rows // 8
        if n_bytes > 2**30:
            raise ValueError(
                f"{self.n_tests:,} tests of {self.n_rows:,} rows take {n_bytes / 2**30:.1f} GB as bits: "
                'select columns first, or use strategy="greedy", which needs no bits'
            )
        truth = np.array([self.truth(test) for test in range(self.n_tests)], bool)
        return BitIndex(truth.reshape(self.n_tests, self.n_rows)).bits()
