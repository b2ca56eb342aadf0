"""Counts with the loss on every row by what it may know: the past, or all that shares no group with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._cell_counts import CellCounts
from offsample._counting import as_codes, count_cells
from offsample._typing import Booleans, Floats, Grouping, Ints
from offsample.tables._units import N_PARTS


class HeldOutRows:
    """Cell, groups and time of each row, and what it may know of the others."""

    cell: Ints
    groups: list[Ints]
    time: Ints | None

    def know_units(self, cell: Ints, groups: Sequence[ArrayLike], time: ArrayLike | None) -> None:
        """Note where each row belongs; raise if that is nowhere."""
        if not groups and time is None:
            raise ValueError("give groups or time: without them, each row knows all others")
        codes = [np.unique(np.asarray(group), return_inverse=True)[1] for group in groups]
        when = None if time is None else np.unique(np.asarray(time), return_inverse=True)[1]
        self.__dict__.update(cell=cell, groups=codes, time=when)

    def n_known(self, key: Ints, weight: NDArray[Any] | None = None) -> Floats:
        """Rows with the same key that each row may know; or the sum of their weights."""
        total = np.zeros(len(key))
        for n_shared in range(len(self.groups) + 1):
            for shared in combinations(self.groups, n_shared):
                total += (-1) ** n_shared * _count(together(key, *shared), self.time, weight)
        return total

    def known_to_both(self, asked: Ints, key: Ints, pair: tuple[Ints, Ints], hit: Booleans) -> Floats:
        """Hits, and others, among the rows with the `asked` key that both rows of a pair may know; (n, 2)."""
        (first, second), n, when = pair, len(asked), self.time
        when = None if when is None else np.append(when, np.minimum(when[first], when[second]))
        total, kinds = np.zeros((n, 2)), range(len(self.groups) + 1)
        for shared in (shared for n_shared in kinds for shared in combinations(self.groups, n_shared)):
            for rows in product(pair, repeat=len(shared)):
                sign, code = np.full(n, (-1) ** len(shared)), np.append(key, asked)
                for group, row in zip(shared, rows, strict=True):
                    sign *= (row is first) | (group[first] != group[second])  # one of both is left out once
                    code = together(code, np.append(group, group[row]))
                for column, counted in enumerate((hit, ~hit)):
                    known = _count(code, when, np.append(counted, np.zeros(n)))
                    total[:, column] += sign * known[-n:]
        return total

    def missing_mass(self, k: int = 0) -> float:
        """Share of the rows whose value was not among those that they may know."""
        if k:
            raise ValueError(f"only the mass of unseen values is known here, k = 0; got {k}")
        return float((self.n_known(self.cell) == 0).mean())

    @cached_property
    def units(self) -> list[Ints]:
        """What is taken to vary independently: each kind of groups, and parts of the time."""
        return [*self.groups, *unit_parts(None, self.time)]

    def deviation(self, losses: Floats, pairs: float = 0.0) -> float:
        """Standard error of the mean of losses by a rule in which every unit had a part."""
        return deviation_by(self.units, losses, pairs, power=2)

    @cached_property
    def effective_units(self) -> float:
        """Number of units of equal size that would weigh as these do; of the kind that has the fewest."""
        return effective_units(self.units)


class HeldOutCounts(HeldOutRows, CellCounts):
    """Counts per cell and class, and the loss on each row by the rule learned from the rows that it may know.

    With `time`, a row knows the rows that are strictly earlier; its errors are the *prequential* ones. With
    `groups`, it knows no row that shares one of its groups: with a user and an item, none of that user and
    none of that item. With both, earlier rows of other groups.

    Parameters
    ----------
    codes : array-like of int, shape (n_samples,)
        The cell of each row.
    y : array-like of int, shape (n_samples,)
        The class of each row, from 0 to ``n_classes - 1``.
    n_classes : int
    groups : sequence of array-like, optional
        Codes of the groups of each row; one array for each kind of group.
    time : array-like, optional
        Anything that can be sorted; equal times know nothing of each other.
    classes : sequence of length n_classes, optional
        Labels of the classes.

    Examples
    --------
    >>> from offsample.counts import HeldOutCounts
    >>> from offsample.criteria import ginger
    >>> ginger(HeldOutCounts([0, 0, 0, 0], [0, 0, 1, 1], 2, time=[1, 2, 3, 3]))  # ½, 0, 1 and 1
    0.625
    """

    def __init__(
        self,
        codes: ArrayLike,
        y: ArrayLike,
        n_classes: int,
        *,
        groups: Sequence[ArrayLike] = (),
        time: ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
    ) -> None:
        cell, label = as_codes(codes, "codes"), as_codes(y, "the class codes")
        n_cells = int(cell.max()) + 1 if len(cell) else 0
        super().__init__(count_cells(cell, label, n_cells, n_classes), classes=classes)
        self.know_units(cell.astype(np.int64), groups, time)
        self.__dict__["label"] = label.astype(np.int64)

    label: Ints

    def losses(self, rule: type[Any], *, blind: bool = False) -> Floats:
        """Loss on each row of a rule of `hypotheses.RULES`; where `blind`, of the one that sees no cells."""
        if not rule.is_linear:
            chances = rule.from_counts(self.known_counts(blind=blind))
            return np.asarray(1 - chances[np.arange(len(self.label)), self.label])
        cell = np.zeros_like(self.cell) if blind else self.cell
        n_known = self.n_known(cell)
        hits = self.n_known(together(cell, self.label)) / np.maximum(n_known, 1)
        return np.asarray(1 - np.where(n_known > 0, hits, 1 / self.n_classes))

    def known_counts(self, *, blind: bool = False) -> Floats:
        """Rows of each class that each row may know in its cell, or where `blind` in all; (n_rows, K)."""
        cell = np.zeros_like(self.cell) if blind else self.cell
        return np.column_stack([self.n_known(cell, self.label == k) for k in range(self.n_classes)])

    def each_alone(self) -> list[HeldOutCounts]:
        """Where groups cross, the same of rows that are new in one kind alone: new users, known items."""
        if len(self.groups) < 2:
            return []
        rows = self.cell, self.label, self.n_classes
        return [HeldOutCounts(*rows, groups=[one], time=self.time) for one in self.groups]

    def against_rest(self, k: int) -> CellCounts:
        """Return the same cells with two classes: all others as one, and class k."""
        return HeldOutCounts(
            self.cell, (self.label == k).astype(np.int64), 2, groups=self.groups, time=self.time
        )

    def left_out(self) -> Any:
        """Refuse: what is left for a row is not a part of a table of counts."""
        raise ValueError("votes of a few rows are for rows and groups that are left out, not for time")


def unit_parts(groups: Grouping | None, time: NDArray[Any] | None) -> list[Ints]:
    """What is taken to vary independently: groups, and thirty parts of the time, whose rows share a day."""
    units = [] if groups is None else list(groups) if isinstance(groups, tuple) else [groups]
    if time is None:
        return units
    first = np.searchsorted(np.sort(time), time)  # equal times are in one part
    return [*units, np.unique(first * N_PARTS // len(first), return_inverse=True)[1]]


def deviation_by(units: Sequence[Ints], losses: Floats, pairs: float = 0.0, power: int = 1) -> float:
    """Standard error of the mean of losses: by units; with several kinds, by inclusion and exclusion.

    `pairs` is what changes of the rule by two units add to the variance, as in `spread_of`.
    """
    beyond, parts = losses - losses.mean(), []
    for n_shared in range(1, len(units) + 1):
        for shared in combinations(units, n_shared):
            unit = together(*shared)
            squares = unit_squares(np.bincount(unit, beyond), np.bincount(unit), power)
            parts.append((-1) ** (n_shared + 1) * squares)
    return float(np.sqrt(max(sum(parts), *parts[: len(units)]) + 2 * pairs)) / len(losses)


def unit_squares(sums: NDArray[Any], size: NDArray[Any], power: int = 2, least: float = 0.5) -> float:
    """Squares of the sums of the units less their shares of the whole, added up.

    A unit has a part in the mean, which the first `power` corrects exactly for units of equal size; 2 is that
    of the jackknife. What is left without the unit is taken for the share `least` of the rows or more.
    """
    share = size / size.sum()
    beyond = sums - sums.sum() * share
    return float((beyond**2 / np.maximum(1 - share, least) ** power).sum())


def effective_units(units: Sequence[Ints]) -> float:
    """Number of units of equal size that would weigh as these do; of the kind that has the fewest."""
    sizes = [np.bincount(unit).astype(float) for unit in units]
    return min(float(size.sum() ** 2 / (size @ size)) for size in sizes)


def together(first: Ints, *others: Ints) -> Ints:
    """One code for each combination of codes."""
    key = first
    for other in others:
        key = np.unique(key * (int(other.max(initial=0)) + 1) + other, return_inverse=True)[1]
    return key


def _count(key: Ints, time: Ints | None, weight: NDArray[Any] | None) -> Floats:
    """Rows with the same key (that have a weight): all, or the ones that are strictly earlier."""
    if time is None:
        return np.asarray(np.bincount(key, weight)[key], dtype=float)
    order = np.lexsort((time, key))
    of_key, when = key[order], time[order]
    counted = np.ones(len(key)) if weight is None else weight[order].astype(float)
    before: Floats = np.cumsum(counted) - counted  # in this order, without the row itself
    starts_key = np.diff(of_key, prepend=-1) != 0
    starts_time = starts_key | (np.diff(when, prepend=-1) != 0)
    places = np.arange(len(key))
    at_time = np.maximum.accumulate(np.where(starts_time, places, 0))
    at_key = np.maximum.accumulate(np.where(starts_key, places, 0))
    answer = np.empty(len(key))
    answer[order] = before[at_time] - before[at_key]
    return answer
