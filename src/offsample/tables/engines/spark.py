"""Spark: the user's session reads text and Parquet itself, for the files may be on other machines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import narwhals as nw
import numpy as np

from offsample.tables._lazy import LazyTable, microseconds
from offsample.tables._meaning import ZEROS
from offsample.tables._text import header, separator_of
from offsample.tables.engines._engine import Dated, Dtypes, EngineBase, Frame
from offsample.tables.engines._files import Read

# Of more rows a bin's upper edge is off by at most this share of them.
RANK_ERROR = 1e-4
_MOST_EXACT = 1_000_000


class SparkTable(LazyTable):
    """A table on Spark. Of more than a million rows quantiles are approximate: exact ones would be gathered.

    The rank of a bin's edge is then off by at most ``1e-4 * n_rows``.
    """

    def _quantile_bins(self, rows: nw.LazyFrame[Any], max_bins: int, n_present: int) -> nw.LazyFrame[Any]:
        from pyspark.ml.feature import Bucketizer

        native = rows.to_native()
        shares = [j / max_bins for j in range(1, max_bins)]
        edges = np.unique(native.approxQuantile("v0", shares, RANK_ERROR * (n_present > _MOST_EXACT)))
        # Its buckets leave out their upper edge; ours are closed there.
        above = np.nextafter(edges[edges < np.finfo(float).max], np.inf)
        splits = [-np.inf, *np.unique(above[np.isfinite(above)]).tolist(), np.inf]
        if len(splits) < 3:
            return rows.with_columns(nw.when(~nw.col("v0").is_null()).then(nw.lit(0)).alias("bin"))
        bucketizer = Bucketizer(splits=splits, inputCol="v0", outputCol="bucket", handleInvalid="keep")
        bucketed: nw.LazyFrame[Any] = nw.from_native(bucketizer.transform(native))
        return bucketed.with_columns(nw.when(~nw.col("v0").is_null()).then(nw.col("bucket")).alias("bin"))


class _Spark(EngineBase):
    package = "pyspark"
    install = "'offsample[spark]'"
    table = SparkTable

    def rename(self, frame: Frame, aliases: list[str]) -> Frame:
        renamed: Frame = nw.from_native(frame.to_native().toDF(*aliases))  # "a" and "A" are one name to it
        return renamed

    def with_dates(self, frame: Frame, dtypes: Dtypes, target: str) -> Dated:  # noqa: ARG002
        added = {}
        for alias, dtype in dtypes.items():
            if dtype == nw.Date:
                added[alias] = f"unix_date({alias}) * 86400000000 AS {microseconds(alias)}"
            elif dtype == nw.Datetime:
                added[alias] = f"unix_micros(cast({alias} AS timestamp)) AS {microseconds(alias)}"
        return nw.from_native(frame.to_native().selectExpr("*", *added.values())), dtypes, added

    def parquet(self, files: list[str]) -> Any:
        return _reader().parquet(*files)

    def csv(self, files: list[str]) -> Read:
        separator = separator_of(files[0]) or ","
        options = {"header": True, "sep": separator}
        typed = _reader().csv(files, inferSchema=True, **options)
        schema = typed.schema.jsonValue()
        whole = [i for i, kind in enumerate(schema["fields"]) if kind["type"] in ("integer", "long")]
        if whole:  # a code that begins with a zero, such as a postal code, would lose it
            texts = _reader().csv(files, **options).toDF(*(f"c{i}" for i in range(len(schema["fields"]))))
            coded = texts.selectExpr(*(f"max(c{i} RLIKE '{ZEROS}')" for i in whole)).first()
            for i in (i for i, is_code in zip(whole, coded, strict=True) if is_code):
                schema["fields"][i]["type"] = "string"
            typed = _reader().csv(files, schema=type(typed.schema).fromJson(schema), **options)
        frame: Frame = nw.from_native(typed)
        names, n_columns = header(files[0], separator), len(frame.collect_schema().names())
        if n_columns != len(names):  # such as of a carriage return in a name that is not quoted
            raise ValueError(f"the header has {len(names)} names, but spark finds {n_columns} columns")
        return frame, names


def _reader() -> Any:
    from pyspark.sql import SparkSession

    # Whoever is told to end waits until Java has started: it would run on, and keep its files, without us.
    with ThreadPoolExecutor(1) as starter:
        starter.submit(SparkSession.builder.getOrCreate).result()
    return SparkSession.builder.getOrCreate().read


ENGINE = _Spark
