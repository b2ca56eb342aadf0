"""The number of splits by the error on rows that the tree has not seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offsample._ties import best_of, rounded
from offsample.hypotheses import RULES
from offsample.induction.tree.grower import Grower
from offsample.induction.tree.routing import routed


def best_n_splits(grower: Grower, n_splits: int, held_out: NDArray[np.int32]) -> int:
    """Smallest number of splits whose error on the held-out rows is within one standard error of the least.

    The error is that of the criterion's rule: predicting with the class frequencies of the leaf, or with its
    majority. The standard error is that of the difference to the best tree, row by row.

    Parameters
    ----------
    grower : Grower
        After growing on other rows.
    n_splits : int
        Of the path.
    held_out : ndarray of int32
        Rows of the same sample.
    """
    value = RULES[grower.scoring.criterion.rule].from_counts(np.concatenate(grower.counts))
    y = grower.y[held_out]
    loss = 1 - value[0, y]
    losses = [loss]
    for places, node in routed(grower, n_splits, held_out):
        loss = loss.copy()
        loss[places] = 1 - value[node[places], y[places]]
        losses.append(loss)
    best = best_of([-row.mean() for row in losses])
    for n, row in enumerate(losses):
        difference = row - losses[best]
        if rounded(difference.mean()) <= rounded(difference.std() / np.sqrt(max(1, len(row)))):
            return n
    return best
