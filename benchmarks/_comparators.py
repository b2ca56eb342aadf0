"""Criteria of others that a ranking is compared with: greater for a better column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from offsample._typing import Floats, Ints
from offsample.counts import CellCounts
from offsample.indexes import entropy_bits
from offsample.information import cell_bits, information_gain, mean_term


def adjusted_mutual_information(cells: CellCounts) -> float:
    """Mutual information adjusted for chance: 0 for a shuffled column in expectation, 1 for a copy.

    ``(I - E[I]) / ((H(X) + H(Y))/2 - E[I])``, with the expectation over shuffles of the classes
    (Vinh, Epps & Bailey 2010). It finds signals well, but its value is no error rate.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from benchmarks._comparators import adjusted_mutual_information
    >>> adjusted_mutual_information(CellCounts([[4, 0], [0, 4]]))
    1.0
    >>> round(adjusted_mutual_information(CellCounts([[3, 1], [1, 3]])), 4)
    0.0835
    """
    cells.require_frequencies("adjusted_mutual_information")
    cells = cells.profile()
    expected = _expected_information(cells)
    mean_bits = (cell_bits(cells) + float(entropy_bits(cells.class_totals / cells.n_samples))) / 2
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
    row has which, ``log2 (c! / (n_1! … n_K!))``.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from benchmarks._comparators import description_length_gain
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
