"""Slices of `python -m tests.statistical.number_intervals` and of `…prediction_intervals`."""

import numpy as np
import pytest
from statistical import number_intervals, prediction_intervals


@pytest.mark.parametrize("law", ["normal", "Poisson"])
def test_errors_lie_in_their_intervals(law):
    """At 95 %, two of six tables are missed in 3 % of such tests."""
    found = [number_intervals.held(law, 100, seed, signal=seed % 2 == 0)[0] for seed in range(1000, 1006)]
    assert sum(found) >= 5


def test_errors_on_new_groups_lie_in_their_intervals():
    """At 92 %, five of twenty panels are missed in 2 % of such tests."""
    found = [
        number_intervals.held("normal", 100, seed, signal=seed % 2 == 0, groups=10)[0]
        for seed in range(1000, 1020)
    ]
    assert sum(found) >= 16


@pytest.mark.parametrize("law", prediction_intervals.LAWS)
def test_numbers_lie_in_their_intervals(law):
    """Two trees of 300 rows hold 95 % of new rows, give or take what 300 rows leave open."""
    shares = np.array([prediction_intervals.held(law, 300, seed) for seed in range(1000, 1002)])
    assert 0.935 <= shares[:, 0].mean() <= 0.99
    assert shares[:, 1].mean() > 0.85
