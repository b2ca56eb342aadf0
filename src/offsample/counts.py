"""The counts of one partition of a labelled sample: all that a criterion needs to know of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from offsample._absolute_losses import CellNumbers
from offsample._cell_counts import CellCounts
from offsample._cell_moments import CellMoments
from offsample._counting import count_cells
from offsample._grouped_counts import GroupedCounts
from offsample._held_out_counts import HeldOutCounts
from offsample._held_out_moments import HeldOutMoments
from offsample._typing import Ints
from offsample.tables import ColumnError, Table, Task, UnitRows, open_table

__all__ = [
    "CellCounts",
    "CellMoments",
    "CellNumbers",
    "GroupedCounts",
    "HeldOutCounts",
    "HeldOutMoments",
    "count_cells",
    "feature_counts",
]

Cells = CellCounts | CellMoments


def feature_counts(
    table: Any,
    target: Any,
    features: Sequence[Any] | None = None,
    *,
    engine: str | None = None,
    group: Any = None,
    task: Task = "auto",
) -> dict[Any, Cells]:
    """Count the classes, or take the moments of a numeric target, at every value of every column of a table.

    Every distinct value is a cell, also of a number; a missing value (None, NaN, NaT, NA) is a value of its
    own. On an engine the counting is done there, and only the profile of a column comes back: few rows, also
    for a column of a billion different values.

    Parameters
    ----------
    table : array, dict of columns, dataframe, relation or path
        Anything that `tables.open_table` reads.
    target : name or array-like
        The column of classes, or of numbers. Rows where it is missing are left out.
    features : list of names, optional
        By default all columns but the target. One that cannot be read, such as a column of lists, is left
        out with a warning that names it; if none can be read, that is a `tables.ColumnError`.
    engine : {"duckdb", "polars", "dask", "spark"}, optional
        What counts; see `tables.open_table`.
    group : name, list of names, or array-like, optional
        Rows that belong together; see `rank_features`. The counts are then `GroupedCounts`, the moments
        `HeldOutMoments`.
    task : {"auto", "classification", "regression"}
        Whether the target is classes or a number; see `tables.open_table`.

    Returns
    -------
    dict from the name of a feature to its CellCounts, or to its CellMoments for a numeric target

    Examples
    --------
    >>> from offsample.counts import feature_counts
    >>> table = {"city": ["Rome", "Oslo", "Rome", None], "churned": ["yes", "no", "yes", "no"]}
    >>> feature_counts(table, "churned")
    {'city': CellCounts(n_cells=3, n_samples=4, n_classes=2)}
    """
    counted, unread = dict[Any, Cells](), list[ColumnError]()
    with open_table(table, target, features, engine=engine, group=group, task=task) as source:
        for name in source.features:
            try:
                if group is not None:
                    of_groups = source.unit_rows(name)
                    counted[name] = count_units(of_groups, of_groups.values, source.classes)
                    continue
                rows = source.value_counts(name).rows
            except ColumnError as error:
                unread.append(error)
                continue
            counted[name] = cells_of(source, rows)
    if unread and not counted:
        raise unread[0]
    for why in unread:
        warnings.warn(f"left out: {why}", stacklevel=2)
    return counted


def cells_of(source: Table, rows: NDArray[Any]) -> Cells:
    """Cells of a profile as a table returns it: moments where its target is numeric."""
    if source.is_numeric:
        return CellMoments.from_table(rows, source.center)
    return CellCounts.from_table(rows, source.classes)


def count_units(rows: UnitRows, codes: Ints, classes: Sequence[Any]) -> Cells:
    """Count the cells of rows in the units that they come in: groups, crossed groups, or time.

    Codes go from 0 on, and none is left out.
    """
    if not classes:
        return HeldOutMoments(codes, rows.y, groups=rows.groups, time=rows.time)
    if len(rows.groups) == 1 and rows.time is None:
        return GroupedCounts(codes, rows.groups[0], rows.y, len(classes), classes)
    return HeldOutCounts(codes, rows.y, len(classes), groups=rows.groups, time=rows.time, classes=classes)
