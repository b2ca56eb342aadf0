"""The route in memory against a slow, obvious twin."""

import datetime as dt
import decimal
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsample.tables import Column, TableEncoder, open_table
from offsample.tables import _encode as encode_module


def is_missing(value):
    return value is None or value is pd.NA or value is pd.NaT or value != value


def twin_counts(values, labels):
    """Rows of the profile, distinct values and missing rows, by dictionaries."""
    rows = [("missing" if is_missing(v) else ("value", v), y) for v, y in zip(values, labels, strict=True)]
    rows = [(v, y) for v, y in rows if not is_missing(y)]
    classes = sorted({y for _, y in rows})
    cells = {}
    for value, label in rows:
        cells.setdefault(value, Counter())[label] += 1
    vectors = Counter(tuple(counts[y] for y in classes) for counts in cells.values())
    return (
        [[*vector, times] for vector, times in sorted(vectors.items())],
        len(cells),
        sum(v == "missing" for v, _ in rows),
    )


def twin_bins(values, labels, max_bins):
    """Counts, class counts of missing values, and edges, value by value."""
    classes = sorted(set(labels))
    present = sorted(v + 0.0 for v in values if not is_missing(v))
    distinct = sorted(set(present))
    bin_of = {}
    for i, value in enumerate(distinct):
        below = sum(other < value for other in present)
        bin_of[value] = i if len(distinct) <= max_bins else below * max_bins // len(present)
    used = sorted(set(bin_of.values()))
    counts = [[0] * len(classes) for _ in used]
    missing = [0] * len(classes)
    for value, label in zip(values, labels, strict=True):
        where = missing if is_missing(value) else counts[used.index(bin_of[value])]
        where[classes.index(label)] += 1
    return counts, missing, [max(v for v in distinct if bin_of[v] == b) for b in used[:-1]]


def assert_counts(table, name, values, labels):
    profile = table.value_counts(name)
    assert (profile.rows.tolist(), profile.n_values, profile.n_missing) == twin_counts(values, labels)
    assert profile.rows.dtype == np.int64


@st.composite
def columns(draw, values):
    column = draw(st.lists(values, min_size=2, max_size=40))
    labels = draw(
        st.lists(st.sampled_from(["no", "yes", None]), min_size=len(column), max_size=len(column)).filter(
            lambda y: len(set(y) - {None}) == 2
        )
    )
    return column, labels


FLOATS = st.one_of(st.sampled_from([0.0, -0.0, np.nan, np.inf, -np.inf, 0.1]), st.floats())
INTEGERS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))
OBJECTS = st.one_of(
    st.none(), st.integers(0, 3), st.sampled_from(["1", "2", "", "ü", "None"]), st.just(np.nan)
)


@given(columns(FLOATS))
def test_floats(data):
    values, labels = data
    array = np.array(values)
    for column in (array, pd.Series(array), pl.Series(values), pa.chunked_array([array[:1], array[1:]])):
        assert_counts(open_table({"x": column}, labels), "x", values, labels)


@given(columns(INTEGERS))
def test_integers(data):
    values, labels = data
    for column in (np.array(values, np.int64), pl.Series(values, dtype=pl.Int64)):
        assert_counts(open_table({"x": column}, labels), "x", values, labels)


@given(columns(st.one_of(st.none(), INTEGERS)))
def test_integers_with_missing(data):
    values, labels = data
    mask = [v is None for v in values]
    masked = np.ma.array([v or 0 for v in values], mask=mask, dtype=np.int64)
    nullable = pd.array(values, dtype="Int64")
    arrow = pa.chunked_array([pa.array(values, pa.int64())])
    for column in (masked, pd.Series(nullable), pl.Series(values, dtype=pl.Int64), arrow):
        assert_counts(open_table({"x": column}, labels), "x", values, labels)


@given(columns(OBJECTS))
def test_objects_of_mixed_types(data):
    values, labels = data
    array = np.empty(len(values), object)
    array[:] = values
    for column in (values, array, pd.Series(array, dtype=object)):
        assert_counts(open_table({"x": column}, labels), "x", values, labels)


