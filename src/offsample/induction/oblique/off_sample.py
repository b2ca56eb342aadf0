"""Estimates of the output of a tree for rows that it has not seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from offsample._typing import Floats
from offsample.induction.oblique.rows import N_FOLDS, SLICE, Cell, Sample, Split, UnitRows, blocks, gate
from offsample.induction.oblique.thresholds import Decision

# Rounds in which the two directions of a pair forget the rows that are left out.
_ROUNDS = 2


def most_held_out(n_columns: int) -> int:
    """Return the number of rows up to which trees are grown without each part of the rows in turn.

    With more, what a row contributes to its own output is known well enough to first order.
    """
    return max(1000, min(4 * n_columns, 8192))


class OffSample(Protocol):
    """Follows a tree that grows from one leaf, and estimates its output for each row without that row."""

    is_held_out: bool  # whether outputs are of trees without the row; else its part is removed to first order

    def refine(self, cell: Cell, split: Split, scores: Floats, first_child: int) -> float:
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
        """Return the outputs of each class, or the second of two, given those of the tree."""
        return np.asarray(trained - self._own_part)

    def refine(self, cell: Cell, split: Split, scores: Floats, first_child: int) -> float:  # noqa: ARG002
        """Add what each row contributes by a split, and return the part of its gain that is optimism."""
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


class FoldRows:
    """Rows of norm 1 on the scale of those that each tree has seen, with the mass `kept` in each tree."""

    def __init__(self, rows: UnitRows, kept: Floats, unit: Floats | None) -> None:
        self._rows, self._constant = rows, rows.constant
        self._per_row: Floats | None = None
        if unit is None or rows.lengths is None:
            return
        self._rows = replace(rows, constant=None)
        length, squared = rows.lengths[:, None], rows.squared()
        total = kept.sum(axis=0)
        share = kept / np.where(total > 0, total, 1)
        mean = self._rows.sums(share * length).sum(axis=0)
        square = squared.sums(share * length**2).sum(axis=0)
        variance = square - mean**2
        # A column that is constant without a fold keeps its own unit.
        factor = np.where(
            variance > 1e-10 * square, 1 / np.sqrt(np.maximum(variance, 1e-300)), np.minimum(unit, 1e50)
        )
        self._factor, self._shift = factor, mean * factor
        norms = length**2 * squared.scores((factor**2).T) + (self._shift**2).sum(axis=1)
        norms -= 2 * length * self._rows.scores((factor * self._shift).T)
        size = 1.0 if self._constant is None else np.sqrt(1 - self._constant**2)
        is_zero = (norms <= 1e-12) | (length <= 0)
        self._per_row = np.where(is_zero, 0.0, size / np.sqrt(np.where(is_zero, 1.0, norms)))
        self._ratio = self._per_row * length

    def scores(self, w: Floats) -> Floats:
        """Return w·x of shape (n, F), for one vector w per fold, of shape (F, d)."""
        if self._per_row is None:
            return self._rows.scores(w.T)
        d = self._rows.shape[1]
        out = self._ratio * self._rows.scores((self._factor * w[:, :d]).T)
        out -= self._per_row * (self._shift * w[:, :d]).sum(axis=1)
        return out if self._constant is None else out + self._constant * w[:, -1]

    def sums(self, masses: Floats) -> Floats:
        """Return Σ mass x of each class and fold, of shape (K, F, d)."""
        if self._per_row is None:
            return self._rows.sums(masses)
        out = self._rows.sums(masses * self._ratio) * self._factor
        out -= self._rows.by_class(masses * self._per_row)[:, :, None] * self._shift
        if self._constant is None:
            return out
        constant = self._rows.by_class(masses)[:, :, None] * self._constant
        return np.concatenate([out, constant], axis=2)


class HeldOutCell(NamedTuple):
    """A leaf in each of the F trees that leave out a fold."""

    mass: Floats  # part of each row that reaches the leaf, (n, F), rows that are left out included
    masses: Floats  # by class, (K, F), of the rows that are not left out
    sums: Floats  # of ``mass * x`` by class over these rows, (K, F, d)
    partners: Floats | None = None  # second directions of a pair, (F, d)


class HeldOut:
    """Asks, for each row, the tree that was grown without its fold.

    The trees split the same leaves in the same order as the tree of all rows. Their directions, steepness and
    leaf values are those of the rows that are left. `is_steep` says whether tests are rescaled.
    """

    is_held_out = True

    def __init__(self, sample: Sample, decision: Decision, *, is_steep: bool) -> None:
        self._sample, self._decision, self._is_steep = sample, decision, is_steep
        self._kept = sample.folds[:, None] != np.arange(N_FOLDS)
        self._own = np.arange(len(sample.folds)), sample.folds
        self._rows = FoldRows(sample.rows, sample.mass[:, None] * self._kept, sample.unit)
        self._first_order = FirstOrder(sample)  # for the optimism of gains
        root = self._cell(np.repeat(sample.mass[:, None], N_FOLDS, axis=1), None)
        self._cells = {0: root}
        self._output = decision.value(root.masses.T)[sample.folds][:, sample.shown]

    def output(self, trained: Floats) -> Floats:  # noqa: ARG002
        """Return the output for each row of the tree without its fold."""
        return self._output.copy()

    def refine(self, cell: Cell, split: Split, scores: Floats, first_child: int) -> float:
        """Split the leaf in all trees, and return the optimism of the gain, to first order."""
        held = self._cells.pop(cell.node)
        size = np.sqrt(float(cell.mass @ scores**2) / cell.total)
        partners = None
        if split.pair is not None:
            w, partners = self._pair(held, split, size)
        elif split.in_pair and held.partners is not None:
            w = held.partners
        else:
            w = _same_combination(cell, split, held)
        products = self._products(held, w, size if split.steepness != 1 else None)
        first = self._cell(held.mass * gate(products), partners)
        rest = np.maximum(held.masses - first.masses, 0.0)
        second = HeldOutCell(held.mass - first.mass, rest, held.sums - first.sums, partners)
        self._cells[first_child], self._cells[first_child + 1] = first, second
        before = self._says(held.masses, None)
        high, low = (self._says(part.masses, before) for part in (first, second))
        folds = self._sample.folds
        change = first.mass[self._own][:, None] * (high - before)[folds]
        change += second.mass[self._own][:, None] * (low - before)[folds]
        self._output += change[:, self._sample.shown] / self._sample.mass[:, None]
        return self._first_order.refine(cell, split, scores, first_child)

    def _cell(self, mass: Floats, partners: Floats | None) -> HeldOutCell:
        kept = mass * self._kept
        return HeldOutCell(mass, self._sample.rows.by_class(kept), self._rows.sums(kept), partners)

    def _says(self, masses: Floats, otherwise: Floats | None) -> Floats:
        """Value of a leaf in each tree, of shape (F, K); `otherwise` where it is empty."""
        empty = masses.sum(axis=0) <= 0
        says = self._decision.value(np.where(empty, 1.0, masses).T)
        return says if otherwise is None else np.where(empty[:, None], otherwise, says)

    def _products(self, held: HeldOutCell, w: Floats, size: float | None) -> Floats:
        """w·x of shape (n, F), scaled to the root mean square `size` over the rows that are left."""
        products = self._rows.scores(w)
        if size is None:
            return products
        total = held.masses.sum(axis=0)
        squares = (held.mass * self._kept * products**2).sum(axis=0) / np.where(total > 0, total, 1)
        return np.asarray(products * size / np.where(squares > 0, np.sqrt(squares), 1))

    def _pair(self, held: HeldOutCell, split: Split, size: float) -> tuple[Floats, Floats]:
        """Two directions whose product the target follows, each from the other and the rows that are left."""
        assert split.pair is not None
        follow = split.pair.by_class[self._sample.labels]
        weight = held.mass * self._kept * follow[:, None]
        w = p = np.repeat(split.pair.partner[None], N_FOLDS, axis=0)
        for _ in range(2 * _ROUNDS):
            answer = np.clip(self._products(held, p, size if self._is_steep else None), -1.0, 1.0)
            w, p = p, _unit(self._rows.sums(weight * answer).sum(axis=0))
        return w, p


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1))


def _same_combination(cell: Cell, split: Split, held: HeldOutCell) -> Floats:
    """Directions of shape (F, d): the combination of mean and contrasts that w is, of the rows left."""
    basis = np.concatenate([cell.moments.mean[None], cell.moments.contrasts])
    w = split.weights / split.steepness
    parts: Any = np.linalg.pinv(basis @ basis.T, rcond=1e-12, hermitian=True) @ (basis @ w)
    total = held.masses.sum(axis=0)
    total = np.where(total > 0, total, 1)
    means = held.sums.sum(axis=0) / total[:, None]
    contrasts = held.sums / total[:, None] - (held.masses / total)[:, :, None] * means
    return _unit(parts[0] * means + np.tensordot(parts[1:], contrasts, axes=1))
