"""Each question finds something in at most 5 % of the tables of independent rows; a longer run is beside."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tests.rows.false_alarms import findings
from tests.rows.generators import INDEPENDENT

N_TABLES = 8


def test_independent_tables_raise_few_alarms() -> None:
    alarms: Counter[str] = Counter()
    for make in INDEPENDENT.values():
        for seed in range(N_TABLES):
            found = findings(make(np.random.default_rng([9, seed])))
            alarms.update({question: int(is_found) for question, is_found in found.items()})
    assert set(alarms) == {"repeats", "entity", "order", "drift", "passing"}
    assert max(alarms.values()) <= 0.05 * N_TABLES * len(INDEPENDENT)
