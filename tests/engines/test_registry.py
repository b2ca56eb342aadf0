"""Engines register themselves: a module and its line in the registry, and no other code knows their names."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import narwhals as nw
import pytest

import offsample
from offsample.tables import TablePath, engines, open_table, read_table
from offsample.tables.engines._engine import EngineBase

ROOT = Path(offsample.__file__).parent
HOME = ROOT / "tables" / "engines"


def test_every_module_is_registered():
    modules = {file.stem for file in HOME.glob("*.py") if not file.stem.startswith("_")}
    assert modules == set(engines.HOLDERS)
    assert set(engines.ENGINES) < modules
    held = [library for libraries in engines.HOLDERS.values() for library in libraries]
    assert set(held) <= {library.name for library in nw.Implementation}
    assert len(held) == len(set(held))


@pytest.mark.parametrize("name", engines.HOLDERS)
def test_every_engine_has_what_is_asked_for(name):
    engine = engines.load(name)
    assert isinstance(engine, EngineBase)
    assert type(engine).__module__ == f"offsample.tables.engines.{name}"
    assert engine.name == name
    for method, asked in inspect.getmembers(EngineBase, inspect.isfunction):
        wanted = [word for word in inspect.signature(asked).parameters if word != "self"]
        assert list(inspect.signature(getattr(engine, method)).parameters) == wanted, method
    reads = {"parquet", "scan"} & set(vars(type(engine)))
    assert bool(reads) == bool(engine.package) == bool(engine.install) == (name in engines.ENGINES)
    added = set(vars(type(engine))) - set(vars(EngineBase))
    assert not {word for word in added if not word.startswith("_")}, "nobody would call it"


def test_an_engine_that_is_not_registered_does_what_works_on_all():
    assert type(engines.load("sqlframe")) is EngineBase


def test_no_engine_is_loaded_by_the_others():
    code = (
        "import sys; from offsample.tables import engines; [engines.load(name) for name in engines.HOLDERS];"
        "heavy = {'duckdb', 'polars', 'dask', 'pyspark', 'ibis', 'pandas', 'pyarrow'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def asks_for_an_engine(node):
    """Whether a piece of code compares with the name of an engine, or asks which holds a frame."""
    if isinstance(node, ast.Compare):
        texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
        return any(text in engines.HOLDERS or text == "pyspark" for text in texts if isinstance(text, str))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        asked = node.func.attr.removeprefix("is_").split("_")[0]
        # The library of a column in memory is no engine.
        of_a_column = ast.unparse(node.func.value) == "column.implementation"
        return node.func.attr.startswith("is_") and asked in {*engines.HOLDERS, "pyspark"} and not of_a_column
    return False


@pytest.mark.parametrize(
    "code",
    [
        "engine == 'duckdb'",
        "engine in (None, 'spark')",
        "'dask' != engine",
        "frame.implementation.is_duckdb()",
        "nw.dependencies.is_polars_lazyframe(t)",
    ],
)
def test_a_question_for_an_engine_is_found(code):
    assert any(map(asks_for_an_engine, ast.walk(ast.parse(code))))


def test_nobody_else_asks_which_engine_it_is():
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for file in ROOT.rglob("*.py")
        if HOME not in file.parents
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if asks_for_an_engine(node)
    ]
    assert found == []


@pytest.mark.parametrize("engine", [None, "polars"])
def test_one_connection_for_a_file(tmp_path, monkeypatch, engine):
    duckdb, pq = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    # A type that polars has not, so that it falls back on DuckDB after the size was checked.
    odd = pa.array([1, 2, 1, 2], pa.decimal256(60, 0)) if engine == "polars" else pa.array([1, 2, 1, 2])
    pq.write_table(pa.table({"x": odd, "y": [0, 1, 0, 1]}), tmp_path / "t.parquet")
    made, connect = [], duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *a, **k: made.append(a) or connect(*a, **k))
    path = TablePath(tmp_path / "t.parquet", max_bytes=10_000)
    with open_table(path, "y", engine=engine) as table:
        assert table.class_totals.tolist() == [2, 2]
    assert len(made) == 1
    read_table(path, engine=engine)
    assert len(made) == 2


def test_a_file_is_looked_at_once(tmp_path, monkeypatch):
    from offsample.tables import _source

    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n")
    opened, look = [], Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: opened.append(self.name) or look(self, *a, **k))
    assert _source.resolve(TablePath(tmp_path / "t.csv"), tmp_path).is_csv
    assert opened == ["t.csv"]


def test_a_stratum_that_is_not_there(tmp_path):
    pl = pytest.importorskip("polars")
    with pytest.raises(ValueError, match="target 'z' is not a column of the table"):
        read_table(pl.LazyFrame({"x": [1, 2, 3], "y": [0, 1, 1]}), max_rows=2, stratify="z")
