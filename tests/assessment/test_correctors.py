"""Each correction against a slow obvious twin, and what must not change it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from offsample.assessment._correctors import (
    bootstrap,
    indistinguishable,
    shrinkage,
)
from papers.tuning_optimism._correctors import information, left_out_fold, tibshirani

FOLD_CORRECTORS = {
    function.__name__: function for function in (bootstrap, shrinkage, left_out_fold, tibshirani)
}

# Few values, so that ties and equal configurations occur.
tables = st.tuples(st.integers(1, 5), st.integers(2, 4)).flatmap(
    lambda shape: arrays(float, shape, elements=st.integers(0, 4).map(lambda k: k / 4))
)


def chosen(scores):
    return [i for i, score in enumerate(scores) if score <= min(scores) + 1e-12]


def bootstrap_twin(losses):
    """All ordered samples of the folds, one by one."""
    losses = np.unique(losses, axis=0)
    n = losses.shape[1]
    if len(losses) == 1:
        return losses[0].mean()
    judged = []
    for drawn in product(range(n), repeat=n):
        left_out = [k for k in range(n) if k not in drawn]
        if left_out:
            best = chosen([row[list(drawn)].mean() for row in losses])
            judged.append(np.mean([losses[i, left_out].mean() for i in best]))
    return np.mean(judged)


@given(tables)
def test_bootstrap_of_folds_is_exact(losses):
    assert bootstrap(losses) == pytest.approx(bootstrap_twin(losses), abs=1e-12)


def test_bootstrap_of_rows_converges_to_the_exact_one():
    losses = np.random.default_rng(0).random((6, 8))  # eight units are drawn, not enumerated
    assert bootstrap(losses, n_draws=20_000, seed=1) == pytest.approx(
        bootstrap(losses, n_draws=20_000, seed=2), abs=0.01
    )
    twin = np.mean([bootstrap_of_one_sample(losses, seed) for seed in range(3000)])
    assert bootstrap(losses, n_draws=20_000) == pytest.approx(twin, abs=0.012)


def bootstrap_of_one_sample(losses, seed):
    rng = np.random.default_rng(seed + 10**6)
    while True:
        drawn = rng.integers(0, losses.shape[1], losses.shape[1])
        left_out = np.setdiff1d(np.arange(losses.shape[1]), drawn)
        if len(left_out):
            return losses[losses[:, drawn].mean(axis=1).argmin(), left_out].mean()


@given(tables)
def test_left_out_fold_equals_its_twin(losses):
    distinct = np.unique(losses, axis=0)
    judged = []
    for k in range(losses.shape[1]):
        others = np.delete(distinct, k, axis=1).mean(axis=1)
        judged.append(np.mean([distinct[i, k] for i in chosen(others)]))
    assert left_out_fold(losses) == pytest.approx(np.mean(judged), abs=1e-12)


@given(tables)
def test_tibshirani_equals_its_twin(losses):
    best = losses[losses.mean(axis=1).argmin()]
    optimism = np.mean([best[k] - losses[:, k].min() for k in range(losses.shape[1])])
    assert tibshirani(losses) == pytest.approx(best.mean() + optimism, abs=1e-12)


@pytest.mark.parametrize("name", FOLD_CORRECTORS)
@given(losses=tables, seed=st.integers(0, 100))
def test_order_and_duplicates_change_nothing(name, losses, seed):
    rng = np.random.default_rng(seed)
    corrected = FOLD_CORRECTORS[name](losses)
    assert FOLD_CORRECTORS[name](rng.permutation(losses)) == pytest.approx(corrected, abs=1e-12)
    again = np.vstack([losses, losses[rng.integers(0, len(losses), 3)]])
    assert FOLD_CORRECTORS[name](again) == pytest.approx(corrected, abs=1e-12)
    assert FOLD_CORRECTORS[name](losses[:1]) == pytest.approx(losses[0].mean(), abs=1e-12)


@pytest.mark.parametrize("name", FOLD_CORRECTORS)
@given(losses=tables, shift=st.integers(-8, 8), scale=st.sampled_from([0.5, 2.0, 16.0]))
def test_units_change_nothing(name, losses, shift, scale):
    expected = scale * FOLD_CORRECTORS[name](losses) + shift
    assert FOLD_CORRECTORS[name](scale * losses + shift) == pytest.approx(expected, abs=1e-9)


def test_shrinkage_knows_the_best_of_independent_normals():
    """Equal true means, independent noise: the optimism is the mean of the largest of ten normals, 1.5388."""
    rng = np.random.default_rng(0)
    bias = [shrinkage(rng.normal(size=(10, 400)), n_draws=400) for _ in range(200)]
    # Means of 400 folds have a standard deviation of 1/20; the smallest lies 1.5388/20 below 0.
    assert np.mean(bias) == pytest.approx(0, abs=0.012)


def test_shrinkage_of_one_score_each():
    rng = np.random.default_rng(1)
    corrected = [shrinkage(rng.normal(0, 0.1, (50, 1)), noise_variance=0.01) for _ in range(100)]
    assert np.mean(corrected) == pytest.approx(0, abs=0.05)
    apart = np.arange(5.0)[:, None]  # far apart: nothing to correct
    assert shrinkage(apart, noise_variance=1e-6) == pytest.approx(0, abs=1e-3)


def test_information_is_the_mean_gain_of_a_tuner():
    """One hold-out set of 100 rows: 8 configurations tell 3 labels, of which the rule had 70 % right."""
    untuned = 0.3
    tuned = untuned - 3 * untuned / 100
    assert information(np.array([[tuned]]), 100, 8) == pytest.approx(untuned, abs=1e-12)
    # Shared by five folds, three labels for each: right in 11/16 of the cases, and no gain for a good rule.
    tuned = untuned * (1 - 15 / 100) + 15 / 100 * 5 / 16
    assert information(np.full((1, 5), tuned), 100, 8) == pytest.approx(max(tuned, untuned), abs=1e-12)
    poor = 0.45  # which gains by the majority's label
    tuned = poor * (1 - 15 / 100) + 15 / 100 * 5 / 16
    assert information(np.full((1, 5), tuned), 100, 8) == pytest.approx(poor, abs=1e-12)
    tuned = poor * (1 - 15 / 100)  # chosen for each fold: always right
    assert information(np.full((1, 5), tuned), 100, 8, shared=False) == pytest.approx(poor, abs=1e-12)


def test_indistinguishable():
    rng = np.random.default_rng(0)
    base = rng.normal(0.2, 0.02, 10)
    losses = np.array([base, base + rng.normal(0.001, 0.01, 10), base + rng.normal(0.1, 0.01, 10)])
    assert indistinguishable(losses).tolist() == [True, True, False]
    assert indistinguishable(losses[:, :1] * 0 + [[1], [1], [2]]).tolist() == [True, True, False]
