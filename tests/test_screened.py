"""Columns that are screened all at once are those that a ranking finds, one by one."""

import numpy as np
import pytest

from offsample import rank_features
from offsample._screened import _p_values, evident_columns
from offsample.tables import EncodedTable


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_classes", "decimals", "effect"),
    [
        (120, 60, 2, 6, 0.4),
        (65, 80, 2, 2, 0.0),
        (20, 50, 3, 2, 0.8),
        (9, 40, 2, 1, 0.0),
        (1024, 10, 5, 3, 0.1),
        (120, 20, 2, 0, 0.4),
    ],
)
def test_screening_finds_what_the_ranking_finds(n_rows, n_columns, n_classes, decimals, effect):
    random = np.random.default_rng(n_rows)
    y = random.integers(0, n_classes, n_rows)
    X = random.normal(size=(n_rows, n_columns))
    X[:, : n_columns // 2] += effect * y[:, None]
    X = X.round(decimals)
    X[0, 0] = np.nan
    table = {f"x{i}": x for i, x in enumerate(X.T)} | {"text": random.choice(list("abc"), n_rows)}
    ranking = rank_features(table, y)
    known = {feature.name: feature.p_value for feature in ranking}
    screened = _p_values(X[:, 1:].T, y)
    batched = np.isfinite(screened)
    one_by_one = np.array([known[f"x{i}"] for i in range(1, n_columns)])
    np.testing.assert_allclose(screened[batched], one_by_one[batched], rtol=1e-10)
    assert batched.any() == (decimals > 0)  # of few different numbers each is a value
    expected = [feature.name for feature in ranking if feature.significant] or [ranking.features[0].name]
    assert set(evident_columns(EncodedTable.of(table), y)) == set(expected)


def test_groups_are_left_to_the_ranking():
    random = np.random.default_rng(0)
    group = np.arange(60) // 3
    y = (group + random.integers(0, 8, 60) > 14).astype(int)
    table = {f"x{i}": random.normal(size=60) + (i == 3) * y * 2 for i in range(8)}
    expected = {feature.name for feature in rank_features(table, y, group=group) if feature.significant}
    assert set(evident_columns(EncodedTable.of(table), y, group=group)) == expected == {"x3"}


def test_equal_counts_are_judged_once_and_alike():
    random = np.random.default_rng(1)
    y, x = random.integers(0, 2, 100), random.normal(size=100)
    ranking = rank_features(
        {"x": x, "copy": np.exp(x), "other": random.normal(size=100)}, y, criterion="auc_lpo"
    )
    alone = rank_features({"copy": x}, y, criterion="auc_lpo")["copy"]
    for name in ("error", "low", "high", "score", "score_low", "score_high", "gain_low", "bits", "p_value"):
        assert getattr(ranking["copy"], name) == getattr(ranking["x"], name) == getattr(alone, name)
