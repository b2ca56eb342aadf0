"""Finite-sample guarantees as plain functions, with their constants and their sources.

A bound on an error or on a difference of errors above 1 says nothing. It is returned all the same, so
that nobody takes a vacuous guarantee for a small one.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, gammaln, xlogy

from offsample.counts import CellCounts
from offsample.indexes import IndexFunction, index_value

__all__ = [
    "bayes_deviation",
    "bayes_excess",
    "ginger_bias",
    "ginger_concentration",
    "ginger_deviation",
    "nearest_neighbor_bound",
    "relative_decrease",
    "set_cover_decrease",
    "set_cover_decrease_bound",
]


def _check_n_samples(n_samples: int) -> None:
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1, got {n_samples}")


def _check_n_classes(n_classes: int) -> None:
    if n_classes < 2:
        raise ValueError(f"n_classes must be at least 2, got {n_classes}")


def _risk(confidence: float) -> float:
    """Return the probability δ with which a guarantee may fail."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1, got {confidence}")
    return 1 - confidence


def ginger_bias(n_samples: int, n_classes: int = 2, sharp: bool = False) -> float:
    """Bound on how much Ginger exceeds the expected error of the Gini rule, Theorem 1 of [1]_.

    For every distribution, ``0 <= E[ginger] - E[error of the Gini rule] <=`` this value: the estimate
    is never too low in expectation.

    Parameters
    ----------
    n_samples : int
        m.
    n_classes : int
        K; the theorem is printed for two.
    sharp : bool
        ``(K-1)/(Km) (1 - 1/m)^(m-1)``, attained by m equiprobable values with deterministic labels,
        instead of ``(K-1)/(Km)``, which is printed as 1/(2m).

    References
    ----------
    .. [1] S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization
       Properties. JMLR 9.

    Examples
    --------
    >>> from offsample.bounds import ginger_bias
    >>> ginger_bias(100)
    0.005
    """
    _check_n_samples(n_samples)
    _check_n_classes(n_classes)
    bias = (n_classes - 1) / (n_classes * n_samples)
    return float(bias * (1 - 1 / n_samples) ** (n_samples - 1)) if sharp else bias


def ginger_deviation(n_samples: int, confidence: float = 0.95) -> float:
    """Bound on |ginger - error of the Gini rule of this sample|, Theorem 2 of [1]_, two classes.

    Holds with probability `confidence` over the samples, for every distribution. With the constants of its
    proof, at δ = 1 - confidence:
    ``2/m + 12 ln(8m/δ) sqrt(ln(8/δ)) / sqrt(2m) + 12 sqrt(ln(4/δ) / (2m))``.
    Vacuous (above 1) at 95 % until m = 113,794: for an interval that works, see `criteria.error_interval`.

    References
    ----------
    .. [1] S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization
       Properties. JMLR 9.

    Examples
    --------
    >>> from offsample.bounds import ginger_deviation
    >>> ginger_deviation(113_793) > 1 > ginger_deviation(113_794)
    True
    """
    _check_n_samples(n_samples)
    delta = _risk(confidence)
    root = np.sqrt(2 * n_samples)
    rare = 12 * np.log(8 * n_samples / delta) * np.sqrt(np.log(8 / delta)) / root
    return float(2 / n_samples + rare + 12 * np.sqrt(np.log(4 / delta)) / root)


def ginger_concentration(n_samples: int, n_classes: int = 2, confidence: float = 0.95) -> float:
    """Bound on |ginger - E[ginger]| by McDiarmid's inequality.

    Changing one row changes Ginger by at most ``(2 + (K-1)/K)/m`` (sharper than Lemma 8 of [1]_, which has
    12/m), so the deviation is at most ``(2 + (K-1)/K) sqrt(ln(2/δ) / (2m))`` with probability
    `confidence`, for every distribution. It concerns the mean over samples, not the rule of this one.

    References
    ----------
    .. [1] S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization
       Properties. JMLR 9.

    Examples
    --------
    >>> from offsample.bounds import ginger_concentration
    >>> round(ginger_concentration(5000), 3)
    0.048
    """
    _check_n_samples(n_samples)
    _check_n_classes(n_classes)
    difference = 2 + (n_classes - 1) / n_classes
    return float(difference * np.sqrt(np.log(2 / _risk(confidence)) / (2 * n_samples)))


