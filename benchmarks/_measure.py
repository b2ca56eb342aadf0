"""One measurement: the first call apart, then the best of the others; memory of the process and its children.

On Linux the high-water mark of the resident set is reset before each call, and processes that were started by
a tool (a Java process, workers) count as well. Elsewhere there is no memory, and CPU time is that of the
process alone.
"""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Measured", "Quality", "measure"]

REPEATS = 3
PATIENCE = 10.0  # seconds of repeats after which none is begun
PROC = Path("/proc")


@dataclass(frozen=True)
class Quality:
    """How good a result is, with words to show beside the number and the numbers it is the mean of."""

    value: float
    note: str = ""
    details: tuple[float, ...] = ()


@dataclass(frozen=True)
class Measured:
    """Seconds of the first call and of the best of ``repeats`` others, megabytes, and the mean quality."""

    first: float | None
    wall: float | None
    cpu: float | None
    peak_mb: float | None
    repeats: int
    quality: float | None = None
    note: str = ""
    details: tuple[float, ...] = field(default=())


def measure(
    call: Callable[[], Any],
    judge: Callable[[Any], float | Quality] | None = None,
    *,
    repeats: int = REPEATS,
    patience: float = PATIENCE,
    always_repeat: bool = True,
) -> Measured:
    """Call once, then until there are enough repeats or the patience is at an end, and judge what came back.

    A first call that takes more CPU seconds than three times the patience is not repeated, unless
    ``always_repeat``: then once. Where nothing was repeated, the times are those of the first call.
    """
    watch = _Watch()
    first_wall, first_cpu, result = watch.timed(call)
    walls: list[float] = []
    cpus: list[float] = []
    qualities: list[Quality] = []
    if first_cpu <= 3 * patience or always_repeat:
        while len(walls) < repeats and sum(walls) < patience:
            del result  # its memory is not that of the next call
            wall, cpu, result = watch.timed(call)
            walls.append(wall)
            cpus.append(cpu)
            if judge:
                qualities.append(_as_quality(judge(result)))
    if judge and not qualities:
        qualities.append(_as_quality(judge(result)))
    return Measured(
        first_wall,
        min(walls, default=first_wall),
        min(cpus, default=first_cpu),
        watch.peak_mb,
        len(walls),
        sum(q.value for q in qualities) / len(qualities) if qualities else None,
        qualities[-1].note if qualities else "",
        qualities[-1].details if qualities else (),
    )


def _as_quality(judged: float | Quality) -> Quality:
    return judged if isinstance(judged, Quality) else Quality(float(judged))


class _Watch:
    """Times calls and keeps the largest growth of the resident set that one of them caused.

    A call is charged with what it adds to the level before it or before the first call, whichever is lower:
    pools that a tool keeps from its first call are its own, those that an earlier tool gives back are not.
    A call that starts processes and ends them takes the knowledge of their memory with it.
    """

    def __init__(self) -> None:
        self.peak_mb: float | None = None
        self._lost = False
        self._first_level: float | None = None

    def timed(self, call: Callable[[], Any]) -> tuple[float, float, Any]:
        _give_back()
        level = _reset_peak()
        if self._first_level is None:
            self._first_level = level
        others, ended = _descendants_cpu(), _ended_cpu()
        cpu, wall = time.process_time(), time.perf_counter()
        result = call()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        cpu += _descendants_cpu() - others
        peak = _sum_status("VmHWM")
        self._lost |= _ended_cpu() > ended
        if self._lost or peak is None or level is None or self._first_level is None:
            self.peak_mb = None
        else:
            self.peak_mb = max(self.peak_mb or 0.0, peak - min(level, self._first_level))
        return wall, cpu, result


def _give_back() -> None:
    """What is free goes back to the system, so that it is not mistaken for the memory of the next call."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _reset_peak() -> float | None:
    """Set the high-water marks to the present resident sets; their sum in MB."""
    try:
        for process in (os.getpid(), *_descendants()):
            (PROC / str(process) / "clear_refs").write_text("5")
    except OSError:
        return None
    return _sum_status("VmRSS")


def _sum_status(key: str) -> float | None:
    total = 0.0
    for process in (os.getpid(), *_descendants()):
        try:
            status = (PROC / str(process) / "status").read_text()
        except OSError:
            if process == os.getpid():
                return None
            continue  # it has ended
        for line in status.splitlines():
            if line.startswith(key):
                total += float(line.split()[1]) / 1024
    return total


def _stat(process: int) -> list[str]:
    """Fields of ``/proc/PID/stat`` after the name, which may hold anything."""
    try:
        return (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _descendants() -> list[int]:
    """Processes below this one."""
    if not PROC.is_dir():
        return []
    parents = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            parents[int(entry.name)] = int(fields[1])
    found = [os.getpid()]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found[1:]


def _descendants_cpu() -> float:
    """CPU seconds of processes below this one, those that have ended included."""
    ticks = 0
    for process in _descendants():
        if fields := _stat(process):
            ticks += sum(int(field) for field in fields[11:15])
    return _ended_cpu() + ticks / os.sysconf("SC_CLK_TCK")


def _ended_cpu() -> float:
    """CPU seconds of processes below this one that have ended."""
    times = os.times()
    return times.children_user + times.children_system
