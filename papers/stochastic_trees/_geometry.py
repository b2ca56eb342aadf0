"""The masses (P, Q) of a test and its weights w: Eq. (6) and Lemmas E.1 and E.3."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from offsample.induction.oblique.moments import part_across
from papers.stochastic_trees._common import Floats


def weighted_gini(p: ArrayLike, q: ArrayLike, rho: float) -> Any:
    """Return the Gini index after a split with masses P = p and Q = q, Eq. (6) of Jurgenson & Mansour (2018).

    It is computed as ``4ρ(1 - ρ) - 4 (q - ρp)² / (p (1 - p))``, which loses no digits. At p = 0 and p = 1 it
    is 4ρ(1 - ρ).

    Parameters
    ----------
    p : array-like
        The probability of the first child.
    q : array-like
        The probability of the first child and the positive class.
    rho : float
        The share of the positive class.

    Examples
    --------
    >>> from papers.stochastic_trees._geometry import weighted_gini
    >>> weighted_gini(0.5, 0.5, 0.5), weighted_gini(0.5, 0.25, 0.5)
    (0.0, 1.0)
    """
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    spread = p * (1 - p)
    gain = np.where(spread > 0, 4 * (q - rho * p) ** 2 / np.where(spread > 0, spread, 1), 0.0)
    value = 4 * rho * (1 - rho) - gain
    return float(value) if value.ndim == 0 else value


def is_attainable(p: ArrayLike, q: ArrayLike, rho: float, a: ArrayLike, b: ArrayLike) -> Any:
    """Return whether some w with ‖w‖ <= 1 has P = p and Q = q, a filled ellipse.

    The part of b across a, instead of the determinant of Lemma E.1, keeps this correct where a and b are
    nearly parallel.

    Parameters
    ----------
    p, q : array-like
    rho : float
        The share of the positive class.
    a, b : array-like of shape (d,)
        Σ D x and Σ D y x, linearly independent.
    """
    lean, aside, _, a_norm, _, rest = _coordinates(p, q, rho, a, b)
    return ((lean / a_norm) ** 2 + (aside / rest) ** 2 <= 1)[()]


def least_weights(p: float, q: float, rho: float, a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the shortest w with P = p and Q = q: Lemma E.1 of Jurgenson & Mansour, with its sign corrected.

    Parameters
    ----------
    p, q : float
    rho : float
        The share of the positive class.
    a, b : array-like of shape (d,)
        Σ D x and Σ D y x, linearly independent.
    """
    lean, aside, along, a_norm, across, rest = _coordinates(p, q, rho, a, b)
    return np.asarray(lean / a_norm**2 * along + aside / rest**2 * across)


def extreme_weights(p: float, a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Return the unit vectors with P = p and the largest and the smallest Q: Lemma E.3.

    Parameters
    ----------
    p : float
        With ``|2p - 1| <= ‖a‖``.
    a, b : array-like of shape (d,)
        Σ D x and Σ D y x, linearly independent.
    """
    lean, _, along, a_norm, across, rest = _coordinates(p, 0.0, 0.0, a, b)
    if abs(lean) > a_norm:
        raise ValueError(f"p = {p} is not attainable: |2p - 1| must be at most ‖a‖ = {a_norm:.6g}")
    middle, side = lean / a_norm**2 * along, np.sqrt(1 - (lean / a_norm) ** 2) / rest * across
    return np.asarray(middle + side), np.asarray(middle - side)


def _coordinates(p: Any, q: Any, rho: float, a: ArrayLike, b: ArrayLike) -> tuple[Any, ...]:
    """a·w and the part of b·w across a; a, the part of b across a, and their norms."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    a_norm, across, rest = part_across(a, b)
    lean = 2 * np.asarray(p, dtype=float) - 1
    aside = 2 * np.asarray(q, dtype=float) - rho - lean * (a @ b) / a_norm**2
    return lean, aside, a, a_norm, across, rest
