"""The searches of the study: quick learners equal those of scikit-learn, and noise is noise."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from papers.tuning_optimism import _learners
from papers.tuning_optimism._learners import N_CONFIGURATIONS, bayes, boosting, neighbours, screened, trees
from papers.tuning_optimism._searches import PROBLEMS, searches

ALL = range(N_CONFIGURATIONS)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(200, 12, n_informative=6, n_classes=3, flip_y=0.2, random_state=0)
    return X[:120], y[:120], X[120:], y[120:]


def test_neighbours_equal_those_of_scikit_learn(data):
    X, y, new, _ = data
    found = neighbours(X, y, new, ALL)
    for i, (metric, weights, n) in enumerate(_learners._NEIGHBOURS):
        model = KNeighborsClassifier(n, metric=metric, weights=weights, algorithm="brute").fit(X, y)
        assert (found[i] == model.predict(new)).all()
    few = neighbours(X, y, new, [3, 40])
    assert (few == found[[3, 40]]).all()


def test_trees_are_cut_at_their_depth(data):
    X, y, new = (np.asarray(part, dtype=np.float32) for part in data[:3])
    found = trees(X, y, new, ALL)
    same = []
    for i, (leaf, depth) in enumerate(_learners._TREES):
        model = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=leaf, random_state=0).fit(X, y)
        same.append(np.mean(found[i] == model.predict(new)))
        if depth is None:
            assert same[-1] == 1
    assert np.mean(same) > 0.97  # ties between splits may be broken otherwise


def test_naive_bayes_equals_that_of_scikit_learn(data):
    X, y, new, _ = data
    X, new = (X > 0).astype(float), (new > 0).astype(float)
    order = _learners._by_variance_ratio(X, y)
    found = bayes(X, y, new, ALL)
    for i, (k, alpha) in enumerate(_learners._BAYES):
        model = BernoulliNB(alpha=alpha).fit(X[:, order[:k]], y)
        assert (found[i] == model.predict(new[:, order[:k]])).all()


def test_fewer_trees_are_the_first_of_more(data):
    X, y, new, _ = data
    found = boosting(X, y, new, [0, 16])
    for row, (rate, n) in zip(found, (_learners._BOOSTING[0], _learners._BOOSTING[16]), strict=True):
        model = GradientBoostingClassifier(learning_rate=rate, max_depth=2, n_estimators=n, random_state=0)
        assert (row == model.fit(X, y).predict(new)).all()


def test_screened_neighbours_equal_a_pipeline(data):
    X, y, new, _ = data
    found = screened(X, y, new, range(12))
    for i, (k, n) in enumerate(_learners._SCREENED[:12]):
        model = make_pipeline(
            SelectKBest(f_classif, k=k), StandardScaler(), KNeighborsClassifier(n, algorithm="brute")
        )
        assert (found[i] == model.fit(X, y).predict(new)).all()


def test_searches_of_noise():
    found = list(searches(PROBLEMS["noise, trees"], 3, 1, first_seed=0))
    assert [len(search.nested) for search in found] == [200, 0, 0]
    for search in found:
        assert search.losses.shape == (42, 200)
        assert set(search.folds) == set(range(5))
        assert search.truth == 0.5
    # Noise with as many rows of each class: not every search finds less, but their best do on average.
    assert np.mean([search.losses.mean(axis=1).min() for search in found]) < 0.5
    again = next(searches(PROBLEMS["noise, trees"], 1, 0, first_seed=0))
    assert (again.losses == found[0].losses).all()
