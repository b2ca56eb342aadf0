"""Trees stop on noise, go on where there is a signal, and say what error to expect.

``python -m tests.induction.tree.test_stopping 100`` prints what a hundred tables of each kind say.
"""

import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest

from offsample.datasets import make_customers
from offsample.induction import TreeClassifier
from offsample.induction.tree.columns import Columns
from offsample.tables import TableEncoder
from tests.customers import CUSTOMER_ROLES


def numeric_noise(m, rng):
    return rng.normal(size=(m, 20))


def categorical_noise(m, rng):
    sizes = np.geomspace(2, m, 10).astype(int)
    return pd.DataFrame({f"c{j}": rng.integers(0, size, m).astype(str) for j, size in enumerate(sizes)})


# Kind of columns, rows, and classes that are ever rarer; without a number, a coin.
NOISE = [(draw, m, None) for draw in (numeric_noise, categorical_noise) for m in (50, 200, 1000)]
NOISE += [(categorical_noise, 200, n_classes) for n_classes in (2, 5)]
N_NOISE = 50


@cache
def n_split(draw, m, n_classes, n_tables=N_NOISE):
    found = 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        if n_classes is None:
            X, y = draw(m, rng), rng.integers(0, 2, m)
        else:
            y = np.minimum(rng.geometric(0.6, m) - 1, n_classes - 1)
            X = draw(m, rng)
        found += TreeClassifier().fit(X, y).n_splits_ > 0
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "m", "n_classes"), NOISE)
def test_noise_is_not_split(draw, m, n_classes):
    """Of fifty of a kind; if one in six were, this would fail nine times of ten."""
    assert n_split(draw, m, n_classes) <= 4


@pytest.mark.slow
def test_noise_of_all_kinds_is_not_split():
    """One in twenty of all 400: if one in fifteen were, this would fail nine times of ten."""
    assert sum(n_split(*kind) for kind in NOISE) <= 0.05 * N_NOISE * len(NOISE)


def test_a_column_of_many_values_is_found_among_noise():
    rng = np.random.default_rng(0)
    n = 20_000
    effect = rng.normal(size=500)
    code = rng.integers(0, 500, n)
    table = pd.DataFrame({f"n{j}": rng.integers(0, 300, n).astype(str) for j in range(10)})
    table["id"] = np.arange(n).astype(str)
    table["signal"] = code.astype(str)
    y = rng.random(n) < 1 / (1 + np.exp(-effect[code]))
    tree = TreeClassifier().fit(table[: n // 2], y[: n // 2])
    assert tree.feature_importances_[-1] == pytest.approx(1)
    assert tree.score(table[n // 2 :], y[n // 2 :]) > 0.63  # 0.66 is the best possible


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
def test_an_interaction_without_main_effects_is_found(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000 if kind == "numeric" else 2000, 8))
    y = (X[:, 2] > 0) ^ (X[:, 5] > 0) ^ (rng.random(len(X)) < 0.2)
    table = X if kind == "numeric" else pd.DataFrame(np.where(X > 0, "high", "low")).add_prefix("c")
    tree = TreeClassifier().fit(table, y)
    assert tree.score(table, y) > 0.78
    assert tree.n_splits_ <= 12
    assert tree.path_[1].criterion == pytest.approx(tree.path_[0].criterion, abs=0.01)  # no gain at first


def test_the_size_does_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"c": rng.integers(0, 30, 600).astype(str), "x": rng.integers(0, 9, 600)})
    y = (rng.random(600) < 0.2 + 0.5 * (table["x"] > 4)).to_numpy()
    weight = rng.integers(0, 4, 600)
    repeated = rng.permutation(np.repeat(np.arange(600), weight))
    one = TreeClassifier().fit(table, y, sample_weight=weight)
    other = TreeClassifier().fit(table.iloc[repeated], y[repeated])
    assert one.n_splits_ == other.n_splits_ > 0
    np.testing.assert_array_equal(one.tree_.counts, other.tree_.counts)
    np.testing.assert_allclose(one.predict_proba(table), other.predict_proba(table))


def test_few_splits_have_to_do_with_nothing():
    """One noise column in ten splits is what the rule allows; see `Grower.without_spurious`."""
    noise, total = 0, 0
    for seed in range(8):
        table = make_customers(random_state=seed)
        y = table.pop("churned")
        del table["exit_survey_sent"]
        tree = TreeClassifier().fit(table, y)
        used = [step.feature for step in tree.path_ if step.feature]
        noise += sum(CUSTOMER_ROLES[name].startswith(("noise", "identifier")) for name in used)
        total += len(used)
    assert total > 80
    assert noise / total <= 0.1


def linear(n, rng):
    X = rng.normal(size=(n, 10))
    return X, X[:, 0] + X[:, 1] + rng.normal(size=n) > 0


def exclusive_or(n, rng):
    X = rng.normal(size=(n, 8))
    return X, (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(n) < 0.1)


def imbalanced(n, rng):
    X = rng.normal(size=(n, 10))
    return X, rng.random(n) < np.where(X[:, 0] > 1, 0.4, 0.05)


def five_classes(n, rng):
    X = rng.normal(size=(n, 6))
    return X, np.clip(1.2 * (X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=n)) + 2.5, 0, 4.99).astype(int)


