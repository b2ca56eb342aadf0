from math import exp, log, sqrt

import numpy as np
import pytest

from offsample.bounds import (
    agnostic_sample_size,
    holdout_selection_bound,
    no_free_lunch_floor,
    occam_sample_size,
    pac_sample_size,
    vc_deviation,
)


@pytest.mark.parametrize("log_size", [0.0, 5.0, 1e6])
@pytest.mark.parametrize("error", [0.01, 0.2])
def test_pac_size_bounds_the_joint_event(log_size, error):
    m = pac_sample_size(log_size, error, 0.9)
    assert m == int(np.ceil((log_size + log(1 / (1 - 0.9))) / error))
    assert log_size + m * np.log1p(-error) <= log(0.1) + 1e-9
    sharp = pac_sample_size(log_size, error, 0.9, sharp=True)
    assert sharp <= m
    assert log_size + (sharp - 1) * np.log1p(-error) > log(0.1)


def test_pac_guarantee_by_simulation():
    rng = np.random.default_rng(0)
    n_hypotheses, error = 50, 0.2
    m = pac_sample_size(log(n_hypotheses), error, 0.8, sharp=True)
    wrong = rng.binomial(
        m, error, (20_000, n_hypotheses)
    )  # the worst case: all just at the limit, independent
    assert (wrong == 0).any(axis=1).mean() <= 0.2


def test_agnostic_size_by_simulation():
    rng = np.random.default_rng(0)
    m = agnostic_sample_size(log(20), 0.1, 0.9)
    assert m == int(np.ceil((log(20) + log(2 / 0.1)) / 0.02))
    seen = rng.binomial(m, 0.5, (20_000, 20)) / m
    assert (np.abs(seen - 0.5) > 0.1).any(axis=1).mean() <= 0.1


def test_vapnik():
    assert vc_deviation(5, 1000, 0.95) == pytest.approx(2 * sqrt((5 * (log(400) + 1) + log(9 / 0.05)) / 1000))
    assert vc_deviation(3000, 1000) == np.inf
    assert vc_deviation(10, 100) > 1  # vacuous, and returned


def test_occam_sizes():
    delta = 0.05
    assert occam_sample_size(100, 0.1) == int(np.ceil(log(200 / delta) / 0.1))
    assert occam_sample_size(100, 0.1, growth="doubling", n_strata=7) == int(np.ceil(log(1400 / delta) / 0.1))
    strata = 6  # ceil(log2 40)
    assert occam_sample_size(100, 0.1, growth="doubling") == int(np.ceil(log(400 * strata / delta) / 0.1))


def test_occam_guarantee_by_simulation():
    # Disjoint strata of k = 20 hypotheses, target in stratum i with probability 2^-i; all others just
    # worse than ε.
    rng = np.random.default_rng(0)
    k, error, n_strata, runs = 20, 0.2, 8, 4000
    m = occam_sample_size(k, error, 0.8)
    chance = 0.5 ** np.arange(1, n_strata + 1)
    stratum = rng.choice(n_strata, runs, p=chance / chance.sum())
    consistent = rng.random((runs, n_strata, k)) < (1 - error) ** m
    failed = 0
    for run in range(runs):
        first = np.flatnonzero(consistent[run].any(axis=1))
        failed += len(first) > 0 and first[0] <= stratum[run]
    assert failed / runs <= 0.2


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
        pytest.param(lambda: pac_sample_size(-1, 0.1), "log_size must be", id="negative log size"),
        pytest.param(lambda: pac_sample_size(1, 0), "error must lie strictly", id="error 0"),
        pytest.param(lambda: pac_sample_size(1, 0.1, 1.0), "confidence must lie strictly", id="confidence 1"),
        pytest.param(lambda: agnostic_sample_size(1, 1.0), "error must lie strictly", id="error 1"),
        pytest.param(lambda: vc_deviation(0, 10), "dimension must be at least 1", id="dimension 0"),
        pytest.param(lambda: vc_deviation(1, 0), "n_samples must be at least 1", id="no row"),
        pytest.param(
            lambda: occam_sample_size(0, 0.1), "stratum_size must be at least 1", id="empty stratum"
        ),
        pytest.param(
            lambda: occam_sample_size(5, 0.1, growth="linear"), "growth must be", id="unknown growth"
        ),
        pytest.param(
            lambda: occam_sample_size(5, 0.1, growth="doubling", n_strata=0),
            "n_strata must be at least 1",
            id="no stratum",
        ),
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
