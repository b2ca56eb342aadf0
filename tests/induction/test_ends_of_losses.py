"""Intervals of losses end where losses do: at the least that a row can lose, and at the most it can cost."""

import numpy as np
import pytest

from offsample import TreeClassifier, rank_features
from offsample._proportions import lower_end, wilson


def test_lower_end_is_wilsons():
    """Of rare events Wilson's interval of n draws is nearly that of a variance in proportion to the mean."""
    share, n = 0.002, 4000.0
    radius = 1.959964 * np.sqrt(share / n)
    assert lower_end(share, radius) == pytest.approx(wilson(share, n)[0], rel=5e-3)
    assert lower_end(5 + share, radius, 5.0) == pytest.approx(5 + lower_end(share, radius), rel=1e-12)
    assert lower_end(1.0, 1e9) == pytest.approx(1e-18)
    assert lower_end(0.0, 1.0) == lower_end(0.0, 0.0) == 0.0
    assert lower_end(3.0, 0.0) == 3.0


@pytest.mark.parametrize("groups", [None, np.arange(40) // 2])
@pytest.mark.parametrize(
    ("asked", "least", "most"),
    [
        ({}, 0, np.inf),
        ({"criterion": "log_loss_loo"}, 0, np.inf),
        ({"criterion": "brier_loo"}, 0, np.inf),
        ({"costs": {"fn": 10, "fp": 1}}, 0, 10),
        ({"costs": [[2, 3], [12, 2]]}, 2, 12),
    ],
)
def test_a_tree_of_few_rows(asked, least, most, groups):
    for seed in range(4):
        random = np.random.default_rng(seed)
        X = random.normal(size=(40, 3))
        y = (random.random(40) < np.where(X[:, 0] > 0, 0.95, 0.05)).astype(int)
        tree = TreeClassifier(**asked).fit(X, y, groups=groups)
        low, high = tree.estimated_loss_interval_
        assert least <= low <= tree.estimated_loss_ <= high <= most


def test_cost_of_a_ranked_column():
    random = np.random.default_rng(0)
    y = (random.random(500) < 0.1).astype(int)
    table = {"number": random.normal(size=500) + 1.5 * y, "code": random.integers(0, 20, 500).astype(str)}
    costs = np.array([[0.5, 1.0], [1e9, 0.5]])
    for feature in rank_features(table, y, costs=costs):
        assert 0.5 <= feature.score_low <= feature.score <= feature.score_high <= 1e9
        assert -1e9 <= feature.gain_low <= feature.gain
