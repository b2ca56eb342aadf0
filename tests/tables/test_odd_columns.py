"""Columns of every type: read, or left out with a sentence that names them; never the end of a report."""

import datetime as dt
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import offsample
from offsample import rank_features
from offsample.cli import app
from offsample.counts import feature_counts
from offsample.tables import ColumnError, TableEncoder, open_table, read_table

duckdb = pytest.importorskip("duckdb")

N = 60
K = [i % 3 for i in range(N)]
Y = [i % 2 for i in range(N)]
# Values that differ where K differs: whatever the type, a column of them has the counts of K.
READ = {
    "Int128": pl.Series([2**100 + k for k in K], dtype=pl.Int128),
    "Enum": pl.Series(["abc"[k] for k in K], dtype=pl.Enum(["c", "b", "a"])),
    "Categorical": pl.Series(["abc"[k] for k in K], dtype=pl.Categorical),
    "Decimal": pl.Series([Decimal(k) / 4 for k in K], dtype=pl.Decimal(38, 4)),
    "Binary": pl.Series([bytes([k, 0, 255]) for k in K]),
    "Duration": pl.Series([dt.timedelta(k) for k in K]),
    "Time": pl.Series([dt.time(k) for k in K]),
    "Datetime": pl.Series([dt.datetime(2020, 1, 1 + k) for k in K]).dt.replace_time_zone("UTC"),
}
LEFT_OUT = {
    "List": pl.Series([[k] for k in K]),
    "Array": pl.Series([[k, 1] for k in K], dtype=pl.Array(pl.Int8, 2)),
    "Struct": pl.Series([{"a": k} for k in K]),
}
PLAIN = {"k": K, "y": Y}
COUNTS = open_table(PLAIN, "y").value_counts("k").rows.tolist()

ARROW = {
    "string_view": pa.array([f"s{k}" for k in K], pa.string_view()),
    "binary_view": pa.array([b"s%d" % k for k in K], pa.binary_view()),
    "decimal256": pa.array([Decimal(k) / 4 for k in K], pa.decimal256(60, 4)),
    "fixed": pa.array([bytes([k]) for k in K], pa.binary(1)),
    "half": pa.array(np.array(K, np.float16) / 2),
    "time64": pa.array([dt.time(k) for k in K], pa.time64("ns")),
    "interval": pa.array([(1, k, 3) for k in K], pa.month_day_nano_interval()),
    "runs": pa.compute.run_end_encode(pa.array(K)),
}
for _name, _make in {  # newer than the oldest pyarrow
    "decimal32": lambda: pa.array([Decimal(k) / 4 for k in K], pa.decimal32(5, 2)),
    "uuid": lambda: pa.array([bytes([k] * 16) for k in K], pa.uuid()),
    "json": lambda: pa.ExtensionArray.from_storage(pa.json_(), pa.array([f'"{k}"' for k in K])),
}.items():
    if hasattr(pa, _name if _name != "json" else "json_"):
        ARROW[_name] = _make()

DUCKDB = {
    "huge": "k::HUGEINT", "uhuge": "k::UHUGEINT", "decimal": "k::DECIMAL(38, 4)", "bit": "k::INTEGER::BIT",
    "blob": "('x' || k)::BLOB", "days": "to_days(k::INTEGER)", "time": "TIME '01:00:00' + to_hours(k)",
    "enum": "('s' || k)::ENUM('s0', 's1', 's2')", "json": "to_json(k)",
    "date": "[DATE 'infinity', DATE '-infinity', DATE '2020-01-01'][k + 1]",
    "far": "[DATE '300000-01-01', DATE '2020-01-02', DATE '2020-01-01'][k + 1]",
}  # fmt: skip
DUCKDB_NESTED = {
    "list": "[k]", "array": "[k, k]::INTEGER[2]", "struct": "{'a': k}", "map": "map {'a': k}",
    "union": "union_value(a := k)",
}  # fmt: skip


def encoded(table, name):
    """Counts of a column as estimators read it."""
    column = next(TableEncoder([name]).fit_transform({name: table[name]}))
    return open_table({"x": column.values}, Y).value_counts("x").rows.tolist()


def assert_ranked(table, read, left_out, engine=None):
    ranking = rank_features(table, "y", engine=engine)
    assert {f.name for f in ranking} == {*read, "k"}
    assert len(ranking.left_out) == len(left_out)
    for name in left_out:
        assert any(f"column {name!r} holds values that cannot be compared" in s for s in ranking.left_out)
        with pytest.raises(ColumnError, match=f"column {name!r}"):
            rank_features(table, "y", features=[name], engine=engine)
    with open_table(table, "y", engine=engine) as opened:
        for name in read:
            assert opened.value_counts(name).rows.tolist() == COUNTS, name


@pytest.mark.parametrize("how", ["frame", "lazy", None, "duckdb", "polars"])
def test_polars_types(tmp_path, how):
    frame = pl.DataFrame({**READ, **LEFT_OUT, **PLAIN})
    frame.write_parquet(tmp_path / "t.parquet")
    table = frame if how == "frame" else frame.lazy() if how == "lazy" else tmp_path / "t.parquet"
    assert_ranked(table, READ, LEFT_OUT, how if how in ("duckdb", "polars") else None)
    if how in (None, "polars"):
        read = read_table(table, engine=how)
        assert all(encoded(read, name) == COUNTS for name in READ)
    elif how == "frame":
        assert all(encoded(frame, name) == COUNTS for name in READ)


