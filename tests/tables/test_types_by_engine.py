"""Every type of every library on every engine: counted as in memory, or left out with a sentence."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import offsample
from offsample import rank_features
from offsample.tables import ColumnError, open_table

pytest.importorskip("duckdb")

N = 60
K = [i % 3 for i in range(N)]
BESIDE = {"good": ["ab"[i % 2] for i in range(N)], "y": [i % 2 for i in range(N)]}
DAYS = [dt.timedelta(k) for k in K]


def objects(values):
    return pd.Series(list(values), dtype=object)


def far(k):
    return 2**31 - 2 - k  # days since 1970, about the year 5,881,580


# Values that differ where K differs, of types that somebody can hand over.
PANDAS = {
    "period": pd.Series([pd.Period("2020-01", "M") + k for k in K]),
    "interval": pd.Series(pd.arrays.IntervalArray.from_tuples([(k, k + 1) for k in K])),
    "sparse": pd.Series(pd.arrays.SparseArray(K)),
    "sparse floats": pd.Series(pd.arrays.SparseArray(np.array(K, float))),
    "complex": pd.Series(np.array(K) * 1j),
    "long double": pd.Series(np.array(K, np.longdouble)),
    "half": pd.Series(np.array(K, np.float16) / 2),
    "huge": objects(10**400 + k for k in K),
    "mixed": objects(["a", 1, 2.5][k] for k in K),
    "bytes": objects(b"%d" % k for k in K),
    "tuples": objects((k,) for k in K),
    "sets": objects(frozenset([k]) for k in K),
    "lists": objects([k] for k in K),
    "late list": objects([*("abc"[k] for k in K[:-1]), ["c"]]),
    "times": objects(dt.time(k) for k in K),
    "durations": pd.Series(pd.to_timedelta(K, unit="D")),
    "zoned": pd.Series(pd.date_range("2020", periods=3, tz="Europe/Oslo")[K]),
    "category": pd.Series(pd.Categorical([None if k == 0 else "abc"[k] for k in K])),
    "arrow duration": pd.Series(DAYS).astype(pd.ArrowDtype(pa.duration("ns"))),
    "arrow list": pd.Series([[k] for k in K], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
}
POLARS = {
    "duration": pl.Series(DAYS),
    "duration ns": pl.Series(K).cast(pl.Duration("ns")),
    "time": pl.Series([dt.time(k) for k in K]),
    "time ns": pl.Series(K).cast(pl.Time),
    "datetime ns": pl.Series(K).cast(pl.Datetime("ns")),
    "struct": pl.Series([{"a": k} for k in K]),
    "list": pl.Series([[k] for k in K]),
    "array": pl.Series([[k, 1] for k in K], dtype=pl.Array(pl.Int8, 2)),
    "binary": pl.Series([b"%d" % k for k in K]),
    "object": pl.Series([(k,) for k in K], dtype=pl.Object),
    "categorical": pl.Series([None if k == 0 else "abc"[k] for k in K], dtype=pl.Categorical),
    "int128": pl.Series([2**100 + k for k in K], dtype=pl.Int128),
    "far date": pl.Series([far(k) for k in K], dtype=pl.Int32).cast(pl.Date),
    "far datetime": pl.Series([2**62 + k for k in K]).cast(pl.Datetime("ms")),
}
for _name in ("Float16", "UInt128"):  # newer than the oldest polars
    if hasattr(pl, _name):
        POLARS[_name] = pl.Series(K).cast(getattr(pl, _name))
ARROW = {
    "duration": pa.array(DAYS, pa.duration("s")),
    "duration ns": pa.array(K, pa.int64()).view(pa.duration("ns")),
    "time32": pa.array([dt.time(k) for k in K], pa.time32("s")),
    "time ns": pa.array(K, pa.int64()).view(pa.time64("ns")),
    "timestamp ns": pa.array(K, pa.int64()).view(pa.timestamp("ns")),
    "struct": pa.array([{"a": k} for k in K]),
    "list": pa.array([[k] for k in K]),
    "map": pa.array([[("a", k)] for k in K], pa.map_(pa.string(), pa.int64())),
    "union": pa.UnionArray.from_dense(
        pa.array([0] * N, pa.int8()), pa.array(range(N), pa.int32()), [pa.array(K)]
    ),
    "dictionary": pa.array(["abc"[k] for k in K]).dictionary_encode(),
    "null in dictionary": pa.DictionaryArray.from_arrays(pa.array(K, pa.int8()), pa.array(["a", None, "c"])),
    "runs": pa.compute.run_end_encode(pa.array(K)),
    "half": pa.array(np.array(K, np.float16) / 2),
    "months": pa.array([(1, k, 3) for k in K], pa.month_day_nano_interval()),
    "decimal256": pa.array([Decimal(k) / 4 for k in K], pa.decimal256(60, 4)),
    "string view": pa.array([f"s{k}" for k in K], pa.string_view()),
    "binary view": pa.array([b"s%d" % k for k in K], pa.binary_view()),
    "fixed": pa.array([bytes([k]) for k in K], pa.binary(1)),
    "far date": pa.array([far(k) for k in K], pa.int32()).view(pa.date32()),
}
for _name, _make in {  # newer than the oldest pyarrow
    "decimal32": lambda: pa.array([Decimal(k) / 4 for k in K], pa.decimal32(5, 2)),
    "uuid": lambda: pa.array([bytes([k] * 16) for k in K], pa.uuid()),
    "list_view": lambda: pa.array([[k] for k in K], pa.list_view(pa.int64())),
    "bool8": lambda: pa.ExtensionArray.from_storage(pa.bool8(), pa.array([k % 2 for k in K], pa.int8())),
}.items():
    if hasattr(pa, _name):
        ARROW[_name] = _make()
ODD = [
    pytest.param(make, column, id=f"{library}-{name}")
    for library, make, columns in (
        ("pandas", pd.DataFrame, PANDAS), ("polars", pl.DataFrame, POLARS), ("arrow", pa.table, ARROW)
    )
    for name, column in columns.items()
]  # fmt: skip
# No value of these can be a category or a number.
NESTED = ("list", "struct", "map", "union", "array", "complex")
each_engine = pytest.mark.parametrize("engine", [None, "duckdb", "polars"])


def codes(case):
    return [k % 2 for k in K] if "bool8" in case else K


@each_engine
@pytest.mark.parametrize(("make", "column"), ODD)
def test_a_column(request, make, column, engine, capfd):
    case, table = request.node.callspec.id, make({"v": column, **BESIDE})
    ranking = rank_features(table, "y", engine=engine)
    named = [sentence for sentence in ranking.left_out if "column 'v'" in sentence]
    assert [f.name for f in ranking if f.name != "v"] == ["good"]
    assert ranking["good"].error == 0
    assert len(ranking) + len(named) == 2
    if named:
        with pytest.raises(ColumnError, match="column 'v'"):
            rank_features(table, "y", features=["v"], engine=engine)
    else:
        with open_table(table, "y", engine=engine) as opened:
            counts = open_table({"v": codes(case), **BESIDE}, "y").value_counts("v")
            assert opened.value_counts("v").rows.tolist() == counts.rows.tolist()
    if engine is None:  # in memory everything is read that has a hash
        assert bool(named) == any(word in case for word in NESTED)
    assert "panicked" not in capfd.readouterr().err  # as a polars that meets what it did not expect


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_a_report(library):
    make, odd = {
        "pandas": (pd.DataFrame, PANDAS),
        "polars": (pl.DataFrame, POLARS),
        "arrow": (pa.table, ARROW),
    }[library]
    made = offsample.report(make({**odd, **BESIDE}), "y", fast=True)
    read = {column.name for column in made.columns.columns}
    for name in odd:
        is_left_out = any(f"column {name!r}" in sentence for sentence in made.method.skipped)
        assert is_left_out == (name not in read) == any(word in name for word in NESTED), name
    assert "good" in read
    assert made.to_html()


@each_engine
@pytest.mark.parametrize(("make", "column"), ODD)
def test_a_target(request, make, column, engine, capfd):
    """Each class with all its rows, or one sentence about the target."""
    case, table = request.node.callspec.id, make({"v": column, "k": codes(request.node.callspec.id)})
    try:
        opened = open_table(table, "v", engine=engine)
    except ColumnError:
        assert engine is not None or any(word in case for word in NESTED)
        with pytest.raises(ColumnError, match="target 'v'"):
            rank_features(table, "v", engine=engine)
    else:
        sizes = np.bincount(codes(case)).tolist()
        n_missing = [opened.n_dropped] if opened.n_dropped else []
        assert sorted([*opened.class_totals.tolist(), *n_missing]) == sorted(sizes)
        assert len(set(opened.classes)) == len(opened.classes)
        assert rank_features(table, "v", engine=engine)["k"].error == 0
    assert "panicked" not in capfd.readouterr().err
