"""The rows that a guarantee needs, and what it guarantees with the rows there are."""

from __future__ import annotations

from math import ceil, inf, log, log2, sqrt
from typing import Literal

from offsample._checks import check_count, risk


def pac_sample_size(log_size: float, error: float, confidence: float = 0.95) -> int:
    """Rows after which no consistent hypothesis of a finite model is worse than `error`.

    ``(ln |H| + ln 1/δ) / ε``, rounded up, Eq. (2.1) of Scheffer (1999), who prints the inequality the other
    way: no hypothesis without errors on the sample has a true error above ε.

    Parameters
    ----------
    log_size : float
        Logarithm of the number of hypotheses, ln |H|.
    error : float
        Error ε, between 0 and 1.
    confidence : float, default=0.95

    Examples
    --------
    >>> from math import log
    >>> from offsample.bounds import pac_sample_size
    >>> pac_sample_size(64 * log(2), 0.1)
    474
    """
    _check(log_size, error)
    return ceil((log_size - log(risk(confidence))) / error)


def vc_deviation(dimension: int, n_samples: int, confidence: float = 0.95) -> float:
    """Bound on the difference of true error and error on the sample in a model, by its VC dimension.

    Vapnik (1982): ``2 sqrt((d (ln(2m/d) + 1) + ln(9/δ)) / m)``; infinity where d > 2m.

    Parameters
    ----------
    dimension : int
        VC dimension d, at least 1.
    n_samples : int
        Rows, m.
    confidence : float, default=0.95

    Examples
    --------
    >>> from offsample.bounds import vc_deviation
    >>> round(vc_deviation(10, 10_000), 3)
    0.191
    """
    check_count("n_samples", n_samples, 1)
    check_count("dimension", dimension, 1)
    delta = risk(confidence)
    if dimension > 2 * n_samples:
        return inf
    complexity = dimension * (log(2 * n_samples / dimension) + 1)
    return 2 * sqrt((complexity + log(9 / delta)) / n_samples)


def occam_sample_size(
    stratum_size: float,
    error: float,
    confidence: float = 0.95,
    *,
    growth: Literal["constant", "doubling"] = "constant",
    n_strata: int | None = None,
) -> int:
    """Rows for a learner that takes a consistent hypothesis of the first stratum that has one.

    Theorems 11 to 13 of Scheffer (1999), corrected. The target falls into the i-th of *disjoint* strata with
    probability at least 2^-i, so the learner gets past i - 1 strata with probability at most 2^-(i-1). (With
    nested strata the same holds if the target lies in the first i of them with probability 1 - 2^-i.)

    ===================== ================================= =======================
    growth                rows                              strata
    ===================== ================================= =======================
    constant              ``ln(2k/δ) / ε``                  any number (Theorem 11)
    doubling, `n_strata`  ``ln(2Mk/δ) / ε``                 M (Theorem 12)
    doubling, None        ``ln(4Mk/δ) / ε``                 first M = ⌈log₂(2/δ)⌉ (Theorem 13)
    ===================== ================================= =======================

    Parameters
    ----------
    stratum_size : float
        k: each stratum has at most k hypotheses, or at most k 2^i with doubling growth.
    error : float
        Error ε, between 0 and 1.
    confidence : float, default=0.95
        Over samples and targets.
    growth : {"constant", "doubling"}
    n_strata : int, optional
        M; None for infinitely many, of which the first ⌈log₂(2/δ)⌉ are searched.

    Examples
    --------
    >>> from offsample.bounds import occam_sample_size
    >>> occam_sample_size(100, 0.1), occam_sample_size(100, 0.1, growth="doubling")
    (83, 108)
    """
    if not 1 <= stratum_size < inf:
        raise ValueError(f"stratum_size must be at least 1, got {stratum_size}")
    _check(0.0, error)
    delta = risk(confidence)
    if n_strata is not None:
        check_count("n_strata", n_strata, 1)
    if growth == "constant":
        factor = 2.0
    elif growth != "doubling":
        raise ValueError(f"growth must be 'constant' or 'doubling', got {growth!r}")
    elif n_strata is not None:
        factor = 2.0 * n_strata
    else:
        factor = 4.0 * ceil(log2(2 / delta) - 1e-12)
    return ceil(log(factor * stratum_size / delta) / error)


def tuned_holdout_size(bits: float, deviation: float, confidence: float = 0.95) -> int:
    """Rows of a hold-out set on which the best of ``2^bits`` configurations looks hardly better than it is.

    Theorem 15 of Scheffer (1999): with ``m >= (bits ln 2 + ln(1/δ)) / (2 ε²)`` rows, the hold-out error of
    the configuration that looks best is below its error by more than ε with probability at most δ, whatever
    the configurations and the distribution. Rounded up (three of the six printed sizes are not).

    Parameters
    ----------
    bits : float
        ``log2`` of the number of configurations tried; 0 for one.
    deviation : float
        Deviation ε, in (0, 1).
    confidence : float, default=0.95

    Examples
    --------
    >>> from offsample.bounds import tuned_holdout_size
    >>> tuned_holdout_size(bits=0, deviation=0.05), tuned_holdout_size(bits=10, deviation=0.05)
    (600, 1986)
    """
    if not 0 < deviation < 1:
        raise ValueError(f"deviation must lie strictly between 0 and 1, got {deviation}")
    return ceil(_log_union(bits, confidence) / (2 * deviation**2))


def tuned_holdout_deviation(bits: float, n_test: int, confidence: float = 0.95) -> float:
    """Bound on how much too good the best of ``2^bits`` configurations looks on a hold-out set.

    Theorem 15 of Scheffer (1999), solved for ``ε = sqrt((bits ln 2 + ln(1/δ)) / (2 m))``: with probability
    1 - δ, the error of the configuration that looks best is at most its hold-out error plus ε.

    Parameters
    ----------
    bits : float
        ``log2`` of the number of configurations tried.
    n_test : int
        Rows of the hold-out set, m.
    confidence : float, default=0.95

    Examples
    --------
    >>> from offsample.bounds import tuned_holdout_deviation
    >>> round(tuned_holdout_deviation(bits=6, n_test=1186), 4)
    0.0549
    """
    check_count("n_test", n_test, 1)
    return sqrt(_log_union(bits, confidence) / (2 * n_test))


def _log_union(bits: float, confidence: float) -> float:
    if not 0 <= bits < inf:
        raise ValueError(f"bits must be finite and at least 0, got {bits}")
    return bits * log(2) - log(risk(confidence))


def _check(log_size: float, error: float) -> None:
    if not 0 <= log_size < inf:
        raise ValueError(f"log_size must be a finite number of at least 0, got {log_size}")
    if not 0 < error < 1:
        raise ValueError(f"error must lie strictly between 0 and 1, got {error}")
