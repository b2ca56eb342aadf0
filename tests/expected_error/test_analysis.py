from fractions import Fraction as F
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from theorem_twins import many_digits, subset_sum

import offsample
from offsample.expected_error import ErrorPrior, expected_error
from offsample.expected_error._binomial import log_pmf, tails
from offsample.expected_error.analysis import METHODS
from papers.expected_error._drawn import prior_of_draws
from papers.expected_error._functions import all_functions_prior


def forecast(errors, counts, m, method="exact"):
    total = sum(counts)
    prior = ErrorPrior([float(e) for e in errors], log_mass=[log(n) - log(total) for n in counts])
    return expected_error(prior, log(total), m, method)


TINY = [
    ([F(1, 4), F(1, 2)], [2, 3], 4),
    ([F(0), F(1, 3), F(1)], [1, 2, 2], 3),
    ([F(1, 10), F(2, 5)], [1, 1], 1),
    ([F(1, 2)], [1], 1),
    ([F(1)], [2], 1),
    ([F(0), F(1)], [1, 1], 2),
    ([F(1, 5), F(1, 3), F(9, 10)], [1, 3, 2], 5),
]


@pytest.mark.parametrize(("errors", "counts", "m"), TINY)
def test_exact_is_the_sum_over_subsets(errors, counts, m):
    want = [float(x) for x in subset_sum(errors, counts, m)]
    found = forecast(errors, counts, m)
    assert sum(want) == pytest.approx(1, abs=1e-15)
    assert found.posterior == pytest.approx(want, abs=1e-13)
    assert found.diagnostics.method == "exact"


@pytest.mark.parametrize(
    ("errors", "counts", "m"),
    [
        ([0.05, 0.2, 0.5], [1, 10**4, 10**20], 30),
        ([0.1, 0.3, 0.45], [3, 10**7, 10**12], 40),
        ([0.0, 0.25, 0.5], [1, 500, 10**6], 25),
        ([0.3, 0.5], [1, 10**30], 12),
    ],
)
def test_exact_agrees_with_many_digits(errors, counts, m):
    assert forecast(errors, counts, m).posterior == pytest.approx(many_digits(errors, counts, m), abs=1e-12)


@pytest.mark.parametrize(
    ("errors", "counts", "m"), [([0.1, 0.3, 0.5], [1, 5, 30], 20), ([0.2, 0.25], [2, 40], 10)]
)
def test_monte_carlo_of_independent_binomials(errors, counts, m):
    rng = np.random.default_rng(0)
    n_runs = 100_000
    atom = np.repeat(np.arange(len(errors)), counts)
    drawn = rng.binomial(m, np.array(errors)[atom], (n_runs, len(atom)))
    tied = drawn == drawn.min(axis=1, keepdims=True)
    chosen = atom[np.argmax(tied * rng.random(tied.shape), axis=1)]
    seen = np.bincount(chosen, minlength=len(errors)) / n_runs
    found = forecast(errors, counts, m)
    assert found.posterior == pytest.approx(seen, abs=5 / np.sqrt(n_runs))
    assert found.diagnostics.training_error == pytest.approx(drawn.min(axis=1).mean() / m, abs=0.005)


def test_theorem5_exact_is_a_model_of_drawn_hypotheses():
    rng = np.random.default_rng(1)
    errors, mass, n, m = np.array([0.05, 0.3, 0.5]), np.array([0.02, 0.3, 0.68]), 12, 15
    n_runs = 60_000
    atom = rng.choice(3, (n_runs, n), p=mass)
    drawn = rng.binomial(m, errors[atom])
    tied = drawn == drawn.min(axis=1, keepdims=True)
    chosen = np.take_along_axis(atom, np.argmax(tied * rng.random(tied.shape), axis=1)[:, None], 1).ravel()
    found = expected_error(ErrorPrior(errors, mass), log(n), m, "theorem5_exact")
    assert found.posterior == pytest.approx(np.bincount(chosen, minlength=3) / n_runs, abs=0.01)


