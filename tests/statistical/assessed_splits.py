"""What audits and paired tests make of repeated, random and grouped splits: simulations behind the choices.

``python -m tests.statistical.assessed_splits [searches [learner]]`` prints what is left of the optimism, how
often the interval holds the truth, and how often two models that are equally good are called different.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
from scipy.special import ndtri
from sklearn import config_context
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.tree import DecisionTreeClassifier

from offsample.assessment import audit_search, paired_test

N_ROWS, N_COLUMNS = 200, 10
TREES = [
    {"max_depth": depth, "max_features": share, "random_state": seed}
    for depth in (1, 3, None)
    for share in (0.4, 1.0)
    for seed in (0, 1)
]


def trees(X, y, X_test):
    """Predictions of twelve trees."""
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return [DecisionTreeClassifier(**one).fit(X, y).predict(X_test) for one in TREES]


def columns(X, y, X_test):
    """Predictions by each column alone, cut between the class means: the learner that tunes most."""
    zero, one = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    return (((X_test - (zero + one) / 2) * (one - zero)) > 0).T.astype(int)


LEARNERS = {"trees": trees, "one column": columns}
SPLITS = {
    "5 folds": lambda seed: StratifiedKFold(5, shuffle=True, random_state=seed),
    "6 × 5 folds": lambda seed: RepeatedStratifiedKFold(n_splits=5, n_repeats=6, random_state=seed),
    "30 shuffles": lambda seed: StratifiedShuffleSplit(30, test_size=0.2, random_state=seed),
    "groups": lambda seed: GroupKFold(5, shuffle=True, random_state=seed),
    "grouped shuffles": lambda seed: GroupShuffleSplit(30, test_size=0.2, random_state=seed),
}


def draw(rng, signal, n_rows=N_ROWS):
    """Rows of two classes, as many of each: random class counts and stratified folds bias noise by design."""
    y = rng.permutation(np.arange(n_rows) % 2)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    X[:, 0] += signal * y
    return X, y


def draw_groups(rng, signal, n_groups):
    """Groups of ten rows with one class each; columns differ between groups more than within."""
    groups, label = np.repeat(np.arange(n_groups), 10), rng.permutation(np.arange(n_groups) % 2)
    means = rng.normal(size=(n_groups, N_COLUMNS))
    means[:, 0] += signal * label
    return means[groups] + 0.4 * rng.normal(size=(len(groups), N_COLUMNS)), label[groups], groups


def audited(learner, splits, signal, n_searches, *, n_groups=None, by_folds=False, seed=0):
    """Naive and corrected accuracy less the truth, and whether the interval holds it, of each search."""
    rng = np.random.default_rng([seed, int(100 * signal)])
    fresh, labels = draw(rng, signal, 20_000) if n_groups is None else draw_groups(rng, signal, 1000)[:2]
    for number in range(n_searches):
        X, y, *groups = draw(rng, signal) if n_groups is None else draw_groups(rng, signal, n_groups)
        folds = list(SPLITS[splits](number).split(X, y, *groups))
        rows = np.concatenate([test for _, test in folds])
        fold = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
        found = [LEARNERS[learner](X[train], y[train], X[test]) for train, test in folds]
        if by_folds:
            scores = [np.mean(p == y[test], axis=1) for p, (_, test) in zip(found, folds, strict=True)]
            audit = audit_search(np.column_stack(scores), cv=folds)
        else:
            unit = groups[0][rows] if groups else rows  # a row that is tested again is one
            predicted = np.concatenate(found, axis=1)
            audit = audit_search(predictions=predicted, y=y[rows], metric="accuracy", fold=fold, groups=unit)
        truth = (LEARNERS[learner](X, y, fresh)[audit.best] == labels).mean()
        yield audit.naive - truth, audit.corrected - truth, audit.low <= truth <= audit.high


def nearest_mean(X, y, train, test, columns):
    """Errors on test rows by the nearer class mean, in some of the columns."""
    one, zero = (X[np.ix_(train[y[train] == k], columns)].mean(axis=0) for k in (1, 0))
    weights = one - zero
    return ((X[np.ix_(test, columns)] @ weights > weights @ (one + zero) / 2) != y[test]).mean()


def level(n_folds, n_repeats, n_tests, *, n_rows=100, seed=0, method="auto"):
    """Share of tests at 5 % that call two learners different that are equally good, from repeated folds."""
    rng, called = np.random.default_rng(seed), 0
    halves = np.arange(5), np.arange(5, 10)
    for number in range(n_tests):
        y = rng.permutation(np.arange(n_rows) % 2)
        X = rng.normal(size=(n_rows, 10)) + 0.35 * y[:, None]
        splits = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=number)
        folds = list(splits.split(X, y))
        first, second = (
            np.array([nearest_mean(X, y, *split, columns) for split in folds]).reshape(n_repeats, n_folds)
            for columns in halves
        )
        called += paired_test(first, second, method=method).p_value <= 0.05
    return called / n_tests


# True errors of which the simplest is worse than many equal ones, or the last alone is the best.
GAPS = {
    "the simplest .04 worse than nine": [0.24] + 9 * [0.2],
    "the simplest .04 worse than 29": [0.24] + 29 * [0.2],
    "five .04 worse than five": 5 * [0.24] + 5 * [0.2],
    "one .04 worse than one": [0.24, 0.2],
    "nine .05 worse than one": 9 * [0.25] + [0.2],
}


def beyond_tolerance(
    n_configurations, spread, n_searches, *, by_folds=False, n_rows=200, seed=0, errors=None
):
    """How much worse than the best the simplest as good as it truly is, less the tolerance, of each search.

    True errors are normal with a standard deviation of `spread` unless given, and errors fall on the same
    hard rows.
    """
    rng = np.random.default_rng([seed, n_configurations, int(1000 * spread)])
    for _ in range(n_searches):
        true = np.clip(rng.normal(0.3, spread, n_configurations), 0.05, 0.95)
        true = true if errors is None else np.array(errors)
        shared = rng.uniform(0.4, 0.95)
        own = rng.normal(size=(n_configurations, n_rows))
        hard = np.sqrt(shared) * rng.normal(size=n_rows) + np.sqrt(1 - shared) * own
        losses = (hard < ndtri(true)[:, None]).astype(float)
        how = {"complexity": range(n_configurations)}
        if by_folds:
            audit = audit_search(
                losses.reshape(len(true), 5, -1).mean(axis=2), greater_is_better=False, **how
            )
        else:
            audit = audit_search(losses=losses, fold=np.arange(n_rows) % 5, **how)
        yield true[audit.simplest] - true[audit.best], audit.tolerance, len(audit.as_good_as_best)


def main(n_searches="60", *learners):
    n = int(n_searches)
    by_rows = [(splits, None, by_folds) for splits in list(SPLITS)[:3] for by_folds in (True, False)]
    cases = by_rows + [(splits, n_groups, False) for splits in list(SPLITS)[3:] for n_groups in (30, 60)]
    for learner in learners or LEARNERS:
        for splits, n_groups, by_folds in cases:
            for signal in (0.0, 1.5 if n_groups else 0.7):
                found = audited(learner, splits, signal, n, n_groups=n_groups, by_folds=by_folds)
                naive, left, covered = np.transpose(list(found))
                units = f"{n_groups} groups" if n_groups else "fold scores" if by_folds else "rows"
                sys.stdout.write(
                    f"{learner:11} {splits:16} {units:12} signal {signal}: {naive.mean():+.3f}, left "
                    f"{left.mean():+.3f} ± {left.std() / np.sqrt(n):.3f}, holds {covered.mean():.0%}\n"
                )
                sys.stdout.flush()
    for n_folds, n_repeats in [(5, 1), (10, 1), (5, 6), (10, 3), (10, 10)]:
        called = level(n_folds, n_repeats, 8 * n)
        sys.stdout.write(f"{n_repeats} × {n_folds} folds: {called:.1%} of {8 * n} tests at 5 % reject\n")

    for n_rows in (20, 40, 100, 200):
        called = level(2, 5, 8 * n, n_rows=n_rows, method="5x2cv_f")
        sys.stdout.write(f"5x2cv_f of {n_rows} rows: {called:.1%} of {8 * n} tests at 5 % reject\n")

    for n_configurations, spread, by_folds in product((4, 30), (0.0, 0.015, 0.03, 0.1), (True, False)):
        found = list(beyond_tolerance(n_configurations, spread, n, by_folds=by_folds))
        cost, tolerance, size = np.transpose(found)
        units, beyond = "fold scores" if by_folds else "rows", (cost > tolerance + 1e-12).mean()
        sys.stdout.write(
            f"{n_configurations} that differ by {spread}, {units}: the simplest of {size.mean():.1f} costs "
            f"{cost.mean():+.4f}, more than the tolerance in {beyond:.1%}\n"
        )
    for (name, errors), by_folds in product(GAPS.items(), (True, False)):
        found = beyond_tolerance(len(errors), 0.0, n, by_folds=by_folds, errors=errors)
        cost, tolerance, _ = np.transpose(list(found))
        units, beyond = "fold scores" if by_folds else "rows", (cost > tolerance + 1e-12).mean()
        sys.stdout.write(f"{name}, {units}: the simplest costs more than the tolerance in {beyond:.1%}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
