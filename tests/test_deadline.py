"""Growing ends at a deadline: with an exception, or with what has grown so far."""

from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from offsample import _deadline, rank_features
from offsample._deadline import OutOfTime, deadline, time_is_up
from offsample.induction import (
    DecisionListClassifier,
    DNFClassifier,
    StochasticTreeClassifier,
    TreeClassifier,
)

LEARNERS = [TreeClassifier(), DecisionListClassifier(), DNFClassifier(), StochasticTreeClassifier()]


def problem():
    X = np.random.default_rng(0).normal(size=(300, 4))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_ends(learner):
    X, y = problem()
    assert learner.fit(X, y).size_ > 1
    with deadline(0.0), pytest.raises(OutOfTime):
        learner.fit(X, y)
    with deadline(0.0, keep_part=True):
        learner.fit(X, y)
    assert len(learner.path_) == 1
    assert (learner.predict(X) == learner.predict(X)[0]).all()


@pytest.fixture
def a_second_per_look(monkeypatch):
    """A clock that goes on by one second whenever it is looked at."""
    monkeypatch.setattr(_deadline, "time", SimpleNamespace(perf_counter=count(0.0).__next__))


@pytest.mark.parametrize(
    "learner",
    # By default trees, or lists, of several kinds compete: which one is kept may depend on the time.
    [
        TreeClassifier(stopping="significance"),
        DecisionListClassifier(stopping="none"),
        DNFClassifier(),
        *(StochasticTreeClassifier(geometry=kind) for kind in ("unit", "offset", "covariance")),
    ],
)
def test_growing_ends_at_the_step_before_which_the_time_is_up(learner, a_second_per_look):
    X, y = problem()
    whole = tuple(learner.fit(X, y).path_)
    assert len(whole) > 3
    for seconds in (1.0, 2.0, 3.0):
        with deadline(seconds, keep_part=True):
            assert tuple(learner.fit(X, y).path_) == whole[: int(seconds)]
    with deadline(3.0), pytest.raises(OutOfTime):
        learner.fit(X, y)


def test_a_tree_without_the_time_to_compete_is_the_one_that_is_significant(a_second_per_look):
    X, y = problem()

    def seconds_of(tree):
        with deadline(1e6):
            start = _deadline.time.perf_counter()
            tree.fit(X, y)
            return _deadline.time.perf_counter() - start

    first, best = TreeClassifier(stopping="significance"), TreeClassifier()
    n_first, n_all = seconds_of(first), seconds_of(best)
    assert best.n_splits_ > 3
    assert best.path_.grown_by not in (None, first.path_.grown_by)  # another kind of tree has won
    for seconds in (
        1.0,
        n_first,
        n_first + 5,
        n_all - 10,
    ):  # while rivals compete, and while the best one grows
        with deadline(seconds, keep_part=True):
            tree = TreeClassifier().fit(X, y)
        assert tuple(tree.path_) == tuple(first.path_)[: int(seconds)]
        low, high = tree.estimated_error_interval_
        assert 0 <= low <= tree.estimated_error_ <= high <= 1
        np.testing.assert_array_equal(tree.predict(X), first.staged_predict(X, [tree.n_splits_])[0])


def test_counting_ends_at_the_column_before_which_the_time_is_up(a_second_per_look):
    X, y = problem()
    with deadline(2.0, keep_part=True):
        ranking = rank_features(X, y)
    assert sorted(feature.name for feature in ranking) == ["x0", "x1"]
    assert ranking.left_out == ("2 columns: no time was left to count them",)


def test_columns_that_there_is_no_time_to_count_are_left_out():
    X, y = problem()
    with deadline(0.0, keep_part=True):
        ranking = rank_features(X, y)
    assert len(ranking) == 1
    assert ranking.left_out == ("3 columns: no time was left to count them",)


def test_of_kinds_of_oblique_trees_the_one_is_kept_that_there_was_time_for(a_second_per_look):
    X, y = problem()
    first = tuple(StochasticTreeClassifier(geometry="covariance").fit(X, y).path_)
    learner = StochasticTreeClassifier()
    assert tuple(learner.fit(X, y).path_)[:3] != first[:3]  # with time, another kind is better
    for seconds in (1.0, 2.0, 3.0):
        with deadline(seconds, keep_part=True):
            assert tuple(learner.fit(X, y).path_) == first[: int(seconds)]
    with deadline(3.0), pytest.raises(OutOfTime):
        learner.fit(X, y)


def test_the_innermost_deadline_counts_and_ends_with_its_block():
    with deadline(0.0, keep_part=True):
        assert time_is_up()
        with deadline(None):
            assert not time_is_up()
        assert time_is_up()
    assert not time_is_up()
