"""The learner of the thesis: of all partitions of a model and all labels, one with the fewest errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cross_validated", "left_one_out", "minimised"]


def minimised(
    cells: Sequence[Any], y: Any, test_cells: Sequence[Any], test_y: Any, rng: np.random.Generator
) -> float:
    """Error on other rows of a hypothesis with the fewest errors; ties of partitions and labels are drawn."""
    if not len(test_y):
        return 0.0
    best, place, counts = np.inf, 0, np.zeros((1, 2))
    for i in rng.permutation(len(cells)):
        codes = np.asarray(cells[i])
        size = 1 + int(max(codes.max(initial=0), np.max(test_cells[i])))
        found = np.bincount(2 * codes + y, minlength=2 * size).reshape(size, 2)
        wrong = found.min(axis=1).sum()
        if wrong < best:
            best, place, counts = wrong, int(i), found
    tied = counts[:, 0] == counts[:, 1]
    labels = np.where(tied, rng.integers(0, 2, len(counts)), counts[:, 1] > counts[:, 0])
    return float((labels[np.asarray(test_cells[place])] != test_y).mean())


def cross_validated(
    cells: Sequence[Any], y: NDArray[np.int64], folds: NDArray[np.int64], rng: np.random.Generator
) -> float:
    """Share of errors on the folds, each with the others learned from."""
    wrong = 0.0
    for fold in np.unique(folds):
        train, held = folds != fold, folds == fold
        wrong += held.sum() * minimised(
            [c[train] for c in cells], y[train], [c[held] for c in cells], y[held], rng
        )
    return wrong / len(y)


def left_one_out(cells: Sequence[Any], y: NDArray[np.int64], rng: np.random.Generator) -> float:
    """Cross-validation with as many folds as rows."""
    return cross_validated(cells, y, np.arange(len(y)), rng)
