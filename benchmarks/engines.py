"""Counting on engines, from one Parquet file, against frames in memory; and a file larger than the memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks._frame import Case, Tool, topic

CARDINALITIES = [2, 3, 5, 10, 20, 50, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000]


def write_parquet(path: Path, n_rows: int) -> None:
    """Fourteen columns of 2 to 300,000 integers, two of words, two of them unique."""
    import duckdb

    columns = ", ".join(f"(hash(i + {j} * 1000003) % {c})::INT AS c{j}" for j, c in enumerate(CARDINALITIES))
    words = ", ".join(f"'word ' || (hash(i + {c}) % {c}) AS w{c}" for c in (50, 5000))
    rows = (
        f"SELECT {columns}, {words}, i AS number, 'id ' || i AS id, (hash(i) % 2)::INT AS y "
        f"FROM range({n_rows}) t(i)"
    )
    duckdb.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")


def columns_of(path: str) -> list[str]:
    import pyarrow.parquet as pq

    return [name for name in pq.read_schema(path).names if name != "y"]


# --- ours -----------------------------------------------------------------------------------------------


def on_engine(path: str, engine: str | None) -> Callable[[], Any]:
    from offsample.counts import feature_counts

    if engine == "spark":
        spark_session()
    if engine == "dask":
        import dask.dataframe  # noqa: F401
    return lambda: feature_counts(path, "y", engine=engine)


def in_memory(path: str, library: str) -> Callable[[], Any]:
    """Reading is part of the call."""
    from offsample.counts import feature_counts

    if library == "pandas":
        import pandas as pd

        return lambda: feature_counts(pd.read_parquet(path), "y")
    import polars as pl

    return lambda: feature_counts(pl.read_parquet(path), "y")


# --- the engines themselves ------------------------------------------------------------------------------

PROFILE = "SELECT n, s, count(*) FROM (SELECT count(*) n, sum(y) s FROM {} GROUP BY {}) q GROUP BY n, s"


def duckdb_alone(path: str) -> Callable[[], Any]:
    import duckdb

    connection, columns = duckdb.connect(), columns_of(path)
    return lambda: [connection.execute(PROFILE.format(f"'{path}'", c)).fetchall() for c in columns]


def polars_alone(path: str) -> Callable[[], Any]:
    import polars as pl

    columns, counts = columns_of(path), [pl.len().alias("n"), pl.col("y").sum().alias("s")]

    def run() -> Any:
        scan = pl.scan_parquet(path)
        return [scan.group_by(c).agg(counts).group_by("n", "s").len().collect() for c in columns]

    return run


def dask_alone(path: str) -> Callable[[], Any]:
    import dask.dataframe as dd

    columns = columns_of(path)
    return lambda: [
        dd.read_parquet(path, columns=[c, "y"]).groupby(c)["y"].agg(["count", "sum"]).compute()
        for c in columns
    ]


def spark_alone(path: str) -> Callable[[], Any]:
    session = spark_session()
    session.read.parquet(path).createOrReplaceTempView("t")
    return lambda: [session.sql(PROFILE.format("t", c)).collect() for c in columns_of(path)]


@cache
def spark_session() -> Any:
    import logging

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    logging.getLogger("py4j").setLevel(logging.ERROR)
    from pyspark.sql import SparkSession

    scratch = tempfile.mkdtemp(prefix="offsample-spark-")
    builder = SparkSession.builder.master(f"local[{os.cpu_count()}]").appName("offsample-benchmarks")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(os.cpu_count()),
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.local.dir": f"{scratch}/local",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={scratch}",
        "spark.log.level": "OFF",
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def counting(path: str, n_rows: int) -> Case:
    return Case(
        f"counting {len(CARDINALITIES) + 4} columns of {n_rows:,} rows, Parquet",
        [
            Tool("offsample on DuckDB (the default for a path)", partial(on_engine, path, None)),
            Tool("offsample on polars lazy", partial(on_engine, path, "polars")),
            Tool("offsample, read into polars first", partial(in_memory, path, "polars")),
            Tool("offsample, read into pandas first", partial(in_memory, path, "pandas")),
            Tool("offsample on Dask", partial(on_engine, path, "dask")),
            Tool("offsample on Spark", partial(on_engine, path, "spark")),
            Tool("DuckDB alone", partial(duckdb_alone, path), peer="DuckDB"),
            Tool("polars lazy alone", partial(polars_alone, path), peer="polars"),
            Tool("Dask alone", partial(dask_alone, path), peer="Dask"),
            Tool("Spark alone", partial(spark_alone, path), peer="Spark"),
        ],
    )


# --- whole processes ------------------------------------------------------------------------------------

# Each prints the most memory that its process ever took, in MB.
TELL = """
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")))
"""
RANK = """
import io, sys
from contextlib import redirect_stdout
from offsample.cli import app
with redirect_stdout(io.StringIO()):
    app(["rank", sys.argv[1], "-t", "y", "--json"], standalone_mode=False)
"""
PANDAS = """
import sys, numpy as np, pandas as pd
frame = pd.read_parquet(sys.argv[1])
y = frame["y"].to_numpy()
for name in frame.columns[:-1]:
    np.bincount(pd.factorize(frame[name])[0] * 2 + y)
"""
POLARS = """
import sys
from benchmarks.engines import polars_alone
polars_alone(sys.argv[1])()
"""


def process(work: str, path: str) -> Callable[[], float]:
    def run() -> float:
        environment = {**os.environ, "OFFSAMPLE_DUCKDB_MEMORY": "1GB"}
        command = [sys.executable, "-W", "ignore", "-c", work + TELL, path]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return float(done.stdout)

    return run


def whole_processes(path: str, n_rows: int) -> Case:
    return Case(
        f"a new process ranks {len(CARDINALITIES) + 4} columns of {n_rows:,} rows; DuckDB may use 1 GB",
        [
            Tool("offsample rank", partial(process, RANK, path), quality=lambda peak: peak, repeats=1),
            Tool(
                "pandas factorize, counts only",
                partial(process, PANDAS, path),
                "pandas",
                lambda p: p,
                repeats=1,
            ),
            Tool(
                "polars lazy, counts only", partial(process, POLARS, path), "polars", lambda p: p, repeats=1
            ),
        ],
        "peak MB of the process",
        "lower",
    )


@topic(
    "engines",
    "Engines",
    "Counts of two classes at every value of 18 columns, two of them unique, from one Parquet file: by us on "
    "each engine, by us on frames that are read first, and by each engine alone with a query per column. "
    "Then whole processes on a larger file, interpreter and imports included.",
    peers={
        "DuckDB": "Use SQL when counts are all that you want: we add the reading of types and missing values "
        "and the choice of bins.",
        "polars": "Use it for the counts alone, and where memory is plenty: streaming, it keeps them all.",
        "Dask": "Use it where the data are on a cluster that runs it already; on one machine DuckDB is "
        "faster.",
        "Spark": "Use it where the data are on a cluster that runs it already; on one machine DuckDB is "
        "faster.",
        "pandas": "Use it when the table fits into memory several times over and is loaded anyway.",
    },
    packages=("pandas", "polars", "duckdb", "pyarrow", "dask", "pyspark"),
)
def cases(small: bool) -> Iterator[Case]:
    with tempfile.TemporaryDirectory() as folder:
        n_rows = 3000 if small else 1_000_000
        path = Path(folder) / "table.parquet"
        write_parquet(path, n_rows)
        yield counting(str(path), n_rows)
        n_rows = 5000 if small else 5_000_000
        write_parquet(path, n_rows)
        yield whole_processes(str(path), n_rows)