def test_theorem5_and_7_are_their_formulas():
    errors, counts, m = np.array([0.1, 0.3, 0.5]), np.array([2, 5, 9]), 12
    n, p = counts.sum(), counts / counts.sum()
    b = np.stack([binom.pmf(np.arange(m + 1), m, e) for e in errors])
    at_least = np.cumsum(b[:, ::-1], axis=1)[:, ::-1]
    fifth = p * (b * (p @ at_least) ** (n - 1)).sum(axis=1)
    assert forecast(errors, counts, m, "theorem5").posterior == pytest.approx(fifth / fifth.sum(), abs=1e-13)
    every = np.prod(at_least ** counts[:, None], axis=0)
    seventh = p * (b / at_least * every).sum(axis=1)
    assert forecast(errors, counts, m, "theorem7").posterior == pytest.approx(
        seventh / seventh.sum(), abs=1e-13
    )
    limit = p * (1 - errors) ** m
    assert forecast(errors, counts, m, "limit").posterior == pytest.approx(limit / limit.sum(), abs=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_chances_that_underflow(method):
    """No error in 10,000 rows at a rate of 10 % has a chance of e^-1054, and the model more hypotheses."""
    prior = ErrorPrior([0.1, 0.105, 0.5], log_mass=[-55.0, np.log1p(-np.exp(-55) - np.exp(-1)), -1.0])
    found = expected_error(prior, 1e6, 10_000, method)
    limit = expected_error(prior, 1e6, 10_000, "limit")
    assert found.posterior.sum() == pytest.approx(1, abs=1e-12)
    assert found.posterior == pytest.approx(limit.posterior, abs=1e-9)
    assert 0.01 < limit.posterior[1] < 0.99
    assert found.diagnostics.training_error == 0


@pytest.mark.parametrize("log_size", [300.0, 900.0, 1100.0, 1200.0])
def test_least_errors_of_a_model_with_more_hypotheses_than_numbers_have(log_size):
    """P(all make at least s errors) = exp(-Σ n P(S < s)), for chances so small that log(1 - x) = -x."""
    errors, log_p, m = np.array([0.6, 0.7]), np.array([-200.0, 0.0]), 1000
    log_n = log_p + log_size
    below = np.logaddexp.accumulate(binom.logpmf(np.arange(m), m, errors[:, None]), axis=1)
    with np.errstate(over="ignore"):
        all_above = np.exp(-np.exp(log_n[:, None] + below).sum(axis=0))
    found = expected_error(ErrorPrior(errors, log_mass=log_p), log_size, m)
    assert found.diagnostics.training_error == pytest.approx(all_above.sum() / m, rel=1e-9)
    assert found.posterior.sum() == pytest.approx(1, abs=1e-12)


def test_boolean_functions_of_three_bits():
    # The truth without any independence is 1/2 (7/8)^50; Assumption 3 doubles it.
    assert expected_error(all_functions_prior(3), 8 * log(2), 50).mean == pytest.approx(
        0.5 * (7 / 8) ** 50, rel=2e-4
    )
    assert expected_error(all_functions_prior(3), 8 * log(2), 50, "theorem7").mean == pytest.approx(
        0.001251, abs=1e-6
    )
    rising = [expected_error(all_functions_prior(3), b * log(2), 50).mean for b in (8, 10, 14, 20, 30)]
    limit = expected_error(all_functions_prior(3), 8 * log(2), 50, "limit").mean
    assert (np.diff([*rising, limit]) > 0).all()
    assert rising[-1] == pytest.approx(limit, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("n_cells", "log_size", "m"),
    [
        (64, 64 * log(2), 50),
        (1024, 1024 * log(2), 10_000),
        (1024, 2**64 * log(2), 10_000),
        (500, 1e6, 100_000),
    ],
)
def test_large_models_neither_underflow_nor_warn(method, n_cells, log_size, m):
    k = np.arange(n_cells + 1)
    logs = log_pmf(k, n_cells, np.asarray(0.5))
    found = expected_error(ErrorPrior(k / n_cells, log_mass=logs), log_size, m, method)
    assert found.posterior.sum() == pytest.approx(1, abs=1e-10)
    assert np.isfinite(found.posterior).all()
    assert 0 <= found.mean <= 0.5


def test_a_far_tail_decides_and_is_not_lost():
    # One hypothesis in e^1000 is right, and the learner finds it.
    prior = ErrorPrior([0.0, 0.5], log_mass=[-1000.0, 0.0])
    assert expected_error(prior, 1000.0, 5000).mean < 1e-9
    assert expected_error(prior, 1000.0, 500).mean > 0.49  # too few rows to tell it apart


def test_less_than_one_hypothesis_is_handled_as_drawn():
    found = expected_error(all_functions_prior(6), 1.0, 10)
    assert found.diagnostics.method == "theorem5_exact"
    assert found.mean == pytest.approx(0.48, abs=0.01)
    with pytest.raises(ValueError, match="theorem7 needs whole hypotheses"):
        expected_error(all_functions_prior(6), 1.0, 10, "theorem7")


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=6, unique=True),
    st.integers(1, 60),
    st.sampled_from([1, 2, 7, 10**6]),
    st.data(),
)
def test_masses_sum_to_one_and_quantiles_are_consistent(errors, m, scale, data):
    counts = [scale * data.draw(st.integers(1, 9)) for _ in errors]
    found = forecast(errors, counts, m)
    assert found.posterior.sum() == pytest.approx(1, abs=1e-9)
    assert min(errors) - 1e-9 <= found.mean <= max(errors) + 1e-9
    assert found.mean <= np.average(errors, weights=counts) + 1e-9  # better than a drawn hypothesis
    for q in (0.05, 0.5, 0.95):
        value = found.quantile(q)
        assert found.exceeds(value) <= 1 - q + 1e-9
        assert value in [pytest.approx(e) for e in errors]
    assert found.exceeds(max(errors)) == 0


