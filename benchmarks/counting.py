"""Counting classes per value, beside the group-bys of the peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._frame import Case, Tool, topic

Ints = NDArray[np.int64]
N_CLASSES = 2


def by_pandas(codes: Ints, y: Ints) -> Callable[[], Any]:
    import pandas as pd

    frame = pd.DataFrame({"code": codes, "y": y})
    return lambda: frame.groupby(["code", "y"], sort=False).size()


def by_polars(codes: Ints, y: Ints) -> Callable[[], Any]:
    import polars as pl

    frame = pl.DataFrame({"code": codes, "y": y})
    return lambda: frame.group_by("code", "y").len()


def by_duckdb(codes: Ints, y: Ints) -> Callable[[], Any]:
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    connection.register("t", pa.table({"code": codes, "y": y}))
    return lambda: connection.execute("SELECT code, y, count(*) FROM t GROUP BY code, y").fetchnumpy()


def by_contingency(codes: Ints, y: Ints) -> Callable[[], Any]:
    from sklearn.metrics.cluster import contingency_matrix

    return lambda: contingency_matrix(codes, y, sparse=True)


def ours(codes: Ints, y: Ints, n_cells: int) -> Callable[[], Any]:
    from offsample.counts import count_cells

    return lambda: count_cells(codes, y, n_cells, N_CLASSES)


def profile(codes: Ints, y: Ints) -> Callable[[], Any]:
    from offsample.counts import CellCounts

    return lambda: CellCounts.from_codes(codes, y, n_classes=N_CLASSES).profile()


def score(codes: Ints, y: Ints) -> Callable[[], Any]:
    from offsample.criteria import ginger

    counted = profile(codes, y)()
    return lambda: ginger(counted)


@topic(
    "counting",
    "Counting",
    "Counts of two classes at every value of one column of integer codes, and the profile (how many values "
    "have which counts) of an identifier, from which every criterion is computed.",
    peers={
        "numpy": "`numpy.bincount` is all you need when codes are ready, few and dense and you want nothing "
        "but the counts.",
        "pandas": "Use `groupby` when the keys are not codes yet and you want a frame back.",
        "polars": "Use it for the rest of a query over frames: it spreads a group-by over all cores.",
        "DuckDB": "Use it when the counts are one step of a query, or the table does not fit into memory; "
        "our engines call it then.",
        "scikit-learn": "Use `contingency_matrix` when you want its sparse matrix.",
    },
    packages=("pandas", "polars", "duckdb", "pyarrow"),
)
def cases(small: bool) -> Iterator[Case]:
    n_rows = 20_000 if small else 10_000_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, N_CLASSES, n_rows)
    for n_cells in (2, 1000, n_rows // 10):
        codes = rng.integers(0, n_cells, n_rows)
        yield Case(
            f"{n_rows:,} rows, {n_cells:,} values",
            [
                Tool("offsample count_cells", partial(ours, codes, y, n_cells)),
                Tool(
                    "numpy bincount",
                    lambda c=codes, n=n_cells: (
                        lambda: np.bincount(c * N_CLASSES + y, minlength=n * N_CLASSES)
                    ),
                    peer="numpy",
                ),
                Tool("pandas groupby.size", partial(by_pandas, codes, y), peer="pandas"),
                Tool("polars group_by.len", partial(by_polars, codes, y), peer="polars"),
                Tool("DuckDB GROUP BY", partial(by_duckdb, codes, y), peer="DuckDB"),
                Tool(
                    "scikit-learn contingency_matrix", partial(by_contingency, codes, y), peer="scikit-learn"
                ),
            ],
        )
    codes = rng.permutation(n_rows)
    yield Case(
        f"identifier of {n_rows:,} rows",
        [
            Tool("offsample, profile from codes", partial(profile, codes, y)),
            Tool("offsample, Ginger from the profile", partial(score, codes, y)),
        ],
    )
