"""What the probabilities of a tree lose on new rows."""

from __future__ import annotations

import numpy as np

from offsample._proportions import lower_end
from offsample._typing import Floats
from offsample.induction.shrinkage import Losses, Nest
from offsample.induction.tree.grower import Grower

# Standard errors on either side of a mean, and the same of the square of one, which a cell is wrong by.
_NORMAL, _OF_SQUARE = 1.96, 2.84


def expected_loss(
    grower: Grower, nest: Nest, n_splits: int, weight: float, losses: Losses, costs: Floats | None
) -> tuple[float, tuple[float, float]]:
    """Loss on new rows of the tree of the first splits, and a 95 % interval.

    A split saves of the loss what it saves on left-out rows, but for the part that is due to its choice. The
    interval goes from the loss of left-out rows to the one whose savings were also reduced as probabilities
    are. Above it the interval is the normal one of a mean; below it is Wilson's, as the variance of a loss
    falls with it, and so never below the least that a row can cost, nor above the most. Where all rows lose
    the same, as if a coin were tossed, the mean varies by what the shares in a cell differ from those of new
    rows.
    """
    by_class = nest.left_out_losses(weight, losses)
    counts = nest.counts if nest.by_unit is None else nest.by_unit
    of_node = (counts * by_class).reshape(len(counts), -1).sum(axis=1) / grower.size
    low = high = expected = float(of_node[0])
    for record in grower.records[:n_splits]:
        first, split = record.first_child, record.split
        gain = float(of_node[record.node] - of_node[first : first + len(split.children)].sum())
        share = grower.share_left(split) if gain > 0 else 1.0
        low, expected = low - gain, expected - gain * share
        high -= gain * share * (float(nest.left[first]) if gain > 0 else 1.0)
    square = float((counts * by_class**2)[nest.is_leaf].sum()) / grower.size
    n_free = int(nest.is_leaf.sum()) * max(1, nest.counts.shape[1] - 1)
    radius = np.hypot(
        _NORMAL * np.sqrt(max(0.0, square - low**2) / grower.size), _OF_SQUARE * np.sqrt(n_free) / grower.size
    )
    least, most = (0.0, np.inf) if costs is None else (float(costs.min()), float(costs.max()))
    return expected, (lower_end(low, float(radius), least), float(min(high + radius, most)))
