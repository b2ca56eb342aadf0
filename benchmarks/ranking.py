"""`python -m benchmarks.ranking`: ranking columns beside the peers, in CPU seconds and as ratios.

10⁶ rows × 20 columns of 2 to 10⁵ values, as integers and as strings; then the growth with rows and columns;
then a Parquet file larger than the memory that DuckDB is allowed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
from sklearn.feature_selection import mutual_info_classif
from sklearn.preprocessing import OrdinalEncoder

from benchmarks._timing import measure, print_versions
from offsample import rank_features
from offsample.counts import feature_counts

CARDINALITIES = [2, 5, 10, 50, 100, 500, 1000, 5000, 10_000, 100_000] * 2


def make_codes(n_rows: int, n_columns: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    columns = [rng.integers(0, CARDINALITIES[j % 20], n_rows) for j in range(n_columns)]
    return np.column_stack(columns), y


def to_frame(codes: np.ndarray, y: np.ndarray, as_strings: bool) -> pd.DataFrame:
    columns = {f"c{j}": codes[:, j] for j in range(codes.shape[1])}
    if as_strings:
        columns = {
            name: np.array([f"value {i}" for i in range(column.max() + 1)], dtype=object)[column]
            for name, column in columns.items()
        }
        return pd.DataFrame(columns).astype("str").assign(y=y)
    return pd.DataFrame(columns).assign(y=y)


def by_bincount(codes: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    return lambda: [np.bincount(codes[:, j] * 2 + y) for j in range(codes.shape[1])]


def by_factorize(frame: pd.DataFrame) -> Callable[[], object]:
    y = frame["y"].to_numpy()
    return lambda: [np.bincount(pd.factorize(frame[c])[0] * 2 + y) for c in frame.columns[:-1]]


def by_polars(frame: pl.DataFrame) -> Callable[[], object]:
    def run() -> object:
        counted = [pl.len().alias("n"), pl.col("y").sum()]
        return pl.collect_all([frame.lazy().group_by(c).agg(counted) for c in frame.columns[:-1]])

    return run


def by_duckdb(frame: pl.DataFrame) -> Callable[[], object]:
    connection = duckdb.connect()
    connection.register("t", frame.to_arrow())

    def run() -> object:
        query = "SELECT n, s, count(*) FROM (SELECT count(*) n, sum(y) s FROM t GROUP BY {}) GROUP BY n, s"
        return [connection.execute(query.format(c)).fetchall() for c in frame.columns[:-1]]

    return run


def by_mutual_information(frame: pd.DataFrame, as_strings: bool) -> Callable[[], object]:
    def run() -> object:
        X = frame.drop(columns="y")
        codes = OrdinalEncoder(dtype=np.int64).fit_transform(X) if as_strings else X.to_numpy()
        return mutual_info_classif(codes, frame["y"], discrete_features=True)

    return run


def speed(n_rows: int, kinds: tuple[bool, ...]) -> None:
    codes, y = make_codes(n_rows)
    for as_strings in kinds:
        frame = to_frame(np.asfortranarray(codes), y, as_strings)
        in_polars = pl.from_pandas(frame)
        runs = {
            "offsample rank_features, pandas": lambda f=frame: rank_features(
                f, "y", categorical_features="all"
            ),
            "offsample feature_counts, pandas": lambda f=frame: feature_counts(f, "y"),
            "offsample feature_counts, polars": lambda f=in_polars: feature_counts(f, "y"),
            "offsample feature_counts, polars lazy": lambda f=in_polars: feature_counts(f.lazy(), "y"),
            "pandas factorize + bincount": by_factorize(frame),
            "polars lazy group_by": by_polars(in_polars),
            "DuckDB two group-bys": by_duckdb(in_polars),
            "scikit-learn mutual information": by_mutual_information(frame, as_strings),
        }
        if not as_strings:
            runs["numpy bincount on ready codes"] = by_bincount(np.asfortranarray(codes), y)
            runs["offsample rank_features, as numbers"] = lambda f=frame: rank_features(f, "y")
        print(f"\n{n_rows:,} rows × 20 columns of {'strings' if as_strings else 'integers'}")
        print(f"{'':<38} {'first s':>8} {'wall s':>8} {'cpu s':>8} {'ratio (cpu)':>12}")
        ours = None
        for name, run in runs.items():
            timing = measure(run, repeats=1 if name.startswith("scikit") else 5)
            ours = ours or timing
            ratio = timing.cpu / ours.cpu
            print(
                f"{name:<38} {timing.first:>8.2f} {timing.wall:>8.3f} {timing.cpu:>8.3f} {ratio:>12.2f}",
                flush=True,
            )


def growth(largest: int) -> None:
    print("\nGrowth: CPU seconds of rank_features")
    print(f"{'rows':>12} {'columns':>8} {'cpu s':>8} {'µs per row and column':>22}")
    sizes = [(n, 20) for n in (10_000, 100_000, 1_000_000, 10_000_000) if n <= largest]
    for n_rows, n_columns in [*sizes, (10_000, 200), (10_000, 2000)]:
        codes, y = make_codes(n_rows, n_columns)
        frame = to_frame(np.asfortranarray(codes), y, as_strings=False)
        cpu = measure(lambda f=frame: rank_features(f, "y", categorical_features="all"), repeats=1).cpu
        print(f"{n_rows:>12,} {n_columns:>8} {cpu:>8.3f} {cpu / n_rows / n_columns * 1e6:>22.4f}", flush=True)


def out_of_core(n_rows: int) -> None:
    """Rank a Parquet file in a process of its own, whose DuckDB may use 1 GB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        columns = ", ".join(
            f"(hash(i + {j} * 1000003) % {c}) AS c{j}" for j, c in enumerate(CARDINALITIES[:19])
        )
        rows = f"SELECT (hash(i) % 2)::INT AS y, {columns}, 'id ' || i AS id FROM range({n_rows}) t(i)"
        duckdb.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
        command = [sys.executable, "-m", "offsample", "rank", str(path), "-t", "y", "--json"]
        start = time.perf_counter()
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "OFFSAMPLE_DUCKDB_MEMORY": "1GB"},
        )
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\n{n_rows:,} rows × 20 columns, one of them unique strings, Parquet, DuckDB limited to 1 GB:")
    print(f"{seconds:.1f} s, peak {peak:,.0f} MB of the whole process")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--largest", type=int, default=10_000_000, help="rows of the largest growth step")
    parts = ["memory", "integers", "strings", "growth"]
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    arguments = parser.parse_args()
    print_versions("numpy", "numba", "pandas", "polars", "duckdb", "scikit-learn")
    if "memory" in arguments.parts:  # first: a child's peak memory counts from its parent's
        out_of_core(5 * arguments.rows)
    speed(
        arguments.rows,
        tuple(kind == "strings" for kind in ("integers", "strings") if kind in arguments.parts),
    )
    if "growth" in arguments.parts:
        growth(arguments.largest)


if __name__ == "__main__":
    main()