def bayes_excess(cells: CellCounts, weights: Literal["paper", "tight"] = "paper") -> float:
    """Estimate of Theorem 3's bound on E[error of the majority rule] - Bayes error, two classes.

    The bound of [1]_ is ``sum_k w_k E[M_k]``, with M_k the probability of the values seen k times. This
    is ``(1/m) sum_v c_v w_(c_v - 1)``, an unbiased estimate of that bound for samples of m - 1 rows.

    Parameters
    ----------
    cells : CellCounts
        Frequencies, two classes.
    weights : {"paper", "tight"}
        ``w = 1/2, 1/8, 1/8`` and ``1/sqrt(e k)`` from k = 3 as printed; or the largest excess that a
        majority of k labels can have, ``max_q (2q - 1) (Pr[Bin(k, q) < k/2] + Pr[= k/2]/2)``, about
        ``0.17/sqrt(k)``: 3.6 times smaller for large cells.

    References
    ----------
    .. [1] S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization
       Properties. JMLR 9.

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
    w = (_printed_excess if weights == "paper" else _largest_excess)(sizes - 1)
    return float((cells.multiplicity * cells.cell_sizes) @ w[row] / cells.n_samples)


def _printed_excess(k: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.select([k == 0, k <= 2], [0.5, 0.125], 1 / np.sqrt(np.e * np.maximum(k, 1)))


def _largest_excess(k: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the largest excess error of a majority of `k` labels over the better class, for each k."""
    # An even vote equals the odd one before it: the last label can only make or break a tie.
    odd = np.where(k > 0, k - 1 + k % 2, 0)

    def excess(x: NDArray[np.float64]) -> NDArray[np.float64]:
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
    """Bound on |error of the majority rule of this sample - its expectation|, Theorem 4 of [1]_.

    Holds with probability `confidence`, for every distribution of a value and two classes, from m = 8 on.
    With the constants of its proof and the risk δ divided among five events:
    ``12 ln(10m/δ) m^(-1/6) sqrt(ln(10/δ)/2) + sqrt(3 ln(10m/δ) ln(10/δ)) m^(-1/4) + m^(-1/4) + 1/m
    + m^(-1/6)``. Vacuous for every sample that anyone has: below 1 only for m > 5.4e17.

    References
    ----------
    .. [1] S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization
       Properties. JMLR 9.

    Examples
    --------
    >>> from offsample.bounds import bayes_deviation
    >>> round(bayes_deviation(5000), 1)
    67.4
    """
    if n_samples < 8:
        raise ValueError(f"bayes_deviation (Theorem 4) needs n_samples of at least 8, got {n_samples}")
    delta, m = _risk(confidence), float(n_samples)
    log_m, log_1 = np.log(10 * m / delta), np.log(10 / delta)
    rare = 12 * log_m * m ** (-1 / 6) * np.sqrt(log_1 / 2)
    middle = np.sqrt(3 * log_m * log_1) * m ** (-1 / 4)
    return float(rare + middle + m ** (-1 / 4) + 1 / m + m ** (-1 / 6))


def relative_decrease(before: CellCounts, after: CellCounts, index: str | IndexFunction = "gini") -> float:
    """Share ρ of a partition's index that a refinement removes, Eq. (6) of [1]_.

    ``(I(before) - I(after)) / I(before)``, and 0 where I(before) = 0. Along a sequence of refinements
    ``I(last) = I(first) (1 - ρ_1) (1 - ρ_2) …``, each ρ taken from the partition just before it.

    References
    ----------
    .. [1] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria. Theoretical Computer
       Science.

    Examples
    --------
    >>> from offsample.bounds import relative_decrease
    >>> from offsample.counts import CellCounts
    >>> round(relative_decrease(CellCounts([[4, 4]]), CellCounts([[4, 2], [0, 2]])), 4)
    0.3333
    """
    if not np.isclose(before.n_samples, after.n_samples):
        raise ValueError(
            f"before has {before.n_samples:g} samples and after {after.n_samples:g}: "
            "expected two partitions of the same sample"
        )
    start = index_value(before, index)
    return (start - index_value(after, index)) / start if start > 0 else 0.0


