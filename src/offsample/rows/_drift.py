"""Drift: columns that predict later rows worse than if rows came in any order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from offsample._held_out_counts import effective_units, unit_parts
from offsample._proportions import gamma_tail
from offsample._typing import Booleans, Floats, Ints
from offsample._unit_intervals import standard_error
from offsample.rows._alikeness import alikeness
from offsample.rows._columns import Columns, cells_of, checked, codes_of

# A smaller difference is no drift, and shuffled errors near (K - 1)/K are too skewed to tell.
LEVEL, LEAST = 0.01, 0.01
# The last fifth of the rows is predicted.
TAIL = 0.2
_N_SHUFFLES = 19
_SIDE_BY_SIDE = 0.5  # alikeness of the times of rows of a group, from where on whole groups are shuffled
_MOST_ROWS = 10_000
_LEAST_OF_CLASS = 5  # rows in the last fifth, for classes to count alike


@dataclass(frozen=True)
class Drift:
    """How well a column predicts the last fifth of the rows from what came before."""

    name: str | None  # None for the rule that sees no column: the shares of the classes drift by themselves
    error: float  # on rows of the last fifth, each predicted from strictly earlier ones by the Gini rule
    shuffled_error: float  # mean of the same if the times are shuffled among the rows
    p_value: float  # probability of so large an error if they may be shuffled, times the number of columns
    # How much smaller the error is than without a column: before the last fifth, and in it.
    gain_before: float
    gain: float

    @property
    def is_found(self) -> bool:
        """Whether the column predicts later rows worse than if rows came in any order."""
        return self.p_value <= LEVEL and self.error - self.shuffled_error >= LEAST

    @property
    def stopped_working(self) -> bool:
        """Whether it also was better than no column before, and has lost nine tenths of that."""
        return self.is_found and self.gain_before > 0 and self.gain <= 0.1 * self.gain_before


def find_drift(
    columns: Columns, y: ArrayLike, time: ArrayLike, groups: Sequence[Ints] = (), *, alike: bool = False
) -> tuple[Drift, ...]:
    """Compare how each column predicts the last rows with how it would if they came in any order.

    The statistic is the prequential error of the Gini rule in the last fifth of the rows. It is compared with
    the same statistic where the times are shuffled among the rows, 19 times, and never with the leave-one-out
    error, which is learned from more rows: by Student's t with 18 degrees of freedom, one-sided, or by a
    gamma law where the draws are skewed. The p-value is multiplied by the number of columns and one. Drift is
    called at 0.01, if the error is larger by 0.01 or more. Above 10,000 rows, 10,000 are drawn at random.

    Of rows in groups, the standard error of the error is at least that by groups and parts of the time, with
    as many degrees of freedom; and where rows of a group lie side by side in time, whole groups are shuffled.

    Parameters
    ----------
    columns : mapping of str to array-like of shape (n_rows,)
        Integers are codes of categories, floats are numbers (in ten bins), with NaN where missing.
    y : array-like of int, shape (n_rows,)
        Class codes.
    time : array-like of shape (n_rows,)
        Anything that can be sorted; equal times know nothing of each other.
    groups : sequence of arrays of int, shape (n_rows,)
        Codes of the groups of each row, if rows are not independent.
    alike : bool
        Whether two classes count alike, so that a rare one is seen: the errors of columns are then those if
        both were equally frequent. Not of fewer than 5 rows of a class in the last fifth.

    Returns
    -------
    tuple of Drift
        First for no column at all, then for each column.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.rows import find_drift
    >>> random = np.random.default_rng(0)
    >>> time, noise, sign = np.arange(1000), random.integers(0, 4, 1000), random.integers(0, 2, 1000)
    >>> y = np.where(time < 700, sign, 1 - sign)
    >>> [drift.name for drift in find_drift({"noise": noise, "sign": sign}, y, time) if drift.is_found]
    ['sign']
    """
    arrays, label = checked(columns, y)
    when = codes_of(np.asarray(time))
    found = []
    for name, tail in _tails(arrays, label, when, groups, alike=alike):
        gain, last = tail.blind - tail.losses, tail.is_last
        found.append(
            Drift(
                name=name,
                error=tail.error,
                shuffled_error=float(tail.shuffled.mean()),
                p_value=min(1.0, (len(arrays) + 1) * tail.p_value),
                gain_before=float(gain[~last].mean()),
                gain=float(gain[last].mean()),
            )
        )
    return tuple(found)


def later_errors(columns: dict[str, NDArray[Any]], label: Ints, time: NDArray[Any]) -> tuple[float, float]:
    """Error of the best of some columns in the last fifth of the rows, and if times are shuffled."""
    tails = [tail for _, tail in _tails(columns, label, codes_of(time))]
    return min(tail.error for tail in tails), min(float(tail.shuffled.mean()) for tail in tails)


def shift(values: NDArray[Any], time: Ints, groups: Sequence[Ints] = ()) -> tuple[Booleans, Booleans, float]:
    """First and last fifth of the rows, and the p-value that classes, or the ranks of numbers, are alike."""
    ends = np.quantile(time, [TAIL, 1 - TAIL])
    first, last = time <= ends[0], time >= ends[1]
    first, last = first & ~last, last & ~first
    kept = first | last
    if min(first.sum(), last.sum()) < 2:
        return first, last, 1.0
    p_value = alikeness(codes_of(last[kept]), values[kept])[1]
    if groups:
        values = values.astype(float)
        units = [_units(part, time, groups) for part in (first, last)]
        errors = [standard_error(values[p], u) for p, u in zip((first, last), units, strict=True)]
        moved = abs(values[first].mean() - values[last].mean()) / max(hypot(*errors), 1e-12)
        p_value = max(p_value, 2 * float(stdtr(max(1.0, min(map(effective_units, units)) - 1), -moved)))
    return first, last, p_value


def _units(rows: NDArray[Any], time: Ints, groups: Sequence[Ints]) -> list[Ints]:
    """What varies independently among some rows: groups, and parts of the time."""
    return unit_parts(None, time[rows]) + [codes_of(group[rows]) for group in groups]


class _Tail(NamedTuple):
    """Losses on all rows with and without a column, and mean losses on the last ones at shuffled times."""

    is_last: Booleans
    losses: Floats
    blind: Floats
    shuffled: Floats
    deviation: float  # of the error by groups, 0 without
    n_units: float

    @property
    def error(self) -> float:
        return float(self.losses[self.is_last].mean())

    @property
    def p_value(self) -> float:
        """That of an error beside draws of the same law: by Student's t, or by a gamma law if skewed."""
        n_draws, mean = len(self.shuffled), float(self.shuffled.mean())
        deviation = max(self.deviation, float(self.shuffled.std(ddof=1)) * np.sqrt(1 + 1 / n_draws))
        if deviation <= 1e-12:
            return 1.0
        skewness = float(((self.shuffled - mean) ** 3).mean()) / deviation**3
        freedom = max(1.0, min(n_draws, self.n_units) - 1)
        by_student = float(stdtr(freedom, (mean - self.error) / deviation))
        return max(by_student, gamma_tail(self.error, mean, deviation**2, skewness))


