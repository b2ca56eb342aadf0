"""Counts of a partition whose rows come in groups: what a rule errs on groups that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample import _counting
from offsample._cell_counts import CellCounts
from offsample._counting import as_codes, count_cells, over_classes, stable_order
from offsample._typing import Floats, Ints
from offsample.tables import ordered_codes

# A table of values, bundles of groups and classes of at most this many numbers is counted as it is.
_DENSE = 1 << 23


@dataclass(frozen=True, eq=False)
class GroupTable:
    """Class counts of each group at each value where it has rows, sorted by value, then by group."""

    value: Ints  # codes from 0 on; every value and every group has a row
    group: Ints
    counts: Ints  # of shape (n_pairs, n_classes)

    @classmethod
    def from_codes(cls, value: Ints, group: Ints, label: Ints, n_classes: int) -> GroupTable:
        """Count rows that are sorted by group."""
        order = stable_order(value, int(value.max()) + 1)
        value, group = value[order], group[order]
        starts = np.diff(value, prepend=-1) != 0
        starts |= np.diff(group, prepend=-1) != 0
        first = np.flatnonzero(starts)
        pair = np.cumsum(starts) - 1
        counts = np.bincount(pair * n_classes + label[order], minlength=len(first) * n_classes)
        return cls(value[first], group[first], counts.reshape(len(first), n_classes))

    @cached_property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1

    @cached_property
    def starts(self) -> Ints:
        """Where the pairs of each value begin."""
        return np.flatnonzero(np.diff(self.value, prepend=-1))

    @cached_property
    def totals(self) -> Ints:
        """Class counts of the value of each pair."""
        return np.asarray(self.over_values(self.counts)[self.value])

    @cached_property
    def others(self) -> Ints:
        """Class counts of the other groups at the value of each pair."""
        return np.asarray(self.totals - self.counts)

    def over_values(self, terms: NDArray[Any]) -> NDArray[Any]:
        """Sum over the groups of each value."""
        return np.asarray(np.add.reduceat(terms, self.starts, axis=0))

    def over_groups(self, terms: NDArray[Any]) -> Floats:
        """Sum over the values of each group; one column at a time."""
        if terms.ndim == 1:
            return np.bincount(self.group, terms, self.n_groups).astype(np.float64)
        return np.column_stack([self.over_groups(column) for column in terms.T])


class Rows(NamedTuple):
    """Codes of each row's value, group and class, sorted by group."""

    value: Ints
    group: Ints
    label: Ints

    def bundled(self, bundle: Ints | int, n_classes: int) -> GroupTable:
        """Table of groups that are merged: all that are of one bundle, or in turn into so many."""
        if isinstance(bundle, int):
            bundle = np.arange(int(self.group[-1]) + 1) % bundle
        n_bundles, n_values = int(bundle.max()) + 1, int(self.value.max()) + 1
        if n_bundles == len(bundle):
            return GroupTable.from_codes(*self, n_classes)
        group = bundle[self.group]
        if n_values * n_bundles * n_classes > _DENSE:
            order = stable_order(group, n_bundles)
            return GroupTable.from_codes(self.value[order], group[order], self.label[order], n_classes)
        counts = np.zeros((n_values, n_bundles, n_classes), np.int64)
        if is_worth_compiling(len(self.value)):
            from offsample import _group_kernels

            _group_kernels.count_bundles(self.value, group, self.label, counts)
        else:
            np.add.at(counts, (self.value, group, self.label), 1)
        value, group = np.nonzero(over_classes(counts))
        return GroupTable(value, group, counts[value, group])


