"""Thresholds of dates and durations are read as dates and durations, in every model that can be read."""

import numpy as np
import pytest

from offsample.induction import DecisionListClassifier, TreeClassifier

N = 800


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    when = np.datetime64("2023-01-01", "s") + random.integers(0, 1000 * 86400, N).astype("timedelta64[s]")
    took = random.integers(0, 40 * 86400, N).astype("timedelta64[s]")
    late = when > np.datetime64("2024-06-01")
    return {"when": when, "took": took}, late ^ (took > np.timedelta64(20 * 86400, "s"))


@pytest.mark.parametrize("model", [TreeClassifier(), DecisionListClassifier()], ids=repr)
def test_thresholds_are_dates_and_days(model, table):
    text = model.fit(*table).to_text()
    assert "when <= 2024-0" in text or "when > 2024-0" in text
    assert " days" in text
    assert "e+1" not in text


@pytest.mark.parametrize("model", [TreeClassifier(), DecisionListClassifier()], ids=repr)
def test_days_are_cut_at_a_day(model, table):
    """Between 5 and 8 June lies 6 June, not noon of it: the same rows, without a time that no row has."""
    when, took = table[0].values()
    days = {"when": when.astype("datetime64[D]"), "took": took.astype("timedelta64[D]")}
    text = model.fit(days, table[1]).to_text()
    assert "when" in text
    assert ":" not in text.replace(": ", " ").replace(":\n", "\n")
