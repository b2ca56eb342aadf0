"""How often the drift of the classes is found where rows are independent of their time, and where not.

``python -m tests.rows.class_shift [n_tables]`` prints, for tables of 20 to 3,000 rows, two classes or 40, a
rare one or not, and times that are all different or few: in how many the share of a class is said to shift,
in how many the shares of the classes alone err more than at shuffled times, and, of two classes, in how many
one of three columns that say nothing, or what they say at any time, drifts if both classes count alike.
150 of each kind by default.
Then it says in which of the shared tables with a time either is found.
"""

from __future__ import annotations

import os
import sys
from itertools import product

import numpy as np

from offsample.report.findings.drift import SHIFT
from offsample.rows import find_drift
from offsample.rows._drift import LEVEL, shift
from tests.rows.shared_tables import TIMES, tables

ROWS = (20, 50, 200, 1000, 3000)
CLASSES = {
    "two alike": [0.5, 0.5],
    "one in ten": [0.9, 0.1],
    "one in fifty": [0.98, 0.02],
    "40": [1 / 40] * 40,
}
N_TIMES = {"all different": None, "12 times": 12, "3 times": 3}


def shares_of(y: np.ndarray, time: np.ndarray) -> tuple[float, float, float]:
    """Share of the rarest class in the first and last fifth, and the p-value of their difference."""
    is_class = (y == np.bincount(y).argmin()).astype(np.int64)
    first, last, p_value = shift(is_class, time)
    return *(float(is_class[part].mean()) if part.any() else 0.0 for part in (first, last)), p_value


def found_in(y: np.ndarray, time: np.ndarray) -> tuple[bool, bool]:
    """Whether the share of the rarest class shifts, and whether a guess errs more, as the report asks."""
    before, after, p_value = shares_of(y, time)
    shifts = abs(after - before) >= SHIFT and p_value <= LEVEL
    return bool(shifts), bool(len(np.unique(time)) > 1 and find_drift({}, y, time)[0].is_found)


def rates(n_rows: int, classes: str, times: str, n_tables: int, seed: int = 0) -> np.ndarray:
    """Shares of the tables of independent rows in which either is found."""
    shares, n_times = CLASSES[classes], N_TIMES[times]
    found = []
    for table in range(n_tables):
        random = np.random.default_rng([seed, table, n_rows, len(shares), n_times or 0])
        y = random.choice(len(shares), n_rows, p=shares)
        y = np.unique(y, return_inverse=True)[1]
        time = np.arange(n_rows) if n_times is None else random.integers(0, n_times, n_rows)
        columns = {"noise": random.normal(size=n_rows), "kind": random.integers(0, 10, n_rows)}
        columns["signal"] = y + random.normal(size=n_rows)
        asked = len(shares) == 2 and y.max() and len(np.unique(time)) > 1
        drifts = asked and any(one.is_found for one in find_drift(columns, y, time, alike=True)[1:])
        found.append((*(found_in(y, time) if y.max() else (False, False)), bool(drifts)))
    return np.mean(found, axis=0)


def main(n_tables: int) -> None:
    """Print one line a kind, and the shared tables."""
    for n_rows, classes, times in product(ROWS, CLASSES, N_TIMES):
        shifts, drift, alike = rates(n_rows, classes, times, n_tables)
        told = f"shift {shifts:6.1%}, drift {drift:6.1%}, of a column, classes alike {alike:6.1%}"
        print(f"{n_rows:5} rows, {classes:12}, {times:13}: {told}", flush=True)
    for name, (columns, y, _) in tables(list(TIMES)) if "OFFSAMPLE_DATA" in os.environ else ():
        codes = np.unique(y, return_inverse=True)[1]
        time = np.unique(columns[TIMES[name]], return_inverse=True)[1]
        told = [f"{share:.3f}" for share in shares_of(codes, time)[:2]]
        shifts, drift = found_in(codes, time)
        print(f"{name}: {' then '.join(told)}; shift {shifts}, drift {drift}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 150)
