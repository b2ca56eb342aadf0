"""Planning a hold-out set, and trusting a score, against binomial sums."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from offsample import audit_search, plan_holdout
from offsample.assessment import best_of_mean, trust_in_score
from offsample.assessment._luck import normal_best_mean
from offsample.assessment._metrics import METRICS
from offsample.bounds import tuned_holdout_deviation, tuned_holdout_size


def test_bound_in_all_directions():
    size = plan_holdout(10_000, 64, 0.03)
    assert size.n_test == tuned_holdout_size(6, 0.03)
    assert (size.n_train, size.feasible, size.solved_for) == (10_000 - size.n_test, True, "n_test")
    precision = plan_holdout(n_configurations=64, n_test=1186)
    assert precision.precision == tuned_holdout_deviation(6, 1186)
    assert precision.n_train is None
    number = plan_holdout(target_precision=0.05, n_test=1186)
    assert tuned_holdout_deviation(math.log2(number.n_configurations), 1186) <= 0.05
    assert tuned_holdout_deviation(math.log2(number.n_configurations + 1), 1186) > 0.05
    assert "exceeds what they show by at most" in repr(number)
    assert number.to_dict()["solved_for"] == "n_configurations"


@given(st.integers(20, 3000), st.floats(0.01, 0.3), st.floats(0, 0.6), st.integers(1, 1000))
def test_exact_limit_in_all_directions(n_test, target, error, number):
    error = round(error * n_test) / n_test
    precision = plan_holdout(n_configurations=number, n_test=n_test, expected_error=error).precision
    # The limit is where so few errors have the probability 0.05 / number.
    tail = binom.cdf(round(error * n_test), n_test, error + precision)
    assert tail == pytest.approx(0.05 / number, rel=1e-6)
    assert precision <= tuned_holdout_deviation(math.log2(number), n_test) + 1e-12
    most = plan_holdout(target_precision=target, n_test=n_test, expected_error=error).n_configurations
    if 1 <= most < 1e9:
        options = {"n_test": n_test, "expected_error": error}
        assert plan_holdout(n_configurations=most, **options).precision <= target * (1 + 1e-9)
        assert plan_holdout(n_configurations=most + 1, **options).precision > target


@given(st.floats(0.02, 0.2), st.floats(0, 0.5), st.integers(1, 1000))
def test_smallest_size(target, error, number):
    n_test = plan_holdout(n_configurations=number, target_precision=target, expected_error=error).n_test
    options = {"n_configurations": number, "expected_error": error}
    assert plan_holdout(n_test=n_test, **options).precision <= target + 1e-12
    if n_test > 30:  # fewer are not worth holding out
        assert plan_holdout(n_test=n_test - 1, **options).precision > target
    assert n_test >= 30


def test_what_cannot_be_had():
    assert not plan_holdout(1000, 64, 0.03).feasible
    nothing = plan_holdout(n_test=20, target_precision=0.01)
    assert (nothing.n_configurations, nothing.feasible) == (0, False)
    assert plan_holdout(n_test=10**7, target_precision=0.4).n_configurations == math.inf
    # Too few rows for anything but a guess; and a set that leaves nobody to train.
    assert not plan_holdout(n_test=3, n_configurations=100).feasible
    assert not plan_holdout(1000, 50, n_test=1000).feasible
    assert plan_holdout(1000, 50, n_test=600).feasible  # as its owner wants it
    assert "cross-validate instead" in repr(nothing)


@pytest.mark.parametrize("n_samples", [60, 100, 150, 1000, 72_983, 10**7])
@pytest.mark.parametrize("others", [{"n_configurations": 50}, {"target_precision": 0.05}])
def test_rows_to_train_on_are_left(n_samples, others):
    plan = plan_holdout(n_samples, **others)
    assert plan.n_test == max(30, n_samples // 5)
    assert plan.n_train == n_samples - plan.n_test >= plan.n_test
    n_test = {"n_test": plan.n_test}
    assert plan.precision == plan_holdout(**n_test, **others).precision
    assert plan.n_configurations == plan_holdout(**n_test, **others).n_configurations


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give two of n_test"),
        ({"n_test": 10}, "give two of n_test"),
        ({"n_test": 10, "n_configurations": 2, "target_precision": 0.1}, "got 3"),
        ({"n_test": 0, "n_configurations": 2}, "n_test must be at least 1, got 0"),
        ({"n_test": 9, "n_configurations": 0}, "n_configurations must be at least 1, got 0"),
        (
            {"n_test": 9, "n_configurations": math.inf},
            "n_configurations must be finite, got a number beyond 10.308",
        ),
        ({"n_samples": 1, "n_configurations": 5}, "n_samples must be at least 2, got 1"),
        ({"n_test": 9, "target_precision": 0.5}, "target_precision must be at least 0.000001 and below 0.5"),
        ({"n_test": 9, "n_configurations": 2, "expected_error": 1}, "expected_error must lie in"),
        ({"n_test": 9, "n_samples": 5, "n_configurations": 2}, "n_test must be at most n_samples"),
        ({"n_test": 9, "n_configurations": 2, "confidence": 1}, "confidence must lie strictly"),
    ],
)
def test_bad_plans(options, message):
    with pytest.raises(ValueError, match=message):
        plan_holdout(**options)


@pytest.mark.parametrize(("n", "rate", "number"), [(200, 0.5, 42), (50, 0.9, 7), (1000, 0.01, 300)])
def test_mean_of_the_best_equals_monte_carlo(n, rate, number):
    best = np.random.default_rng(0).binomial(n, rate, (20_000, number)).max(axis=1) / n
    error = best.std() / np.sqrt(20_000)
    assert best_of_mean(n, rate, number) == pytest.approx(best.mean(), abs=4 * error)
    assert best_of_mean(n, rate, 1) == pytest.approx(rate, abs=1e-12)


def test_trust_in_a_score():
    trust = trust_in_score(0.924, n_test=1186, n_configurations=64)
    assert best_of_mean(1186, trust.corrected, 64) == pytest.approx(0.924, abs=1e-9)
    hits = round(0.924 * 1186)
    assert binom.sf(hits - 1, 1186, trust.low) == pytest.approx(0.025 / 64, rel=1e-6)
    assert binom.cdf(hits, 1186, trust.high) == pytest.approx(0.025, rel=1e-6)
    assert trust.deviation == tuned_holdout_deviation(6, 1186)
    assert trust.optimism == pytest.approx(0.924 - trust.corrected)
    assert trust.to_dict()["capacity"]["n_known"] == trust.capacity.n_known
    assert any("by luck" in sentence for sentence in trust.sentences)
    assert repr(trust) == "\n".join(trust.sentences)


def test_an_error_is_an_accuracy_turned_round():
    score = trust_in_score(0.9, n_test=300, n_configurations=20, baseline=0.6)
    error = trust_in_score(0.1, n_test=300, n_configurations=20, baseline=0.4, greater_is_better=False)
    assert error.corrected == pytest.approx(1 - score.corrected)
    assert (error.low, error.high) == pytest.approx((1 - score.high, 1 - score.low))
    assert error.optimism == pytest.approx(score.optimism)
    assert error.log10_guesses == pytest.approx(score.log10_guesses)


def test_one_configuration_is_not_corrected():
    trust = trust_in_score(0.9, n_test=300)
    assert trust.corrected == trust.naive
    assert trust.low == pytest.approx(0.8604, abs=5e-4)


def test_ends_of_the_range():
    assert trust_in_score(1.0, n_test=50, n_configurations=10).corrected < 1
    assert trust_in_score(0.0, n_test=50, n_configurations=10).corrected == 0
    assert trust_in_score(0.9, n_test=50, n_configurations=1e12).corrected < 0.6
    poor = trust_in_score(0.56, n_test=100, n_configurations=50)
    assert "The score may be no better than a guess: mere guessing has accuracy 0.5000." in poor.sentences
    assert trust_in_score(0.4, n_test=100).capacity is None


def test_the_limit_holds_for_the_best_of_many():
    """Thirty configurations of different quality on the same rows, chosen by looks: 95 % at least."""
    rng = np.random.default_rng(0)
    rates = rng.uniform(0.6, 0.8, 30)
    hits = rng.binomial(200, rates, (1500, 30))
    best = hits.argmax(axis=1)
    trusts = {
        n: trust_in_score(n / 200, n_test=200, n_configurations=30) for n in np.unique(hits.max(axis=1))
    }
    low = np.array([trusts[n].low for n in hits.max(axis=1)])
    high = np.array([trusts[n].high for n in hits.max(axis=1)])
    assert np.mean((low <= rates[best]) & (rates[best] <= high)) >= 0.95


def test_trust_in_a_table():
    table = np.random.default_rng(0).normal(0.55, 0.05, (9, 5))
    trust = trust_in_score(scores=table, baseline=0.56)
    audit = audit_search(table)
    assert (trust.naive, trust.corrected, trust.low, trust.high) == (
        audit.naive, audit.corrected, audit.low, audit.high,
    )  # fmt: skip
    assert trust.audit == audit
    assert "It may mean nothing" in trust.sentences[-2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give a score with n_test, or the scores of all"),
        ({"score": 0.5}, "n_test is missing"),
        ({"score": 5, "n_test": 9}, "score must be an accuracy or error rate between 0 and 1, got 5"),
        ({"score": 0.5, "n_test": 0}, "n_test must be at least 1"),
        (
            {"score": 0.5, "n_test": 9, "n_configurations": 0},
            "n_configurations must be at least 1, got 0",
        ),
        ({"score": 0.5, "n_test": 9, "n_classes": 1}, "n_classes must be at least 2"),
        ({"score": 0.5, "n_test": 9, "baseline": 2}, "baseline must lie between 0 and 1"),
        ({"score": 0.5, "n_test": 9, "confidence": 2}, "confidence must lie strictly"),
    ],
)
def test_bad_trust(options, message):
    with pytest.raises(ValueError, match=message):
        trust_in_score(**options)


def test_the_best_of_more_configurations_than_floats_can_multiply():
    assert best_of_mean(1, 0.5, 1e308) == 1.0
    assert trust_in_score(0.9, n_test=1, n_configurations=1e308).corrected < 1e-9


@pytest.mark.parametrize(("rate", "number"), [(0.5, 1), (0.9, 64), (0.001, 1e12), (0.3, 1e300)])
def test_the_mean_of_the_best_of_many_rows_skips_terms(rate, number):
    """A million rows: the sum over every so many-th row is that over all of them."""
    n = 10**6
    s = np.arange(n)
    below, above = binom.cdf(s, n, rate), binom.sf(s, n, rate)
    with np.errstate(divide="ignore", over="ignore"):
        log_cdf = np.where(above < 0.5, np.log1p(-above), np.log(below))
        whole = -np.expm1(number * log_cdf).sum() / n
    assert best_of_mean(n, rate, number) == pytest.approx(whole, abs=1e-10)


def test_a_tail_below_all_floats():
    """Where floats are still large enough, its logarithm is that of the sum; beyond, it goes on falling."""
    from offsample.assessment._luck import log_upper_tail

    logs = {n: log_upper_tail(round(0.9 * n), n, 0.5) for n in (500, 1000, 2000, 2100, 10**5, 10**8)}
    for n in (500, 1000):
        assert logs[n] == pytest.approx(math.log(binom.sf(round(0.9 * n) - 1, n, 0.5)), rel=1e-9)
    # A binomial tail by whole numbers, and the rate of large deviations.
    exact = sum(math.comb(2100, k) for k in range(1890, 2101))
    assert logs[2100] == pytest.approx(math.log(exact) - 2100 * math.log(2), rel=1e-9)
    divergence = 0.9 * math.log(0.9 / 0.5) + 0.1 * math.log(0.1 / 0.5)
    assert logs[10**8] == pytest.approx(-(10**8) * divergence, rel=1e-6)


@pytest.mark.parametrize("n_test", [1, 10**7])
@pytest.mark.parametrize("n_configurations", [1, 1.7e308])
@pytest.mark.parametrize("baseline", [0, 5e-324, 0.5, 1])
@pytest.mark.parametrize("score", [0, 0.9, 1])
def test_extreme_numbers_are_answered_in_words(n_test, n_configurations, baseline, score):
    trust = trust_in_score(score, n_test=n_test, n_configurations=n_configurations, baseline=baseline)
    said = repr(trust)
    assert "nan" not in said
    assert "inf" not in said
    assert "-0.0000" not in said
    assert "1 test rows" not in said
    assert 0 <= trust.low <= trust.high <= 1
    assert 0 <= trust.corrected <= 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: trust_in_score(0.9, n_test=2 * 10**9), "n_test must be at most 1,000,000,000, got 2,000,"),
        (lambda: trust_in_score(0.9, n_test=10**400), "n_test must be at most 1,000,000,000, got more than"),
        (lambda: trust_in_score(0.9, n_test=9, n_classes=10**400), "n_classes must be at most"),
        (lambda: trust_in_score(0.9, n_test=9, n_configurations=10**400), "n_configurations must be finite"),
        (lambda: plan_holdout(10**400, 5), "n_samples must be at most 1,000,000,000,000,000, got more than"),
        (lambda: plan_holdout(100, target_precision=5e-324), "target_precision must be at least 0.000001"),
        (lambda: plan_holdout(100, 5, confidence=5e-324), "confidence must lie strictly between 0 and 1"),
        (lambda: audit_search([[1.7e308, 1], [2, 3]]), r"scores must lie between -1e\+100 and 1e\+100"),
        (lambda: audit_search([[0.5], [0.6]], n_samples=10**400), "n_samples must be at most"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message) as refused:
        call()
    assert len(str(refused.value)) < 150


def test_few_are_counted_in_good_english():
    said = repr(trust_in_score(scores=[[0.7, 0.8]]))
    assert said.startswith("Reported: 0.7500, on 2 folds.\nExpect 0.7500 on new rows.\nWith 95%")
    alone = repr(trust_in_score(scores=[[0.7]]))
    assert "on 1 fold." in alone
    assert "cannot be told from one score" in alone
    assert "inf" not in alone
    few = trust_in_score(scores=[[0.7, 0.8], [0.1, np.nan]])
    assert "1 configuration without a score on every fold was left out." in few.sentences
    assert "99.9% confidence" in repr(trust_in_score(0.9, n_test=99, confidence=0.999))


def test_the_best_of_normal_numbers_equals_monte_carlo():
    best = np.random.default_rng(0).normal(size=(20_000, 20)).max(axis=1)
    assert normal_best_mean(20) == pytest.approx(best.mean(), abs=4 * best.std() / np.sqrt(20_000))
    assert normal_best_mean(1) == pytest.approx(0, abs=1e-9)
    assert normal_best_mean(2) == pytest.approx(1 / math.sqrt(math.pi), abs=1e-6)


def test_standard_errors_of_a_score_alone_are_those_of_samples():
    """Exponential ratings, for which Hanley and McNeil's formula is exact, and normal errors."""
    rng = np.random.default_rng(0)
    counts = np.ones((1, 150))
    y = np.arange(150) % 3 == 0
    rated = np.where(y, 3.0, 1.0) * rng.exponential(size=(3000, 150))
    areas = np.array([METRICS["auc"].score(y, p, counts)[0] for p in rated])
    assert areas.mean() == pytest.approx(0.75, abs=0.005)
    one = trust_in_score(0.75, n_test=150, n_positive=50, metric="auc")
    assert (one.high - one.low) / 2 / 1.96 == pytest.approx(areas.std(), rel=0.05)
    signal, noise = rng.normal(size=(2, 3000, 150))
    fits = [METRICS["r2"].score(s + e, s, counts)[0] for s, e in zip(signal, noise, strict=True)]
    two = trust_in_score(0.5, n_test=150, metric="r2")
    assert (two.high - two.low) / 2 / 1.96 == pytest.approx(np.std(fits), rel=0.05)


