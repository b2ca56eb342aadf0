"""Good–Turing against the true mass of the unseen values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from statistical.distributions import DISTRIBUTIONS

from offsample.counts import CellCounts


@pytest.mark.parametrize("name", ["rare values", "zipf", "two values", "tiny sample"])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_unbiased_for_samples_of_one_row_less(name, k):
    distribution, m = DISTRIBUTIONS[name]
    rng = np.random.default_rng(5)
    estimates = [CellCounts(distribution.sample(m, rng)).missing_mass(k) for _ in range(4000)]
    p = distribution.values
    expected = (p * binom.pmf(k, m - 1, p)).sum()
    assert np.mean(estimates) == pytest.approx(expected, abs=4 * np.std(estimates) / np.sqrt(4000) + 1e-9)
