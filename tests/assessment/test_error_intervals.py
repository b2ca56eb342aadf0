"""Intervals against scipy and loops written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from offsample.assessment import clopper_pearson_interval, error_interval_of, wilson_interval


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_proportions_equal_scipy(counts, confidence):
    n_errors, n_test = counts
    found = stats.binomtest(n_errors, n_test)
    for method, name in ((clopper_pearson_interval, "exact"), (wilson_interval, "wilson")):
        expected = found.proportion_ci(confidence, name)
        assert method(n_errors, n_test, confidence) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_hold_out_rows_and_counts_agree():
    losses = [0, 1, 0, 0, 1, 0, 0, 0]
    by_rows = error_interval_of(losses, method="wilson")
    by_count = error_interval_of(2, n_test=8, method="wilson")
    assert by_rows == by_count
    assert error_interval_of(2, n_test=8).method == "clopper_pearson"
    assert by_count.to_dict()["n"] == 8


def test_corrected_t():
    folds = np.array([0.1, 0.14, 0.08, 0.12])
    found = error_interval_of(folds, confidence=0.9)
    radius = stats.t.ppf(0.95, 3) * folds.std(ddof=1) * np.sqrt(1 / 4 + 1 / 3)
    assert (found.low, found.high) == pytest.approx((0.11 - radius, 0.11 + radius))
    wider = error_interval_of(folds, test_share=1.0)
    assert wider.high - wider.low > found.high - found.low


def test_nested_cv_equals_the_algorithm_written_out():
    """Algorithm 1 of Bates, Hastie & Tibshirani, one repetition, without sharing fits between folds."""
    X, y = make_classification(60, 4, flip_y=0.3, random_state=1)
    n_folds, rng = 4, np.random.default_rng(5)
    folds = rng.permutation(60) % n_folds

    def loss(train, test):
        return (GaussianNB().fit(X[train], y[train]).predict(X[test]) != y[test]).astype(float)

    a, b, inner_means, outer = [], [], [], []
    for k in range(n_folds):
        inner = np.concatenate(
            [loss((folds != k) & (folds != j), folds == j) for j in range(n_folds) if j != k]
        )
        out = loss(folds != k, folds == k)
        a.append((inner.mean() - out.mean()) ** 2)
        b.append(out.var(ddof=1) / len(out))
        inner_means.append(inner.mean())
        outer.append(out)
    outer = np.concatenate(outer)
    naive = outer.std(ddof=1) / np.sqrt(60)
    spread = np.sqrt(max(0, np.mean(a) - np.mean(b)) * (n_folds - 1) / n_folds)
    spread = np.clip(spread, naive, np.sqrt(n_folds) * naive)
    nested = np.mean(inner_means)
    error = nested - (1 + (n_folds - 2) / n_folds) * (nested - outer.mean())
    found = error_interval_of(GaussianNB(), X, y, n_folds=n_folds, n_repeats=1, random_state=5)
    assert found.method == "nested_cv"
    assert found.error == pytest.approx(error)
    assert (found.low, found.high) == pytest.approx((error - 1.959964 * spread, error + 1.959964 * spread))


@pytest.mark.parametrize("method", ["corrected_t", "nested_cv", "conservative_z"])
def test_estimators(method):
    X, y = make_classification(120, 4, flip_y=0.2, random_state=0)
    found = error_interval_of(LogisticRegression(), X, y, method=method, n_folds=5, n_repeats=3)
    assert 0 <= found.low < found.error < found.high <= 1
    assert found == error_interval_of(LogisticRegression(), X, y, method=method, n_folds=5, n_repeats=3)
    X, y = make_regression(80, 3, noise=20, random_state=0)
    squared = error_interval_of(LinearRegression(), X, y, method=method, n_folds=5, n_repeats=3)
    assert squared.low < 400 < squared.high


@pytest.mark.parametrize(
    ("errors", "options", "message"),
    [
        pytest.param(
            3, {}, "expected the finite errors of two or more folds", id="one number without its rows"
        ),
        pytest.param(3, {"method": "wilson"}, "n_test is missing", id="wilson without the number of rows"),
        pytest.param(
            9, {"n_test": 8}, "expected from 0 to n_test errors, got 9 of 8", id="more errors than rows"
        ),
        pytest.param(
            [0.5, 1],
            {"method": "wilson"},
            "losses of hold-out rows must be 0 or 1",
            id="losses that are not 0 or 1",
        ),
        pytest.param(
            [0.5, 1],
            {"method": "nested_cv"},
            "refits models: give an estimator with X and y",
            id="nested without an estimator",
        ),
        pytest.param(
            3,
            {"n_test": 8, "method": "corrected_t"},
            "is for cross-validation",
            id="method of folds for a hold-out set",
        ),
        pytest.param(3, {"n_test": 8, "method": "magic"}, "method must be one of", id="unknown method"),
        pytest.param(3, {"n_test": 8, "confidence": 0}, "confidence must lie strictly", id="confidence 0"),
        pytest.param(GaussianNB(), {}, "an estimator needs X and y", id="estimator without rows"),
        pytest.param(
            GaussianNB(),
            {"X": [[1], [2]], "y": [0, 1], "method": "wilson"},
            "is for a hold-out set",
            id="method of a hold-out set for an estimator",
        ),
        pytest.param(
            GaussianNB(),
            {"X": [[1], [2]], "y": [0, 1], "n_folds": 2},
            "n_folds must be at least 3, got 2",
            id="two folds",
        ),
    ],
)
def test_errors_that_a_method_cannot_use_are_refused_with_the_reason(errors, options, message):
    with pytest.raises(ValueError, match=message):
        error_interval_of(errors, **options)
