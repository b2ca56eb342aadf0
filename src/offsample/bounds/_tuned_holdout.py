"""How far off the hold-out error of the best of many configurations may be."""

from __future__ import annotations

import math

from offsample.bounds._checks import risk


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
    _check_bits(bits)
    if not 0 < deviation < 1:
        raise ValueError(f"deviation must lie strictly between 0 and 1, got {deviation}")
    return math.ceil(_log_union(bits, confidence) / (2 * deviation**2))


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
    _check_bits(bits)
    if n_test < 1:
        raise ValueError(f"n_test must be at least 1, got {n_test}")
    return math.sqrt(_log_union(bits, confidence) / (2 * n_test))


def _check_bits(bits: float) -> None:
    if not 0 <= bits < math.inf:
        raise ValueError(f"bits must be finite and at least 0, got {bits}")


def _log_union(bits: float, confidence: float) -> float:
    return bits * math.log(2) - math.log(risk(confidence))
