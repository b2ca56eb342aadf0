"""On how many tables of independent rows each question finds something, and on how many of dependent ones.

``python -m tests.rows.false_alarms [n_tables [seed]]`` prints both; 200 of each kind by default.
"""

from __future__ import annotations

import sys

import numpy as np

from offsample.rows import find_drift, find_repeats, suspect_entities, suspect_orders
from tests.rows import further
from tests.rows.generators import INDEPENDENT, Table, drifting, five_times, patients
from tests.rows.unseen import BELONGING, HONEST, IN_TIME, with_copies


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
    }


def shares(make, n_tables: int, first_seed: int = 0) -> dict[str, float]:
    found = [findings(make(np.random.default_rng([first_seed, seed]))) for seed in range(n_tables)]
    return {question: float(np.mean([one[question] for one in found])) for question in found[0]}


def main(n_tables: int, first_seed: int) -> None:
    """Print the shares for each kind of table; dependent ones in capitals, a quarter as many."""
    dependent = {"patients": patients, "five_times": five_times, "drifting": drifting, **BELONGING}
    dependent |= {**further.BELONGING, **IN_TIME}
    for share in (0.1, 0.2):
        for several in (False, True):
            dependent |= with_copies(share, several)
    kinds = [(name, make, n_tables) for name, make in {**INDEPENDENT, **HONEST, **further.HONEST}.items()]
    kinds += [(name.upper(), make, max(1, n_tables // 4)) for name, make in dependent.items()]
    for name, make, n in kinds:
        found = shares(make, n, first_seed)
        told = "  ".join(f"{question} {share:6.1%}" for question, share in found.items())
        print(f"{name:45}", told, flush=True)


if __name__ == "__main__":
    main(*(int(number) for number in [*sys.argv[1:], *["200", "1"][len(sys.argv) - 1 :]]))
