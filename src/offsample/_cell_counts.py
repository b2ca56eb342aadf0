"""The counts of one partition of a labelled sample: all that a criterion needs to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._counting import Counts, as_codes, as_frequencies, collapse, count_cells, frozen
from offsample._typing import Ints


class CellTable:
    """What the cells of every kind of target have: sizes, and how many cells a row stands for."""

    counts: Counts
    multiplicity: Ints
    cell_sizes: Any
    n_samples: Any

    def keep(self, filled: NDArray[np.bool_], **columns: Any) -> None:
        """Set columns, without the rows of empty cells, so that nothing can change them."""
        if not filled.any():
            raise ValueError("counts hold no sample: every cell is empty")
        for name, values in columns.items():
            self.__dict__[name] = frozen(values if filled.all() else values[filled])

    @property
    def n_cells(self) -> int:
        """Number of cells that hold a sample."""
        return int(self.multiplicity.sum())

    @property
    def is_frequency(self) -> bool:
        """Whether the counts are numbers of rows, not sums of importance weights."""
        return bool(self.counts.dtype == np.int64)

    def missing_mass(self, k: int = 0) -> float:
        """Good–Turing estimate of the probability of the values seen exactly `k` times.

        ``(k + 1) N_{k+1} / m``, where N_j cells hold j samples; for k = 0 the probability that a new row
        has a value not seen before. Its expectation is that of the true mass in samples of m - 1 rows.

        Examples
        --------
        >>> from offsample.counts import CellCounts
        >>> CellCounts([[1, 0], [0, 1], [4, 4]]).missing_mass()
        0.2
        """
        if k < 0:
            raise ValueError(f"k is a number of occurrences and cannot be negative, got {k}")
        self.require_frequencies("missing_mass")
        n_cells = int(self.multiplicity[self.cell_sizes == k + 1].sum())
        return float((k + 1) * n_cells / self.n_samples)

    def require_frequencies(self, what: str) -> None:
        """Raise if these are sums of importance weights, from which `what` cannot be computed."""
        if not self.is_frequency:
            raise ValueError(
                f"{what} counts rows and cannot be computed from sums of importance weights: "
                "give whole-number (frequency) weights or none"
            )


@dataclass(frozen=True, eq=False, repr=False)
class CellCounts(CellTable):
    """Counts per cell and class of one partition of a labelled sample.

    A cell is a value of a categorical column, a bin of a numeric one, a leaf of a tree. Cells with
    equal counts are interchangeable, so a row may stand for several of them: a column of a billion
    identifiers is K rows. Rows without a sample are dropped.

    Whole numbers are *frequencies*: a count of 2 means two rows of the sample. Anything else is a sum
    of *importance weights*, which no leave-one-out formula can use: the functions that count rows
    refuse them with an error.

    Parameters
    ----------
    counts : array-like of shape (n_rows, n_classes)
        Samples (or weights) of each class in a cell. The number of columns is the number of classes of
        the data set, also where a class does not occur in these cells.
    multiplicity : array-like of shape (n_rows,), optional
        How many cells have the counts of this row; one each by default.
    classes : sequence of length n_classes, optional
        Labels of the classes.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> cells = CellCounts([[3, 1], [0, 2], [3, 1]])
    >>> cells
    CellCounts(n_cells=3, n_samples=10, n_classes=2)
    >>> cells.profile().counts.tolist(), cells.profile().multiplicity.tolist()
    ([[0, 2], [3, 1]], [1, 2])
    """

    counts: Counts
    multiplicity: Ints
    classes: tuple[Any, ...] | None

    def __init__(
        self,
        counts: ArrayLike,
        multiplicity: ArrayLike | None = None,
        classes: Sequence[Any] | NDArray[Any] | None = None,
    ) -> None:
        # By class: there are few classes, and a sum over them is ten times as fast that way.
        table = np.asfortranarray(_as_table(counts))
        times = as_multiplicity(multiplicity, len(table))
        labels = None if classes is None else tuple(np.asarray(classes, dtype=object).tolist())
        if labels is not None and len(labels) != table.shape[1]:
            raise ValueError(
                f"classes has {len(labels)} labels for the {table.shape[1]} columns of counts: give one each"
            )
        self.keep((table.sum(axis=1) > 0) & (times > 0), counts=table, multiplicity=times)
        self.__dict__["classes"] = labels

    @classmethod
    def from_codes(
        cls,
        codes: ArrayLike,
        y: ArrayLike,
        n_cells: int | None = None,
        n_classes: int | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> CellCounts:
        """Count a sample given as one cell code and one class per row.

        Parameters
        ----------
        codes : array-like of int, shape (n_samples,)
            The cell of each row, from 0 to ``n_cells - 1``.
        y : array-like of shape (n_samples,)
            The class of each row: any labels, or, with `n_classes`, codes from 0 to ``n_classes - 1``.
        n_cells : int, optional
            By default one more than the largest code.
        n_classes : int, optional
            Number of classes of the data set; by default the number of distinct labels in `y`.
        sample_weight : array-like of shape (n_samples,), optional
            Whole numbers repeat a row so many times; other numbers are importance weights.

        Examples
        --------
        >>> from offsample.counts import CellCounts
        >>> cells = CellCounts.from_codes([0, 0, 1, 1], ["no", "yes", "no", "no"])
        >>> cells.counts.tolist(), cells.classes
        ([[1, 1], [2, 0]], ('no', 'yes'))
        """
        cell = as_codes(codes, "codes")
        classes, y_codes = None, np.asarray(y)
        if n_classes is None:
            classes, y_codes = np.unique(y_codes, return_inverse=True)
            n_classes = len(classes)
        if n_cells is None:
            n_cells = int(cell.max()) + 1 if len(cell) else 0
        table = count_cells(cell, y_codes, n_cells, n_classes, sample_weight)
        return cls(table, classes=classes)

    @classmethod
    def from_table(
        cls, rows: Iterable[Sequence[float]] | NDArray[Any], classes: Sequence[Any] | None = None
    ) -> CellCounts:
        """Read a profile as an engine returns it: per row the counts of the classes, then the multiplicity.

        Examples
        --------
        >>> from offsample.counts import CellCounts
        >>> CellCounts.from_table([(0, 1, 500), (1, 0, 500)])  # an identifier column of 1,000 rows
        CellCounts(n_cells=1000, n_samples=1000, n_classes=2)
        """
        table = _as_matrix(rows, "rows")
        if table.shape[1] < 3:
            raise ValueError(
                f"rows have {table.shape[1]} numbers: expected two or more counts, then a multiplicity"
            )
        return cls(table[:, :-1], table[:, -1], classes)

    def __repr__(self) -> str:
        return f"CellCounts(n_cells={self.n_cells}, n_samples={self.n_samples:g}, n_classes={self.n_classes})"

    @property
    def n_classes(self) -> int:
        """Number of classes of the data set (K)."""
        return int(self.counts.shape[1])

    @cached_property
    def cell_sizes(self) -> Counts:
        """Samples in a cell of each row (c_v)."""
        return frozen(self.counts.sum(axis=1))

    @cached_property
    def class_totals(self) -> Counts:
        """Samples of each class."""
        return frozen(self.multiplicity @ self.counts)

    @cached_property
    def n_samples(self) -> int | float:
        """Number of samples (m), or the sum of the weights."""
        total = self.class_totals.sum()
        return int(total) if self.is_frequency else float(total)

    def profile(self) -> CellCounts:
        """Collapse rows with equal counts into one, in lexicographic order.

        No criterion changes by it, and none depends on the order of rows or cells afterwards.
        """
        return self._profile

    @cached_property
    def _profile(self) -> CellCounts:
        return CellCounts.collapsed(self.counts, self.multiplicity, self.classes)

    @staticmethod
    def collapsed(counts: Counts, multiplicity: Ints | None, classes: Any) -> CellCounts:
        """Cells whose rows with equal counts are one, which are their own profile."""
        cells = CellCounts(*collapse(counts, multiplicity), classes)
        cells.__dict__["_profile"] = cells
        return cells

    def against_rest(self, k: int) -> CellCounts:
        """Return the same cells with two classes: all others as one, and class k."""
        return CellCounts.collapsed(against_rest(self.counts, k), self.multiplicity, None)

    def left_out(self) -> tuple[Ints, Callable[[int], Ints], Ints]:
        """Counts of what is left out together, what is left then for a row of class k, and how often each.

        A row is left out alone; with `GroupedCounts`, with all rows of its group.
        """
        cells = self.profile()
        one = np.eye(cells.n_classes, dtype=np.int64)
        return cells.counts, lambda k: np.maximum(cells.counts - one[k], 0), cells.multiplicity


def against_rest(counts: NDArray[Any], k: int) -> NDArray[Any]:
    """Counts, of shape (n, K), of all classes but k, and of k."""
    return np.column_stack([counts.sum(axis=1) - counts[:, k], counts[:, k]])


def _as_matrix(values: Any, name: str) -> NDArray[Any]:
    """Numbers as a two-dimensional array, with an error that says which row is not like the others."""
    if hasattr(values, "__array__"):
        values = np.asarray(values)
    else:
        rows = list(values)
        lengths = [np.size(row) for row in rows]
        for i, length in enumerate(lengths):
            if length != lengths[0]:
                raise ValueError(f"{name} is ragged: row {i} has {length} numbers, row 0 has {lengths[0]}")
        values = np.asarray(rows)
    if not values.size:
        raise ValueError(f"{name} has no rows")
    if values.ndim != 2:
        raise ValueError(f"{name} must be a table of rows and columns, got {values.ndim} dimension(s)")
    if values.dtype.kind not in "iufc":
        raise ValueError(f"{name} must be numbers, got {values.dtype}")
    matrix: NDArray[Any] = values
    return matrix


def _as_table(counts: Any) -> Counts:
    table = _as_matrix(counts, "counts")
    if table.shape[1] < 2:
        raise ValueError(
            f"counts has {table.shape[1]} class: at least two are needed (give n_classes, or a zero column "
            "for a class of the data set that does not occur here)"
        )
    return as_frequencies(table, "counts")


def as_multiplicity(multiplicity: ArrayLike | None, n_rows: int) -> Ints:
    if multiplicity is None:
        return np.ones(n_rows, np.int64)
    times = as_frequencies(np.asarray(multiplicity), "multiplicity")
    if times.shape != (n_rows,):
        raise ValueError(
            f"multiplicity has shape {times.shape}: expected one number for each of {n_rows} rows"
        )
    if times.dtype != np.int64:
        raise ValueError("multiplicity must be whole numbers: it counts cells")
    return times
