import numpy as np
import pytest

from offsample.expected_error import ErrorPrior
from papers.expected_error._union import is_selection_worthwhile, union_prior

A = ErrorPrior([0.1, 0.4], [0.25, 0.75])
B = ErrorPrior([0.2, 0.5], [0.01, 0.99])
SIZES = [np.log(4), np.log(1000)]


def test_selection_is_worthwhile_where_good_hypotheses_are_in_a_small_model():
    irrelevant = ErrorPrior([0.5])
    good = ErrorPrior([0.05, 0.5], [0.5, 0.5])
    verdict = is_selection_worthwhile([good, irrelevant], [np.log(2), 60.0], 20)
    assert verdict
    assert verdict.selection_error < verdict.union_error
    # Boolean functions of all relevant bits: nothing to choose.
    same = ErrorPrior([0.0, 0.5, 1.0], [0.25, 0.5, 0.25])
    assert not is_selection_worthwhile([ErrorPrior([0.5]), same], [0.7, np.log(4)], 20, nested=True)


def test_union_is_the_mixture_by_size():
    prior, log_size = union_prior([A, B], SIZES)
    assert np.exp(log_size) == pytest.approx(1004)
    assert prior.mass == pytest.approx([1 / 1004, 10 / 1004, 3 / 1004, 990 / 1004])
