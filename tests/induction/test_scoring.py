"""Estimated errors of the majority rule."""

import numpy as np

from offsample.induction.scoring import majority_terms


def test_smooth_majority_estimate_is_nearly_unbiased():
    rng = np.random.default_rng(0)
    for q in (0.5, 0.55, 0.7, 0.95):
        for size in (5, 20, 200):
            ones = rng.binomial(size, q, 20_000)
            estimate = majority_terms(np.column_stack([ones, size - ones])).mean() / size
            right = np.where(2 * ones > size, q, np.where(2 * ones < size, 1 - q, 0.5)).mean()
            assert -0.03 < estimate - (1 - right) < 0.05 / np.sqrt(size) + 0.02
