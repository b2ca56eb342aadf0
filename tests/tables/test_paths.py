"""Files, databases and standard input."""

import gzip
import io
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offsample.tables import open_table, read_table
from offsample.tables.engines import _files

duckdb = pytest.importorskip("duckdb")

NAMES = ["a", "A", "", "select", '"; drop table x', "né", "^a.*$", "y"]
ROWS = [
    (i % 3, i % 2, "uv"[i % 2], i, None if i == 4 else i / 2, f"s{i}", 1, "pqr"[i % 3]) for i in range(12)
]
TEXT = 'a,A,,select,"""; drop table x",né,^a.*$,y\n' + "".join(
    ",".join("" if v is None else str(v) for v in row) + "\n" for row in ROWS
)
DASK = pytest.param("dask", marks=pytest.mark.skipif(find_spec("dask") is None, reason="needs dask"))
ENGINES = pytest.mark.parametrize("engine", ["duckdb", "polars", DASK])


@pytest.fixture(autouse=True)
def temporary_files(tmp_path, monkeypatch):
    """Temporary files go to a directory of their own, and none may be left."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(tmp_path)
    yield
    assert list(scratch.iterdir()) == []


def write(path):
    if path.name.endswith(".parquet"):
        pq.write_table(pa.table([pa.array(column) for column in zip(*ROWS, strict=True)], names=NAMES), path)
    elif path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(TEXT.encode()))
    else:
        path.write_text(TEXT.replace(",", "\t") if path.suffix == ".tsv" else TEXT, encoding="utf-8")
    return path


def assert_counts(table, times=1):
    assert table.classes == ("p", "q", "r")
    names = ["column 3" if name == "" else name for name in NAMES]  # which has no name in the files
    assert list(table.features) == names[:-1]
    expected = open_table(dict(zip(names, zip(*(ROWS * times), strict=True), strict=True)), "y")
    for name in names[:-1]:
        assert table.kind(name) == ("categorical" if name in ("column 3", "né") else "numeric")
        one, other = table.value_counts(name), expected.value_counts(name)
        assert one.rows.tolist() == other.rows.tolist()
        assert (one.n_values, one.n_missing) == (other.n_values, other.n_missing)


@pytest.mark.parametrize("engine", ["duckdb", "polars", DASK, None])
@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.tsv", "t.csv.gz", "T.CSV"])
def test_one_file(tmp_path, name, engine):
    with open_table(write(tmp_path / name), "y", engine=engine) as table:
        assert_counts(table)


@ENGINES
@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_globs_and_directories(tmp_path, name, engine):
    (tmp_path / "parts").mkdir()
    for i in range(2):
        write(tmp_path / "parts" / f"{i}{name}")
    for path in (tmp_path / "parts", str(tmp_path / "parts" / f"*{name}"), f"parts/*{name}"):
        with open_table(path, "y", engine=engine) as table:
            assert_counts(table, times=2)


def test_a_name_with_the_letters_of_a_glob(tmp_path):
    with open_table(write(tmp_path / "a[1]*.parquet"), "y") as table:
        assert_counts(table)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    with open_table("-", "y") as table:
        assert_counts(table)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(ValueError, match="standard input is empty"):
        open_table("-", "y")


def test_a_database_with_schemas(tmp_path):
    file = tmp_path / "my.db"
    with duckdb.connect(str(file)) as connection:
        connection.execute('CREATE SCHEMA "else""where"')
        for name in ("here", '"else""where"."t.2"'):
            connection.execute(f"CREATE TABLE {name} AS SELECT i % 2 AS y, i AS x FROM range(6) t(i)")
    with pytest.raises(ValueError, match=r"has no table 't\.2': expected one of here, else\"where\.t\.2"):
        open_table(f"duckdb:///{file}#t.2", "y")
    for name in ("here", 'else"where.t.2'):
        with open_table(f"duckdb:///{file}#{name}", "y") as table:
            assert table.n_rows == 6
    with duckdb.connect(str(file)) as connection:
        connection.execute('CREATE TABLE "else""where.t.2" AS SELECT i % 2 AS y, i AS x FROM range(8) t(i)')
    with open_table(f'duckdb:///{file}#else"where.t.2', "y") as table:
        assert table.n_rows == 8  # a table of the very name comes first


def test_database(tmp_path):
    file = tmp_path / "my.db"
    with duckdb.connect(str(file)) as connection:
        connection.execute('CREATE TABLE "or""der" AS SELECT i % 2 AS y, i AS x FROM range(6) t(i)')
    with open_table(f'duckdb:///{file}#or"der', "y") as table:
        assert table.value_counts("x").rows.tolist() == [[0, 1, 3], [1, 0, 3]]
    with open_table('duckdb:///my.db#or"der', "y") as table:
        assert table.n_rows == 6
    for only in ("duckdb:///my.db", "my.db", 'my.db#or"der'):  # the one table that it has
        with open_table(only, "y") as table:
            assert table.n_rows == 6
    for url, message in {
        "my.db#x": "has no table 'x': expected one of or\"der",
        "duckdb:///my.db#x": "has no table 'x': expected one of or\"der",
    }.items():
        with pytest.raises(ValueError, match=message):
            open_table(url, "y")
    with pytest.raises(FileNotFoundError, match=r"no such file: 'other.db'"):
        open_table("duckdb:///other.db#x", "y")
    (tmp_path / "text.db").write_text("not a database")
    with pytest.raises(ValueError, match="cannot be read as a DuckDB database"):
        open_table("duckdb:///text.db#x", "y")
    with pytest.raises(ValueError, match=r"engine='polars' cannot read 'duckdb:///my.db#x'"):
        open_table("duckdb:///my.db#x", "y", engine="polars")


@ENGINES
def test_files_that_cannot_be_read(tmp_path, engine):
    def failing(name, content, message, error=ValueError):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(error, match=message):
            open_table(tmp_path / name, "y", engine=engine)

    with pytest.raises(FileNotFoundError, match=r"no such file: 'nowhere.csv'"):
        open_table("nowhere.csv", "y", engine=engine)
    with pytest.raises(FileNotFoundError, match=r"no such file: '\*.csv'"):
        open_table("*.csv", "y", engine=engine)
    failing("empty.csv", b"", "is empty: expected a Parquet file, or CSV with a header")
    failing("header.csv", b"x,y\n", "the table has no rows")
    failing("broken.parquet", b"PAR1 and no more", "cannot be read as Parquet")
    failing("text.parquet", b"x,y\n1,2\n", "cannot be read as Parquet")
    failing("table.pdf", b"%PDF", "is of no kind that is read: expected .parquet")
    failing("twice.csv", b"x,x,y\n1,2,3\n4,5,6\n", "2 columns are named 'x'")


def test_both_kinds_of_files(tmp_path):
    write(tmp_path / "t.csv")
    write(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="stands for both CSV and Parquet files"):
        open_table(tmp_path / "t.*", "y")


def test_types_come_from_all_rows_of_a_csv(tmp_path):
    lines = [f"{i},{i % 2}" for i in range(50_000)]
    (tmp_path / "t.csv").write_text("x,y\n" + "\n".join(lines + ["late,1"] * 5_000))
    with open_table("t.csv", "y") as table:
        assert table.kind("x") == "categorical"
        assert table.value_counts("x").n_values == 50_001
    (tmp_path / "t.csv").write_text("x,y\n" + "\n".join([*lines, "late,1"]))
    with open_table("t.csv", "y") as table:  # one text among so many numbers is a slip
        assert table.kind("x") == "numeric"
        assert table.binned_counts("x").missing.tolist() == [0, 1]


@pytest.mark.parametrize("n_rows", [40, 1100])
def test_columns_of_a_wide_csv_are_read_as_those_of_a_narrow_one(tmp_path, n_rows):
    """Their types are found in another way: one below the other."""
    kinds = {
        "whole": lambda i: i - 7,
        "number": lambda i: i / 4,
        "yes": lambda i: ("true", "FALSE")[i % 2],
        "day": lambda i: f"2021-02-{i % 28 + 1:02d}",
        "moment": lambda i: f"2021-02-{i % 28 + 1:02d} 12:00:{i % 60:02d}",
        "code": lambda i: f"0{i % 9}",
        "key": lambda i: 10**20 + i,
        "word": lambda i: ("a, b", 'say ""so""', "c")[i % 3],
        "late": lambda i: i if i < n_rows - 10 else "n/k",
        "nothing": lambda _: "",
    }

    def read(n_times: int) -> tuple[list[str], list[tuple[object, ...]]]:
        rows = [[f'"{value(i)}"' if i % 5 else "" for value in kinds.values()] for i in range(n_rows)]
        lines = [",".join(row * n_times) for row in [list(kinds), *rows]]
        (tmp_path / "t.csv").write_text("\n".join(lines))
        relation, _ = _files._parse(duckdb.connect(), ["t.csv"], tmp_path, ())
        return [str(kind) for kind in relation.types], relation.fetchall()

    (types, values), (narrow, twin) = read(25), read(1)
    assert narrow == ["BIGINT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", *["VARCHAR"] * 5]
    assert types == narrow * 25
    assert values == [row * 25 for row in twin]


def test_memory_limit(tmp_path, monkeypatch):
    write(tmp_path / "t.parquet")
    monkeypatch.setenv("OFFSAMPLE_DUCKDB_MEMORY", "200MB")
    with open_table("t.parquet", "y") as table:
        assert_counts(table)
    monkeypatch.setenv("OFFSAMPLE_DUCKDB_MEMORY", "much")
    with pytest.raises(ValueError, match="OFFSAMPLE_DUCKDB_MEMORY"):
        open_table("t.parquet", "y")


@pytest.mark.parametrize("kind", ["", "?"])
def test_few_rows_are_counted_in_memory_as_in_duckdb(tmp_path, kind):
    rows = ["n,k,b,when,day,y"]
    for i in range(30):
        missing = i % 7 == 0 and kind == "?"
        moment, day = f"2020-01-{i % 9 + 1:02d} 12:00:00", f"2021-02-{i % 5 + 1:02d}"
        row = (i % 4, i / 4, ("true", "false")[i % 2], moment, day)
        rows.append(",".join("" if missing else str(value) for value in row) + f",{'' if missing else i % 3}")
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    query = "SELECT n, k, b, \"when\", y FROM 't.csv'"  # without the dates, which stay in DuckDB
    for path, n_columns in (("t.csv", 5), (query, 4)):
        few, engine = open_table(path, "y"), open_table(path, "y", engine="duckdb")
        assert (type(few).__name__ == "MemoryTable") == (path == query)
        assert few.columns == engine.columns
        assert len(few.columns) == n_columns
        assert few.classes == engine.classes == (0, 1, 2)
        assert {type(label) for label in few.classes} == {int}
        assert (few.class_totals.tolist(), few.n_dropped) == (engine.class_totals.tolist(), engine.n_dropped)
        for column in few:
            one, other = few.value_counts(column.name), engine.value_counts(column.name)
            assert one.rows.tolist() == other.rows.tolist()
            if column.kind == "numeric":
                bins, twin = few.binned_counts(column.name, 5), engine.binned_counts(column.name, 5)
                assert bins.counts.tolist() == twin.counts.tolist()
                assert bins.edges.tolist() == twin.edges.tolist()
        engine.close()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(
            b"a,b,y\n1,2,3\n2,3\n4,5,6,7\n",
            "line 3 has 2 fields, the header 3",
            marks=pytest.mark.skipif(duckdb.__version__ < "2", reason="DuckDB 1 begins at the last line"),
        ),
        ("a,y\né,1\nb,0\n".encode("latin-1"), "byte 5 is not UTF-8: expected text in UTF-8"),
    ],
)
def test_what_is_wrong_with_a_csv_file(tmp_path, content, message):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        open_table("t.csv", "y")


def test_a_directory_without_tables(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"directory 'empty' has no file to read: expected .parquet"):
        open_table("empty", "y")


def test_closing(tmp_path):
    table = open_table(write(tmp_path / "t.csv"), "y", engine="duckdb")
    assert any(Path(tempfile.gettempdir()).iterdir())
    table.close()
    table.close()
    with pytest.raises(RuntimeError, match="duckdb failed while counting column 'a'"):
        table.value_counts("a")


def test_collected_garbage_leaves_no_files(tmp_path):
    table = open_table(write(tmp_path / "t.csv"), "y", engine="duckdb")
    assert list((tmp_path / "scratch").iterdir())
    del table
    assert not list((tmp_path / "scratch").iterdir())


def test_the_working_directory_stays_clean(tmp_path):
    with open_table(write(tmp_path / "t.csv"), "y") as table:
        table.value_counts("a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scratch", "t.csv"]


def test_big_integers_and_nested_columns_of_parquet(tmp_path):
    big = 2**53
    table = pa.table(
        {"l": [[1], [2], None], "s": [{"a": 1, "b": [2]}] * 3, "i": [big, big + 1, big], "y": [0, 1, 1]}
    )
    pq.write_table(table, "t.parquet")
    with open_table("t.parquet", "y") as opened:
        assert opened.features == ("l", "s", "i")
        assert opened.value_counts("i").rows.tolist() == [[0, 1, 1], [1, 1, 1]]
        assert opened.kind("i") == "categorical"  # two are equal as float64


def test_a_query_is_a_table(tmp_path):
    frame = pa.table({"x": list("aabb") * 5, "keep": [1, 0] * 10, "y": list("nnpp") * 5})
    pq.write_table(frame, tmp_path / "t.parquet")
    query = f"SELECT x, y FROM '{tmp_path}/t.parquet' WHERE keep = 1"
    with open_table(query, "y") as table:
        assert table.n_rows == 10
        assert table.features == ("x",)
    with duckdb.connect(str(tmp_path / "d.db")) as connection:
        connection.execute(f"CREATE TABLE t AS FROM '{tmp_path}/t.parquet'")
    with open_table(f"duckdb:///{tmp_path}/d.db#select * from t where keep = 1", "y") as table:
        assert table.n_rows == 10
    for bad in ("SELECT 1; DROP TABLE t", "SELECT * FROM nowhere", "select from where"):
        with pytest.raises(ValueError, match=r"the query .* (is not a single SELECT|failed)"):
            open_table(f"duckdb:///{tmp_path}/d.db#{bad}", "y")


@pytest.mark.parametrize("engine", ["duckdb", "polars", "dask"])
def test_csv_files_of_one_table_must_have_the_same_columns(tmp_path, engine):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")
    (tmp_path / "b.csv").write_text("y,x\na,1\nb,2\n")
    with pytest.raises(ValueError, match="expected the same columns in the same order"):
        open_table(tmp_path, "y", engine=engine)


@ENGINES
@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_ends_of_lines(engine, end):
    Path("t.csv").write_bytes(f"x,y{end}".encode() + f"1,a{end}2,b{end}".encode() * 9)
    with open_table("t.csv", "y", engine=engine) as table:
        assert (table.features, table.classes, table.n_rows) == (("x",), ("a", "b"), 18)
        assert table.kind("x") == "numeric"


@ENGINES
@pytest.mark.parametrize("last", ["2,b", "2,PAR1"])
def test_a_name_that_begins_as_parquet_does(engine, last):
    Path("t.csv").write_text("PAR1,y\n" + "1,a\n2,b\n" * 9 + last)
    with open_table("t.csv", "y", engine=engine) as table:
        assert (table.features, table.n_rows) == (("PAR1",), 19)
    pq.write_table(pa.table({"x": [1, 2] * 9, "y": [1, 2] * 9}), "u.csv")  # which it is, whatever its name
    assert open_table("u.csv", "y", engine=engine).n_rows == 18


def test_a_directory_that_is_there_is_that_directory_in_a_pattern_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder, rows in (("dir[1]", 3), ("dir1", 4)):
        Path(folder).mkdir()
        (Path(folder) / "x.csv").write_text("a,y\n" + "0,0\n" * rows)
    assert read_table("dir[1]/*.csv").n_source_rows == 3
    assert read_table("dir?/*.csv").n_source_rows == 4
    assert read_table(str(tmp_path / "dir[1]" / "*.csv")).n_source_rows == 3
