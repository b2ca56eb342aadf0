"""Tests of rows that keep their length: a direction, and a place on it that is found in one dimension."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsample._ties import eigenvector, rounded
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
    with_covariance: bool  # whether directions are of the shrunken covariance of a leaf, or of its means

    def directions(
        self, mass: Floats, masses: Floats, sums: Floats, contrast: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return the directions that tell classes apart best, and the contrast of classes that they follow.

        They are of F leaves, in an array of shape (d, F), by the parts of rows in each, of shape (n, F), and
        sums over the rows of each class, of shapes (K, F) and (K, F, d). With
        c_k = Σ D (1[class k] - ρ_k) x and S the covariance, or the identity, a direction is S⁻¹ Σ v_k c_k,
        where v is the first eigenvector of C S⁻¹ Cᵀ of the first leaf; `contrast` is v if it is known.
        """
        total = masses.sum(axis=0)
        means = sums.sum(axis=0) / total[:, None]
        contrasts = (sums / total[:, None] - (masses / total)[:, :, None] * means)[:, :, :-1].swapaxes(0, 1)
        towards = contrasts.swapaxes(1, 2)
        if self.with_covariance:
            leaves = zip(mass.T, total, means, strict=True)
            towards = np.linalg.solve([_covariance(self.sample, *leaf) for leaf in leaves], towards)
        if contrast is None:
            contrast = np.arange(2.0)  # of two classes, the contrasts are opposite
            if len(masses) > 2:
                contrast = eigenvector(*np.linalg.eigh(contrasts[0] @ towards[0]))
        found = unit(towards @ contrast)
        return np.vstack([found.T, np.zeros(len(found))]), contrast

    def placed(self, scores: Floats, mass: Floats) -> tuple[Floats, Floats]:
        """Return where to cut products w·x of F leaves, by the index of both sides, and how steeply."""
        here = np.flatnonzero(mass.any(axis=1))  # a leaf is not reached by most rows
        scores, mass, total = scores[here], mass[here], mass.sum(axis=0)
        mean = (mass * scores).sum(axis=0) / total
        deviation = np.sqrt((mass * (scores - mean) ** 2).sum(axis=0) / total)
        varies = deviation > 1e-12
        step = np.where(varies, 2 * _REACH * deviation / _PLACES, 1.0)
        n_classes, n_leaves = len(self.sample.shares), len(total)
        place = np.clip(rounded((scores - mean) / step) + _PLACES / 2, 0, _PLACES - 1).astype(np.intp)
        cell = (place + _PLACES * np.arange(n_leaves)) * n_classes + self.sample.labels[here, None]
        by_class = np.bincount(cell.ravel(), mass.ravel(), n_leaves * _PLACES * n_classes)
        below = np.cumsum(by_class.reshape(n_leaves, _PLACES, n_classes), axis=1)
        rest = np.maximum(below[:, -1:] - below[:, :-1], 0.0)
        best = rounded(self.terms(below[:, :-1]) + self.terms(rest)).argmin(axis=1)
        at = mean + (best + 1 - _PLACES / 2) * step
        return np.where(varies, at, mean), varies / (self.rescale * np.where(varies, deviation, 1.0))


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
