"""Formulas in disjunctive normal form: the terms that are there are found, and counted."""

import numpy as np
import pytest
from rule_learners import dnf_sample

from offsample.induction import (
    DNFClassifier,
)


def test_dnf_recovers_the_formula():
    for seed in range(3):
        X, y, truth = dnf_sample(10_000, seed=seed)
        model = DNFClassifier().fit(X, y)
        assert (model.predict(X) == truth).all()
        assert {rule.condition.split(" ", 1)[1] for rule in model.rules_[:-1]} <= {
            "x0 = 1 and x1 = 1",
            "x1 = 1 and x0 = 1",
            "x2 = 1 and x3 = 1",
            "x3 = 1 and x2 = 1",
        }
    negative = DNFClassifier(positive=0).fit(X, y)
    assert negative.rules_[0].prediction == 0
    with pytest.raises(ValueError, match="positive is 'maybe'"):
        DNFClassifier(positive="maybe").fit(X, y)


@pytest.mark.parametrize("seed", range(7100, 7112))
def test_dnf_recovers_three_terms_of_twenty_bits(seed):
    """Terms of 2 to 5 literals, which may share some; 5 % of the labels are wrong."""
    rng = np.random.default_rng(seed)
    terms = [
        (rng.choice(20, length, replace=False), rng.integers(0, 2, length))
        for length in rng.integers(2, 6, 3)
    ]
    # the columns of every other problem are not balanced
    share = rng.uniform(0.25, 0.75, 20) if seed % 2 else 0.5
    X = (rng.random((15_000, 20)) < share).astype(int)
    truth = np.any([(X[:, columns] == signs).all(axis=1) for columns, signs in terms], axis=0)
    y = truth ^ (rng.random(len(X)) < 0.05)
    model = DNFClassifier().fit(X[:10_000], y[:10_000])
    assert (model.predict(X[10_000:]) == truth[10_000:]).all()


def test_terms_that_share_a_literal():
    """The literal alone is for the class already: a longer term only pays when the next one is there, too."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (10_000, 20))
    truth = (X[:, 16] & (X[:, 9] | (1 - X[:, 5]))) | (X[:, 13] & (1 - X[:, 1]))
    y = truth ^ (rng.random(len(X)) < 0.05)
    model = DNFClassifier().fit(X, y)
    assert (model.predict(X) == truth).all()
    last = DNFClassifier(stopping="none", criterion="gini", max_size=model.size_).fit(X, y)
    assert (last.predict(X) != truth).mean() > 0.02  # where every step is chosen as if it were the last


@pytest.mark.parametrize("max_size", [0, 1, 2])
def test_the_size_of_a_formula_counts_its_terms(max_size):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 9))
    y = X[:, :3].all(axis=1) | X[:, 3:6].all(axis=1) | X[:, 6:].all(axis=1)
    model = DNFClassifier(max_size=max_size).fit(X, y)
    assert model.size_ == len(model.model_.rules) == max_size
    assert DNFClassifier().fit(X, y).size_ == 3
