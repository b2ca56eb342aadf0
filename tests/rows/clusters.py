"""Where tight clusters are suspected: in patients without a number, and how often in honest tables.

``python -m tests.rows.clusters [n_tables]`` prints both, 100 of each kind by default, and the shared tables
of OFFSAMPLE_DATA in which clusters are suspected.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import numpy as np

from offsample.rows import suspect_clusters
from tests.rows import further
from tests.rows.generators import INDEPENDENT, Table
from tests.rows.shared_tables import tables
from tests.rows.unseen import HONEST, Random


def patients(noise: float, n_patients: int = 60, n_each: int = 40, n_columns: int = 5, n_varying: int = 0):
    """Patients with shuffled rows and a coin each: columns that hardly vary within them, and others."""

    def make(random: Random) -> Table:
        who = random.permutation(np.repeat(np.arange(n_patients), n_each))
        level = random.normal(size=(n_columns, n_patients))[:, who]
        columns = {f"x{j}": row + noise * random.normal(size=len(who)) for j, row in enumerate(level)}
        columns |= {f"v{j}": random.normal(size=len(who)) for j in range(n_varying)}
        return columns, random.integers(0, 2, n_patients)[who]

    return make


def mixture(most: int) -> Callable[[Random], Table]:
    """Independent rows of so many components or fewer, tight or wide, each with a class of its own."""

    def make(random: Random) -> Table:
        n_rows, n_components, d = (int(n) for n in random.integers([300, 2, 2], [4000, most + 1, 9]))
        which = random.integers(0, n_components, n_rows)
        centre = random.normal(size=(n_components, d))
        points = centre[which] + random.choice([0.05, 0.1, 0.3, 1.0]) * random.normal(size=(n_rows, d))
        y = np.arange(n_components) % int(random.integers(2, 5))
        return {f"x{j}": points[:, j] for j in range(d)}, y[which].astype(np.int64)

    return make


def smooth(random: Random) -> Table:
    """Independent rows, and a class that depends on them in waves."""
    n_rows, d = (int(n) for n in random.integers([300, 2], [4000, 6]))
    points = random.normal(size=(n_rows, d))
    wave = np.sin(points[:, :2].sum(axis=1) * random.choice([1.0, 4.0, 16.0]))
    return {f"x{j}": points[:, j] for j in range(d)}, (wave > 0).astype(np.int64)


HIDDEN = {f"patients, noise {noise}": patients(noise) for noise in (0.05, 0.1, 0.2, 0.3, 0.5)}
HIDDEN |= {
    "patients, noise 0.1, 10 rows each": patients(0.1, 200, 10),
    "patients, noise 0.3, 4 columns": patients(0.3, n_columns=4),
    "patients, noise 0.1, 2 columns": patients(0.1, n_columns=2),
    "patients, noise 0.1, 3 columns vary": patients(0.1, n_varying=3),
    "mixtures of up to 16 components": mixture(16),
    "mixtures of up to 60 components": mixture(60),
}
KINDS = {**INDEPENDENT, **HONEST, **further.HONEST, "smooth": smooth, "mixtures of up to 12": mixture(12)}


def share(make: Callable[[Random], Table], n_tables: int, seed: int = 3) -> float:
    """In how many tables of a kind clusters are suspected."""
    made = (make(np.random.default_rng([seed, number])) for number in range(n_tables))
    return float(np.mean([suspect_clusters(*table) is not None for table in made]))


def main(n_tables: int) -> None:
    """Print one line a kind; those that are to be found in capitals."""
    for name, make in {**{name.upper(): make for name, make in HIDDEN.items()}, **KINDS}.items():
        print(f"{name:40} {share(make, n_tables):6.1%}", flush=True)
    if "OFFSAMPLE_DATA" in os.environ:
        found = {name: suspect_clusters(columns, y + 1) for name, (columns, y, _) in tables([])}
        suspected = [name for name, one in found.items() if one is not None]
        print(f"{len(found)} shared tables, suspected in: {', '.join(suspected) or 'none'}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
