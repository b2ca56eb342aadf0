"""Folds: each row is left out once, classes are dealt out evenly, and what is not built is refused."""

import numpy as np
import pytest

from offsample import _folds
from offsample._proportions import wilson


@pytest.mark.parametrize("seed", range(5))
def test_classes_are_dealt_out_evenly(seed):
    random = np.random.default_rng(seed)
    labels = random.choice(3, 101, p=[0.7, 0.2, 0.1])
    folds = _folds.dealt(101, 5, random, labels=labels)
    for part in (labels >= 0, *(labels == k for k in range(3))):
        sizes = np.bincount(folds[part], minlength=5)
        assert sizes.max() - sizes.min() <= 1
    plain = np.bincount(_folds.dealt(101, 5, random))
    assert sorted(plain) == [20, 20, 20, 20, 21]


@pytest.mark.parametrize("stratify", [True, False])
def test_every_row_is_left_out_once(stratify):
    y = np.arange(40) % 3
    splits = _folds.shuffled(y, 4, 0, stratify=stratify)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(40))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(40))


@pytest.mark.parametrize("given", [{"groups": [1, 1]}, {"time": [1, 2]}])
def test_what_is_not_there_yet_is_refused(given):
    for call in (
        lambda: _folds.dealt(2, 2, np.random.default_rng(0), **given),
        lambda: _folds.in_turn(np.arange(2), 2, **given),
        lambda: _folds.shuffled([0, 1], 2, 0, **given),
    ):
        with pytest.raises(NotImplementedError, match="folds by groups or time are not there yet"):
            call()


def test_the_interval_of_a_share_ends_where_the_test_of_a_share_does():
    for share, n in ((0.0, 30), (0.1, 50), (0.5, 7), (1.0, 4)):
        for end in wilson(share, n):
            z = (share - end) / np.sqrt(end * (1 - end) / n) if 0 < end < 1 else None
            assert z is None or abs(z) == pytest.approx(1.959963984540054)
