"""The same counts on every engine: each against the route in memory over plain Python values."""

from __future__ import annotations

import csv
import datetime as dt
from importlib.util import find_spec

import numpy as np
import pytest

from offsample.tables import open_table

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

TYPES = {
    "A": pa.int32(), '"; drop table x': pa.float64(), "select": pa.int64(), "": pa.bool_(),
    "🙂 dotted.name": pa.date32(), "`when`": pa.timestamp("us"), "unique": pa.int64(), "noise": pa.float64(),
    "whole": pa.int64(), "truth": pa.bool_(),
}  # fmt: skip
# polars reads "NaN", but not "nan", as a number, and "true", but not "True", as a boolean.
CSV = {"": "empty", "None": "", "nan": "NaN", "True": "true", "False": "false"}
TARGETS = ["two", "twelve", "whole", "truth"]


@pytest.fixture(scope="session")
def arrow(columns):
    return pa.table({name: pa.array(v, TYPES.get(name, pa.string())) for name, v in columns.items()})


def needs(package):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


@pytest.fixture(scope="session")
def handed_over(arrow, tmp_path_factory):
    """From an engine's name to the table as it gets it, made once."""
    made = {}

    def make(name, request):
        if name not in made:
            made[name] = MAKERS[name](arrow, tmp_path_factory.mktemp(name), request)
        return made[name]

    return make


def pandas_numpy(arrow, directory, request):
    needs("pandas")
    import pandas as pd

    frame = arrow.to_pandas()
    # Integers with missing values have no exact numpy type.
    frame["select"] = pd.array(arrow["select"].to_pylist(), dtype="Int64")
    return frame.astype({"unique": "int16", "🙂 dotted.name": "datetime64[s]", "^a.*$": object})


def pandas_nullable(arrow, directory, request):
    frame = pandas_numpy(arrow, directory, request)
    return frame.astype(
        {"A": "Int32", "": "boolean", "noise": "Float64", "a": "string", "whole": "Int64", "truth": "boolean"}
    )


def pandas_arrow(arrow, directory, request):
    needs("pandas")
    import pandas as pd

    halves = pa.concat_tables([arrow.slice(0, 100), arrow.slice(100)])  # several chunks, with nulls
    return halves.to_pandas(types_mapper=pd.ArrowDtype)


def pandas_categorical(arrow, directory, request):
    frame = pandas_numpy(arrow, directory, request)
    for name in ("a", "two", "twelve"):
        frame[name] = frame[name].astype("category").cat.add_categories(["unused"])
    frame["truth"] = frame["truth"].astype("category")
    return frame


def polars_eager(arrow, directory, request):
    needs("polars")
    import polars as pl

    renamed = arrow.rename_columns([f"c{i}" for i in range(arrow.num_columns)])
    frame = pl.from_arrow(renamed)
    frame.columns = arrow.column_names  # polars would fill in the empty one
    return frame.with_columns(pl.col("a", "two").cast(pl.Categorical))


def polars_lazy(arrow, directory, request):
    return polars_eager(arrow, directory, request).lazy()


def duckdb_relation(arrow, directory, request):
    needs("duckdb")
    import duckdb

    renamed = arrow.rename_columns([f"c{i}" for i in range(arrow.num_columns)])
    quoted = ", ".join(
        f'''c{i} AS "{name.replace('"', '""')}"''' for i, name in enumerate(arrow.column_names) if name
    )
    connection = duckdb.connect()
    request.session.config.add_cleanup(connection.close)
    return connection.from_arrow(renamed).project(quoted)  # a name cannot be empty there


def parquet_path(arrow, directory, request):
    import pyarrow.parquet as pq

    needs("duckdb")
    pq.write_table(arrow, directory / "table.parquet", row_group_size=100)
    return directory / "table.parquet"


def csv_path(arrow, directory, request):
    """An empty field is missing in CSV, so the empty string is written as another one."""
    needs("duckdb")
    return write_csv(arrow, directory)


