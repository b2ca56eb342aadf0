"""`python -m benchmarks.bandwidth`: how fast this machine reads memory, with one thread and with several."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import NDArray

N_BYTES = 512 << 20  # far beyond any cache


@njit(nogil=True, cache=True)
def _add_up(values: NDArray[np.uint64]) -> int:
    total = np.uint64(0)
    for value in values:
        total += value
    return total


def read_bandwidth(n_threads: int = 1, repeats: int = 5) -> float:
    """Bytes per second that `n_threads` threads read together, the best of several tries.

    By CPU time, as the benchmarks beside it are: waiting for a core is not the memory's fault.
    """
    parts = np.array_split(np.ones(N_BYTES // 8, np.uint64), n_threads)
    best = np.inf
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(_add_up, parts))
        for _ in range(repeats):
            start = time.process_time()
            list(pool.map(_add_up, parts))
            best = min(best, (time.process_time() - start) / n_threads)
    return N_BYTES / best


def main() -> None:
    for n_threads in sorted({1, os.cpu_count() or 1}):
        print(f"{n_threads} thread(s): {read_bandwidth(n_threads) / 1e9:.1f} GB/s")


if __name__ == "__main__":
    main()
