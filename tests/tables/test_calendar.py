"""The parts of a time that come again are features; the time itself is none."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from offsample import rank_features, report
from offsample.tables import Units, labelled_rows
from offsample.tables._calendar import _parts, parts_of


def test_the_parts_are_those_of_the_calendar():
    """Over the 400 years after which it repeats, and some before 1970."""
    moments = np.arange(
        np.datetime64("1890-01-01T05"), np.datetime64("2410-01-01T00"), np.timedelta64(433, "m")
    )
    parts, index = _parts(moments.astype("M8[us]").astype(np.int64)), pd.DatetimeIndex(moments)
    assert (parts["month"] == index.month - 1).all()
    assert (parts["weekday"] == index.day_of_week).all()
    assert (parts["hour"] == index.hour).all()


@pytest.mark.parametrize(
    ("days", "expected"),
    [(1, set()), (5, {"hour"}), (30, {"hour", "weekday"}), (500, {"hour", "weekday", "month"})],
)
def test_a_part_is_offered_from_where_it_comes_again(days, expected):
    when = pd.Series(pd.date_range("2024-01-01", periods=200, freq=pd.Timedelta(days=days) / 199))
    assert set(parts_of(when)) == expected


def test_what_does_not_vary_is_no_part():
    assert set(parts_of([dt.date(2024, 1, 1) + dt.timedelta(weeks=i) for i in range(100)])) == {"month"}
    assert parts_of(np.arange(100)) == {}
    assert set(parts_of([f"2024-01-{i:02}" for i in range(1, 29)])) == {"weekday"}  # text that says dates
    assert parts_of(np.arange(100).astype("m8[D]")) == {}


@pytest.fixture(scope="module")
def weekends() -> pd.DataFrame:
    """A class that is that of the weekend nine times out of ten, over three years."""
    random = np.random.default_rng(0)
    when = pd.date_range("2021-01-01", periods=2000, freq="13h")
    y = np.where((when.day_of_week >= 5) ^ (random.random(2000) < 0.1), "rest", "work")
    return pd.DataFrame({"when": when, "v": random.choice(list("abc"), 2000), "y": y})


def test_ranking_by_time_has_the_parts(weekends):
    ranking = rank_features(weekends, "y", time="when")
    assert {f.name for f in ranking} == {"v", "when: month", "when: weekday", "when: hour"}
    assert ranking.features[0].name == "when: weekday"
    assert ranking["when: month"].kind == "categorical"
    by_array = rank_features(weekends[["v", "y"]], "y", time=weekends["when"])
    assert by_array["time: weekday"].error == ranking["when: weekday"].error
    as_column = weekends.assign(day=weekends["when"].dt.day_name())
    assert rank_features(as_column, "y", time="when")["day"].error == pytest.approx(
        ranking["when: weekday"].error, abs=1e-12
    )
    in_zone = weekends.assign(when=weekends["when"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    assert rank_features(in_zone, "y", time="when")["when: hour"].error == ranking["when: hour"].error


def test_a_column_of_that_name_stays_what_it_is(weekends):
    ranking = rank_features(weekends.assign(**{"when: weekday": "x"}), "y", time="when")
    assert ranking["when: weekday"].n_values == 1
    own = weekends.assign(**{"when: weekday": "x"})
    assert ranking["when: weekday_"].error == rank_features(weekends, "y", time="when")["when: weekday"].error
    on_engine = rank_features(pl.from_pandas(own).lazy(), "y", time="when")
    assert {f.name for f in on_engine} == {f.name for f in ranking}
    found = report(own, "y", time="when", fast=True)
    assert found.verdict.columns == ("when: weekday_",)
    for table in (own, weekends[["when"]]):
        assert (found.estimator.predict(table) != weekends["y"]).mean() < 0.12


def test_learners_of_the_command_line_get_the_parts(weekends):
    rows = labelled_rows({name: weekends[name] for name in weekends}, "y", units=Units.of(None, "when"))
    assert set(rows.columns) == {"v", "when: month", "when: weekday", "when: hour"}
    assert set(rows.columns["when: weekday"]) == {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}


def test_the_model_of_the_page_makes_the_parts_itself(weekends, tmp_path):
    found = report(weekends, "y", time="when", fast=True)
    assert found.verdict.columns == ("when: weekday",)
    assert found.verdict.low < 0.1 < found.verdict.high
    assert any("weekday" in sentence for sentence in found.rows.sentences)
    for model in (found.estimator, clone(found.estimator).fit(weekends, weekends["y"])):
        assert (model.predict(weekends[["when"]]) != weekends["y"]).mean() < 0.12
    missing = weekends.assign(when=pd.NaT).head(3)
    assert set(found.estimator.predict(missing)) <= {"rest", "work"}
    path = tmp_path / "weekends.csv"
    weekends.to_csv(path, index=False)
    of_file = report(path, "y", time="when", ignore=["when: hour"], fast=True)
    assert of_file.verdict.error == found.verdict.error
    assert "when: hour" not in {column.name for column in of_file.columns.columns}
