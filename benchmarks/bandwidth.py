"""How fast this machine reads memory: the lower limit of passes over data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

BLOCK = 512 << 20  # far beyond any cache


@njit(nogil=True, cache=True)
def _add_up(values: NDArray[np.uint64]) -> int:
    total = np.uint64(0)
    for value in values:
        total += value
    return total


def reads(n_bytes: int) -> Callable[[], None]:
    """A call that reads so many bytes from memory, on one thread."""
    block = np.ones(min(n_bytes, BLOCK) // 8, np.uint64)

    def read() -> None:
        for begin in range(0, n_bytes, BLOCK):
            _add_up(block[: min(BLOCK, n_bytes - begin) // 8])

    return read
