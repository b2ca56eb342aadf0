"""Drift: columns that predict later rows worse than any others, and values that appear or die out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from offsample._proportions import gamma_tail
from offsample._typing import Booleans, Floats, Ints
from offsample.rows._alikeness import alikeness
from offsample.rows._columns import Columns, cells_of, checked, codes_of, is_numeric

# A smaller difference is no drift, and shuffled errors near (K - 1)/K are too skewed to tell.
LEVEL, LEAST = 0.01, 0.01
# The last fifth of the rows is predicted; a value that is missing there, or in the first fifth, passes.
TAIL = 0.2
_N_SHUFFLES = 19
_MOST_ROWS, _MOST_VALUES = 10_000, 50


class PassingValue(NamedTuple):
    """A value that appears late, or else dies out early."""

    value: float  # the category's code, or the number
    n_rows: int
    appears: bool
    share: float  # of the rows before its first, or up to its last
    p_value: float  # if its rows came at any time, times the number of values asked about


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
    values: tuple[PassingValue, ...]  # values that appear or die out

    @property
    def is_found(self) -> bool:
        """Whether the column predicts later rows worse than if rows came in any order."""
        return self.p_value <= LEVEL and self.error - self.shuffled_error >= LEAST

    @property
    def stopped_working(self) -> bool:
        """Whether it also was better than no column before, and has lost nine tenths of that."""
        return self.is_found and self.gain_before > 0 and self.gain <= 0.1 * self.gain_before


def find_drift(columns: Columns, y: ArrayLike, time: ArrayLike) -> tuple[Drift, ...]:
    """Compare how each column predicts the last rows with how it would if they came in any order.

    The statistic is the prequential error of the Gini rule in the last fifth of the rows. It is compared with
    the same statistic where the times are shuffled among the rows, 19 times, and never with the leave-one-out
    error, which is learned from more rows: by Student's t with 18 degrees of freedom, one-sided, or by a
    gamma law where the draws are skewed. The p-value is multiplied by the number of columns and one. Drift is
    called at 0.01, if the error is larger by 0.01 or more. Above 10,000 rows, 10,000 are drawn at random.

    A value *appears* if none of its rows is in the first fifth and *dies out* if none is in the last. If its
    n rows came at any time, none would be among the first share s of the rows with probability at most
    ``(1 - s)^n``; it is listed if that, multiplied by twice the number of values of all columns, is at most
    0.01. Numbers are asked about if there are at most fifty different ones.

    Parameters
    ----------
    columns : mapping of str to array-like of shape (n_rows,)
        Integers are codes of categories, floats are numbers (in ten bins), with NaN where missing.
    y : array-like of int, shape (n_rows,)
        Class codes.
    time : array-like of shape (n_rows,)
        Anything that can be sorted; equal times know nothing of each other.

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
    passing = _passing_values(arrays, when)
    found = []
    for name, tail in _tails(arrays, label, when):
        gain, last = tail.blind - tail.losses, tail.is_last
        found.append(
            Drift(
                name=name,
                error=tail.error,
                shuffled_error=float(tail.shuffled.mean()),
                p_value=min(1.0, (len(arrays) + 1) * tail.p_value),
                gain_before=float(gain[~last].mean()),
                gain=float(gain[last].mean()),
                values=passing.get(name, ()),
            )
        )
    return tuple(found)


def later_errors(columns: dict[str, NDArray[Any]], label: Ints, time: NDArray[Any]) -> tuple[float, float]:
    """Error of the best of some columns in the last fifth of the rows, and if times are shuffled."""
    tails = [tail for _, tail in _tails(columns, label, codes_of(time))]
    return min(tail.error for tail in tails), min(float(tail.shuffled.mean()) for tail in tails)


def share_shift(is_class: Booleans, time: Ints) -> tuple[float, float, float]:
    """Share of a class in the first and in the last fifth of the rows, and the p-value of the difference."""
    ends = np.quantile(time, [TAIL, 1 - TAIL])
    first, last = time <= ends[0], time >= ends[1]
    kept = first != last
    p_value = alikeness(codes_of(last[kept]), codes_of(is_class[kept]))[1]
    return float(is_class[first].mean()), float(is_class[last].mean()), p_value