def test_arrow_types(tmp_path):
    nested = {
        "list": pa.array([[k] for k in K]),
        "map": pa.array([[("a", k)] for k in K], pa.map_(pa.string(), pa.int64())),
    }
    table = pa.table({**ARROW, **nested, **PLAIN})
    assert_ranked(table, ARROW, nested)
    for name in ARROW:
        assert encoded(table, name) == COUNTS
    written = {name: column for name, column in ARROW.items() if name not in ("interval", "runs")}
    pq.write_table(pa.table({**written, **nested, **PLAIN}), tmp_path / "t.parquet")
    assert_ranked(tmp_path / "t.parquet", written, nested)
    read = read_table(tmp_path / "t.parquet")
    assert all(encoded(read, name) == COUNTS for name in written)


def test_a_type_that_an_engine_does_not_know(tmp_path):
    pytest.importorskip("dask")
    pq.write_table(pa.table({"v": ARROW["string_view"], **PLAIN}), tmp_path / "t.parquet")
    ranking = rank_features(tmp_path / "t.parquet", "y", engine="dask")
    assert [f.name for f in ranking] in (["k"], ["k", "v"], ["v", "k"])
    assert len(ranking) + len(ranking.left_out) == 2
    assert all("column 'v'" in sentence for sentence in ranking.left_out)


@pytest.mark.parametrize("engine", [None, "duckdb"])
def test_duckdb_types(tmp_path, monkeypatch, engine):
    monkeypatch.chdir(tmp_path)
    columns = ", ".join(f"{query} AS {name}" for name, query in {**DUCKDB, **DUCKDB_NESTED}.items())
    with duckdb.connect("t.db") as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT {columns}, k, i % 2 AS y "
            f"FROM (SELECT i, i % 3 AS k FROM range({N}) t(i))"
        )
    assert_ranked("duckdb:///t.db#t", DUCKDB, DUCKDB_NESTED, engine)
    read = read_table("duckdb:///t.db#t")
    assert all(encoded(read, name) == COUNTS for name in DUCKDB)


def test_pandas_objects():
    odd = {
        "list": [[k] for k in K], "dict": [{"a": k} for k in K], "set": [{k} for k in K],
        "late": [*K[:-1], [0]], "complex": np.array(K) * 1j,
    }  # fmt: skip
    fine = {
        "big": pd.Series([2**70 + k for k in K], dtype=object),
        "long": pd.Series([dt.timedelta.max - dt.timedelta(k) for k in K], dtype=object),
        "period": pd.Series([pd.Period("2020-01", "M") + k for k in K]),
    }
    assert_ranked(pd.DataFrame({**fine, **odd, **PLAIN}), fine, odd)


@pytest.mark.parametrize("engine", [None, "duckdb"])
def test_moments_that_duckdb_cannot_hold(tmp_path, engine):
    far = pl.Series([2**62 + k for k in K]).cast(pl.Datetime("ms"))
    pl.DataFrame({"v": far, **PLAIN}).write_parquet(tmp_path / "t.parquet")
    ranking = rank_features(tmp_path / "t.parquet", "y", engine=engine)
    assert [f.name for f in ranking] == ["k"]
    assert "column 'v'" in ranking.left_out[0]
    made = offsample.report(tmp_path / "t.parquet", "y", fast=True, engine=engine)
    assert any("column 'v' cannot be read" in sentence for sentence in made.method.skipped)
    done = CliRunner().invoke(app, ["tree", str(tmp_path / "t.parquet"), "-t", "y"])
    assert done.exit_code == 0, done.output
    assert "left out: column 'v' cannot be read" in done.stderr


def test_a_report_goes_on(tmp_path):
    pl.DataFrame({**READ, **LEFT_OUT, **PLAIN}).write_parquet(tmp_path / "t.parquet")
    frame = pl.DataFrame({**READ, **LEFT_OUT, **PLAIN})
    for table, ignore in ((tmp_path / "t.parquet", ("Enum",)), (frame, ())):
        made = offsample.report(table, "y", fast=True, ignore=ignore)
        assert {c.name for c in made.columns.columns} == {*READ, "k"} - set(ignore)
        for name in LEFT_OUT:
            assert any(f"column {name!r}" in sentence for sentence in made.method.skipped)
            assert name in made.to_html()
        is_file = table is not frame
        assert (made.method.source is not None) == is_file
        assert ("t.parquet" in made.to_html()) == ("t.parquet" in made.to_markdown()) == is_file


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.LazyFrame])
@pytest.mark.parametrize("n_values", [26, 50])
def test_a_target_that_names_rows(make, n_values):
    table = make({"x": [i % 4 for i in range(50)], "y": [f"id{i % n_values}" for i in range(50)]})
    expected = f"target 'y' has {n_values} different values in 50 rows: expected classes that repeat"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # scikit-learn's
        for refused in (rank_features, offsample.report):
            with pytest.raises(ValueError, match=expected):
                refused(table, "y")


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame])
@pytest.mark.parametrize("features", [None, ["List", "k"]])
def test_counts_leave_out_what_a_ranking_does(make, features):
    table = make({**LEFT_OUT, **PLAIN})
    left_out = rank_features(table, "y", features=features).left_out
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert list(feature_counts(table, "y", features)) == ["k"]
    assert [str(warning.message) for warning in told] == [f"left out: {sentence}" for sentence in left_out]
    with pytest.raises(ColumnError) as of_ranking:
        rank_features(table, "y", features=["List"])
    with pytest.raises(ColumnError) as of_counts:
        feature_counts(table, "y", ["List"])
    assert str(of_counts.value) == str(of_ranking.value)
