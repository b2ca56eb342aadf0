"""Intervals against scipy and formulas written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB

from offsample.assessment import (
    clopper_pearson_interval,
    compare,
    nested_cross_validate,
    wilson_interval,
)
from offsample.assessment._intervals import corrected_t_interval, score_interval


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


def test_accuracies_have_the_interval_of_their_rows_and_other_scores_that_of_the_splits():
    scores, rows = np.array([0.7, 0.8, 0.75, 0.75]), np.arange(80)
    splits = [(np.setdiff1d(rows, test), test) for test in np.split(rows, 4)]
    n = 80 / (1 + 80 / 60)
    assert score_interval(scores, splits, 0.9, of_rows=True) == wilson_interval(0.75 * n, n, 0.9)
    assert score_interval(scores, splits, 0.9, of_rows=False) == corrected_t_interval(scores, 0.9, 1 / 3)
    again = score_interval(
        np.tile(scores, 3), splits * 3, 0.9, of_rows=True
    )  # the same rows tell nothing new
    assert again == score_interval(scores, splits, 0.9, of_rows=True)


@pytest.mark.parametrize(
    ("scoring", "of_rows"), [(None, True), ("accuracy", True), ("roc_auc", False), ("neg_log_loss", False)]
)
def test_what_is_an_accuracy(scoring, of_rows):
    X, y = make_classification(60, 4, flip_y=0.2, random_state=0)
    model = GaussianNB()
    found = compare({"a": model, "b": GaussianNB(var_smoothing=0.1)}, X, y, cv=3, scoring=scoring)
    folds = cross_val_score(model, X, y, cv=3, scoring=scoring)
    splits = [(np.arange(40), test) for test in np.split(np.arange(60), 3)]
    expected = score_interval(folds, splits, 0.95, of_rows=of_rows)
    shown = expected  # losses as people read them, and cut where scores end
    if not of_rows:
        shown = (expected[0], 1.0) if scoring == "roc_auc" else (-expected[1], -expected[0])
    assert found.intervals[found.models.index("a")] == pytest.approx(shown)
    nested = nested_cross_validate(model, X, y, cv=3, scoring=scoring)
    assert (nested.low, nested.high) == pytest.approx(shown)
    search = GridSearchCV(model, {"var_smoothing": [1e-9]}, scoring=scoring, cv=3)  # its own score is that
    found = compare({"a": search, "b": model}, X, y, cv=3)
    width = np.diff(found.intervals[found.models.index("a")])[0]
    assert width == pytest.approx(expected[1] - expected[0], rel=0.01)
