"""How long a report takes: its stages, its time limit, and what is left out to keep it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from joblib import cpu_count

from offsample._deadline import deadline

_TO_WRITE = 0.5  # seconds that it takes to write the page

_Item = TypeVar("_Item")
_Fitted = TypeVar("_Fitted")


@dataclass(eq=False, kw_only=True)
class TimeLimited:
    """Work in stages that ends in time."""

    time_limit: float | None = None
    on_stage: Callable[[str], None] = lambda _: None  # told the name of each stage when it begins
    timings: dict[str, float] = field(default_factory=dict)  # seconds of each stage
    skipped: list[str] = field(default_factory=list)  # what was left out, and why
    _started: float = field(default_factory=time.perf_counter)
    _seconds: dict[tuple[str, ...], list[float]] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Tell that a stage begins, the first time, and note how long it takes."""
        if name not in self.timings:
            self.on_stage(name)
        start = time.perf_counter()
        yield
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - start

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time limit, less what it takes to write the page; None without a limit."""
        limit = self.time_limit
        return None if limit is None else limit - _TO_WRITE - (time.perf_counter() - self._started)

    @property
    def is_out_of_time(self) -> bool:
        """Whether the time limit was reached."""
        return self.seconds_left is not None and self.seconds_left <= 0

    def has_time_for(self, what: str, seconds: float = 0.0) -> bool:
        """Say whether there is time for something that takes as many seconds; if not, note that."""
        left = self.seconds_left
        if left is None or left > seconds:
            return True
        self.leave_out(what)
        return False

    def leave_out(self, what: str, why: str | None = None) -> None:
        """Note that something is not in the report, and why: by default for want of time."""
        self.skipped.append(f"{what}: {why or f'the time limit of {self.time_limit:g} s was reached'}")

    def deadline(self, *, keep_part: bool = False) -> AbstractContextManager[None]:
        """Stop the growth of models within the block when the time limit is reached."""
        return deadline(self.seconds_left, keep_part=keep_part)

    @contextmanager
    def timed(self, *what: str) -> Iterator[None]:
        """Note how long something takes, to tell how long it will take again."""
        start = time.perf_counter()
        yield
        self._seconds.setdefault(what, []).append(time.perf_counter() - start)

    def mean_seconds(self, *what: str) -> float:
        """Return how long something took on average; 0 if it was not done yet."""
        known = self._seconds.get(what)
        return float(np.mean(known)) if known else 0.0

    def side_by_side(self, fit: Callable[[_Item], _Fitted], items: Sequence[_Item]) -> Iterator[_Fitted]:
        """Yield results in order, computed on as many cores as there are, of which two are enough here."""
        n_threads = min(2, cpu_count())
        with ThreadPoolExecutor(n_threads) as pool:
            for start in range(0, len(items), n_threads):
                jobs = [  # with the deadline of this thread
                    pool.submit(copy_context().run, fit, item) for item in items[start : start + n_threads]
                ]
                yield from [job.result() for job in jobs]
