"""Class probabilities of the nodes of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offsample._ties import best_of
from offsample._typing import Booleans, Floats, Ints

# Rows that a parent's distribution may count for.
_WEIGHTS = np.concatenate([[0.0], np.geomspace(0.25, 256, 21)])


def raw(counts: Ints) -> Floats:
    """Class frequencies of each node."""
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def shrunk(counts: Ints, parent: NDArray[np.int32], is_leaf: Booleans) -> tuple[Floats, float]:
    """Frequencies shrunk toward the parent's, ``(counts + w * parent's) / (size + w)``, and the weight w.

    Of several weights, w has the smallest leave-one-out squared error in the leaves, a row being taken out of
    every node that it passes; the smaller of equals.
    """
    from offsample.induction.tree import kernels

    losses = [kernels.leave_one_out_losses(counts, parent, is_leaf, w) for w in _WEIGHTS]
    sizes = counts.sum(axis=1)
    weight = float(_WEIGHTS[best_of([-loss for loss in losses], float(sizes[0]))])
    value = np.empty(counts.shape)
    # The root is never shrunk: its own frequencies are the prior of all others.
    value[0] = counts[0] / sizes[0]
    for node in range(1, len(counts)):
        value[node] = (counts[node] + weight * value[parent[node]]) / (sizes[node] + weight)
    return value, weight


def node_errors(shrunk: Floats, value: Floats, sizes: Ints, is_leaf: Booleans, total: float) -> Floats:
    """Share of new rows of each node that its most probable class gets wrong.

    Of a node by itself this is one less the shrunk frequency of the class with the largest `value`. The
    leaves are optimistic together, as the same rows chose classes and splits: their errors are moved toward
    guessing until their mean is `total`, the estimate for the tree (or down in proportion, if that is
    smaller).
    """
    chosen = value.argmax(axis=1)[:, None]
    errors: Floats = 1 - np.take_along_axis(shrunk, chosen, axis=1)[:, 0]
    own, share = errors[is_leaf], sizes[is_leaf] / sizes[0]
    guessing = np.maximum(own, 1 - 1 / shrunk.shape[1])
    now, most = float(share @ own), float(share @ guessing)
    if total <= now:
        own = own * (total / now if now > 0 else 1.0)
    elif total <= most:
        own = own + (guessing - own) * (total - now) / (most - now)
    else:
        own = np.minimum(1.0, guessing + (1 - guessing) * (total - most) / max(1 - most, 1e-300))
    errors[is_leaf] = own
    return np.clip(errors, 0.0, 1.0)
