"""Excel, JSON, Arrow, SQLite and compressed text: the same table, whatever file it is in."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import json
import lzma
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from openpyxl import Workbook
from pyarrow import feather

from offsample import rank_features
from offsample.tables import TablePath, open_table, read_table

N = 60
_random = np.random.default_rng(0)


def some(values):
    return [None if _random.random() < 0.1 else values[i] for i in _random.integers(0, len(values), N)]


COLUMNS = {
    "city": some(["Rome", "Oslo", "Zürich", "#1", "007"]),
    "City size": some([1, 2, 3]),
    "price": some([0.5, 1.25, -3.0, 1e300]),
    "day": some([dt.datetime(2024, 1, 1), dt.datetime(2024, 2, 29, 12, 30)]),
    "churned": [["no", "yes"][i] for i in _random.integers(0, 2, N)],
}
ROWS = list(zip(*COLUMNS.values(), strict=True))


def as_excel(file, sheets=("Sales",)):
    book = Workbook()
    book.remove(book.active)
    for name in sheets:
        sheet = book.create_sheet(name)
        for row in [tuple(COLUMNS), *ROWS]:
            sheet.append(row)
    book.create_sheet("Empty")
    book.save(file)


def as_json(file, lines, opener=open):
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    text = [json.dumps(row, default=str) for row in rows]
    with opener(file, "wt", encoding="utf-8") as stream:
        stream.write("\n".join(text) if lines else "[" + ",\n".join(text) + "]")


def as_arrow(file):
    feather.write_feather(pa.table(COLUMNS), file)


def as_sqlite(file, tables=("sales",)):
    with closing(sqlite3.connect(file)) as database:
        for name in tables:
            database.execute(
                f'CREATE TABLE "{name}" (city TEXT, "City size" INT, price REAL, day TEXT, churned TEXT)'
            )
            marks = f'INSERT INTO "{name}" VALUES (?, ?, ?, ?, ?)'
            database.executemany(
                marks, [[str(v) if isinstance(v, dt.datetime) else v for v in row] for row in ROWS]
            )
        database.commit()


def as_duckdb(file, tables=("sales",)):
    with duckdb.connect(str(file)) as database:
        arrow = pa.table(COLUMNS)
        for name in tables:
            database.from_arrow(arrow).create(name)


WRITERS = {
    "t.xlsx": as_excel,
    "t.json": lambda file: as_json(file, lines=False),
    "t.jsonl": lambda file: as_json(file, lines=True),
    "t.ndjson.gz": lambda file: as_json(file, True, gzip.open),
    "odd [1]#x.json": lambda file: as_json(file, lines=False),
    "t.feather": as_arrow,
    "t.arrow": as_arrow,
    "t.sqlite": as_sqlite,
    "t.db": as_sqlite,
    "t.duckdb": as_duckdb,
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_ranking_as_of_columns_in_memory(tmp_path, name):
    WRITERS[name](tmp_path / name)
    expected = rank_features(COLUMNS, "churned")
    found = rank_features(tmp_path / name, "churned")
    assert [one.name for one in found] == [one.name for one in expected]
    for one in expected:
        if one.name != "day" or name not in ("t.sqlite", "t.db"):  # which has no dates, but text
            assert (found[one.name].error, found[one.name].n_missing) == (one.error, one.n_missing)
            assert found[one.name].kind == one.kind


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_other_engines_read_them_too(tmp_path, engine):
    as_excel(tmp_path / "t.xlsx")
    found = rank_features(tmp_path / "t.xlsx", "churned", engine=engine)
    assert [one.error for one in found] == [one.error for one in rank_features(COLUMNS, "churned")]


@pytest.mark.parametrize(
    ("writer", "name", "what"),
    [(as_excel, "t.xlsx", "sheet"), (as_sqlite, "t.sqlite", "table"), (as_duckdb, "t.duckdb", "table")],
)
def test_several_tables_are_named_behind_the_file(tmp_path, writer, name, what):
    writer(tmp_path / name, ("My Sales", "Costs"))
    table = read_table(f"{tmp_path / name}#My Sales")
    assert list(table) == list(COLUMNS)
    assert table.n_source_rows == N
    with pytest.raises(
        ValueError, match=f"(has 2 {what}s|names no {what}).* of (My Sales, Costs|Costs, My Sales)"
    ):
        read_table(tmp_path / name)
    with pytest.raises(ValueError, match=f"has no {what} 'Gains'"):
        read_table(f"{tmp_path / name}#Gains")


@pytest.mark.parametrize(("end", "opener"), [("gz", gzip.open), ("bz2", bz2.open), ("xz", lzma.open)])
def test_compressed_text(tmp_path, end, opener):
    with opener(tmp_path / f"t.csv.{end}", "wt") as stream:
        stream.write("a,y\n" + "1,0\n2,1\n" * 20)
    assert read_table(tmp_path / f"t.csv.{end}").n_source_rows == 40
    damaged = (tmp_path / f"t.csv.{end}").read_bytes()[:-9]
    (tmp_path / f"t.csv.{end}").write_bytes(damaged)
    with pytest.raises(ValueError, match="cannot be decompressed"):
        read_table(tmp_path / f"t.csv.{end}")


def test_a_folder_of_json_is_one_table(tmp_path):
    as_json(tmp_path / "a.jsonl", lines=True)
    as_json(tmp_path / "b.jsonl", lines=True)
    assert read_table(tmp_path).n_source_rows == 2 * N
    (tmp_path / "c.jsonl").write_text('{"other": 1}\n')
    with pytest.raises(ValueError, match="has other columns than"):
        read_table(tmp_path)
    (tmp_path / "c.jsonl").unlink()
    as_duckdb_table = pa.table(COLUMNS)
    duckdb.from_arrow(as_duckdb_table).write_parquet(str(tmp_path / "c.parquet"))
    with pytest.raises(ValueError, match="stands for both JSON and Parquet files"):
        read_table(tmp_path)


def test_cells_of_a_sheet_as_people_leave_them(tmp_path):
    """Blank lines, errors of formulas, and a name too few."""
    book = Workbook()
    sheet = book.active
    for row in [(), ("a", "y", None), (1, "u"), (), ("#DIV/0!", "v", None), (2.5, "v")]:
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx")
    np.testing.assert_array_equal(np.asarray(table["a"], float), [1.0, np.nan, 2.5])
    assert list(table["y"]) == ["u", "v", "v"]
    sheet.append((1, 2, 3))
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(ValueError, match=r"cannot be read as Excel: a row has more cells than the first row"):
        read_table(tmp_path / "t.xlsx")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.xlsx", b"PK\x03\x04", "cannot be read as Excel"),
        ("t.json", b"[1, 2", "cannot be read as JSON"),
        ("t.json", b"[1, 2]", "expected an object for each row"),
        ("t.json", b'{"a": {"0": 1, "1": 2}, "y": {"0": "p", "1": "n"}}', "orient='records'"),
        ("t.json", b'{"a": [1, 2], "y": ["p", "n"]}', "orient='records'"),
        ("t.json", b'{"data": [{"a": 1, "y": "p"}, {"a": 2, "y": "n"}]}', "orient='records'"),
        ("t.feather", b"ARROW1", "cannot be read as Arrow"),
        ("t.sqlite", b"nothing of the kind", "cannot be read as SQLite"),
        ("t.pdf", b"%PDF", "is of no kind that is read: expected .parquet"),
    ],
)
def test_files_that_are_not_what_they_are_called(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=said):
        open_table(tmp_path / name, "y")


@pytest.mark.parametrize("name", ["t.xlsx", "t.json", "t.feather", "t.sqlite", "t.duckdb"])
def test_nothing_but_parquet_and_csv_is_read_of_a_stranger(tmp_path, name):
    WRITERS[name](tmp_path / name)
    with pytest.raises(ValueError, match="nothing else is read with trusted=False"):
        read_table(TablePath(tmp_path / name, trusted=False))


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    as_excel(tmp_path / "t.xlsx")
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"needs openpyxl: pip install 'offsample\[excel\]'"):
        read_table(tmp_path / "t.xlsx")
