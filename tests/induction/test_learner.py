"""One vocabulary for all learners: sizes, stages, columns and text mean the same everywhere."""

import numpy as np
import pytest
from sklearn.base import clone

from offsample.datasets import make_oblique_xor
from offsample.induction import (
    BranchingProgramClassifier,
    CommitteeClassifier,
    DecisionListClassifier,
    DNFClassifier,
    MonomialClassifier,
    StochasticTreeClassifier,
    SymmetricFunctionClassifier,
    TreeClassifier,
)

LEARNERS = [
    TreeClassifier(stopping="none", max_splits=6),
    StochasticTreeClassifier(max_splits=6),
    StochasticTreeClassifier(max_splits=6, lookahead=False),
    DecisionListClassifier(),
    DNFClassifier(),
    MonomialClassifier(),
    CommitteeClassifier(),
    SymmetricFunctionClassifier(),
    BranchingProgramClassifier(),
]


def _table(n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, np.where((X[:, 0] > 0) & (X[:, 1] > -0.5) ^ (rng.random(n_rows) < 0.1), "yes", "no")


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_last_stage_is_the_model(learner):
    X, y = _table()
    model = clone(learner).fit(X, y)
    staged = model.staged_predict(X)
    n_stages = len(model.stage_sizes_)
    assert staged.shape == (n_stages, len(y))
    assert (staged[-1] == model.predict(X)).all()
    probabilities = model.staged_predict_proba(X)
    assert probabilities.shape == (n_stages, len(y), 2)
    np.testing.assert_allclose(probabilities.sum(axis=2), 1)
    np.testing.assert_array_equal(probabilities[-1], model.predict_proba(X))
    np.testing.assert_array_equal(model.staged_predict_proba(X, [n_stages + 3, 0]), probabilities[[-1, 0]])
    assert (staged[0] == max(set(y), key=list(y).count)).all()
    assert (model.staged_predict(X, [n_stages + 3, 0]) == staged[[-1, 0]]).all()
    assert model.size_ == model.stage_sizes_[-1]
    assert len(model.shown_sizes_) == n_stages
    assert all(shown <= size for shown, size in zip(model.shown_sizes_, model.stage_sizes_, strict=True))
    assert model.used_columns_ == model.used_columns_after(n_stages - 1) == model.used_columns_after(99)
    assert model.used_columns_after(0) == ()
    assert set(model.used_columns_) <= {"x0", "x1", "x2", "x3"}
    assert model.to_text().splitlines()
    assert len(model.used_importances_) in (0, len(model.used_columns_))


@pytest.mark.parametrize("options", [{}, {"lookahead": False}, {"threshold": "prior"}, {"leaf": "majority"}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_stages_of_an_oblique_tree_are_the_trees_grown_to_each_size(options, n_classes):
    X, y = make_oblique_xor(500, n_features=4, random_state=0)
    y = y + (n_classes == 3) * (np.abs(X[:, 0]) > 0.5)
    tree = StochasticTreeClassifier(max_splits=9, **options).fit(X, y)
    assert tree.stage_sizes_ == list(range(1, tree.n_splits_ + 2))
    staged, n_compared = tree.staged_predict(X), 0
    for n_splits in range(tree.n_splits_ + 1):
        smaller = StochasticTreeClassifier(max_splits=n_splits, **options).fit(X, y)
        if smaller.n_splits_ == n_splits:  # else fewer of these splits have a smaller estimate
            assert (staged[n_splits] == smaller.predict(X)).all()
            assert set(tree.used_columns_after(n_splits)) == set(smaller.used_columns_)
            n_compared += 1
    assert n_compared > 2


@pytest.mark.parametrize("max_size", [1, 2, 5])
def test_an_oblique_tree_has_at_most_max_size_leaves(max_size):
    X, y = make_oblique_xor(500, n_features=4, random_state=0)
    tree = StochasticTreeClassifier(max_size=max_size, lookahead=False).fit(X, y)
    same = StochasticTreeClassifier(max_splits=max_size - 1, lookahead=False).fit(X, y)
    assert tree.size_ == max_size
    assert tree.to_text() == same.to_text()
    both = StochasticTreeClassifier(max_size=max_size, max_splits=1, lookahead=False).fit(X, y)
    assert both.size_ == min(max_size, 2)


def test_an_oblique_tree_without_a_leaf_is_refused():
    with pytest.raises(ValueError, match="max_size must be at least 1, got 0"):
        StochasticTreeClassifier(max_size=0).fit([[0.0], [1.0]], [0, 1])


def test_importances_are_those_of_the_columns_that_are_used():
    X, y = _table()
    tree = TreeClassifier().fit(X, y)
    places = [int(name[1:]) for name in tree.used_columns_]
    assert tree.used_importances_ == tuple(tree.feature_importances_[places].tolist())
    assert sum(tree.used_importances_) == pytest.approx(1)


@pytest.mark.parametrize("stopping", ["auto", "none"])
def test_a_path_knows_what_a_smaller_limit_keeps(stopping):
    X, y = _table(300, seed=1)
    tree = TreeClassifier(stopping=stopping, max_splits=8).fit(X, y)
    for n_splits in range(9):
        smaller = clone(tree).set_params(max_splits=n_splits).fit(X, y)
        assert tree.path_.kept_within(n_splits) == smaller.n_splits_
