"""On how many tables of independent rows each question finds something, and on how many of dependent ones.

``python -m tests.rows.false_alarms [n_tables]`` prints both; 200 of each kind by default.
"""

from __future__ import annotations

import sys

import numpy as np

from offsample.rows import find_drift, find_repeats, suspect_entities, suspect_orders
from tests.rows.generators import INDEPENDENT, Table, drifting, five_times, patients


def findings(table: Table) -> dict[str, bool]:
    """What is found in a table; rows in the order of their number where they have one."""
    columns, y = table
    time = columns.get("number", np.arange(len(y)))
    drifts = find_drift(columns, y, time)
    return {
        "repeats": find_repeats(columns, y).are_copies,
        "entity": bool(suspect_entities(columns, y)),
        "order": any(order.is_suspected for order in suspect_orders(columns, y)),
        "drift": any(drift.is_found for drift in drifts),
        "passing": any(drift.values for drift in drifts),
    }


def shares(make, n_tables: int, first_seed: int = 0) -> dict[str, float]:
    found = [findings(make(np.random.default_rng([first_seed, seed]))) for seed in range(n_tables)]
    return {question: float(np.mean([one[question] for one in found])) for question in found[0]}


if __name__ == "__main__":
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name, make in {
        **INDEPENDENT,
        "PATIENTS": patients,
        "FIVE TIMES": five_times,
        "DRIFTING": drifting,
    }.items():
        found = shares(make, n_tables if name in INDEPENDENT else n_tables // 10, first_seed=1)
        print(
            f"{name:15}",
            "  ".join(f"{question} {share:6.1%}" for question, share in found.items()),
            flush=True,
        )
