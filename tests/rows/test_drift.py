"""Drift: the prequential tail beside shuffled times."""

from __future__ import annotations

import numpy as np
import pytest

from offsample._kernels import earlier_losses
from offsample.counts import HeldOutCounts
from offsample.hypotheses import RULES, GiniRule
from offsample.rows import find_drift
from offsample.rows._drift import shift
from tests.rows import drift_in_groups
from tests.rows.class_shift import found_in, rates
from tests.rows.generators import drifting


def test_a_column_that_worked_in_the_first_part_is_found() -> None:
    columns, y = drifting(np.random.default_rng(0))
    time = columns.pop("number")
    drifts = {drift.name: drift for drift in find_drift(columns, y, time)}
    assert list(drifts) == [None, "sign", "noise", "x"]
    sign = drifts["sign"]
    assert sign.is_found
    assert sign.stopped_working
    losses = HeldOutCounts(columns["sign"], y, 2, time=time).losses(RULES["gini"])
    assert sign.error == pytest.approx(losses[time >= 1600].mean())
    assert sign.gain_before > 0.2
    assert all(drift.p_value > 1e-3 for name, drift in drifts.items() if name in ("noise", "x"))
    random_times = np.random.default_rng(1).permutation(time)
    assert not any(drift.is_found for drift in find_drift(columns, y, random_times))


def test_shuffled_error_is_what_it_is_for_rows_in_any_order() -> None:
    random = np.random.default_rng(2)
    cell = random.integers(0, 5, 400)
    y = (random.random(400) < cell / 5).astype(int)
    _, drift = find_drift({"c": cell}, y, np.arange(400))
    drawn = []
    for _ in range(200):
        order = random.permutation(400)
        losses = HeldOutCounts(cell[order], y[order], 2, time=np.arange(400)).losses(RULES["gini"])
        drawn.append(losses[320:].mean())
    assert drift.shuffled_error == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / np.sqrt(19))


def test_one_time_for_all_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="the same time"):
        find_drift({"c": [0, 1]}, [0, 1], [3, 3])


def test_losses_along_time_are_those_of_held_out_counts() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        cell, label = random.integers(0, [[5], [3]], (2, 60))
        time = random.integers(0, 25, 60)
        order = np.argsort(time, kind="stable")
        found = earlier_losses(cell[order], label[order], time[order], 5, 3)
        expected = HeldOutCounts(cell, label, 3, time=time).losses(GiniRule)[order]
        assert found == pytest.approx(expected, abs=1e-12)


def test_classes_of_independent_rows_rarely_shift() -> None:
    kinds = [(50, "two alike"), (50, "one in ten"), (200, "one in fifty"), (200, "40"), (1000, "two alike")]
    found = [rates(*kind, times, 25, seed=1) for kind in kinds for times in ("all different", "3 times")]
    assert np.mean(found, axis=0).max() <= 0.03  # 250 tables at 1 %


def test_a_share_that_changes_is_found_though_a_guess_errs_no_more() -> None:
    random = np.random.default_rng(4)
    time = np.arange(2000)
    y = (random.random(2000) < 0.6 - 0.2 * time / 2000).astype(int)
    first, last, p_value = shift(y, time)
    assert (np.flatnonzero(first).tolist(), np.flatnonzero(last).tolist()) == (
        list(range(400)),
        list(range(1600, 2000)),
    )
    assert p_value < 0.01
    assert found_in(y, time) == (True, False)
    assert shift(random.permutation(y), time)[2] > 0.01


@pytest.mark.parametrize("span", ["all of the time", "side by side"])
def test_what_groups_bring_is_no_drift(span) -> None:
    """Patients who come one after the other: of rows taken as independent, everything drifts."""
    by_groups, by_rows = drift_in_groups.rates(span, True, 8)
    assert (by_groups <= 1 / 8).all()
    assert (by_rows >= (3 / 8 if span == "side by side" else 0)).all()


def test_classes_that_count_alike_are_as_if_they_were_equally_frequent():
    """Each row by the odds of its cell earlier over those of all rows; then the mean of both classes."""
    rng = np.random.default_rng(0)
    y, cell = (rng.random(400) < 0.2).astype(int), rng.integers(0, 3, 400)
    found = find_drift({"c": cell}, y, np.arange(400), alike=True)[1]
    odds, lost = y.mean() / (1 - y.mean()), ([], [])
    for i in range(320, 400):
        same = y[:i][cell[:i] == cell[i]]
        ratio = same.sum() / (len(same) - same.sum()) / odds  # how much likelier the rare class is there
        lost[y[i]].append(1 / (1 + ratio) if y[i] else ratio / (1 + ratio))
    assert found.error == pytest.approx((np.mean(lost[0]) + np.mean(lost[1])) / 2)


def test_of_few_rows_of_a_class_at_last_errors_are_as_they_are():
    y = np.zeros(400, int)
    y[[3, 50, 90, 200, 330, 350, 370, 390]] = 1
    cell = np.random.default_rng(0).integers(0, 3, 400)
    plain, alike = (find_drift({"c": cell}, y, np.arange(400), alike=one) for one in (False, True))
    assert plain == alike


def test_independent_rows_of_a_rare_class_do_not_drift():
    """Nor do they where the class gets more frequent, and what a column says of it stays."""
    n_found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x, day = rng.normal(size=600), np.arange(600)
        rate = 0.08 * (1 + (seed % 2) * np.linspace(-0.8, 0.8, 600))
        y = (rng.random(600) < rate * np.exp(x - 0.5)).astype(int)
        columns = {"x": x, "noise": rng.normal(size=600), "kind": rng.integers(0, 10, 600)}
        n_found += any(one.is_found for one in find_drift(columns, y, day, alike=True)[1:])
    assert n_found <= 3  # 1 % of tables are expected; 4 or more have a probability of .3 %
