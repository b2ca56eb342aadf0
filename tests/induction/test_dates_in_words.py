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
