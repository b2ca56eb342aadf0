"""Targets of odd values: one rule for the library, for all commands, and on all engines."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import offsample
from offsample.cli import app
from offsample.tables import TableEncoder, open_table, take_rows

pytest.importorskip("duckdb")

N = 60
X = [i % 2 for i in range(N)]
VERBS = ("rank", "tree", "rules", "select", "forecast", "report")
each_engine = pytest.mark.parametrize("engine", ["duckdb", "polars"])


def run(verb, path, *options):
    more = ("--fast", "--output", f"{path}.html") if verb == "report" else ()
    return CliRunner().invoke(app, [verb, str(path), "-t", "y", *options, *more])


@pytest.mark.parametrize("infinity", [np.inf, -np.inf, Decimal("Infinity")])
@pytest.mark.parametrize("make", [dict, pd.DataFrame, lambda t: pl.LazyFrame(t, strict=False)])
def test_infinity_is_no_class(make, infinity):
    table = {"x": X, "y": [infinity if x else type(infinity)(0) for x in X]}
    if isinstance(infinity, Decimal) and make not in (dict, pd.DataFrame):
        pytest.skip("polars has no such decimal")
    for use in (offsample.rank_features, offsample.report, open_table):
        with pytest.raises(
            ValueError, match=r"target 'y' has the value -?[Ii]nf\w*: expected classes, .* finite"
        ):
            use(make(table), "y")


@each_engine
@pytest.mark.parametrize("verb", VERBS)
def test_infinity_is_no_class_of_any_command(tmp_path, verb, engine):
    """In CSV as well, where DuckDB would take the column for text."""
    (tmp_path / "t.csv").write_text("x,y\n" + "0,inf\n1,2.5\n" * 30)
    done = run(verb, tmp_path / "t.csv", "--engine", engine)
    assert done.exit_code == 2
    assert "target 'y' has the value inf: expected classes" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@each_engine
@pytest.mark.parametrize("text", ["inf", "Infinity", "-inf"])
def test_infinite_numbers_of_text_are_numbers(tmp_path, engine, text):
    (tmp_path / "t.csv").write_text("x,code,y\n" + f"{text},1_0,0\n1.5,2_0,1\n,,0\n" * 20)
    with open_table(tmp_path / "t.csv", "y", engine=engine) as table:
        assert [table.kind(name) for name in ("x", "code")] == ["numeric", "categorical"]
        assert np.isinf(table.binned_counts("x").edges).any() == text.startswith("-")
        assert table.value_counts("x").n_missing == 20


CLASSES = {
    "fractions": pl.Series([[0.5, 1.5][x] for x in X]),
    "decimals": pl.Series([[Decimal("0.5"), Decimal("1.5")][x] for x in X]),
    "bytes": pl.Series([[b"a", b"\xff"][x] for x in X]),
    "times": pl.Series([dt.time(x) for x in X]),
    "durations": pl.Series([dt.timedelta(x) for x in X]),
    "dates": pl.Series([dt.date(2020, 1, 1 + x) for x in X]),
    "wide": pl.Series([2**100 + x for x in X], dtype=pl.Int128),
}


@each_engine
@pytest.mark.parametrize("name", list(CLASSES))
def test_classes_of_one_table_are_those_of_every_command(tmp_path, name, engine):
    pl.DataFrame({"x": [f"v{x}" for x in X], "y": CLASSES[name]}).write_parquet(tmp_path / "t.parquet")
    for verb in VERBS if name in ("fractions", "bytes") else ("rank", "tree"):
        done = run(verb, tmp_path / "t.parquet", "--engine", engine)
        assert done.exit_code == 0, done.output


def test_labels_do_not_depend_on_the_other_rows():
    """A table to predict has the labels of the one that was learned, also if it has no odd value."""
    ns = np.array([0, 1, 1000, 1001] * 5)
    spans = ns.astype("timedelta64[ns]")
    times = pl.Series(ns).cast(pl.Time)
    for column in (spans, pa.chunked_array([pa.array(spans)]), pl.Series(spans), times, pd.Series(spans)):
        encoder = TableEncoder(["t"])
        (fitted,) = encoder.fit_transform({"t": column})
        assert len(set(encoder.values[0])) == 4
        (read,) = encoder.transform({"t": take_rows({"t": column}, np.array([0, 2]))["t"]})
        assert read.values.tolist() == fitted.values[[0, 2]].tolist()


def test_a_file_that_polars_has_no_type_for(tmp_path):
    odd = pa.array([Decimal(x) / 4 for x in X], pa.decimal256(60, 4))
    pq.write_table(pa.table({"d": odd, "A": X, "a": X, "y": X}), tmp_path / "t.parquet")
    by_polars = offsample.rank_features(tmp_path / "t.parquet", "y", engine="polars")
    assert {f.name for f in by_polars} == {"d", "A", "a"}
    assert all(f.error == 0 for f in by_polars)
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-20])
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        open_table(tmp_path / "cut.parquet", "y", engine="polars")


def test_a_number_and_its_digits_are_two_classes():
    table = {"x": [f"v{x}" for x in X], "y": [[1, "1"][x] for x in X]}
    assert set(offsample.rank_features(table, "y").classes) == {1, "1"}
    made = offsample.report(table, "y", fast=True)
    assert "'1'" in made.to_markdown()