def write_csv(arrow, directory):
    with (directory / "table.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(arrow.column_names)
        for row in zip(*(column.to_pylist() for column in arrow.columns), strict=True):
            writer.writerow([CSV.get(str(value), value) for value in row])
    return directory / "table.csv"


def dask_frame(arrow, directory, request):
    needs("dask")
    import dask.dataframe as dd

    return dd.from_pandas(pandas_arrow(arrow, directory, request), npartitions=3)


def dask_categorical(arrow, directory, request):
    needs("dask")
    import dask.dataframe as dd

    return dd.from_pandas(pandas_categorical(arrow, directory, request), npartitions=2)


def spark_path(arrow, directory, request):
    """Spark cannot read a file with names that differ by case only."""
    import pyarrow.parquet as pq

    request.getfixturevalue("spark")
    pq.write_table(arrow.drop_columns(["A"]), directory / "table.parquet")
    return directory / "table.parquet"


def spark_csv_path(arrow, directory, request):
    request.getfixturevalue("spark")
    return write_csv(arrow.drop_columns(["A"]), directory)


def spark_frame(arrow, directory, request):
    return request.getfixturevalue("spark").createDataFrame(arrow)


def ibis_table(arrow, directory, request):
    needs("ibis")
    import ibis

    return ibis.memtable(arrow.drop_columns(["A", ""]))


MAKERS = {
    "pandas_numpy": pandas_numpy,
    "pandas_nullable": pandas_nullable,
    "pandas_arrow": pandas_arrow,
    "pandas_categorical": pandas_categorical,
    "polars_eager": polars_eager,
    "polars_lazy": polars_lazy,
    "pyarrow": lambda arrow, directory, request: arrow,
    "duckdb_relation": duckdb_relation,
    "parquet_path": parquet_path,
    "csv_path": csv_path,
    "dask": dask_frame,
    "dask_categorical": dask_categorical,
    "spark": spark_frame,
    "spark_path": spark_path,
    "spark_csv_path": spark_csv_path,
    "ibis": ibis_table,
}
CASES = [(name, None) for name in MAKERS if name not in ("spark_path", "spark_csv_path")] + [
    ("pandas_categorical", "duckdb"), ("pandas_nullable", "polars"), ("polars_eager", "duckdb"),
    ("pyarrow", "duckdb"), ("pyarrow", "polars"), ("parquet_path", "polars"), ("csv_path", "polars"),
    ("parquet_path", "dask"), ("csv_path", "dask"), ("spark_path", "spark"), ("spark_csv_path", "spark"),
]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("name", "engine"), CASES, ids=lambda value: value or "own")
def test_same_counts(name, engine, target, columns, handed_over, request):
    if engine is not None:
        needs("pyspark" if engine == "spark" else engine)
    features = [feature for feature in columns if feature not in TARGETS]
    sizes = (8, 1024)
    if "spark" in (name, engine):  # seconds per query
        if target in ("whole", "truth"):
            pytest.skip("two targets suffice for Spark, which is slow")
        sizes = (8,)
        features = features if (name, target) == ("spark", "two") else ["a", "noise", "^a.*$"]
    if name == "ibis":
        features = [feature for feature in features if feature not in ("A", "")]  # see the next test
    if name == "duckdb_relation":
        features.remove("")  # a DuckDB column cannot have an empty name
    if name.endswith("_path"):  # a column of a file that has no name is called by its place
        called = f"column {list(columns).index('') + 1}"
        columns = {feature or called: values for feature, values in columns.items()}
        features = [feature or called for feature in features]
    expected = open_table(memory(columns), target, features)
    with open_table(handed_over(name, request), target, features, engine=engine) as table:
        assert table.classes == expected.classes
        assert table.class_totals.tolist() == expected.class_totals.tolist()
        assert (table.n_rows, table.n_dropped) == (expected.n_rows, expected.n_dropped)
        for feature in features:
            if feature != "nothing":  # the type of a column without values is anybody's guess
                assert table.kind(feature) == expected.kind(feature), feature
            check_values(table.value_counts(feature), expected.value_counts(feature), feature)
            if expected.kind(feature) == "numeric":
                for max_bins in sizes:
                    one, other = (t.binned_counts(feature, max_bins) for t in (table, expected))
                    check_bins(one, other, feature)


def test_ibis_may_take_one_name_for_another(arrow):
    needs("ibis")
    import ibis

    with pytest.raises(ValueError, match="differ by case only, and ibis may take one for the other"):
        open_table(ibis.memtable(arrow), "two")


def check_values(one, other, feature):
    assert one.rows.tolist() == other.rows.tolist(), feature
    assert (one.n_values, one.n_missing) == (other.n_values, other.n_missing), feature
    assert one.rows.dtype == np.int64


def check_bins(one, other, feature):
    assert one.counts.tolist() == other.counts.tolist(), feature
    assert one.missing.tolist() == other.missing.tolist(), feature
    assert one.edges.tolist() == other.edges.tolist(), feature
    assert (one.n_values, one.exact) == (other.n_values, other.exact), feature
    assert one.counts.dtype == one.missing.dtype == np.int64
    assert one.edges.dtype == np.float64


def memory(columns):
    """The same table as arrays: dates as numpy has them."""
    table = dict(columns)
    table["🙂 dotted.name"] = np.array(columns["🙂 dotted.name"], "datetime64[D]")
    table["`when`"] = np.array(columns["`when`"], "datetime64[us]")
    present = [value is not None for value in columns["select"]]
    integers = np.array([value or 0 for value in columns["select"]])
    table["select"] = np.ma.array(integers, mask=np.logical_not(present))
    assert isinstance(columns["`when`"][0], (dt.datetime, type(None)))
    return table
