"""The rows of a cell, a way to split them, and where a split sends a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a cell.

    Attributes
    ----------
    index : ndarray of int32
        Positions in the sample, ascending (a row of weight 2 is there twice).
    y : ndarray of uint16
        Their classes.
    counts : ndarray of int64, shape (K,)
    histogram : ndarray of int32, shape (n_bins, K)
        Counts of the bins of the numeric columns, one column after the other.
    """

    index: NDArray[np.int32]
    y: NDArray[np.uint16]
    counts: Ints
    histogram: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Order:
    """Scores of the values of a categorical column, learned at the first node that is split by them.

    Nodes below it cut the same scores again. To learn new ones there would be to look at one's own class: a
    row came to a node by the classes of the other rows with its value, and they by its.

    Attributes
    ----------
    codes : ndarray
        The values.
    by_fold : ndarray of shape (N_FOLDS, n_values)
        Score of a value without the rows of a fold: decides for the training rows in that fold.
    full : ndarray of shape (n_values,)
        Score from all rows: decides for new rows.
    """

    codes: NDArray[Any]
    by_fold: Floats
    full: Floats


@dataclass(frozen=True, eq=False)
class Split:
    """One way to split a cell.

    Attributes
    ----------
    column : int
    kind : {"threshold", "multiway", "ordered"}
    gain : float
        Decrease of the criterion, in rows.
    children : ndarray of int64, shape (n_children, K)
    log_p : float
        Of independence of the split and the class, not counting that it was chosen.
    n_tried : float
        Among how many it was chosen, in its column.
    threshold, missing_left
        Of a threshold split: the last bin of the left child, and where missing values go.
    codes, child_of_code : ndarray
        Of a categorical split: the values present, and their children.
    child_of_row : ndarray or None
        Child of each row where the code does not decide it.
    order : Order or None
        What an ordered split cuts.
    potential : float
        Gain of cutting that order everywhere.
    """

    column: int
    kind: Literal["threshold", "multiway", "ordered"]
    gain: float
    children: Ints
    log_p: float = 0.0
    n_tried: float = 1.0
    threshold: int = -1
    missing_left: bool = False
    codes: NDArray[Any] | None = None
    child_of_code: NDArray[np.int32] | None = None
    child_of_row: NDArray[np.int32] | None = None
    order: Order | None = None
    potential: float = 0.0


def child_of_row(
    split: Split, codes: NDArray[np.unsignedinteger], n_codes: int, missing_left: bool
) -> NDArray[np.int32]:
    """Child that each code leads to; -1 where the value was not seen at the node."""
    if split.kind == "threshold":
        right = codes > split.threshold
        if missing_left:
            right &= codes != n_codes - 1
        return right.astype(np.int32)
    assert split.codes is not None
    assert split.child_of_code is not None
    table = np.full(n_codes, -1, np.int32)
    table[split.codes] = split.child_of_code
    return np.asarray(table[codes])
