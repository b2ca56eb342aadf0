"""The sample on which no shallow tree beats chance."""

from __future__ import annotations

import numpy as np

from offsample._typing import Ints


def make_parity_sample(n_bits: int) -> tuple[Ints, Ints]:
    """All points of the Boolean cube, and whether the number of ones is odd.

    Every tree of depth below `n_bits` has training error ½ on it, for equal weights, and boosting such trees
    gets nowhere: Theorem 19 of Scheffer (1999).

    Parameters
    ----------
    n_bits : int

    Returns
    -------
    X : ndarray of shape (2**n_bits, n_bits)
    y : ndarray of shape (2**n_bits,)

    Examples
    --------
    >>> from offsample.datasets import make_parity_sample
    >>> X, y = make_parity_sample(2)
    >>> X.tolist(), y.tolist()
    ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    """
    if not 1 <= n_bits <= 24:
        raise ValueError(f"n_bits must be from 1 to 24, got {n_bits}")
    X = (np.arange(2**n_bits)[:, None] >> np.arange(n_bits - 1, -1, -1)) & 1
    return X, X.sum(axis=1) % 2