class _Tail(NamedTuple):
    """Losses on all rows with and without a column, and mean losses on the last ones at shuffled times."""

    is_last: Booleans
    losses: Floats
    blind: Floats
    shuffled: Floats

    @property
    def error(self) -> float:
        return float(self.losses[self.is_last].mean())

    @property
    def p_value(self) -> float:
        """That of an error beside draws of the same law: by Student's t, or by a gamma law if skewed."""
        n_draws, mean = len(self.shuffled), float(self.shuffled.mean())
        deviation = float(self.shuffled.std(ddof=1)) * np.sqrt(1 + 1 / n_draws)
        if deviation <= 1e-12:
            return 1.0
        skewness = float(((self.shuffled - mean) ** 3).mean()) / deviation**3
        by_student = float(stdtr(n_draws - 1, (mean - self.error) / deviation))
        return max(by_student, gamma_tail(self.error, mean, deviation**2, skewness))


def _tails(arrays: dict[str, NDArray[Any]], label: Ints, when: Ints) -> Iterator[tuple[str | None, _Tail]]:
    """Predict the last rows without a column, then with each."""
    from offsample._kernels import earlier_losses

    random = np.random.default_rng(0)
    n_classes = max(2, int(label.max(initial=0)) + 1)
    some = np.sort(random.permutation(len(label))[:_MOST_ROWS])
    label, when = label[some], codes_of(when[some])
    if not when.max(initial=0):
        raise ValueError("all rows have the same time: nothing is earlier than the rest")
    in_order = np.sort(when)
    is_last = in_order >= max(1, in_order[int((1 - TAIL) * len(when))])
    orders = [np.argsort(when, kind="stable"), *(random.permutation(len(when)) for _ in range(_N_SHUFFLES))]
    blind: Floats | None = None
    columns: dict[str | None, NDArray[Any]] = {None: np.zeros_like(label)}
    columns |= {name: column[some] for name, column in arrays.items()}
    for name, column in columns.items():
        cell = cells_of(column)
        n_cells = int(cell.max(initial=0)) + 1
        losses, *shuffled = (
            earlier_losses(cell[order], label[order], in_order, n_cells, n_classes) for order in orders
        )
        blind = losses if blind is None else blind
        yield name, _Tail(is_last, losses, blind, np.array([one[is_last].mean() for one in shuffled]))


def _passing_values(
    arrays: dict[str, NDArray[Any]], when: Ints
) -> dict[str | None, tuple[PassingValue, ...]]:
    """Values of each column that appear late or die out early."""
    in_order, n_rows = np.sort(when), len(when)
    earlier, until = np.searchsorted(in_order, when), np.searchsorted(in_order, when, side="right")
    forward = np.argsort(when, kind="stable")
    codes = {name: codes_of(column) for name, column in arrays.items()}
    n_values = {name: int(code.max(initial=-1)) + 1 for name, code in codes.items()}
    asked = [name for name in arrays if not is_numeric(arrays[name]) or n_values[name] <= _MOST_VALUES]
    n_questions = 2 * sum(n_values[name] for name in asked)
    found: dict[str | None, tuple[PassingValue, ...]] = {}
    for name in asked:
        code, times, passing = codes[name], np.bincount(codes[name]), list[PassingValue]()
        row = np.zeros(len(times), np.intp)
        for appears in (True, False):
            row[code[forward[:: -1 if appears else 1]]] = forward[:: -1 if appears else 1]
            at = (earlier if appears else until)[row] / n_rows  # of its first row, or of its last
            least = at if appears else 1 - at
            p_values = np.minimum(1.0, n_questions * (1 - least) ** times)
            for v in np.flatnonzero((least >= TAIL) & (p_values <= LEVEL)):
                value = arrays[name][row[v]].item()
                passing.append(PassingValue(value, int(times[v]), appears, float(at[v]), float(p_values[v])))
        found[name] = tuple(passing)
    return found