def many_values(n, rng):
    effects = np.random.default_rng(99).normal(size=(2, 300))
    codes = [rng.integers(0, size, n) for size in (30, 300, 60, 60)]
    p = 1 / (1 + np.exp(-1.2 * (effects[0, codes[0]] + effects[1, codes[1]])))
    return pd.DataFrame({f"c{j}": code.astype(str) for j, code in enumerate(codes)}), rng.random(n) < p


def noise(n, rng):
    return rng.normal(size=(n, 20)), rng.integers(0, 2, n)


# Designs that were not there when the rule was chosen.


def sine(n, rng):
    X = rng.uniform(-3, 3, (n, 5))
    return X, rng.random(n) < 0.5 + 0.4 * np.sin(2 * X[:, 0])


def mixed_kinds(n, rng):
    code, effect = rng.integers(0, 12, n), np.random.default_rng(5).normal(size=12)
    x = rng.normal(size=(n, 4))
    y = rng.random(n) < 1 / (1 + np.exp(-1.5 * (effect[code] + x[:, 0])))
    x[rng.random((n, 4)) < 0.1] = np.nan
    table = pd.DataFrame(x).add_prefix("x").assign(code=code.astype(str))
    return table.assign(junk=rng.integers(0, 200, n).astype(str)), y


def without_noise(n, rng):
    X = rng.integers(0, 4, (n, 8))
    y = ((X[:, 0] == 1) & (X[:, 1] != 2)) | (X[:, 2] == 3)
    return pd.DataFrame(X.astype(str)).add_prefix("c"), y


def ten_classes(n, rng):
    centres, y = 1.5 * np.random.default_rng(3).normal(size=(10, 6)), rng.integers(0, 10, n)
    return centres[y] + rng.normal(size=(n, 6)), y


def rare_class(n, rng):
    X = rng.normal(size=(n, 15))
    return X, rng.random(n) < np.where((X[:, 0] > 0.5) & (X[:, 1] > 0), 0.5, 0.03)


def weak_signal(n, rng):
    X = rng.normal(size=(n, 10))
    return X, rng.random(n) < 1 / (1 + np.exp(-0.5 * X[:, 0]))


CHOSEN_ON = [linear, exclusive_or, imbalanced, five_classes, many_values, noise]
NOT_CHOSEN_ON = [sine, mixed_kinds, without_noise, ten_classes, rare_class, weak_signal]
N_SEEDS = 30
Z = 2.58  # one in 200 by chance, on one side


@cache
def of_new_rows(design, n_seeds=N_SEEDS):
    """Whether the interval holds the error, estimate less error, and upper end less estimate."""
    covered, difference, above = [], [], []
    for seed in range(n_seeds):
        rng = np.random.default_rng(1000 + seed)
        tree = TreeClassifier().fit(*design(600, rng))
        error = 1 - tree.score(*design(10_000, rng))
        low, high = tree.estimated_error_interval_
        covered.append(low <= error <= high)
        difference.append(tree.estimated_error_ - error)
        above.append(high - tree.estimated_error_)
    return covered, difference, above


@pytest.mark.slow
@pytest.mark.parametrize("design", [*CHOSEN_ON, *NOT_CHOSEN_ON])
def test_the_estimated_error_is_that_of_new_rows(design):
    """Thirty trees of a design: of intervals that held in 72 %, this would fail nine times of ten."""
    covered, difference, above = of_new_rows(design)
    # The nominal 95 %, and an estimate that is not optimistic, both but for chance.
    assert np.mean(covered) >= 0.95 - Z * np.sqrt(0.95 * 0.05 / N_SEEDS)
    assert np.mean(difference) >= -Z * np.std(difference) / np.sqrt(N_SEEDS)
    # It may be pessimistic (the choice among all pairs of columns is charged to an exclusive or), but by
    # less than the interval says.
    assert np.mean(difference) <= np.mean(above)


