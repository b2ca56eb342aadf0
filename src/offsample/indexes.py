"""Index functions of a class distribution, and the index of a partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from offsample._counting import over_classes
from offsample._typing import Floats
from offsample.counts import CellCounts

__all__ = ["INDEX_FUNCTIONS", "index_value", "is_permissible"]

IndexFunction = Callable[[Floats], Any]
"""A function of class distributions: shape (..., K) to (...)."""

# Index functions: concave, symmetric, 0 at a pure distribution, 1 at the uniform one.


def entropy_bits(p: Floats) -> Floats:
    """Entropy of distributions in bits."""
    return np.asarray(-over_classes(xlogy(p, p)) / np.log(2), dtype=float)


def _gini(p: ArrayLike) -> Floats:
    p = np.asarray(p, dtype=float)
    scale = p.shape[-1] / (p.shape[-1] - 1)
    return np.asarray(scale * over_classes(p * (1 - p)))


def _entropy(p: ArrayLike) -> Floats:
    p = np.asarray(p, dtype=float)
    return np.asarray(entropy_bits(p) / np.log2(p.shape[-1]))


def _matsushita(p: ArrayLike) -> Floats:
    p = np.asarray(p, dtype=float)
    # The squared sum of roots is the concave 1/2-"norm"; for two classes this is 2 sqrt(p (1 - p)).
    # Written as the sum over pairs, 2 sum_{k<l} sqrt(p_k p_l), it has no cancellation near a pure cell.
    root = np.sqrt(p)
    pairs = over_classes(root * (np.cumsum(root, axis=-1) - root))
    return np.asarray(2 * pairs / (p.shape[-1] - 1))


def _error(p: ArrayLike) -> Floats:
    p = np.asarray(p, dtype=float)
    scale = p.shape[-1] / (p.shape[-1] - 1)
    return np.asarray(scale * (1 - p.max(axis=-1)))


INDEX_FUNCTIONS: dict[str, IndexFunction] = {
    "gini": _gini,
    "entropy": _entropy,
    "matsushita": _matsushita,
    "error": _error,
}


def is_permissible(function: IndexFunction) -> bool:
    """Whether an index function is permissible for two classes (Kearns & Mansour 1996).

    Symmetric, concave, 0 at the pure distributions and 1 at (½, ½), checked on 1,025 points to 1e-9:
    a violation narrower than that grid goes unnoticed.

    Parameters
    ----------
    function : callable
        Takes distributions of shape (..., 2) to (...), as the members of `INDEX_FUNCTIONS`, or the
        probability of one of the two classes to a number.

    Examples
    --------
    >>> from offsample.criteria import INDEX_FUNCTIONS, is_permissible
    >>> all(is_permissible(index) for index in INDEX_FUNCTIONS.values())
    True
    >>> is_permissible(lambda z: 2 * z * (1 - z))  # 1/2 at (½, ½)
    False
    """
    z = np.linspace(0, 1, 1025)
    value = _evaluate_index(function, np.stack([1 - z, z], axis=-1))
    tolerance = 1e-9
    return bool(
        np.isfinite(value).all()
        and np.abs(value - value[::-1]).max() <= tolerance
        and np.abs(value[[0, 512, 1024]] - [0, 1, 0]).max() <= tolerance
        and (value[:-2] + value[2:] - 2 * value[1:-1]).max() <= tolerance
    )


def _evaluate_index(index: str | IndexFunction, p: Floats) -> Floats:
    if not callable(index):
        if index not in INDEX_FUNCTIONS:
            raise ValueError(
                f"unknown index {index!r}: expected a function or one of {sorted(INDEX_FUNCTIONS)}"
            )
        index = INDEX_FUNCTIONS[index]
    value = np.asarray(index(p), dtype=float)
    if value.shape == p.shape and p.shape[-1] == 2:
        value = value[..., 1]  # a function of the probability of one of two classes
    if value.shape != p.shape[:-1]:
        raise ValueError(
            f"an index function takes distributions of shape (..., K) to (...): given {p.shape}, "
            f"it returned {value.shape}"
        )
    return value


def index_terms(index: str | IndexFunction) -> Callable[[NDArray[Any]], Floats]:
    def terms(counts: NDArray[Any]) -> Floats:
        size = over_classes(counts)
        p = counts / np.where(size > 0, size, 1)[..., None]
        return np.where(size > 0, size * _evaluate_index(index, p), 0.0)

    return terms


def index_value(cells: CellCounts, index: str | IndexFunction = "gini") -> float:
    """Index of a partition: the mean of an index function over its cells, Eq. (1) of Nock & Nielsen (2004).

    For a permissible index and two classes, the training error of the majority rule is at most half of it.

    Parameters
    ----------
    cells : CellCounts
        Frequencies or importance weights.
    index : {"gini", "entropy", "matsushita", "error"} or callable
        A member of `INDEX_FUNCTIONS`, or a function like them.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import index_value
    >>> cells = CellCounts([[3, 1], [0, 4]])
    >>> [round(index_value(cells, index), 4) for index in ("error", "gini", "entropy", "matsushita")]
    [0.25, 0.375, 0.4056, 0.433]
    """
    cells = cells.profile()
    return float(cells.multiplicity @ index_terms(index)(cells.counts) / cells.n_samples)
