"""Estimates of the output of a tree for rows that it has not seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from offsample._typing import Floats
from offsample.induction.oblique.moments import unit
from offsample.induction.oblique.offset import OffsetTests
from offsample.induction.oblique.rows import MOST_NUMBERS, SLICE, Cell, Sample, Split, UnitRows, blocks, gate
from offsample.induction.oblique.thresholds import Decision

# Rounds in which the two directions of a pair forget the rows that are left out.
_ROUNDS = 2


def most_repeated(n_columns: int) -> int:
    """Return the number of rows up to which a row of weight 2 is two rows, and folds are balanced."""
    return max(1000, min(4 * n_columns, 8192))


class FoldRows:
    """Rows of norm 1 on the scale of those that each tree has seen, with the mass `kept` in each tree."""

    def __init__(self, rows: UnitRows, kept: Floats, unit: Floats | None) -> None:
        self._rows, self._is_same = rows, unit is None
        if unit is None:
            return
        length, squared = rows.lengths[:, None], rows.squared()
        total = kept.sum(axis=0)
        share = kept / np.where(total > 0, total, 1)
        mean = rows.sums(share * length).sum(axis=0)
        square = squared.sums(share * length**2).sum(axis=0)
        variance = square - mean**2
        # A column that is constant without a fold keeps its own unit.
        factor = np.where(
            variance > 1e-10 * square, 1 / np.sqrt(np.maximum(variance, 1e-300)), np.minimum(unit, 1e50)
        )
        self._factor, self._shift = factor, mean * factor
        norms = length**2 * squared.scores((factor**2).T) + (self._shift**2).sum(axis=1)
        norms -= 2 * length * rows.scores((factor * self._shift).T)
        is_zero = (norms <= 1e-12) | (length <= 0)
        self._per_row = np.where(is_zero, 0.0, 1 / np.sqrt(np.where(is_zero, 1.0, norms)))
        self._ratio = self._per_row * length

    def scores(self, w: Floats) -> Floats:
        """Return w·x of shape (n, F), for one vector w per fold, of shape (F, d)."""
        if self._is_same:
            return self._rows.scores(w.T)
        out = self._ratio * self._rows.scores((self._factor * w).T)
        return np.asarray(out - self._per_row * (self._shift * w).sum(axis=1))

    def sums(self, masses: Floats) -> Floats:
        """Return Σ mass x of each class and fold, of shape (K, F, d)."""
        if self._is_same:
            return self._rows.sums(masses)
        out = self._rows.sums(masses * self._ratio) * self._factor
        return np.asarray(out - self._rows.by_class(masses * self._per_row)[:, :, None] * self._shift)


class HeldOutCell(NamedTuple):
    """A leaf in each of the F trees that leave out a fold."""

    mass: Floats  # part of each row that reaches the leaf, (n, F), rows that are left out included
    masses: Floats  # by class, (K, F), of the rows that are not left out
    sums: Floats  # of ``mass * x`` by class over these rows, (K, F, d)
    partners: Floats | None = None  # second directions of a pair, (F, d)


class HeldOut:
    """Asks, for each row, the tree that was grown without its fold.

    The trees split the same leaves in the same order as the tree of all rows. Their directions, steepness and
    leaf values are those of the rows that are left. `is_steep` says whether tests are rescaled; `offsets`
    finds them if they have an offset.
    """

    def __init__(
        self, sample: Sample, decision: Decision, *, is_steep: bool, offsets: OffsetTests | None = None
    ) -> None:
        self._sample, self._decision, self._is_steep, self._offsets = sample, decision, is_steep, offsets
        self._kept = sample.folds[:, None] != np.arange(sample.n_folds)
        self._own = np.arange(len(sample.folds)), sample.folds
        self._rows = FoldRows(sample.rows, sample.plain[:, None] * self._kept, sample.unit)
        is_small = len(sample.mass) * sample.n_folds <= MOST_NUMBERS // 64
        mass = sample.mass.astype(np.float64 if is_small else np.float32)
        root = self._cell(np.repeat(mass[:, None], sample.n_folds, axis=1), None)
        self._cells = {0: root}
        self.output = decision.value(root.masses.T)[sample.folds][:, sample.shown]

    def refine(self, cell: Cell, split: Split, scores: Floats, first_child: int) -> float:
        """Split the leaf in all trees, and return the gain of the Gini index on the rows left out."""
        held = self._cells.pop(cell.node)
        size = np.sqrt(float(cell.mass @ scores**2) / cell.total)
        partners = None
        if split.contrast is not None:
            products = self._placed(held, split.contrast)
        else:
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
        self.output = self.output + change[:, self._sample.shown] / self._sample.mass[:, None]
        return self._gain(held, first) + self._gain(held, second)

    def _gain(self, held: HeldOutCell, part: HeldOutCell) -> float:
        """What the rows left out gain in a child by its purities, in units of the Gini index."""
        n_classes, lost = len(held.masses), []
        says = np.full(held.masses.shape, 1 / n_classes)
        for masses in (held.masses, part.masses):
            total = masses.sum(axis=0)
            says = np.where(total > 0, masses / np.where(total > 0, total, 1.0), says)
            lost.append(1 - 2 * says + (says**2).sum(axis=0))  # ‖1[class] - says‖² of each class and tree
        own = self._sample.labels, self._sample.folds
        gain = float(part.mass[self._own] @ (lost[0][own] - lost[1][own]))
        return n_classes / max(1, n_classes - 1) * gain

    def _placed(self, held: HeldOutCell, contrast: Floats) -> Floats:
        """Products of tests with an offset, of shape (n, F), from the rows that are left."""
        assert self._offsets is not None
        rows, kept = self._sample.rows, held.mass * self._kept
        products = np.zeros(kept.shape)
        # Masses by class are differences, which may be rounding where no row is left, and the reverse.
        reached = np.flatnonzero(np.minimum(kept.sum(axis=0), held.masses.sum(axis=0)) > 1e-12)
        for some in blocks(0, len(reached), max(1, SLICE // len(kept))):
            folds = reached[some]
            mass = kept[:, folds].astype(np.float64)
            w, _ = self._offsets.directions(mass, held.masses[:, folds], held.sums[:, folds], contrast)
            scores = rows.scores(w)
            places, steepness = self._offsets.placed(scores, mass)
            products[:, folds] = (scores - places) * steepness
        return products

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
        w = p = np.repeat(split.pair.partner[None], self._sample.n_folds, axis=0)
        for _ in range(2 * _ROUNDS):
            answer = np.clip(self._products(held, p, size if self._is_steep else None), -1.0, 1.0)
            w, p = p, unit(self._rows.sums(weight * answer).sum(axis=0))
        return w, p


def _same_combination(cell: Cell, split: Split, held: HeldOutCell) -> Floats:
    """Directions of shape (F, d): the combination of mean and contrasts that w is, of the rows left."""
    basis = np.concatenate([cell.moments.mean[None], cell.moments.contrasts])
    w = split.weights / split.steepness
    parts: Any = np.linalg.pinv(basis @ basis.T, rcond=1e-12, hermitian=True) @ (basis @ w)
    total = held.masses.sum(axis=0)
    total = np.where(total > 0, total, 1)
    means = held.sums.sum(axis=0) / total[:, None]
    contrasts = held.sums / total[:, None] - (held.masses / total)[:, :, None] * means
    return unit(parts[0] * means + np.tensordot(parts[1:], contrasts, axes=1))
