"""Tests of rows that keep their length: a direction, and a place on it that is found in one dimension."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsample._ties import best_of, eigenvector, rounded
from offsample._typing import Floats
from offsample.induction.oblique.moments import Terms, unit
from offsample.induction.oblique.rows import BLOCK, Sample

# Places that are tried, and how many standard deviations from the mean the outer ones are.
_PLACES, _REACH = 128, 3.0
# Rows of which a smaller part reaches a leaf do not count in its covariance.
_LEAST_PART = 1e-6


@dataclass(frozen=True, eq=False)
class OffsetTests:
    """Finds the test of a leaf from sums over its rows, whose last number is the constant 1."""

    sample: Sample
    terms: Terms  # of the index
    rescale: float  # standard deviations of w·x from its place beyond which a test is certain
    with_covariance: (
        bool  # whether directions are those of the shrunken covariance of a leaf, or of its means
    )

    def direction(
        self, mass: Floats, masses: Floats, sums: Floats, contrast: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return the direction that tells classes apart best, and the contrast of classes that it follows.

        With c_k = Σ D (1[class k] - ρ_k) x and S the covariance, or the identity, this is S⁻¹ Σ v_k c_k,
        where v is the first eigenvector of C S⁻¹ Cᵀ; `contrast` is v if it is known.
        """
        total = masses.sum()
        means = sums.sum(axis=0) / total
        contrasts = (sums / total - np.outer(masses / total, means))[:, :-1]
        towards = contrasts.T
        if self.with_covariance:
            towards = np.linalg.solve(_covariance(self.sample, mass, total, means), towards)
        if contrast is None:
            contrast = np.arange(2.0)  # of two classes, the contrasts are opposite
            if len(masses) > 2:
                contrast = eigenvector(*np.linalg.eigh(contrasts @ towards))
        return np.append(unit(towards @ contrast), 0.0), contrast

    def placed(self, scores: Floats, mass: Floats) -> tuple[float, float]:
        """Return where to cut products w·x, by the index of the two sides, and how steep the test is."""
        total = float(mass.sum())
        mean = float(mass @ scores) / total
        deviation = float(np.sqrt(mass @ (scores - mean) ** 2 / total))
        if not deviation > 1e-12:
            return mean, 0.0
        step = 2 * _REACH * deviation / _PLACES
        place = np.clip(rounded((scores - mean) / step) + _PLACES / 2, 0, _PLACES - 1).astype(np.intp)
        labels, n_classes = self.sample.labels, len(self.sample.shares)
        by_class = np.bincount(place * n_classes + labels, mass, _PLACES * n_classes).reshape(_PLACES, -1)
        below = np.cumsum(by_class, axis=0)
        left = self.terms(below[:-1]) + self.terms(np.maximum(below[-1] - below[:-1], 0.0))
        return mean + (best_of(-left) + 1 - _PLACES / 2) * step, 1 / (self.rescale * deviation)


def _covariance(sample: Sample, mass: Floats, total: float, means: Floats) -> Floats:
    """Covariance of a leaf without the constant, shrunken towards a multiple of the identity.

    By the share that approximates the best one for normal rows (Chen, Wiesel, Eldar, Hero 2010), with the
    number of rows that would be worth as much as the parts of rows in the leaf.
    """
    chosen = np.flatnonzero(mass > _LEAST_PART * mass.max())
    parts = [chosen[i : i + BLOCK] for i in range(0, len(chosen), BLOCK)]
    S = (sample.rows.scatter(mass, parts) / total - np.outer(means, means))[:-1, :-1]
    d, n = len(S), total**2 / float(mass @ (mass * sample.own_mass / sample.mass))
    trace, square = float(np.trace(S)), float((S**2).sum())
    spread = (n + 1) * (square - trace**2 / d)
    share = min(1.0, (square + trace**2) / spread) if spread > 0 else 1.0
    return np.asarray((1 - share) * S + max(share * trace / d, 1e-12) * np.eye(d))
