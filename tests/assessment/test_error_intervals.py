"""Intervals against scipy and formulas written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from offsample.assessment import (
    clopper_pearson_interval,
    compare,
    nested_cross_validate,
    wilson_interval,
)
from offsample.assessment._intervals import corrected_t_interval, score_interval
from offsample.assessment._metrics import METRICS
from offsample.assessment._out_of_fold import metric_of_model
from offsample.assessment._units import ScoredRows


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
    accuracy = METRICS["accuracy"]
    assert score_interval(scores, splits, 0.9, accuracy) == wilson_interval(0.75 * n, n, 0.9)
    assert score_interval(scores, splits, 0.9) == corrected_t_interval(scores, 0.9, 1 / 3)
    again = score_interval(np.tile(scores, 3), splits * 3, 0.9, accuracy)  # the same rows tell nothing new
    assert again == score_interval(scores, splits, 0.9, accuracy)


@pytest.mark.parametrize(
    ("scoring", "of_rows"), [(None, True), ("accuracy", True), ("roc_auc", False), ("neg_log_loss", False)]
)
def test_what_is_an_accuracy(scoring, of_rows):
    X, y = make_classification(60, 4, flip_y=0.2, random_state=0)
    model = GaussianNB()
    found = compare({"a": model, "b": GaussianNB(var_smoothing=0.1)}, X, y, cv=3, scoring=scoring)
    folds = cross_val_score(model, X, y, cv=3, scoring=scoring)
    splits = [(np.arange(40), test) for test in np.split(np.arange(60), 3)]
    expected = score_interval(folds, splits, 0.95, METRICS["accuracy"] if of_rows else None)
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


def of_numbers(n_rows, n_each, rng):
    """Two columns that count, and noise of rows and of groups of so many rows."""
    group = np.arange(n_rows) // n_each
    X = rng.normal(size=(n_rows, 4)) + (n_each > 1) * rng.normal(size=(n_rows, 4))[group]
    noise = rng.normal(size=n_rows) + (n_each > 1) * rng.normal(size=n_rows)[group]
    return X, X[:, 0] + np.abs(X[:, 1]) + noise, group


@pytest.mark.parametrize("scoring", ["r2", "MAE", "mse", "rmse"])
def test_errors_of_a_number_have_the_interval_of_their_rows_and_of_their_groups(scoring):
    """The standard error of a mean or a ratio, by the delta method and the rows written out."""
    X, y, group = of_numbers(120, 6, np.random.default_rng(0))
    models = {"line": LinearRegression(), "mean": DummyRegressor()}
    for groups, cv in ((None, KFold(5, shuffle=True, random_state=0)), (group, GroupKFold(5))):
        wrong = y - cross_val_predict(models["line"], X, y, cv=cv, groups=groups)
        losses = np.abs(wrong) if scoring == "MAE" else wrong**2
        others = np.ones(120)
        if scoring == "r2":
            others = (y - y.mean()) ** 2
            for _, test in cv.split(X, y, groups) if groups is None else ():
                others[test] = (y[test] - y[test].mean()) ** 2 * len(test) / (len(test) - 1)
        value = losses.sum() / others.sum()
        beyond = losses - value * others
        unit = np.arange(120) if groups is None else group
        sums = np.bincount(unit, beyond)
        n, factor = len(sums), 1 + 120 / 96
        error = np.sqrt(factor * (sums @ sums) * n / (n - 1)) / others.sum() / value
        weights = [np.bincount(unit, one) for one in (losses, others)]
        freedom = max(4, min(one.sum() ** 2 / (one @ one) for one in weights) - 1)
        radius = stats.t.ppf(0.95, freedom) * (1 + 3 / (freedom + 1)) * error
        ends = value * np.exp(error**2 / 2 + np.array([-radius, radius]))
        ends = {"r2": 1 - ends[::-1], "rmse": np.sqrt(ends)}.get(scoring, ends)
        given = {"cv": cv, "scoring": scoring, "groups": groups, "confidence": 0.9}
        found = compare(models, X, y, **given)
        assert found.intervals[found.models.index("line")] == pytest.approx(tuple(ends))
        nested = nested_cross_validate(models["line"], X, y, **given)
        assert (nested.low, nested.high) == pytest.approx(tuple(ends))
        assert nested.low < nested.mean < nested.high


def test_rows_that_are_tested_again_and_tiny_folds_tell_nothing_new():
    X, y, _ = of_numbers(60, 1, np.random.default_rng(1))
    once = nested_cross_validate(LinearRegression(), X, y, cv=KFold(6, shuffle=True, random_state=0))
    again = nested_cross_validate(
        LinearRegression(), X, y, cv=RepeatedKFold(n_splits=6, n_repeats=8, random_state=0)
    )
    assert again.high - again.low == pytest.approx(once.high - once.low, rel=0.2)
    tiny = nested_cross_validate(LinearRegression(), X, y, cv=30)  # the mean R² of two rows is far too low
    assert tiny.low == tiny.mean < once.low < again.low + 0.1
    assert tiny.high == pytest.approx(once.high, abs=0.1)


def test_of_what_a_models_own_score_is():
    """By name, by the class, or by the search; not where the score is another, such as a deviance."""
    for model in (Ridge(), make_pipeline(Ridge()), GridSearchCV(Ridge(), {}), RidgeCV()):
        assert metric_of_model(None, model) is METRICS["r2"]
    search = GridSearchCV(Ridge(), {}, scoring="neg_mean_absolute_error")
    assert metric_of_model(None, search) is METRICS["mae"]
    assert metric_of_model("r2", search) is METRICS["r2"]
    for model in (PoissonRegressor(), RidgeCV(scoring="neg_mean_absolute_error")):
        assert metric_of_model(None, model) is None


def coverage(n_rows, n_each, n_samples, seed):
    """How often intervals of R², MAE and RMSE hold those of the line learned from all rows, and how wide."""
    rng, held, widths = np.random.default_rng(seed), [], []
    fresh_X, fresh_y, _ = of_numbers(24_000, n_each, rng)
    for _ in range(n_samples):
        X, y, group = of_numbers(n_rows, n_each, rng)
        splits = list(GroupKFold(5).split(X, y, group))
        predicted, scores = np.empty(n_rows), []

        def solve(rows, X=X, y=y):
            return np.linalg.lstsq(np.column_stack([np.ones(len(rows)), X[rows]]), y[rows], rcond=None)[0]

        for train, test in splits:
            line = solve(train)
            predicted[test] = line[0] + X[test] @ line[1:]
        line = solve(np.arange(n_rows))
        off = fresh_y - line[0] - fresh_X @ line[1:]
        truth = 1 - np.mean(off**2) / fresh_y.var(), np.abs(off).mean(), np.sqrt(np.mean(off**2))
        tested = ScoredRows.of_splits(splits, y, None if n_each == 1 else group)
        order = np.concatenate([test for _, test in splits])
        for name, true in zip(("r2", "mae", "rmse"), truth, strict=True):
            metric = METRICS[name]
            scores = np.concatenate(
                [metric.score(y[test], predicted[test], np.ones((1, len(test)))) for _, test in splits]
            )
            low, high = score_interval(scores, splits, 0.95, metric, tested, predicted[order])
            by_folds = corrected_t_interval(scores, 0.95, 1 / 4)
            held.append(low <= true <= high)
            widths.append((high - low, by_folds[1] - by_folds[0]))
    return np.reshape(held, (n_samples, 3)).mean(axis=0), np.reshape(widths, (n_samples, 3, 2)).mean(axis=0)


@pytest.mark.parametrize(("n_rows", "n_each"), [(60, 1), (400, 1), (240, 6)])
def test_intervals_of_rows_and_of_groups_hold_on_new_rows(n_rows, n_each):
    """Of 95 %, 150 samples: a standard error is 1.8 %. Those of folds are wider."""
    held, widths = coverage(n_rows, n_each, 150, seed=n_rows)
    assert (held >= 0.93).all()
    assert (widths[:, 0] < widths[:, 1]).all()
