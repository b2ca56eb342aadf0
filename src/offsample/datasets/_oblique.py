"""Classes that are separated by hyperplanes along no axis."""

from __future__ import annotations

import numpy as np

from offsample._typing import Floats, Ints


def make_oblique_xor(
    n_samples: int = 10_000, n_features: int = 10, random_state: int = 0
) -> tuple[Floats, Ints]:
    """Random unit vectors, and the exclusive or of two perpendicular half-spaces along no axis.

    The half-spaces are Σ x > 0 and (second half of the columns) > (first half), as in Sec. 7 of Jurgenson &
    Mansour (2018). The target is even in x: no linear test says anything of it.

    Parameters
    ----------
    n_samples : int
    n_features : int
        Even.
    random_state : int

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
