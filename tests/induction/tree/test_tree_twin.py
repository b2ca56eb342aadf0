"""Equality with a tree that recomputes everything at every step."""

import numpy as np
import pytest
from tree_twin import grow_twin, random_table

from offsample.induction import TreeClassifier
from offsample.induction.scoring import TREE_CRITERIA

CRITERIA = sorted(TREE_CRITERIA)


def as_array(columns):
    table = np.empty((len(columns[0]), len(columns)), object)
    for j, column in enumerate(columns):
        table[:, j] = column
    return table


def declared(columns):
    return np.array([any(isinstance(v, str) for v in column) for column in columns])


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_equals_the_twin(criterion, n_classes):
    rng = np.random.default_rng(n_classes)
    for case in range(25):
        columns, y = random_table(rng, n_classes)
        y[:n_classes] = range(n_classes)[: len(y)]  # all classes are there
        n_present = len(set(y))
        y = [sorted(set(y)).index(k) for k in y]
        unseen, least = ("parent", "uniform")[case % 2], 1 + case % 3 // 2
        path, leaves = grow_twin(columns, y, n_present, criterion, unseen=unseen, min_samples_leaf=least)
        tree = TreeClassifier(
            criterion=criterion,
            stopping="none",
            categorical_split="multiway",
            categorical_features=declared(columns),
            unseen=unseen,
            min_samples_leaf=least,
            max_splits=4,
        ).fit(as_array(columns), y)
        sign = 1 if TREE_CRITERIA[criterion].better == "lower" else -1
        assert [step.feature for step in tree.path_] == [None if j is None else f"x{j}" for j, _ in path]
        np.testing.assert_allclose([s.criterion for s in tree.path_], [sign * v for _, v in path], atol=1e-9)
        node = tree.apply(as_array(columns))
        assert sorted(map(sorted, (leaf.rows for leaf in leaves))) == sorted(
            np.flatnonzero(node == i).tolist() for i in np.unique(node)
        )


def test_a_function_is_an_index():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    named = TreeClassifier(criterion="gini", max_splits=6).fit(X, y)
    given = TreeClassifier(criterion=lambda p: 1.5 * (p * (1 - p)).sum(axis=-1), max_splits=6).fit(X, y)
    assert [s.feature for s in named.path_] == [s.feature for s in given.path_]
    np.testing.assert_array_equal(named.apply(X), given.apply(X))