class GroupedCounts(CellCounts):
    """Counts per cell and class of a sample whose rows belong to groups, such as the visits of patients.

    As `CellCounts` it holds the counts of the values. The off-sample criteria leave out whole groups: each
    row is predicted from the rows of its value that belong to other groups, so that `criteria.ginger` is the
    error to expect on rows of a new group. Criteria of the sample itself do not depend on the groups.

    Parameters
    ----------
    value, group, label : ndarray of int64, shape (n_samples,)
        Codes of the cell, the group and the class of each row, sorted by group; of cells and groups none is
        left out from 0 on. `from_rows` takes any others.
    n_classes : int
    classes : sequence of length n_classes, optional
        Labels of the classes.

    Examples
    --------
    >>> from offsample.counts import GroupedCounts
    >>> from offsample.criteria import ginger
    >>> patient = ["Ann", "Ann", "Ann", "Bob", "Bob", "Cat"]
    >>> cells = GroupedCounts.from_rows([0, 0, 1, 0, 0, 1], [1, 1, 1, 0, 0, 1], patient)
    >>> cells
    GroupedCounts(n_cells=2, n_samples=6, n_classes=2, n_groups=3)
    >>> round(ginger(cells), 4)  # Ann and Bob differ at value 0
    0.6667
    """

    def __init__(self, value: Ints, group: Ints, label: Ints, n_classes: int, classes: Any = None) -> None:
        super().__init__(count_cells(value, label, int(value.max()) + 1, n_classes), classes=classes)
        self.__dict__["rows"] = Rows(value, group, label)

    rows: Rows

    @classmethod
    def from_rows(
        cls,
        codes: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike,
        n_classes: int | None = None,
        classes: Sequence[Any] | NDArray[Any] | None = None,
    ) -> GroupedCounts:
        """Count a sample given as one cell code, one class and one group per row.

        Parameters
        ----------
        codes : array-like of int, shape (n_samples,)
            The cell of each row.
        y : array-like of shape (n_samples,)
            The class of each row: any labels, or, with `n_classes`, codes from 0 to ``n_classes - 1``.
        groups : array-like of shape (n_samples,)
            The group of each row: any labels.
        n_classes : int, optional
            Number of classes of the data set; by default the number of distinct labels in `y`.
        classes : sequence of length n_classes, optional
            Labels of the classes, where `y` holds codes.
        """
        cell, label = as_codes(codes, "codes"), np.asarray(y)
        if n_classes is None:
            classes, label = np.unique(label, return_inverse=True)
            n_classes = len(classes)
        label = as_codes(label, "the class codes")
        if len(label) and not 0 <= int(label.min()) <= int(label.max()) < n_classes:
            raise ValueError(
                f"the class codes go from {label.min()} to {label.max()}: expected 0 to {n_classes - 1}"
            )
        group = ordered_codes(np.asarray(groups))
        if not len(cell) == len(label) == len(group):
            raise ValueError(f"codes, y and groups differ in length: {len(cell)}, {len(label)}, {len(group)}")
        if not len(cell):
            raise ValueError("counts hold no sample: every cell is empty")
        value, label = ordered_codes(cell), label.astype(np.int64, copy=False)
        if (np.diff(group) < 0).any():
            order = stable_order(group, int(group.max()) + 1)
            value, group, label = value[order], group[order], label[order]
        return cls(value, group, label, n_classes, classes)

    @property
    def is_large(self) -> bool:
        """Whether the rows are summed up by compiled loops."""
        return is_worth_compiling(int(self.n_samples))

    @cached_property
    def left_out_groups(self) -> tuple[Floats, int]:
        """Expected errors of the Gini rule on each group, and rows whose value no other group has."""
        from offsample import _group_kernels

        errors, n_alone = _group_kernels.leave_groups_out(*self.rows, np.ascontiguousarray(self.counts))
        return errors, int(n_alone)

    @cached_property
    def table(self) -> GroupTable:
        """Counts of each group at each value."""
        return GroupTable.from_codes(*self.rows, self.n_classes)

    def __repr__(self) -> str:
        whole = super().__repr__().replace("CellCounts", "GroupedCounts")
        return f"{whole[:-1]}, n_groups={self.rows.group[-1] + 1})"

    @property
    def of_single_rows(self) -> bool:
        """Whether every group has one row at each of its values, so that to leave out either is the same."""
        return bool((self.table.counts.sum(axis=1) == 1).all())

    def left_out(self) -> tuple[Ints, Callable[[int], Ints], Ints]:
        """Counts of each group at a value, of the others there, and how often each."""
        if self.of_single_rows:
            return super().left_out()
        return self.table.counts, lambda _: self.table.others, np.ones(len(self.table.value), np.int64)

    def missing_mass(self, k: int = 0) -> float:
        """Estimate the probability that a row of a new group has a value that no group had before.

        The share of the rows whose value no other group has.
        """
        if k:
            raise ValueError(f"with groups only the mass of unseen values is known, k = 0; got {k}")
        if self.is_large:
            return self.left_out_groups[1] / self.n_samples
        alone = ~self.table.others.any(axis=1)
        return float(self.table.counts[alone].sum()) / self.n_samples


def is_worth_compiling(n_rows: int) -> bool:
    """Whether compiled loops are sooner done with so many rows; they gain more here than in counting."""
    return 10 * n_rows >= _counting.KERNEL_ROWS
