"""Compiled loops over plain arrays. Imported only by the functions that call them: numba loads in .3 s."""

import gc
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, ClassVar, TypeVar
from uuid import uuid4

import numba
import numpy as np
from numba.core import caching, event
from numpy.typing import NDArray

from offsample._typing import Floats, Ints

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_FunctionCache: Any = caching.FunctionCache


class _Cache(_FunctionCache):  # type: ignore[misc]
    """Compiled code on disk. What cannot be written or read there is compiled again, and ends no program."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # of unpickling a file that was cut short: any
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        # The names of files are counted up from what an index says, which another process may be writing: one
        # would take the code of one signature for that of another. So each has a name of its own.
        files = self._cache_file
        base = files._index_name.removesuffix(".nbi")
        files._data_name_pattern = f"{base}.{uuid4().hex[:12]}.{{number:d}}.nbc"
        try:
            super().save_overload(sig, data)
        except OSError:
            _say_that_it_takes_longer()


class _WithoutGarbage(event.Listener):
    """While numba compiles, no garbage is looked for among all that is in memory: a tenth of the time."""

    _was_enabled: ClassVar[list[bool]] = []  # before each of the compilations within each other

    def on_start(self, _: Any) -> None:
        self._was_enabled.append(gc.isenabled())
        gc.disable()

    def on_end(self, _: Any) -> None:
        if self._was_enabled.pop():
            gc.enable()


event.register("numba:compile", _WithoutGarbage())  # type: ignore[no-untyped-call]


@cache
def _say_that_it_takes_longer() -> None:
    warnings.warn(
        "compiled code cannot be kept, as no directory for it can be written: every start takes some seconds "
        "longer; set NUMBA_CACHE_DIR to a directory that can be written",
        stacklevel=2,
    )


def njit(*, cache: bool, **options: Any) -> Callable[[Kernel], Kernel]:
    """Do what numba's decorator does; without a cache where there is no place for one.

    What is not cached is called by kernels only: it is compiled into them.
    """

    def decorate(function: Kernel) -> Kernel:
        # Nobody calls them from C, nor those of kernels from Python: what that needs takes long to compile.
        calls: dict[str, Any] = {
            "error_model": "numpy",
            "no_cfunc_wrapper": True,
            "no_cpython_wrapper": not cache,
        }
        kernel: Any = numba.njit(**options, **calls)(function)
        if cache and hasattr(kernel, "py_func"):  # not a plain function, as with NUMBA_DISABLE_JIT
            try:
                kernel._cache = _Cache(function)
            except RuntimeError:  # no directory can be written
                _say_that_it_takes_longer()
        return kernel  # type: ignore[no-any-return]

    return decorate


@njit(cache=True, nogil=True)
def count_into(
    codes: NDArray[np.integer],
    y_codes: NDArray[np.integer],
    counts: NDArray[np.number],
    weights: NDArray[np.number] | None = None,
) -> int:
    """Add one, or a weight, to ``counts[codes[i], y_codes[i]]``; return the first row out of range, or -1."""
    n_cells, n_classes = counts.shape
    for i in range(codes.size):
        cell = codes[i]
        label = y_codes[i]
        if cell < 0 or cell >= n_cells or label < 0 or label >= n_classes:
            return i
        if weights is None:
            counts[cell, label] += 1
        else:
            counts[cell, label] += weights[i]
    return -1


@njit(cache=True, nogil=True)
def sum_powers(codes: NDArray[np.integer], y: Floats, sums: Floats) -> None:
    """Add up, for each cell: rows, the first of its numbers, and the powers 1 to 4 of the distances to it."""
    for i in range(codes.size):
        cell = codes[i]
        if sums[cell, 0] == 0:
            sums[cell, 1] = y[i]
        distance = y[i] - sums[cell, 1]
        square = distance * distance
        sums[cell, 0] += 1
        sums[cell, 2] += distance
        sums[cell, 3] += square
        sums[cell, 4] += square * distance
        sums[cell, 5] += square * square


@njit(cache=True, nogil=True)
def ginger_gains(left: Ints, totals: Ints, fallback: Floats) -> Floats:
    """Decrease of Ginger's terms by splits into two; `fallback` is the loss on a row alone, per class."""
    n_classes, total, gain = totals.size, 0, np.empty(left.shape[0])
    for k in range(n_classes):
        total += totals[k]
    of_parent = 0.0
    for k in range(n_classes):
        of_parent += totals[k] * float(total - totals[k])
    of_parent /= max(total - 1, 1)
    for i in range(left.shape[0]):
        size = 0
        for k in range(n_classes):
            size += left[i, k]
        first, second, alone = 0.0, 0.0, 0.0
        for k in range(n_classes):
            n, rest = left[i, k], totals[k] - left[i, k]
            first += n * float(size - n)
            second += rest * float(total - size - rest)
            if size == 1:
                alone += n * fallback[k]
            if total - size == 1:
                alone += rest * fallback[k]
        gain[i] = of_parent - first / max(size - 1, 1) - second / max(total - size - 1, 1) - alone
    return gain


@njit(cache=True, nogil=True)
def earlier_losses(cell: Ints, label: Ints, time: Ints, n_cells: int, n_classes: int) -> Floats:
    """Losses of the Gini rule on rows sorted by time, each learned from those that are strictly earlier."""
    counts = np.zeros((n_cells, n_classes))
    size = np.zeros(n_cells)
    losses = np.empty(cell.size)
    n_known = 0
    for i in range(cell.size):
        while time[n_known] < time[i]:
            counts[cell[n_known], label[n_known]] += 1
            size[cell[n_known]] += 1
            n_known += 1
        own = counts[cell[i], label[i]] / size[cell[i]] if size[cell[i]] else 1 / n_classes
        losses[i] = 1 - own
    return losses
