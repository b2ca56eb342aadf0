"""Codes of strings by the compiled hash table, against a dictionary of Python strings."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from offsample import _counting
from offsample.tables import _kernels, _strings, open_table
from offsample.tables._encode import encode, plain

# Shorter than 8 bytes, than 16, and longer; ends that look like padding; letters of 2, 3 and 4 bytes.
NASTY = [
    *["", "\0", "\0\0", "a", "a\0", "\0a", "a" * 7, "a" * 8, "a" * 15, "a" * 16, "a" * 15 + "\0", "ü", "€"],
    *["🙂", "🙂" * 5, "b" + "a" * 30, "a" * 30 + "b", "a" * 31, "x" * 300],
]
STRINGS = st.lists(
    st.one_of(st.none(), st.sampled_from(NASTY), st.text(max_size=40)), min_size=1, max_size=60
)


@pytest.fixture(autouse=True)
def every_size_is_worth_it(monkeypatch):
    monkeypatch.setattr(_counting, "KERNEL_ROWS", 1)


def twin(values):
    """Codes in the order of the first row, None apart."""
    known = {}
    return [None if v is None else known.setdefault(v, len(known)) for v in values]


def first_come(column):
    """The codes that a column gets, renumbered as the twin does."""
    codes, _, missing = encode(plain(column))
    return twin([None if code == missing else code for code in codes.tolist()])


def as_pandas_sees(values):
    """Before version 3, the hash table of pandas ended a string at its first zero."""
    return [v and v.replace("\0", "") for v in values] if pd.__version__ < "3" else values


def as_series(native):
    import narwhals as nw

    return nw.from_native(native, series_only=True)


def arrow_columns(values, kind):
    """As one array, as a slice of a longer one, and in pieces of which some are empty."""
    whole = pa.array(values, kind)
    around = pa.array(["before", None, *values, "after the end"], kind).slice(2, len(values))
    half = len(values) // 2
    yield pa.chunked_array([whole])
    yield pa.chunked_array([around])
    yield pa.chunked_array([around[:half], whole[:0], whole[half:]])
    yield pa.chunked_array([pa.concat_arrays([whole])])


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
@given(values=STRINGS)
@example(values=NASTY * 2)
@example(values=[""])
@example(values=[None, None])
@example(values=[None, ""])
def test_arrow(kind, values):
    for column in arrow_columns(values, getattr(pa, kind)()):
        assert first_come(as_series(column)) == twin(values)


@given(STRINGS)
@example(NASTY * 2)
def test_libraries(values):
    expected = twin(values)
    assert first_come(as_series(pl.Series(values, dtype=pl.String))) == expected
    seen = as_pandas_sees(values)
    assert first_come(as_series(pd.Series(seen, dtype="str"))) == twin(seen)
    assert first_come(as_series(pd.Series(values, dtype=pd.ArrowDtype(pa.string())))) == expected
    as_bytes = [None if v is None else v.encode() for v in values]
    for kind in (pa.binary(), pa.large_binary()):
        assert first_come(as_series(pa.chunked_array([pa.array(as_bytes, kind)]))) == expected


@given(STRINGS)
@example(NASTY * 2)
def test_numpy(values):
    """Fixed width: numpy ignores zeros at the end."""
    text = [v or "" for v in values]
    stripped = twin([v.rstrip("\0") for v in text])
    array = np.array(text)
    assert first_come(array) == stripped
    assert first_come(array.astype(array.dtype.newbyteorder())) == stripped
    assert first_come(np.repeat(array, 2)[::2]) == stripped
    assert first_come(np.array([v.encode() for v in text])) == stripped
    seen = as_pandas_sees(text)
    assert first_come(np.array(seen, np.dtypes.StringDType())) == twin(seen)
    assert first_come(np.zeros(3, "U0")) == [0, 0, 0]


def test_a_null_may_hide_bytes():
    data, offsets = pa.py_buffer(b"aabbcc"), pa.py_buffer(np.array([0, 2, 4, 6], np.int32))
    array = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\x05"), offsets, data])
    assert array.to_pylist() == ["aa", None, "cc"]
    assert first_come(as_series(pa.chunked_array([array]))) == [0, None, 1]


def random_words(rng, n, n_letters, longest):
    letters, sizes = rng.integers(0, n_letters, (n, longest)), rng.integers(0, longest, n)
    return ["".join(chr(97 + k) for k in row[:size]) for row, size in zip(letters, sizes, strict=True)]


@pytest.mark.parametrize(("n_letters", "longest"), [(2, 9), (26, 13), (3, 25), (1, 3000)])
def test_growing(n_letters, longest):
    """Many more different strings, and bytes of them, than the table has room for at first."""
    words = random_words(np.random.default_rng(longest), 9000, n_letters, longest)
    assert len(set(words)) > _strings._LEAST or longest == 9
    pieces = [pa.array(words[:5000], pa.string()), pa.array(words[5000:], pa.string())]
    codes, n_known = _strings.encode_strings(_strings.arrow_strings(pa.chunked_array(pieces)))
    assert codes.tolist() == twin(words)
    assert n_known == len(set(words))


def colliding(value):
    """What follows these 16 bytes does not change the hash of all, if they are chosen after it."""
    # The hash of a long string is h -> f((h ^ word) * odd), so a second word undoes any first one.
    odd, other = int(_kernels._ODD), int(_kernels._OTHER_ODD)
    state = (24 * other) & (2**64 - 1)
    state = ((state ^ value) * odd) & (2**64 - 1)
    state ^= state >> 32
    wanted = 0x1234567890ABCDEF
    return b"".join(word.to_bytes(8, "little") for word in (value, state ^ wanted, 7))


def test_strings_with_the_same_hash():
    """300 strings of 24 bytes, all with one hash: told apart by their bytes."""
    strings = [colliding(value) for value in range(300)] * 2
    hashes = set()
    for string in strings:
        data, words = _strings._with_words(np.frombuffer(string, np.uint8))
        hashes.add(int(_kernels._hash_bytes(data, words, 0, 24)))
    assert len(hashes) == 1
    column = pa.chunked_array([pa.array(strings, pa.binary())])
    assert first_come(as_series(column)) == twin(strings)


def test_counts_of_a_table():
    rng = np.random.default_rng(0)
    words = [f"value {i}" if i else None for i in rng.integers(0, 50, 3000)]
    y = rng.integers(0, 3, 3000)
    expected = open_table({"x": np.array(words, object)}, y).value_counts("x")
    for column in (pa.chunked_array([words]), pl.Series(words), pd.Series(words, dtype="str")):
        found = open_table({"x": column}, y).value_counts("x")
        assert found.rows.tolist() == expected.rows.tolist()
        assert (found.n_values, found.n_missing) == (expected.n_values, expected.n_missing)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(5000, np.int64),
        np.arange(5000) % 700,
        np.r_[np.zeros(4999, np.int64), 19_000],  # the largest is none of those that are looked at
        np.r_[np.zeros(3999, np.int64), 5, 900, np.zeros(999, np.int64)].astype(np.int16),
        np.r_[np.zeros(4999, np.int64), -1],
        np.r_[np.zeros(4999, np.int64), 2**40],
        np.r_[np.zeros(4999, np.uint64), 2**63].astype(np.uint64),
        (np.arange(5000) % 200).astype(np.uint8),
    ],
)
def test_integers_that_are_their_own_codes(values, monkeypatch):
    y = np.arange(len(values)) % 3
    found = open_table({"x": values}, y).value_counts("x")
    monkeypatch.setattr(_counting, "KERNEL_ROWS", 10**9)
    expected = open_table({"x": values}, y).value_counts("x")
    assert found.rows.tolist() == expected.rows.tolist()
    assert found.n_values == expected.n_values
