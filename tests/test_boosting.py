"""Boosting with certified perceptrons reaches the least training error, and shallow trees do not."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from offsample._perceptrons import certified_error
from offsample.boosting import BoostedPerceptronClassifier, separating_direction
from offsample.bounds import adaboost_rounds
from offsample.datasets import make_parity_sample
from offsample.induction import TreeClassifier


@parametrize_with_checks(
    [
        BoostedPerceptronClassifier(n_estimators=50),
        BoostedPerceptronClassifier(n_estimators=50, early_stopping=True),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)  # asserts inside


@pytest.mark.parametrize("n_columns", [1, 2, 20])
@pytest.mark.parametrize("kind", ["bits", "sparse", "normal", "huge"])
def test_direction_misses_all_other_rows(kind, n_columns):
    rng = np.random.default_rng(n_columns)
    X = {
        "bits": lambda: rng.integers(0, 2, (200, n_columns)).astype(float),
        "sparse": lambda: rng.integers(0, 2, (200, n_columns)) * (rng.random((200, n_columns)) < 0.2),
        "normal": lambda: rng.normal(size=(200, n_columns)),
        "huge": lambda: rng.integers(0, 50, (200, n_columns)) * 1e9,
    }[kind]()
    for point in range(0, 200, 20):
        distance = np.abs((X - X[point]) @ separating_direction(X, point))
        same = (X[point] == X).all(axis=1)
        assert (distance[same] == 0).all()
        # far enough to be told apart in floating point, and not only in theory
        assert distance[~same].min(initial=np.inf) > 1e-6 * np.abs(X - X[point]).max(initial=0)


def test_every_round_keeps_its_promise():
    rng = np.random.default_rng(0)
    for n_classes in (2, 3, 5):
        for _ in range(6):
            X = rng.integers(0, 3, (60, 3))
            y = rng.integers(0, n_classes, 60)
            model = BoostedPerceptronClassifier(n_estimators=60).fit(X, y)
            assert (model.estimator_errors_ <= model.estimator_bounds_ + 1e-9).all()
            assert (model.estimator_bounds_ < 1 - 1 / n_classes).all()
            assert (model.estimator_weights_ > 0).all()


def test_errors_are_those_of_the_weights():
    """Replays AdaBoost from the perceptrons' predictions alone."""
    X, y = make_parity_sample(4)
    model = BoostedPerceptronClassifier().fit(X, y)
    weight = np.full(16, 1 / 16)
    Z = X / model.scale_
    for learner, error, bound in zip(
        model.estimators_, model.estimator_errors_, model.estimator_bounds_, strict=True
    ):
        wrong = learner.predict(Z) != y
        assert weight @ wrong == pytest.approx(error, abs=1e-9)
        assert bound == pytest.approx(0.5 - weight.max() / 2)
        weight = weight * np.where(wrong, (1 - error) / error, 1.0)
        weight /= weight.sum()


@pytest.mark.parametrize("seed", range(5))
def test_consistent_within_the_bound(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    y = rng.integers(0, 2, 40)
    model = BoostedPerceptronClassifier(n_estimators=adaboost_rounds(40)).fit(X, y)
    assert model.score(X, y) == 1
    assert model.is_minimal_
    assert model.least_error_ == 0
    assert len(model.estimators_) <= model.max_rounds_ == adaboost_rounds(40)


def test_alternating_line_needs_a_perceptron_between_neighbours():
    """Observation 1: m points on a line with alternating classes take m - 1 perceptrons or more."""
    X = np.arange(15.0)[:, None]
    model = BoostedPerceptronClassifier().fit(X, X[:, 0] % 2)
    assert model.score(X, X[:, 0] % 2) == 1
    assert len(model.estimators_) >= 14


def test_conflicting_rows_cost_what_they_must():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (200, 4))
    y = rng.integers(0, 2, 200)
    counts = np.zeros((16, 2))
    np.add.at(counts, (X @ [8, 4, 2, 1], y), 1)
    model = BoostedPerceptronClassifier(n_estimators=3000).fit(X, y)
    assert model.least_error_ == pytest.approx(counts.min(axis=1).sum() / 200)
    assert 1 - model.score(X, y) == pytest.approx(model.least_error_)
    assert "the least possible" in model.to_text()


def test_a_tie_everywhere_is_a_constant():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [0, 1, 0, 1]
    model = BoostedPerceptronClassifier().fit(X, y)
    assert model.score(X, y) == 0.5
    assert model.is_minimal_


@pytest.mark.parametrize("n_bits", [3, 5, 7])
def test_parity_stops_shallow_trees_but_not_perceptrons(n_bits):
    """Theorem 19."""
    X, y = make_parity_sample(n_bits)
    model = BoostedPerceptronClassifier().fit(X, y)
    assert model.score(X, y) == 1
    assert len(model.estimators_) <= adaboost_rounds(2**n_bits)
    tree = TreeClassifier(criterion="gini", stopping="none", max_depth=n_bits - 1, min_gain=-1.0).fit(X, y)
    assert tree.score(X, y) == 0.5