@given(columns(st.one_of(st.none(), st.sampled_from(["a", "b", "", "ü", "NaN"]))))
def test_strings(data):
    values, labels = data
    series = pd.Series(values, dtype="str")
    arrow = pa.chunked_array([pa.array(values[:1], pa.string()), pa.array(values[1:], pa.string())])
    frames = (
        series,
        series.astype("category"),
        pd.Series(values, dtype=object),
        pd.Series(values, dtype=pd.ArrowDtype(pa.string())),
        pl.Series(values, dtype=pl.String),
        pl.Series(values, dtype=pl.Categorical),
        pl.Series(values, dtype=pl.Enum(["unused", "NaN", "ü", "", "b", "a"])),
        arrow,
        arrow.dictionary_encode(),
        arrow.cast(pa.string_view()),
        arrow.cast(pa.large_string()),
    )
    for column in frames:
        table = open_table({"x": column}, labels)
        assert table.columns == (Column("x", "categorical"),)
        assert_counts(table, "x", values, labels)


@given(columns(st.one_of(st.sampled_from([0.0, -0.0, np.nan, 1.5]), st.floats(-3, 3))), st.integers(2, 12))
def test_bins(data, max_bins):
    values, labels = data
    rows = [(v, y) for v, y in zip(values, labels, strict=True) if y is not None]
    bins = open_table({"x": np.array(values)}, labels).binned_counts("x", max_bins)
    counts, missing, edges = twin_bins([v for v, _ in rows], [y for _, y in rows], max_bins)
    assert (bins.counts.tolist(), bins.missing.tolist(), bins.edges.tolist()) == (counts, missing, edges)
    assert bins.n_values == len({v for v, _ in rows if v == v})
    assert bins.exact == (bins.n_values <= max_bins)


def test_bins_of_a_column_that_is_all_missing():
    bins = open_table({"x": np.full(3, np.nan)}, [0, 1, 1]).binned_counts("x")
    assert bins.counts.shape == (0, 2)
    assert bins.edges.shape == (0,)
    assert (bins.missing.tolist(), bins.n_values, bins.exact) == ([1, 2], 0, True)


THREE_HOURS_EAST = dt.timezone(dt.timedelta(hours=3))
DATES = [dt.datetime(2020, 1, 1), None, dt.datetime(1969, 12, 31, 23), dt.datetime(2020, 1, 1)]


@pytest.mark.parametrize(
    "column",
    [
        np.array(DATES, "datetime64[s]"),
        pd.Series(DATES, dtype="datetime64[ns]"),
        pd.Series(DATES, dtype="datetime64[us]").dt.tz_localize("UTC"),
        pl.Series(DATES),
        pa.chunked_array([pa.array(DATES)]),
        DATES,
        [date and date.replace(tzinfo=dt.UTC) for date in DATES],
        [date and date.replace(hour=(date.hour + 3) % 24, tzinfo=THREE_HOURS_EAST) for date in DATES[:2]]
        + [dt.datetime(1970, 1, 1, 2, tzinfo=THREE_HOURS_EAST), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)],
        pd.Series(DATES, dtype=object),
        np.array(
            [np.datetime64("NaT", "us") if date is None else np.datetime64(date) for date in DATES], object
        ),
    ],
)
def test_dates_are_numbers_of_microseconds(column):
    table = open_table({"x": column}, [0, 1, 1, 1])
    assert table.kind("x") == "numeric"
    assert table.value_counts("x").rows.tolist() == [[0, 1, 2], [1, 1, 1]]
    bins = table.binned_counts("x")
    assert bins.edges.tolist() == [-3.6e9]
    assert bins.missing.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([1, None, 3], [1, None, 3]),
        ([decimal.Decimal("1.5"), 2, None], [1.5, 2, None]),
        ([dt.date(1970, 1, 2), None, dt.date(1970, 1, 1)], [86_400e6, None, 0]),
        ([dt.timedelta(seconds=1), None, dt.timedelta(0)], [1e6, None, 0]),
        ([dt.datetime(1970, 1, 1), np.nan, dt.datetime(1970, 1, 1, 0, 0, 1)], [0, None, 1e6]),
        ([dt.datetime(1970, 1, 1), dt.date(1970, 1, 1)], None),  # cannot be compared
        ([dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, tzinfo=dt.UTC)], None),
        ([10**400, 1, None], None),
        ([True, None], None),
        ([None, None], None),
        (["1", 2], None),
    ],
)
def test_python_objects_are_read_as_those_of_the_libraries(values, numbers):
    labels = [0, 1, 0][: len(values)]
    for column in (values, pd.Series(values, dtype=object)):
        table = open_table({"x": column}, labels)
        encoded = next(TableEncoder().fit_transform({"x": column}))
        assert table.kind("x") == encoded.kind == ("categorical" if numbers is None else "numeric")
        if numbers is not None:
            found = [None if value != value else value for value in encoded.values.tolist()]
            assert found == numbers
            assert table.binned_counts("x").edges.tolist() == sorted(n for n in numbers if n is not None)[:-1]
        assert table.value_counts("x").n_values == len(set(values))


