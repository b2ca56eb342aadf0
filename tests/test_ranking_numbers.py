"""Ranking columns for a numeric target."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from typer.testing import CliRunner

from offsample import FeatureRanker, rank_features
from offsample.cli import app
from offsample.counts import CellMoments, feature_counts
from offsample.criteria import r2_loo, squared_error_loo, variance_loo


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 600
    city = rng.integers(0, 12, n)
    area = rng.uniform(20, 200, n)
    price = 1e6 + 900 * area + 20_000 * (city % 3) + rng.lognormal(10, 1, n)
    return {
        "city": [f"c{c}" for c in city],
        "area": area,
        "noise": rng.normal(size=n),
        "key": [f"k{i}" for i in range(n)],
        "price": price,
    }


def test_columns_of_a_price(table):
    ranking = rank_features(table, "price")
    assert ranking.task == "regression"
    assert ranking.classes == ()
    assert [f.name for f in ranking][:2] == ["area", "city"]
    assert [f.significant for f in ranking] == [True, True, False, False]
    city, key = ranking["city"], ranking["key"]
    code = np.unique(table["city"], return_inverse=True)[1]
    cells = CellMoments.from_codes(code, table["price"])
    assert city.error == pytest.approx(squared_error_loo(cells), rel=1e-12)
    assert city.score == pytest.approx(variance_loo(cells), rel=1e-12)
    assert city.r2 == pytest.approx(r2_loo(cells), rel=1e-9)
    assert city.r2_low < city.r2 < city.r2_high
    assert city.low < city.error < city.high
    assert ranking.baseline_error - city.error == pytest.approx(city.gain)
    assert city.optimism == pytest.approx(city.error - city.training_error)
    assert city.training_r2 == pytest.approx(
        1 - cells.multiplicity @ cells.sums_of_squares / cells.total_sum_of_squares
    )
    assert key.r2 == pytest.approx(0, abs=1e-9)
    assert key.training_r2 == pytest.approx(1)
    assert (
        ranking.assumed
        == "price is taken as a number (task regression; classification takes each value as a class)"
    )
    assert rank_features(table, "price", task="regression").assumed is None
    assert "R²" in repr(ranking).splitlines()[3]
    assert repr(ranking).splitlines()[0] == ranking.assumed
    assert "R²" in ranking._repr_html_()
    assert ranking.to_frame()["r2"][0] == ranking.features[0].r2


@pytest.mark.parametrize(
    ("texts", "is_said"),
    [
        ("{}%", True),
        ("${},000", True),
        ("{}", True),
        ("word {}", False),
        ("0{}", False),
        ("2024-01-{}", False),
    ],
)
def test_numbers_as_text_are_classes_and_said_to_be(texts, is_said):
    of_rows = np.arange(210) % 21 + 10
    table = {"x": of_rows % 4, "rate": [texts.format(one) for one in of_rows]}
    line = "rate is taken as 21 classes (task classification; regression takes it as a number)"
    assert rank_features(table, "rate").assumed == (line if is_said else None)
    few = {
        name: [one for one, of in zip(column, of_rows, strict=True) if of < 30]
        for name, column in table.items()
    }
    assert rank_features(few, "rate").assumed is None


@pytest.mark.parametrize(
    "when",
    [
        np.arange(40).astype("M8[D]"),
        np.arange(40).astype("m8[D]"),
        np.arange(40).astype("M8[D]").astype(str),
        [f"{1 + i % 28:02}/{1 + i // 28:02}/2023 12:30" for i in range(40)],
    ],
)
def test_dates_are_told_what_works(when):
    with pytest.raises(ValueError, match="of dates or durations, predict the days") as refused:
        rank_features({"x": np.arange(40) % 3, "when": when}, "when")
    assert "task=" not in str(refused.value)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_of_a_file_are_durations_too(tmp_path, unit):
    """Parquet has whole numbers for them; some repeat, and are no classes all the same."""
    days = (np.arange(200) % 40).astype("m8[D]").astype(f"m8[{unit}]")
    few = pd.DataFrame({'"x': np.arange(200) % 3, "days": days, "short": days % days[3]})
    few.to_parquet(tmp_path / "t.parquet")
    for table in (few, str(tmp_path / "t.parquet")):
        for task in ("auto", "classification", "regression"):
            with pytest.raises(ValueError, match="of dates or durations, predict the days"):
                rank_features(table, "days", task=task)
        assert rank_features(table, "short").assumed is None  # of three values, classes
        assert rank_features(table, '"x')["days"].n_values == 40


def test_a_command_names_options_that_it_has(table, tmp_path):
    pd.DataFrame(table).to_parquet(tmp_path / "t.parquet")
    for asked, advice in (
        (["rules"], "offsample tree, with --task regression,"),
        (["tree", "--task"], "--task regression"),
    ):
        more = ["classification"] * (len(asked) - 1)
        told = CliRunner().invoke(app, [*asked, *more, str(tmp_path / "t.parquet"), "-t", "price"])
        assert f"expected classes; {advice} takes it as a number" in " ".join(told.output.split())


def told(feature):
    return feature.r2, feature.r2_low, feature.p_value


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_units_do_not_matter(table, factor):
    here, there = (rank_features({**table, "price": table["price"] * f}, "price") for f in (1.0, factor))
    assert [f.name for f in here] == [f.name for f in there]
    for one, other in zip(here, there, strict=True):
        assert (one.r2, one.r2_low, one.p_value) == pytest.approx(
            (other.r2, other.r2_low, other.p_value), rel=1e-6
        )


def test_criteria_and_orders(table):
    by_r2 = rank_features(table, "price", criterion="r2_loo", order="estimate")
    assert [f.score for f in by_r2] == sorted((f.score for f in by_r2), reverse=True)
    assert by_r2.features[0].score == pytest.approx(by_r2.features[0].r2)
    by_error = rank_features(table, "price", criterion="squared_error_loo", order="estimate")
    assert [f.name for f in by_error] == [f.name for f in by_r2]
    assert rank_features(table, "price", order="lower_bound").features[0].name == "area"
    with pytest.raises(ValueError, match="'bayes_loo' is for classes, and the target is a number"):
        rank_features(table, "price", criterion="bayes_loo")
    with pytest.raises(ValueError, match="'r2_loo' is for a numeric target"):
        rank_features(table, "city", criterion="r2_loo")
    with pytest.raises(ValueError, match="costs and positive are for classes"):
        rank_features(table, "price", costs={"fn": 1, "fp": 2})
    with pytest.raises(ValueError, match="task must be one of"):
        rank_features(table, "price", task="numbers")


def test_the_same_on_an_engine_with_bins(table):
    here, there = rank_features(table, "price"), rank_features(pd.DataFrame(table), "price", engine="duckdb")
    assert [f.name for f in here] == [f.name for f in there]
    for one, other in zip(here, there, strict=True):
        assert (one.r2, one.r2_low, one.p_value) == pytest.approx(
            (other.r2, other.r2_low, other.p_value), rel=1e-8
        )


def test_groups_and_time():
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(40), 10)
    effect = rng.normal(size=40)[patient]
    table = {
        "patient": patient,
        "room": patient % 39,  # says who it is, and nothing of a new patient
        "dose": rng.integers(0, 4, 400).astype(str),
        "day": np.tile(np.arange(10), 40),
    }
    table["days"] = 5 * effect + np.array(table["dose"], float) + rng.normal(size=400)
    kwargs = {"features": ["room", "dose"], "categorical_features": ["room"]}
    rows, groups = (rank_features(table, "days", group=g, **kwargs) for g in (None, "patient"))
    assert rows.features[0].name == "room"
    assert rows["room"].r2 > 0.8
    assert groups["room"].r2 < 0.1
    assert not groups["room"].significant
    assert groups.features[0].name == "dose"
    assert groups.new_rows == "rows with a new 'patient'"
    later = rank_features(table, "days", time="day", **kwargs)
    assert later["room"].r2 > 0.5
    cells = feature_counts(table, "days", ["dose"], group="patient")["dose"]
    assert squared_error_loo(cells) == pytest.approx(groups["dose"].error)


def test_noise_with_a_few_heavy_values_is_seldom_significant():
    rng = np.random.default_rng(2)
    p_values = []
    for _ in range(300):
        y = np.zeros(500)
        y[:10] = rng.lognormal(3, 1, 10)
        ranking = rank_features({"x": rng.integers(0, 40, 500).astype(str), "y": y}, "y", task="regression")
        p_values.append(ranking.features[0].p_value)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.06


def test_selector_and_command_line(table, tmp_path):
    frame = pd.DataFrame(table)
    X = frame.drop(columns="price")
    ranker = make_pipeline(FunctionTransformer(), FeatureRanker()).fit(X, frame["price"])
    assert ranker[-1].get_feature_names_out().tolist() == ["city", "area"]
    assert ranker[-1].ranking_.task == "regression"
    assert (
        FeatureRanker(task="classification").fit(X, frame["price"] > 1.1e6).ranking_.task == "classification"
    )
    frame.to_parquet(tmp_path / "prices.parquet")
    command = ["rank", str(tmp_path / "prices.parquet"), "--target", "price"]
    found = CliRunner().invoke(app, command, env={"COLUMNS": "80"})
    assert found.exit_code == 0, found.output
    lines = found.output.splitlines()
    assert lines[0].startswith(
        "price is taken as a number (--task regression; classification takes each value"
    )
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("area ") for line in lines)
    as_json = json.loads(CliRunner().invoke(app, [*command, "--json"]).output)
    assert as_json["task"] == "regression"
    assert as_json["features"][0]["r2"] > 0.3
