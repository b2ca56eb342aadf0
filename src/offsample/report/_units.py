"""Who the new rows are: what is left out together, and how far an error that was measured so may be off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from offsample import _folds
from offsample._held_out_counts import effective_units, unit_parts
from offsample._typing import Ints
from offsample._unit_intervals import FEWEST_UNITS, loss_interval, standard_error, student
from offsample.report._formats import amount, short_name

__all__ = ["NewRows", "clearly", "error_interval", "standard_error"]

_LONGEST = 24  # of names, which occur twice in a line


@dataclass(frozen=True, eq=False)
class NewRows:
    """What new rows will bring that these have not: nothing, new groups, a later time."""

    groups: tuple[Ints, ...] = ()  # code of each row; several kinds of groups cross, as users and items do
    time: Ints | None = None  # place of each row in time; equal times are equal
    names: tuple[str, ...] = ()  # of the columns of groups
    are_copies: bool = False  # whether the groups are rows that were written more than once
    of_rows: str | None = None  # what to call them if these words do not fit
    gap: int = 0  # different times before a row that nothing is learned from

    def __bool__(self) -> bool:
        return bool(self.groups) or self.time is not None

    def __str__(self) -> str:
        """Say which rows an error is for: "new rows", "rows of a new “id”", "later rows"."""
        if self.of_rows:
            return self.of_rows
        rows = "new rows" if self.time is None else "later rows"
        if self.are_copies:
            return f"{rows} that are no copies"
        if not self.groups:
            return rows
        return f"{'rows' if self.time is None else rows} of {' and '.join(map(_new, self.names))}"

    def weaker(self) -> Iterator[NewRows]:
        """Yield what is easier to predict: rows of the same groups and times, then what is new in part."""
        names = " and ".join(f"a known {_quoted(name)}" for name in self.names)
        known = f"new rows of {names}" if names else "rows of the same period"
        yield NewRows(of_rows="rows that may be copies of known ones" if self.are_copies else known)
        if len(self.groups) > 1:
            for group, name in zip(self.groups, self.names, strict=True):
                others = " and ".join(f"a known {_quoted(other)}" for other in self.names if other != name)
                others = "all else known" if len(self.groups) > 2 else others
                yield NewRows((group,), of_rows=f"rows of {_new(name)} and {others}")
        if self.groups and self.time is not None:
            yield replace(self, time=None)

    @property
    def has_known_groups(self) -> bool:
        """Whether groups have more rows than one, so that a new row can be one of a known group."""
        return any(int(group.max(initial=-1)) + 1 < len(group) for group in self.groups)

    def splits(self, y: NDArray[Any], n_folds: int, seed: int, *, stratify: bool) -> _folds.Splits:
        """Rows to learn from and rows to test on: what is tested is new to what was learned."""
        n_folds = min([n_folds, *(int(group.max()) + 1 for group in self.groups)])
        return _folds.shuffled(
            y, n_folds, seed, stratify=stratify, groups=self.groups, time=self.time, gap=self.gap
        )

    def units(self, rows: Ints) -> list[Ints]:
        """What varies independently among some rows: groups and parts of the time; none if the rows."""
        time = None if self.time is None else self.time[rows]
        return [*(group[rows] for group in self.groups), *unit_parts(None, time)]

    def doubt(self, rows: Ints, figure: str = "error") -> str | None:
        """Say where there are too few groups, or times, to know how far a figure on new ones may be off."""
        n_of = [len(np.unique(unit)) for unit in self.units(rows)]
        n_units = min(n_of, default=FEWEST_UNITS)
        if n_units >= FEWEST_UNITS:
            return None
        what = "groups" if n_of.index(n_units) < len(self.groups) else "times"
        how_many = amount(n_units, what.removesuffix("s"))
        if self.time is not None and what == "times" and (n_all := len(np.unique(self.time))) > n_units:
            how_many = f"{amount(n_all, 'time')}, in {n_units} parts that earlier rows can predict,"
        return (
            f"With {how_many} nobody can know how far this {figure} is from that on new {what}: at least "
            f"{FEWEST_UNITS} are needed."
        )


def clearly(n_errors: float, units: list[Ints]) -> float:
    """Return how many standard errors are as clear as these are where there are many units."""
    return student(float(ndtr(n_errors)), effective_units(units)) if units else n_errors


def error_interval(
    wrong: NDArray[Any], units: list[Ints], n_folds: int = 0, error: float | None = None
) -> tuple[float, float]:
    """Return the 95 % interval of the error of a model, by the left-out rows on which it was wrong.

    The estimates of the folds have most of their rows in common, and the model that is recommended differs
    from those of the folds: see `folds_factor`. Of units, the variance is the jackknife's.
    """
    return loss_interval(wrong, units, error=error, times=folds_factor(n_folds), power=2)


def folds_factor(n_folds: int) -> float:
    """Return how many times that of independent rows, or units, the variance of k-fold estimates is.

    ``1 + k / (k - 1)`` (Nadeau & Bengio 2003); once without folds.
    """
    return 1 + n_folds / max(1, n_folds - 1) if n_folds else 1.0


def _quoted(name: str) -> str:
    return f"“{short_name(name, _LONGEST)}”"


def _new(name: str) -> str:
    return f"a new {_quoted(name)}"
