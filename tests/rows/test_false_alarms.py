"""Each question finds something in at most 5 % of the tables of independent rows; a longer run is beside."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from offsample.rows import find_repeats
from tests.rows.false_alarms import findings
from tests.rows.generators import INDEPENDENT, Table, five_times
from tests.rows.unseen import BELONGING, HONEST, IN_TIME, with_copies

N_TABLES = 4
KINDS = {**INDEPENDENT, **HONEST}


def test_independent_tables_raise_few_alarms() -> None:
    alarms: Counter[str] = Counter()
    for make in KINDS.values():
        for seed in range(N_TABLES):
            found = findings(make(np.random.default_rng([9, seed])))
            alarms.update({question: int(is_found) for question, is_found in found.items()})
    assert set(alarms) == {"repeats", "entity", "order", "drift"}
    assert max(alarms.values()) <= 0.05 * N_TABLES * len(KINDS)


EXPECTED = {
    **dict.fromkeys(("panel", "panel_of_text", "households", "patients_without_number"), "entity"),
    **{"tracks": "order", "worn": "drift", "rising": "order"},
}


@pytest.mark.parametrize(("name", "question"), EXPECTED.items())
def test_dependent_rows_are_found(name: str, question: str) -> None:
    for seed in range(3):
        assert findings({**BELONGING, **IN_TIME}[name](np.random.default_rng([9, seed])))[question]


def test_a_tenth_of_copies_is_found_beside_continuous_columns() -> None:
    for make in [*with_copies(0.1, several=False).values(), *with_copies(0.2, several=True).values()]:
        repeats = find_repeats(*make(np.random.default_rng(9)))
        assert repeats.are_copies


def test_every_row_twice_is_found_in_any_table() -> None:
    for make in [*KINDS.values(), five_times]:
        columns, y = make(np.random.default_rng(9))
        twice: Table = {name: np.append(column, column) for name, column in columns.items()}, np.append(y, y)
        repeats = find_repeats(*twice)
        assert repeats.are_copies
        assert repeats.n_duplicates >= len(y)
