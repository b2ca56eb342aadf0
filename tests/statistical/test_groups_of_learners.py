"""Learners with groups: noise stops at the root, and intervals hold the error on new groups."""

import numpy as np
import pytest
from sklearn.base import clone

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
from tests.statistical.learners_with_groups import DESIGNS, LEARNERS, measure
from tests.statistical.noise_with_groups import Design, n_grown

pytestmark = pytest.mark.slow


def _noise(seed, share):
    """50 groups × 20 rows of one class, and columns that have nothing to do with it."""
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(50), 20)
    X = {
        "constant": random.normal(size=50)[groups],
        "town": random.choice(list("abcdefgh"), 50)[groups],
        "number": groups.astype(float),
        "name": np.array([f"g{number}" for number in groups]),
        "varies": random.normal(size=1000),
        "answer": random.choice(list("abcd"), 1000),
        "both": random.normal(size=50)[groups] + random.normal(size=1000),
    }
    return X, (random.random(50) < share)[groups], groups


@pytest.mark.parametrize(
    ("learner", "n_seeds"),
    [
        (TreeClassifier(), 40),
        (MonomialClassifier(), 40),
        (BranchingProgramClassifier(), 40),
        (CommitteeClassifier(), 40),
        (SymmetricFunctionClassifier(), 40),
        (DNFClassifier(), 20),  # from here on, they take seconds a table
        (DecisionListClassifier(), 12),
        (StochasticTreeClassifier(max_splits=8), 12),
    ],
    ids=repr,
)
def test_noise_with_groups_of_one_class_stops_at_the_root(learner, n_seeds):
    """Both shares in turn. If 22 % of 40 tables had a model, this would fail nine times of ten."""
    n_grown = 0
    for seed in range(n_seeds):
        X, y, groups = _noise(seed, (0.5, 0.2)[seed % 2])
        n_grown += len(clone(learner).fit(X, y, groups=groups).stage_sizes_) > 1
    assert n_grown <= _MOST[n_seeds]


# Of 5 %, more than this many have a probability of 2 % or less.
_MOST = {40: 5, 20: 3, 12: 2}


@pytest.mark.parametrize("design", DESIGNS[-3:])
@pytest.mark.parametrize(("n_groups", "n_samples"), [(10, 20), (30, 16)])
def test_the_interval_of_a_tree_holds_the_error_on_new_groups(design, n_groups, n_samples):
    _check_coverage("tree", design, n_groups, n_samples)


@pytest.mark.parametrize(
    ("name", "design", "n_samples"),
    [
        ("monomial", "constant, own classes", 30),
        ("monomial", "varying, level", 25),
        ("symmetric", "varying, one class", 16),
        ("program", "constant, own classes", 16),
        ("committee", "constant, own classes", 16),
        ("formula", "constant, own classes", 5),
        ("list", "constant, own classes", 4),
        ("oblique", "constant, one class", 25),
        ("oblique", "varying, level", 16),
    ],
)
def test_the_interval_of_other_learners_holds_the_error_on_new_groups(name, design, n_samples):
    _check_coverage(name, design, 30, n_samples)


def _check_coverage(name, design, n_groups, n_samples):
    seen = measure(LEARNERS[name], design, n_groups, range(n_samples))
    # 90 % with 10 groups and 93 % with 30, less two standard errors
    promised = 0.9 if n_groups == 10 else 0.93
    assert seen.n_inside / n_samples >= promised - 2 * np.sqrt(promised * (1 - promised) / n_samples)
    if n_groups == 30:  # so that it is not the interval of stubs; of columns that are constant, 30 % grow
        assert seen.n_grown > n_samples / 4


def test_noise_of_few_groups_grows_no_tree():
    """Models of folds that share most of their groups agree with each other, and so with them, by chance."""
    assert n_grown(TreeClassifier(), Design(10, 5, "constant"), range(500, 520)) <= 1  # 5 % of 20
