"""Tables that are too large, too wide, or cut short: one sentence, and no file left behind."""

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.tables import TablePath, open_table, read_table
from offsample.tables._text import check_width
from offsample.tables.engines import duckdb as _paths

duckdb = pytest.importorskip("duckdb")

TEXT = "x,y\n" + "0,0\n1,1\n" * 5_000  # 40,004 bytes


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(tmp_path)
    yield
    assert list(scratch.iterdir()) == []


def write(name):
    data = TEXT.encode()
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"x": [0, 1] * 5_000, "y": [0, 1] * 5_000}), name, compression="zstd")
    else:
        Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return name


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
@pytest.mark.parametrize("engine", [None, "polars"])
def test_a_limit_of_bytes(name, engine):
    write(name)
    if name != "t.csv":
        assert Path(name).stat().st_size < 10_000
    limit = 10_000 if name != "t.parquet" else 15_000  # of which a byte for each value
    for read in (open_table, lambda path, _, engine: read_table(path, engine=engine)):
        with pytest.raises(ValueError, match=rf"^'{name}' has more than {limit:,} bytes of .* --max-bytes"):
            read(TablePath(name, max_bytes=limit), "y", engine=engine)
        with_room = TablePath(name, max_bytes=1_000_000)
        assert open_table(with_room, "y", engine=engine).source.n_rows == 10_000


def test_the_limit_holds_for_all_files_together():
    for i in range(3):
        write(f"t{i}.csv")
    with pytest.raises(ValueError, match="has more than 100,000 bytes of text"):
        open_table(TablePath("t*.csv", max_bytes=100_000), "y")
    assert open_table(TablePath("t*.csv", max_bytes=130_000), "y").n_rows == 30_000


QUERIES = {
    "endless": "SELECT i % 2 AS y, i AS x FROM range(1_000_000_000_000) t(i)",
    "text": "SELECT i % 2 AS y, repeat('x', 1000) AS x FROM range(1000) t(i)",
    "list": "SELECT i % 2 AS y, range(1000) AS x FROM range(1000) t(i)",
    "bomb": "SELECT *, 1.5 AS z, 2.5 AS w, 3.5 AS v, 4.5 AS u FROM 't.csv.gz'",
    "parquet": "SELECT *, 1.5 AS z, 2.5 AS w, 3.5 AS v, 4.5 AS u FROM 't.parquet'",
}


@pytest.mark.parametrize("query", list(QUERIES))
@pytest.mark.parametrize("kind", ["query", "view", "query of a view"])
def test_a_limit_of_what_a_query_gives(query, kind):
    write("t.csv.gz"), write("t.parquet")
    path, limit = QUERIES[query], 150_000
    if kind != "query":
        with duckdb.connect("v.db") as connection:
            connection.execute(f"CREATE VIEW v AS {path}")
        path = "duckdb:///v.db#v" if kind == "view" else "duckdb:///v.db#SELECT * FROM v WHERE y >= 0"
        limit += Path("v.db").stat().st_size  # which has to be within it too
    own = {"allow_external": True}  # a view reads other files with it only, and the limit holds nevertheless
    for read in (lambda path: open_table(path, "y"), read_table):
        with pytest.raises(ValueError, match=rf"has more than {limit:,} bytes of data: .* --max-bytes"):
            read(TablePath(path, max_bytes=limit, **own))
    if query != "endless":
        assert open_table(TablePath(path, max_bytes=10_000_000, **own), "y").n_rows >= 1000


@pytest.mark.parametrize("verb", ["rank", "tree", "rules", "select", "forecast", "report"])
def test_the_option_of_every_command(verb):
    write("t.csv")
    run = CliRunner().invoke(app, [verb, "t.csv", "-t", "y", "--max-bytes", "10kB"])
    assert run.exit_code == 2
    assert "'t.csv' has more than 10,000 bytes of text" in run.stderr
    assert "--allow-external" in CliRunner().invoke(app, [verb, "--help"]).output
    wrong = CliRunner().invoke(app, [verb, "t.csv", "-t", "y", "--max-bytes", "much"])
    assert wrong.exit_code == 2
    assert "'much' is not a size" in wrong.stderr


