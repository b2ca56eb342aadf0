"""Moments of a number in cells as arrays: of rows, of unions of cells, and of all cells of one size.

The numbers are distances to their mean, or to a number near it, so that no digits are lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._counting import KERNEL_ROWS
from offsample._typing import Floats

# Columns of a matrix with a row per cell: size, mean, and sums of powers of the distances to the mean.
N_MOMENTS = 5
# Sums of squares may lose three digits, those of fourth powers six.
_MOST_LOST = 1e3
# Of one with a row per size: see `CellMoments`; the number of cells is last.
JOINT = slice(6, 12)


def moments_of_codes(
    codes: NDArray[np.integer], y: Floats, n_cells: int, weight: NDArray[Any] | None = None
) -> Floats:
    """Size, mean, and sums of the second, third and fourth powers of the distances to it, of each cell."""
    if weight is None and len(y) >= KERNEL_ROWS:
        from offsample import _kernels

        sums = np.zeros((n_cells, N_MOMENTS + 1))
        _kernels.sum_powers(codes, y, sums)
        cells, is_near = _about_means(*sums.T)
        if is_near:
            return cells
    size = np.bincount(codes, weight, minlength=n_cells).astype(float)
    near = np.bincount(codes, y if weight is None else weight * y, n_cells) / np.where(size > 0, size, 1.0)
    if weight is None and n_cells > len(y) // 2:  # most rows are alone, and have no distance to their mean
        several = np.flatnonzero((size > 1)[codes])
        codes, y = codes[several], y[several]
    distance = y - near[codes]
    square = distance * distance
    powers = (distance, square, square * distance, square * square)
    weighed = powers if weight is None else [weight * one for one in powers]
    each: list[Floats] = [np.bincount(codes, one, n_cells).astype(float, copy=False) for one in weighed]
    return _about_means(size, near, *each)[0]


def _about_means(
    size: Floats, near: Floats, sum1: Floats, sum2: Floats, sum3: Floats, sum4: Floats
) -> tuple[Floats, bool]:
    """Moments from sums of powers of the distances to a number near each mean; whether all are near enough.

    Differences of sums lose as many digits as a share of them is due to the distance of that number.
    """
    off = sum1 / np.where(size > 0, size, 1.0)
    square = off * off
    squares = np.maximum(sum2 - size * square, 0.0)
    cubes = sum3 - 3 * off * sum2 + 2 * size * off * square
    fourth = np.maximum(sum4 - 4 * off * sum3 + 6 * square * sum2 - 3 * size * square * square, 0.0)
    is_near = bool((size * square <= _MOST_LOST * squares).all())
    return np.column_stack([size, near + off, squares, cubes, fourth]), is_near


def united(cells: Floats, into: NDArray[np.integer], n_cells: int) -> Floats:
    """Moments of unions of cells: `into` has the union that each belongs to."""
    size, mean, squares, cubes, fourth = cells.T
    total = np.bincount(into, size, n_cells)
    center = np.bincount(into, size * mean, n_cells) / np.where(total > 0, total, 1.0)
    shift = mean - center[into]
    terms = (
        squares + size * shift**2,
        cubes + 3 * shift * squares + size * shift**3,
        fourth + 4 * shift * cubes + 6 * shift**2 * squares + size * shift**4,
    )
    return np.column_stack([total, center, *(np.bincount(into, term, n_cells) for term in terms)])


def by_size(cells: Floats) -> Floats:
    """Profile of cells that hold a row: a row for each size."""
    every = cells if cells[:, 0].all() else cells[cells[:, 0] > 0]
    size, mean, squares, cubes, fourth = every.T
    n_of_size = np.bincount(size.astype(np.int64))
    distinct = np.flatnonzero(n_of_size)
    row = (np.cumsum(n_of_size > 0) - 1)[size.astype(np.int64)]
    times = n_of_size[distinct].astype(float)
    center = np.bincount(row, mean) / times
    shift = mean - center[row]
    square = shift * shift
    terms = [squares, square, fourth, cubes, squares**2, shift * squares, square * squares, shift * cubes]
    terms += [square * shift, square * square]
    averaged = [np.bincount(row, term) / times for term in terms]
    return np.column_stack([distinct, center, *averaged, times])


def from_sums(sums: Floats, scale: float) -> Floats:
    """Profile from sums over the cells of each size, about the centre of the target and in units of `scale`.

    Of each size: the number of cells, and the sums of the mean, of the powers 2, 4 and 3 of the distances to
    it, and of the mean squared, then of `CellMoments.joint_moments`.
    """
    size, times = sums[:, 0], sums[:, 1]
    shift, squares, fourth, cubes, square, ss, os, o2s, ot, o3, o4 = sums[:, 2:].T / times
    # About the mean of each size in place of the mean of all.
    between = np.maximum(square - shift**2, 0.0)
    joint = [
        ss,
        os - shift * squares,
        o2s - 2 * shift * os + shift**2 * squares,
        ot - shift * cubes,
        o3 - 3 * shift * square + 2 * shift**3,
        o4 - 4 * shift * o3 + 6 * shift**2 * square - 3 * shift**4,
    ]
    joint = [np.where(times > 1, term, 0.0) if i else term for i, term in enumerate(joint)]
    between = np.where(times > 1, between, 0.0)
    powers: Sequence[float] = (0, 1, 2, 2, 4, 3, 4, 3, 4, 4, 3, 4, 0)
    rows = np.column_stack([size, shift, squares, between, fourth, cubes, *joint, times])
    rows *= scale ** np.array(powers)
    return rows[np.argsort(size)]
