"""Bad input: one sentence that names the column or parameter, what was found and what was expected."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from offsample.tables import engines as _engines
from offsample.tables import joined_groups, open_table, several_groups
from offsample.tables._memory import distinct_rows

GOOD = {"city": ["a", "b", "a"], "income": [1, 2, 3], "y": [0, 1, 1]}


def as_lazy(data):
    return pl.LazyFrame(data)


def as_relation(data):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(pa.table(data))


EVERYWHERE = pytest.mark.parametrize("make", [dict, pd.DataFrame, pa.table, as_lazy, as_relation])


@EVERYWHERE
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([None, None, None], "target 'y' is missing in all 3 rows"),
        ([np.nan, np.nan, None], "target 'y' is missing in all 3 rows"),
        (["no", "no", None], "target 'y' has one class only, 'no'"),
    ],
)
def test_target_without_two_classes(make, y, message):
    with pytest.raises(ValueError, match=message):
        open_table(make({"city": ["a", "b", "a"], "y": y}), "y")


@EVERYWHERE
def test_no_rows(make):
    with pytest.raises(ValueError, match="the table has no rows"):
        open_table(make({"city": np.array([], np.int64), "y": np.array([], np.int64)}), "y")


@EVERYWHERE
def test_continuous_target(make):
    with pytest.raises(ValueError, match=r"target 'y' is continuous .* cut it into bins"):
        open_table(make({"x": np.arange(2000), "y": np.linspace(0, 1, 2000)}), "y")


@EVERYWHERE
def test_target_that_is_an_identifier(make):
    with pytest.raises(ValueError, match="target 'y' has more than 1000 classes"):
        open_table(make({"x": np.arange(2000), "y": np.arange(2000)}), "y")


@EVERYWHERE
def test_unknown_names(make):
    with pytest.raises(ValueError, match="target 'Y2' is not a column of the table: the table has 3 columns"):
        open_table(make(GOOD), "Y2")
    with pytest.raises(
        ValueError, match=r"feature 'incme' is not a column of the table: did you mean 'income'?"
    ):
        open_table(make(GOOD), "y", ["incme"])
    with pytest.raises(
        ValueError, match=r"categorical column 'cities' is not a column .* did you mean 'city'?"
    ):
        open_table(make(GOOD), "y", categorical_features=["cities"])
    with pytest.raises(ValueError, match="feature 'y' is the target"):
        open_table(make(GOOD), "y", ["y"])
    table = open_table(make(GOOD), "y", ["city"])
    with pytest.raises(ValueError, match="feature 'income' is not a column"):
        table.value_counts("income")


@EVERYWHERE
def test_bins_need_numbers(make):
    table = open_table(make(GOOD), "y")
    with pytest.raises(ValueError, match="column 'city' is categorical: bins need a numeric column"):
        table.binned_counts("city")
    with pytest.raises(ValueError, match="max_bins must be at least 2, got 1"):
        table.binned_counts("income", 1)


@EVERYWHERE
def test_unhashable_values(make):
    table = open_table(make({"x": [[1], [2], [1, 2]], "y": [0, 1, 1]}), "y")
    assert table.kind("x") == "categorical"
    with pytest.raises(
        ValueError, match=r"column 'x' holds values that cannot be compared by hash .* convert it"
    ):
        table.value_counts("x")


def test_unhashable_target():
    with pytest.raises(ValueError, match="target 'y' holds values that cannot be compared"):
        open_table({"x": [1, 2], "y": [[1], [2]]}, "y")


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[1, 2, 0], [3, 4, 1]], columns=["a", "a", "y"]),
        pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4]), pa.array([0, 1])], names=["a", "a", "y"]),
    ],
)
def test_duplicate_names(table):
    with pytest.raises(ValueError, match="2 columns are named 'a': expected different names"):
        open_table(table, "y")


def test_parameters():
    with pytest.raises(
        ValueError, match="engine must be one of 'duckdb', 'polars', 'dask', 'spark' or None, got 'x'"
    ):
        open_table(GOOD, "y", engine="x")
    with pytest.raises(ValueError, match="engine='duckdb' needs a dataframe or a path, got a builtins dict"):
        open_table(GOOD, "y", engine="duckdb")
    with pytest.raises(ValueError, match="engine='spark' cannot count a table that is held by memory"):
        open_table(pd.DataFrame(GOOD), "y", engine="spark")
    with pytest.raises(ValueError, match="engine='duckdb' cannot count a table that is held by polars"):
        open_table(pl.LazyFrame(GOOD), "y", engine="duckdb")
    with pytest.raises(ValueError, match="target must be the name of a column for a table on polars"):
        open_table(pl.LazyFrame(GOOD), [0, 1, 1])
    with pytest.raises(ValueError, match="features must be a list of column names, got the string 'city'"):
        open_table(GOOD, "y", "city")
    with pytest.raises(ValueError, match="features names a column twice"):
        open_table(GOOD, "y", ["city", "city"])
    with pytest.raises(ValueError, match='categorical_features must be "infer", "all" or a list'):
        open_table(GOOD, "y", categorical_features="city")


def test_unsupported_tables():
    with pytest.raises(TypeError, match="table is a builtins list: expected an array, a dict of columns"):
        open_table([[1, 2], [3, 4]], "y")
    with pytest.raises(TypeError, match="table is a builtins int"):
        open_table(3, "y")
    with pytest.raises(ValueError, match=r"table is an array of 1 dimension\(s\): expected two"):
        open_table(np.arange(3), "x0")
    with pytest.raises(ValueError, match="a column has 2 dimensions"):
        open_table({"x": np.zeros((2, 2))}, [0, 1]).value_counts("x")


@pytest.mark.parametrize("form", [np.array, pd.DataFrame, lambda pairs: list(np.array(pairs).T)])
def test_groups_of_two_columns(form):
    pairs = [[0, 0], [0, 1], [1, 0]]
    user, item = joined_groups(form(pairs), 3)
    assert (user.tolist(), item.tolist()) == ([0, 0, 1], [0, 1, 0])
    within = [[0, 0], [0, 1], [1, 2], [1, 3], [1, 3]]
    assert joined_groups(form(within), 5).tolist() == [0, 0, 1, 1, 1]  # the coarsest
    with pytest.raises(ValueError, match="groups has columns: expected one value for each of the 3 rows"):
        several_groups(form(pairs), 3)
    with pytest.raises(ValueError, match="sample_weight does not go with groups that cross"):
        joined_groups(form(pairs), 3, np.ones(3))


def test_distinct_rows_are_those_of_a_set():
    rng = np.random.default_rng(0)
    floats = rng.choice([0.0, -0.0, 0.5, np.nan], 300)
    columns = [
        np.array(list("uvw"))[rng.integers(0, 3, 300)],
        floats,
        rng.integers(-2, 2, 300),
        rng.random(300) < 0.5,
    ]
    y, kept = rng.integers(0, 2, 300), rng.random(300) < 0.7
    rows = [(a, "nan" if b != b else b, c, d, k) for a, b, c, d, k in zip(*columns, y, strict=True)]
    rows = [row for row, is_kept in zip(rows, kept, strict=True) if is_kept]
    assert distinct_rows(columns, y, kept) == (len(set(rows)), len({row[:-1] for row in rows}))
    apart = [*columns, rng.normal(size=300)]
    assert distinct_rows(apart, y, kept) == (len(rows), len(rows))


def test_lengths():
    with pytest.raises(ValueError, match="the target has 2 labels for a table of 3 rows"):
        open_table(pd.DataFrame(GOOD), [0, 1])
    with pytest.raises(ValueError, match="column 'x' has 3 rows, but the target has 2"):
        open_table({"w": [1, 2], "x": [1, 2, 3]}, [0, 1]).value_counts("x")


def test_missing_package(monkeypatch):
    monkeypatch.setattr(_engines, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"polars is not installed: pip install 'offsample\[polars\]'"):
        open_table(pd.DataFrame(GOOD), "y", engine="polars")
    with pytest.raises(ImportError, match=r"pyspark is not installed: pip install 'offsample\[spark\]'"):
        open_table("table.parquet", "y", engine="spark")


def test_an_engine_that_fails_midway():
    def explode(series):
        raise OSError("disk gone")

    frame = pl.LazyFrame(GOOD).with_columns(pl.col("income").map_batches(explode, return_dtype=pl.Int64))
    table = open_table(frame, "y")
    assert table.value_counts("city").n_values == 2
    for count in (table.value_counts, table.binned_counts):
        with pytest.raises(
            RuntimeError, match=r"polars failed while counting column 'income'.*disk gone"
        ) as caught:
            count("income")
        assert caught.value.__cause__ is not None
