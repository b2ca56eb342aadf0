"""Timing shared by the benchmarks: first call apart, then the best of several."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Seconds of the first call (with any compilation) and of the best later call, wall and CPU."""

    first: float
    wall: float
    cpu: float


def measure(function: Callable[[], Any], repeats: int = 3) -> Timing:
    start = time.perf_counter()
    function()
    first = time.perf_counter() - start
    walls, cpus = [], []
    for _ in range(repeats):
        cpu, wall = time.process_time(), time.perf_counter()
        function()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Timing(first, min(walls), min(cpus))


def print_versions(*packages: str) -> None:
    print("  ".join(f"{name} {version(name)}" for name in packages))
