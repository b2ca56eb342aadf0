"""Counts of a partition whose rows come in groups: what a rule errs on groups that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._cell_counts import CellCounts
from offsample._counting import as_codes, count_cells, frozen, over_classes, stable_order
from offsample._typing import Floats, Ints
from offsample.tables import ordered_codes

# More groups than this are merged, in turn, which leaves them independent; into this many at least.
_MOST_GROUPS = 256
N_BUNDLES = 64
# Rows below this number are summed up by numpy: the loops take two seconds to compile, once.
KERNEL_ROWS = 10_000
# Values with at most this many groups are summed over all pairs of groups; above, to first order.
MOST_EXACT = 16


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

    def merged(self, into: Ints | None = None, bundle: Ints | None = None) -> GroupTable:
        """Table of fewer values or groups; `into` and `bundle` have the code of each."""
        value = self.value if into is None else into[self.value]
        group = self.group if bundle is None else bundle[self.group]
        n_values, n_groups = int(value.max()) + 1, int(group.max()) + 1
        counts = [np.bincount(value * n_groups + group, n, n_values * n_groups) for n in self.counts.T]
        dense = np.column_stack(counts).astype(np.int64)
        pairs = np.flatnonzero(over_classes(dense))
        return GroupTable(pairs // n_groups, pairs % n_groups, dense[pairs])

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


def sum_table(table: GroupTable, prior: Floats) -> tuple[Floats, float, float, float]:
    """Sum up what a table says of rows of other groups, as `_group_kernels.sum_groups` does, without bundles.

    In its words: errors of each group, rows that are alone at a value, products over pairs, log loss.
    """
    counts, n_classes = table.counts.astype(float), table.counts.shape[1]
    size, left, whole = (over_classes(n).astype(float) for n in (table.counts, table.others, table.totals))
    n_there, known = np.diff(table.starts, append=len(left))[table.value], np.maximum(left, 1)
    hits, length = over_classes(table.counts * table.others), over_classes(counts * counts)
    rate = np.where(left > 0, hits / known, size / n_classes)
    lost = (counts * np.log((left + 1)[:, None] / (table.others + prior[table.group, :n_classes]))).sum()

    pairs, is_few = 0.0, n_there <= MOST_EXACT
    for lag in range(1, min(MOST_EXACT, int(n_there.max()))):
        g = np.flatnonzero(is_few[lag:] & (table.value[lag:] == table.value[:-lag]))
        h = g + lag
        common, both = over_classes(counts[g] * counts[h]), whole[g] - size[g] - size[h]
        change = [
            rate[one] - np.where(both > 0, (hits[one] - common) / np.maximum(both, 1), size[one] / n_classes)
            for one in (g, h)
        ]
        pairs += 2 * float(change[0] @ change[1])
    many = np.flatnonzero(~is_few)
    if len(many):
        begins = np.flatnonzero(np.diff(table.value[many], prepend=-1))
        weight, n, rate_there, rows = (whole / known)[many] ** 2, counts[many], rate[many], size[many]

        def over(terms: Floats) -> Floats:
            return np.add.reduceat(terms, begins, axis=0)

        total = over(weight * rate_there * rows) ** 2
        total -= over((weight * (length[many] - rate_there * rows)) ** 2)
        total -= 2 * (over(n * (weight * rate_there)[:, None]) * over(n * (weight * rows)[:, None])).sum(
            axis=1
        )
        for column in n.T:
            total += (over(n * (weight * column)[:, None]) ** 2).sum(axis=1)
        pairs += float((total / whole[many][begins] ** 2).sum())
    return table.over_groups(size - rate), float(size[left == 0].sum()), pairs, float(lost)


class Rows(NamedTuple):
    """Codes of each row's value, group and class, sorted by group."""

    value: Ints
    group: Ints
    label: Ints


class Groups:
    """What is known of groups whatever the cells are, and so the same for all columns of a table."""

    _last: ClassVar[tuple[Any, Any, int, Groups] | None] = None

    def __init__(self, group: Ints, label: Ints, n_classes: int) -> None:
        self.counts = count_cells(group, label, int(group[-1]) + 1, n_classes)
        self.size = over_classes(self.counts)

    @classmethod
    def of(cls, group: Ints, label: Ints, n_classes: int) -> Groups:
        """Groups and classes of rows; those of the last ones are kept for the next column."""
        last = cls._last
        if last and last[0]() is group and last[1]() is label and last[2] == n_classes:
            return last[3]
        found = cls(group, label, n_classes)
        cls._last = ref(group), ref(label), n_classes, found
        return found

    @cached_property
    def bundle(self) -> Ints:
        """Bundle of each group; large ones stay alone: what a bundle has must not be what one of it has."""
        if len(self.size) <= _MOST_GROUPS:
            return np.arange(len(self.size))
        large = self.size > self.size.sum() / (4 * N_BUNDLES)
        bundle = np.where(large, N_BUNDLES + np.cumsum(large), np.cumsum(~large) % N_BUNDLES)
        return np.unique(bundle, return_inverse=True)[1]

    @cached_property
    def without(self) -> Ints:
        """Class counts of all other groups."""
        return np.asarray(self.counts.sum(axis=0) - self.counts)

    @cached_property
    def shares(self) -> Floats:
        """Shares of the classes in all other groups."""
        return np.asarray(self.without / np.maximum(over_classes(self.without), 1)[:, None])

    @cached_property
    def prior(self) -> Floats:
        """What each class counts for beside the others of a value in a log loss, and 0."""
        least = 0.5 / float(self.size.sum())
        return np.column_stack([np.maximum(self.shares, least), np.zeros(len(self.shares))])


