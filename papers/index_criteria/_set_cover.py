"""Samples on which top-down induction must solve Set Cover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from offsample._checks import check_count
from offsample._typing import Booleans, Ints


def make_set_cover_sample(
    n_elements: int,
    sets: int | Sequence[Iterable[int]] = 10,
    *,
    density: float = 0.3,
    partition_size: int | None = None,
    random_state: int | None = 0,
) -> tuple[Ints, Ints]:
    """Make a sample whose formulas are covers of a set, after Nock and Nielsen (2004), Section 4.

    The sample has a positive row for each element, with variable i equal to 1 if set i contains it, and one
    all-zero negative row. A decision list, monomial, DNF or tree that is consistent with it names sets that
    cover all elements; the smallest cover is hard to find, and the greedy one is within ``1 + ln n`` of it.

    Parameters
    ----------
    n_elements : int
    sets : int or sequence of sets of int
        Sets of elements 0 to ``n_elements - 1``, or the number of random sets.
    density : float
        Probability that a random set contains an element. An element of no set is put into one.
    partition_size : int, optional
        Number of random sets that partition the elements evenly, so that there is a cover of this size.
    random_state : int, optional

    Returns
    -------
    X : ndarray of shape (n_elements + 1, n_sets)
    y : ndarray of shape (n_elements + 1,)

    Examples
    --------
    >>> from papers.index_criteria._set_cover import make_set_cover_sample
    >>> X, y = make_set_cover_sample(3, [{0, 1}, {1, 2}])
    >>> X.tolist(), y.tolist()
    ([[1, 0], [1, 1], [0, 1], [0, 0]], [1, 1, 1, 0])
    """
    check_count("n_elements", n_elements, 1)
    if isinstance(sets, int):
        member = _random_sets(n_elements, sets, density, partition_size, random_state)
    else:
        member = _given_sets(n_elements, sets)
    if not member.any(axis=1).all():
        missing = int(np.flatnonzero(~member.any(axis=1))[0])
        raise ValueError(f"element {missing} is in no set: expected sets that cover all elements")
    X = np.concatenate([member, np.zeros((1, member.shape[1]), bool)]).astype(np.int64)
    return X, np.append(np.ones(n_elements, np.int64), 0)


def _given_sets(n_elements: int, sets: Any) -> Booleans:
    member = np.zeros((n_elements, len(sets)), bool)
    for i, one in enumerate(sets):
        for element in one:
            if not 0 <= element < n_elements:
                raise ValueError(f"set {i} has the element {element}: expected 0 to {n_elements - 1}")
            member[element, i] = True
    return member


def _random_sets(
    n_elements: int, n_sets: int, density: float, partition_size: int | None, seed: int | None
) -> Booleans:
    if n_sets < 1 or not 0 < density <= 1:
        raise ValueError(f"expected at least 1 set and 0 < density <= 1, got {n_sets} and {density}")
    rng = np.random.default_rng(seed)
    member = rng.random((n_elements, n_sets)) < density
    if partition_size is not None:
        most = min(n_sets, n_elements)
        if not 1 <= partition_size <= most:
            raise ValueError(f"partition_size must be from 1 to {most}, got {partition_size}")
        member[:, :partition_size] = False
        member[rng.permutation(n_elements), np.arange(n_elements) % partition_size] = True
    alone = np.flatnonzero(~member.any(axis=1))
    member[alone, rng.integers(0, n_sets, len(alone))] = True
    return member


def greedy_cover(X: Any) -> list[int]:
    """Return the sets of the greedy cover: always the one with most uncovered elements, the first of equals.

    Parameters
    ----------
    X : array-like of shape (n_elements, n_sets)
        Whether each set contains each element; rows without a set are left out.

    Examples
    --------
    >>> from papers.index_criteria._set_cover import greedy_cover
    >>> greedy_cover([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    [0, 2]
    """
    member = np.asarray(X, bool)
    left = member.any(axis=1)
    chosen = []
    while left.any():
        chosen.append(int(member[left].sum(axis=0).argmax()))
        left &= ~member[:, chosen[-1]]
    return chosen
