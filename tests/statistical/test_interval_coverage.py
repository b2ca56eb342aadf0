"""Does the interval hold the error as often as it says? 2,000 samples each, fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from statistical.distributions import DEGENERATE, DISTRIBUTIONS, Distribution

from offsample.counts import CellCounts
from offsample.criteria import bayes_loo, error_interval, ginger
from offsample.hypotheses import RULES, generalization_error

N_SAMPLES = 2000
# Three standard errors of a coverage of 93 % over 2,000 samples are 1.7 points.
NOISE = 3 * np.sqrt(0.93 * 0.07 / N_SAMPLES)


def simulate(distribution: Distribution, m: int, rule: str, target: str, method: str = "auto"):
    """Ends of the interval and error of the rule learned, per sample."""
    rng = np.random.default_rng(68)
    rows = []
    for _ in range(N_SAMPLES):
        counts = distribution.sample(m, rng)
        low, high = error_interval(CellCounts(counts), rule, 0.95, target, method)
        error = generalization_error(RULES[rule](counts), distribution.values, distribution.classes)
        rows.append((low, high, error))
    return np.array(rows).T


def coverage(low, high, truth) -> float:
    return float(np.mean((low <= truth + 1e-12) & (truth <= high + 1e-12)))


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["gini", "bayes"])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_error_of_this_rule(name, rule):
    low, high, error = simulate(*DISTRIBUTIONS[name], rule, "sample")
    assert 0.93 <= coverage(low, high, error) <= 0.999


@pytest.mark.slow
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_distributions_are_always_covered(name):
    distribution, m = DEGENERATE[name]
    low, high, error = simulate(distribution, m, "gini", "sample")
    assert coverage(low, high, error) > 0.97
    assert np.mean(high - low) < 0.1  # and not by a wide interval


@pytest.mark.slow
def test_where_the_majority_rule_escapes_its_interval():
    """The docstring's caveat: few large cells with nearly equal classes."""
    distribution = Distribution(np.array([0.5, 0.5]), np.array([[0.52, 0.48], [0.48, 0.52]]))
    low, high, error = simulate(distribution, 2000, "bayes", "sample")
    assert 0.88 <= coverage(low, high, error) <= 0.94


@pytest.mark.slow
def test_the_simple_interval_is_too_short_for_small_errors():
    low, high, error = simulate(*DISTRIBUTIONS["1 % error"], "gini", "sample", "robbins_wald")
    assert coverage(low, high, error) < 0.93


@pytest.mark.slow
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_expected_error_of_the_gini_rule(name):
    low, high, error = simulate(*DISTRIBUTIONS[name], "gini", "expected")
    assert coverage(low, high, error.mean()) >= 0.93 - NOISE
    low, high, error = simulate(*DISTRIBUTIONS[name], "gini", "expected", "mcdiarmid")
    assert coverage(low, high, error.mean()) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("rule", ["gini", "bayes"])
def test_estimates_are_nearly_unbiased(name, rule):
    """Mean of estimate minus error lies between 0 and (K-1)/(Km), within the noise of the simulation."""
    distribution, m = DISTRIBUTIONS[name]
    rng = np.random.default_rng(7)
    estimate = {"gini": ginger, "bayes": bayes_loo}[rule]
    differences = []
    for _ in range(N_SAMPLES):
        counts = distribution.sample(m, rng)
        error = generalization_error(RULES[rule](counts), distribution.values, distribution.classes)
        differences.append(estimate(CellCounts(counts)) - error)
    noise = 3.5 * np.std(differences) / np.sqrt(N_SAMPLES)
    n_classes = distribution.classes.shape[1]
    assert -noise <= np.mean(differences) <= (n_classes - 1) / (n_classes * m) + noise
