"""Trees without each part of the rows in turn, grown in step with the tree of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample.induction.oblique.rows import UnitRows, gate

if TYPE_CHECKING:
    from offsample.induction.oblique.cell import Split, StochasticCell

Floats = NDArray[np.float64]

# Rounds in which the two directions of a pair forget the rows that are left out.
_ROUNDS = 2


def most_held_out(n_columns: int) -> int:
    """Rows up to which these trees are grown.

    With more rows, and rows that are many times the columns, what a row does to its own output is known well
    enough to first order.
    """
    return max(1000, min(4 * n_columns, 8192))


class FoldRows:
    """Rows of norm 1 as each tree sees them: on the scale of the rows that it has seen.

    Parameters
    ----------
    rows : UnitRows
    kept : ndarray of shape (n, F)
        Mass of each row in each tree, 0 where it is left out.
    unit : ndarray of shape (d,) or None
        What columns were divided by to have variance 1; None where they were not.
    """

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
        """w·x of shape (n, F), for a vector w for each fold."""
        if self._per_row is None:
            return self._rows.scores(w.T)
        d = self._rows.shape[1]
        out = self._ratio * self._rows.scores((self._factor * w[:, :d]).T)
        out -= self._per_row * (self._shift * w[:, :d]).sum(axis=1)
        return out if self._constant is None else out + self._constant * w[:, -1]

    def sums(self, masses: Floats) -> Floats:
        """Σ mass x of each class and fold, of shape (K, F, d)."""
        if self._per_row is None:
            return self._rows.sums(masses)
        out = self._rows.sums(masses * self._ratio) * self._factor
        out -= self._rows.by_class(masses * self._per_row)[:, :, None] * self._shift
        if self._constant is None:
            return out
        constant = self._rows.by_class(masses)[:, :, None] * self._constant
        return np.concatenate([out, constant], axis=2)


class HeldOutCell(NamedTuple):
    """A leaf in the tree without each fold.

    Attributes
    ----------
    mass : ndarray of shape (n, F)
        Of each row, those left out included.
    masses : ndarray of shape (K, F)
        By class, of the rows that are not left out.
    sums : ndarray of shape (K, F, d)
        Of these rows.
    partners : ndarray of shape (F, d) or None
        The other directions of a pair.
    """

    mass: Floats
    masses: Floats
    sums: Floats
    partners: Floats | None = None


class HeldOut:
    """What each row is told by a tree that has not seen it.

    The trees split the same leaves in the same order; directions, steepness and what the leaves say are those
    of the rows that are left.

    Parameters
    ----------
    rows : UnitRows
    prior_mass : ndarray of shape (n,)
    folds : ndarray of int, shape (n,)
        Fold of each row.
    n_folds : int
    value : callable
        What leaves say, from masses of shape (F, K).
    shown : slice
        Of the classes, those that outputs have.
    unit : ndarray of shape (d,) or None
        See `FoldRows`.
    """

    def __init__(
        self,
        rows: UnitRows,
        prior_mass: Floats,
        folds: NDArray[np.intp],
        n_folds: int,
        value: Callable[[Floats], Floats],
        shown: slice,
        unit: Floats | None,
    ) -> None:
        self.rows, self.prior_mass, self.folds, self._shown = rows, prior_mass, folds, shown
        self._value = value
        self._kept = folds[:, None] != np.arange(n_folds)
        self._own = np.arange(len(folds)), folds
        self.seen = FoldRows(rows, prior_mass[:, None] * self._kept, unit)

    def start(self) -> HeldOutCell:
        """All rows."""
        mass = np.repeat(self.prior_mass[:, None], self._kept.shape[1], axis=1)
        cell = self._cell(mass, None)
        says = self._value(cell.masses.T)
        self.output = says[self.folds][:, self._shown]
        return cell

    def _cell(self, mass: Floats, partners: Floats | None) -> HeldOutCell:
        kept = mass * self._kept
        return HeldOutCell(mass, self.rows.by_class(kept), self.seen.sums(kept), partners)

    def refine(
        self, held: HeldOutCell, cell: StochasticCell, split: Split, scores: Floats
    ) -> tuple[HeldOutCell, HeldOutCell]:
        """Split a leaf as it was split in the tree of all rows, and add to the outputs what that changes."""
        size = np.sqrt(float(cell.mass @ scores**2) / float(cell.masses.sum()))
        partners = None
        if split.by_second_moments and cell.pair is not None:
            w, partners = self._pair(held, cell, size)
        elif split.in_pair and held.partners is not None:
            w = held.partners
        else:
            w = _same_combination(cell, split, held)
        products = self._products(held, w, size if split.steepness != 1 else None)
        first = self._cell(held.mass * gate(products), partners)
        second = HeldOutCell(
            held.mass - first.mass,
            np.maximum(held.masses - first.masses, 0.0),
            held.sums - first.sums,
            partners,
        )
        before = self._says(held.masses, None)
        high, low = (self._says(child.masses, before) for child in (first, second))
        p = first.mass[self._own][:, None], second.mass[self._own][:, None]
        step = p[0] * (high - before)[self.folds] + p[1] * (low - before)[self.folds]
        self.output += step[:, self._shown] / self.prior_mass[:, None]
        return first, second

    def _says(self, masses: Floats, otherwise: Floats | None) -> Floats:
        """By fold, of shape (F, K); `otherwise` where a leaf is empty."""
        empty = masses.sum(axis=0) <= 0
        says = self._value(np.where(empty, 1.0, masses).T)
        return says if otherwise is None else np.where(empty[:, None], otherwise, says)

    def _products(self, held: HeldOutCell, w: Floats, size: float | None) -> Floats:
        """w·x of shape (n, F), brought to a root mean square over the rows that are left."""
        products = self.seen.scores(w)
        if size is None:
            return products
        total = held.masses.sum(axis=0)
        squares = (held.mass * self._kept * products**2).sum(axis=0) / np.where(total > 0, total, 1)
        return np.asarray(products * size / np.where(squares > 0, np.sqrt(squares), 1))

    def _pair(self, held: HeldOutCell, cell: StochasticCell, size: float) -> tuple[Floats, Floats]:
        """Two directions whose product the target follows, each from the other and the rows that are left."""
        assert cell.pair is not None
        partner, follow = cell.pair
        is_steep = cell.grower.rescale != 0
        weight = held.mass * self._kept * np.repeat(follow, np.diff(self.rows.starts))[:, None]
        w = p = np.repeat(partner[None], self._kept.shape[1], axis=0)
        for _ in range(_ROUNDS):
            for _ in range(2):
                answer = np.clip(self._products(held, p, size if is_steep else None), -1.0, 1.0)
                w, p = p, _unit(self.seen.sums(weight * answer).sum(axis=0))
        return w, p


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1))


def _same_combination(cell: StochasticCell, split: Split, held: HeldOutCell) -> Floats:
    """Directions of shape (F, d) that are made of the moments of the rows left as w is of those of all.

    Whatever the index and the solver, w is a combination of the mean and of the contrasts of the classes.
    """
    moments = cell.moments
    basis = np.concatenate([moments.mean[None], moments.contrasts])
    w = split.weights / split.steepness
    parts: Any = np.linalg.pinv(basis @ basis.T, rcond=1e-12, hermitian=True) @ (basis @ w)
    total = held.masses.sum(axis=0)
    total = np.where(total > 0, total, 1)
    means = held.sums.sum(axis=0) / total[:, None]
    contrasts = held.sums / total[:, None] - (held.masses / total)[:, :, None] * means
    return _unit(parts[0] * means + np.tensordot(parts[1:], contrasts, axes=1))
