from math import log, sqrt

import numpy as np
import pytest

from offsample.bounds import (
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


def test_pac_guarantee_by_simulation():
    rng = np.random.default_rng(0)
    n_hypotheses, error = 50, 0.2
    m = pac_sample_size(log(n_hypotheses), error, 0.8)
    wrong = rng.binomial(
        m, error, (20_000, n_hypotheses)
    )  # the worst case: all just at the limit, independent
    assert (wrong == 0).any(axis=1).mean() <= 0.2


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: pac_sample_size(-1, 0.1), "log_size must be", id="negative log size"),
        pytest.param(lambda: pac_sample_size(1, 0), "error must lie strictly", id="error 0"),
        pytest.param(lambda: pac_sample_size(1, 0.1, 1.0), "confidence must lie strictly", id="confidence 1"),
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
    ],
)
def test_a_number_outside_its_range_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
