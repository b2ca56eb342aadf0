"""Directions for targets that no linear test sees: second moments, valued by what their children gain."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from offsample._ties import best_of, eigenvector, rounded
from offsample._typing import Floats
from offsample.induction.oblique.moments import ROUNDING, Moments, gini_weights, unit
from offsample.induction.oblique.rows import Cell, Pair, Sample

# A linear gain with a larger p-value cannot be told from zero.
_LEVEL = 0.01
# Leaves with a smaller part of the sample are left out: second moments cost d times as much as a linear test.
_LEAST_SHARE = 1 / 32
# Wider matrices are not squared.
_MOST_COLUMNS = 512
# Rounds in which the two directions of a pair sharpen each other.
_ROUNDS = 3


def _noise(cell: Cell, sample: Sample) -> float:
    """Mean of Σ_k ‖c_k‖² if the classes had nothing to do with the rows."""
    own = sample.rows.by_class(cell.mass * cell.mass * sample.own_mass / sample.mass) / cell.total**2
    shares = cell.moments.shares
    return float(own @ (1 - 2 * shares + shares @ shares))


def is_worth_it(cell: Cell, sample: Sample) -> bool:
    """Return whether a leaf is large, and its best linear gain cannot be told from zero."""
    moments = cell.moments
    if cell.total < _LEAST_SHARE or moments.mean.size > _MOST_COLUMNS:
        return False
    noise = _noise(cell, sample)
    along = moments.contrasts @ moments.mean
    seen = float((moments.contrasts**2).sum() + along @ along / max(moments.spread, 1e-12))
    degrees = sample.dimension * (len(moments.shares) - 1)
    return noise <= 0 or float(chdtrc(degrees, degrees * seen / noise)) > _LEVEL


def better_direction(cell: Cell, sample: Sample, rescale: float) -> tuple[Floats, Pair, float] | None:
    """Direction whose children gain most, its pair, and the gain per test; None for the linear one."""
    moments = cell.moments
    second = sample.rows.second_moments(cell.mass.astype(np.float64)) / cell.total
    operators = second - moments.shares[:, None, None] * second.sum(axis=0)
    operators[np.abs(operators) <= ROUNDING / cell.total] = 0.0
    if not operators.any():
        return None
    # The class contrast that the second moments tell apart best.
    gram = np.einsum("kij,lij->kl", operators, operators)
    contrast = eigenvector(*np.linalg.eigh(gram))
    values, vectors = np.linalg.eigh(np.einsum("k,kij->ij", contrast, operators))
    candidates = _candidates(values, vectors)
    linear = _value(cell, sample, rescale, gini_weights(moments))
    gains = [_value(cell, sample, rescale, w) for w in candidates]
    # A linear direction of rounding errors may be one of the others by chance: they win ties.
    best = best_of(gains)
    w, gain = candidates[best], gains[best]
    if rounded(gain) < rounded(linear) or not w.any():
        return None
    by_class = contrast - contrast @ moments.shares
    follow = by_class[sample.labels] * cell.mass
    partner = _partner(cell, sample, rescale, w, follow)
    for _ in range(_ROUNDS):
        refined = _partner(cell, sample, rescale, partner, follow)
        value = _value(cell, sample, rescale, refined)
        if rounded(value) <= rounded(gain):
            break
        w, partner, gain = refined, _partner(cell, sample, rescale, refined, follow), value
    return w, Pair(partner, by_class), gain / 3


def prefers_partner(cell: Cell, sample: Sample, own: Floats, partner: Floats) -> bool:
    """Return whether a child should use the second direction of its parent's pair, as its sibling may.

    That direction was fitted to the rows of both children, so its gain has half the optimism. It is better
    unless its gain is smaller by more than the other half, which is the `_noise`.
    """
    difference = _quotient(cell.moments, own) - _quotient(cell.moments, partner)
    return bool(rounded(difference) <= rounded(_noise(cell, sample)))


def _quotient(moments: Moments, w: Floats) -> float:
    """Gini gain of a direction, but for a factor."""
    return float(((moments.contrasts @ w) ** 2).sum()) / max(1 - float(moments.mean @ w) ** 2, 1e-12)


def _candidates(values: Floats, vectors: Floats) -> list[Floats]:
    """Eigenvectors u ± v of the least and the largest value, and u and v: those of sign(u·x) sign(v·x)."""
    low, high = eigenvector(values, vectors, 0), eigenvector(values, vectors)
    found = [low, high]
    if rounded(values[0]) < 0 < rounded(values[-1]):
        a, b = np.sqrt(-values[0]), np.sqrt(values[-1])
        found += [(a * high + b * low) / np.hypot(a, b), (a * high - b * low) / np.hypot(a, b)]
    return found


def _certainty(cell: Cell, sample: Sample, rescale: float, w: Floats) -> Floats:
    """How surely each row goes to the first child (1) or to the second (-1)."""
    scores = sample.rows.scores(w)
    return np.clip(scores * cell.steepness(scores, rescale), -1.0, 1.0)


def _partner(cell: Cell, sample: Sample, rescale: float, w: Floats, follow: Floats) -> Floats:
    """Direction of Σ D e g(w·x) x: the other of two whose product the target follows."""
    return unit(sample.rows.sums(follow * _certainty(cell, sample, rescale, w)).sum(axis=0))


def _value(cell: Cell, sample: Sample, rescale: float, w: Floats) -> float:
    """Gini gain of a test together with the best tests of its children."""
    if not w.any():
        return 0.0
    part = cell.mass * (1 + _certainty(cell, sample, rescale, w)) / 2
    masses, sums = sample.rows.by_class(part), sample.rows.sums(part)
    value = 0.0
    for m, s in ((masses, sums), (cell.masses - masses, cell.sums - sums)):
        total = float(m.sum())
        value += _squares(m)
        if total > 1e-9:
            moments = Moments.from_sums(np.maximum(m, 0.0), s)
            value += total * _quotient(moments, gini_weights(moments))
    n_classes = len(masses)
    return n_classes / (n_classes - 1) * (value - _squares(cell.masses))


def _squares(masses: Floats) -> float:
    total = float(masses.sum())
    return float((masses**2).sum() / total) if total > 0 else 0.0
