"""Texts that name tables: queries with comments, databases, addresses."""

import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.tables import TablePath, is_query, open_table, read_table

duckdb = pytest.importorskip("duckdb")
GENERATED = "SELECT i % 3 AS a, i % 2 AS y FROM range(100) t(i)"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,y\n" + "1,0\n2,1\n" * 20)
    with duckdb.connect("v.db") as connection:
        connection.execute("CREATE TABLE t AS FROM 't.csv'")
        connection.execute("CREATE VIEW w AS FROM t")
    return tmp_path


def said(*arguments):
    result = CliRunner().invoke(app, [*arguments, "-t", "y"])
    return result.exit_code, result.output


@pytest.mark.parametrize(
    "query",
    [
        "/* c */ select * from 't.csv'",
        "-- c\nselect * from 't.csv'",
        "-- c -- d\n  /* from */\n FROM 't.csv'",
        "with t as (select * from 't.csv') select * from t",
        "WITH/* c */t AS (FROM 't.csv') FROM t",
        "select* from 't.csv'",
        "from't.csv'",
    ],
)
@pytest.mark.parametrize("verb", ["rank", "tree"])
def test_a_query(query, verb):
    assert is_query(query)
    code, output = said(verb, query)
    assert code == 0, output
    assert "Read 40 rows of t.csv." in output


@pytest.mark.parametrize(
    "text", ["selection.csv", "from.csv", "-- select", "/* select", "with-a.csv", "--demo"]
)
def test_no_query(text):
    assert not is_query(text)


@pytest.mark.parametrize("verb", ["rank", "tree", "rules", "select", "forecast"])
def test_a_query_without_files_says_what_was_read(verb):
    code, output = said(verb, GENERATED)
    assert code == 0, output
    assert "Read 100 rows of the query." in output
    assert open_table(GENERATED, "y").source.n_rows == read_table(GENERATED).source.n_rows == 100


def test_a_database_as_a_table_lists_its_tables():
    hint = "expected v.db#table, with one of t, w"
    assert said("rank", "v.db") == (2, f"offsample: 'v.db' names no table: {hint}\n")
    code, output = said("rank", "duckdb:///v.db")
    assert code == 2
    assert hint in output
    with pytest.raises(ValueError, match="neither Parquet nor CSV"):
        open_table(TablePath("v.db", trusted=False), "y")


def test_text_with_the_bytes_of_a_database_is_text(folder):
    (folder / "duck.csv").write_text("species,DUCK,y\n" + "a,1,0\nb,2,1\n" * 20)
    code, output = said("rank", "duck.csv")
    assert code == 0, output
    assert "DUCK" in output
    (folder / "odd.csv").write_bytes(b"\xf7<\x00\x00\x00\x00\x00\x00DUCK\x00\x1f{$")
    code, output = said("rank", "odd.csv")
    assert code == 2, output


def test_a_query_of_a_database_says_where_to_name_it(folder):
    code, output = said("rank", "select * from 'v.db'")
    assert code == 2
    assert "wal" not in output
    assert "put it before the query, as in v.db#SELECT * FROM t; it has t, w" in output
    assert said("rank", "v.db#SELECT * FROM t")[0] == said("rank", "duckdb:///v.db#SELECT * FROM t")[0] == 0
    assert sorted(path.name for path in folder.iterdir()) == ["t.csv", "v.db"]  # read-only


@pytest.mark.parametrize("address", ["http://host/t.csv", "https://host/t.csv", "s3://bucket/t.parquet"])
def test_an_address_says_what_to_do(address):
    code, output = said("rank", address)
    assert code == 2
    assert "an address is read with --allow-external, where DuckDB has what that takes, or download" in output
    assert TablePath(address, allow_external=True) == f"SELECT * FROM '{address}'"
    assert TablePath(f"{address}'s", allow_external=True).kind == "query"


def test_an_address_of_a_file_says_its_path(folder):
    code, output = said("rank", f"file://{folder}/t.csv")
    assert code == 2
    assert f"leave out file://, and name the path, '{folder}/t.csv'" in output


def test_files_that_a_text_names():
    assert TablePath("t.csv").files == TablePath("*.csv").files == ("t.csv",)
    assert TablePath("FROM 't.csv'").files == ("t.csv",)
    assert TablePath("duckdb:///v.db#t").files == ("v.db",)
    assert TablePath("-").files == TablePath(GENERATED).files == TablePath("none.csv").files == ()
