"""Where the splits of a growing tree send rows by their codes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats
from offsample.hypotheses import RULES
from offsample.induction.tree.grower import Grower
from offsample.induction.tree.splits.split import child_of_row


def routed(
    grower: Grower, n_splits: int, rows: NDArray[np.int32]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int32]]]:
    """After each split, the places of the rows that it moved, and the last node of all rows.

    A row whose value was not seen at a node stays there. The nodes are one array that changes.
    """
    node = np.zeros(len(rows), np.int32)
    places_of: dict[int, NDArray[np.intp]] = {0: np.arange(len(rows))}
    for record in grower.records[:n_splits]:
        places = places_of.pop(record.node, np.zeros(0, np.intp))
        column = record.split.column
        codes = grower.columns.codes[column][rows[places]]
        child = child_of_row(record.split, codes, grower.columns.n_codes[column], record.missing_left)
        for i in np.unique(child[child >= 0]):
            places_of[record.first_child + int(i)] = places[child == i]
        seen = child >= 0
        node[places[seen]] = record.first_child + child[seen]
        yield places, node


def held_out_losses(grower: Grower, n_splits: int, held_out: NDArray[np.int32]) -> list[Floats]:
    """Loss of the criterion's rule on rows that did not grow the tree, after 0, 1, 2, … splits."""
    value = RULES[grower.scoring.criterion.rule].from_counts(np.concatenate(grower.counts))
    y = grower.y[held_out]
    loss = 1 - value[0, y]
    losses = [loss]
    for places, node in routed(grower, n_splits, held_out):
        loss = loss.copy()
        loss[places] = 1 - value[node[places], y[places]]
        losses.append(loss)
    return losses


def last_nodes(grower: Grower, n_splits: int, rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Node in which each row ends after the first splits."""
    node = np.zeros(len(rows), np.int32)
    for _, node in routed(grower, n_splits, rows):  # noqa: B007 - the last is kept
        pass
    return node


def follows_conditions(grower: Grower, n_splits: int) -> bool:
    """Whether the rows that grew the tree went where its conditions send new rows."""
    return all(record.split.child_of_row is None for record in grower.records[:n_splits])
