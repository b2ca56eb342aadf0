"""Which of several candidates is best, on every processor alike.

Logarithms, matrix products and eigenvectors end in other digits on another processor, and sorting leaves
equal numbers in another order. Where candidates tie, as columns do that say the same in other words, this
would decide between them. So what competes is rounded first, and of equals the first in a stated order wins.

Numbers that compete are brought to a scale of 1 (shares of the sample, mostly), where they are wrong by 1e-14
or less. Ten digits are coarse beside that: two that tie are seldom on two sides of a border (one pair in ten
thousand, and none that was computed from the same counts). They are fine beside what a choice is about: one
row in a hundred million changes the ninth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._typing import Floats

DIGITS = 10
# Eigenvalues that differ by less, as a share of the largest, are one: their vectors would not be certain.
_SAME = 1e-7


def rounded(values: ArrayLike, scale: float = 1.0) -> Floats:
    """Numbers to compare, as multiples of a scale."""
    units = 10.0**DIGITS  # as `np.round` does, which takes longer for single numbers
    return np.asarray(np.rint(np.asarray(values, float) / scale * units) / units)


def best_of(values: ArrayLike, scale: float = 1.0) -> int:
    """Position of the largest; the first of equals."""
    return int(np.argmax(rounded(values, scale)))


def best_first(values: ArrayLike, scale: float = 1.0) -> NDArray[np.intp]:
    """Positions in falling order; of equals the first comes first."""
    return np.argsort(-rounded(values, scale), kind="stable")


def largest(values: NDArray[Any], n: int, *ties: NDArray[Any]) -> NDArray[np.intp]:
    """Positions, ascending, of the n largest of rounded numbers.

    Of those that equal the last, the ones with the smallest of the numbers in `ties`, and then the first.
    """
    if len(values) <= n:
        return np.arange(len(values))
    limit = np.partition(values, len(values) - n)[len(values) - n]
    above, equal = np.flatnonzero(values > limit), np.flatnonzero(values == limit)
    if ties:
        equal = equal[np.lexsort([equal, *(rounded(key[equal]) for key in reversed(ties))])]
    return np.sort(np.concatenate([above, equal[: n - len(above)]]))


def eigenvector(values: Floats, vectors: Floats, place: int = -1) -> Floats:
    """One of the eigenvectors that `numpy.linalg.eigh` found, which leaves its sign to chance.

    And the vector itself, where another eigenvalue is the same. Of all that it could be, this is the one that
    is nearest to a coordinate axis: to the first of those that they come nearest to.
    """
    same = vectors[:, np.abs(values - values[place]) <= _SAME * np.abs(values).max()]
    axis = best_of((same**2).sum(axis=1))
    vector = same @ same[axis]
    return np.asarray(vector / np.linalg.norm(vector))
