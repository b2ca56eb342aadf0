"""Hits and misses of other groups only, against their definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline

from offsample import BoostedPerceptronClassifier, GFlip, Relief, Simba, TreeClassifier


def _visits(seed=0, n_groups=25, n_each=4):
    """Rows of one group are near each other, and of one class; one group has a class of its own."""
    random = np.random.default_rng(seed)
    groups = random.permutation(np.repeat(np.arange(n_groups), n_each))
    X = random.normal(size=(n_groups, 4))[groups] + 0.05 * random.normal(size=(len(groups), 4))
    y = random.integers(0, 2, n_groups)[groups]
    y[groups == 3] = 2
    return X, y, groups


def _margins(X, y, groups, weights):
    """Hypothesis margin of each row that has a hit and a miss of another group, and their pairs."""
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    gaps = (X[:, None] - X) ** 2
    distance = np.where(groups[:, None] == groups, np.inf, gaps @ weights**2)
    hits, misses = (np.where(same, distance, np.inf) for same in (y[:, None] == y, y[:, None] != y))
    both = np.isfinite(hits.min(axis=1)) & np.isfinite(misses.min(axis=1))
    rows = np.flatnonzero(both)
    margins = (np.sqrt(misses.min(axis=1)[both]) - np.sqrt(hits.min(axis=1)[both])) / 2
    differ = gaps[rows, misses.argmin(axis=1)[both]] - gaps[rows, hits.argmin(axis=1)[both]]
    return margins, differ.mean(axis=0)


@pytest.mark.parametrize("seed", range(3))
def test_weights_and_scores_are_those_of_other_groups(seed):
    X, y, groups = _visits(seed)
    relief = Relief().fit(X, y, groups=groups)
    np.testing.assert_allclose(relief.feature_weights_, _margins(X, y, groups, np.ones(4))[1], atol=1e-12)
    assert np.abs(relief.feature_weights_ - Relief().fit(X, y).feature_weights_).max() > 0.01
    simba = Simba(random_state=0, n_restarts=2).fit(X, y, groups=groups)
    expected = _margins(X, y, groups, np.sqrt(simba.feature_weights_))[0].sum()
    assert simba.score_ == pytest.approx(expected, abs=1e-9)
    flip = GFlip(random_state=0).fit(X, y, groups=groups)
    expected = _margins(X, y, groups, flip.support_.astype(float))[0].sum()
    assert flip.score_ == pytest.approx(expected, abs=1e-9)


def test_categories_and_missing_values_have_the_same_neighbours():
    X, y, groups = _visits()
    X[:, 3] = np.round(X[:, 3])
    table = pd.DataFrame(X, columns=list("abcd")).assign(d=lambda t: t["d"].astype(int).astype(str))
    table.loc[:3, "a"] = np.nan
    alone = [one.fit(table, y, groups=np.arange(100)) for one in (Relief(), GFlip(random_state=0))]
    for one, other in zip(alone, (Relief(), GFlip(random_state=0)), strict=True):
        np.testing.assert_array_equal(one.feature_weights_, other.fit(table, y).feature_weights_)
    first_two = np.isin(groups, (0, 3))  # of which none has a hit in the other group
    assert Relief().fit(table[first_two], y[first_two], groups=groups[first_two]).score_ == 0


@pytest.mark.parametrize("n_neighbors", [1, 5])
def test_noise_of_groups_has_no_weight(n_neighbors):
    """Rows of one group tell the class of each other in every column; those of other groups do not."""
    known, new = [], []
    for seed in range(10):
        X, y, groups = _visits(seed, 60, 6)
        X, y, groups = X[y < 2], y[y < 2], groups[y < 2]
        known.append(Relief(n_neighbors=n_neighbors).fit(X, y).feature_weights_.mean())
        new.append(Relief(n_neighbors=n_neighbors).fit(X, y, groups=groups).feature_weights_.mean())
    assert np.mean(known) > 0.01
    assert abs(np.mean(new)) < 0.004


def test_groups_reach_a_selector_in_a_pipeline_by_routing():
    X, y, groups = _visits()
    with config_context(enable_metadata_routing=True):
        steps = [("few", Relief().set_fit_request(groups=True)), ("tree", TreeClassifier())]
        steps[1][1].set_fit_request(groups=True, sample_weight=False)
        search = GridSearchCV(Pipeline(steps), {"few__n_features_to_select": [1, 2]}, cv=GroupKFold(3))
        found = search.fit(X, y, groups=groups).best_estimator_["few"]
    expected = Relief().fit(X, y, groups=groups).feature_weights_
    np.testing.assert_array_equal(found.feature_weights_, expected)


def test_groups_of_another_length_are_refused():
    X, y, groups = _visits()
    with pytest.raises(ValueError, match="groups has 99 values for a table of 100 rows"):
        Relief().fit(X, y, groups=groups[1:])


@pytest.mark.parametrize("learner", [Relief(), Simba(), GFlip(), BoostedPerceptronClassifier()], ids=repr)
def test_one_group_is_refused(learner):
    X, y, _ = _visits()
    with pytest.raises(ValueError, match="all rows are of one group: no other is there to learn from"):
        learner.fit(X, y == 1, groups=np.zeros(len(y)))
