"""The number of splits by the error on rows that the tree has not seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offsample._ties import best_of, rounded
from offsample.hypotheses import RULES
from offsample.induction.tree.grower import Grower
from offsample.induction.tree.splits.split import child_of_row

Floats = NDArray[np.float64]


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
    node = np.zeros(len(held_out), np.int32)
    rows_of: dict[int, NDArray[np.intp]] = {0: np.arange(len(held_out))}
    loss = 1 - value[0, y]
    losses = [loss]
    for record in grower.records[:n_splits]:
        rows = rows_of.pop(record.node, np.zeros(0, np.intp))
        split = record.split
        codes = grower.columns.codes[split.column][held_out[rows]]
        child = child_of_row(
            split, codes, grower.columns.n_codes[split.column], missing_left=record.missing_left
        )
        for i in np.unique(child[child >= 0]):
            rows_of[record.first_child + int(i)] = rows[child == i]
        seen = child >= 0
        node[rows[seen]] = record.first_child + child[seen]
        loss = loss.copy()
        loss[rows] = 1 - value[node[rows], y[rows]]
        losses.append(loss)
    best = best_of([-row.mean() for row in losses])
    for n, row in enumerate(losses):
        difference = row - losses[best]
        if rounded(difference.mean()) <= rounded(difference.std() / np.sqrt(max(1, len(row)))):
            return n
    return best
