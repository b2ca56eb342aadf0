"""Compiled loops over plain arrays. Imported only by the functions that call them: numba loads in .3 s."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def count_into(codes: NDArray[np.integer], y_codes: NDArray[np.integer], counts: NDArray[np.int32]) -> int:
    """Add one to ``counts[codes[i], y_codes[i]]`` for every row; return the first row out of range, or -1."""
    n_cells, n_classes = counts.shape
    for i in range(codes.size):
        cell = codes[i]
        label = y_codes[i]
        if cell < 0 or cell >= n_cells or label < 0 or label >= n_classes:
            return i
        counts[cell, label] += 1
    return -1


@njit(cache=True, nogil=True)
def add_weights_into(
    codes: NDArray[np.integer],
    y_codes: NDArray[np.integer],
    weights: NDArray[np.number],
    counts: NDArray[np.number],
) -> int:
    """Add ``weights[i]`` to ``counts[codes[i], y_codes[i]]``; return the first row out of range, or -1."""
    n_cells, n_classes = counts.shape
    for i in range(codes.size):
        cell = codes[i]
        label = y_codes[i]
        if cell < 0 or cell >= n_cells or label < 0 or label >= n_classes:
            return i
        counts[cell, label] += weights[i]
    return -1
