from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from offsample.expected_error import (
    ErrorPrior,
    best_split,
    expected_error,
    holdout_selection,
)
from offsample.expected_error.holdout import selection_chances

A = ErrorPrior([0.1, 0.4], [0.25, 0.75])
B = ErrorPrior([0.2, 0.5], [0.01, 0.99])
SIZES = [np.log(4), np.log(1000)]


def test_selection_by_enumeration():
    n_train, n_holdout = 6, 5
    found = holdout_selection([A, B], SIZES, n_train, n_holdout)
    laws = []
    for prior, size in zip([A, B], SIZES, strict=True):
        posterior = expected_error(prior, size, n_train).posterior
        laws.append(
            sum(p * binom.pmf(range(6), n_holdout, e) for p, e in zip(posterior, prior.errors, strict=True))
        )
    first = sum(
        laws[0][i] * laws[1][j] for i, j in product(range(6), repeat=2) if i <= j
    )  # ties to the first
    assert found.selection_probability == pytest.approx([first, 1 - first], abs=1e-12)
    final = [expected_error(p, s, 11) for p, s in zip([A, B], SIZES, strict=True)]
    assert found.mean == pytest.approx(first * final[0].mean + (1 - first) * final[1].mean)
    assert found.posterior @ found.errors == pytest.approx(found.mean)
    assert found.errors.tolist() == [0.1, 0.2, 0.4, 0.5]
    assert list(found.to_frame()["model"]) == [0, 1]


def test_three_models_by_simulation():
    rng = np.random.default_rng(0)
    rates = [0.2, 0.25, 0.3]
    found = selection_chances([binom.pmf(range(21), 20, e) for e in rates])
    drawn = rng.binomial(20, rates, (200_000, 3))
    assert found == pytest.approx(np.bincount(drawn.argmin(axis=1)) / 200_000, abs=0.005)


def test_best_split_is_the_best_of_all():
    found = best_split([A, B], SIZES, 24)
    means = [holdout_selection([A, B], SIZES, n, 24 - n).mean for n in range(1, 24)]
    assert found.mean == pytest.approx(min(means))
    assert means[found.n_train - 1] == pytest.approx(min(means), abs=1e-12)
    assert found.n_train + found.n_holdout == 24
    assert len(found.to_frame()) == 23


def test_best_split_of_many_rows_is_near_the_best():
    found = best_split([A, B], SIZES, 300)
    means = [holdout_selection([A, B], SIZES, n, 300 - n).mean for n in range(10, 300, 10)]
    assert found.mean <= min(means) + 1e-4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(
            lambda: holdout_selection([A], SIZES, 5, 5),
            "got 1 priors and 2 log_sizes",
            id="more sizes than priors",
        ),
        pytest.param(
            lambda: holdout_selection([A], [1.0], 0, 5),
            "n_train must be a whole number of at least 1",
            id="no row to train on",
        ),
        pytest.param(lambda: holdout_selection([A], [1.0], 5, 0), "n_holdout must be", id="no row held out"),
        pytest.param(
            lambda: best_split([A], [1.0], 1),
            "n_samples must be a whole number of at least 2",
            id="one row to split",
        ),
        pytest.param(lambda: best_split([], [], 10), "at least one", id="no model"),
    ],
)
def test_sizes_that_leave_nothing_to_select_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
