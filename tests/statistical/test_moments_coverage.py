"""Intervals for squared errors and R² off the sample, and the size of the test for a signal."""

import numpy as np
import pytest
from statistical import moment_intervals

from offsample._squared_losses import SquaredLosses
from offsample.counts import CellMoments
from offsample.evidence import signal_evidence

pytestmark = pytest.mark.slow


def draw(rng, m, n_values, law, effect):
    share = rng.dirichlet(np.ones(n_values))
    shift = effect * rng.normal(size=n_values)
    codes = rng.choice(n_values, m, p=share)
    if law == "normal":
        mean, variance = shift, np.ones(n_values)
        y = mean[codes] + rng.normal(size=m)
    elif law == "poisson":
        mean = variance = 3 * np.exp(shift / 2)
        y = rng.poisson(mean[codes]).astype(float)
    else:
        mean, variance = np.exp(shift + 0.5), (np.e - 1) * np.exp(2 * shift + 1)
        y = np.exp(shift[codes] + rng.normal(size=m))
    return share, mean, variance, codes, y


def covered(rng, m, n_values, law, effect):
    share, mean, variance, codes, y = draw(rng, m, n_values, law, effect)
    seen, code = np.unique(codes, return_inverse=True)
    cells = CellMoments.from_codes(code, y)
    said = np.full(n_values, y.mean())
    said[seen] = cells.means
    error, blind = share @ (variance + (mean - said) ** 2), share @ (variance + (mean - y.mean()) ** 2)
    losses = SquaredLosses(cells)
    low, high = losses.error_interval()
    r2_low, r2_high = losses.r2_interval()
    return low <= error <= high, r2_low <= 1 - error / blind <= r2_high


# 93 % or more are promised; 600 samples have a standard error of one point.
@pytest.mark.parametrize("law", ["normal", "poisson"])
@pytest.mark.parametrize(("m", "n_values"), [(100, 2), (100, 10), (100, 33), (1000, 10), (1000, 333)])
def test_intervals_cover(law, m, n_values):
    rng = np.random.default_rng(0)
    rates = np.mean(
        [covered(rng, m, n_values, law, effect) for effect in (0.0, 0.5) for _ in range(300)], axis=0
    )
    assert (rates >= 0.915).all(), rates


def test_r2_covers_with_heavy_tails_where_the_squared_error_cannot():
    rng = np.random.default_rng(1)
    error, r2 = np.mean([covered(rng, 200, 10, "log-normal", 0.5) for _ in range(400)], axis=0)
    assert r2 >= 0.91
    assert error < 0.93  # as documented: no interval for it can hold at small samples


# A slice of `python -m tests.statistical.moment_intervals`: of 120 samples, one in 90 such tests misses 12.
@pytest.mark.parametrize("law", ["normal", "Poisson", "log-normal"])
def test_absolute_errors_lie_in_their_intervals(law):
    rng = np.random.default_rng(3)
    found = [moment_intervals.held(rng, 100, 33, law, effect)[2] for effect in (0.0, 0.5) for _ in range(60)]
    assert np.mean(found) >= 0.9


@pytest.mark.parametrize("law", ["normal", "poisson", "log-normal"])
def test_noise_is_evident_as_often_as_it_should_be(law):
    rng = np.random.default_rng(2)
    p_values = []
    for n_values in (2, 10, 200):
        for _ in range(400):
            _, _, _, codes, y = draw(rng, 400, n_values, law, 0.0)
            code = np.unique(codes, return_inverse=True)[1]
            p_values.append(signal_evidence(CellMoments.from_codes(code, y)).p_value)
    assert 0.03 <= np.mean(np.array(p_values) <= 0.05) <= 0.07
