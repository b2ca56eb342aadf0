"""The same moments of a numeric target on every engine: each against the route in memory."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from offsample import TreeRegressor, rank_features, report
from offsample._moment_sums import by_size, united
from offsample.counts import CellMoments, feature_counts
from offsample.criteria import r2_loo, squared_error_loo, variance_loo
from offsample.tables import open_table

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

ENGINES = ["polars", "duckdb", "dask", "spark", "ibis", "pandas"]
FEATURES = ["city", "number", "same", "unique", "nothing"]


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    n = 400
    city = rng.integers(0, 30, n) ** 2 // 40
    y = 1e9 + 3 * rng.normal(size=n) + city % 5
    near = city + 1e-7 * rng.normal(size=n)  # almost all squares are between cities
    return {
        "city": [None if c == 3 else f"c{c}" for c in city],
        "number": [
            float("nan") if i % 9 == 0 else float(x) for i, x in enumerate(rng.normal(size=n).round(1))
        ],
        "same": [1] * n,
        "unique": list(range(n)),
        "nothing": [None if i < n - 1 else "x" for i in range(n)],
        "far": [None if i % 50 == 0 else float(x) for i, x in enumerate(y)],
        "near": near.tolist(),
        "short": np.float32(rng.lognormal(size=n)).tolist(),
        "whole": rng.poisson(30, n).tolist(),
    }


def handed_over(engine, columns, request):
    types = {"short": pa.float32(), "nothing": pa.string()}
    arrow = pa.table({name: pa.array(v, types.get(name)) for name, v in columns.items()})
    if find_spec({"spark": "pyspark", "ibis": "ibis"}.get(engine, engine)) is None:
        pytest.skip(f"{engine} is not installed")
    if engine == "polars":
        import polars as pl

        return pl.from_arrow(arrow).lazy()
    if engine == "duckdb":
        import duckdb

        connection = duckdb.connect()
        request.addfinalizer(connection.close)
        return connection.from_arrow(arrow)
    if engine == "dask":
        import dask.dataframe as dd

        return dd.from_pandas(arrow.to_pandas(), npartitions=3)
    if engine == "ibis":
        import ibis

        return ibis.memtable(arrow)
    return (
        arrow.to_pandas() if engine == "pandas" else request.getfixturevalue("spark").createDataFrame(arrow)
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_same_moments(engine, columns, request):
    table = handed_over(engine, columns, request)
    targets = ["near"] if engine == "spark" else ["far", "near", "short", "whole"]
    for target in targets:
        with open_table(table, target, FEATURES, task="auto") as found:
            expected = open_table(columns, target, FEATURES, task="auto")
            assert found.is_numeric
            assert (found.n_rows, found.n_dropped) == (expected.n_rows, expected.n_dropped)
            unit = float(np.std([y for y in columns[target] if y is not None]))
            names = ["city"] if engine == "spark" else FEATURES
            for name in names:
                one, other = found.value_counts(name), expected.value_counts(name)
                assert (one.n_values, one.n_missing) == (other.n_values, other.n_missing), name
                near = check(one.rows, other.rows, name, unit, found.center - expected.center)
                for form in (one, other):
                    cells = CellMoments.from_table(form.rows)
                    assert variance_loo(cells) == pytest.approx(variance_loo(near), rel=1e-10)
                    assert squared_error_loo(cells) == pytest.approx(squared_error_loo(near), rel=1e-10)
            for max_bins in (8,) if engine == "spark" else (8, 1024):
                one, other = (t.binned_counts("number", max_bins) for t in (found, expected))
                assert one.edges.tolist() == other.edges.tolist()
                assert (one.n_values, one.exact) == (other.n_values, other.exact)
                check(
                    by_size(np.vstack([one.counts, one.missing])),
                    by_size(np.vstack([other.counts, other.missing])),
                    "number",
                    unit,
                    found.center - expected.center,
                )


def check(one, other, name, unit, apart=0.0):
    """Sizes and numbers of cells are equal, moments in units of the target to ten digits."""
    powers = np.array([0, 1, 2, 2, 4, 3, 4, 3, 4, 4, 3, 4, 0])
    scale = unit**powers * np.maximum(1, other[:, :1])
    assert one[:, [0, -1]].tolist() == other[:, [0, -1]].tolist(), name
    assert np.abs((one - other) / scale)[:, 2:].max() < 1e-10, name
    assert one[:, 1] + apart == pytest.approx(other[:, 1], abs=1e-10 * unit), name
    return CellMoments.from_table(other)


def test_profiles_are_those_of_the_rows(columns):
    y = np.array([np.nan if v is None else v for v in columns["far"]])
    kept = ~np.isnan(y)
    cells = feature_counts(columns, "far", ["city", "unique"])
    code = np.unique([str(c) for c in columns["city"]], return_inverse=True)[1]
    rows = CellMoments.from_codes(code[kept], y[kept])
    assert r2_loo(cells["city"]) == pytest.approx(r2_loo(rows), rel=1e-9)
    for name in ("means", "sums_of_squares", "between", "fourth_moments", "joint_moments"):
        assert getattr(cells["city"], name) == pytest.approx(
            getattr(rows.profile(), name), rel=1e-6, abs=1e-6
        )
    assert len(cells["unique"].counts) == 1
    assert cells["unique"].n_cells == kept.sum()


def test_unions_of_cells_are_cells_of_their_rows():
    rng = np.random.default_rng(1)
    code, y = rng.integers(0, 40, 500), 1e6 + rng.exponential(size=500)
    fine = CellMoments.from_codes(code, y, 40)
    matrix = np.column_stack(
        [fine.counts, fine.means, fine.sums_of_squares, fine.third_moments, fine.fourth_moments]
    )
    coarse = CellMoments.from_cells(united(matrix, np.arange(40) // 7, 6))
    direct = CellMoments.from_codes(code // 7, y)
    for name in ("counts", "means", "sums_of_squares", "third_moments", "fourth_moments"):
        assert getattr(coarse, name) == pytest.approx(getattr(direct, name), rel=1e-8, abs=1e-8)


def test_what_is_a_number_and_what_a_class():
    few, n = [0.0, 1.0, 2.0] * 20, 60
    for target, is_numeric in [
        (few, False), ([0.5, 1.5, 2.5] * 20, True), (list(range(20)) * 3, False), (list(range(30)) * 2, True),
        ([True, False] * 30, False), ([str(i) for i in range(20)] * 3, False),
    ]:  # fmt: skip
        table = open_table({"x": list(range(n)), "y": target}, "y", task="auto")
        assert table.is_numeric == is_numeric, target[:3]
    whole = pytest.importorskip("pandas").Categorical(list(range(30)) * 2)  # classes as they stand
    assert not open_table({"x": list(range(n)), "y": whole}, "y", task="auto").is_numeric
    assert open_table({"x": list(range(n)), "y": whole}, "y", task="regression").is_numeric
    assert open_table({"x": list(range(n)), "y": few}, "y", task="regression").is_numeric
    assert open_table({"x": list(range(n)), "y": [True, False] * 30}, "y", task="regression").is_numeric


@pytest.mark.parametrize("engine", [None, "duckdb", "polars"])
def test_numbers_in_text_are_numbers_where_these_are_asked_for(tmp_path, engine):
    pandas, rng = pytest.importorskip("pandas"), np.random.default_rng(0)
    y = np.round(1_000 + 900 * rng.random(60), 2)
    frame = pandas.DataFrame({"x": rng.integers(0, 5, 60).astype(str), "y": [f"${one:,.2f}" for one in y]})
    frame.to_parquet(tmp_path / "t.parquet")
    path = str(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"task='regression' \(--task regression\) takes it as a number"):
        rank_features(path, "y", engine=engine)
    known = rank_features({"x": frame["x"], "y": y}, "y")
    for asked in ({"task": "regression"}, {"types": {"y": "number"}}):
        told = rank_features(path, "y", engine=engine, **asked)
        assert told["x"].r2 == pytest.approx(known["x"].r2, rel=1e-9)
        told = report(path, "y", engine=engine, fast=True, reference=False, **asked)
        assert told.verdict.baseline_mean_absolute_error == pytest.approx(
            np.abs(y - y.mean()).mean(), rel=0.1
        )
    tree = [TreeRegressor(stopping="none", max_size=3).fit(frame[["x"]], one) for one in (frame["y"], y)]
    assert tree[0].predict(frame[["x"]]).tolist() == tree[1].predict(frame[["x"]]).tolist()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b", "c"], "'y' cannot be read as number: its text is such as 'a'"),
        (["2024-01-01", "2024-02-01", "2024-05-01"], "such as '2024-01-01'; of dates or durations, predict"),
        (["1", "b", "c"], "'y' cannot be read as number: its text is such as '1'"),
        (np.array([1, 2, 4], "m8[h]"), "predict the days since the first, or hours"),
        (np.array([1, 2, 4], "M8[D]"), "predict the days since the first, or hours"),
        ([1.0, 1.0, 1.0], "has one value only, 1"),
        ([1.0, 2.0, np.inf], "has the value inf: expected classes, or finite numbers"),
        ([np.nan] * 3, "is missing in all 3 rows"),
        ([1e80, 2.0, 3.0], "divide it by a power of ten"),
    ],
)
def test_targets_that_cannot_be_predicted(y, message):
    with pytest.raises(ValueError, match=message):
        open_table({"x": [1, 2, 3], "y": np.array(y)}, "y", task="regression")
