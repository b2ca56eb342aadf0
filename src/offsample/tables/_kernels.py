"""Compiled loops over the bytes of strings. Imported only by the functions that call them."""

import numpy as np
from numpy.typing import NDArray

from offsample._kernels import njit
from offsample._typing import Bytes, Ints, Words

# Unsigned throughout: numba makes a float of a signed and an unsigned integer.
_U = np.uint64
_ODD, _OTHER_ODD = _U(0x9E3779B97F4A7C15), _U(0xC2B2AE3D27D4EB4F)
_SHORT = 16  # shorter strings are their own key: two words, of which the last byte is the length
_LONG_MARK = _U(255 << 56)
_FIRST_WORD = np.array([(1 << 8 * min(size, 8)) - 1 for size in range(_SHORT)], np.uint64)
_SECOND_WORD = np.array([(1 << 8 * max(size - 8, 0)) - 1 for size in range(_SHORT)], np.uint64)
_LOW_HALF = _U(0xFFFFFFFF)


@njit(cache=True, nogil=True)
def encode_strings(
    piece: tuple[Bytes, Words, Ints],
    codes: NDArray[np.int32],
    known: tuple[Words, Words, Ints, Bytes],
    n_known: int,
    row: int,
) -> tuple[int, int]:
    """Write the codes of strings from a row on, equal ones alike, new ones in the order of their first row.

    Stops before a new string for which there is no room; the caller makes some, and goes on there. A piece is
    data, words and offsets: string i is ``data[offsets[i]:offsets[i + 1]]``, and ``words[i]`` the eight bytes
    that start at ``data[i]``. Known are slots, keys, ends and arena. Slots are a table of a power of two by
    open addressing: half a hash, then the code plus one; 0 if empty. The key of a string is itself if it is
    short, a hash and its length otherwise, and then the string is ``arena[ends[c]:ends[c + 1]]``.

    Returns the row that found no room, or the number of rows, and how many strings are known by now.
    """
    data, words, offsets = piece
    slots, keys, ends, arena = known
    mask = _U(slots.size - 1)
    for i in range(row, offsets.size - 1):
        start, stop = offsets[i], offsets[i + 1]
        size = stop - start
        if size >= _SHORT:
            low = _hash_bytes(data, words, start, stop)
            high = _U(size) | _LONG_MARK
        else:
            if start + _SHORT <= data.size:
                low = words[_U(start)] & _FIRST_WORD[_U(size)]
                high = words[_U(start) + _U(8)] & _SECOND_WORD[_U(size)]
            else:
                low, high = _word(data, start, stop), _word(data, start + 8, stop)
            high |= _U(size) << _U(56)
        mixed = _mix(low, high)
        tag = mixed >> _U(32)
        at = mixed & mask
        code = _U(n_known)
        while True:
            slot = slots[at]
            if slot == _U(0):
                break
            if slot >> _U(32) == tag:
                other = (slot & _LOW_HALF) - _U(1)
                if (
                    keys[other, _U(0)] == low
                    and keys[other, _U(1)] == high
                    and (size < _SHORT or _equal(arena, ends[other], data, start, size))
                ):
                    code = other
                    break
            at = (at + _U(1)) & mask
        codes[i] = code
        if slot == _U(0):
            kept = size if size >= _SHORT else 0
            end = ends[n_known] + kept
            if n_known == len(keys) or end > arena.size:
                return i, n_known
            keys[n_known, 0], keys[n_known, 1] = low, high
            for j in range(kept):
                arena[ends[n_known] + j] = data[start + j]
            ends[n_known + 1] = end
            slots[at] = (tag << _U(32)) | (code + _U(1))
            n_known += 1
    return offsets.size - 1, n_known


@njit(cache=True, nogil=True)
def fill_slots(slots: Words, keys: Words, n_known: int) -> None:
    """Enter the known strings into an empty table."""
    mask = _U(slots.size - 1)
    for code in range(n_known):
        mixed = _mix(keys[code, 0], keys[code, 1])
        at = mixed & mask
        while slots[at] != _U(0):
            at = (at + _U(1)) & mask
        slots[at] = ((mixed >> _U(32)) << _U(32)) | _U(code + 1)


@njit(cache=False, nogil=True)
def _mix(low: np.uint64, high: np.uint64) -> np.uint64:
    mixed = (low ^ (high * _OTHER_ODD)) * _ODD
    mixed ^= mixed >> _U(32)
    mixed *= _OTHER_ODD
    return mixed ^ (mixed >> _U(29))


@njit(cache=True, nogil=True)
def _hash_bytes(data: Bytes, words: Words, start: int, stop: int) -> np.uint64:
    mixed = _U(stop - start) * _OTHER_ODD
    for at in range(start, stop, 8):
        word = words[_U(at)] if at + 8 <= stop else _word(data, at, stop)
        mixed = (mixed ^ word) * _ODD
        mixed ^= mixed >> _U(32)
    return mixed


@njit(cache=False, nogil=True)
def _word(data: Bytes, start: int, stop: int) -> np.uint64:
    """Up to eight bytes, the first one lowest, as a little-endian machine reads them."""
    word = _U(0)
    for j in range(min(stop - start, 8)):
        word |= _U(data[start + j]) << _U(8 * j)
    return word


@njit(cache=False, nogil=True)
def _equal(arena: Bytes, first: int, data: Bytes, start: int, size: int) -> bool:
    for j in range(size):  # noqa: SIM110 - any() of a generator is slower
        if arena[first + j] != data[start + j]:
            return False
    return True
