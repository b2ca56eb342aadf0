"""What all rule learners promise: on odd tables, for their limits, and for the errors that they state."""

import numpy as np
import pytest
from rule_learners import LEARNERS, dnf_sample
from scipy.sparse import csr_array, random_array
from sklearn.base import clone

from offsample.datasets import load
from offsample.induction import (
    BranchingProgramClassifier,
    CommitteeClassifier,
    DecisionListClassifier,
    DNFClassifier,
    MonomialClassifier,
    SymmetricFunctionClassifier,
)


@pytest.fixture(params=LEARNERS, ids=lambda model: type(model).__name__)
def learner(request):
    return clone(request.param)


def test_conflicting_rows(learner):
    X = np.array([[0, 1]] * 5 + [[1, 0]] * 5)
    y = [0, 0, 1, 1, 1, 0, 0, 0, 0, 1]
    learner.set_params(criterion="gini", stopping="none").fit(X, y)
    assert learner.score(X, y) == pytest.approx(0.7)
    assert learner.counts_.n_samples == 10


def test_constant_columns_leave_one_cell(learner):
    X = np.column_stack([np.ones(30), np.full(30, np.nan)])
    learner.fit(X, [0, 1, 1] * 10)
    assert learner.size_ == 0
    assert learner.predict(X).tolist() == [1] * 30
    assert learner.to_text()
    assert len(learner.path_) == 1


def test_one_row_per_class(learner):
    learner.set_params(stopping="none", criterion="gini").fit([[0.0], [1.0]], ["a", "b"])
    assert learner.predict([[0.0], [1.0]]).tolist() == ["a", "b"]
    learner.set_params(stopping="auto", criterion="ginger").fit([[0.0], [1.0]], ["a", "b"])
    assert learner.size_ == 0


@pytest.mark.parametrize("literals", [1, 2, 3])
def test_number_of_literals(learner, literals):
    X, y, _ = dnf_sample()
    learner.set_params(literals=literals).fit(X, y)
    model = learner.model_
    if isinstance(learner, (DecisionListClassifier, DNFClassifier)):
        longest = max(map(len, model.rules), default=0)
    elif isinstance(learner, CommitteeClassifier):
        longest = max(map(len, model.monomials), default=0)
    elif isinstance(learner, BranchingProgramClassifier):
        longest = max(len(node.test) for node in model.nodes)
    else:
        longest = len(model.literals)
    assert 1 <= longest <= literals


def test_many_sparse_columns(learner):
    """10⁵ columns, of which two decide."""
    rng = np.random.default_rng(0)
    X = random_array((400, 100_000), density=1e-3, random_state=rng, format="lil")
    signal = rng.random((400, 2)) < 0.4
    X[:, 7], X[:, 77_777] = signal[:, 0].astype(float), signal[:, 1].astype(float)
    X = csr_array(X)
    y = np.where(signal[:, 0] | signal[:, 1], "grain", "other")
    if isinstance(learner, (DecisionListClassifier,)):
        learner.set_params(literals=1)
    learner.fit(X, y)
    assert learner.score(X, y) > 0.8
    assert "x7 " in learner.to_text() or "x77777 " in learner.to_text()


def test_same_model_from_sparse_and_dense_bits(learner):
    X, y, _ = dnf_sample(500)
    dense, sparse = clone(learner).fit(X, y), learner.fit(csr_array(X), y)
    assert dense.to_text().replace("= 1", "!= 0") == sparse.to_text()
    np.testing.assert_array_equal(dense.predict_proba(X), sparse.predict_proba(csr_array(X)))
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(X))


def test_training_error_and_counts_are_those_of_predict(learner):
    X, y, _ = dnf_sample(700)
    for criterion, stopping in (("ginger", "auto"), ("entropy", "none"), ("bayes_loo", "none")):
        learner.set_params(criterion=criterion, stopping=stopping).fit(X, y)
        assert 1 - learner.score(X, y) == pytest.approx(learner.path_[learner.path_.n_splits].training_error)
        cells = learner.apply(X)
        counts = np.zeros((cells.max() + 1, 2), int)
        np.add.at(counts, (cells, y), 1)
        assert counts.tolist() == learner.model_.counts[: len(counts)].tolist()
        assert (learner.predict_proba(X).argmax(axis=1) == learner.predict(X)).all()


def test_larger_limit_only_adds_steps(learner):
    X, y, _ = dnf_sample(700)
    learner.set_params(criterion="gini", stopping="none")
    limit = "max_depth" if isinstance(learner, BranchingProgramClassifier) else "max_size"
    whole = clone(learner).fit(X, y).path_
    for n in (0, 1, 2):
        part = clone(learner).set_params(**{limit: n}).fit(X, y).path_
        assert part.steps == whole.steps[: n + 1]


