"""Moments of a numeric target by an engine: one nested group-by, of which sums come back, never rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from offsample._moment_sums import N_MOMENTS, from_sums
from offsample._typing import Floats
from offsample.tables._base import Bins, Profile
from offsample.tables._targets import MOST_CLASSES, Center, Task, not_numbers

if TYPE_CHECKING:
    from offsample.tables._lazy import LazyTable

# Where less than this share of the squares is within cells, distances are taken to the mean of each cell: as
# differences of sums about the mean of all, their fourth powers would have too few digits.
_CLOSE = 0.01


def center_of(table: LazyTable, target: Any, dtype: nw.dtypes.DType, task: Task) -> tuple[Center, int] | None:
    """Centre and number of the rows of a numeric target, whose missing rows are noted; None for classes."""
    is_number = dtype.is_numeric() or (task == "regression" and dtype == nw.Boolean)
    if task == "classification" or not is_number:
        if task == "regression":
            raise not_numbers(repr(target), dtype)
        return None
    with table.engine_errors("target", target):
        y = table.number_column(target)
        known = y.filter(~nw.col("y").is_null())
        if task == "auto" and _are_classes(table, known):
            return None
        column = nw.col("y")
        whole = known.select(
            column.count().alias("n"), column.mean(), column.min().alias("low"), column.max().alias("high")
        )
        (n_rows, *ends), (n_all,) = (
            table.fetch_rows(whole)[0],
            table.fetch_rows(y.select(nw.len().alias("n")))[0],
        )
    table.n_dropped = int(n_all) - int(n_rows)
    ends = [float(end if end is not None else 0.0) for end in ends]
    return Center.of(ends, repr(target), int(n_rows), table.n_dropped), int(n_rows)


def _are_classes(table: LazyTable, known: nw.LazyFrame[Any]) -> bool:
    """Whether numbers, none of them missing, are whole and of few different values."""
    y = nw.col("y")
    fraction = table.fetch_rows(known.select((y - y.round()).abs().max().alias("f")))[0][0]
    if fraction is None or fraction != 0.0:  # or not a number, of an infinite one
        return fraction is None
    different = known.group_by("y").agg(nw.len().alias("n")).select("y").head(MOST_CLASSES + 1)
    return len(table.fetch_rows(different)) <= MOST_CLASSES


def moment_profile(table: LazyTable, rows: nw.LazyFrame[Any]) -> Profile:
    """Profile of the values "v0" of rows whose target is "y"."""

    def ask(about_means: bool) -> tuple[Floats, Floats]:
        cells = _cells(rows, "v0", about_means).with_columns(
            (nw.col("v0").is_null().cast(nw.Float64) * nw.col("c")).alias("missing")
        )
        m, s, t = (nw.col(name) for name in "mst")
        square = m * m
        products = {"m2": square, "ss": s * s, "ms": m * s, "m2s": square * s, "mt": m * t}
        products |= {"m3": square * m, "m4": square * square}
        summed = ["m", "s", "f", "t", *products]
        sizes = cells.with_columns(*(expr.alias(name) for name, expr in products.items()))
        sums = sizes.group_by("c").agg(
            nw.len().alias("n"), nw.col("missing").sum(), *(nw.col(name).sum() for name in summed)
        )
        found = np.array(table.fetch_rows(sums.select("c", "n", *summed, "missing")), float)
        c_, within, between = found[:, 0], found[:, 3], found[:, 6]
        return found, np.array([within.sum(), within.sum() + c_ @ between])

    found = _stably(table, ask)
    return Profile(from_sums(found[:, :-1], table.scale), int(found[:, -1].sum()))


def moment_bins(table: LazyTable, binned: nw.LazyFrame[Any], n_values: int, max_bins: int) -> Bins:
    """Moments of rows with their "bin", null where the value "v0" is missing."""
    names = ("c", "m", "s", "t", "f")

    def ask(about_means: bool) -> tuple[tuple[Floats, Floats], Floats]:
        cells = _cells(binned, "bin", about_means, nw.col("v0").max().alias("edge"))
        found = table.fetch_rows(cells.select("bin", "edge", *names))
        present = sorted(row for row in found if row[0] is not None)
        missing = [row for row in found if row[0] is None]
        cells_ = np.array([row[2:] for row in [*present, *missing]], float).reshape(-1, N_MOMENTS)
        edges = np.array([row[1] for row in present[:-1]], float)
        within = cells_[:, 2].sum()
        if not missing:
            cells_ = np.vstack([cells_, np.zeros(N_MOMENTS)])
        return (cells_, edges), np.array([within, within + cells_[:, 0] @ cells_[:, 1] ** 2])

    cells, edges = _stably(table, ask)
    cells = cells * table.scale ** np.array([0, 1, 2, 3, 4])
    return Bins(cells[:-1], cells[-1], edges, n_values, n_values <= max_bins)


def _stably(table: LazyTable, ask: Any) -> Any:
    """Sums about the mean of all or, where most of the squares are between cells, about their own means."""
    found, (within, total) = ask(False)
    return ask(True)[0] if within < _CLOSE * total and table.has_windows else found


def _cells(rows: nw.LazyFrame[Any], key: str, about_means: bool, *more: nw.Expr) -> nw.LazyFrame[Any]:
    """Size, mean, and sums of the powers 2, 3 and 4 of the distances to it ("c", "m", "s", "t", "f")."""
    y, d = nw.col("y"), nw.col("d")
    at = y.mean().over(key) if about_means else y * 0.0
    powers = {"s1": d, "s2": d * d, "s3": d * d * d, "s4": d * d * d * d}
    rows = rows.with_columns(at.alias("at")).with_columns((y - nw.col("at")).alias("d"))
    rows = rows.with_columns(*(expr.alias(name) for name, expr in powers.items()))
    cells = rows.group_by(key).agg(
        nw.len().cast(nw.Float64).alias("c"), nw.col("at").max(), *(nw.col(n).sum() for n in powers), *more
    )
    c, g, s1, s2, s3, s4 = (nw.col(name) for name in ("c", "g", *powers))
    cells = cells.with_columns((s1 / c).alias("g"))
    # One row has no distance to its mean, whatever rounding says; a sum of squares is not negative.
    several = (c > 1.0).cast(nw.Float64)
    squares = s2 - c * g * g
    return cells.with_columns(
        (nw.col("at") + g).alias("m"),
        (several * (squares + squares.abs()) / 2.0).alias("s"),
        (several * (s3 - 3.0 * g * s2 + 2.0 * c * g * g * g)).alias("t"),
        (several * (s4 - 4.0 * g * s3 + 6.0 * g * g * s2 - 3.0 * c * g * g * g * g)).alias("f"),
    )