def set_cover_decrease(n_positives: float, n_uncovered: float, index: str = "matsushita") -> float:
    """Relative decrease ρ at the one impure node of a Set-Cover sample, in closed form.

    The sample of [1]_ has a positive row for each element of the set, with variable i equal to 1 if set i
    contains it, and one all-zero negative row. A test splits off the elements of its set, and leaves
    `n_uncovered` (s₁) of the `n_positives` (s) with the negative row:

    ========== ============================================
    matsushita ``1 - sqrt(s₁/s)``
    entropy    ``1 - g(s₁)/g(s)``, ``g(x) = (1+x) ln(1+x) - x ln x``
    gini       ``(s - s₁) / (s (1 + s₁))``
    error      0 while s₁ ≥ 1, and 1 at s₁ = 0
    ========== ============================================

    The first three fall with s₁, so that top-down induction by any of them takes the sets that the greedy
    cover takes. (Theorem 9 is printed without the case s₁ = 0.)

    References
    ----------
    .. [1] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria. Theoretical Computer
       Science. Theorems 4, 5, 7 and 9.

    Examples
    --------
    >>> from offsample.bounds import set_cover_decrease
    >>> set_cover_decrease(16, 4, "matsushita")
    0.5
    """
    s, s1 = float(n_positives), float(n_uncovered)
    if not (s >= 1 and 0 <= s1 <= s):
        raise ValueError(
            f"expected 0 <= n_uncovered <= n_positives and n_positives >= 1, got {s1:g} and {s:g}"
        )
    match index:
        case "matsushita":
            return float(1 - np.sqrt(s1 / s))
        case "entropy":
            return float(1 - _pair_entropy(s1) / _pair_entropy(s))
        case "gini":
            return (s - s1) / (s * (1 + s1))
        case "error":
            return float(s1 == 0)
    raise ValueError(f"index must be 'matsushita', 'entropy', 'gini' or 'error', got {index!r}")


def _pair_entropy(x: float) -> float:
    """Entropy in nats of x positives and one negative, times x + 1."""
    return float(xlogy(1 + x, 1 + x) - xlogy(x, x))


def set_cover_decrease_bound(
    n_positives: int, cover_size: int, index: str = "matsushita", sharp: bool = False
) -> float:
    """Lower bound on the relative decrease of a greedy test on a Set-Cover sample.

    If `cover_size` (c) sets cover all elements, the best test covers at least s/c of the s positives that
    are left, so that ``s₁ <= s (1 - 1/c)``. As printed in [1]_, with explicit constants: ``1/(2c)`` for
    Matsushita, ``1/(4 c ln(1 + s))`` for entropy, ``1/(c s)`` for Gini; a larger value is better, and the
    order of the three is the order of the criteria in the worst case. The error index has no such bound.

    Parameters
    ----------
    n_positives : int
        Positives left at the node (s).
    cover_size : int
        Size of a smallest cover (c*).
    index : {"matsushita", "entropy", "gini"}
    sharp : bool
        `set_cover_decrease` at ``s (1 - 1/c)`` itself, before it is bounded by simpler terms.

    References
    ----------
    .. [1] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria. Theoretical Computer
       Science. Theorems 4, 5 and 7.

    Examples
    --------
    >>> from offsample.bounds import set_cover_decrease_bound
    >>> [round(set_cover_decrease_bound(100, 5, i), 4) for i in ("matsushita", "entropy", "gini")]
    [0.1, 0.0108, 0.002]
    """
    if n_positives < 1 or cover_size < 1:
        raise ValueError(f"n_positives and cover_size must be at least 1, got {n_positives} and {cover_size}")
    forms = {
        "matsushita": 1 / (2 * cover_size),
        "entropy": 1 / (4 * cover_size * np.log1p(n_positives)),
        "gini": 1 / (cover_size * n_positives),
    }
    if index not in forms:
        raise ValueError(f"index must be one of {sorted(forms)}, got {index!r}")
    if sharp:
        return set_cover_decrease(n_positives, n_positives * (1 - 1 / cover_size), index)
    return float(forms[index])


