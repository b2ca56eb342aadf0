"""Directions for targets that no linear test sees: second moments, valued by what their children gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from offsample._ties import best_of, eigenvector, rounded
from offsample.induction.oblique.moments import ROUNDING, Moments, gini_weights
from offsample.induction.oblique.rows import UnitRows

if TYPE_CHECKING:
    from offsample.induction.oblique.cell import StochasticCell

Floats = NDArray[np.float64]

# A linear gain less surprising than this is not told from none.
_LEVEL = 0.01
# Leaves with a smaller part of the sample are not looked at: second moments cost d times a linear test.
_LEAST_SHARE = 1 / 32
# Wider matrices are not squared.
_MOST_COLUMNS = 512
# Rounds in which the two directions of a pair sharpen each other.
_ROUNDS = 3


def effective_dimension(rows: UnitRows, mass: Floats) -> float:
    """tr(S)² / tr(S²) of the second moments S of a sample of the rows: d for isotropic ones."""
    n = rows.shape[0]
    chosen = np.unique(np.linspace(0, n - 1, min(n, 512)).astype(np.intp))
    sample = rows.block(chosen).astype(np.float64)
    weight = np.sqrt(mass[chosen])[:, None]
    gram = (sample * weight) @ (sample * weight).T
    square = float((gram**2).sum())
    return max(1.0, float(np.trace(gram)) ** 2 / square) if square > 0 else 1.0


def _noise(cell: StochasticCell, moments: Moments) -> float:
    """Mean of Σ_k ‖c_k‖² if the classes had nothing to do with the rows."""
    grower = cell.grower
    total = float(cell.masses.sum())
    own = grower.rows.by_class(cell.mass * cell.mass * grower.own_mass / grower.prior_mass) / total**2
    shares = moments.shares
    return float(own @ (1 - 2 * shares + shares @ shares))


def is_worth_it(cell: StochasticCell, moments: Moments) -> bool:
    """Whether the best linear gain cannot be told from zero, in a leaf that is worth a closer look."""
    if cell.masses.sum() < _LEAST_SHARE or moments.mean.size > _MOST_COLUMNS:
        return False
    noise = _noise(cell, moments)
    along = moments.contrasts @ moments.mean
    seen = float((moments.contrasts**2).sum() + along @ along / max(moments.spread, 1e-12))
    degrees = cell.grower.dimension * (len(moments.shares) - 1)
    return noise <= 0 or float(chdtrc(degrees, degrees * seen / noise)) > _LEVEL


def better_direction(cell: StochasticCell, moments: Moments) -> tuple[Floats, Floats, Floats, float] | None:
    """The direction whose children gain most, if that is not the linear one, its partner, and the gain.

    Before the gain, how the product of the two follows each class.
    """
    rows = cell.grower.rows
    second = rows.second_moments(cell.mass.astype(np.float64)) / cell.masses.sum()
    pooled = second.sum(axis=0)
    operators = second - moments.shares[:, None, None] * pooled
    operators[np.abs(operators) <= ROUNDING / cell.masses.sum()] = 0.0
    if not operators.any():
        return None
    # The class contrast that the second moments tell apart best.
    gram = np.einsum("kij,lij->kl", operators, operators)
    contrast = eigenvector(*np.linalg.eigh(gram))
    values, vectors = np.linalg.eigh(np.einsum("k,kij->ij", contrast, operators))
    candidates = _candidates(values, vectors)
    linear = gini_weights(moments)
    options = [linear, *candidates]
    gains = [_value(cell, w) for w in options]
    # A linear direction of rounding errors may be one of the others by chance: they win ties.
    best = 1 + best_of(gains[1:])
    w = options[best]
    if rounded(gains[best]) < rounded(gains[0]) or not w.any():
        return None
    by_class = contrast - contrast @ moments.shares
    follow = np.repeat(by_class, np.diff(rows.starts)) * cell.mass
    partner = _partner(cell, w, follow)
    for _ in range(_ROUNDS):
        refined = _partner(cell, partner, follow)
        value = _value(cell, refined)
        if rounded(value) <= rounded(gains[best]):
            break
        w, partner, gains[best] = refined, _partner(cell, refined, follow), value
    return w, partner, by_class, gains[best] / 3


def prefers_partner(cell: StochasticCell, moments: Moments, own: Floats, partner: Floats) -> bool:
    """Whether a child should rather use the direction that its sibling uses too.

    That one was fitted to twice the rows. Its gain has half the optimism, so that it is the better one if its
    gain is not smaller by more than that half, which is the `_noise`.
    """

    def gain(w: Floats) -> float:
        return float(((moments.contrasts @ w) ** 2).sum()) / max(1 - float(moments.mean @ w) ** 2, 1e-12)

    return bool(rounded(gain(own) - gain(partner)) <= rounded(_noise(cell, moments)))


def _candidates(values: Floats, vectors: Floats) -> list[Floats]:
    """Leading eigenvectors, and, of a positive and a negative one, the pair whose product they are.

    A target sign(u·x) sign(v·x) has the second moments uvᵀ + vuᵀ, with the eigenvectors u ± v.
    """
    low, high = eigenvector(values, vectors, 0), eigenvector(values, vectors)
    found = [low, high]
    if rounded(values[0]) < 0 < rounded(values[-1]):
        a, b = np.sqrt(-values[0]), np.sqrt(values[-1])
        found += [(a * high + b * low) / np.hypot(a, b), (a * high - b * low) / np.hypot(a, b)]
    return found


def _gate(cell: StochasticCell, w: Floats) -> Floats:
    """-1 to 1 for each row: how surely it goes to either child."""
    scores = cell.grower.rows.scores(w)
    return np.clip(scores * cell.steepness(scores, in_pair=True), -1.0, 1.0)


def _partner(cell: StochasticCell, w: Floats, follow: Floats) -> Floats:
    """Direction of Σ D e g(w·x) x: the other of two whose product the target follows."""
    u = cell.grower.rows.sums(follow * _gate(cell, w)).sum(axis=0)
    length = np.linalg.norm(u)
    return np.asarray(u / length) if length > 0 else np.zeros_like(u)


def _value(cell: StochasticCell, w: Floats) -> float:
    """Gini gain of a test and of the best tests of its children, less what noise would give."""
    grower = cell.grower
    if not w.any():
        return 0.0
    part = cell.mass * (1 + _gate(cell, w)) / 2
    masses, sums = grower.rows.by_class(part), grower.rows.sums(part)
    n_classes = len(masses)
    before = _squares(cell.masses)
    value = 0.0
    for m, s in ((masses, sums), (cell.masses - masses, cell.sums - sums)):
        total = float(m.sum())
        value += _squares(m)
        if total > 1e-9:
            moments = Moments.from_sums(np.maximum(m, 0.0), s)
            u = gini_weights(moments)
            lean = float(moments.mean @ u)
            value += total * float(((moments.contrasts @ u) ** 2).sum()) / max(1 - lean**2, 1e-12)
    return n_classes / (n_classes - 1) * (value - before)


def _squares(masses: Any) -> float:
    total = float(masses.sum())
    return float((masses**2).sum() / total) if total > 0 else 0.0
