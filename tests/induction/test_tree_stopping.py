"""Trees stop on noise, go on where there is a signal, and say what error to expect."""

import numpy as np
import pandas as pd
import pytest

from offsample.induction import TreeClassifier


def numeric_noise(m, rng):
    return rng.normal(size=(m, 20))


def categorical_noise(m, rng):
    sizes = np.geomspace(2, m, 10).astype(int)
    return pd.DataFrame({f"c{j}": rng.integers(0, size, m).astype(str) for j, size in enumerate(sizes)})


@pytest.mark.slow
@pytest.mark.parametrize("m", [50, 200, 1000])
@pytest.mark.parametrize("draw", [numeric_noise, categorical_noise])
def test_noise_is_not_split(draw, m):
    n_split = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = draw(m, rng), rng.integers(0, 2, m)
        n_split += TreeClassifier().fit(X, y).n_splits_ > 0
    assert n_split <= 10  # 5 % of 200


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 5])
def test_noise_is_not_split_with_rare_classes(n_classes):
    n_split = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = np.minimum(rng.geometric(0.6, 200) - 1, n_classes - 1)
        n_split += TreeClassifier().fit(categorical_noise(200, rng), y).n_splits_ > 0
    assert n_split <= 10


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


def test_the_hold_out_half_stops_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 10))
    y = (X[:, 3] > 0) ^ (rng.random(1000) < 0.1)
    tree = TreeClassifier(stopping="holdout").fit(X, y)
    assert 1 <= tree.n_splits_ < 20
    assert TreeClassifier(stopping="holdout").fit(X, rng.permutation(y)).n_splits_ < 20


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


@pytest.mark.slow
@pytest.mark.parametrize("design", [linear, exclusive_or, imbalanced, five_classes, many_values, noise])
def test_the_estimated_error_is_that_of_new_rows(design):
    covered, difference = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        tree = TreeClassifier().fit(*design(600, rng))
        error = 1 - tree.score(*design(20_000, rng))
        low, high = tree.estimated_error_interval_
        covered.append(low <= error <= high)
        difference.append(tree.estimated_error_ - error)
    assert np.mean(covered) >= 0.85  # 95 % but for chance
    assert -0.015 < np.mean(difference) < 0.04  # rather too large than too small
