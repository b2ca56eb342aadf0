"""Suspected order: tests of the right size, and orders that are merely sorted."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from offsample.rows import neighbours_alike, suspect_orders
from offsample.rows._order import _runs
from tests.rows.generators import drifting, patients

KINDS = {
    "halves": lambda random: random.integers(0, 2, 300),
    "rare": lambda random: (random.random(300) < 0.03).astype(int),
    "many": lambda random: random.zipf(1.7, 300) % 1000,
}


@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_in_random_order_are_called_alike_as_often_as_stated(kind) -> None:
    random = np.random.default_rng(0)
    p_values = np.array([neighbours_alike(KINDS[kind](random)) for _ in range(3000)])
    assert (p_values <= 0.05).mean() <= 0.065
    assert (p_values <= 0.01).mean() <= 0.015
    assert (p_values <= 0.5).mean() > 0.4


def test_moments_of_runs_are_those_of_all_orders() -> None:
    told = np.array([_runs(np.array(order))[:3] for order in permutations([0, 0, 0, 1, 1, 2, 3])])
    assert told[0, 1] == pytest.approx(told[:, 0].mean())
    assert told[0, 2] == pytest.approx(told[:, 0].var())


def test_a_class_that_drifts_along_a_number_is_an_order() -> None:
    columns, y = drifting(np.random.default_rng(1))
    number, rows = suspect_orders(columns, y)
    assert (number.name, number.kind) == ("number", "number")
    assert number.is_suspected
    assert number.last_shares[1] - number.first_shares[1] > 0.1
    assert number.error > number.shuffled_error + 0.05
    assert rows.kind == "rows"
    assert not rows.is_suspected
    assert np.isnan(rows.error)


def test_dates_need_not_differ() -> None:
    columns, y = drifting(np.random.default_rng(2))
    month = np.floor(columns.pop("number") / 200)
    date, _ = suspect_orders({"month": month, **columns}, y, dates=["month"])
    assert (date.kind, date.is_suspected) == ("date", True)
    shuffled = np.random.default_rng(3).permutation(month)
    date, _ = suspect_orders({"month": shuffled, **columns}, y, dates=["month"])
    assert not date.is_suspected


def test_rows_of_patients_side_by_side_are_an_order_unless_a_column_says_so() -> None:
    columns, y = patients(np.random.default_rng(4))
    order = np.argsort(columns["nr"], kind="stable")
    columns = {name: column[order] for name, column in columns.items()}
    (rows,) = suspect_orders(columns, y[order])
    assert (rows.sorted_by, rows.is_suspected) == ("nr", False)
    del columns["nr"]
    (rows,) = suspect_orders(columns, y[order])
    assert (rows.sorted_by, rows.is_suspected) == (None, True)


def test_rows_sorted_by_class_are_said_to_be() -> None:
    random = np.random.default_rng(5)
    (rows,) = suspect_orders({"x": random.normal(size=300)}, np.repeat([0, 1, 2], 100))
    assert rows.p_value < 1e-6
    assert (rows.sorted_by, rows.is_suspected) == ("", False)


def test_rows_of_one_group_that_follow_each_other_are_no_order() -> None:
    """Three visits of each patient one after the other; then also patients of whom later ones are sick."""
    random = np.random.default_rng(3)
    who, noise = np.repeat(random.permutation(300), 3), {"x": random.normal(size=900)}
    sick = random.integers(0, 2, 300)[who]
    assert suspect_orders(noise, sick)[-1].is_suspected
    assert not suspect_orders(noise, sick, groups=[who])[-1].is_suspected
    later = (random.random(300) < np.linspace(0.1, 0.9, 300)).astype(int)[np.repeat(np.arange(300), 3)]
    assert suspect_orders(noise, later, groups=[who])[-1].is_suspected


def test_an_order_shows_what_its_test_has_seen():
    """A season, which leaves the first fifth as the last: parts differ. Runs of two: neighbours are alike."""
    random, number = np.random.default_rng(0), np.arange(2000)
    season = (random.random(2000) < 0.5 + 0.3 * np.sin(number * 10 * np.pi / 2000)).astype(int)
    order = suspect_orders({"x": random.normal(size=2000)}, season)[-1]
    assert order.is_suspected
    assert np.array(order.part_shares)[:, 1] == pytest.approx([part.mean() for part in np.split(season, 20)])
    runs = np.repeat(random.integers(0, 2, 400), 2)
    order = suspect_orders({"x": random.normal(size=800)}, runs)[-1]
    assert order.is_suspected
    assert order.part_shares == ()
    assert order.alike == (np.diff(runs) == 0).mean()
    assert order.alike_by_chance == pytest.approx(
        (np.bincount(runs) * (np.bincount(runs) - 1)).sum() / 800 / 799
    )
