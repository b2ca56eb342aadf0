"""Whole numbers beyond 2**53, of which float64 takes two for one: never merged without a word."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from offsample import (
    BoostedPerceptronClassifier,
    DecisionListClassifier,
    StochasticTreeClassifier,
    TreeClassifier,
    rank_features,
)
from offsample.cli import app
from offsample.tables import TableEncoder, open_table, read_table

duckdb = pytest.importorskip("duckdb")

BIG = 2**53
N = 60
Y = [i % 2 for i in range(N)]
KEYS = [BIG + y for y in Y]  # one number as float64, and all there is to know about Y
NULLS = [None if i == 7 else key for i, key in enumerate(KEYS)]
FAR = [10 * BIG * (i + 1) for i in range(N)]  # beyond 2**53, and yet different
ARRAYS = {
    "int64": np.array(KEYS),
    "uint64": np.array([2**63 + y for y in Y], np.uint64),
    "masked": np.ma.array(KEYS, mask=[key is None for key in NULLS]),
    "longdouble": np.array(KEYS, np.longdouble),
    "objects": np.array(NULLS, object),
    "list": KEYS,
    "list with None": NULLS,
    "list with a fraction": [*KEYS[:-1], 0.5],
    "list of both signs": [-KEYS[0], *(2**63 + y for y in Y[1:])],
    "Decimal": [Decimal(key) for key in KEYS],
    "Decimal fractions": [Decimal(f"0.{10**25 + y}") for y in Y],
    "pandas": pd.Series(KEYS),
    "pandas Int64": pd.Series(NULLS, dtype="Int64"),
    "pandas arrow": pd.Series(NULLS, dtype=pd.ArrowDtype(pa.uint64())),
    "pandas arrow decimal": pd.Series([Decimal(k) for k in KEYS], dtype=pd.ArrowDtype(pa.decimal128(30, 4))),
    "polars": pl.Series(NULLS),
    "polars Int128": pl.Series([2**100 + y for y in Y], dtype=pl.Int128),
    "polars Decimal": pl.Series([Decimal(key) for key in KEYS], dtype=pl.Decimal(38, 4)),
    "arrow": pa.chunked_array([pa.array(NULLS)]),
    "arrow decimal": pa.chunked_array([pa.array([Decimal(key) for key in KEYS], pa.decimal256(60, 4))]),
}
if np.finfo(np.longdouble).nmant <= 52:
    del ARRAYS["longdouble"]
TYPES = ["BIGINT", "UBIGINT", "DECIMAL(30, 4)", "HUGEINT", "UHUGEINT"]


@pytest.mark.parametrize("name", ARRAYS)
def test_numbers_that_float64_takes_for_one_are_names(name):
    table = {"key": ARRAYS[name]}
    with open_table(table, Y) as opened:
        assert opened.kind("key") == "categorical"
        assert opened.value_counts("key").n_values >= 2
    assert rank_features(table, Y)["key"].error < 0.1
    (column,) = TableEncoder().fit_transform(table)
    assert column.kind == "categorical"
    assert len(np.unique(column.values)) >= 2
    assert TreeClassifier().fit(table, Y).score(table, Y) > 0.95


@pytest.mark.parametrize("name", ["int64", "pandas Int64", "polars", "arrow", "list with None"])
def test_numbers_beyond_that_are_different_stay_numbers(name):
    table = {"key": type_as(name, FAR)}
    assert open_table(table, Y).kind("key") == "numeric"
    (column,) = TableEncoder().fit_transform(table)
    assert column.values.tolist() == [float(key) for key in FAR]


def type_as(name, values):
    make = {
        "int64": np.array, "pandas Int64": lambda v: pd.Series(v, dtype="Int64"), "polars": pl.Series,
        "arrow": lambda v: pa.chunked_array([pa.array(v)]), "list with None": list,
    }  # fmt: skip
    return make[name](values)


def test_an_array_of_two_dimensions():
    X = np.column_stack([KEYS, range(N)])
    assert TableEncoder().fit(X).kinds == ["categorical", "numeric"]
    for model in (TreeClassifier(), DecisionListClassifier()):
        model.fit(X, Y)
        assert model.score(X, Y) == 1
        assert (model.predict(X[:1]) == Y[:1]).all()  # one row has no two numbers to be told apart


@pytest.mark.parametrize("name", ["int64", "pandas Int64", "polars", "arrow", "Decimal", "list with None"])
def test_other_tables_are_read_by_the_kind_at_fit(name):
    """Which numbers a table to predict happens to have makes no difference."""
    column = ARRAYS[name]
    encoder = TableEncoder().fit({"key": column})
    (small,) = encoder.transform({"key": type_as("list with None", [1, None, BIG + 1])})
    known = list(encoder.values[0])
    assert small.values.tolist() == [len(known) + 1, len(known), known.index(BIG + 1)]
    numbers = TableEncoder().fit({"key": [1, 2, 3]})
    (large,) = numbers.transform({"key": column})
    assert large.kind == "numeric"
    assert np.nanmin(large.values) == np.nanmax(large.values) == BIG


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The keys in files; in Parquet, which has no integers of 128 bits, as DuckDB and Arrow write them."""
    folder = tmp_path_factory.mktemp("files")
    query = ", ".join(f"CAST(k AS {kind}) AS k{i}" for i, kind in enumerate(TYPES))
    with duckdb.connect(str(folder / "keys.db")) as connection:
        connection.register("arrow", pa.table({"k": KEYS, "y": Y, "far": FAR}))
        connection.execute(f"CREATE TABLE keys AS SELECT {query}, far, y FROM arrow")
        connection.sql("SELECT * EXCLUDE (k3, k4) FROM keys").write_parquet(str(folder / "keys.parquet"))
    lines = [f"{'' if key is None else key},{far},{y}" for key, far, y in zip(NULLS, FAR, Y, strict=True)]
    (folder / "keys.csv").write_text("\n".join(["k0,far,y", *lines]))
    return {
        "csv": folder / "keys.csv",
        "parquet": folder / "keys.parquet",
        "db": f"duckdb:///{folder}/keys.db#keys",
    }


