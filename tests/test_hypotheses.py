from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables
from twins import PROBABILITY, expand, loo_error, training_error, true_error

from offsample.hypotheses import RULES, BayesRule, GiniRule
from papers.ginger._distributions import generalization_error

BOTH = pytest.mark.parametrize("name", ["gini", "bayes"])


@BOTH
@given(counts=tables())
def test_terms_equal_the_errors_of_single_rows(name, counts):
    rule, rows, n_classes = RULES[name], expand(counts), counts.shape[1]
    assert rule.training_terms(counts).sum() / len(rows) == pytest.approx(
        float(training_error(rows, name, n_classes)), abs=1e-12
    )
    assert rule.loo_terms(counts).sum() / len(rows) == pytest.approx(
        float(loo_error(rows, name, n_classes)), abs=1e-12
    )


@BOTH
@given(
    counts=tables(max_cells=1, max_classes=5, max_count=4), tenths=st.lists(st.integers(0, 10), min_size=5)
)
def test_pair_terms_equal_the_sum_over_pairs_of_rows(name, counts, tenths):
    n_classes = counts.shape[1]
    baseline = [Fraction(t, 10) for t in tenths[:n_classes]]
    labels = [k for _, k in expand(counts)]
    total = Fraction(0)
    for i, k in enumerate(labels):
        for j, other in enumerate(labels):
            if k != other:
                rest = [label for r, label in enumerate(labels) if r not in (i, j)]
                loss = [1 - PROBABILITY[name](rest, c, n_classes) - baseline[c] for c in (k, other)]
                total += loss[0] * loss[1]
    found = RULES[name].loo_pair_terms(counts[0], np.array(baseline, dtype=float))
    assert found == pytest.approx(float(total), abs=1e-9)


@BOTH
def test_empty_cells(name):
    empty = np.zeros((1, 3), np.int64)
    rule = RULES[name]
    assert rule.from_counts(empty).tolist() == [[1 / 3] * 3]
    assert rule.training_terms(empty) == rule.loo_terms(empty) == 0
    assert rule.loo_pair_terms(empty, np.zeros(3)) == 0


@BOTH
def test_prediction(name):
    expected = {"gini": [[0.75, 0.25, 0], [0, 0.5, 0.5]], "bayes": [[1, 0, 0], [0, 0.5, 0.5]]}[name]
    assert RULES[name].from_counts(np.array([[3, 1, 0], [0, 2, 2]])).tolist() == expected


@BOTH
def test_generalization_error_is_exact(name):
    counts = np.array([[3, 1, 0], [2, 2, 1]])
    p = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]  # the third value is unseen
    q = [[Fraction(1, 5), Fraction(3, 5), Fraction(1, 5)]] * 2 + [[Fraction(1), Fraction(0), Fraction(0)]]
    expected = true_error(expand(counts), name, p, q)
    found = generalization_error(
        RULES[name].from_counts(counts), [float(x) for x in p], np.array(q, dtype=float)
    )
    assert found == pytest.approx(float(expected), abs=1e-14)


def test_majority_rule_is_optimal_for_known_frequencies():
    q = np.array([[0.3, 0.7], [0.9, 0.1]])
    p = [0.4, 0.6]
    assert generalization_error(BayesRule.from_counts(q), p, q) < generalization_error(
        GiniRule.from_counts(q), p, q
    )


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([0.5, 0.6], [[1, 0], [0, 1]], "sum to 1.1"),
        ([0.5, 0.5], [[1, 0]], "expected \\(2, 2\\)"),
        ([0.5, 0.5], [[1, 0], [0.5, 0.6]], "distribution in every row"),
    ],
)
def test_bad_distributions(p, q, message):
    with pytest.raises(ValueError, match=message):
        generalization_error(GiniRule.from_counts(np.array([[1, 2]])), p, q)
