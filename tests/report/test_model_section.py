"""The recommended model: its size, and its errors along the path."""

import numpy as np
import pytest

from offsample.induction import TreeClassifier
from offsample.report._study import Options, Study
from offsample.report.sections import model


def problem(n, seed, noise=0.1):
    rng = np.random.default_rng(seed)
    X = {"a": rng.normal(size=n), "b": rng.choice(list("uvwx"), n), "c": rng.normal(size=n)}
    score = (X["a"] > 0).astype(int) + (X["b"] == "u") + (X["c"] > 1)
    y = np.where(rng.random(n) < noise, rng.integers(0, 3, n), np.minimum(score, 2)).astype(str)
    return X, y


def test_staged_errors_are_those_of_trees_grown_to_each_size():
    X, y = problem(600, 0)
    other, truth = problem(400, 1)
    other["b"][:5] = "never seen"
    tree = TreeClassifier(shrinkage=None).fit(X, y)
    errors = model.staged_errors(tree, other, truth)
    assert len(errors) == tree.n_splits_ + 1 > 3
    for size, found in enumerate(errors):
        small = TreeClassifier(shrinkage=None, max_splits=size).fit(X, y)
        assert found == np.sum(small.predict(other) != truth)


def test_a_class_that_the_tree_has_not_seen_is_an_error():
    X, y = problem(300, 0)
    tree = TreeClassifier().fit(X, y)
    assert model.staged_errors(tree, X, np.full(300, "new"))[-1] == 300


def test_rows_predicted_differently_are_counted():
    X, y = problem(600, 0)
    tree = TreeClassifier(shrinkage=None).fit(X, y)
    large = tree.n_splits_
    for small in range(large):
        fewer = TreeClassifier(shrinkage=None, max_splits=small).fit(X, y)
        expected = np.mean(fewer.predict(X) != tree.predict(X))
        assert model._share_predicted_differently(tree, small, large) == pytest.approx(expected)


def test_the_recommended_tree_is_readable_and_as_good():
    X, y = problem(3000, 2)
    study = Study({**X, "y": y}, "y", Options(fast=True))
    full, chosen = model.choose(study, list(X))
    assert chosen.n_splits_ <= min(model.READABLE, full.n_splits_)
    fresh, truth = problem(20_000, 3)
    assert np.mean(chosen.predict(fresh) != truth) <= np.mean(full.predict(fresh) != truth) + 0.01
    section = model.describe(study, full, chosen, model.cross_validate(study, list(X)), ())
    assert section.size == chosen.n_splits_
    assert section.path[section.size].validated_error == section.validated_error
    assert set(section.columns) == {"a", "b", "c"}
    assert sum(section.importances) == pytest.approx(1)


def test_noise_gets_the_most_frequent_class():
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=300), "y": rng.choice(["n", "p"], 300, p=[0.7, 0.3])}
    study = Study(table, "y", Options(fast=True))
    full, chosen = model.choose(study, ["a"])
    section = model.describe(study, full, chosen, model.cross_validate(study, ["a"]), ())
    assert (section.size, section.name, section.columns) == (0, "the most frequent class", ())
    assert section.validated_error == pytest.approx(study.majority_error)


def test_a_class_with_one_row_is_cross_validated_all_the_same():
    X, y = problem(100, 0)
    y[0] = "only once"
    study = Study({**X, "y": y}, "y", Options(fast=True))
    full, chosen = model.choose(study, list(X))
    assert (
        model.describe(study, full, chosen, model.cross_validate(study, list(X)), ()).validated_error
        is not None
    )
