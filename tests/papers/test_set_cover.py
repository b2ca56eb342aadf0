"""On Set-Cover samples every class takes the sets of the greedy cover, and the index falls as it should."""

from itertools import combinations

import numpy as np
import pytest

from offsample.induction import (
    BranchingProgramClassifier,
    CommitteeClassifier,
    DecisionListClassifier,
    DNFClassifier,
    MonomialClassifier,
    SymmetricFunctionClassifier,
    TreeClassifier,
)
from papers.index_criteria._decreases import relative_decreases, set_cover_decrease, set_cover_decrease_bound
from papers.index_criteria._set_cover import greedy_cover, make_set_cover_sample

INDEXES = ("gini", "entropy", "matsushita")
CLASSES = {
    "tree": lambda **options: TreeClassifier(shrinkage=None, **options),
    "list": lambda **options: DecisionListClassifier(literals=1, **options),
    "monomial": MonomialClassifier,
    "dnf": DNFClassifier,
    "program": BranchingProgramClassifier,
    "committee": CommitteeClassifier,
    "symmetric": SymmetricFunctionClassifier,
}
INSTANCES = [
    {"n_elements": 12, "sets": 5, "random_state": 0},
    {"n_elements": 30, "sets": 9, "density": 0.25, "random_state": 1},
    {"n_elements": 40, "sets": 12, "density": 0.15, "partition_size": 5, "random_state": 2},
    {"n_elements": 60, "sets": 8, "density": 0.4, "partition_size": 3, "random_state": 3},
    {"n_elements": 7, "sets": [range(7), range(3)]},
]


def least_cover(X) -> int:
    member = X[:-1].astype(bool)
    for n in range(1, X.shape[1] + 1):
        if any(member[:, list(chosen)].any(axis=1).all() for chosen in combinations(range(X.shape[1]), n)):
            return n
    raise AssertionError("no cover")


def variables(model) -> list[int]:
    """Columns of the tests, in the order they were taken."""
    if isinstance(model, TreeClassifier):
        return [int(step.feature[1:]) for step in model.path_ if step.feature is not None]
    tests, n = model.vocabulary_.tests, len(model.vocabulary_.tests)
    if isinstance(model, BranchingProgramClassifier):
        steps = [node.test for node in model.model_.nodes if node.where]
    elif isinstance(model, (DNFClassifier, DecisionListClassifier)):
        steps = model.model_.rules
    elif isinstance(model, CommitteeClassifier):
        return [int(step.feature.split()[0][1:]) for step in model.path_ if step.feature is not None]
    else:
        steps = [model.model_.literals]
    return [tests[literal % n].column for step in steps for literal in step]


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("name", CLASSES)
def test_greedy_variables_and_index_zero(name, index):
    for instance in INSTANCES:
        X, y = make_set_cover_sample(**instance)
        model = CLASSES[name](criterion=index, stopping="none").fit(X, y)
        assert variables(model) == greedy_cover(X)
        assert model.path_[-1].criterion == pytest.approx(0, abs=1e-12)
        assert model.score(X, y) == 1


@pytest.mark.parametrize("index", INDEXES)
def test_decreases_are_the_closed_forms_and_meet_their_bounds(index):
    for instance in INSTANCES:
        X, y = make_set_cover_sample(**instance)
        cover, sharp = least_cover(X), greedy_cover(X)
        left = np.ones(len(X) - 1, bool)
        path = TreeClassifier(criterion=index, stopping="none").fit(X, y).path_
        decreases = relative_decreases(path)
        assert len(decreases) == len(sharp)
        for chosen, decrease in zip(sharp, decreases, strict=True):
            s = int(left.sum())
            left &= X[:-1, chosen] == 0
            assert decrease == pytest.approx(set_cover_decrease(s, left.sum(), index))
            assert decrease >= set_cover_decrease_bound(s, cover, index) - 1e-12
            assert decrease >= set_cover_decrease_bound(s, cover, index, sharp=True) - 1e-12


def test_decreases_rank_as_the_theory_says():
    """At the first node of a partition instance: Matsushita before entropy before Gini."""
    X, y = make_set_cover_sample(200, 10, density=0.02, partition_size=10, random_state=0)
    first = {
        index: relative_decreases(
            TreeClassifier(criterion=index, stopping="none", max_splits=1).fit(X, y).path_
        )[0]
        for index in INDEXES
    }
    assert first["matsushita"] > first["entropy"] > first["gini"]


def test_error_index_is_blind_until_the_last_node():
    """Theorem 9, corrected: no decrease while a positive row is left, and a decrease of 1 when none is."""
    X, y = make_set_cover_sample(30, 9, density=0.25, random_state=1)
    path = TreeClassifier(criterion="gini", stopping="none").fit(X, y)
    assert len(path.path_) > 2
    blind = TreeClassifier(criterion="error", stopping="none").fit(X, y)
    assert len(blind.path_) == 1
    one_set = make_set_cover_sample(7, [range(7)])
    seeing = TreeClassifier(criterion="error", stopping="none").fit(*one_set)
    assert relative_decreases(seeing.path_).tolist() == [1.0]


def test_product_identity_on_other_paths():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 6))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(200) < 0.1)
    for make in CLASSES.values():
        model = make(criterion="matsushita", stopping="none").fit(X, y)
        decreases = relative_decreases(model.path_)
        assert (decreases >= 0).all()
        assert model.path_[0].criterion * np.prod(1 - decreases) == pytest.approx(model.path_[-1].criterion)


def test_a_path_that_no_index_decreases_along_is_refused():
    with pytest.raises(ValueError, match="no index function"):
        relative_decreases(TreeClassifier().fit([[0], [1]], [0, 1]).path_)
    with pytest.raises(ValueError, match="step 2 raises the index"):
        relative_decreases([1.0, 0.5, 0.75])
    assert relative_decreases([0.0, 0.0]).tolist() == [0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_elements": 0}, "n_elements must be at least 1"),
        ({"n_elements": 3, "sets": [{0, 1}]}, "element 2 is in no set"),
        ({"n_elements": 2, "sets": [{0, 5}]}, "set 0 has the element 5"),
        ({"n_elements": 4, "sets": 2, "partition_size": 3}, "partition_size must be from 1 to 2"),
        ({"n_elements": 4, "sets": 0}, "at least 1 set"),
    ],
)
def test_instances_without_a_cover_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_set_cover_sample(**options)
