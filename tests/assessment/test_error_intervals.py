"""Intervals against scipy and formulas written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from offsample.assessment import clopper_pearson_interval, wilson_interval
from offsample.assessment._intervals import corrected_t_interval


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_proportions_equal_scipy(counts, confidence):
    n_errors, n_test = counts
    found = stats.binomtest(n_errors, n_test)
    for method, name in ((clopper_pearson_interval, "exact"), (wilson_interval, "wilson")):
        expected = found.proportion_ci(confidence, name)
        assert method(n_errors, n_test, confidence) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_corrected_t():
    folds = np.array([0.1, 0.14, 0.08, 0.12])
    low, high = corrected_t_interval(folds, confidence=0.9)
    radius = stats.t.ppf(0.95, 3) * folds.std(ddof=1) * np.sqrt(1 / 4 + 1 / 3)
    assert (low, high) == pytest.approx((0.11 - radius, 0.11 + radius))
    wider = corrected_t_interval(folds, confidence=0.9, test_share=1.0)
    assert wider[1] - wider[0] > high - low
