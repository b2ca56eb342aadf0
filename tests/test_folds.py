"""Folds: each row is left out once, classes are dealt out evenly, groups stay together, time goes forward."""

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


@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_together_and_folds_are_alike(seed):
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(60), random.integers(1, 12, 60))
    labels = random.choice(2, 60, p=[0.7, 0.3])[groups]
    folds = _folds.dealt(len(groups), 5, random, labels=labels, groups=groups)
    assert all(len(np.unique(folds[groups == g])) == 1 for g in range(60))
    for part in (labels == 0, labels == 1):
        sizes = np.bincount(folds[part], minlength=5)
        assert sizes.max() - sizes.min() <= 12  # the largest group
    splits = _folds.shuffled(labels, 5, seed, groups=groups)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(groups)))
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])


def test_fewer_groups_than_folds_are_refused():
    with pytest.raises(ValueError, match="2 groups: expected at least 3"):
        _folds.shuffled([0, 1, 0, 1], 3, 0, groups=["a", "a", "b", "b"])


def test_blocks_of_time_are_predicted_from_the_past():
    random = np.random.default_rng(1)
    time = random.integers(0, 50, 300)
    splits = _folds.forward(time, 4)
    tested = np.concatenate([test for _, test in splits])
    assert len(set(tested)) == len(tested)
    assert 0.7 * 300 < len(tested) < 0.85 * 300
    for train, test in splits:
        assert time[train].max() < time[test].min()
    assert [time[test].min() for _, test in splits] == sorted(time[test].min() for _, test in splits)


@pytest.mark.parametrize("gap", [0, 1, 7])
def test_a_gap_is_so_many_different_times(gap):
    random = np.random.default_rng(1)
    time = 10.0 * random.integers(0, 50, 300)  # of which some values may be missing
    distinct = np.unique(time)
    for (train, test), (known, same) in zip(
        _folds.forward(time, 4, gap), _folds.forward(time, 4), strict=True
    ):
        assert (test == same).all()
        left_out = distinct[distinct < time[test].min()][len(distinct[distinct < time[test].min()]) - gap :]
        assert set(train) == set(known[~np.isin(time[known], left_out)])
    with pytest.raises(ValueError, match="gap is 60, but the rows have"):
        _folds.forward(time, 4, 60)


def test_later_rows_of_other_groups():
    random = np.random.default_rng(2)
    time, groups, y = random.integers(0, 30, 200), random.integers(0, 20, 200), random.integers(0, 2, 200)
    splits = _folds.shuffled(y, 3, 0, groups=groups, time=time)
    assert len(splits) == 6
    for train, test in splits:
        assert time[train].max() < time[test].min()
        assert not set(groups[train]) & set(groups[test])
    with pytest.raises(ValueError, match="same time"):
        _folds.forward([1, 1, 1], 2)


def test_the_interval_of_a_share_ends_where_the_test_of_a_share_does():
    for share, n in ((0.0, 30), (0.1, 50), (0.5, 7), (1.0, 4)):
        for end in wilson(share, n):
            z = (share - end) / np.sqrt(end * (1 - end) / n) if 0 < end < 1 else None
            assert z is None or abs(z) == pytest.approx(1.959963984540054)
