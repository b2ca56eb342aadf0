"""The best stochastic linear test of a distribution over rows, from its moments alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample._ties import best_first, best_of, eigenvector, rounded
from offsample._typing import Floats
from offsample.indexes import IndexFunction, index_terms

Terms = Callable[[NDArray[Any]], Floats]

SOLVERS = ("exact", "dependent", "fixed_p_search_q", "fixed_pq")
# Points of a grid solver per unit of 1 / epsilon: the constant C of Jurgenson & Mansour, Appendix F.
_GRID = 100
# Angles of the first grid on the half circle, and points and rounds of each finer one.
_ANGLES, _ZOOM, _ROUNDS = 257, 17, 14
# Rounds of the ascent for more than two classes.
_ASCENT = 200
# The error of sums over rows of mass 1.
ROUNDING = 1e-14
# Distance between the points that give the slope of a gain, and number of Newton steps.
_APART, _SHARPER = 1e-3, 3


class Moments(NamedTuple):
    """All that the gain of a linear test depends on, for a distribution D over rows x with classes."""

    shares: Floats  # ρ, the share of each class
    mean: Floats  # a = Σ D x
    contrasts: Floats  # c_k = Σ D (1[class k] - ρ_k) x; they sum to 0
    spread: float  # 1 - ‖a‖², computed without cancellation where possible

    @classmethod
    def from_sums(cls, masses: Floats, sums: Floats) -> Moments:
        """Return the moments for the mass of each class and its sum of rows, of shape (K, d)."""
        total = masses.sum()
        shares, mean = masses / total, sums.sum(axis=0) / total
        contrasts = sums / total - np.outer(shares, mean)
        # Sums are exact to the last digits of those of the whole sample: what is smaller has no direction.
        contrasts[np.abs(contrasts) <= ROUNDING / total] = 0.0
        return cls(shares, mean, contrasts, without_rounding(1.0 - mean @ mean))

    def masses(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return P of tests of shape (m, d), and their joint masses Q of shape (m, K)."""
        lean = weights @ self.mean
        joint = (self.shares * (1 + lean[:, None]) + weights @ self.contrasts.T) / 2
        return (1 + lean) / 2, np.clip(joint, 0.0, self.shares)

    def gains(self, weights: Floats, terms: Terms) -> Floats:
        """Return the decrease of the index by tests of shape (m, d)."""
        joint = self.masses(weights)[1]
        gain = terms(self.shares) - terms(joint) - terms(np.maximum(self.shares - joint, 0.0))
        return np.maximum(gain, 0.0)


def without_rounding(spread: float) -> float:
    """Return 1 - ‖a‖², or 0 where that is the rounding error of ‖a‖²: then all rows are the same."""
    return float(spread) if spread > 1e-12 else 0.0


def best_weights(
    moments: Moments, index: str | IndexFunction, solver: str = "exact", epsilon: float = 0.1
) -> Floats:
    """Return the weights of the best test; zeros where no test has a gain."""
    # A pure node, rows that are all the same, or a target that has nothing to do with them.
    if moments.spread <= 0 or not moments.contrasts.any():
        return np.zeros_like(moments.mean)
    if solver == "exact":
        start = gini_weights(moments)
        if index == "gini" or not start.any():
            return start
        terms = index_terms(index)
        return _search_angle(moments, terms) if len(moments.shares) == 2 else _ascend(moments, terms, start)
    if len(moments.shares) != 2:
        raise ValueError(
            f"solver {solver!r} is for two classes, got {len(moments.shares)}: expected solver='exact'"
        )
    return _approximate_weights(moments, index_terms(index), solver, epsilon)


def gini_weights(moments: Moments) -> Floats:
    """Maximise Σ_k (c_k·w)² / (1 - (a·w)²) in closed form.

    This is a Rayleigh quotient with a change of rank one. With A = (I - aaᵀ)⁻¹, the maximum is the largest
    eigenvalue of the K × K matrix C A Cᵀ, at w ∝ A Cᵀ v. The Gini gain is K / (K - 1) times it; for two
    classes, 4 (c A c).
    """
    C, a, spread = moments.contrasts, moments.mean, moments.spread
    if spread <= 0:
        return np.zeros_like(a)
    along = C @ a
    if len(C) == 2:
        v = np.array([0.0, 1.0])  # the contrasts are opposite
    else:
        v = eigenvector(*np.linalg.eigh(C @ C.T + np.outer(along, along) / spread))
    return unit(v @ C + a * (v @ along) / spread)


