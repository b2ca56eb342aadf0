"""One nasty table, and the ways to hand it over: every engine must count it alike."""

from __future__ import annotations

import datetime as dt
import logging
import os
import warnings

import numpy as np
import pytest


@pytest.fixture(scope="session")
def spark_builder(tmp_path_factory):
    """How a Spark session is made on two threads that leaves no file and says nothing."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    scratch = tmp_path_factory.mktemp("spark")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    logging.getLogger("py4j").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark about the version of pandas
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("offsample-tests")
        for key, value in {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.warehouse.dir": str(scratch / "warehouse"),
            "spark.local.dir": str(scratch / "local"),
            # For 240 rows, compiling a query, by Spark and by Java, costs far more than answering it.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.extraJavaOptions": " ".join(
                [
                    f"-Dderby.system.home={scratch}",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    # No other machine can be reached through a port where nobody listens.
                    "-DsocksProxyHost=127.0.0.1",
                    "-DsocksProxyPort=9",
                ]
            ),
            "spark.log.level": "OFF",
        }.items():
            builder = builder.config(key, value)
    yield builder
    if running := SparkSession.getActiveSession():
        running.stop()


@pytest.fixture(scope="module")
def spark(spark_builder):
    """The process's one Spark session, made again where another file (a page of the docs) has ended it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return spark_builder.getOrCreate()
    except Exception as error:  # no Java
        pytest.skip(f"Spark does not start here: {error}")


@pytest.fixture(scope="session")
def columns():
    """Columns as lists of Python values, with None where missing; float columns hold NaN as well."""
    rng = np.random.default_rng(0)
    n = 240

    def some(values, missing=0.1):
        return [None if rng.random() < missing else values[i] for i in rng.integers(0, len(values), n)]

    return {
        "a": some(["x", "y", "", "NaN", "none", "ü", "x "]),
        "A": some([1, 2, 3], missing=0),
        '"; drop table x': some([0.0, -0.0, float("nan"), 1.5, float("inf")]),
        "select": some([2**53, 2**53 + 1, -(2**62)]),
        "": some([True, False]),
        "🙂 dotted.name": some([dt.date(1969, 7, 20), dt.date(2020, 2, 29), dt.date(2024, 1, 1)]),
        "`when`": some([dt.datetime(2020, 1, 1, 12), dt.datetime(1999, 12, 31, 23, 59, 59, 999999)]),
        "^a.*$": [f"id{i}" for i in range(n)],
        "unique": list(range(n)),
        "noise": [float(x) for x in rng.normal(size=n).round(2)],
        "nothing": [None] * n,
        "two": some(["no", "yes"]),
        "twelve": some([f"class {k}" for k in range(12)]),
        "whole": some([0, 1, 2]),
        "truth": some([True, False]),
    }
