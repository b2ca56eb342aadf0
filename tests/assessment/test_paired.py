"""Paired tests against scipy, enumeration and their level."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from offsample import compare, nested_cross_validate, paired_test
from offsample.assessment._compare import holm
from offsample.assessment._metrics import scorer_name

SIDES = ["two-sided", "less", "greater"]


@pytest.mark.parametrize("alternative", SIDES)
def test_t_equals_scipy(alternative):
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.2, 1, 30), rng.normal(0, 1, 30)
    found = paired_test(a, b, method="t", alternative=alternative)
    expected = stats.ttest_rel(a, b, alternative=alternative)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    # As derived from Sec. 2.5, with the losses of rows in the denominator.
    d = a - b
    assert found.statistic == pytest.approx(
        np.sqrt(30 * 29) * d.mean() / np.sqrt(((d - d.mean()) ** 2).sum())
    )


def test_corrected_t_is_the_plain_one_with_a_wider_error():
    a, b = np.array([0.8, 0.82, 0.79, 0.85, 0.81]), np.array([0.78, 0.79, 0.8, 0.8, 0.79])
    plain = paired_test(a, b, method="t")
    corrected = paired_test(a, b)
    assert corrected.statistic == pytest.approx(plain.statistic * np.sqrt((1 / 5) / (1 / 5 + 1 / 4)))
    assert corrected.p_value > plain.p_value
    assert paired_test(a, b, test_share=1 / 9).statistic == pytest.approx(
        plain.statistic * np.sqrt((1 / 5) / (1 / 5 + 1 / 9))
    )
    assert paired_test(a, a).p_value == 1
    assert paired_test(a, a - 1).p_value == 0


def test_repeats_of_a_cross_validation_tell_nothing_new():
    """Six repeats of five folds: 24 rows learn for each six that test, however many scores there are."""
    a, b = np.random.default_rng(0).normal(0.8, 0.05, (2, 6, 5))
    d = (a - b).ravel()
    found = paired_test(a, b)
    assert found.statistic == pytest.approx(d.mean() / np.sqrt(d.var(ddof=1) * (1 / 30 + 1 / 4)))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.statistic), 29))
    assert found == paired_test(a.ravel(), b.ravel(), test_share=1 / 4)
    with pytest.raises(ValueError, match=r"30 scores may be of .* give them the shape \(repeats, folds\)"):
        paired_test(a.ravel(), b.ravel())


def test_5x2_equals_the_formula_written_out():
    d = np.random.default_rng(0).normal(0.02, 0.03, (5, 2))
    variances = [(x - (x + y) / 2) ** 2 + (y - (x + y) / 2) ** 2 for x, y in d]
    statistic = (d**2).sum() / (2 * sum(variances))
    found = paired_test(d, 0 * d, method="5x2cv_f")
    assert found.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(stats.f.sf(statistic, 10, 5))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30), st.sampled_from(SIDES))
def test_mcnemar_and_sign_equal_the_binomial_test(pairs, alternative):
    a, b = np.array(pairs, dtype=int).T
    larger, differing = int((a > b).sum()), int((a != b).sum())
    found = paired_test(a, b, method="mcnemar", alternative=alternative)
    expected = stats.binomtest(larger, differing, 0.5, alternative).pvalue if differing else 1.0
    assert found.p_value == pytest.approx(expected, abs=1e-12)
    assert paired_test(a, b, method="sign", alternative=alternative).p_value == found.p_value
    # On 0 and 1, exchange within pairs is the same test.
    if alternative != "two-sided":
        exchanged = paired_test(a, b, method="permutation", alternative=alternative)
        assert exchanged.p_value == pytest.approx(found.p_value, abs=1e-9)


@given(st.lists(st.integers(-4, 4).map(lambda k: k / 8), min_size=1, max_size=8), st.sampled_from(SIDES))
def test_permutation_equals_enumeration(values, alternative):
    d = np.array(values)
    sums = np.array([np.dot(signs, d) for signs in product([-1, 1], repeat=len(d))])
    extreme = {
        "two-sided": np.abs(sums) >= abs(d.sum()) - 1e-12,
        "less": sums <= d.sum() + 1e-12,
        "greater": sums >= d.sum() - 1e-12,
    }[alternative]
    found = paired_test(d, 0 * d, method="permutation", alternative=alternative)
    assert found.p_value == pytest.approx(extreme.mean(), abs=1e-12)
    whole = paired_test(8 * d, 0 * d, method="permutation", alternative=alternative)
    assert whole.p_value == pytest.approx(found.p_value, abs=1e-12)


def test_drawn_permutations_agree_with_exact_ones():
    d = np.random.default_rng(2).normal(0.25, 1, 40)
    drawn = paired_test(d, 0 * d, method="permutation")
    exact = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=20_000, random_state=np.random.default_rng(0)
    )
    assert drawn.p_value == pytest.approx(exact.pvalue, abs=0.015)
    assert drawn.p_value == paired_test(d, 0 * d, method="permutation").p_value


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        pytest.param(
            ([1, 2], [1]), {}, "first and second must have one shape", id="numbers of scores differ"
        ),
        pytest.param(([1, np.nan], [1, 2]), {}, "must be finite", id="missing score"),
        pytest.param(([1], [2]), {}, "method 'corrected_t' needs more pairs, got 1", id="one pair"),
        pytest.param(([1, 2], [2, 1]), {"method": "magic"}, "method must be one of", id="unknown method"),
        pytest.param(
            ([1, 2], [2, 1]), {"alternative": "up"}, "alternative must be one of", id="unknown alternative"
        ),
        pytest.param(
            ([1, 2], [2, 1]), {"method": "mcnemar"}, "needs 0 or 1 for each row", id="mcnemar without 0 and 1"
        ),
        pytest.param(
            ([1, 2], [2, 1]),
            {"method": "5x2cv_f"},
            r"needs scores of shape \(5, 2\)",
            id="5x2 of another shape",
        ),
        pytest.param(
            (np.ones((5, 2)), np.zeros((5, 2))),
            {"method": "5x2cv_f", "alternative": "less"},
            "two-sided only",
            id="5x2 one-sided",
        ),
    ],
)
def test_scores_that_a_test_cannot_compare_are_refused_with_the_reason(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        paired_test(*arguments, **options)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_p_values_after_holm(values):
    p = np.array(values)
    adjusted = holm(p)
    for level in (0.01, 0.05, 0.3, 0.9):
        rejected = np.zeros(len(p), dtype=bool)
        for step, i in enumerate(np.argsort(p, kind="stable")):
            if p[i] * (len(p) - step) > level:
                break
            rejected[i] = True
        assert ((adjusted <= level) == rejected).all()


MODELS = {
    "logistic": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "constant": DummyClassifier(),
}


@pytest.mark.parametrize("test", ["corrected_t", "5x2cv_f", "mcnemar", "sign", "permutation"])
def test_compare(test):
    X, y = make_classification(300, 6, n_informative=4, class_sep=2, random_state=0)
    found = compare(MODELS, X, y, test=test)
    assert found.models[-1] == "constant"
    assert "constant" not in found.best
    assert len(found.pairs) == 3
    assert all(pair.adjusted_p_value >= pair.p_value for pair in found.pairs)
    assert found.to_frame()["first"].tolist() == [pair.first for pair in found.pairs]
    assert found.to_dict()["test"] == test
    assert "worse than the best" in repr(found)
    assert found.caution == ""
    first = found.pairs[-1]
    assert first.difference > 0.2


def test_compare_bad_input():
    X, y = make_classification(60, random_state=0)
    for options, message in [
        ({"test": "magic"}, "test must be one of"),
        ({"confidence": 2}, "confidence must lie strictly"),
    ]:
        with pytest.raises(ValueError, match=message):
            compare(MODELS, X, y, **options)
    with pytest.raises(ValueError, match="expected two or more models, got 1"):
        compare({"one": DummyClassifier()}, X, y)
    lines = {"a": LinearRegression(), "b": LinearRegression(fit_intercept=False)}
    with pytest.raises(ValueError, match="test 'mcnemar' is for classifiers"):
        compare(lines, X, y.astype(float), test="mcnemar")
    few = compare(lines, X, y + 3.0, test="5x2cv_f")
    assert few.models[0] == "a"
    assert "5x2cv_f calls more models different than it should" in repr(few)


def test_short_names_of_scores_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    models = {"line": LinearRegression(), "mean": DummyRegressor()}
    short, long = (compare(models, X, y, cv=3, scoring=s) for s in ("MAE", "neg_mean_absolute_error"))
    assert short.to_dict() == long.to_dict()
    raw = [-cross_val_score(models[m], X, y, cv=3, scoring="neg_mean_absolute_error") for m in short.models]
    assert short.scores == pytest.approx([one.mean() for one in raw])
    assert 0 < short.intervals[0][0] < short.scores[0] < short.intervals[0][1]
    assert short.models[0] == "line"
    assert short.pairs[0].difference == pytest.approx(np.mean(raw[0] - raw[1]))
    assert "by mean absolute error (less is better)" in repr(short)
    grid = {"param_grid": {"strategy": ["mean", "median"]}, "cv": 3}
    nested = nested_cross_validate(DummyRegressor(), X, y, scoring="MAE", **grid)
    assert nested.metric == "mean absolute error"
    assert nested.low < nested.mean < nested.high
    assert not nested.greater_is_better
    assert nested.optimism == pytest.approx(nested.mean - np.mean(nested.inner_scores))
    ours = ("log_loss", "AUC", "Brier", "R2", "rmse", "F1")
    sklearns = "neg_log_loss roc_auc neg_brier_score r2 neg_root_mean_squared_error f1"
    assert [scorer_name(name) for name in ours] == sklearns.split()
    with pytest.raises(ValueError, match=r"must be one of accuracy, .*, got 'error'"):
        compare(models, X, y, scoring="error")
    with pytest.raises(ValueError, match="method='t'"):
        paired_test(np.abs(y), np.abs(y - X[:, 0]), method="corrected_t")
