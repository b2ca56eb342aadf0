"""Learners with groups: noise stops at the root, and intervals hold the error on new groups."""

import numpy as np
import pytest

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


@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize(
    ("learner", "n_seeds"),
    [
        (TreeClassifier, 40),
        (MonomialClassifier, 40),
        (BranchingProgramClassifier, 40),
        (CommitteeClassifier, 40),
        (SymmetricFunctionClassifier, 40),
        (DNFClassifier, 20),
        (DecisionListClassifier, 12),
        (StochasticTreeClassifier, 12),
    ],
)
def test_noise_with_groups_of_one_class_stops_at_the_root(learner, n_seeds, share):
    n_grown = 0
    for seed in range(n_seeds):
        X, y, groups = _noise(seed, share)
        model = learner(max_splits=8) if learner is StochasticTreeClassifier else learner()
        n_grown += len(model.fit(X, y, groups=groups).stage_sizes_) > 1
    # of 5 %, more than this has a probability of 2 % or less
    assert n_grown <= {60: 7, 40: 5, 20: 3, 12: 2}[n_seeds]


def _draw(random, design, n_groups):
    """Columns, classes and groups: c* are constant within groups, v* vary."""
    size = np.full(n_groups, 20)
    if design == "varying, unequal":
        size = np.minimum(np.ceil(8 * (random.pareto(1.5, n_groups) + 0.5)), 300).astype(int)
    groups = np.repeat(np.arange(n_groups), size)
    c, v = random.normal(size=(n_groups, 3)), random.normal(size=(len(groups), 3))
    flipped = random.random(n_groups) < (0.01 if design == "one in a hundred" else 0.1)
    y = ((c[:, 0] > 0) ^ flipped)[groups]
    if design.startswith("varying"):
        y = v[:, 0] + 0.7 * random.normal(size=n_groups)[groups] + 0.3 * random.normal(size=len(groups)) > 0
    town = random.choice(list("abcdefghijkl"), n_groups)[groups]
    X = {f"c{j}": c[groups, j] for j in range(3)} | {f"v{j}": v[:, j] for j in range(3)}
    return X | {"town": town, "number": random.random(n_groups)[groups]}, y, groups


@pytest.mark.parametrize("design", ["constant", "varying", "varying, unequal", "one in a hundred"])
@pytest.mark.parametrize(("n_groups", "n_samples"), [(10, 40), (30, 25)])
def test_the_interval_of_a_tree_holds_the_error_on_new_groups(design, n_groups, n_samples):
    _check_coverage(TreeClassifier(), design, n_groups, n_samples)


@pytest.mark.parametrize("learner", [MonomialClassifier(), StochasticTreeClassifier(max_splits=6)], ids=repr)
@pytest.mark.parametrize("design", ["constant", "varying"])
def test_the_interval_of_other_learners_holds_the_error_on_new_groups(learner, design):
    _check_coverage(learner, design, 30, 25)


def _check_coverage(learner, design, n_groups, n_samples):
    n_inside, n_grown = 0, 0
    for seed in range(n_samples):
        random = np.random.default_rng([seed, n_groups])
        X, y, groups = _draw(random, design, n_groups)
        model = learner.fit(X, y, groups=groups)
        low, high = model.estimated_error_interval_
        X, y, _ = _draw(random, design, 1000)
        error = (model.predict(X) != y).mean()
        n_inside += low <= error <= high
        n_grown += len(model.stage_sizes_) > 1
    # 90 % with 10 groups and 93 % with 30, less two standard errors
    promised = 0.9 if n_groups == 10 else 0.93
    assert n_inside / n_samples >= promised - 2 * np.sqrt(promised * (1 - promised) / n_samples)
    if n_groups == 30:
        assert n_grown > n_samples / 3


def test_noise_of_few_groups_grows_no_tree():
    """Models of folds that share most of their groups agree with each other, and so with them, by chance."""
    assert n_grown(TreeClassifier(), Design(10, 5, "constant"), range(500, 520)) <= 1  # 5 % of 20
