"""In how many honest tables the report asks whether a new row is one of a new value, and of users.

``python -m tests.statistical.entity_questions [n_tables [first_seed]]`` makes a page of so many tables of
each kind, 4 by default. Categories are text, so that the model may look at any, and beside each table is one
column that is good. Users, who differ in the class and of whom nothing else is known, come last, in capitals.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from offsample import report
from tests.rows import further
from tests.rows.generators import INDEPENDENT, Table
from tests.rows.unseen import HONEST, Random

KINDS = {**INDEPENDENT, **HONEST, **further.HONEST}


def users(random: Random) -> Table:
    """Users of whom nothing is known but what they choose."""
    user = random.integers(0, 150, 3000)
    y = random.normal(size=150)[user] + 0.3 * random.normal(size=3000) > 0
    return {"u": user}, y.astype(np.int64)


def asked(make: Callable[[Random], Table], seed: int) -> tuple[str, ...]:
    """What the page of a table asks about: columns to whose values rows may belong, or clusters."""
    random = np.random.default_rng([6, seed])
    columns, y = make(random)
    table: dict[str, Any] = {
        name: column if column.dtype.kind == "f" else [f"v{code}" for code in column]
        for name, column in columns.items()
    }
    table |= {"good": y + random.normal(size=len(y)), "y": y}
    found = report(table, "y", fast=True, random_state=0).rows.questions
    return tuple(one.column or "clusters" for one in found if one.code == "suspected_group")


def main(n_tables: int, first_seed: int) -> None:
    """Print one line a kind, and the total of the honest ones."""
    total = 0
    for name, make in {**KINDS, "USERS": users}.items():
        found = [asked(make, first_seed + number) for number in range(n_tables)]
        n_asked = sum(map(bool, found))
        total += n_asked if name in KINDS else 0
        print(
            f"{name:20} {n_asked} of {n_tables}",
            *sorted({one for names in found for one in names}),
            flush=True,
        )
    print(f"honest tables that are asked about: {total} of {n_tables * len(KINDS)}")


if __name__ == "__main__":
    main(*(int(number) for number in [*sys.argv[1:], *["4", "0"][len(sys.argv) - 1 :]]))