class GroupSums(NamedTuple):
    """What compiled loops add up of rows that are left out with their groups; see `_group_kernels`."""

    errors: Floats  # of the Gini rule, on each group
    n_alone: int  # rows whose value no other group has
    pairs: float  # of groups: products of the rule's changes
    log_loss: float  # where the shares of all other groups count for one row
    bundled: GroupTable


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
        self.__dict__["rows"] = self.__dict__["_origin"] = Rows(value, group, label)

    _origin: Rows  # whose values are those of finer cells where cells were merged
    _finer: tuple[GroupedCounts, Ints]

    def merged(self, into: Ints) -> GroupedCounts:
        """Counts of cells that are merged into fewer, of which `into` has the code of each cell."""
        merged = object.__new__(GroupedCounts)
        totals = [np.bincount(into, n).astype(np.int64) for n in self.counts.T]
        CellCounts.__init__(merged, np.column_stack(totals), classes=self.classes)
        merged.__dict__.update(_origin=self._origin, _finer=(self, into))
        return merged

    def against_rest(self, k: int) -> GroupedCounts:
        """Return the same cells with two classes: all others as one, and class k."""
        if "_finer" in self.__dict__:
            finer, into = self._finer
            return finer.against_rest(k).merged(into)
        kept: dict[int, GroupedCounts] = self.__dict__.setdefault("_against_rest", {})
        if k not in kept:  # which all that are merged from these have in common
            kept[k] = GroupedCounts(*self.rows[:2], (self.rows.label == k).astype(np.int64), 2)
        return kept[k]

    @cached_property
    def rows(self) -> Rows:
        """Codes of each row's value, group and class; of merged cells they are seldom asked for."""
        finer, into = self._finer
        return finer.rows._replace(value=into[finer.rows.value])

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
    def groups(self) -> Groups:
        """The groups, whatever the cells are."""
        return Groups.of(self._origin.group, self._origin.label, self.n_classes)

    @cached_property
    def sums(self) -> GroupSums:
        """Sums over rows that are left out with their groups: of many rows by compiled loops."""
        groups = self.groups
        if self.n_samples < KERNEL_ROWS:
            errors, n_alone, products, log_loss = sum_table(self.table, groups.prior)
            bundled = (
                self.table if len(groups.size) <= _MOST_GROUPS else self.table.merged(bundle=groups.bundle)
            )
            return GroupSums(errors, int(n_alone), products, log_loss, bundled)
        from offsample import _group_kernels

        groups, (n_values, n_classes) = self.groups, self.counts.shape
        n_bundles = int(groups.bundle.max()) + 1
        bits, more = (n_classes - 1).bit_length(), (n_classes - 1).bit_length() + (n_bundles - 1).bit_length()
        packed: Any = np.empty(self.n_samples, np.int32 if len(groups.size) << more < 1 << 31 else np.int64)
        n_pairs, n_few = int(np.minimum(self.cell_sizes, n_bundles).sum()), MOST_EXACT + n_classes
        pairs = (
            np.empty(n_pairs, np.int64),
            np.empty(n_pairs, np.int64),
            np.empty((n_pairs, n_classes), np.int64),
        )
        room = (
            np.zeros((n_bundles, n_classes + 1), np.int64),
            np.empty(n_bundles, np.int64),
            np.empty(n_values, np.int64),
            np.zeros((n_few, n_classes)),
            np.zeros((n_few, 4)),
            np.zeros((n_classes, n_classes + 5)),
        )
        of_groups, sums = groups.prior.copy(), np.zeros(3)
        value, group, label = (frozen(codes) for codes in self.rows)
        totals = frozen(np.ascontiguousarray(self.counts))
        n_pairs = _group_kernels.sum_groups(
            (value, group, label), totals, of_groups, groups.bundle, (packed, bits, more), sums, pairs, room
        )
        errors, bundled = (
            np.ascontiguousarray(of_groups[:, -1]),
            GroupTable(*(part[:n_pairs] for part in pairs)),
        )
        return GroupSums(errors, int(sums[0]), float(sums[1]), float(sums[2]), bundled)

    @cached_property
    def bundled(self) -> GroupTable:
        """Counts of each bundle of groups at each value."""
        if "_finer" in self.__dict__:
            finer, into = self._finer
            return finer.bundled.merged(into)
        return self.sums.bundled

    @cached_property
    def table(self) -> GroupTable:
        """Counts of each group at each value."""
        return GroupTable.from_codes(*self.rows, self.n_classes)

    def __repr__(self) -> str:
        whole = super().__repr__().replace("CellCounts", "GroupedCounts")
        return f"{whole[:-1]}, n_groups={self._origin.group[-1] + 1})"

    @property
    def of_single_rows(self) -> bool:
        """Whether every group is one row: then all that is known of rows holds, and is said of them."""
        return int(self._origin.group[-1]) + 1 == len(self._origin.group)

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
        return self.sums.n_alone / self.n_samples


def by_rows(cells: CellCounts) -> CellCounts:
    """The counts; those of rows alone where every group is one."""
    return cells.profile() if isinstance(cells, GroupedCounts) and cells.of_single_rows else cells
