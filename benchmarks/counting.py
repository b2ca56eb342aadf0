"""`python -m benchmarks.counting`: count_cells beside the group-bys of the peers, 10⁷ codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
from sklearn.metrics.cluster import contingency_matrix

from benchmarks._timing import measure, print_versions
from offsample.counts import CellCounts, count_cells
from offsample.criteria import ginger

N_ROWS, N_CLASSES = 10_000_000, 2


def main() -> None:
    print_versions("numpy", "numba", "pandas", "polars", "scikit-learn")
    print(f"{N_ROWS:,} int64 codes, {N_CLASSES} classes; best of 3; ratio = seconds / ours (wall)\n")
    print(f"{'cells':>10} {'':<22} {'first s':>9} {'wall s':>9} {'cpu s':>9} {'ratio':>7}")
    rng = np.random.default_rng(0)
    y = rng.integers(0, N_CLASSES, N_ROWS)
    for n_cells in (2, 1_000, 1_000_000):
        codes = rng.integers(0, n_cells, N_ROWS)
        pandas_frame = pd.DataFrame({"code": codes, "y": y})
        polars_frame = pl.DataFrame({"code": codes, "y": y})
        runs = {
            "offsample count_cells": lambda c=codes, n=n_cells: count_cells(c, y, n, N_CLASSES),
            "numpy bincount": lambda c=codes, n=n_cells: np.bincount(c * N_CLASSES + y, minlength=n * 2),
            "pandas groupby.size": lambda f=pandas_frame: f.groupby(["code", "y"], sort=False).size(),
            "polars group_by.len": lambda f=polars_frame: f.group_by("code", "y").len(),
            "sklearn contingency": lambda c=codes: contingency_matrix(c, y, sparse=True),
        }
        ours = None
        for name, run in runs.items():
            timing = measure(run)
            ours = ours or timing
            print(
                f"{n_cells:>10,} {name:<22} {timing.first:>9.3f} {timing.wall:>9.3f} {timing.cpu:>9.3f} "
                f"{timing.wall / ours.wall:>7.1f}"
            )
        print()

    codes = rng.permutation(N_ROWS)
    counting = measure(lambda: CellCounts.from_codes(codes, y, n_classes=2).profile(), repeats=1)
    profile = CellCounts.from_codes(codes, y, n_classes=2).profile()
    scoring = measure(lambda: ginger(profile))
    print(f"identifier of {N_ROWS:,} rows: counted in {counting.wall:.2f} s, scored in {scoring.wall:.6f} s")


if __name__ == "__main__":
    main()
