"""Binomial masses and tails as logarithms, accurate where they underflow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from offsample._typing import Booleans, Floats

_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
_TABLE = np.array(
    [0.0] + [gammaln(n + 1) - (n + 0.5) * np.log(n) + n - _HALF_LOG_2PI for n in np.arange(1.0, 16.0)]
)


def _stirling_error(n: Floats) -> Floats:
    """``log n! - log(sqrt(2πn) (n/e)^n)``; 0 for n = 0, which no caller uses."""
    large = np.maximum(n, 16.0)
    square = large * large
    series = 1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square) / square) / square
    return np.where(n < 16, _TABLE[np.minimum(n, 15).astype(np.intp)], series / large)


def _deviance(x: Floats, mean: Floats) -> Floats:
    """``x log(x / mean) + mean - x`` without cancellation where the two are close."""
    x, mean = np.broadcast_arrays(x, mean)
    difference = x - mean
    total = x + mean
    v = np.divide(difference, total, out=np.zeros_like(total), where=total > 0)
    close = np.abs(v) < 0.1
    square = v * v
    series = np.zeros_like(v)
    for j in range(10, 0, -1):
        series = square * (series + 1 / (2 * j + 1))
    near = difference * v + 2 * x * v * series
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        far = x * np.log(x / mean) - difference
    return np.where(close, near, np.where(x == 0, mean, far))


def log_pmf(count: ArrayLike, n_samples: int, error: ArrayLike) -> Floats:
    """Logarithm of the binomial mass, by the saddle-point expansion of Loader (2000).

    ``gammaln`` loses four digits at n = 10⁵; the expansion loses none.
    """
    x = np.asarray(count, dtype=float)
    x, e = np.broadcast_arrays(x, np.asarray(error, dtype=float))
    m = float(n_samples)
    inside = (x > 0) & (x < m)
    inner = np.where(inside, x, m / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = _stirling_error(np.asarray(m)) - _stirling_error(inner) - _stirling_error(m - inner)
        shape = np.log(inner) + np.log1p(-inner / m)
        middle = (
            correction
            - _deviance(inner, m * e)
            - _deviance(m - inner, m * (1 - e))
            - _HALF_LOG_2PI
            - 0.5 * shape
        )
        none = m * np.log1p(-e)
        every = m * np.log(e)
    answer = np.where(inside, middle, np.where(x == 0, none, every))
    # 0 log 0 of the degenerate laws
    answer = np.where(e == 0, np.where(x == 0, 0.0, -np.inf), answer)
    answer = np.where(e == 1, np.where(x == m, 0.0, -np.inf), answer)
    return np.where((x < 0) | (x > m), -np.inf, answer)


def mixture_law(errors: Floats, mass: Floats, n_samples: int) -> Floats:
    """Law of the number of errors on new rows, for error rates with these masses."""
    law, counts = np.zeros(n_samples + 1), np.arange(n_samples + 1)
    for k in np.flatnonzero(mass > 1e-18):
        law += mass[k] * np.exp(log_pmf(counts, n_samples, errors[k]))
    return law


@dataclass(frozen=True)
class Tails:
    """Logarithms of P(S = s), P(S < s) and P(S >= s), over atoms (rows) and counts s (columns)."""

    mass: Floats
    below: Floats
    at_least: Floats


def tails(errors: Floats, n_samples: int, first: int, last: int) -> Tails:
    """Masses and tails of binomial counts from `first` to `last`, for each error rate.

    The smaller tail is a sum of positive terms, ``b(x) (1 + r(x) (1 + r(x-1) (…)))``, accurate to all digits;
    the larger one is its complement.
    """
    m, e = n_samples, errors[:, None]
    counts = np.arange(first, last + 1)
    mass = log_pmf(counts, m, e)
    mean = m * errors
    lower = np.empty(mass.shape)  # P(S <= s - 1) / b(s - 1)
    upper = np.empty(mass.shape)  # P(S >= s) / b(s)
    with np.errstate(over="ignore"):
        ratio = _series(errors, m, first - 1, mean > first - 1, down=True)
        for j, s in enumerate(counts):
            if j:
                ratio = np.minimum(1 + _down(int(s) - 1, m, errors) * ratio, 1e300)
            lower[:, j] = ratio
        ratio = _series(errors, m, last, mean <= last, down=False)
        for j in range(len(counts) - 1, -1, -1):
            if j < len(counts) - 1:
                ratio = np.minimum(1 + _up(int(counts[j]), m, errors) * ratio, 1e300)
            upper[:, j] = ratio
    left = counts - 1 < mean[:, None]
    previous = log_pmf(counts - 1, m, e)
    with np.errstate(divide="ignore", invalid="ignore"):
        below = np.where(left, previous + np.log(lower), 0.0)
        at_least = np.where(left, 0.0, mass + np.log(upper))
        at_least = np.where(left, np.log1p(-np.exp(np.minimum(below, 0.0))), at_least)
        below = np.where(left, below, np.log1p(-np.exp(np.minimum(at_least, 0.0))))
    return Tails(mass, np.minimum(below, 0.0), np.minimum(at_least, 0.0))


def _down(x: int, m: int, e: Floats) -> Floats:
    """``b(x - 1) / b(x)``."""
    e = np.maximum(e, 1e-300)
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(max(x, 0) * (1 - e) / ((m - x + 1) * e), 1e300))


def _up(x: int, m: int, e: Floats) -> Floats:
    """``b(x + 1) / b(x)``."""
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum((m - x) * e / ((x + 1) * np.maximum(1 - e, 1e-300)), 1e300))


def _series(errors: Floats, m: int, start: int, wanted: Booleans, *, down: bool) -> Floats:
    """Tail divided by its largest mass, for the `wanted` atoms."""
    answer = np.ones(len(errors))
    active = np.flatnonzero(wanted)
    term = np.ones(len(active))
    x = start
    while len(active) and 0 <= x <= m:
        term = term * (_down if down else _up)(x, m, errors[active])
        answer[active] += term
        going = term > 1e-18 * answer[active]
        active, term = active[going], term[going]
        x += -1 if down else 1
    return answer


def tail_bounds(errors: Floats, n_samples: int, count: int) -> tuple[Floats, Floats]:
    """Logarithms of a lower and an upper bound on ``-log P(S >= count)``, to bracket where minima fall."""
    m = n_samples
    if count <= 0:
        none = np.full(len(errors), -np.inf)
        return none, none
    mean = m * errors
    low = np.minimum(log_pmf(np.minimum(count - 1, np.floor((m + 1) * errors)), m, errors), 0.0)
    before = _deviance(np.asarray(float(count - 1)), mean) + _deviance(np.asarray(m - count + 1.0), m - mean)
    with np.errstate(divide="ignore"):
        chernoff = np.log(
            _deviance(np.asarray(float(count)), mean) + _deviance(np.asarray(float(m - count)), m - mean)
        )
        beyond = np.log(np.maximum(3.0, -log_pmf(count, m, errors)))
    chernoff = np.where(np.isnan(chernoff), np.inf, chernoff)
    low = np.where(count > mean, np.maximum(low, chernoff), low)
    return low, np.where(count - 1 < mean, np.log(3.0) - before, beyond)
