"""Learners for new users with new items: what is tested shares neither with what was learned from."""

import numpy as np
import pandas as pd
import pytest

from offsample import DecisionListClassifier, StochasticTreeClassifier, TreeClassifier, TreeRegressor
from offsample._folds import shuffled
from offsample.expected_error import size_forecast
from offsample.margin import sufficient_columns
from tests.statistical.crossed_learners import draw


def _pairs(n_rows=600, seed=0):
    random = np.random.default_rng(seed)
    return random, np.column_stack([random.integers(0, 30, n_rows), random.integers(0, 20, n_rows)])


@pytest.mark.parametrize(
    "learner",
    [
        TreeClassifier(),
        DecisionListClassifier(literals=1, max_size=4),
        StochasticTreeClassifier(max_splits=3),
        TreeRegressor(),
    ],
    ids=["tree", "list", "oblique", "numbers"],
)
def test_noise_of_users_and_items_is_not_split(learner):
    """Rows of one user are alike in columns and classes: by rows that is clear evidence."""
    of_numbers = isinstance(learner, TreeRegressor)
    known = draw(np.random.default_rng(1), "users", 25 if of_numbers else 40, 15, of_numbers)
    X = known.X if of_numbers else {name: known.X[name] for name in known.X if name not in ("town", "maker")}
    assert learner.fit(X, known.y).path_.n_splits > 0
    model = learner.fit(X, known.y, groups=known.pairs)
    assert model.path_.n_splits == 0
    assert len(set(model.predict(X).tolist())) == 1
    low, high = model.estimated_error_interval_
    assert low <= model.estimated_error_ <= high


def test_the_error_is_that_of_models_of_other_users_and_items():
    random, pairs = _pairs()
    x = random.normal(size=(600, 3))
    y = (x[:, 1] > 0) ^ (random.random(600) < 0.1)
    tree = TreeClassifier().fit(x, y, groups=pairs)
    assert (tree.n_splits_, tree.tree_.feature[0]) == (1, 1)
    wrong = []
    for train, test in shuffled(y, 5, 0, groups=tuple(pairs.T)):
        assert not any(set(pairs[train, j]) & set(pairs[test, j]) for j in range(2))
        wrong += (TreeClassifier(max_splits=1).fit(x[train], y[train]).predict(x[test]) != y[test]).tolist()
    assert tree.estimated_error_ == pytest.approx(np.mean(wrong))
    assert tree.estimated_error_interval_[0] < 0.1 < tree.estimated_error_interval_[1]
    for same in (pd.DataFrame(pairs + 100).astype(str), tuple(pairs.T)):
        again = TreeClassifier().fit(x, y, groups=same)
        assert again.estimated_error_interval_ == tree.estimated_error_interval_
    with pytest.raises(ValueError, match="sample_weight does not go with groups that cross"):
        tree.fit(x, y, np.ones(600, int), groups=pairs)
    assert len(tree.grow(x, y, groups=pairs).stage_sizes_) > 1


def test_groups_within_each_other_are_the_coarsest():
    random, _ = _pairs()
    town = np.repeat(np.arange(20), 30)
    person, x = town * 10 + np.tile(np.arange(30) // 3, 20), random.normal(size=(600, 2))
    y = random.random(600) < 0.5
    both, alone = (TreeClassifier().fit(x, y, groups=of) for of in (np.column_stack([person, town]), town))
    assert both.estimated_error_interval_ == alone.estimated_error_interval_


def test_sizes_and_columns_for_new_users_with_new_items():
    known = draw(np.random.default_rng(3), "user", 60, 40, of_numbers=False)
    found = size_forecast(known.X, known.y, sizes=[0, 1, 4], groups=known.pairs)
    assert found.best.n_splits == 1
    assert found.best.low < found.best.error < found.best.high < 0.5
    few = sufficient_columns(known.X, known.y, group=known.pairs)
    assert few.chosen == ["u0"]
    noise = draw(np.random.default_rng(3), "both", 60, 40, of_numbers=False)
    assert size_forecast(noise.X, noise.y, sizes=[0, 1, 4], groups=noise.pairs).best.n_splits == 0
    assert sufficient_columns(noise.X, noise.y, group=noise.pairs).chosen == []