def test_one_long_string_does_not_make_all_long():
    words = [*"ab" * 1000, "c" * 1_000_000]  # an array of fixed width would take 8 GB
    assert open_table({"x": words}, [0, 1] * 1000 + [1]).value_counts("x").n_values == 3


@pytest.mark.parametrize("library", ["polars", "arrow", "pandas"])
def test_decimals_times_bytes_and_booleans(library):
    data = {
        "decimal": [decimal.Decimal("1.10"), decimal.Decimal("2.00"), None, decimal.Decimal("1.10")],
        "time": [dt.time(1), dt.time(2), None, dt.time(1)],
        "bytes": [b"a", b"b", None, b"a"],
        "bool": [True, False, None, True],
        "duration": [dt.timedelta(1), dt.timedelta(2), None, dt.timedelta(1)],
        "date": [dt.date(2020, 1, 1), dt.date(2020, 1, 2), None, dt.date(2020, 1, 1)],
        "null": [None, None, None, None],
    }
    frame = pl.DataFrame(data)
    if library == "arrow":
        frame = pa.table(data)
    elif library == "pandas":
        frame = pa.table(data).to_pandas(types_mapper=pd.ArrowDtype)
    table = open_table(frame, [0, 1, 1, 1])
    numeric = [column.name for column in table.columns if column.kind == "numeric"]
    assert numeric == ["decimal", "duration", "date"]
    for name in data:
        assert_counts(table, name, data[name], [0, 1, 1, 1])
    assert table.binned_counts("decimal").edges.tolist() == [1.1]


def test_a_dictionary_may_hold_a_value_twice_and_a_null():
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["a", "a", None]))
    profile = open_table(pa.table({"x": array}), [0, 1, 0, 1]).value_counts("x")
    assert profile.rows.tolist() == [[1, 1, 2]]
    assert profile.n_missing == 2


def test_unused_categories_do_not_count():
    column = pd.Categorical(["b", "c", "b"], categories=["a", "b", "c", "d"])
    assert open_table({"x": pd.Series(column)}, [0, 1, 1]).value_counts("x").n_values == 2


def test_values_of_rows_without_a_target_do_not_count():
    table = open_table({"x": ["only here", "b", "b", None]}, [None, 0, 1, np.nan])
    profile = table.value_counts("x")
    assert (table.n_rows, table.n_dropped) == (2, 2)
    assert (profile.rows.tolist(), profile.n_values, profile.n_missing) == ([[1, 1, 1]], 1, 0)


def test_equal_python_objects_are_one_value():
    profile = open_table({"x": [1, True, 1.0, "1"]}, [0, 1, 1, 1]).value_counts("x")
    assert profile.rows.tolist() == [[0, 1, 1], [1, 2, 1]]


def test_objects_without_pandas(monkeypatch):
    array = np.array([1, "1", None, np.nan, 1], object)
    codes = encode_module._encode_objects(array)
    monkeypatch.setattr(encode_module, "find_spec", lambda name: None)
    monkeypatch.setattr(encode_module.sys, "modules", {})
    twin = encode_module._encode_objects(array)
    assert codes.codes.tolist() == twin.codes.tolist() == [1, 2, 0, 0, 1]


