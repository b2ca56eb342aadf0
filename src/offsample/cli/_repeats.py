"""How many of the rows that a command has read equal an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from offsample._held_out_counts import unit_parts
from offsample.tables._columns import given_column
from offsample.tables._memory import distinct_rows

if TYPE_CHECKING:
    from offsample.cli._options import Rows


class Repeats(NamedTuple):
    """Rows that equal an earlier one in columns and target, and those that do in the columns alone."""

    n_samples: int
    n_duplicates: int
    n_conflicting: int

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """Count them, with what the rows belong to among the columns."""
        columns = [*rows.columns.values(), *unit_parts(rows.group, None)]
        columns += [] if rows.time is None else [rows.time]
        n, y = len(rows.y), np.unique(rows.y, return_inverse=True)[1]
        distinct, different = distinct_rows(list(map(given_column, columns)), y, np.ones(n, bool))
        return cls(n, n - distinct, distinct - different)
