"""Exact sums against enumeration, Monte Carlo, and the printed examples."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from offsample.assessment import (
    leaked_labels_capacity,
    optimism_probability,
    optimism_probability_folds,
)
from offsample.bounds import tuned_holdout_deviation, tuned_holdout_size


def enumerated(n_test, n_correct, n_known, n_extra):
    """All sets of rows whose label is told: the hits that each gains."""
    right = [i < n_correct for i in range(n_test)]
    gains = [sum(not right[i] for i in known) for known in combinations(range(n_test), n_known)]
    return np.mean(np.array(gains) >= n_extra)


@given(st.data())
def test_equals_enumeration(data):
    n_test = data.draw(st.integers(1, 9))
    n_correct, n_known = data.draw(st.integers(0, n_test)), data.draw(st.integers(0, n_test))
    n_extra = data.draw(st.integers(-1, n_test + 1))
    found = optimism_probability(n_test, n_correct, n_known, n_extra)
    assert found == pytest.approx(enumerated(n_test, n_correct, n_known, n_extra), abs=1e-12)


@pytest.mark.parametrize(
    ("n_test", "n_correct", "n_known", "n_extra"),
    [(10**6, 850_000, 1000, 200), (10**6, 850_000, 500_000, 75_300), (10**6, 1, 999_999, 999_998)],
)
def test_a_million_rows(n_test, n_correct, n_known, n_extra):
    found = optimism_probability(n_test, n_correct, n_known, n_extra)
    expected = hypergeom.sf(n_extra - 1, n_test, n_test - n_correct, n_known)
    assert found == pytest.approx(expected, rel=1e-7)  # that of scipy has lost digits by then


def test_exact_at_a_million_rows():
    """Against rational arithmetic, where the sum has few terms."""
    m, wrong, c, z = 10**6, 10, 400_000, 8
    # Which of the wrong rows are told, instead of which told rows are wrong: the same number, small factors.
    chosen = [
        math.comb(wrong, k) * math.perm(c, k) * math.perm(m - c, wrong - k) for k in range(z, wrong + 1)
    ]
    exact = Fraction(sum(chosen), math.perm(m, wrong))
    assert optimism_probability(m, m - wrong, c, z) == pytest.approx(float(exact), rel=1e-12)


@given(st.data())
def test_folds_equal_enumeration(data):
    sizes = data.draw(st.lists(st.integers(2, 5), min_size=1, max_size=3))
    correct = [data.draw(st.integers(0, size)) for size in sizes]
    n_known, n_extra = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 6))
    totals = np.zeros(1)
    for size, hits in zip(sizes, correct, strict=True):
        gains = np.array([sum(i >= hits for i in known) for known in combinations(range(size), n_known)])
        totals = np.add.outer(totals, gains).ravel()
    found = optimism_probability_folds(len(sizes), sizes, correct, n_known, n_extra)
    assert found == pytest.approx(np.mean(totals >= n_extra), abs=1e-12)


@pytest.mark.parametrize("n_folds", [4, 5])
def test_shared_parameters_equal_monte_carlo(n_folds):
    rng = np.random.default_rng(3)
    size, hits, n_known, rate, draws = 20, 13, 3, 0.6, 200_000
    y = rng.binomial(n_folds, rate, (draws, n_known))
    gained = np.maximum(y, n_folds - y).sum(axis=1)
    lost = rng.hypergeometric(hits, size - hits, n_known, (draws, n_folds)).sum(axis=1)
    for n_extra in (-3, 0, 2, 5):
        found = optimism_probability_folds(
            n_folds, size, hits, n_known, n_extra, shared_parameters=True, majority_rate=rate
        )
        simulated = np.mean(gained - lost >= n_extra)
        assert found == pytest.approx(simulated, abs=4 * math.sqrt(0.25 / draws))


def test_one_fold_is_a_hold_out_set():
    one = optimism_probability(40, 25, 7, 3)
    assert optimism_probability_folds(1, 40, 25, 7, 3) == pytest.approx(one, abs=1e-14)
    # With one fold the majority of a position is its label, whatever the rate of the classes.
    shared = optimism_probability_folds(1, 40, 25, 7, 3, shared_parameters=True, majority_rate=0.7)
    assert shared == pytest.approx(one, abs=1e-14)


def test_printed_examples():
    assert optimism_probability(2000, 1700, 60, 6) == pytest.approx(0.907, abs=5e-4)
    assert optimism_probability(2000, 1700, 16, 6) == pytest.approx(0.023, abs=5e-4)
    assert optimism_probability(1186, 1096, 85, 4) == pytest.approx(0.903, abs=5e-4)
    assert optimism_probability_folds(5, 55, 12, 8, 28) == pytest.approx(0.93573, abs=5e-6)
    # Not as printed (92 % and 90 %): what the stated inputs give.
    assert optimism_probability_folds(12, 64, 561 / 12, 4, 6) == pytest.approx(0.996, abs=5e-4)
    heart = {"shared_parameters": True, "majority_rate": 150 / 270}
    assert optimism_probability_folds(9, 30, 16, 9, 6, **heart) == pytest.approx(0.766, abs=5e-4)


def test_a_mean_that_is_not_whole_is_spread():
    spread = optimism_probability_folds(12, 64, [47] * 9 + [46] * 3, 4, 6)
    assert optimism_probability_folds(12, 64, 46.75, 4, 6) == pytest.approx(spread, abs=1e-14)
    with pytest.raises(ValueError, match=r"fold_correct times n_folds must be a whole number, got 46\.7"):
        optimism_probability_folds(12, 64, 46.7, 4, 6)


def test_many_large_folds_do_not_overflow():
    found = optimism_probability_folds(10, 100_000, 85_000, 10_000, 15_000)
    assert found == pytest.approx(0.5, abs=0.01)


def test_bits_of_the_fewest_labels():
    needed = leaked_labels_capacity(6, n_test=2000, n_correct=1700, label_entropy=2.5, n_classes=6)
    assert (needed.n_known, needed.bits, needed.n_trials) == (60, 150.0, 360)
    assert needed.n_configurations == 2.0**150
    assert optimism_probability(2000, 1700, 60, 6) == needed.probability >= 0.9
    assert optimism_probability(2000, 1700, 59, 6) < 0.9
    assert set(needed.to_dict()) == {"n_known", "bits", "n_configurations", "n_trials", "probability"}


def test_labels_may_never_suffice():
    assert leaked_labels_capacity(3, n_test=10, n_correct=8) is None
    assert leaked_labels_capacity(2, n_test=10, n_correct=8).n_known == 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(
            lambda: optimism_probability(10, 11, 2, 1),
            "expected 0 <= n_correct <= n_test",
            id="more correct than tested",
        ),
        pytest.param(
            lambda: optimism_probability(10, 5, 11, 1),
            "n_known must lie between 0 and the 10 rows, got 11",
            id="more known than tested",
        ),
        pytest.param(
            lambda: optimism_probability_folds(0, 5, 2, 1, 1),
            "n_folds must be at least 1, got 0",
            id="no fold",
        ),
        pytest.param(
            lambda: optimism_probability_folds(2, [5], 2, 1, 1),
            "fold_size has 1 values, expected one for each",
            id="sizes of fewer folds",
        ),
        pytest.param(
            lambda: optimism_probability_folds(2, 5, 2, 1, 1, shared_parameters=True),
            "shared_parameters needs a majority_rate from 0.5 to 1, got None",
            id="shared parameters without a majority rate",
        ),
        pytest.param(
            lambda: leaked_labels_capacity(1, n_test=9, n_correct=3, label_entropy=0),
            "label_entropy must be positive",
            id="labels without entropy",
        ),
        pytest.param(
            lambda: leaked_labels_capacity(1, n_test=9, n_correct=3, probability=1),
            "probability must lie strictly",
            id="probability 1",
        ),
        pytest.param(
            lambda: tuned_holdout_size(-1, 0.1),
            "bits must be finite and at least 0, got -1",
            id="negative bits to tune by",
        ),
        pytest.param(
            lambda: tuned_holdout_size(1, 0),
            "deviation must lie strictly between 0 and 1, got 0",
            id="deviation 0",
        ),
        pytest.param(
            lambda: tuned_holdout_deviation(1, 0), "n_test must be at least 1, got 0", id="no test row"
        ),
    ],
)
def test_an_impossible_number_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_theorem_15_sizes_are_rounded_up():
    printed = {(0.95, 0.05): 600, (0.95, 0.02): 3745, (0.95, 0.01): 14979}
    printed |= {(0.98, 0.05): 783, (0.98, 0.02): 4891, (0.98, 0.01): 19561}
    for (confidence, deviation), size in printed.items():
        assert tuned_holdout_size(0, deviation, confidence) == size


@given(st.floats(0, 200), st.floats(0.01, 0.5), st.floats(0.5, 0.999))
def test_theorem_15_both_directions(bits, deviation, confidence):
    size = tuned_holdout_size(bits, deviation, confidence)
    assert tuned_holdout_deviation(bits, size, confidence) <= deviation * (1 + 1e-12)
    if size > 1:
        assert tuned_holdout_deviation(bits, size - 1, confidence) > deviation * (1 - 1e-12)


def test_theorem_15_holds_in_simulation():
    """The best of 32 on 200 rows, all with an error of 0.5, where the bound is tightest."""
    errors = np.random.default_rng(0).binomial(200, 0.5, (4000, 32)).min(axis=1) / 200
    allowed = tuned_holdout_deviation(5, 200, 0.9)
    assert np.mean(0.5 - errors > allowed) <= 0.1