def test_many_values_of_many_classes_are_counted_in_pieces():
    rng = np.random.default_rng(0)
    n_classes, n = 300, 60_000
    y = rng.integers(0, n_classes, n)
    x = np.concatenate([np.arange(n // 2), rng.integers(0, n // 2, n - n // 2)])
    with pytest.warns(UserWarning, match="300 different numbers"):
        table = open_table({"x": x}, y)
    assert x.max() * n_classes > 1 << 22
    assert_counts(table, "x", x.tolist(), y.tolist())


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint64])
def test_narrow_and_wide_integers_do_not_overflow(dtype):
    info = np.iinfo(dtype)
    values = np.array([info.min, info.max, info.max - 1, info.min], dtype)
    assert_counts(open_table({"x": values}, [0, 1, 1, 1]), "x", values.tolist(), [0, 1, 1, 1])
    masked = np.ma.array(values, mask=[False, False, True, False])
    assert_counts(
        open_table({"x": masked}, [0, 1, 1, 1]), "x", [info.min, info.max, None, info.min], [0, 1, 1, 1]
    )


def test_kinds():
    frame = pd.DataFrame({"i": [1, 2], "f": [0.5, 1], "s": ["a", "b"], "b": [True, False], "y": [0, 1]})
    kinds = {column.name: column.kind for column in open_table(frame, "y")}
    assert kinds == {"i": "numeric", "f": "numeric", "s": "categorical", "b": "categorical"}
    assert open_table(frame, "y", categorical_features=["i"]).kind("i") == "categorical"
    everything = open_table(frame, "y", categorical_features="all")
    assert {column.kind for column in everything} == {"categorical"}


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["b", "a", None, "b"], ("a", "b")),
        ([1.0, 0.0, np.nan, 1.0], (0, 1)),
        ([True, False, None, True], (False, True)),
        ([1, "1", None, 1], (1, "1")),
        (pd.Categorical(["b", "a", None, "b"], categories=["z", "b", "a"]), ("a", "b")),
        (np.array(["2020-01-02", "2020-01-01", "NaT", "2020-01-02"], "datetime64[ns]"),
         (dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2))),
    ],
)  # fmt: skip
def test_classes_are_sorted_native_values(labels, classes):
    labels = pd.Series(labels) if isinstance(labels, pd.Categorical) else labels
    table = open_table({"x": [1, 2, 3, 4]}, labels)
    assert table.classes == classes
    assert all(type(label).__module__ in ("builtins", "datetime") for label in table.classes)
    assert (sorted(table.class_totals.tolist()), table.n_dropped) == ([1, 2], 1)


def test_arrays():
    matrix = np.array([[1, 5], [2, 5], [1, 6]])
    assert open_table(matrix, "x0").columns == (Column("x1", "numeric"),)
    assert open_table(matrix, [0, 1, 0]).features == ("x0", "x1")
    fields = np.array([(1, "a"), (2, "b")], dtype=[("n", int), ("s", "U1")])
    assert open_table(fields, "s").columns == (Column("n", "numeric"),)


def test_pandas_names_need_not_be_strings():
    frame = pd.DataFrame([[1, 2, 0], [3, 4, 1]], columns=[10, ("a", 1), "y"], index=[7, 7])
    table = open_table(frame, "y", [("a", 1), 10])
    assert table.features == (("a", 1), 10)
    assert table.value_counts(10).n_values == 2
    assert open_table(frame, 10).features == (("a", 1), "y")
    assert open_table(frame, "y", engine="duckdb").value_counts(10).n_values == 2


def test_a_hundred_thousand_columns():
    table = open_table(np.zeros((3, 100_000), np.int8), [0, 1, 1])
    assert len(table.features) == 100_000
    assert table.value_counts("x99999").rows.tolist() == [[1, 2, 1]]
    frame = pd.DataFrame(np.zeros((2, 100_000), np.int8)).assign(y=[0, 1])
    assert open_table(frame, "y").value_counts(99_999).rows.tolist() == [[1, 1, 1]]
