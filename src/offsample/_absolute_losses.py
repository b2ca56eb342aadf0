"""Absolute errors of medians off the sample, from the sorted numbers of each cell: in memory only."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from offsample._cell_moments import CellMoments
from offsample._typing import Floats, Ints

_FEW = 4  # rows of a cell whose median depends on each of them
_WIDER = 1.1  # medians vary, too: chosen by samples of normal numbers

__all__ = ["CellNumbers", "absolute_error_loo"]


class CellNumbers(CellMoments):
    """Moments per cell of a numeric target, and the numbers themselves: what medians are made of.

    Parameters
    ----------
    codes : array-like of int, shape (n_samples,)
        The cell of each row.
    y : array-like of shape (n_samples,)
        The numbers; finite.

    Examples
    --------
    >>> from offsample.counts import CellNumbers
    >>> from offsample.criteria import absolute_error_loo
    >>> absolute_error_loo(CellNumbers([0, 0, 0, 1, 1], [1.0, 2.0, 30.0, 5.0, 6.0]))
    11.8
    """

    def __init__(self, codes: ArrayLike, y: ArrayLike) -> None:
        cell, number = self.take_rows(codes, y)
        order = np.lexsort((number, cell))  # by cell, and in a cell from the least to the largest
        self.__dict__.update(cell=cell[order], y=number[order])

    @classmethod
    def from_codes(
        cls,
        codes: ArrayLike,
        y: ArrayLike,
        n_cells: int | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> CellNumbers:
        """As `CellMoments.from_codes`, but for importance weights: whole ones repeat a row."""
        CellMoments.from_codes(codes, y, n_cells, sample_weight).require_frequencies("a median")
        times = 1 if sample_weight is None else np.asarray(sample_weight).astype(np.int64)
        return cls(np.repeat(np.asarray(codes), times), np.repeat(np.asarray(y, np.float64), times))

    def profile(self) -> CellNumbers:
        """The cells themselves: medians of cells of one size are not known from what they have together."""
        return self

    @property
    def training_error(self) -> float:
        """Absolute error, on the sample, of the median of the cell of each row."""
        y, (first, size) = self.__dict__["y"], _places(self.__dict__["cell"])
        return float(np.abs(y - (y[first + (size - 1) // 2] + y[first + size // 2]) / 2).mean())

    @cached_property
    def ranks(self) -> CellMoments:
        """The same cells of the ranks of the numbers, in units of their deviation: no number is far off."""
        from scipy.stats import rankdata  # which takes half as long to load as all the rest

        rank = rankdata(self.__dict__["y"])
        return CellMoments.from_codes(self.__dict__["cell"], (rank - rank.mean()) / (rank.std() or 1.0))

    @cached_property
    def losses(self) -> tuple[Floats, Floats]:
        """Distance of each row to the median of the others of its cell, and to that of all others."""
        cell, y = self.__dict__["cell"], self.__dict__["y"]
        first, size = _places(cell)
        order = np.argsort(y, kind="stable")
        blind = np.empty(len(y))
        blind[order] = _left_out(y[order], np.zeros(len(y), np.int64), np.full(len(y), len(y)))
        return np.where(size > 1, _left_out(y, first, size), blind), blind

    def deviation(self, share: float) -> float:
        """Standard error of the mean loss less a share of the blind one.

        To leave a row out changes the losses of the others of its cell, too: of two rows, which are each
        other's prediction, one is known. So it is the jackknife's in cells of at most four rows. The medians
        of larger ones hardly depend on a row, and there the jackknife, which is not for medians, is too wide.
        """
        cell, y = self.__dict__["cell"], self.__dict__["y"]
        losses, blind = self.losses
        first, size = _places(cell)
        few = np.flatnonzero(size <= _FEW)
        changed = losses.copy()
        changed[few] = (np.bincount(cell, losses)[cell] - _total_without(y, first, size))[few]
        spread = float((changed - share * blind).std(ddof=1)) if len(y) > 1 else 0.0
        return _WIDER * spread / float(np.sqrt(len(y)))


def absolute_error_loo(cells: CellNumbers) -> float:
    """Estimated absolute error, on new rows, of predicting the median of a cell.

    Every row is predicted by the median of the others of its cell, or of all others where it has none. Of an
    even number the median is halfway between the two in the middle. A few large numbers decide less of it
    than of `squared_error_loo`.

    Examples
    --------
    >>> from offsample.counts import CellNumbers
    >>> from offsample.criteria import absolute_error_loo
    >>> absolute_error_loo(CellNumbers([0, 0, 1, 1], [1.0, 3.0, 10.0, 14.0]))
    3.0
    """
    if not isinstance(cells, CellNumbers):
        raise TypeError("absolute_error_loo needs the numbers of each cell (CellNumbers), not their moments")
    return float(cells.losses[0].mean())


def _places(cell: Ints) -> tuple[Ints, Ints]:
    """First place of the cell of each row, and its size; rows are sorted by cell."""
    size = np.bincount(cell)
    return (np.cumsum(size) - size)[cell], size[cell]


def _others(y: Floats, first: Ints, place: Ints) -> Floats:
    """Number at a place among the others of a row's cell; any number where there is no such place."""
    return np.asarray(y[np.clip(first + place + (place >= np.arange(len(y)) - first), 0, len(y) - 1)])


def _left_out(y: Floats, first: Ints, size: Ints) -> Floats:
    """Distance of each row to the median of the others of its cell; rows are sorted, also in their cells."""
    return np.abs(y - _others(y, first, (size - 2) // 2) + (y - _others(y, first, (size - 1) // 2))) / 2


def _total_without(y: Floats, first: Ints, size: Ints) -> Floats:
    """Sum of the left-out losses of the cell of each row, if that row were not there; of up to four rows."""
    low, middle, high = (_others(y, first, np.full(len(y), place)) for place in range(3))
    of_three = 1.5 * (high - low) + np.abs(middle - (low + high) / 2)
    return np.choose(
        np.minimum(size, _FEW) - 1, [0.0 * y, np.abs(low - np.median(y)), 2 * (middle - low), of_three]
    )
