"""Thresholds against the slow and obvious search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsample.induction.oblique.thresholds import fixed_thresholds, tuned_thresholds


def sample(seed: int, n_classes: int, signal: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2 * n_classes, 60))
    labels = rng.choice(n_classes, n, p=rng.dirichlet(np.ones(n_classes)))
    output = rng.random((n, n_classes)) + signal * (labels[:, None] == np.arange(n_classes))
    output = np.round(output / output.sum(axis=1, keepdims=True), 2)  # ties
    mass = rng.random(n)
    mass /= mass.sum()
    return output, labels, mass, np.bincount(labels, mass, n_classes)


def error(output, labels, mass, thresholds) -> float:
    return float(mass @ ((output - thresholds).argmax(axis=1) != labels))


@given(seed=st.integers(0, 10**9), signal=st.sampled_from([0.0, 0.5, 3.0]))
def test_two_classes_have_the_best_threshold_or_one_that_is_not_worse_than_luck(seed, signal):
    output, labels, mass, shares = sample(seed, 2, signal)
    t = tuned_thresholds(output[:, 1:], labels, mass, shares)[1]

    def loss(t: float) -> float:
        return float(mass @ ((output[:, 1] > t) != labels))

    least = min(loss(t) for t in [-1, *output[:, 1]])
    assert loss(t) <= min(loss(0.5), loss(shares[1])) + 1e-12
    if loss(t) > least + 1e-9:
        assert t in (0.5, shares[1])
        assert loss(t) - least <= 2 * np.sqrt(mass @ mass) + 1e-9


@pytest.mark.parametrize("n_classes", [3, 5])
@given(seed=st.integers(0, 10**9), signal=st.sampled_from([0.0, 0.5, 3.0]))
def test_more_classes_are_no_worse_than_the_largest_and_the_shares(n_classes, seed, signal):
    output, labels, mass, shares = sample(seed, n_classes, signal)
    found = tuned_thresholds(output, labels, mass, shares)
    simple = [error(output, labels, mass, t) for t in (np.zeros(n_classes), shares)]
    assert error(output, labels, mass, found) <= min(simple) + 1e-9
    assert np.isfinite(found).all()


def test_a_class_whose_output_is_too_low_everywhere_is_found():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 600)
    output = 0.3 * (labels[:, None] == np.arange(3)) + 0.05 * rng.random((600, 3)) + [0.4, 0.2, 0.0]
    mass, shares = np.full(600, 1 / 600), np.bincount(labels) / 600
    assert error(output, labels, mass, np.zeros(3)) > 0.3
    assert error(output, labels, mass, tuned_thresholds(output, labels, mass, shares)) == 0


def test_noise_does_not_move_them():
    rng = np.random.default_rng(0)
    moved = 0
    for _ in range(200):
        labels = (rng.random(200) < 0.3).astype(int)
        output, mass = rng.uniform(0.2, 0.4, (200, 1)), np.full(200, 1 / 200)
        found = tuned_thresholds(output, labels, mass, np.array([1 - labels.mean(), labels.mean()]))
        moved += found[1] != 0.5
    assert moved / 200 < 0.1


def test_fixed_thresholds():
    assert fixed_thresholds(0.3, 2).tolist() == [0.7, 0.3]
    assert fixed_thresholds(0.5, 3).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="is for two classes"):
        fixed_thresholds(0.3, 3)
