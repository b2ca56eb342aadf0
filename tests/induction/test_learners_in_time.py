"""Learners for later rows: they stop where later rows show nothing, and their error is that of the future."""

import numpy as np
import pytest

from offsample import DecisionListClassifier, TreeClassifier, TreeRegressor
from offsample._folds import forward
from offsample.expected_error import size_forecast
from offsample.induction.by_time import fit_later
from tests.statistical.noise_in_time import draw


@pytest.mark.parametrize(
    "learner",
    [TreeClassifier(stopping="significance"), DecisionListClassifier(literals=1)],
    ids=["tree", "list"],
)
@pytest.mark.parametrize("with_groups", [False, True])
def test_noise_in_time_is_not_split(learner, with_groups):
    """Of 100 tables of each kind at most two are split: of these, none. Rows as such are clear evidence."""
    for seed in range(2):
        X, y, _, day = draw("days drift", 300, np.random.default_rng(seed))
        group = np.random.default_rng(seed).integers(0, 30, len(y))
        assert learner.fit(X, y).path_.n_splits > 0
        model = fit_later(learner, X, y, group if with_groups else None, day)
        assert (model.path_.n_splits, len(set(model.predict(X)))) == (0, 1)
        guesses = []
        for train, test in forward(day, 5):  # the most frequent class of the days before
            names, counts = np.unique(y[train], return_counts=True)
            guesses += (y[test] != names[counts.argmax()]).tolist()
        if not with_groups:
            assert model.estimated_error_ == pytest.approx(np.mean(guesses))
        assert model.estimated_error_ == model.path_[0].estimated_error
        low, high = model.estimated_error_interval_
        assert low <= model.estimated_error_ <= high
    assert model.get_params() == learner.get_params()


def test_what_later_rows_show_is_kept_with_its_error_there():
    random = np.random.default_rng(0)
    x, when = random.normal(size=(600, 3)), np.arange(600)
    y = (x[:, 1] > 0) ^ (random.random(600) < 0.1)
    tree = fit_later(TreeClassifier(), x, y, None, when)
    assert (tree.n_splits_, tree.tree_.feature[0]) == (1, 1)
    wrong = []
    for train, test in forward(when, 5):
        wrong += (TreeClassifier(max_splits=1).fit(x[train], y[train]).predict(x[test]) != y[test]).tolist()
    assert tree.estimated_error_ == pytest.approx(np.mean(wrong))
    assert tree.estimated_error_interval_[0] < 0.1 < tree.estimated_error_interval_[1]
    turned = y ^ (when > 300)  # it says the contrary of what it said
    assert fit_later(TreeClassifier(), x, turned, None, when).n_splits_ == 0


def test_numbers_in_time_are_all_of_a_tree_or_the_mean():
    random = np.random.default_rng(1)
    x, when = random.normal(size=(150, 2)), np.arange(150)
    tree = fit_later(TreeRegressor(), x, 5 * (x[:, 0] > 0) + random.normal(size=150), None, when)
    assert tree.n_splits_ > 0
    assert tree.estimated_error_ < 2 < tree.path_[0].estimated_error
    level = random.normal(size=30).repeat(5)  # of five rows at a time, as a column has another
    other = np.column_stack([random.normal(size=30).repeat(5), x[:, 0]])
    drifting = fit_later(TreeRegressor(), other, level + when / 50, None, when // 5)
    assert (drifting.n_splits_, drifting.max_splits) == (0, None)
    assert drifting.estimated_error_ == drifting.path_[0].estimated_error


def test_forecasts_guess_for_new_groups_as_trees_do():
    """A coin for each of 40 groups: the larger class of these is not that of new ones."""
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 5)
    y = np.r_[np.zeros(18), np.ones(22)][group]
    X = {"x": random.normal(size=40)[group], "own": random.normal(size=200)}
    found = size_forecast(X, y, groups=group)
    tree = TreeClassifier().fit(X, y, groups=group)
    assert found.best == found.sizes[0]
    assert found.best.error == pytest.approx(tree.estimated_error_)
    assert (found.best.low, found.best.high) == pytest.approx(tree.estimated_error_interval_)
    assert found.best.low < 0.45 < 0.5 < found.best.high
    X, y, _, day = draw("days drift", 300, np.random.default_rng(0))
    assert size_forecast(X, y, time=day).best.n_splits == 0
