"""Columns as the questions about rows see them: codes of categories, or numbers with NaN where missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from offsample._typing import Floats, Ints
from offsample.tables import ordered_codes

codes_of = ordered_codes
# Values of an entity, such as customers, and rows of each on average, at least.
FEWEST_ALONE, FEWEST_ROWS = 30, 2.0
_DENSE = 0.4

Columns = Mapping[str, ArrayLike]
"""Name and values of each column: integers are codes of categories, floats are numbers (NaN is missing)."""


def is_numeric(column: NDArray[Any]) -> bool:
    """Whether a column holds numbers; integers are codes."""
    return bool(column.dtype.kind == "f")


def is_whole(column: NDArray[Any]) -> bool:
    """Whether these are categories or whole numbers."""
    if not is_numeric(column):
        return True
    known = column[~np.isnan(column)]
    return bool((known == np.rint(known)).all())


def may_be_number(column: NDArray[Any], n_values: int, fewest: int = FEWEST_ALONE) -> bool:
    """Whether these are many categories, or whole numbers with few gaps, as numbers of customers are."""
    low, high = ends_of(column)
    dense = not is_numeric(column) or n_values >= _DENSE * (high - low + 1)
    return n_values >= fewest and dense and is_whole(column)


def ends_of(column: NDArray[Any]) -> tuple[Any, Any]:
    """The least and the largest number as those of Python, whose difference overflows without a warning."""
    known = column[~np.isnan(column)] if is_numeric(column) else column
    return (known.min().item(), known.max().item()) if len(known) else (0, 0)


def cells_of(column: NDArray[Any], most: int = 10) -> Ints:
    """Codes of categories as they are, of numbers in at most so many bins of about equal size."""
    code = codes_of(column)
    if not is_numeric(column) or code.max(initial=0) < most:
        return code
    earlier = np.searchsorted(np.sort(code), code)  # rows with a smaller number
    cell = earlier * most // len(code)
    cell[np.isnan(column)] = most
    return codes_of(cell)


def ranks_of(column: NDArray[Any]) -> Floats:
    """Rank of each number, from 0 to 1, NaN where missing: heavy tails then weigh as much as any others."""
    known = ~np.isnan(column)
    ranks = np.full(len(column), np.nan)
    ranks[known] = rankdata(column[known]) / max(1, int(known.sum()))
    return ranks


def checked(columns: Columns, y: ArrayLike) -> tuple[dict[str, NDArray[Any]], Ints]:
    """Columns as arrays of one length and the class codes from 0 on."""
    label = np.asarray(y)
    if label.ndim != 1 or label.dtype.kind not in "iub":
        raise ValueError(f"the class codes must be integers in one dimension, got {label.dtype}")
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    for name, column in arrays.items():
        if column.shape != label.shape:
            raise ValueError(
                f"column {name!r} has shape {column.shape}: expected {label.shape}, as the classes"
            )
        if column.dtype.kind not in "iubf":
            raise ValueError(f"column {name!r} has dtype {column.dtype}: expected codes or floats")
    return arrays, codes_of(label)
