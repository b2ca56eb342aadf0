from itertools import product
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsample.expected_error import ErrorPrior, expected_error, labeling_counts
from offsample.expected_error._labelings import _tilted_law, log_labeling_law
from offsample.expected_error.boolean import (
    all_functions_prior,
    prefix_priors,
    target_prior,
    true_learning_curve,
)

CELLS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=0, max_size=6)


@given(CELLS)
def test_labelings_are_counted_one_by_one(cells):
    pos, neg = [p for p, _ in cells], [n for _, n in cells]
    want = np.zeros(sum(pos) + sum(neg) + 1, int)
    for labels in product([0, 1], repeat=len(cells)):
        want[sum(n if label else p for label, (p, n) in zip(labels, cells, strict=True))] += 1
    assert labeling_counts(pos, neg).tolist() == want.tolist()


def test_many_cells_are_exact():
    counts = labeling_counts([1] * 80, [0] * 80)
    assert counts.tolist() == [comb(80, k) for k in range(81)]


@pytest.mark.parametrize(
    ("pos", "neg", "message"),
    [([1], [1, 2], "expected as many"), ([-1], [1], "at least 0"), ([0.5], [1], "whole numbers")],
)
def test_bad_cells(pos, neg, message):
    with pytest.raises(ValueError, match=message):
        labeling_counts(pos, neg)


def test_law_of_several_classes():
    counts = np.array([[2, 1, 0], [0, 0, 3]])
    law = np.zeros(7)
    for a, b in product(range(3), repeat=2):
        law[(3 - counts[0, a]) + (3 - counts[1, b])] += 1 / 9
    assert np.exp(log_labeling_law(counts)) == pytest.approx(law, abs=1e-15)


def test_tilted_law_of_a_thousand_cells():
    law = log_labeling_law(np.tile([[1, 0]], (1500, 1)))
    k = np.array([0, 1, 5, 300, 750, 1500])
    want = [log(comb(1500, int(x))) - 1500 * log(2) for x in k]
    assert law[k] == pytest.approx(want, rel=1e-10)
    small = np.array([[3, 1], [0, 2], [5, 4], [1, 1]])
    assert _tilted_law(small.sum(axis=1, keepdims=True) - small, 17) == pytest.approx(
        log_labeling_law(small), abs=1e-9
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"errors": [0.1, 0.2], "mass": [0.5, 0.4]}, "the masses must sum to 1, got 0.9"),
        ({"errors": [0.1, 1.2]}, "errors must lie between 0 and 1, got 1.2"),
        ({"errors": [-0.1]}, "errors must lie between 0 and 1"),
        ({"errors": [np.nan]}, "errors must lie between 0 and 1"),
        ({"errors": []}, "errors must be a list of error rates"),
        ({"errors": [0.1], "mass": [1.0], "log_mass": [0.0]}, "both given"),
        ({"errors": [0.1, 0.2], "mass": [1.0]}, "expected as many"),
        ({"errors": [0.1, 0.2], "mass": [1.5, -0.5]}, "mass must be at least 0"),
        ({"errors": [0.1, 0.2], "log_mass": [0.7, -1.0]}, "log_mass must be at most 0"),
    ],
)
def test_bad_priors(arguments, message):
    with pytest.raises(ValueError, match=message):
        ErrorPrior(**arguments)


def test_masses_far_below_the_smallest_number():
    prior = ErrorPrior([0.0, 0.5], log_mass=[-5000.0, 0.0])
    assert prior.log_mass[0] == -5000
    assert prior.mass.tolist() == [0.0, 1.0]


def test_counts_of_errors_are_checked():
    with pytest.raises(ValueError, match="between 0 and n_rows = 5"):
        ErrorPrior.from_draws([6], 5)
    with pytest.raises(ValueError, match="n_rows must be at least 1"):
        ErrorPrior.from_draws([0], 0)
    with pytest.raises(ValueError, match="partitions is empty"):
        ErrorPrior.from_partitions([])
    with pytest.raises(ValueError, match="partitions of one sample"):
        ErrorPrior.from_partitions([[[1, 1]], [[2, 1]]])


def test_draws_and_enumeration_agree():
    drawn = ErrorPrior.from_draws([3, 3, 5, 1], 10)
    listed = ErrorPrior.from_hypotheses([3, 3, 5, 1], 10)
    assert drawn.errors.tolist() == listed.errors.tolist() == [0.1, 0.3, 0.5]
    assert drawn.mass == pytest.approx([0.25, 0.5, 0.25])
    assert (drawn.n_draws, listed.n_draws) == (4, None)


def test_deconvolution_finds_the_rates_behind_the_counts():
    truth = ErrorPrior([0.1, 0.4], [0.3, 0.7])
    m = 60
    law = truth.count_law(m)
    observed = ErrorPrior(np.arange(m + 1) / m, law / law.sum())._with(n_rows=m)
    found = observed.deconvolved("npmle", max_iter=3000)
    assert found.mass[np.abs(found.errors - 0.1) < 0.03].sum() == pytest.approx(0.3, abs=0.01)
    assert found.mass[np.abs(found.errors - 0.4) < 0.04].sum() == pytest.approx(0.7, abs=0.01)
    # The smear makes the plug-in optimistic; deconvolution takes it out.
    exact = expected_error(truth, log(1000), m).mean
    assert expected_error(observed, log(1000), m).mean < exact - 0.02
    assert expected_error(found, log(1000), m).mean == pytest.approx(exact, abs=0.02)
    beta = observed.deconvolved("moments")
    assert beta.mean == pytest.approx(truth.mean, abs=0.005)
    assert beta.variance == pytest.approx(truth.variance, rel=0.05)
    with pytest.raises(ValueError, match="method must be 'npmle' or 'moments'"):
        observed.deconvolved("normal")
    with pytest.raises(ValueError, match="nothing to deconvolve"):
        truth.deconvolved()


@pytest.mark.parametrize(("i", "n"), [(1, 2), (1, 3), (2, 3), (3, 3), (4, 3)])
def test_boolean_priors_against_all_functions(i, n):
    # Every target, every hypothesis: the law of priors, by mean and second moment of the error rates.
    rows = np.arange(2 ** max(i, n))
    hypotheses = np.array(list(product([0, 1], repeat=2**i)))[:, rows % 2**i] if i < 4 else None
    targets = np.array(list(product([0, 1], repeat=2**n)))[:, rows % 2**n]
    if hypotheses is None:
        assert all_functions_prior(4).variance == pytest.approx(1 / 64)
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
    want = ErrorPrior.from_hypotheses(np.round(errors, 12))
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
