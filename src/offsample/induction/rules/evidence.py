"""P-values of refining a partition by a condition."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from offsample._typing import Floats, Ints
from offsample.induction.evidence import log_p_one_cell

_SMALLEST_LOG_P = -700.0


def log_p_many_cells(true: Ints, totals: Ints) -> Floats:
    """Log p-values of splitting all cells by one test each: Mantel & Haenszel's, within the cells.

    For more than two classes the best of each class against the others, times their number.

    Parameters
    ----------
    true : ndarray of shape (n_cells, n_tests, K)
        Class counts where the test is true.
    totals : ndarray of shape (n_cells, K)
    """
    if len(totals) == 1:
        return log_p_one_cell(true[0], totals[0])
    size = totals.sum(axis=1)[:, None]
    drawn = true.sum(axis=2)
    n_classes = totals.shape[1]
    best = np.zeros(true.shape[1])
    n_tests = 1 if n_classes == 2 else n_classes
    for k in range(n_tests):
        marked = totals[:, [k]]
        expected = drawn * marked / np.maximum(size, 1)
        spread = expected * (size - marked) / np.maximum(size, 1) * (size - drawn) / np.maximum(size - 1, 1)
        # half a row less, as the counts are whole numbers
        excess = np.maximum(np.abs((true[:, :, k] - expected).sum(axis=0)) - 0.5, 0.0)
        variance = spread.sum(axis=0)
        z2 = np.where(variance > 0, excess**2 / np.where(variance > 0, variance, 1.0), 0.0)
        with np.errstate(divide="ignore"):
            best = np.minimum(best, np.log(chdtrc(1.0, z2)))
    return np.asarray(np.clip(best + np.log(n_tests), _SMALLEST_LOG_P, 0.0))
