"""Errors that rule learners state of themselves, against those on new rows.

The estimate is to be right on average, and the 95 % interval to hold the error of the very formula that was
fitted, 90 to 99 times of 100: on halves of real tables, and on generated problems of 60 to 500 rows.
"""

import numpy as np
import pytest
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

TABLES = (
    "heart_statlog",
    "heart_hungarian",
    "breast_wisconsin",
    "breast_cancer_ljubljana",
    "vote",
    "haberman",
    "hepatitis",
    "tic_tac_toe",
    "pima",
    "promoters",
)
N_NEW = 4000
LEARNERS = [
    DecisionListClassifier(),
    DecisionListClassifier(strategy="consistent"),
    DecisionListClassifier(strategy="cover", min_coverage=5),
    DNFClassifier(),
    MonomialClassifier(),
    CommitteeClassifier(),
    SymmetricFunctionClassifier(),
    BranchingProgramClassifier(),
]
pytestmark = pytest.mark.slow


def compare(model, X, y, new, y_new):
    """Estimate less error on new rows, and whether the interval holds it.

    The error on the new rows has a spread of its own, which is added to that of the interval.
    """
    model = clone(model).fit(X, y)
    error = 1 - model.score(new, y_new)
    low, high = model.estimated_error_interval_
    half = 1.96 * np.sqrt(max(error * (1 - error), 1 / len(y_new)) / len(y_new))
    bias = model.estimated_error_ - error
    below, above = model.estimated_error_ - low, high - model.estimated_error_
    return bias, -np.hypot(above, half) <= bias <= np.hypot(below, half)


def made(seed):
    """Conjunctions, a threshold of a sum, an exception to a rule, nothing, or a plane; with label noise."""
    rng = np.random.default_rng(seed)
    kind = seed % 5
    n, n_columns = int(rng.choice([60, 120, 250, 500])), int(rng.choice([5, 8, 12]))
    noise = float(rng.choice([0.1, 0.3, 0.5] if kind == 3 else [0.0, 0.05, 0.15]))
    size = n + N_NEW
    X = rng.normal(size=(size, 5)) if kind == 4 else rng.integers(0, 2, (size, n_columns))
    if kind == 0:
        terms = [(rng.choice(n_columns, 3, replace=False), rng.integers(0, 2, 3)) for _ in range(3)]
        truth = np.any([(X[:, columns] == signs).all(axis=1) for columns, signs in terms], axis=0)
    elif kind == 1:
        truth = X[:, :5].sum(axis=1) >= 3
    elif kind == 2:
        truth = X[:, 0] ^ (X[:, 1] & X[:, 2])
    elif kind == 3:
        truth = np.zeros(size)
    else:
        truth = X[:, 0] + X[:, 1] - X[:, 2] / 2 > 0.3
    y = truth.astype(bool) ^ (rng.random(size) < noise)
    return X[:n], y[:n], X[n:], y[n:]


def is_cross_validated(model):
    return getattr(model, "strategy", "greedy") != "greedy"


@pytest.mark.parametrize("model", LEARNERS, ids=repr)
def test_on_halves_of_real_tables(model, data_dir, monkeypatch):
    """Each half is learned from in turn, so that it does not count which of them has the easier rows."""
    monkeypatch.setenv("OFFSAMPLE_DATA", str(data_dir))
    n_splits = 1 if is_cross_validated(model) else 2  # those take ten times as long
    found = []
    for name in TABLES:
        data = load(name)
        y = np.asarray(data.y).astype(str)
        for split in range(n_splits):
            halves = np.array_split(np.random.default_rng(500 + split).permutation(len(y)), 2)
            for learn, test in (halves, halves[::-1]):
                found.append(compare(model, data.X.iloc[learn], y[learn], data.X.iloc[test], y[test]))
    bias, inside = np.array(found).T
    assert abs(bias.mean()) <= (0.03 if n_splits == 1 else 0.02)  # two standard errors
    assert inside.mean() >= 0.9


@pytest.mark.parametrize("model", LEARNERS, ids=repr)
def test_on_generated_problems(model):
    """Where columns are few and rules plain, choosing costs less than is allowed for; never more."""
    # Lists that only cross-validation judges hold in 92 to 94 % of 160 such problems: forty could not tell.
    n_problems = 80 if getattr(model, "strategy", "") == "consistent" else 40
    bias, inside = np.array([compare(model, *made(seed)) for seed in range(1000, 1000 + n_problems)]).T
    assert -0.01 <= bias.mean() <= (0.015 if is_cross_validated(model) else 0.04)
    assert inside.mean() >= 0.9
