"""Columns ranked by one class of several: as if the target only said whether a row is of that class."""

import numpy as np
import pandas as pd
import pytest

from offsample import rank_features
from offsample._screened import evident_columns
from offsample.tables import EncodedTable

_COSTS = {"fn": 6, "fp": 1}


@pytest.fixture(scope="module")
def wards():
    """400 rows: "apart" tells mild from well and nothing of the sick, "fever" the sick."""
    random = np.random.default_rng(0)
    y = random.choice(["mild", "sick", "well"], 400, p=[0.4, 0.15, 0.45])
    mild = np.where(y == "sick", random.random(400) < 0.5, y == "mild")
    return {
        "apart": np.where(mild, "a", "b"),
        "blood": random.normal(size=400) + 3.0 * mild,
        "fever": random.normal(size=400) + 1.5 * (y == "sick"),
        "noise": random.normal(size=400),
        "ward": random.integers(0, 60, 400).astype(str),
    }, y


@pytest.mark.parametrize("units", [{}, {"group": np.arange(400) // 4}, {"time": np.arange(400) // 3}])
@pytest.mark.parametrize("asked", [{"criterion": "auc_lpo"}, {"costs": _COSTS}])
def test_evidence_is_of_the_class_asked_about(wards, asked, units):
    table, y = wards
    asked = {**asked, **units, "positive": "sick"}
    named = rank_features(table, y, **asked)
    of_two = rank_features(table, np.where(y == "sick", "sick", "other"), **asked)
    of_two_by_name = {feature.name: feature for feature in of_two}
    for feature in named:
        alone = of_two_by_name[feature.name]
        for told in ("p_value", "significant", "score", "score_low", "score_high", "gain", "gain_low"):
            assert getattr(feature, told) == pytest.approx(getattr(alone, told), rel=1e-9, abs=1e-12), told
    assert [f.name for f in named] == [f.name for f in of_two]
    assert {f.name for f in named if f.significant} <= {"fever"}
    assert {"apart", "blood"} <= {f.name for f in rank_features(table, y, **units) if f.significant}


def test_engines_and_screening_agree(wards):
    table, y = wards
    asked = {"criterion": "auc_lpo", "positive": "sick"}
    here = rank_features({**table, "y": y}, "y", **asked)
    there = rank_features(pd.DataFrame({**table, "y": y}), "y", engine="duckdb", **asked)
    assert [f.name for f in here] == [f.name for f in there]
    p_values = [[f.p_value for f in ranking] for ranking in (here, there)]
    np.testing.assert_allclose(*p_values, rtol=1e-9)
    assert evident_columns(EncodedTable.of(table), y, **asked) == ["fever"]
    assert len(evident_columns(EncodedTable.of(table), y)) == 3
    matrix = 1.0 - np.eye(3)  # costs of all classes are about all of them
    assert rank_features(table, y, costs=matrix, positive="sick")["apart"].significant
