"""Fisher's exact test and the number of ones in a word, compiled. Imported only where they are called."""

from math import lgamma, log

import numpy as np

from offsample._kernels import njit
from offsample._typing import Floats, Ints


@njit(cache=False, nogil=True, inline="always")
def popcount(x: np.uint64) -> np.uint64:
    """Number of ones, in the form that compilers know as one instruction."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=False, nogil=True)
def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0)


@njit(cache=False, nogil=True)
def _log_tail(total: int, marked: int, drawn: int, found: int) -> float:
    """Log of the smaller tail of the hypergeometric law, its point included, doubled."""
    upper = found * float(total) > marked * float(drawn)
    log_first = (
        _log_choose(marked, found) + _log_choose(total - marked, drawn - found) - _log_choose(total, drawn)
    )
    term, tail, k = 1.0, 1.0, found
    while term > 1e-12 * tail:
        if upper:
            term *= (marked - k) * float(drawn - k) / ((k + 1.0) * (total - marked - drawn + k + 1.0))
            k += 1
        else:
            term *= k * float(total - marked - drawn + k) / ((marked - k + 1.0) * (drawn - k + 1.0))
            k -= 1
        tail += term
    return min(0.0, log_first + log(tail) + log(2.0))


@njit(cache=True, nogil=True)
def log_p_two_cells(left: Ints, totals: Ints) -> Floats:
    """Log p-values of splits given their left counts: Fisher's exact test, two-sided by doubling."""
    n_classes, total, result = totals.size, totals[0], np.empty(left.shape[0])
    for k in range(1, n_classes):
        total += totals[k]
    # Of more than two classes the best of each against the others, times their number.
    n_tests = 1 if n_classes == 2 else n_classes
    for j in range(left.shape[0]):
        drawn, best = left[j, 0], 0.0
        for k in range(1, n_classes):
            drawn += left[j, k]
        for k in range(n_tests):
            best = min(best, _log_tail(total, totals[k], drawn, left[j, k]))
        result[j] = min(0.0, best + log(float(n_tests)))
    return result
