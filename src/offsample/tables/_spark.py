"""Spark: approximate quantiles, because a global rank would move all rows to one worker."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from offsample.tables._lazy import LazyTable

# A bin's upper edge is off by at most this share of the rows.
RANK_ERROR = 1e-4


class SparkTable(LazyTable):
    """A table on Spark. The rank of a bin's edge is off by at most ``1e-4 * n_rows``."""

    def _quantile_bins(self, rows: nw.LazyFrame[Any], max_bins: int, n_present: int) -> nw.LazyFrame[Any]:  # noqa: ARG002
        from pyspark.ml.feature import Bucketizer

        native = rows.to_native()
        shares = [j / max_bins for j in range(1, max_bins)]
        edges = np.unique(native.approxQuantile("v", shares, RANK_ERROR))
        # Its buckets leave out their upper edge; ours are closed there.
        above = np.nextafter(edges[edges < np.finfo(float).max], np.inf)
        splits = [-np.inf, *np.unique(above[np.isfinite(above)]).tolist(), np.inf]
        if len(splits) < 3:
            return rows.with_columns(nw.when(~nw.col("v").is_null()).then(nw.lit(0)).alias("bin"))
        bucketizer = Bucketizer(splits=splits, inputCol="v", outputCol="bucket", handleInvalid="keep")
        bucketed: nw.LazyFrame[Any] = nw.from_native(bucketizer.transform(native))
        return bucketed.with_columns(nw.when(~nw.col("v").is_null()).then(nw.col("bucket")).alias("bin"))
