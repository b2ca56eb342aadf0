"""Ranking for new groups and later rows: every engine gives the numbers of the route in memory."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from offsample import rank_features
from offsample.counts import CellCounts, feature_counts
from offsample.criteria import ginger
from offsample.tables import _lazy, _lazy_units, open_table

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

ENGINES = ["pandas", "polars_lazy", "duckdb_relation", "parquet", "dask", "spark", "ibis"]
UNITS = [
    {"group": "patient"},
    {"time": "day"},
    {"group": ["patient", "nurse"]},
    {"group": "nurse", "time": "day"},
]
# Dask takes seconds to arrange all columns in the order of time, whatever their rows, and for parts of it.
FEW = {"features": ["town", "fever", "weight"]}
NUMBERS = ("error", "low", "high", "gain_low", "p_value", "missing_mass", "training_error", "expected_gain")


@pytest.fixture(scope="session")
def visits() -> dict[str, list]:
    """Visits of patients: columns that vary and that are constant within patients, missing values, dates."""
    random = np.random.default_rng(11)
    patient = np.repeat(np.arange(50), random.integers(1, 12, 50))
    n = len(patient)
    sick = random.integers(0, 2, 50)[patient]
    weight = (70 + 10 * random.normal(size=50)[patient] + random.normal(size=n)).round(3)
    return {
        "patient": [f"p{number}" for number in patient],
        "nurse": random.integers(0, 15, n).tolist(),
        "day": [dt.date(2024, 1, 1) + dt.timedelta(days=int(d)) for d in random.integers(0, 40, n)],
        "town": [f"t{number}" for number in random.integers(0, 12, 50)[patient]],
        "fever": ["yes" if value and random.random() < 0.9 else None for value in sick],
        "weight": [None if random.random() < 0.1 else float(one) for one in weight],
        "ward": random.integers(0, 60, n).tolist(),
        "alone": [f"v{i}" for i in range(n)],
        "sick": [["yes", "no"][value] if random.random() < 0.95 else None for value in sick],
    }


@pytest.fixture(scope="module")
def in_memory(visits):
    """The ranking that all engines have to find, made once for each way to ask for it."""
    made = {}

    def rank(target, **options):
        key = target, repr(options)
        if key not in made:
            made[key] = rank_features(visits, target, **options)
        return made[key]

    return rank


@pytest.fixture(scope="session")
def handed_over(visits, tmp_path_factory):
    made = {}
    arrow = pa.table({**visits, "day": pa.array(visits["day"], pa.date32())})

    def make(name, request):
        if name not in made:
            made[name] = _make(name, arrow, tmp_path_factory, request)
        return made[name]

    return make


def _make(name, arrow, tmp_path_factory, request):
    if name == "pandas":
        return arrow.to_pandas()
    if name == "polars_lazy":
        return pytest.importorskip("polars").from_arrow(arrow).lazy()
    if name == "duckdb_relation":
        connection = pytest.importorskip("duckdb").connect()
        request.session.config.add_cleanup(connection.close)
        return connection.from_arrow(arrow)
    if name == "parquet":
        import pyarrow.parquet as pq

        path = tmp_path_factory.mktemp("groups") / "visits.parquet"
        pq.write_table(arrow, path, row_group_size=100)
        return path
    if name == "dask":
        return pytest.importorskip("dask.dataframe").from_pandas(
            arrow.to_pandas(date_as_object=False), npartitions=3
        )
    if name == "spark":
        return request.getfixturevalue("spark").createDataFrame(arrow)
    return pytest.importorskip("ibis").memtable(arrow)


def _some_columns(name, units):
    return {**units, **FEW} if name == "dask" and "time" in units else units


@pytest.mark.parametrize("units", UNITS, ids=str)
@pytest.mark.parametrize("name", ENGINES)
def test_engines_rank_alike(name, units, in_memory, handed_over, request) -> None:
    some = _some_columns(name, units)
    expected = in_memory("sick", **some)
    options = {"engine": "duckdb"} if name == "parquet" else {}
    check(rank_features(handed_over(name, request), "sick", **some, **options), expected)


def test_dask_makes_the_parts_of_a_time_that_are_asked_for(visits, handed_over, request) -> None:
    few, options = ["day", "town", "sick"], {"features": ["town", "day: weekday"], "time": "day"}
    expected = rank_features({name: visits[name] for name in few}, "sick", **options)
    check(rank_features(handed_over("dask", request)[few], "sick", **options), expected)


def test_parts_of_a_time_that_nobody_asks_for_are_not_made(
    in_memory, handed_over, request, monkeypatch
) -> None:
    monkeypatch.setattr(_lazy, "lazy_parts", lambda *_: pytest.fail("parts were made"))
    found = rank_features(handed_over("polars_lazy", request), "sick", time="day", **FEW)
    check(found, in_memory("sick", time="day", **FEW))


@pytest.mark.parametrize("name", ENGINES)
def test_engines_count_equal_rows_alike(name, visits, handed_over, request) -> None:
    features = ["town", "fever"]
    rows = [row for row in zip(*(visits[n] for n in (*features, "nurse", "sick")), strict=True) if row[-1]]
    options = {"engine": "duckdb"} if name == "parquet" else {}
    with open_table(handed_over(name, request), "sick", features, group="nurse", **options) as table:
        assert table.n_distinct(table.features) == (len(set(rows)), len({row[:-1] for row in rows}))


@pytest.mark.parametrize("units", UNITS, ids=str)
@pytest.mark.parametrize("name", ["polars_lazy", "duckdb_relation", "dask", "ibis"])
def test_rows_that_are_alike_may_be_counted_first(name, units, in_memory, handed_over, request, monkeypatch):
    monkeypatch.setattr(_lazy_units, "FEW_ROWS", 0)
    some = _some_columns(name, units)
    check(rank_features(handed_over(name, request), "sick", **some), in_memory("sick", **some))


@pytest.mark.parametrize("name", ["polars_lazy", "duckdb_relation", "ibis"])
def test_times_that_are_missing_are_refused(name, handed_over, request, monkeypatch) -> None:
    for few in (0, 10**9):
        monkeypatch.setattr(_lazy_units, "FEW_ROWS", few)
        with pytest.raises(ValueError, match="time 'weight' is missing in"):
            rank_features(handed_over(name, request), "sick", features=["town"], time="weight")


@pytest.mark.parametrize("units", [{}, *UNITS[:2]], ids=str)
@pytest.mark.parametrize("name", ENGINES)
def test_engines_rank_by_losses_alike(name, units, in_memory, handed_over, request) -> None:
    for options in ({"criterion": "auc_lpo"}, {"criterion": "log_loss_loo"}, {"costs": {"fn": 5, "fp": 1}}):
        if name == "spark" and "criterion" not in options:
            continue  # which is slow
        if name == "dask" and "time" in units and options.get("criterion") != "log_loss_loo":
            continue  # which is slower still, and the losses are made from rows that came back, as elsewhere
        expected = in_memory("sick", **FEW, **units, **options)
        found = rank_features(handed_over(name, request), "sick", **FEW, **units, **options)
        check(found, expected)
        assert found.baseline_score == pytest.approx(expected.baseline_score, abs=1e-12)
        for theirs, ours in zip(found, expected, strict=True):
            for number in ("score", "score_low", "score_high", "gain", "auc", "bits"):
                assert getattr(theirs, number) == pytest.approx(getattr(ours, number), abs=1e-12)


def check(found, expected) -> None:
    assert [f.name for f in found] == [f.name for f in expected]
    assert found.baseline_error == pytest.approx(expected.baseline_error, abs=1e-12)
    for theirs, ours in zip(found, expected, strict=True):
        for number in NUMBERS:
            assert getattr(theirs, number) == pytest.approx(getattr(ours, number), abs=1e-12), (
                ours.name,
                number,
            )
        for same in ("kind", "n_values", "n_missing", "n_cells", "significant", "interval_is_known"):
            assert getattr(theirs, same) == getattr(ours, same), (ours.name, same)


@pytest.mark.parametrize("name", ENGINES)
def test_groups_of_one_row_are_rows(name, handed_over, request) -> None:
    table = handed_over(name, request)
    grouped = feature_counts(table, "sick", ["town", "fever", "ward"], group="alone")
    for feature, cells in feature_counts(table, "sick", ["town", "fever", "ward"]).items():
        assert type(cells) is CellCounts
        assert ginger(grouped[feature]) == ginger(cells)
        assert grouped[feature].missing_mass() == cells.missing_mass()
    ranked = [rank_features(table, "sick", features=["town", "weight"], group=of) for of in (None, "alone")]
    assert ranked[0].features == ranked[1].features


@pytest.mark.parametrize("name", ["polars_lazy", "duckdb_relation", "dask"])
def test_groups_that_are_missing_are_refused(name, handed_over, request) -> None:
    with pytest.raises(ValueError, match="group 'fever' is missing in"):
        rank_features(handed_over(name, request), "sick", group="fever")