def test_noise_is_not_learned(learner):
    """Where no column has to do with the class, no rule passes the corrected test (level 3 %)."""
    grown = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 8))
        grown += clone(learner).fit(X, rng.integers(0, 2, 200)).size_ > 0
    assert grown <= 5  # P < .01 at 3 %


def test_estimated_error_is_honest(learner):
    """On average over samples, the estimate is not below the error on new rows, and the interval holds it."""
    estimates, errors, inside = [], [], 0
    for seed in range(20):
        X, y, _ = dnf_sample(400, noise=0.15, seed=seed)
        new, y_new, _ = dnf_sample(4000, noise=0.15, seed=1000 + seed)
        model = clone(learner).fit(X, y)
        error = 1 - model.score(new, y_new)
        low, high = model.estimated_error_interval_
        estimates.append(model.estimated_error_)
        errors.append(error)
        inside += low <= error <= high
    assert np.mean(estimates) >= np.mean(errors) - 0.01
    assert inside >= 16


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "gain_ratio"}, "criterion must be a function or one of"),
        ({"stopping": "soon"}, "stopping must be one of"),
        ({"literals": 0}, "literals must be at least 1, got 0"),
        ({"max_size": -1}, "max_size must be at least 0"),
        ({"n_thresholds": 0}, "n_thresholds must be at least 1"),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(learner, parameters, message):
    with pytest.raises(ValueError, match=message):
        learner.set_params(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_three_classes_where_the_definition_extends():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (900, 5))
    y = np.array(["a", "b", "c"])[X[:, 0] + X[:, 1]]
    assert DecisionListClassifier().fit(X, y).score(X, y) == 1
    assert SymmetricFunctionClassifier().fit(X, y).score(X, y) == 1
    for model in (MonomialClassifier(), DNFClassifier(), CommitteeClassifier(), BranchingProgramClassifier()):
        with pytest.raises(ValueError, match="Only binary classification is supported"):
            model.fit(X, y)


def test_rules_that_cannot_change_a_prediction_are_neither_shown_nor_counted():
    """Rows of a rare class differ in how rare it is, but it is nowhere likely."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (3000, 5)).astype(str)
    y = (rng.random(3000) < 0.02 + 0.1 * (X[:, 0] == "1") + 0.2 * (X[:, 1] == "2")).astype(int)
    y[X[:, 2] == "0"] |= X[X[:, 2] == "0", 3] == "1"
    for learner in (DecisionListClassifier(), DNFClassifier()):
        model = learner.fit(X, y)
        labels = [rule.prediction for rule in model.rules_]
        assert model.path_.n_splits > model.size_ > 0
        assert len(model.to_text().splitlines()) == model.size_ + 1 == len(labels)
        assert labels[-2] != labels[-1]
        assert model.counts_.counts.sum() == 3000
        assert (model.predict(X) == np.array(labels)[model.apply(X)]).all()


@pytest.mark.slow
def test_error_on_adult(data_dir, monkeypatch):
    """Close to the tree's: .139, with 161 leaves."""
    monkeypatch.setenv("OFFSAMPLE_DATA", str(data_dir))
    data = load("adult")
    learn = np.asarray(data.split) == "train"
    for model in (DecisionListClassifier(), DNFClassifier()):
        model.fit(data.X[learn], data.y[learn])
        error = 1 - model.score(data.X[~learn], data.y[~learn])
        assert error < 0.150
        assert model.estimated_error_ == pytest.approx(error, abs=0.006)


@pytest.mark.parametrize("learner", [DecisionListClassifier, DNFClassifier, MonomialClassifier])
def test_staged_predictions_are_those_of_formulas_grown_to_each_size(learner):
    rng = np.random.default_rng(3)
    X = {
        "a": rng.normal(size=900),
        "b": rng.choice(list("uvwx"), 900).astype(object),
        "c": rng.normal(size=900),
    }
    y = np.where(((X["a"] > 0) & (X["b"] != "u")) ^ (rng.random(900) < 0.05), "p", "n")
    other = {
        "a": rng.normal(size=200),
        "b": rng.choice(list("uvw?"), 200).astype(object),
        "c": rng.normal(size=200),
    }
    found = learner(random_state=0).fit(X, y)
    staged = found.staged_predict(other)
    assert len(staged) == len(found.stage_sizes_) > 1
    np.testing.assert_array_equal(staged[-1], found.predict(other))
    np.testing.assert_array_equal(staged[0], np.full(200, found.classes_[found._stages[0].labels[0]]))
    np.testing.assert_array_equal(found.staged_predict(other, [10_000, 0]), staged[[-1, 0]])
    if learner is DecisionListClassifier:  # whose steps are rules
        for n_steps, predicted in enumerate(staged):
            small = learner(max_size=n_steps, random_state=0, stopping="none").fit(X, y)
            np.testing.assert_array_equal(predicted, small.predict(other))
