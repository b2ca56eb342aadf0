"""A path that exists is that file, on every engine: none may take its name for a pattern or a column."""

import tempfile
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from offsample.tables import open_table, read_table

# The name of the file that is wanted, and of one that an engine may read in its place or beside it.
PAIRS = {
    "data[1]": "data1",
    "data?": "datax",
    "data*": "data-all",
    "{a,b}": "a",
    "a\\[1]": "a1",
    "c::d": "d",
    "e,f": "e",
    "g%20h": "g h",
    "year=2024": "year",
    "~": "home",
    "from t where y": "t",
}
WANTED = pa.table({"x": ["u", "v", "u", "v"], "y": [0, 1, 0, 1]})
OTHER = pa.table({"x": ["w"] * 6, "y": [0, 1, 0, 1, 0, 1]})
DASK = pytest.param("dask", marks=pytest.mark.skipif(find_spec("dask") is None, reason="needs dask"))
ENGINES = [None, "duckdb", "polars", DASK]


def write(table, path):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with Path(path).open("wb") as out:
        (pc.write_csv if path.endswith(".csv") else pq.write_table)(table, out)


def assert_wanted(path, engine, shown):
    with open_table(path, "y", engine=engine) as table:
        assert table.value_counts("x").rows.tolist() == [[0, 2, 1], [2, 0, 1]]
        assert table.features == ("x",)
        assert table.source.files == (shown,)
        assert table.source.n_rows == 4
    read = read_table(path, engine=engine)
    assert list(read) == ["x", "y"]
    assert len(read["x"]) == read.source.n_rows == 4
    assert read.source.files == (shown,)


def check(engine, kind, pairs):
    for wanted, other in pairs:
        write(WANTED, f"{wanted}.{kind}")
        write(OTHER, f"{other}.{kind}")
        assert_wanted(f"{wanted}.{kind}", engine, f"{wanted}.{kind}")
    write(WANTED, f"{wanted}/t.{kind}")
    write(OTHER, f"{other}/t.{kind}")
    assert_wanted(wanted, engine, f"{wanted}/t.{kind}")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ENGINES)
def test_files_and_directories(tmp_path, monkeypatch, engine, kind):
    monkeypatch.chdir(tmp_path)
    check(engine, kind, reversed(PAIRS.items()))


def test_on_spark(spark, tmp_path, monkeypatch):  # which takes seconds for each
    monkeypatch.chdir(tmp_path)
    check("spark", "parquet", [("{a,b}", "a")])
    check("spark", "csv", [("data[1]", "data1")])


def test_what_does_not_exist_is_a_pattern(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("data1", "data[2]", "date1"):
        write(OTHER if name == "date1" else WANTED, f"{name}.csv")
    table = open_table("data*.csv", "y")
    assert table.source.files == ("data1.csv", "data[2].csv")
    assert str(table.source) == "8 rows of 2 files: data1.csv, data[2].csv"
    assert str(open_table("date1.csv", "y").source) == "6 rows of date1.csv"
    assert open_table("dat[ae]1.csv", "y").source.files == ("data1.csv", "date1.csv")
    assert open_table({"x": [1, 2], "y": [0, 1]}, "y").source is None


def test_a_parent_directory_behind_a_link(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(WANTED, "far/away/t.csv")
    write(OTHER, "t.csv")
    Path("far/away/deep").mkdir()
    Path("link").symlink_to("far/away/deep")
    assert_wanted("link/../t.csv", None, "link/../t.csv")


def test_a_temporary_directory_with_a_pattern_in_its_name(tmp_path, monkeypatch):
    (tmp_path / "a[1]").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "a[1]"))
    write(WANTED, str(tmp_path / "t.csv"))
    with pytest.raises(ValueError, match=r"the directory for temporary files is .*a\[1\].* set TMPDIR"):
        open_table(tmp_path / "t.csv", "y")
