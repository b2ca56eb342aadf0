from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from strategies import tables
from twins import PROBABILITY, expand, loo_error

from offsample.bounds import ginger_bias, ginger_concentration
from offsample.counts import CellCounts
from offsample.criteria import bayes_loo, error_interval, ginger
from offsample.intervals import estimate_variance, gain_interval

BOTH = pytest.mark.parametrize("rule", ["gini", "bayes"])
ESTIMATE = {"gini": ginger, "bayes": bayes_loo}
METHODS = [("sample", "robbins"), ("sample", "robbins_wald"), ("expected", "jackknife")]


def robbins_variance(counts: np.ndarray, rule: str, baseline=None) -> Fraction:
    """Sum the formula over single rows and pairs of rows, in exact fractions, as it is written."""
    n_classes = counts.shape[1]
    m = int(counts.sum())
    baseline = baseline or [Fraction(0)] * n_classes

    def loss(labels, k):
        return 1 - PROBABILITY[rule](labels, k, n_classes) - baseline[k]

    def wrong(labels):
        return sum(loss(labels[:i] + labels[i + 1 :], k) for i, k in enumerate(labels))

    total, estimate = Fraction(0), Fraction(0)
    for row in counts:
        labels = [k for _, k in expand(row[None])]
        total += wrong(labels) ** 2
        estimate += wrong(labels) / m
        for i, k in enumerate(labels):
            rest = labels[:i] + labels[i + 1 :]
            total -= 2 * wrong(rest) * loss(rest, k)
            for j, other in enumerate(labels):
                if i != j:
                    rest = [label for r, label in enumerate(labels) if r not in (i, j)]
                    total += loss(rest, k) * loss(rest, other)
    return (total - m * estimate**2) / m**2


@BOTH
@given(counts=tables(max_cells=3, max_count=4))
def test_variance_equals_the_sum_over_rows(rule, counts):
    expected = max(Fraction(0), robbins_variance(counts, rule))
    assert estimate_variance(CellCounts(counts), rule) == pytest.approx(float(expected), abs=1e-12)


@BOTH
@given(counts=tables(max_cells=3, max_count=4))
def test_jackknife_equals_leaving_out_each_row(rule, counts):
    rows, n_classes, m = expand(counts), counts.shape[1], int(counts.sum())
    if m < 2:
        assert estimate_variance(CellCounts(counts), rule, "expected") == 1
        return
    replicates = np.array([float(loo_error(rows[:i] + rows[i + 1 :], rule, n_classes)) for i in range(m)])
    expected = (m - 1) / m * ((replicates - replicates.mean()) ** 2).sum()
    assert estimate_variance(CellCounts(counts), rule, "expected") == pytest.approx(expected, abs=1e-12)


@BOTH
@pytest.mark.parametrize(("target", "method"), METHODS)
@given(counts=tables())
def test_interval_holds_the_estimate_and_grows_with_confidence(rule, target, method, counts):
    cells = CellCounts(counts)
    low, high = error_interval(cells, rule, 0.8, target, method)
    assert 0 <= low <= ESTIMATE[rule](cells) + 1e-12
    assert ESTIMATE[rule](cells) - 1e-12 <= high <= 1
    wider = error_interval(cells, rule, 0.99, target, method)
    assert wider[0] <= low + 1e-12
    assert wider[1] >= high - 1e-12


@BOTH
@given(counts=tables(max_cells=3, max_count=4))
def test_gain_is_the_difference_of_two_leave_one_out_errors(rule, counts):
    cells = CellCounts(counts)
    low, high = gain_interval(cells, rule)
    baseline = ESTIMATE[rule](CellCounts(cells.class_totals[None]))
    assert (low + high) / 2 == pytest.approx(baseline - ESTIMATE[rule](cells), abs=1e-12)


@BOTH
@given(counts=tables(max_cells=3, max_count=4))
def test_gain_variance_equals_the_sum_over_rows(rule, counts):
    """As the variance of the error, with the baseline's loss on the row's class taken off every loss."""
    cells = CellCounts(counts)
    m, n_classes = int(counts.sum()), counts.shape[1]
    labels = [k for _, k in expand(cells.class_totals[None])]
    off = [
        1 - PROBABILITY[rule](labels[: labels.index(k)] + labels[labels.index(k) + 1 :], k, n_classes)
        if k in labels
        else Fraction(0)
        for k in range(n_classes)
    ]
    expected = max(Fraction(0), robbins_variance(counts, rule, off))
    low, high = gain_interval(cells, rule, confidence=0.6826894921370859)  # one standard deviation
    assert ((high - low) / 2) ** 2 - 1 / m**2 == pytest.approx(float(expected), abs=1e-9)


def test_auto_chooses_by_target():
    cells = CellCounts([[3, 1], [0, 4]])
    assert error_interval(cells) == error_interval(cells, method="robbins")
    assert error_interval(cells, target="expected") == error_interval(
        cells, target="expected", method="jackknife"
    )


def test_mcdiarmid():
    cells = CellCounts([[3000, 1000], [0, 6000]])
    low, high = error_interval(cells, target="expected", method="mcdiarmid")
    radius = ginger_concentration(10_000)
    assert high == pytest.approx(ginger(cells) + radius)
    assert low == pytest.approx(ginger(cells) - radius - ginger_bias(10_000, sharp=True))


def test_large_cells_give_the_binomial_interval():
    # One large cell, majority rule: the error is the rate of the rarer class, and Wilson's interval.
    m, errors = 10_000, 700
    low, high = error_interval(CellCounts([[m - errors, errors]]), "bayes")
    z = 1.959964
    centre = (errors + z**2 / 2) / (m + z**2)
    radius = z / (m + z**2) * np.sqrt(errors * (m - errors) / m + z**2 / 4)
    assert (low, high) == pytest.approx((centre - radius, centre + radius), abs=3e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rule": "majority"}, "rule must be 'gini' or 'bayes'"),
        ({"target": "mean"}, "target must be 'sample' or 'expected'"),
        ({"method": "jackknife"}, "method for target 'sample' must be one of"),
        ({"target": "expected", "method": "bootstrap"}, "method for target 'expected'"),
        ({"confidence": 95}, "confidence must lie strictly between 0 and 1"),
        ({"rule": "bayes", "target": "expected", "method": "mcdiarmid"}, "is for rule 'gini'"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        error_interval(CellCounts([[3, 1], [0, 4]]), **arguments)


def test_weights_are_refused():
    with pytest.raises(ValueError, match="error_interval counts rows"):
        error_interval(CellCounts([[0.5, 1.0]]))
