"""Compiled loops over pairs of tests, as bits. Imported only by the function that calls them."""

import numpy as np

from offsample._kernels import njit
from offsample._ties import DIGITS
from offsample._typing import Booleans, Ints, Words

_UNITS = 10.0**DIGITS


@njit(cache=True, nogil=True)
def pack_bits(marks: Booleans, out: Words) -> None:
    """64 marks to a word."""
    out[:] = 0
    for i in range(marks.size):
        if marks[i]:
            out[i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@njit(cache=True, nogil=True)
def _popcount(x: np.uint64) -> np.uint64:
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True, nogil=True)
def _count_common(a: Words, b: Words, c: Words) -> int:
    n = np.uint64(0)
    for i in range(a.size):
        n += _popcount(a[i] & b[i] & c[i])
    return int(n)


@njit(cache=True, nogil=True)
def best_pair(tests: Words, owner: Ints, classes: Words, n: int) -> tuple[float, int, int, int]:
    """Largest standardised interaction of two tests of different columns, the tests, and the number tried.

    ``tests[t]`` and ``classes[k]`` are bits of the n rows. The statistic of tests a, b and class k is the sum
    over the rows of class k of ``(a - mean(a)) (b - mean(b))``, standardised by its moments when the classes
    are shuffled. Of equal ones (to ten digits) the first.
    """
    n_tests, n_classes = tests.shape[0], classes.shape[0]
    size = np.empty(n_tests)
    of_class = np.empty((n_tests, n_classes))
    total = np.empty(n_classes)
    for k in range(n_classes):
        total[k] = _count_common(classes[k], classes[k], classes[k])
    for t in range(n_tests):
        size[t] = _count_common(tests[t], tests[t], tests[t])
        for k in range(n_classes):
            of_class[t, k] = _count_common(tests[t], tests[t], classes[k])
    best, highest, first, second, n_tried = 0.0, 0.0, -1, -1, 0
    for s in range(n_tests):
        p = size[s] / n
        for t in range(s + 1, n_tests):
            if owner[s] == owner[t]:
                continue
            q = size[t] / n
            both = _count_common(tests[s], tests[t], tests[t])
            mean = both / n - p * q
            square = (1 - 2 * p) * (1 - 2 * q) * both / n + (1 - 2 * p) * q * q * p + p * p * (1 - 2 * q) * q
            spread = square + p * p * q * q - mean * mean
            for k in range(n_classes):
                rarest = min(total[k], n - total[k]) * min(p, 1 - p) * min(q, 1 - q)
                if rarest < 5.0 or spread < 1e-9:  # the normal law does not hold, or nothing varies
                    continue
                n_tried += 1
                here = _count_common(tests[s], tests[t], classes[k])
                found = here - q * of_class[s, k] - p * of_class[t, k] + total[k] * p * q - total[k] * mean
                variance = spread * n * total[k] * (1 - total[k] / n) / (n - 1)
                z = abs(found) / np.sqrt(variance)
                rounded = np.rint(z * _UNITS)
                if rounded > highest:
                    best, highest, first, second = z, rounded, s, t
    return best, first, second, n_tried