@pytest.mark.slow
@pytest.mark.parametrize("designs", [CHOSEN_ON, NOT_CHOSEN_ON])
def test_the_estimated_errors_of_all_designs_are_those_of_new_rows(designs):
    """180 trees: of intervals that held in 88 %, this would fail nine times of ten; of 60, in 82 %."""
    covered, difference, _ = np.hstack([of_new_rows(design) for design in designs])
    assert np.mean(covered) >= 0.95 - Z * np.sqrt(0.95 * 0.05 / len(covered))
    assert np.mean(difference) >= -Z * np.std(difference) / np.sqrt(len(difference))


def alike(n, rng):
    """Forty columns that say nearly the same as five, of which the class depends smoothly."""
    hidden = rng.normal(size=(n, 5))
    score = hidden @ [1.2, -0.9, 0.7, 1.5, -0.5]
    return hidden.repeat(8, axis=1) + 0.3 * rng.normal(size=(n, 40)), rng.random(n) < 1 / (1 + np.exp(-score))


@pytest.mark.parametrize("n", [4_000, 16_000])
def test_many_splits_that_are_nearly_as_good_as_the_best_are_counted(n):
    """By what chance alone would find, the estimate is three to six standard errors of a share too low."""
    gaps = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        (X, y), (X_new, y_new) = alike(n, rng), alike(20_000, rng)
        tree = TreeClassifier(stopping="significance").fit(X, y)
        error = 1 - tree.score(X_new, y_new)
        low, high = tree.estimated_error_interval_
        assert low <= error <= high
        deviation = np.sqrt(error * (1 - error) / n)
        gaps.append((tree.estimated_error_ - error) / deviation)
        assert high - low < 2.6 * 1.96 * 2 * deviation
    assert abs(np.mean(gaps)) < 1.2


def test_what_halves_err_by_more_than_they_expect_is_added_for_each_split():
    """The halves' trees, grown here one by one, say how much; it is the same for every split of the path."""
    X, y = alike(2_000, np.random.default_rng(0))
    X = X.round(1)  # halves have the same bins
    tree = TreeClassifier(stopping="significance").fit(X, y)
    grown = TreeClassifier(stopping="significance").grow(X, y)
    errors = np.array([[step.estimated_error for step in one.path_] for one in (grown, tree)])
    added = errors[1] - errors[0]
    np.testing.assert_allclose(np.diff(added), added[1], atol=1e-12)
    labels = y.astype(np.uint16)
    columns = Columns.from_encoded(TableEncoder("infer").fit_transform(X))
    half = columns.shuffled_places(labels, 0) % 2
    beyond = n_splits = 0
    for part in (0, 1):
        here = half == part
        other = TreeClassifier(stopping="significance").grow(X[here], y[here])
        wrong = (other.predict(X[~here]) != y[~here]).sum()
        beyond += wrong - other.path_[other.n_splits_].estimated_error * (~here).sum()
        n_splits += other.n_splits_
    assert added[1] * len(y) == pytest.approx(beyond / n_splits, abs=0.3)  # majorities are not shrunk there
    assert added[1] > 0


@pytest.mark.parametrize("criterion", ["ginger", "entropy"])
def test_the_estimate_of_a_tree_that_grows_too_large_says_so(criterion):
    """One class in four; half of the rows' classes have nothing to do with any column."""
    gaps = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(10_400, 8))
        y = np.where(rng.random(len(X)) < 0.5, X[:, 0] > 0.67, rng.random(len(X)) < 0.25).astype(int)
        tree = TreeClassifier(criterion=criterion, stopping="none", max_splits=40).fit(X[:400], y[:400])
        gaps.append(tree.estimated_error_ - (1 - tree.score(X[400:], y[400:])))
        assert 1 - tree.score(X[:400], y[:400]) < 0.12  # what it looks like on the sample
    assert abs(np.mean(gaps)) < 0.02


def test_on_noise_a_tree_that_does_not_stop_errs_as_often_as_two_rows_differ():
    """Each leaf predicts a class by luck: with 1 in 4 of a class, 3 in 8 of new rows are wrong."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 10)), (rng.random(600) < 0.25).astype(int)
    tree = TreeClassifier(stopping="none").fit(X, y)
    assert tree.score(X, y) > 0.98
    p = y.mean()
    assert tree.estimated_error_ == pytest.approx(2 * p * (1 - p), abs=0.03)


if __name__ == "__main__":
    for kind in NOISE:
        print(kind[0].__name__, *kind[1:], n_split(*kind, int(sys.argv[1])), flush=True)  # noqa: T201
    for design in (*CHOSEN_ON, *NOT_CHOSEN_ON):
        means = np.mean(of_new_rows(design, int(sys.argv[1])), axis=1)
        print(design.__name__, *means.round(4), flush=True)  # noqa: T201
