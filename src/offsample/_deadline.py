"""The moment by which growing has to end, known to every learner that is fitted inside a block."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class OutOfTime(Exception):
    """A fit was given up because its deadline had passed."""


@dataclass(frozen=True)
class _Deadline:
    at: float
    keeps_part: bool


_current: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def deadline(seconds: float | None, *, keep_part: bool = False) -> Iterator[None]:
    """Fits inside the block end after this many seconds; None sets no limit.

    With `keep_part` a model that is still growing is kept as far as it has come, as the best-first loop takes
    its best steps first; otherwise `OutOfTime` is raised.

    Examples
    --------
    >>> from offsample._deadline import OutOfTime, deadline, time_is_up
    >>> with deadline(0.0, keep_part=True):
    ...     time_is_up()
    True
    >>> time_is_up()
    False
    """
    limit = None if seconds is None else _Deadline(time.perf_counter() + seconds, keep_part)
    token = _current.set(limit)
    try:
        yield
    finally:
        _current.reset(token)


def time_is_up() -> bool:
    """Whether growing has to end here; `OutOfTime` is raised where a part of a model is no use."""
    limit = _current.get()
    if limit is None or time.perf_counter() < limit.at:
        return False
    if limit.keeps_part:
        return True
    raise OutOfTime
