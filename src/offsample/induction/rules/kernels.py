"""Compiled counting of conditions. Imported only by the functions that call them."""

import numpy as np
from numpy.typing import NDArray

from offsample._kernels import njit
from offsample._typing import Ints, Words
from offsample.induction.kernels import popcount


@njit(cache=False, nogil=True)
def _common(a: Words, b: Words) -> np.uint64:
    n = np.uint64(0)
    for w in range(a.size):
        n += popcount(a[w] & b[w])
    return n


@njit(cache=True, nogil=True)
def pack_groups(group: NDArray[np.int32], n_groups: int) -> Words:
    """Rows of each group as bits, 64 to a word; rows of a negative group are in none."""
    masks = np.zeros((n_groups, (group.size + 63) // 64), np.uint64)
    for i in range(group.size):
        if group[i] >= 0:
            masks[group[i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    return masks


@njit(cache=True, nogil=True)
def count_bits(bits: Words, masks: Words) -> Ints:
    """Rows of each mask in which each test is true: shape (n_masks, n_tests)."""
    counts = np.empty((masks.shape[0], bits.shape[0]), np.int64)
    for a in range(bits.shape[0]):
        for g in range(masks.shape[0]):
            counts[g, a] = _common(bits[a], masks[g])
    return counts


@njit(cache=True, nogil=True)
def count_bit_pairs(bits: Words, masks: Words, first: int, last: int) -> Ints:
    """Rows of each mask in which two tests are true; see `BitIndex.pair_counts`."""
    n_masks, n_words = masks.shape
    counts = np.zeros((n_masks, last - first, bits.shape[0]), np.int64)
    both = np.empty((n_masks, n_words), np.uint64)
    for a in range(first, last):
        for g in range(n_masks):
            for w in range(n_words):
                both[g, w] = bits[a, w] & masks[g, w]
        for b in range(a + 1, bits.shape[0]):
            for g in range(n_masks):
                counts[g, a - first, b] = _common(bits[b], both[g])
    return counts


@njit(cache=True, nogil=True)
def count_postings(starts: Ints, rows: NDArray[np.int32], group: NDArray[np.int32], n_groups: int) -> Ints:
    """The same as `count_bits` from the rows of each test: those from ``starts[a]`` to ``starts[a + 1]``."""
    counts = np.zeros((n_groups, starts.size - 1), np.int64)
    for a in range(starts.size - 1):
        for i in range(starts[a], starts[a + 1]):
            g = group[rows[i]]
            if g >= 0:
                counts[g, a] += 1
    return counts


@njit(cache=True, nogil=True)
def count_posting_pairs(
    starts: Ints,
    rows: NDArray[np.int32],
    row_starts: Ints,
    tests: NDArray[np.int32],
    group: NDArray[np.int32],
    n_groups: int,
    first: int,
    last: int,
) -> Ints:
    """The same as `count_bit_pairs` from the rows of each test and the tests, ascending, of each row."""
    counts = np.zeros((n_groups, last - first, starts.size - 1), np.int64)
    for a in range(first, last):
        for i in range(starts[a], starts[a + 1]):
            row = rows[i]
            g = group[row]
            if g < 0:
                continue
            for j in range(row_starts[row + 1] - 1, row_starts[row] - 1, -1):
                if tests[j] <= a:
                    break
                counts[g, a - first, tests[j]] += 1
    return counts


@njit(cache=False, nogil=True)
def _literal_word(bits: Words, literal: int, w: int) -> np.uint64:
    """Word of a test, or of its negation if `literal` is beyond the tests."""
    n_tests = bits.shape[0]
    return np.uint64(bits[literal, w] if literal < n_tests else ~bits[literal - n_tests, w])


@njit(cache=True, nogil=True)
def next_cover(
    bits: Words, masks: Words, start: int, max_errors: float, min_coverage: int, with_pairs: bool
) -> tuple[int, int, int]:
    """First condition, in order, of which one class is nearly all: its two literals, and its place.

    The order is that of all literals, then of all pairs (a, b > a) of literals of different tests. A
    condition holds for at least `min_coverage` rows of the masks (one per class), of which at most the share
    `max_errors` is not of the most frequent class. The first literal of a single one is -1; (-1, -1, -1) if
    there is none from place `start` on.
    """
    n_tests, n_words = bits.shape
    n_classes = masks.shape[0]
    n_literals = 2 * n_tests
    both = np.empty((n_classes, n_words), np.uint64)
    place = 0
    for a in range(-1, n_literals if with_pairs else 0):
        if place + n_literals - a - 1 <= start:
            place += n_literals - a - 1
            continue
        for k in range(n_classes):
            for w in range(n_words):
                both[k, w] = masks[k, w] if a < 0 else _literal_word(bits, a, w) & masks[k, w]
        for b in range(a + 1, n_literals):
            if place >= start and (a < 0 or b - a != n_tests):
                size, most = 0, 0
                for k in range(n_classes):
                    n = 0
                    for w in range(n_words):
                        n += int(popcount(_literal_word(bits, b, w) & both[k, w]))
                    size += n
                    most = max(most, n)
                if size >= min_coverage and size - most <= max_errors * size + 1e-9:
                    return a, b, place
            place += 1
    return -1, -1, -1
