"""Tables of which nothing can be said: no question fails on them, and none is answered."""

from __future__ import annotations

import numpy as np
import pytest

from offsample.rows import find_drift, find_repeats, suspect_entities, suspect_orders

TABLES = {
    "no rows": ({"a": np.zeros(0), "b": np.zeros(0, int)}, np.zeros(0, int)),
    "no columns": ({}, np.array([0, 1, 0, 1])),
    "two rows": ({"a": np.array([1.0, np.nan]), "b": np.array([1, -1])}, np.array([0, 1])),
    "constants": ({"a": np.zeros(50), "b": np.zeros(50, int)}, np.zeros(50, int)),
    "missing": ({"a": np.full(50, np.nan), "b": np.arange(50)}, np.arange(50) % 2),
    "infinite": ({"a": np.r_[np.inf, -np.inf, np.arange(48.0)], "b": np.arange(50) // 5}, np.arange(50) % 2),
    "truth values": ({"a": np.arange(50) % 2 == 0}, np.arange(50) % 3 == 0),
    "as many classes as rows": ({"a": np.arange(50.0)}, np.arange(50)),
}


@pytest.mark.parametrize("name", TABLES)
def test_nothing_is_found_in_a_table_that_says_nothing(name) -> None:
    columns, y = TABLES[name]
    assert not find_repeats(columns, y).are_copies
    assert suspect_entities(columns, y) == ()
    assert not any(order.is_suspected for order in suspect_orders(columns, y))
    if len(y):
        assert not any(drift.is_found for drift in find_drift(columns, y, np.arange(len(y))))