@pytest.mark.parametrize(("n_positive", "n_test"), [(10, 20), (5, 20), (10, 100)])
def test_a_perfect_auc_is_not_certain(n_positive, n_test):
    """Below the limit, samples of exponential ratings are perfect in less than 2.5 %."""
    low = trust_in_score(1.0, n_test=n_test, n_positive=n_positive, metric="auc").low
    assert low < 0.9
    rng = np.random.default_rng(0)
    positive = low / (1 - low) * rng.exponential(size=(4000, n_positive)).min(axis=1)
    perfect = (positive > rng.exponential(size=(4000, n_test - n_positive)).max(axis=1)).mean()
    assert perfect <= 0.025 + 2 * math.sqrt(0.025 * 0.975 / 4000)
    many = trust_in_score(1.0, n_test=n_test, n_positive=n_positive, n_configurations=64, metric="auc")
    assert many.corrected < many.naive
    assert many.low < low
    turned = trust_in_score(0.0, n_test=n_test, n_positive=n_positive, metric="auc")
    assert turned.high > 0.05


def test_the_best_of_many_scores_of_a_metric():
    trust = trust_in_score(0.81, n_test=500, n_configurations=64, metric="roc_auc", n_positive=100)
    alone = trust_in_score(0.81, n_test=500, metric="auc", n_positive=100)
    assert trust.corrected == pytest.approx(0.81 - trust.optimism)
    assert trust.low < trust.corrected < alone.low < trust.high == alone.high
    assert trust.sentences[0] == "Reported: AUC 0.8100 on 500 test rows, the best of 64 configurations."
    loss = trust_in_score(0.24, n_test=500, n_configurations=9, metric="neg_log_loss", standard_error=0.02)
    assert loss.corrected == pytest.approx(0.24 + 0.02 * normal_best_mean(9))
    assert loss.low == pytest.approx(0.24 - 1.96 * 0.02, abs=1e-4)
    assert loss.high > 0.24 + 2.7 * 0.02
    guess = trust_in_score(0.52, n_test=100, n_positive=50, metric="auc")
    assert guess.sentences[-1] == "The score may be no better than a guess: mere guessing has AUC 0.5000."
    assert trust_in_score(0.9, n_test=50, metric="accuracy") == trust_in_score(0.9, n_test=50)


@pytest.mark.parametrize(
    ("score", "options", "message"),
    [
        (0.2, {"metric": "log_loss"}, "standard_error is missing: losses of rows have no bound"),
        (0.8, {"metric": "auc"}, "n_positive is missing"),
        (0.8, {"metric": "auc", "n_positive": 100}, "n_positive must be"),
        (1.8, {"metric": "auc", "n_positive": 10}, "score must be between 0 and 1, as AUC is"),
        (1.3, {"metric": "auc", "standard_error": 0.02}, "score must be between 0 and 1, as AUC is, got 1.3"),
        (-1, {"metric": "log_loss", "standard_error": 0.02}, "score must be at least 0, as log loss is"),
        (1.8, {"metric": "r2"}, "score must be at most 1, as R² is"),
        (1, {"metric": "r2"}, "standard_error is missing: .* and R² 1 does not tell it"),
        (0.8, {"metric": "r2", "standard_error": -1}, "standard_error must be at least 0"),
        (0.8, {"metric": "magic"}, "metric must be one of"),
    ],
)
def test_scores_of_metrics_that_cannot_be_judged(score, options, message):
    with pytest.raises(ValueError, match=message):
        trust_in_score(score, n_test=100, **options)
