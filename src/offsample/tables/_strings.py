"""Codes of many strings from their bytes: an exact hash table, without a Python object per row."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample import _counting
from offsample._counting import frozen
from offsample._typing import Bytes, Ints, Words

_LEAST = 1 << 10  # strings that the table has room for at first
_SLOTS = 4  # per string
_MAX_ROWS = 2**31 - 2  # a code and one more must fit in 32 bits

Strings = tuple[Bytes, Ints]


def is_worth_it(n_rows: int) -> bool:
    """Whether the compiled loop is faster than an import of numba, and can be used."""
    return sys.byteorder == "little" and _counting.KERNEL_ROWS <= n_rows <= _MAX_ROWS


def encode_strings(pieces: Iterable[Strings]) -> tuple[NDArray[np.int32], int]:
    """Codes of strings, new ones in the order in which they come, and how many different there are.

    String i of a piece (data, offsets) is ``data[offsets[i]:offsets[i + 1]]``; pieces share their codes.
    """
    from offsample.tables import _kernels

    room = _LEAST
    slots, keys = np.zeros(_SLOTS * room, np.uint64), np.empty((room, 2), np.uint64)
    ends, arena = np.zeros(room + 1, np.int64), np.empty(room, np.uint8)
    all_codes, n_known = [np.empty(0, np.int32)], 0
    for data, offsets in pieces:
        data, words = _with_words(data)
        codes = np.empty(len(offsets) - 1, np.int32)
        row = 0
        while True:
            known = slots, keys, ends, arena
            row, n_known = _kernels.encode_strings((data, words, offsets), codes, known, n_known, row)
            if row == len(codes):
                break
            if n_known == room:
                room *= 4
                keys, ends = _enlarged(keys, room), _enlarged(ends, room + 1)
                slots = np.zeros(_SLOTS * room, np.uint64)
                _kernels.fill_slots(slots, keys, n_known)
            else:
                arena = _enlarged(arena, 4 * len(arena) + int(offsets[row + 1] - offsets[row]))
        all_codes.append(codes)
    return (all_codes[1] if len(all_codes) == 2 else np.concatenate(all_codes)), n_known


def arrow_strings(column: Any) -> Iterator[Strings]:
    """Pieces of a chunked array of strings or bytes; a null is some string."""
    kind = np.int64 if str(column.type).startswith("large_") else np.int32
    for chunk in column.chunks:
        if not len(chunk):  # whose buffers may be empty
            continue
        _, offsets, data = chunk.buffers()
        ends = np.frombuffer(offsets, kind, len(chunk) + 1, chunk.offset * np.dtype(kind).itemsize)
        yield (
            np.frombuffer(b"" if data is None else data, np.uint8),
            frozen(ends.astype(np.int64, copy=False)),
        )


def fixed_width_strings(values: NDArray[Any]) -> Iterator[Strings]:
    """The one piece of an array of type U or S: strings with the same zeros at the end are equal."""
    size = values.dtype.itemsize
    data = np.ascontiguousarray(values).view(np.uint8).reshape(-1) if size else np.empty(0, np.uint8)
    yield data, frozen(np.arange(len(values) + 1, dtype=np.int64) * size)


def _with_words(data: Bytes) -> tuple[Bytes, Words]:
    """Bytes, and the eight that start at each of them as one integer: a view, whose items overlap."""
    if data.size < 32:
        data = np.concatenate([data, np.zeros(32, np.uint8)])
    words: Words = np.ndarray((data.size - 7,), np.uint64, data, strides=(1,))
    return frozen(data), frozen(words)


def _enlarged(array: NDArray[Any], size: int) -> NDArray[Any]:
    larger = np.empty((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
