"""Rows in groups: what is left of the optimism, how often intervals hold, and what is called different."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from offsample.assessment import audit_search, compare, paired_test

N_COLUMNS = 8
TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 3, None], "max_features": [0.4, 1.0], "random_state": [0, 1]}


def draw(n_groups: int, signal: float, heavy: bool, rng: np.random.Generator):
    """Groups with one class each, half of each class; columns that differ between groups more than within."""
    sizes = 3 + (6 * rng.pareto(2.0, n_groups)).astype(int) if heavy else np.full(n_groups, 10)
    groups = np.repeat(np.arange(n_groups), np.minimum(sizes, 60))
    label = rng.permutation(np.arange(n_groups) % 2)
    means = rng.normal(size=(n_groups, N_COLUMNS))
    means[:, 0] += signal * label
    return means[groups] + 0.4 * rng.normal(size=(len(groups), N_COLUMNS)), label[groups], groups


def audited(n_groups, signal, heavy, n_samples):
    """Errors of the naive and the corrected accuracy, and whether the interval held the truth."""
    rng = np.random.default_rng(n_groups + int(10 * signal))
    fresh = draw(600, signal, heavy, rng)[:2]
    for _ in range(n_samples):
        X, y, groups = draw(n_groups, signal, heavy, rng)
        search = GridSearchCV(TREE, GRID, cv=[(np.arange(len(y)), np.arange(len(y)))]).fit(X, y)
        search.cv = 5  # which means folds of groups, now that there are groups
        audit = audit_search(search, X, y, groups=groups)
        truth = clone(TREE).set_params(**audit.label).fit(X, y).score(*fresh)
        yield audit.naive - truth, audit.corrected - truth, audit.low <= truth <= audit.high


@pytest.mark.slow
@pytest.mark.parametrize("signal", [0.0, 1.5])
def test_audits_of_rows_in_groups(signal):
    """Sixty searches, half in equal groups: a standard error of the mean is .012, of the coverage .03."""
    with config_context(assume_finite=True, skip_parameter_validation=True):  # 12,000 trees
        found = [*audited(30, signal, False, 30), *audited(60, signal, True, 30)]
        naive, corrected, covered = np.mean(found, axis=0)
    assert naive > (0.07 if signal == 0 else 0.005)
    assert corrected <= 0.01 + 0.015
    assert covered >= 0.90  # 93 %, less a standard error


@pytest.mark.slow
def test_deep_trees_on_noise_in_groups_are_compared_to_be_no_better_than_a_guess():
    rng = np.random.default_rng(3)
    models = {
        "tree": DecisionTreeClassifier(random_state=0),
        "guess": DummyClassifier(strategy="stratified", random_state=0),
    }
    by_rows, by_groups = [], []
    for _ in range(20):
        X, y, groups = draw(40, 0.0, False, rng)
        order = rng.permutation(len(y))
        X, y, groups = X[order], y[order], groups[order]
        for scores, options in ((by_rows, {}), (by_groups, {"groups": groups})):
            found = compare(models, X, y, cv=5, **options)
            scores.append(found.scores[found.models.index("tree")])
    assert np.mean(by_rows) > 0.75
    assert np.mean(by_groups) == pytest.approx(0.5, abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("method", ["t", "mcnemar", "sign", "permutation"])
def test_models_that_are_alike_are_rarely_called_different(method, heavy):
    """Hits on rows of a group go together, in each model by itself; 2,000 samples of 40 groups."""
    rng = np.random.default_rng(4)
    called, by_rows = 0, 0
    for _ in range(2000):
        sizes = np.minimum(3 + 6 * rng.pareto(2.0, 40), 60).astype(int) if heavy else np.full(40, 10)
        groups = np.repeat(np.arange(40), sizes)
        chance = rng.beta(0.7, 0.3, (2, 40))[:, groups]
        first, second = (rng.random(chance.shape) < chance).astype(float)
        called += paired_test(first, second, method=method, groups=groups, n_draws=399).p_value <= 0.05
        if method != "permutation":
            by_rows += paired_test(first, second, method=method).p_value <= 0.05
    assert called / 2000 <= 0.06
    assert method == "permutation" or by_rows / 2000 > 0.2
