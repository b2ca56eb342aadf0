"""Ranking for new groups and for later rows: on every engine the same, and equal to the definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from offsample import rank_features
from offsample.counts import GroupedCounts, HeldOutCounts, feature_counts
from offsample.criteria import bayes_loo, ginger


@pytest.fixture(scope="module")
def visits() -> dict[str, list]:
    """Patients with a coin flip for a class, in towns within regions, over some days."""
    random = np.random.default_rng(3)
    patient = np.repeat(np.arange(60), random.integers(1, 30, 60))
    town = random.integers(0, 12, 60)[patient]
    sick = random.integers(0, 2, 60)[patient]
    fever = np.where(random.random(len(patient)) < 0.2, 1 - sick, sick)
    return {
        "patient": [f"p{number}" for number in patient],
        "town": [f"t{number}" for number in town],
        "region": [f"r{number // 3}" for number in town],
        "nurse": [f"n{number}" for number in random.integers(0, 15, len(patient))],
        "day": random.integers(0, 40, len(patient)).tolist(),
        "fever": ["yes" if value else None for value in fever],
        "weight": (70 + 10 * random.normal(size=60)[patient] + random.normal(size=len(patient))).tolist(),
        "sick": ["yes" if value else "no" for value in sick],
    }


UNITS = [
    {"group": "patient"},
    {"time": "day"},
    {"group": "patient", "time": "day"},
    {"group": ["patient", "nurse"]},
]


@pytest.mark.parametrize("units", UNITS, ids=str)
def test_engines_rank_alike(visits, units) -> None:
    frames = [pd.DataFrame(visits), pl.DataFrame(visits), pl.DataFrame(visits).lazy()]
    first = rank_features(visits, "sick", **units)
    for other in [
        *(rank_features(frame, "sick", **units) for frame in frames),
        rank_features(frames[1], "sick", engine="duckdb", **units),
    ]:
        assert [f.name for f in other] == [f.name for f in first]
        for mine, theirs in zip(first, other, strict=True):
            for number in ("error", "low", "high", "gain_low", "p_value", "missing_mass", "training_error"):
                assert getattr(mine, number) == pytest.approx(getattr(theirs, number), abs=1e-12)
            assert (mine.n_values, mine.n_missing) == (theirs.n_values, theirs.n_missing)


def test_errors_are_those_of_the_counts(visits) -> None:
    codes = {
        name: np.unique(np.array(column, str), return_inverse=True)[1] for name, column in visits.items()
    }
    patient = rank_features(visits, "sick", group="patient", numeric="distinct")
    for name in ("town", "fever", "nurse"):
        cells = GroupedCounts.from_rows(codes[name], codes["sick"], codes["patient"])
        assert patient[name].error == pytest.approx(ginger(cells))
    later = rank_features(visits, "sick", time="day", criterion="bayes_loo")
    cells = HeldOutCounts(codes["town"], codes["sick"], 2, time=visits["day"])
    assert later["town"].error == pytest.approx(bayes_loo(cells))
    counted = feature_counts(visits, "sick", group="patient")
    assert ginger(counted["fever"]) == pytest.approx(patient["fever"].error)


def test_what_a_patient_carries_is_no_signal_for_new_patients(visits) -> None:
    rows = rank_features(visits, "sick")
    new = rank_features(visits, "sick", group="patient")
    assert rows["patient"].error < 0.05
    assert "patient" not in [f.name for f in new]
    assert rows["town"].significant
    assert not new["town"].significant
    assert new["fever"].significant
    assert new["fever"].high - new["fever"].low > rows["fever"].high - rows["fever"].low
    assert new.new_rows == "rows with a new 'patient'"


def test_groups_within_each_other_count_as_the_coarsest(visits) -> None:
    one = rank_features(visits, "sick", group="region", features=["fever", "nurse"])
    nested = rank_features(visits, "sick", group=["town", "region"], features=["fever", "nurse"])
    assert nested.features == one.features


@pytest.mark.parametrize("more", [{}, {"time": "day"}], ids=["any time", "later"])
def test_crossed_groups_have_three_errors(visits, more) -> None:
    """New in one alone, they are the errors where only that one is given."""
    both = rank_features(visits, "sick", group=["patient", "nurse"], features=["fever", "town"], **more)
    assert both.crossed == ("patient", "nurse")
    for i, name in enumerate(both.crossed):
        one = rank_features(visits, "sick", group=name, features=["fever", "town"], **more)
        assert both.baselines_alone[i] == pytest.approx(one.baseline_error, abs=1e-12)
        for feature in both:
            assert feature.errors_alone[i] == pytest.approx(one[feature.name].error, abs=1e-12)
        assert one.crossed == one.features[0].errors_alone == ()
    shown = repr(both)
    assert "new patient  new nurse" in shown
    assert f"{both.baselines_alone[1]:.4f} with a new nurse" in shown


def test_groups_and_times_may_be_arrays(visits) -> None:
    table = {name: column for name, column in visits.items() if name not in ("patient", "day")}
    named = rank_features({**table, "patient": visits["patient"]}, "sick", group="patient")
    assert rank_features(table, "sick", group=np.array(visits["patient"])).features == named.features
    pairs = np.column_stack([visits["patient"], visits["nurse"]])
    crossed = rank_features(table, "sick", group=pairs, features=["fever"])
    assert crossed.crossed == ("group 1", "group 2")
    by_name = rank_features(visits, "sick", group=["patient", "nurse"], features=["fever"])
    assert crossed.features == by_name.features
    later = rank_features({**table, "day": visits["day"]}, "sick", time="day")
    assert rank_features(table, "sick", time=pd.Series(visits["day"])).features == later.features


def test_few_groups_are_not_enough_to_know(visits) -> None:
    ranking = rank_features(visits, "sick", group="region", features=["fever"])
    assert not ranking["fever"].interval_is_known
    assert rank_features(visits, "sick", group="patient")["fever"].interval_is_known


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"group": "patience"}, "group 'patience' is not a column of the table: did you mean 'patient'"),
        ({"time": "date"}, "time 'date' is not a column"),
        ({"group": "sick"}, "group 'sick' is the target"),
        ({"group": "patient", "features": ["patient"]}, "feature 'patient' is the group"),
        ({"group": "fever"}, "group 'fever' is missing in"),
        ({"group": ["a"] * 3}, "group has|'a' is not a column|3 values"),
    ],
    ids=str,
)
def test_units_that_cannot_be_are_refused(visits, options, said) -> None:
    with pytest.raises(ValueError, match=said):
        rank_features(visits, "sick", **options)


def test_an_engine_takes_names_only(visits) -> None:
    with pytest.raises(ValueError, match="group and time must be names of columns"):
        rank_features(pl.DataFrame(visits).lazy(), "sick", group=np.array(visits["patient"]))


def test_rows_of_a_day_vary_together_with_groups_too():
    """The class is turned round on three of ten days: forty samples, groups that cross the days."""
    held, noise = [], []
    for seed in range(40):
        random = np.random.default_rng(seed)
        day, group = np.repeat(np.arange(100), 10), random.integers(0, 30, 1000)
        a, turned, weather = random.integers(0, 2, 1000), random.random(100) < 0.3, random.integers(0, 4, 100)
        table = {
            "a": a,
            "weather": weather[day],
            "y": a ^ turned[day],
            "coin": random.integers(0, 2, 100)[day],
        }
        units = {"day": day, "g": group}
        found = rank_features(
            {"a": table["a"], "y": table["y"], **units}, "y", criterion="bayes_loo", group="g", time="day"
        )
        held.append(found["a"].low <= 0.3 <= found["a"].high)
        of_noise = {"weather": table["weather"], "y": table["coin"], **units}
        noise.append(rank_features(of_noise, "y", group="g", time="day")["weather"].p_value <= 0.05)
    # By groups alone 19 held, and a third of the noise was called a signal.
    assert np.mean(held) >= 0.9
    assert np.mean(noise) <= 0.15
