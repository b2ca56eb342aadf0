"""Guarantees for Ginger and for the majority rule of a partition."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import bdtr

from offsample._checks import check_count, risk
from offsample._typing import Floats, Ints
from offsample.counts import CellCounts


def ginger_bias(n_samples: int, n_classes: int = 2, sharp: bool = False) -> float:
    """Bound on how much Ginger exceeds the expected error of the Gini rule.

    Theorem 1 of Sabato and Shalev-Shwartz (2008), printed for two classes: for every distribution
    ``0 <= E[ginger] - E[error of the Gini rule] <= (K-1)/(Km)``, so the estimate is never too low in
    expectation.

    Parameters
    ----------
    n_samples : int
        Rows, m.
    n_classes : int
        Classes, K.
    sharp : bool
        Return ``(K-1)/(Km) (1 - 1/m)^(m-1)``, which m equiprobable values with deterministic labels attain.

    Examples
    --------
    >>> from offsample.bounds import ginger_bias
    >>> ginger_bias(100)
    0.005
    """
    check_count("n_samples", n_samples, 1)
    check_count("n_classes", n_classes, 2)
    bias = (n_classes - 1) / (n_classes * n_samples)
    return float(bias * (1 - 1 / n_samples) ** (n_samples - 1)) if sharp else bias


def ginger_deviation(n_samples: int, confidence: float = 0.95) -> float:
    """Bound on |ginger - error of the Gini rule of this sample| for two classes.

    Theorem 2 of Sabato and Shalev-Shwartz (2008) with the constants of its proof, for every distribution:
    ``2/m + 12 ln(8m/δ) sqrt(ln(8/δ)) / sqrt(2m) + 12 sqrt(ln(4/δ) / (2m))``. Vacuous (above 1) at 95 % until
    m = 113,794; `criteria.error_interval` gives an interval that works.

    Examples
    --------
    >>> from offsample.bounds import ginger_deviation
    >>> ginger_deviation(113_793) > 1 > ginger_deviation(113_794)
    True
    """
    check_count("n_samples", n_samples, 1)
    delta = risk(confidence)
    root = np.sqrt(2 * n_samples)
    rare = 12 * np.log(8 * n_samples / delta) * np.sqrt(np.log(8 / delta)) / root
    return float(2 / n_samples + rare + 12 * np.sqrt(np.log(4 / delta)) / root)


def ginger_concentration(n_samples: int, n_classes: int = 2, confidence: float = 0.95) -> float:
    """Bound on |ginger - E[ginger]| by McDiarmid's inequality.

    Changing one row changes Ginger by at most ``(2 + (K-1)/K)/m`` (Lemma 8 of Sabato and Shalev-Shwartz
    (2008) has 12/m), so the deviation is at most ``(2 + (K-1)/K) sqrt(ln(2/δ) / (2m))`` for every
    distribution. It concerns the mean over samples, not the rule of this sample.

    Examples
    --------
    >>> from offsample.bounds import ginger_concentration
    >>> round(ginger_concentration(5000), 3)
    0.048
    """
    check_count("n_samples", n_samples, 1)
    check_count("n_classes", n_classes, 2)
    difference = 2 + (n_classes - 1) / n_classes
    return float(difference * np.sqrt(np.log(2 / risk(confidence)) / (2 * n_samples)))


def bayes_excess(cells: CellCounts, weights: Literal["paper", "tight"] = "paper") -> float:
    """Estimate of a bound on E[error of the majority rule] - Bayes error, for two classes.

    Theorem 3 of Sabato and Shalev-Shwartz (2008) bounds it by ``sum_k w_k E[M_k]``, with M_k the probability
    of the values seen k times. This is ``(1/m) sum_v c_v w_(c_v - 1)``, an unbiased estimate of that bound
    for samples of m - 1 rows.

    Parameters
    ----------
    cells : CellCounts
        Frequencies, two classes.
    weights : {"paper", "tight"}
        "paper": ``w = 1/2, 1/8, 1/8`` and ``1/sqrt(e k)`` from k = 3, as printed. "tight": the largest excess
        of a majority of k labels, ``max_q (2q - 1) (Pr[Bin(k, q) < k/2] + Pr[= k/2]/2)``, about
        ``0.17/sqrt(k)``, which is 3.6 times smaller for large cells.

    Examples
    --------
    >>> from offsample.bounds import bayes_excess
    >>> from offsample.counts import CellCounts
    >>> bayes_excess(CellCounts([[1, 0], [0, 1]]))  # nothing was seen twice: half of all errors
    0.5
    >>> round(bayes_excess(CellCounts([[60, 40], [30, 70]]), weights="tight"), 4)
    0.017
    """
    cells.require_frequencies("bayes_excess")
    if cells.n_classes != 2:
        raise ValueError(f"bayes_excess (Theorem 3) is for two classes, got {cells.n_classes}")
    if weights not in ("paper", "tight"):
        raise ValueError(f"weights must be 'paper' or 'tight', got {weights!r}")
    sizes, row = np.unique(cells.cell_sizes, return_inverse=True)
    k = sizes - 1
    printed = np.select([k == 0, k <= 2], [0.5, 0.125], 1 / np.sqrt(np.e * np.maximum(k, 1)))
    w = printed if weights == "paper" else _largest_excess(k)
    return float((cells.multiplicity * cells.cell_sizes) @ w[row] / cells.n_samples)


def _largest_excess(k: Ints) -> Floats:
    """Largest excess error of a majority of `k` labels over the better class, for each k."""
    # An even vote equals the odd one before it: the last label can only make or break a tie.
    odd = np.where(k > 0, k - 1 + k % 2, 0)

    def excess(x: Floats) -> Floats:
        q = (1 + x) / 2
        return np.asarray(x * bdtr(odd // 2, odd, q))

    # Unimodal in x = 2q - 1; its maximum lies at x of order 1/sqrt(k). Golden section, all k at once.
    low, high = np.zeros(k.shape), np.minimum(1.0, 3 / np.sqrt(np.maximum(odd, 1)))
    golden = (np.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - golden * (high - low), low + golden * (high - low)
        rising = excess(left) < excess(right)
        low, high = np.where(rising, left, low), np.where(rising, high, right)
    return np.where(k == 0, 0.5, excess((low + high) / 2))


def bayes_deviation(n_samples: int, confidence: float = 0.95) -> float:
    """Bound on |error of the majority rule of this sample - its expectation| for two classes.

    Theorem 4 of Sabato and Shalev-Shwartz (2008) with the constants of its proof and the risk divided among
    five events, for every distribution and m >= 8: ``12 ln(10m/δ) m^(-1/6) sqrt(ln(10/δ)/2) + sqrt(3
    ln(10m/δ) ln(10/δ)) m^(-1/4) + m^(-1/4) + 1/m + m^(-1/6)``. Below 1 only for m > 5.4e17.

    Examples
    --------
    >>> from offsample.bounds import bayes_deviation
    >>> round(bayes_deviation(5000), 1)
    67.4
    """
    if n_samples < 8:
        raise ValueError(f"bayes_deviation (Theorem 4) needs n_samples of at least 8, got {n_samples}")
    delta, m = risk(confidence), float(n_samples)
    log_m, log_1 = np.log(10 * m / delta), np.log(10 / delta)
    rare = 12 * log_m * m ** (-1 / 6) * np.sqrt(log_1 / 2)
    middle = np.sqrt(3 * log_m * log_1) * m ** (-1 / 4)
    return float(rare + middle + m ** (-1 / 4) + 1 / m + m ** (-1 / 6))
