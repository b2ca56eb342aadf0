"""Passes over the rows: block by block, so that memory is O(block × rows), on several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np

from offsample.margin._space import Floats, Ints, Space, active_features
from offsample.margin._utility import Utility, derivative_of

# Distances of a block of rows to all others take this much memory at most, and so many rows at most: enough
# for a column to be read from memory once and used many times.
_BLOCK_DISTANCES = 1 << 20
_BLOCK_ROWS = 64

T = TypeVar("T")


class Neighbors(NamedTuple):
    """Nearest rows of each group, of shape (rows, groups, neighbours); see `_kernels.nearest`."""

    neighbor: Ints
    distance: Floats


def over_blocks(task: Callable[[Ints], T], rows: Ints, n_reference: int, n_threads: int) -> Iterator[T]:
    """Results of a task for each block of rows, in order. The blocks do not depend on the threads."""
    size = min(max(_BLOCK_DISTANCES // max(n_reference, 1), 1), _BLOCK_ROWS)
    blocks = [rows[start : start + size] for start in range(0, len(rows), size)]
    if n_threads == 1:
        yield from map(task, blocks)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(task, blocks)


def find_nearest(
    space: Space,
    labels: Ints,
    weights: Floats,
    rows: Ints,
    *,
    n_reference: int | None = None,
    n_neighbors: int = 1,
    n_classes: int | None = None,
) -> Neighbors:
    """Nearest rows of the own class and of all others, or of each of `n_classes`; weights act as they are."""
    from offsample.margin import _kernels

    distances = np.empty((len(rows), len(labels) if n_reference is None else n_reference))
    _kernels.sum_differences(space, weights, *active_features(space, weights), rows, distances)
    shape = (len(rows), n_classes or 2, n_neighbors)
    found = Neighbors(np.empty(shape, np.int64), np.empty(shape))
    _kernels.nearest(distances, labels, rows, n_classes is not None, *found)
    return found


def margins(
    space: Space,
    labels: Ints,
    weights: Floats,
    rows: Ints,
    *,
    n_reference: int | None = None,
    n_threads: int = 1,
) -> Floats:
    """Hypothesis margin of each row; NaN where it has no hit or no miss."""

    def block_margins(block: Ints) -> Floats:
        return _margins_of(find_nearest(space, labels, weights**2, block, n_reference=n_reference))

    n_candidates = len(labels) if n_reference is None else n_reference
    return np.concatenate([np.empty(0), *over_blocks(block_margins, rows, n_candidates, n_threads)])


def _margins_of(found: Neighbors) -> Floats:
    hit, miss = np.sqrt(found.distance[:, :, 0]).T
    return np.where(np.isinf(hit) | np.isinf(miss), np.nan, 0.5 * (_finite(miss) - _finite(hit)))


def _finite(distances: Floats) -> Floats:
    return np.where(np.isinf(distances), 0.0, distances)


def gradient(
    space: Space, labels: Ints, weights: Floats, rows: Ints, utility: Utility, *, skip_zero: bool = False
) -> Floats:
    """Sum over these rows of the gradients of their utilities.

    A distance of 0 has no derivative. Its term is left out, which is its limit; with `skip_zero` so is the
    whole row.
    """
    from offsample.margin import _kernels

    found = find_nearest(space, labels, weights**2, rows)
    margin, distance = _margins_of(found), np.sqrt(found.distance[:, :, 0])
    usable = ~np.isnan(margin)
    if skip_zero:
        usable &= (distance > 0).all(axis=1)
    slope = np.zeros(len(rows))
    slope[usable] = derivative_of(utility)(margin[usable])
    coefficients = slope[:, None] / (2 * np.where(distance > 0, distance, np.inf)) * [-1.0, 1.0]
    total = np.zeros(len(weights))
    _kernels.add_to_features(space, rows, found.neighbor[:, :, 0], coefficients, total)
    return total * weights
