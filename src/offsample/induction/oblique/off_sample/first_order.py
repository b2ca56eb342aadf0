"""Outputs without what each row contributes to its own, to first order."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from offsample._typing import Floats
from offsample.induction.oblique.cell import Step
from offsample.induction.oblique.rows import SLICE, Sample, blocks


class OffSample(Protocol):
    """Follows a tree that grows from one leaf, and estimates its output for each row without that row."""

    is_held_out: bool  # whether outputs are of trees without the row; else its part is removed to first order

    def refine(self, step: Step) -> float:
        """Carry out a split, and return the part of its gain that is optimism."""

    def output(self, trained: Floats) -> Floats:
        """Return the outputs of each class, or the second of two, for all rows, given those of the tree."""


class FirstOrder:
    """Subtracts from the output of each row what the row itself contributes.

    A row changes the purities of the two children of each split, and turns the direction of the test toward
    itself. Both are known to first order, with the other nodes as they are.
    """

    is_held_out = False

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        n_classes = len(sample.shares)
        self._onehot = (sample.labels[:, None] == np.arange(n_classes)[sample.shown]).astype(np.float64)
        self._squared_norms = sample.rows.squared_norms()
        # Each row is taken out of the shares of the root.
        own, residual = sample.own_mass, self._onehot - sample.shares[sample.shown]
        self._own_part = (own / (1 - np.minimum(own, 0.5)))[:, None] * residual

    def output(self, trained: Floats) -> Floats:
        """Return the outputs without the part of each row."""
        return np.asarray(trained - self._own_part)

    def refine(self, step: Step) -> float:
        """Add what each row contributes by a split, and return the optimism of the gain."""
        cell, split, scores, _ = step
        rows, shown, m = self._sample.rows, self._sample.shown, cell.moments
        w = split.weights / split.steepness
        certain = np.clip(scores, -1.0, 1.0)
        lean = float(cell.mass @ certain) / cell.total
        joint = rows.by_class(cell.mass * (certain - lean)) / cell.total
        contrast = joint - m.shares * joint.sum()
        spread, m_spread = max(1 - lean**2, 1e-12), max(m.spread, 1e-12)
        # The direction of the linear solver is A Σ_k v_k c_k, v being the class contrast that it follows.
        v = contrast / max(float(np.linalg.norm(contrast)), 1e-300)
        u = v @ m.contrasts
        u = u + m.mean * (m.mean @ u) / m_spread
        # A second direction that does not follow its pair depends on a row twice, also through the parent's.
        times = 1.0 if cell.partner is None or split.in_pair else 2.0
        follow = times * split.steepness / max(float(np.linalg.norm(u)), 1e-300) * (v - v @ m.shares)
        # A direction of second moments has next to no gain of its own; its children's count twice.
        turns = split.pair is None
        to_mean = rows.scores(m.mean) if turns else scores
        reach = cell.mass / self._sample.mass
        optimism = 0.0
        for part in blocks(0, len(reach), SLICE):
            own = reach[part] * self._sample.own_mass[part] / cell.total
            residual = self._onehot[part] - m.shares[shown]
            change = ((certain[part] - lean) ** 2 / spread)[:, None] * residual
            if turns:
                along, aside = scores[part] / split.steepness, to_mean[part]
                across = self._squared_norms[part] - along**2
                across += aside * (aside - (m.mean @ w) * along) / m_spread
                turn = follow[self._sample.labels[part]] * np.maximum(across, 0.0)
                turn = np.where(np.abs(scores[part]) < 1, turn, 0.0)
                change += turn[:, None] * (contrast[shown] / spread)
            self._own_part[part] += (reach[part] * own)[:, None] * change
            optimism += float((cell.mass[part] * own) @ (residual * change).sum(axis=1))
        # Twice: what the purities promise is too much, and what new rows lose by them too little.
        n_classes = len(m.shares)
        shown_for = 2 if n_classes == 2 else 1  # the second of two classes stands for both
        return 2 * n_classes / (n_classes - 1) * shown_for * optimism