def test_more_rows_help():
    means = [expected_error(all_functions_prior(5), 32 * log(2), m).mean for m in (5, 20, 80, 320)]
    assert (np.diff(means) < 0).all()


@pytest.mark.parametrize("m", [1, 7, 200])
def test_tails_are_the_binomial_ones(m):
    errors = np.array([0.0, 1e-9, 0.03, 0.4, 0.5, 0.97, 1.0])
    found = tails(errors, m, 0, m)
    s = np.arange(m + 1)
    for k, e in enumerate(errors):
        assert np.exp(found.mass[k]) == pytest.approx(binom.pmf(s, m, e), rel=1e-9, abs=1e-300)
        assert np.exp(found.below[k]) == pytest.approx(binom.cdf(s - 1, m, e), rel=1e-9, abs=1e-15)
        assert np.exp(found.at_least[k]) == pytest.approx(binom.sf(s - 1, m, e), rel=1e-9, abs=1e-15)


def test_log_pmf_to_many_digits():
    import mpmath

    with mpmath.workdps(40):
        for m, s, e in [(10, 3, 0.2), (10_000, 4000, 0.4), (10_000, 17, 0.5), (100_000, 40_123, 0.4)]:
            x = mpmath.mpf(e)
            want = mpmath.log(mpmath.binomial(m, s)) + s * mpmath.log(x) + (m - s) * mpmath.log(1 - x)
            assert float(log_pmf(np.asarray(s), m, np.asarray(e))) == pytest.approx(
                float(want), rel=2e-15, abs=2e-14
            )


def test_diagnostics_count_the_draws_in_the_tail():
    rng = np.random.default_rng(0)
    exact = expected_error(all_functions_prior(6), 64 * log(2), 50)
    assert exact.diagnostics.tail_draws is None
    assert exact.diagnostics.trusted
    drawn = prior_of_draws(rng.binomial(64, 0.5, 1000), 64)
    few = expected_error(drawn, 64 * log(2), 50)
    assert few.diagnostics.tail_draws < 30
    assert few.diagnostics.bias == "pessimistic"
    assert few.mean > exact.mean + 0.05
    small = prior_of_draws(rng.binomial(20, 0.5, 1000), 20)
    assert expected_error(small, log(4), 20).diagnostics.bias == "optimistic"
    assert set(few.to_dict()) >= {"mean", "low", "high", "trusted", "warnings"}
    assert "ErrorForecast(mean=" in repr(few)
    assert list(few.to_frame()["posterior"]) == few.posterior.tolist()


def test_the_package_is_the_function():
    from offsample import expected_error as package

    prior = ErrorPrior([0.1, 0.5], [0.5, 0.5])
    assert package(prior, 2.0, 10).mean == offsample.expected_error(prior, 2.0, 10).mean
    assert package.expected_error(prior, 2.0, 10).mean == package(prior, 2.0, 10).mean


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.0, 0), "n_samples must be a whole number of at least 1, got 0"),
        ((1.0, 2.5), "n_samples must be a whole number"),
        ((-1.0, 5), "log_size must be a finite number of at least 0"),
        ((np.inf, 5), "log_size must be"),
        ((1.0, 5, "theorem8"), "method must be one of exact"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        expected_error(ErrorPrior([0.1]), *arguments)


def test_prior_must_be_one():
    with pytest.raises(TypeError, match="prior must be an ErrorPrior, got list"):
        expected_error([0.1], 1.0, 5)


def test_quantile_is_checked():
    with pytest.raises(ValueError, match="q must lie between 0 and 1"):
        expected_error(ErrorPrior([0.1]), 1.0, 5).quantile(2)


def test_comb_counts():
    assert all_functions_prior(2).mass == pytest.approx([comb(4, k) / 16 for k in range(5)])
