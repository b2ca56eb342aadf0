"""Decision lists: what their strategies take, and what they may not look at."""

from dataclasses import replace

import numpy as np
import pytest
from rule_learners import dnf_sample

from offsample.datasets import load
from offsample.indexes import INDEX_FUNCTIONS
from offsample.induction import (
    DecisionListClassifier,
)


@pytest.mark.parametrize("strategy", ["consistent", "cover"])
def test_intervals_from_folds_are_wider_than_those_of_independent_rows(strategy):
    """Their variance is 1 + k / (k - 1) times as large: that of a proportion in 9 of 19 rows."""
    X, y, _ = dnf_sample(190, noise=0.2)
    model = DecisionListClassifier(strategy=strategy).fit(X, y)
    p, n, z = model.estimated_error_, 90, 1.959964
    assert 0.1 < p < 0.5
    for end in model.estimated_error_interval_:  # the score interval: its ends are z standard errors away
        assert abs(end - p) == pytest.approx(z * np.sqrt(end * (1 - end) / n), rel=1e-5)


def test_a_list_takes_pure_rules_before_large_ones(data_dir, monkeypatch):
    """On mushroom the largest first rule is wrong for 70 rows that no later one can win back."""
    monkeypatch.setenv("OFFSAMPLE_DATA", str(data_dir))
    data = load("mushroom")
    y = np.asarray(data.y).astype(str)
    train = np.random.default_rng(0).random(len(y)) < 2 / 3
    model = DecisionListClassifier().fit(data.X[train], y[train])
    assert model.score(data.X[~train], y[~train]) == 1
    assert model.size_ <= 8


def test_lists_cover_what_they_must():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] > 0) ^ (rng.random(300) < 0.2)
    for strategy in ("greedy", "consistent", "cover"):
        model = DecisionListClassifier(strategy=strategy, min_coverage=25, stopping="none").fit(X, y)
        assert all(sum(rule.counts) >= 25 for rule in model.rules_[:-1])
    with pytest.raises(ValueError, match="at most 2 literals"):
        DecisionListClassifier(strategy="cover", literals=3).fit(X, y)
    with pytest.raises(ValueError, match="strategy must be one of"):
        DecisionListClassifier(strategy="best").fit(X, y)


@pytest.mark.parametrize("index", list(INDEX_FUNCTIONS))
@pytest.mark.parametrize("literals", [1, 2, 3])
def test_lists_are_consistent_with_samples_of_set_covers(index, literals):
    """A conjunction of negations holds for most rows, and must not close them while they are impure."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        member = rng.random((rng.integers(8, 50), rng.integers(3, 9))) < rng.uniform(0.15, 0.5)
        X = np.vstack([member[member.any(axis=1)], np.zeros(member.shape[1], bool)]).astype(int)
        y = X.any(axis=1)
        options = {"criterion": INDEX_FUNCTIONS[index], "stopping": "none"}
        model = DecisionListClassifier(literals=literals, **options).fit(X, y)
        assert (model.predict(X) == y).all()
        assert model.path_[-1].criterion == pytest.approx(0, abs=1e-12)


def test_rules_that_cannot_change_a_prediction_are_left_out():
    """Whatever the row; each that is left says something else than the rest of the list somewhere."""
    rng = np.random.default_rng(3)
    n_left_out = 0
    for _ in range(20):
        X = rng.integers(0, 4, (60, 3)).astype(float)
        y = rng.integers(0, 2, 60)
        model = DecisionListClassifier(criterion="gini", stopping="none").fit(X, y)
        steps = [measure for measure in model.path_ if measure.feature is not None]
        n_left_out += len(steps) - model.size_
        assert (model.predict(X) != y).mean() == pytest.approx(model.path_[-1].training_error)
        grid = np.stack(np.meshgrid(*[np.arange(-1, 5)] * 3), axis=-1).reshape(-1, 3)
        rules, labels = model.model_.rules, model.model_.labels
        for i in range(model.size_):
            shorter = replace(model.model_, rules=rules[:i] + rules[i + 1 :])
            assert (np.delete(labels, i)[model._cells(grid, [shorter])[0]] != model.predict(grid)).any()
        tests, vocabulary = rules, model.vocabulary_
        for some in tests[:6]:
            for others in tests[:6]:
                truth = [
                    np.all([vocabulary.truth(grid, [one])[one] for one in side], axis=0)
                    for side in (some, others)
                ]
                relation = vocabulary.relation(some, others)
                assert (relation == "excludes") == (not (truth[0] & truth[1]).any())
                assert (relation == "implies") == bool(truth[1][truth[0]].all() and truth[0].any())
    assert n_left_out > 20
