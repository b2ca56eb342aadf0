"""Dask: values are counted per partition, sent to hash buckets, and profiled there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from offsample._counting import Counts, count_cells
from offsample._moment_sums import N_MOMENTS, by_size, moments_of_codes, united
from offsample._typing import Floats, Ints
from offsample.tables._base import MAX_CLASSES, Bins, Profile, collapse, merge
from offsample.tables._encode import Plain, as_floats, encode, plain
from offsample.tables._lazy import LazyTable
from offsample.tables._meaning import Found, as_found
from offsample.tables._ways import Way
from offsample.tables.engines._engine import EngineBase, Frame, rename_exactly

# Classes of a target, or the number that a numeric one is about.
Coding = tuple[Any, ...] | float
_ROWS_PER_BUCKET = 2_000_000
_MAX_BUCKETS = 64
# Numbers kept per partition, at least: a bin's edge is off by at most this fraction of the rows.
_KEPT = 8192


class DaskTable(LazyTable):
    """A table on Dask. The rank of a bin's edge is off by at most ``n_rows / 8192``."""

    def _partitions(self, *names: Any) -> list[Any]:
        columns = [self._held[name].alias for name in names]
        return list(self._frame.to_native()[columns].to_delayed())

    def number_column(self, name: Any) -> nw.LazyFrame[Any]:
        """As on any engine, but alone: beside other columns, Dask fails on types that it does not know."""
        held = self._held[name]
        alone: nw.LazyFrame[Any] = nw.from_native(self._frame.to_native()[[held.number or held.alias]])
        return alone.select(self._number_expr(name).alias("y"))

    @property
    def _coding(self) -> Coding:
        """Classes, or the number that a numeric target is about."""
        return self.center if self.is_numeric else self.classes

    def _count_labels(self) -> list[tuple[Any, ...]]:
        from dask import compute, delayed

        tasks = [delayed(_label_counts)(part) for part in self._partitions(self._target)]
        totals: dict[Any, int] = {}
        for counts in compute(*tasks):
            for label, times in counts:
                totals[label] = totals.get(label, 0) + times
        return [item for item in totals.items() if item[1]]

    def _profile(self, name: Any) -> Profile:
        from dask import compute, delayed

        n_classes = len(self.classes) or N_MOMENTS
        n_buckets = min(1 + self.n_rows // _ROWS_PER_BUCKET, _MAX_BUCKETS)
        count = delayed(_bucket_counts, nout=n_buckets + 1)
        counted = [count(part, self._coding, n_buckets) for part in self._partitions(name, self._target)]
        profile = delayed(_bucket_profile)
        buckets = [profile([part[b] for part in counted], n_classes) for b in range(n_buckets)]
        rows, missing = compute(buckets, [part[n_buckets] for part in counted])
        if self.is_numeric:
            cells = np.vstack([*rows, _union(missing)])
            return Profile(by_size(cells), int(cells[-1, 0]))
        of_missing = np.sum(missing, axis=0)
        return Profile(merge([*rows, collapse(of_missing[None, :])]), int(of_missing.sum()))

    def _binned_counts(self, name: Any, max_bins: int) -> Bins:
        from dask import compute, delayed

        with self.engine_errors("column", name):
            parts = self._partitions(name, self._target)
            summarise, count = delayed(_summary), delayed(_counts_between)
            summaries = compute(*[summarise(part, self._coding, max_bins) for part in parts])
            edges, n_values = _edges(summaries, max_bins)
            counted = compute(*[count(part, self._coding, edges) for part in parts])
        table: Counts = _union(counted) if self.is_numeric else np.sum(counted, axis=0)
        counts, missing = table[:-1], table[-1]
        if not counts.any():
            counts = counts[:0]
        return Bins(counts, missing, edges, n_values, n_values is not None and n_values <= max_bins)


class _Dask(EngineBase):
    package = "dask"
    install = "'offsample[dask]'"
    has_windows = False
    table = DaskTable
    rename = staticmethod(rename_exactly)

    def with_read(self, frame: Frame, ways: Mapping[str, tuple[str, Way]]) -> Frame:
        native = frame.to_native()
        meta = native._meta.assign(**{name: np.empty(0) for name in ways})
        read: Frame = nw.from_native(native.map_partitions(_with_read, dict(ways), meta=meta))
        return read

    def parquet(self, files: list[str]) -> Any:
        import dask.dataframe as dd

        # By default integers with nulls would become floats, and large ones the same.
        return dd.read_parquet(files, dtype_backend="pyarrow")


ENGINE = _Dask


def _with_read(part: Any, ways: dict[str, tuple[str, Way]]) -> Any:
    added = {}
    for name, (text, way) in ways.items():
        column = nw.from_native(part[text], series_only=True)
        found = as_found(column, Found(way, ""), text)
        added[name] = as_floats(Plain(found)) if isinstance(found, np.ndarray) else np.full(len(part), np.nan)
    return part.assign(**added)


def _label_counts(part: Any) -> list[tuple[Any, int]]:
    series = part.iloc[:, 0]
    counts = series.value_counts().head(MAX_CLASSES + 1)
    return [*zip(counts.index.tolist(), counts.tolist(), strict=True), (None, int(series.isna().sum()))]


def _split(part: Any, classes: Coding) -> tuple[Any, Any]:
    """Values and class codes, or numbers, of the rows of a pandas partition that have a label."""
    labels = part.iloc[:, 1]
    if isinstance(classes, float):
        y = as_floats(plain(nw.from_native(labels, series_only=True), as_number=True)) - classes
        return part.iloc[:, 0][~np.isnan(y)], y[~np.isnan(y)]
    code = {label: k for k, label in enumerate(classes)}
    y = labels.astype(object).map(code).to_numpy(np.float64)
    keep = ~np.isnan(y)
    return part.iloc[:, 0][keep], y[keep].astype(np.intp)


def _bucket_counts(part: Any, classes: Coding, n_buckets: int) -> list[Any]:
    """Per hash bucket (value, class, rows); at the end the class counts of the missing values."""
    import pandas as pd

    values, y = _split(part, classes)
    if isinstance(values.dtype, pd.CategoricalDtype):  # categories may differ between partitions
        values = values.astype(values.cat.categories.dtype)
    if pd.api.types.is_float_dtype(values.dtype):
        values = values + 0.0  # -0.0 and 0.0 have different hashes
    is_missing = values.isna().to_numpy(bool)
    if isinstance(classes, float):
        there = values[~is_missing]
        code, distinct = pd.factorize(there)
        cells = moments_of_codes(code, y[~is_missing], len(distinct))
        counted = pd.DataFrame(cells).assign(v=distinct)
        missing: Counts = moments_of_codes(np.zeros(int(is_missing.sum()), np.int64), y[is_missing], 1)
    else:
        missing = np.bincount(y[is_missing], minlength=len(classes))
        counted = _pairs(values[~is_missing], y[~is_missing])
    bucket = pd.util.hash_pandas_object(counted["v"], index=False).to_numpy() % np.uint64(n_buckets)
    return [*(counted[bucket == b] for b in range(n_buckets)), missing]


def _pairs(values: Any, y: Any) -> Any:
    import pandas as pd

    pairs = pd.DataFrame({"v": values, "y": y})
    return pairs.groupby(["v", "y"], sort=False, observed=True).size().reset_index(name="n")


def _union(parts: Any) -> Floats:
    """Moments of the cells of several partitions, of shape (n_cells, 5) each, or one."""
    cells = np.stack([np.atleast_2d(part) for part in parts])
    into = np.tile(np.arange(cells.shape[1]), len(cells))
    return united(cells.reshape(-1, N_MOMENTS), into, cells.shape[1])


def _bucket_profile(pieces: list[Any], n_classes: int) -> Counts:
    import pandas as pd

    pairs = pd.concat([piece for piece in pieces if len(piece)] or pieces[:1], ignore_index=True)
    codes, n_codes, _ = encode(plain(nw.from_native(pairs["v"], series_only=True)))
    if "y" not in pairs:
        return united(pairs[list(range(N_MOMENTS))].to_numpy(float), codes, n_codes)
    counts = count_cells(codes, pairs["y"].to_numpy(), n_codes, n_classes, pairs["n"].to_numpy())
    return collapse(counts.astype(np.int64))


def _numbers(part: Any, classes: Coding) -> tuple[Floats, Any]:
    values, y = _split(part, classes)
    return as_floats(plain(nw.from_native(values, series_only=True), as_number=True)), y


def _summary(part: Any, classes: Coding, max_bins: int) -> tuple[Floats, Ints, bool]:
    """Numbers with the rows that they stand for, and whether these are all the distinct values.

    Otherwise each stands for a block of the sorted rows, of which it is the largest.
    """
    numbers, _ = _numbers(part, classes)
    numbers = np.sort(numbers[~np.isnan(numbers)])
    distinct, times = np.unique(numbers, return_counts=True)
    kept = max(_KEPT, 8 * max_bins)
    if len(distinct) <= kept:
        return distinct, times, True
    ends = np.arange(1, kept + 1) * len(numbers) // kept
    return numbers[ends - 1], np.diff(ends, prepend=0), False


def _edges(summaries: tuple[tuple[Floats, Ints, bool], ...], max_bins: int) -> tuple[Floats, int | None]:
    """Upper edges of the bins but the last, and the number of distinct values where it is known."""
    values = np.concatenate([numbers for numbers, _, _ in summaries])
    times = np.concatenate([weights for _, weights, _ in summaries])
    distinct, where = np.unique(values, return_inverse=True)
    n_values = len(distinct) if all(complete for _, _, complete in summaries) else None
    if n_values is not None and n_values <= max_bins:
        return distinct[:-1], n_values
    up_to = np.cumsum(np.bincount(where, times).astype(np.int64))
    ranks = -(-np.arange(1, max_bins) * int(up_to[-1]) // max_bins)  # rounded up
    edges = np.unique(distinct[np.searchsorted(up_to, ranks)])
    return edges[edges < distinct[-1]], n_values


def _counts_between(part: Any, classes: Coding, edges: Floats) -> Counts:
    """Class counts per bin; in the last row those of the missing values."""
    numbers, y = _numbers(part, classes)
    bins = np.where(np.isnan(numbers), len(edges) + 1, np.searchsorted(edges, numbers))
    if isinstance(classes, float):
        return moments_of_codes(bins, y, len(edges) + 2)
    return count_cells(bins, y, len(edges) + 2, len(classes))