def boosted_tree_errors(X, y, depth, weight, n_rounds=20):
    """Weighted errors, and the training error of the vote, of AdaBoost over trees of this depth.

    `TreeClassifier` counts rows, so that weights are scaled to whole numbers.
    """
    score, errors = np.zeros(len(y)), []
    tree = TreeClassifier(criterion="gini", stopping="none", max_depth=depth, min_gain=-1.0)
    for _ in range(n_rounds):
        times = np.round(1000 * weight / weight.max()).astype(int)
        predicted = tree.fit(X, y, sample_weight=times).predict(X)
        errors.append(times @ (predicted != y) / times.sum())
        vote = np.log((1 - errors[-1]) / errors[-1]) if errors[-1] > 0 else 30.0
        score += vote * np.where(predicted == 1, 1, -1)
        if errors[-1] == 0:
            break
        weight = weight * np.where(predicted != y, np.exp(vote), 1.0)
    return np.array(errors), float(((score > 0) != y).mean())


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_adaboost_over_shallow_trees_stalls_on_parity(depth):
    """Theorem 19: half of the rows of each leaf are of each class, so no vote has a weight."""
    X, y = make_parity_sample(4)
    errors, training_error = boosted_tree_errors(X, y, depth, np.ones(16))
    assert errors.tolist() == [0.5] * 20
    assert training_error == 0.5
    errors, training_error = boosted_tree_errors(X, y, 4, np.ones(16))
    assert errors.tolist() == [0.0]
    assert training_error == 0
    boosted = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth, random_state=0), n_estimators=100)
    with pytest.raises(ValueError, match="worse than random"):
        boosted.fit(X, y)


@pytest.mark.parametrize("seed", range(3))
def test_one_class_against_the_rest_is_consistent(seed):
    """The guarantee for two classes carries over, where SAMME has none."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 4, 40)
    model = OneVsRestClassifier(BoostedPerceptronClassifier(n_estimators=adaboost_rounds(40))).fit(X, y)
    assert model.score(X, y) == 1
    assert all(one.is_minimal_ and one.max_rounds_ == adaboost_rounds(40) for one in model.estimators_)
    samme = BoostedPerceptronClassifier(n_estimators=30).fit(X, y)
    assert samme.max_rounds_ is None
    assert samme.is_minimal_ == (samme.score(X, y) == 1)


def test_stages_end_at_the_model():
    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
        X = rng.normal(size=(80, 3))
        y = np.array(["a", "b", "c"])[rng.integers(0, n_classes, 80)]
        model = BoostedPerceptronClassifier(n_estimators=20, stop_at_minimum=False).fit(X, y)
        assert (list(model.staged_predict(X))[-1] == model.predict(X)).all()
        np.testing.assert_array_equal(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))
        np.testing.assert_array_equal(list(model.staged_decision_function(X))[-1], model.decision_function(X))
        margins = model.margins(X, y)
        assert ((margins > 1e-9) <= (model.predict(X) == y)).all()
        assert ((model.predict(X) != y) <= (margins < 1e-9)).all()


def test_early_stopping_keeps_the_best_round():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    stopped = BoostedPerceptronClassifier(early_stopping=True).fit(X, y)
    assert len(stopped.estimators_) < len(BoostedPerceptronClassifier().fit(X, y).estimators_)


def test_weights_repeat_rows():
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 3, (40, 3)), rng.integers(0, 2, 40)
    times = rng.integers(0, 4, 40)
    weighted = BoostedPerceptronClassifier(n_estimators=20).fit(X, y, sample_weight=times)
    repeated = BoostedPerceptronClassifier(n_estimators=20).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert weighted.least_error_ == pytest.approx(repeated.least_error_)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


def test_bad_parameters():
    with pytest.raises(ValueError, match="n_estimators must be at least 1, got 0"):
        BoostedPerceptronClassifier(n_estimators=0).fit([[0.0], [1.0]], [0, 1])


def test_bounds():
    assert adaboost_rounds(10) == int(200 * np.log(10)) + 1
    assert adaboost_rounds(10, 0.05) == adaboost_rounds(10)  # less than one row
    assert adaboost_rounds(1) == 1
    assert certified_error(np.array([0.5, 0.25, 0.25])) == 0.25
    # at K = 2 the general form is half as much; both are valid
    assert certified_error(np.ones(9), 3) == pytest.approx(2 / 3 - 2 / 81)
    with pytest.raises(ValueError, match="error must be from 0 to 1"):
        adaboost_rounds(10, 2.0)
