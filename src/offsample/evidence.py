"""Is there a signal at all? The law of Ginger when the classes are shuffled among the rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import perm

import numpy as np
from scipy.special import chdtrc

from offsample.counts import CellCounts

__all__ = ["Evidence", "signal_evidence"]


@dataclass(frozen=True)
class Evidence:
    """What a partition's counts say against independence of cell and class.

    Attributes
    ----------
    signal : float
        How much better than the baseline the Gini rule is on rows of cells that were seen: Ginger of the
        class totals less Ginger of the cells, where a row alone in its cell counts as baseline. It
        estimates the gain, on fresh rows, of the rule that predicts the class frequencies of the row's
        cell, and of the whole sample where the cell is new. Its mean over shuffles of the classes is 0.
    deviation : float
        Its standard deviation over shuffles of the classes, exactly.
    p_value : float
        Probability that a shuffle has a signal at least as large, by a scaled chi-squared law with the exact
        mean and variance and the skewness of large cells.
    """

    signal: float
    deviation: float
    p_value: float


def signal_evidence(cells: CellCounts) -> Evidence:
    """Test whether cell and class are independent, by the pairs of rows of a cell that agree in class.

    With A_v the ordered pairs of rows of cell v of the same class, Ginger is a constant less
    ``(1/m) sum_{c_v > 1} A_v / (c_v - 1)``. When the classes are shuffled among the rows, the moments of A_v
    are falling factorials of cell sizes and class totals, so that mean and variance are exact for cells of
    any size: also where almost all values are rare, and the chi-squared test fails.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.evidence import signal_evidence
    >>> evidence = signal_evidence(CellCounts([[30, 10], [5, 55]]))
    >>> round(evidence.signal, 3), round(evidence.deviation, 4), evidence.p_value < 1e-9
    (0.213, 0.0066, True)
    """
    cells.require_frequencies("signal_evidence")
    cells = cells.profile()
    m = int(cells.n_samples)
    totals = [int(total) for total in cells.class_totals]
    paired = cells.cell_sizes > 1
    sizes, times = cells.cell_sizes[paired].astype(float), cells.multiplicity[paired]
    if m < 4 or not len(sizes) or cells.n_cells == 1 or max(totals) == m:
        return Evidence(0.0, 0.0, 1.0)

    # Probabilities that 2, 3 rows are of one class, and that two pairs of rows are: in exact integers, as
    # their differences decide the variance.
    two = [perm(n, 2) for n in totals]
    p2 = Fraction(sum(two), perm(m, 2))
    p3 = Fraction(sum(perm(n, 3) for n in totals), perm(m, 3))
    four = sum(perm(n, 4) for n in totals) + sum(two) ** 2 - sum(t * t for t in two)
    p22 = Fraction(four, perm(m, 4))

    counts = cells.counts[paired].astype(float)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (sizes - 1)
    signal = float(times @ (agreeing - float(p2) * sizes)) / m
    per_cell = float(2 * p2 - 8 * p3 + 6 * p22) + 4 * float(p3 - p22) * sizes
    variance = (
        float(times @ (sizes / (sizes - 1) * per_cell)) + float(p22 - p2 * p2) * float(times @ sizes) ** 2
    )

    # In large cells the signal is a sum of chi-squared variables, weighted by the eigenvalues of the
    # covariance of the class indicators; scale and degrees of freedom match the cumulants.
    q = np.array(totals) / m
    weights = np.linalg.eigvalsh(np.diag(q) - np.outer(q, q))
    scale = (weights**3).sum() / (weights**2).sum()
    freedom = variance / (2 * scale**2)
    p_value = float(chdtrc(freedom, max(0.0, freedom + signal * m / scale)))
    return Evidence(signal, float(np.sqrt(variance)) / m, p_value)
