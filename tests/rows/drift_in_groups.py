"""How often drift is found in rows of groups that do not drift, and how often if rows were independent.

``python -m tests.rows.drift_in_groups [n_tables]`` prints both, for people seen at all times, for a third of
them, or side by side, whose classes last or not: columns that drift, a share that shifts.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np

from offsample.report.findings.drift import SHIFT
from offsample.rows import find_drift
from offsample.rows._drift import LEVEL, shift
from tests.rows.generators import Table

SPANS = {"all of the time": 1.0, "a third": 0.3, "a twentieth": 0.05, "side by side": 1e-3}
N_GROUPS, N_EACH = 60, 20


def table_of(random: np.random.Generator, span: float, lasting: bool) -> tuple[Table, np.ndarray, np.ndarray]:
    """Columns and classes, the time, and the group of each row."""
    group = np.repeat(np.arange(N_GROUPS), N_EACH)
    time = np.sort(random.random((N_GROUPS, N_EACH)), axis=1)
    time = ((1 - span) * random.random((N_GROUPS, 1)) + span * time).ravel()
    level, noise = 2 * random.normal(size=N_GROUPS)[group], random.normal(size=(N_EACH, N_GROUPS))
    if lasting:
        for place in range(1, N_EACH):
            noise[place] = 0.9 * noise[place - 1] + 0.44 * noise[place]
    columns = {"town": random.integers(0, 12, N_GROUPS)[group], "bed": random.permutation(N_GROUPS)[group]}
    columns |= {"pulse": level + random.normal(size=len(group)), "kind": random.integers(0, 4, len(group))}
    return (columns, (level + 2 * noise.T.ravel() > 0).astype(np.int64)), time, group


def found_in(table: Table, time: np.ndarray, groups: list[np.ndarray]) -> list[bool]:
    """Whether columns drift, and the share of a class shifts, as the report asks."""
    columns, y = table
    drifts = find_drift(columns, y, time, groups)
    first, last, p_value = shift(y, np.unique(time, return_inverse=True)[1], groups)
    shifts = bool(p_value <= LEVEL and abs(y[first].mean() - y[last].mean()) >= SHIFT)
    return [any(one.is_found for one in drifts), shifts]


def rates(span: str, lasting: bool, n_tables: int) -> np.ndarray:
    """Shares of the tables in which each is found: by groups, then by rows."""
    found = []
    for seed in range(n_tables):
        table, time, group = table_of(np.random.default_rng([3, seed]), SPANS[span], lasting)
        found.append([found_in(table, time, groups) for groups in ([group], [])])
    return np.mean(found, axis=0)


def main(n_tables: int) -> None:
    """Print one line a kind."""
    for span, lasting in product(SPANS, (False, True)):
        told = [" ".join(f"{share:6.1%}" for share in shares) for shares in rates(span, lasting, n_tables)]
        kind = f"{span}, {'lasting' if lasting else 'independent'}"
        print(f"{kind:30} by groups {told[0]}; by rows {told[1]}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
