from itertools import product
from math import log

import numpy as np
import pytest

from offsample.expected_error import ErrorPrior, expected_error
from offsample.expected_error._binomial import mixture_law
from papers.expected_error._deconvolution import deconvolved
from papers.expected_error._drawn import prior_of_all
from papers.expected_error._functions import (
    all_functions_prior,
    prefix_priors,
    target_prior,
    true_learning_curve,
)


def variance(prior):
    return (prior.errors - prior.mean) ** 2 @ prior.mass


def test_deconvolution_finds_the_rates_behind_the_counts():
    truth = ErrorPrior([0.1, 0.4], [0.3, 0.7])
    m = 60
    law = mixture_law(truth.errors, truth.mass, m)
    observed = ErrorPrior(np.arange(m + 1) / m, law / law.sum())._with(n_rows=m)
    found = deconvolved(observed, "npmle", max_iter=3000)
    assert found.mass[np.abs(found.errors - 0.1) < 0.03].sum() == pytest.approx(0.3, abs=0.01)
    assert found.mass[np.abs(found.errors - 0.4) < 0.04].sum() == pytest.approx(0.7, abs=0.01)
    # The smear makes the plug-in optimistic; deconvolution takes it out.
    exact = expected_error(truth, log(1000), m).mean
    assert expected_error(observed, log(1000), m).mean < exact - 0.02
    assert expected_error(found, log(1000), m).mean == pytest.approx(exact, abs=0.02)
    beta = deconvolved(observed, "moments")
    assert beta.mean == pytest.approx(truth.mean, abs=0.005)
    assert variance(beta) == pytest.approx(variance(truth), rel=0.05)
    with pytest.raises(ValueError, match="method must be 'npmle' or 'moments'"):
        deconvolved(observed, "normal")
    with pytest.raises(ValueError, match="nothing to deconvolve"):
        deconvolved(truth)


@pytest.mark.parametrize(("i", "n"), [(1, 2), (1, 3), (2, 3), (3, 3), (4, 3)])
def test_boolean_priors_against_all_functions(i, n):
    # Every target, every hypothesis: the law of priors, by mean and second moment of the error rates.
    rows = np.arange(2 ** max(i, n))
    hypotheses = np.array(list(product([0, 1], repeat=2**i)))[:, rows % 2**i] if i < 4 else None
    targets = np.array(list(product([0, 1], repeat=2**n)))[:, rows % 2**n]
    if hypotheses is None:
        assert variance(all_functions_prior(4)) == pytest.approx(1 / 64)
        return
    moments = []
    for target in targets:
        errors = (hypotheses != target).mean(axis=1)
        moments.append([(errors**2).mean(), (errors**4).mean(), errors.min()])
    priors = list(prefix_priors(i, n))
    assert sum(w for w, _ in priors) == pytest.approx(1)
    found = sum(w * np.array([p.mass @ p.errors**2, p.mass @ p.errors**4, p.errors.min()]) for w, p in priors)
    assert found == pytest.approx(np.mean(moments, axis=0), abs=1e-12)


def test_any_bits_of_a_target_against_enumeration():
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 8)
    b, i = 4, 2
    rows = np.arange(2**b)
    truth = target[rows % 8]
    errors = []
    for first, second in ((a, c) for a in range(b) for c in range(a + 1, b)):
        cell = ((rows >> first) & 1) + 2 * ((rows >> second) & 1)
        errors += [(np.array(f)[cell] != truth).mean() for f in product([0, 1], repeat=4)]
    prior, log_size = target_prior(target, i, b)
    assert np.exp(log_size) == pytest.approx(len(errors))
    want = prior_of_all(np.round(errors, 12))
    assert prior.errors == pytest.approx(want.errors)
    assert prior.mass == pytest.approx(want.mass)


def test_true_learning_curve_by_simulation():
    rng = np.random.default_rng(0)
    wrong = []
    for _ in range(4000):
        target = rng.integers(0, 2, 8)
        rows = rng.integers(0, 8, 10)
        votes = np.zeros((2, 2))
        np.add.at(votes, (rows % 2, target[rows]), 1)
        label = np.where(votes[:, 0] == votes[:, 1], rng.integers(0, 2, 2), votes[:, 1] > votes[:, 0])
        wrong.append((label[np.arange(8) % 2] != target).mean())
    assert true_learning_curve(1, 3, 10) == pytest.approx(np.mean(wrong), abs=0.01)
