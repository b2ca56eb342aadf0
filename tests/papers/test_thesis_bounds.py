from math import exp, log, sqrt

import numpy as np
import pytest

from offsample.bounds import vc_deviation
from papers.expected_error._bounds import agnostic_sample_size, holdout_selection_bound, no_free_lunch_floor


def test_agnostic_size_by_simulation():
    rng = np.random.default_rng(0)
    m = agnostic_sample_size(log(20), 0.1, 0.9)
    assert m == int(np.ceil((log(20) + log(2 / 0.1)) / 0.02))
    seen = rng.binomial(m, 0.5, (20_000, 20)) / m
    assert (np.abs(seen - 0.5) > 0.1).any(axis=1).mean() <= 0.1


def test_holdout_bound_adds_a_penalty_for_the_choice():
    one = vc_deviation(3, 1000, 1 - 0.05 / 4)
    found = holdout_selection_bound([0.1, 0.05], [3, 400], 1000, 500)
    assert found == pytest.approx(0.1 + one + 2 * sqrt(log(8 / 0.05) / 1000))


@pytest.mark.parametrize(("d", "m"), [(2, 5), (3, 10)])
def test_floor_is_the_error_of_a_table_of_what_was_seen(d, m):
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(4000):
        target = rng.integers(0, 2, 2**d)
        guess = rng.integers(0, 2, 2**d)
        rows = rng.integers(0, 2**d, m)
        guess[rows] = target[rows]
        errors.append((guess != target).mean())
    assert no_free_lunch_floor(d, m) == pytest.approx(np.mean(errors), abs=0.01)
    assert no_free_lunch_floor(60, 10**6) == pytest.approx(0.5)
    assert no_free_lunch_floor(0, 1) == 0
    assert no_free_lunch_floor(1, 3000) == pytest.approx(0.5 * exp(-3000 * log(2)), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: agnostic_sample_size(1, 1.0), "error must lie strictly", id="error 1"),
        pytest.param(
            lambda: holdout_selection_bound([0.1], [1, 2], 10, 10),
            "expected as many",
            id="more sizes than errors",
        ),
        pytest.param(
            lambda: holdout_selection_bound([1.1], [1], 10, 10),
            "between 0 and 1",
            id="training error above 1",
        ),
        pytest.param(
            lambda: no_free_lunch_floor(-1, 5),
            "n_attributes must be at least 0",
            id="negative number of attributes",
        ),
    ],
)
def test_a_number_outside_its_range_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
