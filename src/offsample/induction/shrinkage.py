"""Class probabilities of cells off the sample: drawn toward those of the cell around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._counting import over_classes
from offsample._ties import best_of
from offsample._typing import Booleans, Floats, Ints

# From probabilities, of shape (..., K), to the loss on a row of each class, and to the class to predict.
Losses = Callable[[Floats], Floats]
Decide = Callable[[Floats], Ints]
# Rows that the probabilities of the cell around may count for; some, so that no class is impossible.
_WEIGHTS = np.geomspace(0.25, 256, 21)
LEAST = float(np.finfo(float).tiny)  # to divide by instead of 0


@dataclass(frozen=True, eq=False)
class Nest:
    """Cells within cells, with what a new row of a cell is expected to be.

    A cell's difference from the cell around it was chosen, as the largest of many. On new rows the share
    `left` of it is expected, ``1 - ln(n) / z²`` of the best of n, against `weight` rows like those around.
    """

    counts: Ints  # of the classes in each cell, of shape (n_cells, K)
    parent: NDArray[np.integer]  # the cell around each, with a smaller number; -1 for all rows, the first
    depth: NDArray[np.integer]
    is_leaf: Booleans
    left: Floats
    by_unit: Ints | None = None  # the same counts by bundles of groups, of shape (n_cells, n_bundles, K)

    def values(self, weight: float) -> Floats:
        """Probabilities of the classes in each cell; those of all rows are their shares."""
        return self._mixed(self.counts, self.counts.sum(axis=1, keepdims=True), weight, 0.0)

    def own(self, weight: float) -> Floats:
        """Probability of the class of a row without the row (or bundle), by cell, (bundle) and class."""
        if self.by_unit is not None:
            others = self.by_unit.sum(axis=1, keepdims=True) - self.by_unit
            return self._mixed(others, over_classes(others)[..., None], weight, 1.0)
        fewer = np.maximum(over_classes(self.counts)[:, None] - 1, 0)
        return self._mixed(np.maximum(self.counts - 1, 0), fewer, weight, 1.0)

    def weight(self) -> float:
        """Weight with the least log loss in the leaves, each row (or bundle) being left out."""
        counts = (self.counts if self.by_unit is None else self.by_unit)[self.is_leaf]
        losses = [float((counts * np.log(self.own(weight)[self.is_leaf])).sum()) for weight in _WEIGHTS]
        return float(_WEIGHTS[best_of(losses, float(self.counts[0].sum()))])

    def left_out_losses(self, weight: float, losses: Losses) -> Floats:
        """Loss on each row of the cells without it (or its bundle), by cell, (bundle) and class."""
        if self.by_unit is not None:
            return losses(self.own(weight))
        n_classes = self.counts.shape[1]
        found = np.empty(self.counts.shape)
        for k in range(n_classes):
            others = np.maximum(self.counts - np.eye(n_classes, dtype=np.int64)[k], 0)
            without = self._mixed(others, over_classes(others)[:, None], weight, 1.0)
            found[:, k] = losses(without)[:, k]
        return found

    def _mixed(self, counts: Ints, size: NDArray[Any], weight: float, at_root: float) -> Floats:
        """Shrunk frequencies, from the first cell on; `at_root` rows of all classes alike are around it."""
        value = np.empty(counts.shape)
        uniform = 1 / self.counts.shape[1]
        for level, nodes in enumerate(self._levels):
            around = value[self.parent[nodes]] if level else uniform
            rows = weight if level else at_root
            # Of no rows, the counts are 0 as well.
            mixed = (counts[nodes] + rows * around) / np.maximum(size[nodes] + rows, LEAST)
            left = self.left[nodes].reshape(-1, *(1,) * (counts.ndim - 1))
            value[nodes] = around + left * (mixed - around) if level else mixed
        return value

    @cached_property
    def _levels(self) -> list[Ints]:
        """The cells of each depth."""
        return [np.flatnonzero(self.depth == level) for level in range(int(self.depth.max()) + 1)]


def with_likeliest(value: Floats, label: Ints) -> Floats:
    """The probabilities where each label is the likeliest: classes that are more so share a mean with it."""
    moved, flip = value.copy(), np.flatnonzero(value.argmax(axis=1) != label)
    wanted, rows = label[flip], np.arange(len(flip))
    own, others = value[flip, wanted], value[flip]
    others[rows, wanted] = 0.0
    falling = -np.sort(-others, axis=1)
    means = (own[:, None] + np.cumsum(falling, axis=1)) / np.arange(2, value.shape[1] + 2)
    following = np.concatenate([falling[:, 1:], np.zeros((len(flip), 1))], axis=1)
    level = means[rows, (following <= means).argmax(axis=1)][:, None]
    step, shares = np.minimum(1e-9, level / 2), others >= level * (1 - 1e-12)
    moved[flip] = np.where(shares, level - step, value[flip])
    moved[flip, wanted] = (level + step * shares.sum(axis=1, keepdims=True))[:, 0]
    return moved