@pytest.mark.parametrize("verb", ["rank", "tree", "rules", "select", "forecast"])
def test_every_command_names_what_it_read(verb):
    Path("data[1].csv").write_text("x,y\n" + "0,0\n1,1\n1,0\n" * 20)
    Path("data1.csv").write_text("other,y\n" + "0,0\n1,1\n" * 99)
    text = CliRunner().invoke(app, [verb, "data[1].csv", "-t", "y"])
    assert text.exit_code == 0, text.output
    assert "Read 60 rows of data[1].csv." in text.stdout.splitlines()
    found = json.loads(CliRunner().invoke(app, [verb, "data[1].csv", "-t", "y", "--json"]).stdout)
    assert found["source"] == {"files": ["data[1].csv"], "n_rows": 60}


@pytest.mark.parametrize("verb", ["rank", "tree", "rules", "select", "forecast", "report"])
def test_a_column_without_a_name_is_the_same_to_every_command(verb):
    Path("t.csv").write_text(",y\n" + "0,0\n1,1\n1,0\n" * 20)
    options = ["--fast"] if verb == "report" else []
    run = CliRunner().invoke(app, [verb, "t.csv", "-t", "y", "--json", *options])
    assert run.exit_code == 0, run.output
    if verb != "forecast":  # which names no column
        assert "column 1" in run.stdout


def test_text_that_cannot_be_decompressed():
    write("t.csv.gz")
    whole = Path("t.csv.gz").read_bytes()
    Path("cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    Path("bad.csv.gz").write_bytes(whole[:20] + b"\x00" * 20 + whole[40:])
    for name in ("cut.csv.gz", "bad.csv.gz"):
        with pytest.raises(ValueError, match=rf"{name}' cannot be decompressed"):
            open_table(name, "y")
    Path("plain.csv.gz").write_text(TEXT)  # its name says less than its bytes
    Path("zipped.csv").write_bytes(whole)
    assert open_table("plain.csv.gz", "y").n_rows == open_table("zipped.csv", "y").n_rows == 10_000


@pytest.mark.parametrize("engine", [None, "polars"])
def test_too_many_columns_of_text(engine):
    names = [f"c{i}" for i in range(20_001)]
    Path("wide.csv").write_text(";".join(names) + "\n" + ";".join(["1"] * len(names)) + "\n")
    with pytest.raises(ValueError, match=r"^'wide.csv' has 20,001 columns: .* convert it to Parquet"):
        open_table("wide.csv", "c0", engine=engine)


def test_many_columns_are_read_by_blocks(monkeypatch):
    monkeypatch.setattr(_paths, "_FEW_CELLS", 7 * 40)
    monkeypatch.setattr(_paths, "_MANY_COLUMNS", 20)
    values = np.random.default_rng(0).integers(0, 3, (40, 50))
    table = {f"c{i}": values[:, i] for i in range(50)} | {"y": values.sum(axis=1) % 2}
    pq.write_table(pa.table(table), "t.parquet")
    expected = open_table(table, "y")
    with open_table("t.parquet", "y") as opened:
        assert type(opened).__name__ == "MemoryTable"
        assert opened.columns == expected.columns
        for column in reversed(expected.columns):
            assert (
                opened.value_counts(column.name).rows.tolist()
                == expected.value_counts(column.name).rows.tolist()
            )


@pytest.mark.skipif(os.name == "nt", reason="no SIGTERM")
def test_told_to_end(tmp_path):
    os.mkfifo("endless.csv")
    command = [sys.executable, "-m", "offsample", "rank", "endless.csv", "-t", "y"]
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp_path / "scratch")})
    with Path("endless.csv").open("w") as pipe:  # which stays open: the command waits for more
        pipe.write("x,y\n")
        pipe.flush()
        while not list((tmp_path / "scratch").glob("offsample-*/*")):
            time.sleep(0.05)
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM


def test_a_header_may_be_longer_than_a_field_of_python_s_reader(tmp_path):
    names = [f"measurement_number_{i:05d}" for i in range(6000)]
    (tmp_path / "wide.csv").write_text(",".join([*names, "y"]) + "\n")
    check_width("wide.csv", str(tmp_path / "wide.csv"))
    (tmp_path / "wider.csv").write_text(",".join(f"c{i}" for i in range(100_001)) + "\n")
    with pytest.raises(ValueError, match=r"100,001 columns.*convert it to Parquet"):
        check_width("wider.csv", str(tmp_path / "wider.csv"))
