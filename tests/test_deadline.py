"""Growing ends at a deadline: with an exception, or with what has grown so far."""

import numpy as np
import pytest

from offsample import rank_features
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


def test_columns_that_there_is_no_time_to_count_are_left_out():
    X, y = problem()
    with deadline(0.0, keep_part=True):
        ranking = rank_features(X, y)
    assert len(ranking) == 1
    assert ranking.left_out == ("3 columns: no time was left to count them",)


def test_the_innermost_deadline_counts_and_ends_with_its_block():
    with deadline(0.0, keep_part=True):
        assert time_is_up()
        with deadline(None):
            assert not time_is_up()
        assert time_is_up()
    assert not time_is_up()
