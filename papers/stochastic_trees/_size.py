"""The size of a top-down tree that the theory promises to suffice."""

from __future__ import annotations

import numpy as np


def top_down_size(
    index: str, weak_edge: float, error: float, *, constant: float | None = None, log: bool = False
) -> float:
    """Number of leaves at which a top-down tree has a small training error.

    Theorem B.1 of Jurgenson and Mansour (2018), after Kearns and Mansour (1999): if for every distribution
    over the rows some test beats chance by γ, the greedy tree has an error of at most ε once ln t reaches

    ============  ======================  ================================
    Gini          ``(1/(2ε) - 1) / 4γ²``  explicit; printed: c / (γε)²
    entropy       ``c ln(1/ε)² / γ²``     c unknown
    Matsushita    ``c ln(1/ε) / γ²``      c unknown
    ============  ======================  ================================

    The explicit bound follows from Lemma B.1: the best test of a leaf with index G gains at least 4γ²G²,
    hence (Jensen) the best of t leaves gains 4γ²G_t²/t, hence 1/G_t >= 1 + 4γ² ln t, and the error is at most
    G_t/2.

    Parameters
    ----------
    index : {"gini", "entropy", "matsushita"}
    weak_edge : float
        Edge γ, in (0, 1/2].
    error : float
        Error ε, in (0, 1/2].
    constant : float, optional
        c of the printed orders. By default the explicit bound for Gini, and 1 for the others, which gives
        the order of magnitude of the exponent and no guarantee.
    log : bool, default=False
        Return ln t; t itself overflows for all but large γ and ε.

    Examples
    --------
    >>> from papers.stochastic_trees._size import top_down_size
    >>> round(top_down_size("gini", 0.25, 0.1))
    8886111
    >>> [round(top_down_size(index, 0.1, 0.1, log=True)) for index in ("gini", "entropy", "matsushita")]
    [100, 530, 230]
    """
    if not 0 < weak_edge <= 0.5:
        raise ValueError(f"weak_edge must lie in (0, 1/2], got {weak_edge}")
    if not 0 < error <= 0.5:
        raise ValueError(f"error must lie in (0, 1/2], got {error}")
    c = 1.0 if constant is None else constant
    if not c > 0:
        raise ValueError(f"constant must be positive, got {constant}")
    explicit = (1 / (2 * error) - 1) / (4 * weak_edge**2)
    log_sizes = {
        "gini": explicit if constant is None else c / (weak_edge * error) ** 2,
        "entropy": c * np.log(1 / error) ** 2 / weak_edge**2,
        "matsushita": c * np.log(1 / error) / weak_edge**2,
    }
    if index not in log_sizes:
        raise ValueError(f"index must be 'gini', 'entropy' or 'matsushita', got {index!r}")
    log_size = log_sizes[index]
    if log:
        return float(log_size)
    return float(np.exp(log_size)) if log_size < 709 else float("inf")