@pytest.mark.parametrize("engine", [None, "duckdb", "polars", "dask"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "db"])
def test_files_on_every_engine(files, engine, kind):
    if kind == "db" and engine in ("polars", "dask"):
        pytest.skip("only DuckDB reads databases")
    with open_table(files[kind], "y", engine=engine) as table:
        kinds = {column.name: column.kind for column in table.columns}
        assert kinds.pop("far") == "numeric"
        assert set(kinds.values()) == {"categorical"}, kinds
        assert all(table.value_counts(name).n_values == 2 + (kind == "csv") for name in kinds)


@pytest.mark.parametrize("kind", ["csv", "parquet", "db"])
def test_files_read_into_memory(files, kind):
    columns = read_table(files[kind])
    encoder = TableEncoder().fit(columns)
    for name, kind, values in zip(encoder.names, encoder.kinds, encoder.values, strict=True):
        if name.startswith("k"):
            assert kind == "categorical", name
            assert values == (BIG, BIG + 1)


@pytest.mark.parametrize("verb", ["tree", "rules", "select"])
def test_the_command_line(files, verb):
    for table in files.values():
        ran = CliRunner().invoke(app, [verb, str(table), "-t", "y", "-f", "k0"])
        assert ran.exit_code == 0, ran.output
        assert "k0" in ran.output


def test_sums_of_a_query_stay_numbers(files):
    """DuckDB's sums have 128 bits, whatever they hold."""
    query = f"SELECT far // {BIG} AS a, sum(y) AS s, y FROM '{files['parquet']}' GROUP BY ALL"
    assert read_table(query)["s"].dtype == np.float64
    with open_table(query, "y", engine="duckdb") as table:
        assert table.kind("s") == "numeric"


def test_a_tree_of_linear_tests_keeps_them_apart():
    X = np.column_stack([KEYS, np.arange(N) // 2])
    model = StochasticTreeClassifier(random_state=0).fit(X, Y)
    assert model.score(X, Y) == 1
    assert any(str(BIG + 1) in name for name in model.weight_names_)


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, lambda X: X.tolist()])
def test_a_learner_of_numbers_names_the_column(make):
    X = np.column_stack([np.arange(N), KEYS])
    with pytest.warns(UserWarning, match=r"column ('x1'|1) has different numbers beyond 2\*\*53"):
        BoostedPerceptronClassifier(n_estimators=2).fit(make(X), Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BoostedPerceptronClassifier(n_estimators=2).fit(make(X % BIG), Y)


@pytest.mark.parametrize("engine", [None, "duckdb", "polars", "dask"])
@pytest.mark.parametrize("base", [2**53, 2**63, 10**20, 10**40])
def test_keys_in_csv_are_told_apart(tmp_path, base, engine):
    keys = [base + i % 60 for i in range(600)]
    path = tmp_path / "keys.csv"
    rows = [f"{key},{i / 7},{i * 10**18},{'ab'[key % 2]}" for i, key in enumerate(keys)]
    path.write_text("\n".join(["key,number,large,y", *rows, ",,,a"]))
    with open_table(str(path), "y", engine=engine) as table:
        kinds = {column.name: column.kind for column in table.columns}
        assert kinds == {"key": "categorical", "number": "numeric", "large": "numeric"}
        assert table.value_counts("key").n_values == 61
