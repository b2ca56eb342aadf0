"""Dask with workers in processes of their own, and values that are sent to several of them."""

from __future__ import annotations

import numpy as np
import pytest

from offsample import rank_features
from offsample.tables import open_table
from offsample.tables.engines import dask as _dask

dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

N = 3000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    cities = [None if i % 7 == 0 else f"city {i}" for i in rng.integers(0, 400, N)]
    return pd.DataFrame(
        {
            "signal": np.where(rng.random(N) < 0.8, y, 1 - y).astype(str),
            "city": pd.Series(cities, dtype="str"),
            "id": [f"id {i}" for i in range(N)],
            "amount": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N).round(3)),
            "y": y,
        }
    )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=tmp_path_factory.mktemp("dask"),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_ranking_on_a_cluster(table, cluster, monkeypatch):
    monkeypatch.setattr(_dask, "_ROWS_PER_BUCKET", 700)  # five buckets, so that equal values must meet
    frame = dd.from_pandas(table, npartitions=4)
    assert rank_features(frame, "y").features == rank_features(table, "y").features
    assert len(cluster.scheduler_info()["workers"]) == 2


def test_a_worker_that_fails_midway(table, cluster):
    def explode(part):
        if part.index[0] > 0:
            raise OSError("disk gone")
        return part

    frame = dd.from_pandas(table, npartitions=4)
    broken = frame.assign(city=frame["city"].map_partitions(explode, meta=table["city"].iloc[:0]))
    counted = open_table(broken, "y")
    assert counted.value_counts("signal").n_values == 2
    with pytest.raises(RuntimeError, match=r"dask failed while counting column 'city'.*disk gone"):
        counted.value_counts("city")
