"""Criteria of information: what the cells of a partition tell of the classes, in bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from offsample._typing import Floats
from offsample.counts import CellCounts
from offsample.indexes import entropy_bits

__all__ = ["gain_ratio", "information_gain", "mantaras_distance"]


def entropy_terms(counts: NDArray[Any]) -> Floats:
    """Bits of entropy of the classes in a cell, times its size."""
    size = counts.sum(axis=-1)
    terms = xlogy(size, size) - xlogy(counts, counts).sum(axis=-1)
    return np.asarray(np.maximum(terms, 0) / np.log(2))


def size_terms(counts: NDArray[Any]) -> Floats:
    """``c log2 c`` of a cell: subtracted from m log2 m, they leave m times the entropy of the cell."""
    return joint_terms(counts.sum(axis=-1, keepdims=True))


def joint_terms(counts: NDArray[Any]) -> Floats:
    """The same for the entropy of cell and class together."""
    return np.asarray(xlogy(counts, counts).sum(axis=-1) / np.log(2))


def mean_term(cells: CellCounts, terms: Floats) -> float:
    """Sum over all cells of what each row of counts contributes, per sample."""
    return float(cells.multiplicity @ terms / cells.n_samples)


def information_gain(cells: CellCounts) -> float:
    """Mutual information of cell and class in the sample, in bits.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import information_gain
    >>> information_gain(CellCounts([[4, 0], [0, 4]]))
    1.0
    """
    cells = cells.profile()
    within = mean_term(cells, entropy_terms(cells.counts))
    return max(0.0, float(entropy_bits(cells.class_totals / cells.n_samples)) - within)


def cell_bits(cells: CellCounts) -> float:
    """Entropy of the cell, in bits."""
    share = cells.cell_sizes / cells.n_samples
    return float(cells.multiplicity @ -xlogy(share, share) / np.log(2))


def gain_ratio(cells: CellCounts) -> float:
    """Information gain divided by the entropy of the cell (Quinlan 1993); 0 for a single cell.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import gain_ratio
    >>> gain_ratio(CellCounts([[1, 0], [0, 1]], multiplicity=[2, 2]))
    0.5
    """
    cells = cells.profile()
    bits = cell_bits(cells)
    return information_gain(cells) / bits if bits > 0 else 0.0


def mantaras_distance(cells: CellCounts) -> float:
    """Normalised distance between the partition and the classes, 1 - I(X;Y)/H(X,Y) (de Mantaras 1991).

    In [0, 1]; 0 where the cells are the classes.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import mantaras_distance
    >>> mantaras_distance(CellCounts([[4, 0], [0, 4]]))
    0.0
    """
    cells = cells.profile()
    joint = cell_bits(cells) + mean_term(cells, entropy_terms(cells.counts))
    return 1 - min(1.0, information_gain(cells) / joint) if joint > 0 else 0.0
