"""The margin bound of the nearest-neighbour rule."""

from __future__ import annotations

import numpy as np

from offsample._checks import check_count, risk


def nearest_neighbor_bound(
    margin_error: float,
    n_samples: int,
    n_features: int,
    n_selected: int,
    radius: float,
    margin: float,
    confidence: float = 0.95,
) -> float:
    """Bound on the error of the nearest-neighbour rule on selected features, for two classes.

    Theorem 1 of Gilad-Bachrach et al. (2004): for all sets F of the N features and all margins γ at once, the
    error is at most ``margin_error + sqrt(2/m (d ln(34em/d) log₂(578m) + ln(8/(γδ)) + (|F| + 1) ln N))`` with
    ``d = (64 R/γ)^|F|``. Infinity where d > m. With R = γ it is vacuous (above 1) until m = 33,421 for one
    feature of one, and until 2·10⁸ for three of three: it explains, and is no means to choose features.

    Parameters
    ----------
    margin_error : float
        Share of the m rows that the rule gets wrong or whose margin is below γ. The rule has stored the rows:
        a row is its own nearest hit, and none is left out.
    n_samples : int
        Rows, m.
    n_features, n_selected : int
        All features, N, and those selected from them, |F|.
    radius : float
        Radius R of a ball that contains the distribution.
    margin : float
        Margin γ, at most 1.
    confidence : float, default=0.95

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
    check_count("n_samples", n_samples, 1)
    if not 1 <= n_selected <= n_features:
        raise ValueError(f"expected 1 <= n_selected <= n_features, got {n_selected} and {n_features}")
    if not 0 < radius < np.inf:
        raise ValueError(f"radius must be positive and finite, got {radius}")
    if not 0 < margin <= 1:
        raise ValueError(f"margin must lie in (0, 1], got {margin}")
    delta = risk(confidence)
    # A dimension is at least 1; beyond m the logarithm turns negative and the formula returns nonsense.
    log_dimension = max(0.0, n_selected * np.log(64 * radius / margin))
    if log_dimension > np.log(n_samples):
        return float("inf")
    dimension = np.exp(log_dimension)
    complexity = dimension * np.log(34 * np.e * n_samples / dimension) * np.log2(578 * n_samples)
    union = np.log(8 / (margin * delta)) + (n_selected + 1) * np.log(n_features)
    return float(margin_error + np.sqrt(2 / n_samples * (complexity + union)))
