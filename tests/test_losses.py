"""Losses off the sample against their definitions, row by row, on all small samples and random ones."""

from __future__ import annotations

from itertools import product
from math import log

import numpy as np
import pytest

from offsample import _auc
from offsample.counts import CellCounts, GroupedCounts, HeldOutCounts
from offsample.criteria import auc_lpo, bayes_loo, brier_loo, cost_loo, log_loss_loo


def rows_of(counts):
    """Cell and class of each row."""
    return [(v, k) for v, row in enumerate(counts) for k, n in enumerate(row) for _ in range(n)]


def known(rows, groups, left):
    """Rows that are not of the groups that are left out."""
    return [row for row, group in zip(rows, groups, strict=True) if group not in left]


def shares(rows, n_classes):
    return np.array([sum(k == label for _, label in rows) for k in range(n_classes)]) / max(1, len(rows))


def by_definition(rows, groups, n_classes, a=1.0, costs=None):
    """Log loss, Brier score and cost, each row predicted from the rows of other groups."""
    m, found = len(rows), np.zeros(3)
    for (v, k), group in zip(rows, groups, strict=True):
        others = known(rows, groups, {group})
        prior = shares(others, n_classes)
        counts = np.array([sum(row == (v, j) for row in others) for j in range(n_classes)])
        found[0] -= log((counts[k] + a * max(prior[k], 0.5 / m)) / (counts.sum() + a))
        p = counts / counts.sum() if counts.any() else prior
        found[1] += ((p - np.eye(n_classes)[k]) ** 2).sum()
        if costs is not None:
            expected = counts @ costs
            cheapest = np.flatnonzero(expected == expected.min())
            found[2] += costs[k, cheapest].mean()
    return found / m


def auc_by_definition(rows, groups, k):
    """Every pair of a positive and a negative, rated without the groups of both."""
    above, n_pairs = 0.0, 0
    for (v, label), group in zip(rows, groups, strict=True):
        for (w, other), other_group in zip(rows, groups, strict=True):
            if label != k or other == k:
                continue
            rest = known(rows, groups, {group, other_group})
            n_pairs += 1
            share = sum(c == k for _, c in rest) / max(1, len(rest))
            ratings = []
            for cell in (v, w):
                there = [c == k for u, c in rest if u == cell]
                ratings.append(sum(there) / len(there) if there else share)
            above += 0.5 if v == w else (ratings[0] > ratings[1]) + 0.5 * (ratings[0] == ratings[1])
    return above / n_pairs if n_pairs else 0.5


def small_samples():
    """All partitions of few rows into two cells, and into three of few classes."""
    for counts in product(range(4), repeat=4):
        if sum(counts) > 1:
            yield np.array(counts).reshape(2, 2)
    for counts in product(range(2), repeat=9):
        if sum(counts) > 1:
            yield np.array(counts).reshape(3, 3)


