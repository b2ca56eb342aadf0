"""Passes over the rows: block by block, so that memory is O(block × rows), on several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from offsample._typing import Floats, Ints
from offsample.margin._sketch import Neighbors, Sample, find_with_sketch, no_neighbors
from offsample.margin._space import CATEGORY, SQUARED, Space, in_fours
from offsample.margin._utility import Utility, derivative_of

# Most distances of a block of rows to all others, and most rows of a block: enough for a column to be read
# from memory once and used many times.
_BLOCK_DISTANCES = 1 << 20
_BLOCK_ROWS = 64

T = TypeVar("T")


def over_blocks(task: Callable[[Ints], T], rows: Ints, n_reference: int, n_threads: int) -> Iterator[T]:
    """Yield the results of a task for each block of rows, in order, whatever the number of threads."""
    size = min(max(_BLOCK_DISTANCES // max(n_reference, 1), 1), _BLOCK_ROWS)
    blocks = [rows[start : start + size] for start in range(0, len(rows), size)]
    if n_threads == 1:
        yield from map(task, blocks)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(task, blocks)


def add_distances(space: Space, weights: Floats, rows: Ints, out: Floats) -> None:
    """Add to ``out[b, j]`` the weighted differences of ``rows[b]`` and row j; weights act as they are."""
    from offsample.margin import _kernels

    active = np.flatnonzero(weights)
    is_plain = space.kinds[active] < CATEGORY
    plain, mixed = active[is_plain], active[~is_plain]
    if len(plain):  # numbers without missing values, which all differ in the same way
        squared = bool(space.kinds[plain[0]] == SQUARED)
        _kernels.scan(space.columns, squared, *in_fours(plain, weights[plain]), rows, out)
    if len(mixed):
        _kernels.scan_mixed(space, mixed, weights[mixed], rows, out)


def find_nearest(
    sample: Sample, weights: Floats, rows: Ints, *, n_neighbors: int = 1, n_classes: int | None = None
) -> Neighbors:
    """Find the nearest rows of the own class and of all others, or of each of `n_classes`.

    Weights act as they are. With a sketch, several neighbours come without distances and in any order.
    """
    from offsample.margin import _kernels

    if sample.sketch is not None:
        return find_with_sketch(sample, sample.sketch, weights, rows, n_classes, n_neighbors)
    distances = np.zeros((len(rows), sample.n_reference))
    add_distances(sample.space, weights, rows, distances)
    found = no_neighbors(len(rows), n_classes or 2, n_neighbors)
    _kernels.nearest(distances, (sample.labels, sample.groups), rows, n_classes is not None, *found)
    return found


def margins(sample: Sample, weights: Floats, rows: Ints, n_threads: int = 1) -> Floats:
    """Compute the hypothesis margin of each row; NaN where it has no hit or no miss."""

    def of_block(block: Ints) -> Floats:
        return _margins_of(np.sqrt(find_nearest(sample, weights**2, block).distance[:, :, 0]))

    return np.concatenate([np.empty(0), *over_blocks(of_block, rows, sample.n_reference, n_threads)])


def _margins_of(distances: Floats) -> Floats:
    hit, miss = np.where(np.isinf(distances), np.nan, distances).T
    return np.asarray(0.5 * (miss - hit))


def gradient(
    sample: Sample, weights: Floats, rows: Ints, utility: Utility, *, skip_zero: bool = False
) -> Floats:
    """Sum the gradients of the utilities of these rows.

    A distance of 0 has no derivative. Its term is left out, or the whole row with `skip_zero`.
    """
    found = find_nearest(sample, weights**2, rows)
    distance = np.sqrt(found.distance[:, :, 0])
    margin = _margins_of(distance)
    usable = ~np.isnan(margin)
    if skip_zero:
        usable &= (distance > 0).all(axis=1)
    slope = np.zeros(len(rows))
    slope[usable] = derivative_of(utility)(margin[usable])
    coefficients = slope[:, None] / (2 * np.where(distance > 0, distance, np.inf)) * [-1.0, 1.0]
    return sum_pairs(sample, rows, found.neighbor[:, :, 0], coefficients) * weights


def sum_pairs(sample: Sample, rows: Ints, neighbors: Ints, coefficients: Floats) -> Floats:
    """Sum for each feature the differences between rows and their neighbours, times the coefficients."""
    from offsample.margin import _kernels

    space, total = sample.space, np.zeros(len(sample.space.columns))
    if sample.sketch is not None:
        squared = bool(space.kinds[0] == SQUARED)
        _kernels.add_pairs(space.rows, squared, rows, neighbors, coefficients, total)
    else:
        _kernels.add_mixed_pairs(space, rows, neighbors, coefficients, total)
    return total
