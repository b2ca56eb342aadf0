"""Small problems that defeat linear tests and shallow trees."""

from __future__ import annotations

import numpy as np

from offsample._typing import Floats, Ints


def make_oblique_xor(
    n_samples: int = 10_000, n_features: int = 10, random_state: int = 0
) -> tuple[Floats, Ints]:
    """Make random unit vectors, labelled by the exclusive or of two perpendicular oblique half-spaces.

    The half-spaces are Σ x > 0 and (second half of the columns) > (first half), as in Sec. 7 of Jurgenson and
    Mansour (2018). The target is even in x, so no linear test tells anything about it.

    Parameters
    ----------
    n_samples, n_features, random_state : int
        The number of features is even.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from offsample.datasets import make_oblique_xor
    >>> X, y = make_oblique_xor(1000)
    >>> X.shape, y[:6].tolist()
    ((1000, 10), [0, 1, 1, 0, 0, 1])
    """
    if n_features < 2 or n_features % 2:
        raise ValueError(f"n_features must be even and at least 2, got {n_features}")
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(n_samples, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    second = np.repeat([-1.0, 1.0], n_features // 2)
    return X, ((X.sum(axis=1) > 0) ^ (X @ second > 0)).astype(np.int64)


def make_parity_sample(n_bits: int) -> tuple[Ints, Ints]:
    """Make all points of the Boolean cube, labelled by whether the number of ones is odd.

    Every tree of depth below `n_bits` has training error ½ on it with equal weights, and boosting such trees
    does not help: Theorem 19 of Scheffer (1999).

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