def test_all_small_samples() -> None:
    for counts in small_samples():
        rows, cells = rows_of(counts), CellCounts(counts[counts.any(axis=1)])
        alone = range(len(rows))
        expected = by_definition(rows, alone, cells.n_classes)
        assert log_loss_loo(cells) == pytest.approx(expected[0], rel=1e-12)
        assert brier_loo(cells) == pytest.approx(expected[1], rel=1e-12, abs=1e-12)
        for k in range(cells.n_classes):
            assert auc_lpo(cells, k) == pytest.approx(auc_by_definition(rows, alone, k), rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_costs_are_those_of_the_cheapest_class(n_classes) -> None:
    random = np.random.default_rng(0)
    for _ in range(60):
        counts = random.integers(0, 4, (4, n_classes))
        counts[0, 0] += 1
        costs = random.integers(0, 4, (n_classes, n_classes)).astype(float)
        rows = rows_of(counts)
        expected = by_definition(rows, range(len(rows)), n_classes, costs=costs)[2]
        cells = CellCounts(counts[counts.any(axis=1)])
        assert cost_loo(cells, costs) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert cost_loo(cells, 1 - np.eye(n_classes)) == pytest.approx(bayes_loo(cells), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_groups_are_left_out_whole(n_classes) -> None:
    random = np.random.default_rng(1)
    for _ in range(25):
        m = int(random.integers(6, 20))
        value, label, group = (random.integers(0, top, m) for top in (4, n_classes, 5))
        group[:2] = 0, 1
        cells = GroupedCounts.from_rows(value, label, group, n_classes)
        rows = list(zip(value.tolist(), label.tolist(), strict=True))
        costs = random.integers(0, 4, (n_classes, n_classes)).astype(float)
        expected = by_definition(rows, group.tolist(), n_classes, costs=costs)
        assert [log_loss_loo(cells), brier_loo(cells), cost_loo(cells, costs)] == pytest.approx(expected)
        for k in range(n_classes):
            assert auc_lpo(cells, k) == pytest.approx(auc_by_definition(rows, group.tolist(), k), rel=1e-12)


def test_of_many_values_some_pairs_of_groups_are_compared(monkeypatch) -> None:
    """Each group with the one that is half of all groups further; and on average as with all."""
    random = np.random.default_rng(2)
    value, group, k = random.integers(0, 40, 400), random.integers(0, 30, 400), 1
    label = ((value % 4 == 0) ^ (random.random(400) < 0.4)).astype(int)
    group[:30] = np.arange(30)
    cells = GroupedCounts.from_rows(value, label, group, 2)
    every = auc_lpo(cells)
    monkeypatch.setattr(_auc, "_MOST_RATED", 0)
    above, n_pairs = 0.0, 0
    for g in range(30):
        h = (g + 15) % 30
        rest = (group != g) & (group != h)
        rating = [
            label[rest & (value == v)].mean() if (rest & (value == v)).any() else label[rest].mean()
            for v in range(40)
        ]
        for v in value[(group == g) & (label == k)]:
            for w in value[(group == h) & (label != k)]:
                above += (rating[v] > rating[w]) + 0.5 * (rating[v] == rating[w])
                n_pairs += 1
    assert auc_lpo(cells) == pytest.approx(above / n_pairs, rel=1e-12)
    assert auc_lpo(cells) == pytest.approx(every, abs=0.05)


def test_rows_in_time_know_the_past_alone() -> None:
    random = np.random.default_rng(4)
    value, label, time = random.integers(0, 3, 40), random.integers(0, 2, 40), random.integers(0, 12, 40)
    costs, found = np.array([[0.0, 1], [5, 0]]), np.zeros(3)
    for v, k, now in zip(value, label, time, strict=True):
        past = [(u, c) for u, c, when in zip(value, label, time, strict=True) if when < now]
        prior = shares(past, 2) if past else np.full(2, 0.5)
        counts = np.array([past.count((v, j)) for j in range(2)])
        found[0] -= log((counts[k] + max(prior[k], 0.5 / 40)) / (counts.sum() + 1))
        p = counts / counts.sum() if counts.any() else prior
        found[1] += ((p - np.eye(2)[k]) ** 2).sum()
        expected = counts @ costs
        found[2] += costs[k, expected == expected.min()].mean()
    cells = HeldOutCounts(value, label, 2, time=time)
    assert [log_loss_loo(cells), brier_loo(cells), cost_loo(cells, costs)] == pytest.approx(found / 40)


@pytest.mark.parametrize(("n_kinds", "in_time"), [(0, True), (1, True), (2, False), (2, True)])
def test_both_rows_of_a_pair_are_rated_by_what_both_may_know(n_kinds, in_time) -> None:
    random = np.random.default_rng(5)
    for n_classes in (2, 3):
        value, label, time = (random.integers(0, top, 40) for top in (4, n_classes, 6))
        groups = [random.integers(0, 6, 40) for _ in range(n_kinds)]
        found = []
        for i, j in product(np.flatnonzero(label == 1), np.flatnonzero(label != 1)):
            known = time < min(time[i], time[j]) if in_time else np.full(40, True)
            for group in groups:
                known &= (group != group[i]) & (group != group[j])
            if known.any():
                there = [known & (value == value[row]) for row in (i, j)]
                rating = [label[rows if rows.any() else known] == 1 for rows in there]
                lead = rating[0].mean() - rating[1].mean()
                found.append(0.5 if value[i] == value[j] else 0.5 + np.sign(lead.round(12)) / 2)
        cells = HeldOutCounts(value, label, n_classes, groups=groups, time=time if in_time else None)
        assert auc_lpo(cells, 1) == pytest.approx(np.mean(found), rel=1e-12)
        placed = _auc.Placement.of(cells, 1).misplaced(1, cells.counts)
        for side in (label == 1, label != 1):
            assert placed[side].mean() == pytest.approx(1 - np.mean(found), rel=1e-12)


def test_an_auc_on_later_rows_of_new_groups_is_that_on_new_groups() -> None:
    """A row that is rated without its group, and compared with others that know it, would seem misplaced."""
    random, found, of_groups = np.random.default_rng(6), [], []
    group, time = np.repeat(np.arange(60), 10), np.tile(np.arange(10), 60)
    for _ in range(12):
        value = random.integers(0, 2, 60)
        label = (random.random(60) < np.where(value, 0.55, 0.3)).astype(int)[group]
        of_groups.append(auc_lpo(GroupedCounts.from_rows(value[group], label, group, 2)))
        found.append(
            [
                auc_lpo(HeldOutCounts(value[group], label, 2, groups=[group], time=time)),
                auc_lpo(HeldOutCounts(value[group], label, 2, groups=[group, time])),
            ]
        )
    assert np.mean(found, axis=0) == pytest.approx(np.full(2, np.mean(of_groups)), abs=0.01)


def test_groups_of_one_row_are_rows() -> None:
    random = np.random.default_rng(2)
    value, label = random.integers(0, 9, 150), random.integers(0, 2, 150)
    cells, grouped = CellCounts.from_codes(value, label), GroupedCounts.from_rows(value, label, range(150))
    costs = np.array([[0, 1], [5, 0]])
    for loss in (log_loss_loo, brier_loo, auc_lpo, lambda counted: cost_loo(counted, costs)):
        assert loss(grouped) == loss(cells)


def test_an_identifier_gains_nothing() -> None:
    name, whole = CellCounts([[1, 0], [0, 1]], [970, 30]), CellCounts([[970, 30]])
    assert log_loss_loo(name) == pytest.approx(log_loss_loo(whole), rel=1e-12)
    assert brier_loo(name) == pytest.approx(brier_loo(whole), rel=1e-12)
    assert auc_lpo(name) == auc_lpo(whole) == 0.5


def test_an_auc_of_noise_is_a_half_on_average() -> None:
    random = np.random.default_rng(3)
    rows, groups = [], []
    for _ in range(300):
        value, label = random.integers(0, 5, 60), (random.random(60) < 0.3).astype(int)
        rows.append(auc_lpo(CellCounts.from_codes(value, label, n_classes=2)))
        group = np.arange(60) // 4
        label = (random.random(15) < 0.4).astype(int)[group]
        groups.append(auc_lpo(GroupedCounts.from_rows(value, label, group, 2)))
    for found in (rows, groups):
        assert np.mean(found) == pytest.approx(0.5, abs=3 * np.std(found) / np.sqrt(300))


def test_more_classes_weigh_by_their_frequency() -> None:
    cells = CellCounts([[5, 1, 0], [1, 6, 2], [0, 1, 7]])
    of_class = [auc_lpo(cells, k) for k in range(3)]
    assert auc_lpo(cells) == pytest.approx(np.average(of_class, weights=[6, 8, 9]))


def test_costs_that_cannot_be_say_what_was_expected() -> None:
    cells = CellCounts([[3, 1], [1, 2]])
    with pytest.raises(ValueError, match="'fx'"):
        cost_loo(cells, {"fx": 3})
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        cost_loo(cells, np.ones((3, 3)))
    with pytest.raises(ValueError, match="finite"):
        cost_loo(cells, [[0, np.inf], [1, 0]])
    with pytest.raises(ValueError, match="there are 3: expected which one"):
        cost_loo(CellCounts([[1, 2, 3]]), {"fn": 1})
    with pytest.raises(ValueError, match="prior_weight"):
        log_loss_loo(cells, 0)


def test_costs_as_text_are_refused_with_what_was_expected():
    with pytest.raises(ValueError, match="costs is the text 'fn=10,fp=1': expected a dict"):
        cost_loo(CellCounts([[3, 1], [0, 4]]), "fn=10,fp=1")
