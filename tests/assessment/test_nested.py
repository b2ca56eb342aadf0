"""Nested cross-validation against loops written out, with groups and weights."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from offsample import nested_cross_validate

GRID = {"max_depth": [1, 2, 4]}
TREE = DecisionTreeClassifier(random_state=0)


@pytest.fixture(scope="module")
def data():
    return make_classification(150, 6, n_informative=3, flip_y=0.2, random_state=0)


def written_out(X, y, outer, inner, weights=None):
    """Scores and depths: inner choice by the mean over inner folds, then a refit on all inner rows."""
    weights = np.ones(len(y)) if weights is None else weights
    scores, depths, best = [], [], []

    def score(depth, train, test):
        model = DecisionTreeClassifier(max_depth=depth, random_state=0)
        model.fit(X[train], y[train], sample_weight=weights[train])
        return np.average(model.predict(X[test]) == y[test], weights=weights[test])

    for train, test in outer:
        means = [
            np.mean([score(depth, train[a], train[b]) for a, b in inner(train)])
            for depth in GRID["max_depth"]
        ]
        depths.append(GRID["max_depth"][int(np.argmax(means))])
        best.append(max(means))
        scores.append(score(depths[-1], train, test))
    return scores, depths, best


def test_equals_the_loop_written_out(data):
    X, y = data
    found = nested_cross_validate(TREE, X, y, param_grid=GRID, cv=5, inner_cv=4)
    scores, depths, best = written_out(
        X, y, StratifiedKFold(5).split(X, y), lambda train: StratifiedKFold(4).split(X[train], y[train])
    )
    assert found.scores == pytest.approx(scores)
    assert [params["max_depth"] for params in found.params] == depths
    assert found.inner_scores == pytest.approx(best)
    assert found.mean == pytest.approx(np.mean(scores))
    assert found.optimism == pytest.approx(np.mean(best) - np.mean(scores))
    assert found.low < found.mean < found.high
    pairs = [a == b for i, a in enumerate(depths) for b in depths[:i]]
    assert found.stability == pytest.approx(np.mean(pairs))
    assert found.param_stability["max_depth"] == max(depths.count(d) for d in depths) / 5
    frame = found.to_frame()
    assert frame["max_depth"].tolist() == depths
    assert sum(frame["n_test"]) == 150
    assert found.to_dict()["scores"] == found.scores
    assert "NestedScores" in repr(found)


def test_as_many_inner_folds_as_outer_ones(data):
    one = nested_cross_validate(TREE, *data, param_grid=GRID, cv=3)
    assert one.scores == nested_cross_validate(TREE, *data, param_grid=GRID, cv=3, inner_cv=3).scores


def test_weights_reach_fits_and_scores(data):
    X, y = data
    weights = np.random.default_rng(0).exponential(size=len(y))
    expected, depths, _ = written_out(
        X, y, StratifiedKFold(4).split(X, y), lambda t: StratifiedKFold(3).split(X[t], y[t]), weights
    )
    found = nested_cross_validate(TREE, X, y, param_grid=GRID, cv=4, inner_cv=3, sample_weight=weights)
    assert found.scores == pytest.approx(expected)
    assert [params["max_depth"] for params in found.params] == depths
    search = GridSearchCV(TREE, GRID, cv=3)
    assert nested_cross_validate(search, X, y, cv=4, sample_weight=weights).scores == pytest.approx(expected)
    # Doubled weights change nothing.
    assert nested_cross_validate(
        search, X, y, cv=4, sample_weight=2 * weights, progress=True
    ).scores == pytest.approx(expected)


def test_weights_of_a_pipeline(data):
    X, y = data
    model = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [0.01, 1]}
    weights = np.where(y == 1, 50.0, 1.0)
    plain = nested_cross_validate(model, X, y, param_grid=grid, cv=3)
    weighted = nested_cross_validate(model, X, y, param_grid=grid, cv=3, sample_weight=weights)
    assert weighted.mean > plain.mean + 0.05  # of the heavy class, and it was fitted for it


def test_groups_stay_together(data):
    X, y = data
    groups = np.arange(150) // 5
    scores, _, _ = written_out(
        X, y, GroupKFold(5).split(X, y, groups), lambda t: GroupKFold(5).split(X[t], y[t], groups[t])
    )
    found = nested_cross_validate(TREE, X, y, param_grid=GRID, cv=5, groups=groups)
    assert found.scores == pytest.approx(scores)
    search = GridSearchCV(TREE, GRID)  # five folds, which become folds of groups
    assert nested_cross_validate(search, X, y, cv=5, groups=groups).scores == pytest.approx(scores)
    # Identical rows of a group leak unless they stay together.
    copies = np.repeat(np.random.default_rng(0).normal(size=(40, 3)), 4, axis=0)
    labels = np.repeat(np.random.default_rng(1).integers(0, 2, 40), 4)
    nearest, of = KNeighborsClassifier(), np.repeat(np.arange(40), 4)
    grid = {"n_neighbors": [1, 3]}
    shuffled = KFold(5, shuffle=True, random_state=0)
    leaked = nested_cross_validate(nearest, copies, labels, param_grid=grid, cv=shuffled)
    honest = nested_cross_validate(nearest, copies, labels, param_grid=grid, cv=5, groups=of)
    assert leaked.mean > 0.9
    assert honest.mean < 0.7


def test_regression_and_no_choice():
    X, y = make_regression(80, 5, noise=5, random_state=0)
    found = nested_cross_validate(Ridge(), X, y, param_grid={"alpha": [0.1, 1, 100]}, cv=4)
    assert found.mean > 0.9
    errors = nested_cross_validate(
        Ridge(), X, y, param_grid={"alpha": [0.1, 1]}, cv=4, scoring="neg_mean_absolute_error"
    )
    assert errors.mean > 0
    assert not errors.greater_is_better
    alone = nested_cross_validate(Ridge(alpha=0.1), X, y, cv=4)
    assert alone.params == ({},) * 4
    assert alone.optimism == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"confidence": 0}, "confidence must lie strictly", id="confidence 0"),
        pytest.param(
            {"groups": [1, 2]},
            "groups has 2 values, expected one for each of the 150 rows",
            id="fewer groups than rows",
        ),
        pytest.param({"sample_weight": [1.0]}, "sample_weight has 1 values", id="fewer weights than rows"),
        pytest.param({"param_grid": GRID}, "param_grid is for an estimator", id="grid beside a search"),
    ],
)
def test_options_that_do_not_fit_the_rows_or_the_search_are_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        nested_cross_validate(GridSearchCV(TREE, GRID), *data, **options)


def test_other_bad_input(data):
    with pytest.raises(ValueError, match="the search has several metrics"):
        nested_cross_validate(GridSearchCV(TREE, GRID, scoring=["accuracy", "f1"], refit="f1"), *data)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        nested_cross_validate(KNeighborsClassifier(), *data, sample_weight=np.ones(150))


def test_grids_with_other_parameters(data):
    X, noise = data[0], np.random.default_rng(0).integers(0, 2, 150)  # so that each grid is chosen at times
    grids = [{"max_depth": [1, 2]}, {"min_samples_leaf": [5, 40]}]
    nested = nested_cross_validate(TREE, X, noise, param_grid=grids, cv=10, inner_cv=3)
    assert {frozenset(params) for params in nested.params} == {
        frozenset({"max_depth"}),
        frozenset({"min_samples_leaf"}),
    }
    for name in ("max_depth", "min_samples_leaf"):
        values = [params.get(name) for params in nested.params]
        assert nested.param_stability[name] == max(values.count(value) for value in values) / 10


def test_one_split_tells_nothing_of_its_spread(data):
    split = [(np.arange(0, len(data[1]), 2), np.arange(1, len(data[1]), 2))]
    found = nested_cross_validate(DecisionTreeClassifier(), *data, cv=split, scoring="roc_auc")
    assert (found.low, found.high) == (0, 1)
