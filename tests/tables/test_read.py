"""Tables read into memory."""

import datetime
import io
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offsample.tables import TableEncoder, open_table, read_table

duckdb = pytest.importorskip("duckdb")

COLUMNS = {
    "a": [1, 2, None, 4],
    "A": [1.5, None, 2.5, 3.5],
    '"; drop table x': ["u", None, "v", "u"],
    "when": [datetime.datetime(2020, 1, d, 12) if d else None for d in (1, 2, 0, 4)],
    "day": [datetime.date(2020, 1, d) if d else None for d in (1, 0, 3, 4)],
    "yes": [True, None, False, True],
    "i": [7, 8, 9, 10],
    "big": [2**60, 2**60 + 1, None, 0],
}


@pytest.fixture(autouse=True)
def temporary_files(tmp_path, monkeypatch):
    """Temporary files go to a directory of their own, and none may be left."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(tmp_path)
    yield
    assert list(scratch.iterdir()) == []


def encoded(table):
    encoder = TableEncoder()
    values = [column.values for column in encoder.fit_transform(table)]
    return encoder.names, encoder.kinds, encoder.values, values


def assert_same(one, other):
    for first, second in zip(encoded(one)[:3], encoded(other)[:3], strict=True):
        assert first == second
    for first, second in zip(encoded(one)[3], encoded(other)[3], strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("engine", [None, "duckdb", "polars"])
def test_parquet_as_the_dataframe(engine):
    table = pa.table(COLUMNS)
    pq.write_table(table, "t.parquet")
    found = read_table("t.parquet", engine=engine)
    assert list(found) == list(COLUMNS)
    assert found.n_source_rows == 4
    assert_same(found, table)


def test_types_and_missing_values_without_pandas_or_pyarrow():
    pq.write_table(pa.table(COLUMNS), "t.parquet")
    code = (
        "import sys; sys.modules.update(pandas=None, pyarrow=None, polars=None)\n"
        "from offsample.tables import read_table\n"
        "t = read_table('t.parquet')\n"
        "print({k: (v.dtype.kind, v.tolist()) for k, v in t.items() if k in ('a', 'i', 'yes', 'big')})\n"
        "print(t['day'].dtype, t['day'][1], t['\"; drop table x'].tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    nan = float("nan")
    expected = {"a": ("f", [1.0, 2.0, nan, 4.0]), "yes": ("O", [True, None, False, True])}
    expected |= {"i": ("i", [7, 8, 9, 10]), "big": ("O", [2**60, 2**60 + 1, None, 0])}
    assert first == str(expected)
    assert second == "datetime64[us] NaT ['u', None, 'v', 'u']"


@pytest.mark.parametrize("engine", [None, "polars"])
def test_csv_globs_and_directories(tmp_path, engine):
    (tmp_path / "parts").mkdir()
    for i in range(2):
        (tmp_path / "parts" / f"{i}.csv").write_text(f"x,s,d\n{i},a,2020-01-0{i + 1}\n,,\n")
    for path in ("parts", "parts/*.csv", tmp_path / "parts"):
        table = read_table(path, engine=engine)
        x, s, d = (np.asarray(table[name]) for name in "xsd")
        np.testing.assert_array_equal(x, [0, np.nan, 1, np.nan])
        assert s.tolist() == ["a", None, "a", None]
        assert np.isnat(d.astype("M8[us]")).tolist() == [False, True, False, True]


def test_standard_input_and_database(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x,y\n1,a\n2,b\n")))
    table = read_table("-")
    assert {name: column.tolist() for name, column in table.items()} == {"x": [1, 2], "y": ["a", "b"]}
    with duckdb.connect("my.db") as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
        connection.execute(
            "CREATE TABLE \"or\"\"der\" AS SELECT i, 'ok'::mood AS m, TIME '10:00' AS t,"
            " CASE WHEN i > 0 THEN TIMESTAMPTZ '2020-01-01 02:00:00+02' END AS z FROM range(2) r(i)"
        )
    table = read_table('duckdb:///my.db#or"der')
    assert table["m"].tolist() == ["ok", "ok"]
    assert table["t"].tolist() == ["10:00:00", "10:00:00"]
    np.testing.assert_array_equal(table["z"], np.array(["NaT", "2020-01-01"], "M8[us]"))


@pytest.mark.parametrize("engine", [None, "polars"])
def test_samples_are_uniform_ordered_and_repeatable(engine):
    pq.write_table(pa.table({"x": np.arange(300), "y": np.arange(300) % 2}), "t.parquet", row_group_size=50)
    times, n_neighbours = np.zeros(300), 0
    for seed in range(60):
        table = read_table("t.parquet", engine=engine, max_rows=60, random_state=seed)
        x = np.asarray(table["x"])
        assert table.n_source_rows == 300
        assert len(x) == 60
        assert (np.diff(x) > 0).all()
        np.testing.assert_array_equal(np.asarray(table["y"]), x % 2)
        times[x] += 1
        n_neighbours += (np.diff(x) == 1).sum()
    # Each row is binomial(60, .2), so that the squares of 300 follow chi² within 4 standard deviations ...
    assert times.min() > 0
    assert abs(((times - 12) ** 2).sum() / (60 * 0.2 * 0.8) - 300) < 4 * np.sqrt(2 * 300)
    # ... and blocks of 50 rows, as the file has them, 600 each, with the variance of draws of 60 from 300.
    blocks = times.reshape(6, 50).sum(axis=1)
    assert np.abs(blocks - 600).max() < 4 * np.sqrt(60 * 60 / 6 * (5 / 6) * (240 / 299))
    # Rows are not drawn together with the next one more often than chance has it: 59 / 5 times.
    assert abs(n_neighbours - 60 * 11.8) < 4 * np.sqrt(60 * 11.8)
    again = np.asarray(read_table("t.parquet", engine=engine, max_rows=60, random_state=7)["x"])
    np.testing.assert_array_equal(
        again, np.asarray(read_table("t.parquet", engine=engine, max_rows=60, random_state=7)["x"])
    )
    assert len(read_table("t.parquet", engine=engine, max_rows=300)["x"]) == 300


def test_tables_in_memory_come_back_as_they_are():
    for table in (COLUMNS, pd.DataFrame({"x": [1, 2, 3]}), pl.DataFrame({"x": [1, 2, 3]})):
        assert read_table(table) is table
        assert read_table(table, max_rows=4) is table
    columns = {"a": list(range(9)), "b": np.arange(9), "c": pl.Series(range(9))}
    table = read_table(columns, max_rows=4)
    assert table.n_source_rows == 9
    assert list(table["a"]) == table["b"].tolist() == table["c"].to_list()
    assert len(table["a"]) == 4
    assert read_table(pd.DataFrame(columns), max_rows=4)["b"].tolist() == table["b"].tolist()


@pytest.mark.parametrize("engine", [None, "polars"])
def test_bad_input_is_named(tmp_path, engine):
    def failing(name, content, message, error=ValueError):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(error, match=message):
            read_table(tmp_path / name, engine=engine)

    failing("twice.csv", b"x,x,y\n1,2,3\n", "2 columns are named 'x'")
    failing("text.parquet", b"x,y\n1,2\n", "cannot be read as Parquet")
    with pytest.raises(FileNotFoundError, match=r"no such file: 'nowhere.csv'"):
        read_table("nowhere.csv", engine=engine)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="engine must be one of 'duckdb'"):
        read_table("t.csv", engine="excel")
    with pytest.raises(ValueError, match="max_rows must be at least 1, got 0"):
        read_table("t.csv", max_rows=0)
    with pytest.raises(ValueError, match="engine='polars' needs a path, got a pandas DataFrame"):
        read_table(pd.DataFrame({"x": [1]}), engine="polars")
    with pytest.raises(TypeError, match="expected a path, a dict of columns or a dataframe"):
        read_table(3)


@pytest.mark.parametrize("kind", ["parquet", "polars", "duckdb", "lazy", "pandas", "dict"])
def test_a_stratified_sample_keeps_the_shares(tmp_path, kind):
    table = pd.DataFrame({"x": range(1000), "y": ["a"] * 700 + ["b"] * 290 + [None] * 10})
    table.to_parquet(tmp_path / "t.parquet")
    sources = {
        "parquet": (tmp_path / "t.parquet", None),
        "polars": (tmp_path / "t.parquet", "polars"),
        "duckdb": (duckdb.sql(f"FROM '{tmp_path}/t.parquet'"), None),
        "lazy": (pl.scan_parquet(tmp_path / "t.parquet"), None),
        "pandas": (table, None),
        "dict": ({"x": np.arange(1000), "y": table["y"].tolist()}, None),
    }
    source, engine = sources[kind]
    drawn = read_table(source, engine=engine, max_rows=100, stratify="y", random_state=3)
    labels, rows = list(drawn["y"]), np.asarray(drawn["x"])
    assert (labels.count("a"), labels.count("b"), len(labels)) == (70, 29, 100)
    assert (np.diff(rows) > 0).all()
    assert not np.array_equal(
        rows, np.asarray(read_table(source, engine=engine, max_rows=100, stratify="y")["x"])
    )


@pytest.mark.parametrize("engine", [None, "polars"])
def test_a_column_without_a_name_gets_one(tmp_path, engine):
    (tmp_path / "t.csv").write_text(",column 1,,y\n1,2,3,4\n5,6,7,8\n")
    names = ["column 1'", "column 1", "column 3", "y"]
    assert list(read_table(tmp_path / "t.csv", engine=engine)) == names
    assert list(open_table(tmp_path / "t.csv", "y", engine=engine).features) == names[:-1]
