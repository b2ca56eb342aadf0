"""Each learner takes the steps of a slow twin written from the definition of its class."""

import numpy as np
import pytest
import rules_twin as twin

from offsample.indexes import INDEX_FUNCTIONS
from offsample.induction import (
    BranchingProgramClassifier,
    CommitteeClassifier,
    DecisionListClassifier,
    DNFClassifier,
    MonomialClassifier,
    SymmetricFunctionClassifier,
)

INDEXES = ("gini", "entropy", "matsushita")


def tables(n_tables: int, n_columns: int = 4, seed: int = 0):
    """Small Boolean tables: random classes, and noisy functions of the columns; conflicting rows occur."""
    rng = np.random.default_rng(seed)
    for i in range(n_tables):
        X = rng.integers(0, 2, (int(rng.integers(4, 26)), n_columns))
        y = rng.integers(0, 2, len(X))
        if i % 2:
            y = ((X[:, 0] & X[:, 1]) | (X[:, 2] & ~X[:, 3] & 1)) ^ (rng.random(len(X)) < 0.1)
        if len(set(y.tolist())) == 2:
            yield X, y.astype(int)


def named(model, literals):
    """Literals of a fitted model as columns and signs."""
    tests, n = model.vocabulary_.tests, len(model.vocabulary_.tests)
    return [(tests[literal % n].column, literal >= n) for literal in literals]


@pytest.mark.parametrize("index", [*INDEXES, "error"])
@pytest.mark.parametrize(("k", "n_tables"), [(1, 12), (2, 8), (3, 3)])
def test_decision_list(index, k, n_tables):
    for X, y in tables(n_tables, seed=k):
        criterion = INDEX_FUNCTIONS[index]
        model = DecisionListClassifier(criterion=criterion, literals=k, stopping="none").fit(X, y)
        rules, cells = twin.grow_list(X, y, index, k)
        shown, shown_cells = twin.without_idle(X, y, rules)
        assert [named(model, rule) for rule in model.model_.rules] == [list(rule) for rule in shown]
        assert model.size_ == len(shown)
        expected = [[sum(y[i] == c for i in cell) for c in (0, 1)] for cell in shown_cells]
        assert model.model_.counts.tolist() == expected
        assert model.path_[-1].criterion == pytest.approx(twin.index_of(cells, y, index), abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_consistent_list(k):
    n_consistent = 0
    for X, y in tables(8, seed=10 + k):
        model = DecisionListClassifier(strategy="consistent", literals=k).fit(X, y)
        rules, consistent = twin.grow_consistent(X, y, k)
        found = [named(model, rule) for rule in model.model_.rules]
        n_consistent += consistent
        if consistent:
            assert found == [list(rule) for rule in twin.without_idle(X, y, rules)[0]]
            assert model.score(X, y) == 1
        else:  # it goes on greedily
            place = {test.column: i for i, test in enumerate(model.vocabulary_.tests)}
            codes = [[place[j] + negated * len(place) for j, negated in rule] for rule in rules]
            steps = [step.feature for step in list(model.path_)[1 : len(rules) + 1]]
            assert steps == [model.vocabulary_.describe(rule) for rule in codes]
    assert n_consistent


@pytest.mark.parametrize("min_coverage", [1, 3])
@pytest.mark.parametrize("k", [1, 2])
def test_cover_list(k, min_coverage):
    for X, y in tables(8, seed=20 + k):
        model = DecisionListClassifier(strategy="cover", literals=k, min_coverage=min_coverage).fit(X, y)
        rules = twin.without_idle(X, y, twin.grow_cover(X, y, k, 20, min_coverage))[0]
        assert [named(model, rule) for rule in model.model_.rules] == [list(rule) for rule in rules]


@pytest.mark.parametrize("index", INDEXES)
def test_monomial(index):
    for X, y in tables(20, seed=30):
        model = MonomialClassifier(criterion=index, stopping="none").fit(X, y)
        term, cells = twin.grow_monomial(X, y, index)
        assert named(model, model.model_.literals) == term
        assert model.path_[-1].criterion == pytest.approx(twin.index_of(cells, y, index), abs=1e-12)


@pytest.mark.parametrize("index", INDEXES)
def test_dnf(index):
    for X, y in tables(20, seed=40):
        model = DNFClassifier(criterion=index, stopping="none").fit(X, y)
        assert [named(model, term) for term in model.model_.rules] == twin.grow_dnf(X, y, index)


@pytest.mark.parametrize("index", INDEXES)
def test_committee(index):
    for X, y in tables(12, seed=50):
        model = CommitteeClassifier(criterion=index, stopping="none").fit(X, y)
        voters, value = twin.grow_committee(X, y, index)
        found = zip(model.model_.monomials, model.model_.votes, strict=True)
        assert [(named(model, one), a) for one, a in found] == voters
        assert model.path_[-1].criterion == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("index", list(INDEX_FUNCTIONS))
def test_errors_of_a_committee_are_at_most_half_of_its_index(index):
    """And it has a voter where a test has a gain, as here the tests of the first column."""
    rng = np.random.default_rng(0)
    for n in (60, 400):
        X = rng.integers(0, 6, (n, 5))
        y = rng.random(n) < np.where(X[:, 0] > 3, 0.45, 0.2) - 0.1 * (X[:, 1] + X[:, 2] > 6)
        model = CommitteeClassifier(criterion=INDEX_FUNCTIONS[index], stopping="none").fit(X, y)
        assert all(step.training_error <= step.criterion / 2 + 1e-12 for step in model.path_)
        if index != "error":
            assert len(model.model_.votes) > 0
        assert model.score(X, y) == pytest.approx(1 - model.path_[-1].training_error)


@pytest.mark.parametrize("index", INDEXES)
def test_symmetric_function(index):
    for X, y in tables(16, seed=60):
        model = SymmetricFunctionClassifier(criterion=index, stopping="none").fit(X, y)
        chosen, cells = twin.grow_symmetric(X, y, index)
        assert named(model, model.model_.literals) == chosen
        assert model.path_[-1].criterion == pytest.approx(twin.index_of(cells, y, index), abs=1e-12)


@pytest.mark.parametrize("index", INDEXES)
def test_branching_program(index):
    for X, y in tables(16, seed=70):
        model = BranchingProgramClassifier(criterion=index, stopping="none").fit(X, y)
        path = twin.grow_program(X, y, index)
        assert len(model.path_) == len(path)
        for step, cells in zip(model.path_, path, strict=True):
            assert step.criterion == pytest.approx(twin.index_of(list(map(list, cells)), y, index), abs=1e-12)
        found = model.apply(X)
        assert {frozenset(np.flatnonzero(found == cell).tolist()) for cell in set(found.tolist())} == set(
            map(frozenset, path[-1])
        )
