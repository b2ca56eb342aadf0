"""Rows, mean and spread of a number in each cell of a partition: what counts are for classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from offsample._cell_counts import CellTable, as_multiplicity
from offsample._counting import Counts, as_codes, as_frequencies, frozen, row_weights
from offsample._moment_sums import JOINT, moments_of_codes
from offsample._typing import Floats, Ints

JOINT_MOMENTS = ("s²", "os", "o²s", "ot", "o³", "o⁴")
"""Products of a cell's sum of squares s and third moment t, and of the distance o of its mean to `means`."""


@dataclass(frozen=True, eq=False, repr=False)
class CellMoments(CellTable):
    """Moments per cell of a numeric target: the sibling of `CellCounts`.

    A row may stand for several cells of one size: then the moments are their means, and `between` says how
    far apart their means are. So a column of a billion identifiers is one row. Cells without a sample are
    dropped. As with `CellCounts`, counts that are whole numbers are *frequencies*; others are sums of
    importance weights, from which nothing can be left out.

    Parameters
    ----------
    counts : array-like of shape (n_rows,)
        Samples (or weights) in a cell.
    means : array-like of shape (n_rows,)
        Mean of the target in a cell.
    sums_of_squares : array-like of shape (n_rows,)
        Sum of the squared distances to that mean.
    multiplicity : array-like of shape (n_rows,), optional
        How many cells a row stands for; one each by default.
    between : array-like of shape (n_rows,), optional
        Mean squared distance of the means of these cells to `means`; 0 by default.
    fourth_moments, third_moments : array-like of shape (n_rows,), optional
        Sums of the fourth and third powers of the distances to the mean of the cell, for intervals. By
        default as if the target were normal.
    joint_moments : array-like of shape (n_rows, 6), optional
        For intervals where rows stand for several cells: means over these of the products in
        `JOINT_MOMENTS`. By default as if means and spreads were independent, and the means normal.
    center : float, optional
        A number that `means` are given as distances to: of large numbers that lie close together, the
        differences would lose their digits.

    Examples
    --------
    >>> from offsample.counts import CellMoments
    >>> cells = CellMoments.from_codes([0, 0, 1, 1, 1], [1.0, 3.0, 10.0, 10.0, 13.0])
    >>> cells
    CellMoments(n_cells=2, n_samples=5)
    >>> cells.means.tolist(), cells.sums_of_squares.tolist()
    ([2.0, 11.0], [2.0, 6.0])
    """

    counts: Counts
    means: Floats
    sums_of_squares: Floats
    multiplicity: Ints
    between: Floats
    fourth_moments: Floats
    third_moments: Floats
    joint_moments: Floats
    shifts: Floats  # of the means from `center`
    center: float

    def __init__(
        self,
        counts: ArrayLike,
        means: ArrayLike,
        sums_of_squares: ArrayLike,
        multiplicity: ArrayLike | None = None,
        between: ArrayLike | None = None,
        fourth_moments: ArrayLike | None = None,
        third_moments: ArrayLike | None = None,
        joint_moments: ArrayLike | None = None,
        *,
        center: float | None = None,
    ) -> None:
        size = np.atleast_1d(np.asarray(counts))
        if size.ndim != 1 or size.dtype.kind not in "iuf":
            raise ValueError(
                f"counts must be one number for each cell, got {size.dtype} of shape {size.shape}"
            )
        size = as_frequencies(size, "counts")
        times = as_multiplicity(multiplicity, len(size))
        optional = {"between": between, "fourth_moments": fourth_moments, "third_moments": third_moments}
        values: dict[str, Counts] = {
            name: np.zeros(len(size)) if given is None else _numbers(given, name, len(size))
            for name, given in {"means": means, "sums_of_squares": sums_of_squares, **optional}.items()
        }
        squares, apart = values["sums_of_squares"], values["between"]
        for name in ("sums_of_squares", "between", "fourth_moments"):
            if (values[name] < 0).any():
                row = int((values[name] < 0).argmax())
                raise ValueError(f"{name} has {values[name][row]} in row {row}: expected 0 or more")
        if fourth_moments is None:
            values["fourth_moments"] = 3 * squares**2 / np.maximum(size, 1) * (size > 1)
        if joint_moments is None:
            none = np.zeros(len(size))
            joint = np.column_stack([squares**2, none, apart * squares, none, none, 3 * apart**2])
        else:
            joint = np.asarray(joint_moments, dtype=float)
        values |= {"counts": size, "multiplicity": times, "joint_moments": joint}
        filled = (size > 0) & (times > 0)
        start = float(values["means"][filled.argmax()]) if center is None else float(center)
        values["shifts"] = values["means"] - (start if center is None else 0.0)
        if center is not None:
            values["means"] = values["means"] + start
        self.keep(filled, **values)
        self.__dict__["center"] = start

    @classmethod
    def from_codes(
        cls,
        codes: ArrayLike,
        y: ArrayLike,
        n_cells: int | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> CellMoments:
        """Sum up a sample given as one cell code and one number per row.

        Parameters
        ----------
        codes : array-like of int, shape (n_samples,)
            The cell of each row, from 0 to ``n_cells - 1``.
        y : array-like of shape (n_samples,)
            The numbers; finite.
        n_cells : int, optional
            By default one more than the largest code.
        sample_weight : array-like of shape (n_samples,), optional
            Whole numbers repeat a row; other numbers are importance weights.

        Examples
        --------
        >>> from offsample.counts import CellMoments
        >>> CellMoments.from_codes([0, 1, 1], [5.0, 1.0, 2.0]).counts.tolist()
        [1, 2]
        """
        cell = as_codes(codes, "codes")
        target = _numbers(y, "y", len(cell))
        if len(cell) and cell.min() < 0:
            raise ValueError(f"codes has {int(cell.min())}: expected 0 or more")
        weight = None if sample_weight is None else row_weights(sample_weight, len(cell))
        most = int(cell.max(initial=-1)) + 1
        if n_cells is not None and most > n_cells:
            raise ValueError(f"codes has {most - 1}: expected 0 to {n_cells - 1}")
        center = float(target.mean()) if len(target) else 0.0
        return cls.from_cells(moments_of_codes(cell, target - center, n_cells or most, weight), center)

    def take_rows(self, codes: ArrayLike, y: ArrayLike) -> tuple[Ints, Floats]:
        """Begin with the moments of rows, for kinds of cells that keep these; return codes and numbers."""
        cell, number = as_codes(codes, "codes").astype(np.int64), np.asarray(y, np.float64)
        self.__dict__.update(CellMoments.from_codes(cell, number).__dict__)
        return cell, number

    @classmethod
    def from_cells(cls, cells: Floats, center: float = 0.0) -> CellMoments:
        """Moments of cells given as a matrix: size, mean, then sums of powers 2, 3 and 4 of the distances."""
        size, mean, squares, cubes, fourth = cells.T
        return cls(size, mean, squares, fourth_moments=fourth, third_moments=cubes, center=center)

    @classmethod
    def from_table(cls, rows: Floats, center: float = 0.0) -> CellMoments:
        """Read a profile as an engine returns it: the fields of this class, `multiplicity` last."""
        size, mean, squares, between, fourth, third = rows[:, :6].T
        joint = rows[:, JOINT]
        return cls(size, mean, squares, rows[:, -1], between, fourth, third, joint, center=center)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_cells={self.n_cells}, n_samples={self.n_samples:g})"

    @property
    def cell_sizes(self) -> Counts:
        """Samples in a cell of each row: `counts`."""
        return self.counts

    @cached_property
    def n_samples(self) -> int | float:
        """Number of samples (m), or the sum of the weights."""
        total = self.multiplicity @ self.counts
        return int(total) if self.is_frequency else float(total)

    @cached_property
    def mean(self) -> float:
        """Mean of the target in the whole sample."""
        return self.center + self._mean_shift

    @cached_property
    def _mean_shift(self) -> float:
        return float(self.multiplicity * self.counts @ self.shifts) / self.n_samples

    @cached_property
    def offsets(self) -> Floats:
        """Distance of `means` to the mean of the sample."""
        return frozen(self.shifts - self._mean_shift)

    @cached_property
    def squared_offsets(self) -> Floats:
        """Mean squared distance of a cell's mean to the mean of the sample."""
        return frozen(self.between + self.offsets**2)

    @cached_property
    def total_sum_of_squares(self) -> float:
        """Sum of the squared distances of all samples to their mean."""
        return float(self.in_one.sums_of_squares[0])

    @cached_property
    def in_one(self) -> CellMoments:
        """All samples in one cell: the target itself."""
        shift, size, times = self.offsets, self.counts, self.multiplicity
        s, third = self.sums_of_squares, self.third_moments
        _, os, o2s, ot, o3, o4 = self.joint_about(shift)
        cubes = third + 3 * os + size * o3
        fourth = self.fourth_moments + 4 * ot + 6 * o2s + size * o4
        squares = s + size * self.squared_offsets
        of_all = times @ squares, times @ cubes, times @ fourth
        return CellMoments.from_cells(np.array([[self.n_samples, 0.0, *of_all]]), self.mean)

    @property
    def n_alike(self) -> float:
        """As many rows as would weigh alike in the sum of squares of the target."""
        whole = self.in_one
        return float(whole.sums_of_squares[0] ** 2 / max(float(whole.fourth_moments[0]), 1e-300))

    def profile(self) -> CellMoments:
        """Take the cells of one size together, in the order of their sizes.

        No criterion and no interval changes by it.
        """
        size, row = np.unique(self.counts, return_inverse=True)
        times = np.bincount(row, self.multiplicity)

        def averaged(values: Floats) -> Floats:
            return np.bincount(row, self.multiplicity * values) / times

        mean = averaged(self.shifts)
        shift = self.shifts - mean[row]
        return CellMoments(
            size,
            mean,
            averaged(self.sums_of_squares),
            np.rint(times).astype(np.int64),
            averaged(self.between + shift**2),
            averaged(self.fourth_moments),
            averaged(self.third_moments),
            np.column_stack([averaged(one) for one in self.joint_about(shift)]),
            center=self.center,
        )

    def joint_about(self, shift: Floats) -> tuple[Floats, ...]:
        """`JOINT_MOMENTS` where `means` are further away by these: their o is ``o + shift``."""
        squared, os, o2s, ot, o3, o4 = self.joint_moments.T
        s, o2 = self.sums_of_squares, self.between
        return (
            squared,
            os + shift * s,
            o2s + 2 * shift * os + shift**2 * s,
            ot + shift * self.third_moments,
            o3 + 3 * shift * o2 + shift**3,
            o4 + 4 * shift * o3 + 6 * shift**2 * o2 + shift**4,
        )

    def merge(self, other: CellMoments) -> CellMoments:
        """Profile of the union of two sets of *different* cells, such as two hash partitions of values."""
        names = [name for name in self.__dataclass_fields__ if name not in ("shifts", "center")]
        both = {name: [getattr(self, name), getattr(other, name)] for name in names}
        both["means"] = [self.shifts, other.shifts + (other.center - self.center)]
        return CellMoments(*map(np.concatenate, both.values()), center=self.center).profile()


def _numbers(values: Any, name: str, n_rows: int) -> Floats:
    """One finite number per row, in double precision."""
    numbers = np.atleast_1d(np.asarray(values))
    if numbers.shape != (n_rows,):
        raise ValueError(f"{name} has shape {numbers.shape}: expected one number for each of {n_rows} rows")
    try:
        numbers = numbers.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, got {numbers.dtype}") from error
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"{name} has {numbers[row]} in row {row}: expected a finite number")
    return numbers
