"""Files that are not what they should be: a result, or one sentence and exit code 2, on both engines."""

import gzip
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from offsample.cli import app

pytest.importorskip("duckdb")

HEADER, ROWS = "x,g,y\n", "".join(f"{i % 7},{'ab'[i % 2]},{i % 2}\n" for i in range(60))
TEXT = HEADER + ROWS
READ = {
    "bom.csv": b"\xef\xbb\xbf" + TEXT.encode(),
    "nul.csv": TEXT.replace("a", "a\0"),
    "quotes.csv": '"x","g","y"\n' + '"1","a""0","0"\n"2","b\n,",1\n' * 30,
    "cr.csv": TEXT.replace("\n", "\r"),
    "crlf.csv": TEXT.replace("\n", "\r\n"),
    "semicolon.csv": TEXT.replace(",", ";"),
    "decimal comma.csv": "x;g;y\n" + "0,5;a;0\n1,5;b;1\n" * 30,
    "blank lines.csv": "\n\n" + TEXT.replace("\n", "\n\n"),
    "packed.csv": gzip.compress(TEXT.encode()),
    "not packed.csv.gz": TEXT,
}
REFUSED = {
    "empty.csv.gz": (gzip.compress(b""), "it has no text: expected a header"),
    "only a mark.csv": (b"\xef\xbb\xbf", "it has no text: expected a header"),
    "latin.csv": (TEXT.replace("a", "é").encode("latin-1"), "byte 9 is not UTF-8"),
    "utf16.csv": (TEXT.encode("utf-16"), "byte 1 is not UTF-8"),
    "utf16 without mark.csv": (
        TEXT.encode("utf-16-be"),
        "its header holds zero bytes: expected text in UTF-8",
    ),
    "mixed ends.csv": ("x,g,y\r\n" + ROWS, r"its lines end in different ways, ('\n', '\r\n'): expected one"),
    "long field.csv": (
        TEXT + "1," + "z" * 3_000_000 + ",0\n",
        "line 62 has more than 2,000,000 characters: expected Parquet",
    ),
    "long field, ragged.csv": (
        TEXT + "1," + "z" * 300_000 + ",0\n1,a\n",
        "line 63 has 2 fields, the header 3",
    ),
    "ragged.csv": (TEXT + "1,a\n", "line 62 has 2 fields, the header 3"),
    "cut.csv.gz": (gzip.compress(TEXT.encode())[:-9], "cannot be decompressed"),
    "text.parquet": (TEXT, "cannot be read as Parquet"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "byte 1 is not UTF-8"),
}


def run(verb, path, engine):
    more = ("--fast", "--output", f"{path}.html") if verb == "report" else ()
    return CliRunner().invoke(app, [verb, str(path), "-t", "y", "--engine", engine, *more])


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", list(READ))
def test_read(tmp_path, name):
    path = write(tmp_path / name, READ[name])
    results = {run("rank", path, engine).stdout for engine in ("duckdb", "polars")}
    assert len(results) == 1
    assert "Read 60 rows" in results.pop()


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused(tmp_path, name):
    content, reason = REFUSED[name]
    path = write(tmp_path / name, content)
    for verb in ("rank", "tree", "report"):
        for engine in ("duckdb", "polars"):
            done = run(verb, path, engine)
            assert done.exit_code == 2, done.output
            (sentence,) = done.stderr.strip().splitlines()
            assert name in sentence
            assert reason in sentence


def test_links_to_nothing(tmp_path):
    for name, target in (("loop.csv", "loop.csv"), ("gone.csv", "nowhere.csv")):
        (tmp_path / name).symlink_to(target)
        done = run("rank", tmp_path / name, "duckdb")
        assert done.exit_code == 2
        assert "no such file" in done.stderr


@pytest.mark.parametrize("verb", ["rank", "tree"])
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_a_damaged_column_is_not_left_out(tmp_path, verb, engine):
    table = {"x": list(range(60)), "g": ["ab"[i % 2] for i in range(60)], "y": [i % 2 for i in range(60)]}
    pl.DataFrame(table).write_parquet(tmp_path / "t.parquet", compression="zstd")
    whole = Path(tmp_path / "t.parquet").read_bytes()
    write(tmp_path / "t.parquet", whole[:50] + b"\xff" * 40 + whole[90:])
    done = run(verb, tmp_path / "t.parquet", engine)
    assert done.exit_code == 2, done.output
    assert "cannot be read" in done.stderr