def nearest_neighbor_bound(
    margin_error: float,
    n_samples: int,
    n_features: int,
    n_selected: int,
    radius: float,
    margin: float,
    confidence: float = 0.95,
    *,
    sharp: bool = False,
) -> float:
    """Bound on the error of the nearest-neighbour rule on selected features, Theorem 1 of [1]_, two classes.

    With probability `confidence` over samples of m rows, for all sets F of the N features and all margins γ
    at once, the error is at most ``margin_error + sqrt(2/m (d ln(34em/d) log₂(578m) + ln(8/(γδ)) +
    (|F| + 1) ln N))`` with ``d = (64 R/γ)^|F|``. It says nothing, and infinity is returned, where d > m.
    With R = γ it is vacuous (above 1) until m = 33,421 for the one feature that there is, and until 2·10⁸ for
    three of three: it is there to be understood, not to choose features by.

    Parameters
    ----------
    margin_error : float
        Share of the m rows that the rule gets wrong or whose margin is below γ. The rule has stored the rows:
        a row is its own nearest hit here, and nothing is left out.
    n_samples : int
        m.
    n_features : int
        N, of which the selected ones were chosen.
    n_selected : int
        |F|.
    radius : float
        R of a ball that contains the distribution.
    margin : float
        γ, at most 1.
    confidence : float, default=0.95
        1 - δ.
    sharp : bool, default=False
        ``ln N + ln C(N, |F|)``, which the proof has before it is bounded, instead of ``(|F| + 1) ln N``.

    References
    ----------
    .. [1] R. Gilad-Bachrach, A. Navot, N. Tishby (2004). Margin Based Feature Selection - Theory and
       Algorithms. ICML.

    Examples
    --------
    >>> from offsample.bounds import nearest_neighbor_bound
    >>> round(nearest_neighbor_bound(0.05, 10**6, 100, 1, radius=1.0, margin=1.0), 3)
    0.28
    >>> nearest_neighbor_bound(0.05, 2600, 500, 18, radius=1.0, margin=1.0)
    inf
    """
    if not 0 <= margin_error <= 1:
        raise ValueError(f"margin_error must lie between 0 and 1, got {margin_error}")
    _check_n_samples(n_samples)
    if not 1 <= n_selected <= n_features:
        raise ValueError(f"expected 1 <= n_selected <= n_features, got {n_selected} and {n_features}")
    if not 0 < radius < np.inf:
        raise ValueError(f"radius must be positive and finite, got {radius}")
    if not 0 < margin <= 1:
        raise ValueError(f"margin must lie in (0, 1], got {margin}")
    delta = _risk(confidence)
    # A dimension is at least 1; beyond m the logarithm turns negative and the formula returns nonsense.
    log_dimension = max(0.0, n_selected * np.log(64 * radius / margin))
    if log_dimension > np.log(n_samples):
        return float("inf")
    dimension = np.exp(log_dimension)
    log_sets = n_selected * np.log(n_features)
    if sharp:
        log_sets = gammaln(n_features + 1) - gammaln(n_selected + 1) - gammaln(n_features - n_selected + 1)
    complexity = dimension * np.log(34 * np.e * n_samples / dimension) * np.log2(578 * n_samples)
    union = np.log(8 / (margin * delta)) + np.log(n_features) + log_sets
    return float(margin_error + np.sqrt(2 / n_samples * (complexity + union)))