def unit(vectors: Floats) -> Floats:
    """Return vectors at norm 1, or zeros."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))


def _search_angle(moments: Moments, terms: Terms) -> Floats:
    """Best weights of two classes, for any permissible index.

    The index after the split is jointly concave in (P, Q), so its minimum over the filled ellipse of
    attainable pairs is on the boundary: at a unit vector in the plane of a and c. Opposite vectors exchange
    the children, so half a circle suffices.
    """
    c, a = moments.contrasts[1], moments.mean
    first = unit(c)
    _, rest, length = part_across(first, a)
    if length <= 1e-14 * max(1e-300, float(np.linalg.norm(a))):  # a and c are parallel
        return np.asarray(first)
    second = rest / length
    reduced = _reduced(moments, np.stack([first, second]))

    def gains(angles: Floats) -> Floats:
        return reduced.gains(np.stack([np.cos(angles), np.sin(angles)], axis=1), terms)

    grid = np.linspace(-np.pi / 2, np.pi / 2, _ANGLES)
    gain = gains(grid)
    peaks = np.flatnonzero((gain[1:-1] >= gain[:-2]) & (gain[1:-1] >= gain[2:])) + 1
    best, best_gain = 0.0, -1.0
    # More than one local maximum was never seen, but is not excluded either.
    for peak in peaks[best_first(gain[peaks])][:4]:
        low, high = grid[peak - 1], grid[peak + 1]
        for _ in range(_ROUNDS):
            angles = np.linspace(low, high, _ZOOM)
            values = gains(angles)
            i = int(values.argmax())
            low, high = angles[max(i - 1, 0)], angles[min(i + 1, _ZOOM - 1)]
        if rounded(values[i]) > rounded(best_gain):
            best, best_gain = float(angles[i]), float(values[i])
    w = _sharpened(np.array([np.cos(best), np.sin(best)]), reduced, terms)
    return np.asarray(w @ np.stack([first, second]))


def _sharpened(w: Floats, moments: Moments, terms: Terms) -> Floats:
    """Unit vector of the largest gain to nearly all digits, given one to half of them.

    Gains are flat at their maximum, but their slope crosses 0 there. So these are Newton steps on the sphere,
    with slopes between points far apart; none where the gain has a corner.
    """
    n, found = len(w), w
    apart, identity = _APART * np.eye(n), np.eye(n)
    for _ in range(_SHARPER):
        pairs = (found + apart[:, None] + apart).reshape(-1, n)
        gain = moments.gains(np.concatenate([found[None], found + apart, found - apart, pairs]), terms)
        here, above, below = gain[0], gain[1 : n + 1], gain[n + 1 : 2 * n + 1]
        slope = (above - below) / (2 * _APART)
        bend = (gain[2 * n + 1 :].reshape(n, n) - above - above[:, None] + here) / _APART**2
        along = np.outer(found, found)
        bend = (identity - along) @ (bend - (found @ slope) * identity) @ (identity - along) - along
        if np.linalg.eigvalsh(bend)[-1] > -_APART:
            return w
        found = found - np.linalg.solve(bend, (identity - along) @ slope)
        found = found / np.linalg.norm(found)
    before, after = rounded(moments.gains(np.stack([w, found]), terms))
    return found if after >= before else w


def _reduced(moments: Moments, basis: Floats) -> Moments:
    """The same moments in the coordinates of an orthonormal basis, of shape (m, d)."""
    return Moments(moments.shares, basis @ moments.mean, moments.contrasts @ basis.T, moments.spread)


def _ascend(moments: Moments, terms: Terms, start: Floats) -> Floats:
    """Best weights of more than two classes, for any permissible index, by ascent from several starts.

    The gain is convex in w, so moving to the unit vector along its gradient never lowers it, and the limit is
    a stationary point. The starts are the Gini direction and those of each class against the others.
    """
    a, spread = moments.mean, moments.spread
    directions = np.concatenate([a[None], moments.contrasts])
    singular, basis = np.linalg.svd(directions, full_matrices=False)[1:]
    basis = basis[singular > 1e-13 * singular[0]]
    small = _reduced(moments, basis)
    others = [unit(basis @ (c + a * (a @ c) / spread)) for c in moments.contrasts]
    w = np.stack([basis @ start, *(u for u in others if u.any())])
    gain = small.gains(w, terms)
    for _ in range(_ASCENT):
        slope = unit(np.stack([_gradient(small, terms, row) for row in w]))
        moved = np.where(slope.any(axis=1, keepdims=True), slope, w)
        after = small.gains(moved, terms)
        better = after > gain
        if not (after > gain + 1e-15).any():
            break
        w, gain = np.where(better[:, None], moved, w), np.where(better, after, gain)
    return np.asarray(_sharpened(w[best_of(gain)], small, terms) @ basis)


def _gradient(moments: Moments, terms: Terms, w: Floats) -> Floats:
    """Gradient of the gain in w, by central differences inside the ball."""
    step = 1e-6
    shifts, inside = step * np.eye(len(w)), (1 - 2 * step) * w
    above, below = (moments.gains(inside + shift, terms) for shift in (shifts, -shifts))
    return np.asarray((above - below) / (2 * step))


def part_across(a: Floats, b: Floats) -> tuple[float, Floats, float]:
    """Return ‖a‖, the part of b across a, and its norm."""
    length = float(np.linalg.norm(a))
    across = b - (a @ b) / length**2 * a
    across = across - (a @ across) / length**2 * a  # where b is nearly a, rounding leaves as much of a
    return length, across, float(np.linalg.norm(across))


def _approximate_weights(moments: Moments, terms: Terms, solver: str, epsilon: float) -> Floats:
    """Weights by the solvers of Jurgenson & Mansour, for two classes."""
    a = moments.mean
    b = moments.contrasts[1] + moments.shares[1] * a
    if solver != "dependent" and np.linalg.norm(a) > 0:
        _, across, rest = part_across(a, b)
        if rest > 1e-14 * float(np.linalg.norm(b)):
            solve = _fixed_pq if solver == "fixed_pq" else _fixed_p_search_q
            return solve(moments, terms, epsilon, across)
    # DependentWGI, which is exact where b is a multiple of a.
    return unit(a if a.any() else b)


def _p_values(length: float, rho: float, epsilon: float) -> Floats:
    """A grid over the attainable values of P, with ρ and 1 - ρ if they are attainable."""
    low, high = max(0.0, (1 - length) / 2), min(1.0, (1 + length) / 2)
    more = [p for p in (rho, 1 - rho) if low <= p <= high]
    return np.append(np.linspace(low, high, int(np.ceil(_GRID / epsilon)) + 1), more)


def _fixed_p_search_q(moments: Moments, terms: Terms, epsilon: float, across: Floats) -> Floats:
    """FixedPSearchQ: for each P on a grid, the two extreme Q of Lemma E.3."""
    length = float(np.linalg.norm(moments.mean))
    along = (2 * _p_values(length, float(moments.shares[1]), epsilon) - 1) / length
    aside = np.sqrt(np.maximum(1 - along**2, 0.0))
    basis = np.stack([moments.mean / length, across / float(np.linalg.norm(across))])
    angles = np.concatenate([np.stack([along, aside], axis=1), np.stack([along, -aside], axis=1)])
    return np.asarray(angles[best_of(_reduced(moments, basis).gains(angles, terms))] @ basis)


def _fixed_pq(moments: Moments, terms: Terms, epsilon: float, across: Floats) -> Floats:
    """FixedPQ: the best attainable pair (P, Q) on a grid, by Lemma E.1 with its sign corrected."""
    a, rho = moments.mean, float(moments.shares[1])
    b = moments.contrasts[1] + rho * a
    length, rest, radius = (float(np.linalg.norm(v)) for v in (a, across, b))
    slope = float(a @ b) / length**2
    steps = np.linspace(0.0, 1.0, int(np.ceil(_GRID / epsilon)) + 1)
    best, weights = 0.0, np.zeros_like(a)
    for p in _p_values(length, rho, epsilon):
        below = max(0.0, p + rho - 1, (rho - radius) / 2), min(rho * p, (rho + radius) / 2)
        above = max(rho * p, (rho - radius) / 2), min(rho, p, (rho + radius) / 2)
        q = np.concatenate([low + (high - low) * steps for low, high in (below, above)])
        lean = 2 * p - 1
        aside = (2 * q - rho) - lean * slope
        inside = (lean / length) ** 2 + (aside / rest) ** 2 <= 1
        inside &= np.repeat([low <= high for low, high in (below, above)], len(steps))
        if not inside.any():
            continue
        q, aside = q[inside], aside[inside]
        joint = np.clip(np.stack([p - q, q], axis=1), 0.0, moments.shares)
        gain = terms(moments.shares) - terms(joint) - terms(moments.shares - joint)
        i = best_of(gain)
        if rounded(gain[i]) > rounded(best):
            best = float(gain[i])
            weights = lean / length**2 * a + aside[i] / rest**2 * across
    return np.asarray(weights)
