"""Useful alone, useless given the others."""

import numpy as np
import pytest

from offsample.report._study import Options, Study
from offsample.report.findings import masked


def study_of(seed, left, random=0.2, n=4000):
    """`proxy` is a coarse copy of the cause, replaced at random; beyond it, it has an effect of its own."""
    rng = np.random.default_rng(seed)
    cause = rng.integers(0, 6, n)
    proxy = np.where(rng.random(n) < random, rng.integers(0, 2, n), cause // 3)
    other = rng.normal(size=n)
    rate = 0.1 + 0.12 * cause + left * (2 * proxy - 1)
    y = (rng.random(n) < np.clip(rate, 0, 1)).astype(int)
    return Study({"cause": cause, "proxy": proxy, "other": other, "y": y}, "y", Options())


def found(study, features):
    study.model, study.allowed = study.tree(features), features
    return set(masked.find(study))


@pytest.mark.parametrize("seed", range(5))
def test_a_proxy_is_masked_by_its_cause(seed):
    assert found(study_of(seed, 0.0), ["cause"]) == {"proxy"}


def test_a_column_with_an_effect_of_its_own_is_not_called_masked():
    # About a third of its gain is left within the values of the cause.
    wrong = sum("proxy" in found(study_of(seed, 0.12, random=0.6), ["cause"]) for seed in range(40))
    assert wrong <= 5  # at most 5 % by the rule: 6 or more of 40 in one of a hundred


def test_gain_within_is_the_weighted_sum_over_strata():
    rng = np.random.default_rng(0)
    strata, codes, labels = rng.integers(0, 3, 300), rng.integers(0, 4, 300), rng.integers(0, 2, 300)
    gain, deviation = masked.gain_within(strata, codes, labels)
    parts = [masked.gain_within(np.zeros(n, int), codes[rows], labels[rows]) for rows, n in
             ((strata == s, int((strata == s).sum())) for s in range(3))]  # fmt: skip
    shares = np.bincount(strata) / 300
    assert gain == pytest.approx(float(shares @ [part[0] for part in parts]))
    assert deviation == pytest.approx(float(np.sqrt(shares**2 @ [part[1] ** 2 for part in parts])))


def test_gain_within_has_mean_zero_over_shuffles():
    rng = np.random.default_rng(0)
    strata, codes = rng.integers(0, 3, 200), rng.integers(0, 10, 200)
    labels = (rng.random(200) < 0.2 + 0.2 * strata).astype(int)
    gains, deviations = [], []
    for _ in range(400):
        shuffled = labels.copy()
        for s in range(3):
            shuffled[strata == s] = rng.permutation(labels[strata == s])
        gain, deviation = masked.gain_within(strata, codes, shuffled)
        gains.append(gain)
        deviations.append(deviation)
    assert abs(np.mean(gains)) < 4 * np.std(gains) / 20
    assert np.std(gains) == pytest.approx(np.mean(deviations), rel=0.15)
