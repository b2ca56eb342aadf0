"""Intervals from cross-validation against loops written out."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from papers.tuning_optimism._error_intervals import error_interval_of


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


def test_two_folds_are_too_few():
    with pytest.raises(ValueError, match="n_folds must be at least 3, got 2"):
        error_interval_of(GaussianNB(), [[1], [2]], [0, 1], n_folds=2)
