"""Criteria of information: what the cells of a partition tell of the classes, in bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from offsample._typing import Floats, Ints
from offsample.counts import CellCounts
from offsample.indexes import entropy_bits

__all__ = [
    "adjusted_mutual_information",
    "description_length_gain",
    "gain_ratio",
    "information_gain",
    "mantaras_distance",
]


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


def _cell_bits(cells: CellCounts) -> float:
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
    bits = _cell_bits(cells)
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
    joint = _cell_bits(cells) + mean_term(cells, entropy_terms(cells.counts))
    return 1 - min(1.0, information_gain(cells) / joint) if joint > 0 else 0.0


def adjusted_mutual_information(cells: CellCounts) -> float:
    """Mutual information adjusted for chance: 0 for a shuffled column in expectation, 1 for a copy.

    ``(I - E[I]) / ((H(X) + H(Y))/2 - E[I])``, with the expectation over shuffles of the classes
    (Vinh, Epps & Bailey 2010). A comparator: it finds signals well, but its value is no error rate.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import adjusted_mutual_information
    >>> adjusted_mutual_information(CellCounts([[4, 0], [0, 4]]))
    1.0
    >>> round(adjusted_mutual_information(CellCounts([[3, 1], [1, 3]])), 4)
    0.0835
    """
    cells.require_frequencies("adjusted_mutual_information")
    cells = cells.profile()
    expected = _expected_information(cells)
    mean_bits = (_cell_bits(cells) + float(entropy_bits(cells.class_totals / cells.n_samples))) / 2
    if mean_bits == 0:  # one cell and one class
        return 1.0
    room = mean_bits - expected
    # Where every cell is a single row nothing is left to adjust.
    return float((information_gain(cells) - expected) / room) if room > 1e-12 * mean_bits else 0.0


def _expected_information(cells: CellCounts) -> float:
    """Mean information gain, in bits, when the classes are shuffled among the rows."""
    m = int(cells.n_samples)
    sizes, row = np.unique(cells.cell_sizes, return_inverse=True)
    times = np.bincount(row, cells.multiplicity)
    expected = 0.0
    for total in cells.class_totals:
        if not total:
            continue
        for size, n_cells in zip(sizes, times, strict=True):
            # The count of this class in such a cell is hypergeometric.
            n = np.arange(max(1, size + total - m), min(size, total) + 1)
            log_probability = (
                _log_choose(size, n) + _log_choose(m - size, total - n) - _log_choose(m, np.asarray(total))
            )
            bits = n / m * np.log2(m * n / (float(size) * float(total)))
            expected += float(n_cells * (np.exp(log_probability) @ bits))
    return expected


def _log_choose(n: int, k: Ints) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def description_length_gain(cells: CellCounts) -> float:
    """Bits per row saved by coding the classes cell by cell (Kononenko 1995); negative where none are.

    The length of a cell's code is that of its class counts, ``log2 C(c + K - 1, K - 1)``, and of which
    row has which, ``log2 (c! / (n_1! … n_K!))``. A comparator.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import description_length_gain
    >>> round(description_length_gain(CellCounts([[10, 0], [0, 10]])), 4)
    0.7484
    """
    cells.require_frequencies("description_length_gain")
    cells = cells.profile()
    whole = float(description_terms(np.asarray(cells.class_totals)))
    return whole / cells.n_samples - mean_term(cells, description_terms(cells.counts))


def description_terms(counts: NDArray[Any]) -> Floats:
    """Bits of the code of a cell: its class counts, and which row has which class."""
    size, extra = counts.sum(axis=-1), counts.shape[-1] - 1
    of_counts = gammaln(size + extra + 1) - gammaln(size + 1) - gammaln(extra + 1)
    of_rows = gammaln(size + 1) - gammaln(counts + 1).sum(axis=-1)
    return np.asarray((of_counts + of_rows) / np.log(2))
