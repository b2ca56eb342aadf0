from itertools import product
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsample.expected_error import ErrorPrior, labeling_counts
from offsample.expected_error._labelings import _tilted_law, log_labeling_law
from papers.expected_error._drawn import prior_of_all, prior_of_draws

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
        prior_of_draws([6], 5)
    with pytest.raises(ValueError, match="n_rows must be at least 1"):
        prior_of_draws([0], 0)
    with pytest.raises(ValueError, match="partitions is empty"):
        ErrorPrior.from_partitions([])
    with pytest.raises(ValueError, match="partitions of one sample"):
        ErrorPrior.from_partitions([[[1, 1]], [[2, 1]]])


def test_draws_and_enumeration_agree():
    drawn = prior_of_draws([3, 3, 5, 1], 10)
    listed = prior_of_all([3, 3, 5, 1], 10)
    assert drawn.errors.tolist() == listed.errors.tolist() == [0.1, 0.3, 0.5]
    assert drawn.mass == pytest.approx([0.25, 0.5, 0.25])
    assert (drawn.n_draws, listed.n_draws) == (4, None)
