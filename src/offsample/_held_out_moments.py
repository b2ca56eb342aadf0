"""Moments with the loss on every row by what it may know: the past, or all that shares no group with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from offsample._cell_moments import CellMoments
from offsample._held_out_counts import HeldOutRows
from offsample._typing import Floats


class HeldOutMoments(HeldOutRows, CellMoments):
    """Moments per cell of a numeric target, and the squared loss on each row by the means that it may know.

    The sibling of `HeldOutCounts`: with `time`, a row knows the rows that are strictly earlier; with
    `groups`, no row that shares one of its groups. Where it knows none of its cell, it is predicted by the
    mean of all that it knows, and the first rows of all, which know nothing, by the mean of the sample.

    Parameters
    ----------
    codes : array-like of int, shape (n_samples,)
        The cell of each row.
    y : array-like of shape (n_samples,)
        The numbers; finite.
    groups : sequence of array-like, optional
        Codes of the groups of each row; one array for each kind of group.
    time : array-like, optional
        Anything that can be sorted; equal times know nothing of each other.

    Examples
    --------
    >>> from offsample.counts import HeldOutMoments
    >>> from offsample.criteria import squared_error_loo
    >>> squared_error_loo(HeldOutMoments([0, 0, 0, 0], [1.0, 3.0, 2.0, 6.0], groups=[[0, 0, 1, 1]]))
    6.5
    """

    y: Floats  # less their mean

    def __init__(
        self,
        codes: ArrayLike,
        y: ArrayLike,
        *,
        groups: Sequence[ArrayLike] = (),
        time: ArrayLike | None = None,
    ) -> None:
        cell, number = self.take_rows(codes, y)
        self.know_units(cell, groups, time)
        self.__dict__["y"] = number - self.center

    def losses(self, *, blind: bool = False) -> Floats:
        """Squared distance of each row to the mean that it knows; where `blind`, to that of all rows."""
        return np.asarray((self.y - self._known_mean(self.y, blind)) ** 2)

    def half_squares(self) -> Floats:
        """Half the mean squared difference of each row to those that it knows."""
        mean, square = self._known_mean(self.y), self._known_mean(self.y**2)
        return np.asarray((self.y**2 - 2 * self.y * mean + square) / 2)

    def _known_mean(self, numbers: Floats, blind: bool = False) -> Floats:
        nowhere = np.zeros_like(self.cell)
        n_known = self.n_known(nowhere)
        known = np.where(n_known > 0, self.n_known(nowhere, numbers) / np.maximum(n_known, 1), numbers.mean())
        if blind:
            return known
        n_here = self.n_known(self.cell)
        return np.where(n_here > 0, self.n_known(self.cell, numbers) / np.maximum(n_here, 1), known)

    def each_alone(self) -> list[HeldOutMoments]:
        """Where groups cross, the same of rows that are new in one kind alone: new users, known items."""
        kinds = self.groups if len(self.groups) > 1 else []
        return [HeldOutMoments(self.cell, self.y, groups=[one], time=self.time) for one in kinds]