def _tails(
    arrays: dict[str, NDArray[Any]], label: Ints, when: Ints, groups: Sequence[Ints] = (), alike: bool = False
) -> Iterator[tuple[str | None, _Tail]]:
    """Predict the last rows without a column, then with each."""
    from offsample._kernels import earlier_losses

    random = np.random.default_rng(0)
    n_classes = max(2, int(label.max(initial=0)) + 1)
    some = np.sort(random.permutation(len(label))[:_MOST_ROWS])
    label, when, groups = label[some], codes_of(when[some]), [codes_of(group[some]) for group in groups]
    if not when.max(initial=0):
        raise ValueError("all rows have the same time: nothing is earlier than the rest")
    in_order = np.sort(when)
    is_last = in_order >= max(1, in_order[int((1 - TAIL) * len(when))])
    in_time = np.argsort(when, kind="stable")
    drawn = [random.permutation(len(when)) for _ in range(_N_SHUFFLES)]
    side_by_side = [group for group in groups if alikeness(group, when.astype(float))[0] >= _SIDE_BY_SIDE]
    if side_by_side:
        unit = min(side_by_side, key=np.max)[in_time]
        drawn = [in_time[np.argsort(one[unit], kind="stable")] for one in drawn]
    orders = [in_time, *drawn]
    of_last = _units(in_time[is_last], when, groups) if groups else []
    n_units = effective_units(of_last) if groups else float(len(label))
    blind: Floats | None = None
    columns: dict[str | None, NDArray[Any]] = {None: np.zeros_like(label)}
    columns |= {name: column[some] for name, column in arrays.items()}
    least = np.bincount(label[in_time][is_last], minlength=2).min()
    alike = alike and n_classes == 2 and least >= _LEAST_OF_CLASS
    for name, column in columns.items():
        cell = cells_of(column)
        n_cells = int(cell.max(initial=0)) + 1
        every = [earlier_losses(cell[order], label[order], in_order, n_cells, n_classes) for order in orders]
        if blind is None:
            blind = _of_alike(every[0], label[in_time], is_last) if alike else every[0]
        elif alike:
            every = [_of_alike(one, label[order], is_last) for one, order in zip(every, orders, strict=True)]
        losses, *shuffled = every
        by_units = standard_error(losses[is_last], of_last) if groups else 0.0
        errors = np.array([one[is_last].mean() for one in shuffled])
        yield name, _Tail(is_last, losses, blind, errors, by_units, n_units)


def _of_alike(losses: Floats, label: Ints, is_last: Booleans) -> Floats:
    """Losses of the Gini rule if two classes were equally frequent, in what was learned and in each part."""
    shares = np.bincount(label, minlength=2)[label] / len(label)
    right, wrong = (1 - losses) / shares, losses / (1 - shares)
    found = wrong / (right + wrong)
    for part in (is_last, ~is_last):
        counts = np.bincount(label[part], minlength=2)
        found[part] *= part.sum() / (np.count_nonzero(counts) * counts[label[part]])
    return np.asarray(found)
