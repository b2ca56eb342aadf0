"""Class probabilities of the nodes of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Rows that a parent's distribution may count for.
_WEIGHTS = np.concatenate([[0.0], np.geomspace(0.25, 256, 21)])


def raw(counts: Ints) -> Floats:
    """Class frequencies of each node."""
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def shrunk(counts: Ints, parent: NDArray[np.int32], is_leaf: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Frequencies shrunk toward the parent's: ``(counts + w * parent's) / (size + w)``.

    The weight w minimises the leave-one-out squared error of the leaves' probabilities, a row being taken out
    of every node that it passes. The smaller of equally good weights.
    """
    from offsample.induction import _kernels

    losses = [_kernels.leave_one_out_losses(counts, parent, is_leaf, w) for w in _WEIGHTS]
    weight = float(_WEIGHTS[int(np.argmin(np.round(losses, 9)))])
    sizes = counts.sum(axis=1)
    value = np.empty(counts.shape)
    # The root is never shrunk: its own frequencies are the prior of all others.
    value[0] = counts[0] / sizes[0]
    for node in range(1, len(counts)):
        value[node] = (counts[node] + weight * value[parent[node]]) / (sizes[node] + weight)
    return value, weight
