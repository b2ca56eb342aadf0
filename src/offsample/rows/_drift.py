"""Drift: columns that predict later rows worse than chance order would have it, and values that come or go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from offsample._typing import Booleans, Floats, Ints
from offsample.counts import HeldOutCounts
from offsample.hypotheses import GiniRule
from offsample.rows._columns import Columns, cells_of, checked, codes_of, gamma_tail, is_numeric

__all__ = ["Drift", "PassingValue", "find_drift", "later_errors"]

LEVEL = 0.01
# The last fifth of the rows is predicted; a value that is missing there, or in the first fifth, passes.
TAIL = 0.2
_N_SHUFFLES = 19
_MOST_ROWS, _MOST_VALUES = 10_000, 50


@dataclass(frozen=True)
class PassingValue:
    """A value that appears late, or dies out early.

    Attributes
    ----------
    value : int or float
        The category's code, or the number.
    n_rows : int
    appears : bool
        Whether it appears late; else it dies out.
    share : float
        Share of the rows before its first, or up to its last.
    p_value : float
        Probability of such a share if its rows came at any time, times the number of values asked about.
    """

    value: float
    n_rows: int
    appears: bool
    share: float
    p_value: float


@dataclass(frozen=True)
class Drift:
    """How well a column predicts the last fifth of the rows from what came before.

    Attributes
    ----------
    name : str or None
        None for the rule that sees no column: the shares of the classes drift by themselves.
    error : float
        On rows of the last fifth, each predicted from strictly earlier ones by the Gini rule.
    shuffled_error : float
        Mean of the same if the times are shuffled among the rows.
    p_value : float
        Probability of so large an error if they may be shuffled, times the number of columns.
    gain_before, gain : float
        How much smaller the error is than that of the rule without a column: before the last fifth, and in it.
    values : tuple of PassingValue
        Values that appear or die out.
    """

    name: str | None
    error: float
    shuffled_error: float
    p_value: float
    gain_before: float
    gain: float
    values: tuple[PassingValue, ...]

    @property
    def is_found(self) -> bool:
        """Whether the column predicts later rows worse than if rows came in any order."""
        return self.p_value <= LEVEL

    @property
    def stopped_working(self) -> bool:
        """Whether it also was better than no column before, and is no more."""
        return self.is_found and self.gain_before > 0 >= self.gain


def find_drift(columns: Columns, y: ArrayLike, time: ArrayLike) -> tuple[Drift, ...]:
    """Compare how each column predicts the last rows with how it would if they came in any order.

    The statistic is the prequential error of the Gini rule in the last fifth of the rows. It is compared with
    the same statistic where the times are shuffled among the rows, 19 times, and never with the leave-one-out
    error, which is learned from more rows: by Student's t with 18 degrees of freedom, one-sided, or a gamma law
    where the draws are skewed. The p-value is multiplied by the number of columns and one; drift is called at
    0.01. Above 10,000 rows it is asked of 10,000 drawn at random.

    A value *appears* if none of its rows is in the first fifth and *dies out* if none is in the last. If its n
    rows came at any time, none would be among the first share s of the rows with probability at most
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
    cells = {name: cells_of(column) for name, column in arrays.items()}
    passing = _passing_values(arrays, when)
    found = []
    for name, losses, shuffled in _tails(cells, label, when):
        in_tail, (error, blind) = losses[0], losses[1:]
        gain = blind - error
        at = float(error[in_tail].mean())
        found.append(
            Drift(
                name=name,
                error=at,
                shuffled_error=float(shuffled.mean()),
                p_value=min(1.0, (len(cells) + 1) * _later_is_worse(at, shuffled)),
                gain_before=float(gain[~in_tail].mean()),
                gain=float(gain[in_tail].mean()),
                values=passing.get(name, ()),
            )
        )
    return tuple(found)


def later_errors(columns: Columns, label: Ints, time: ArrayLike) -> tuple[float, float]:
    """Error of the best of some columns in the last fifth of the rows, and if times are shuffled."""
    cells = {name: cells_of(np.asarray(column)) for name, column in columns.items()}
    tails = list(_tails(cells, label, codes_of(np.asarray(time))))
    later = [float(losses[1][losses[0].astype(bool)].mean()) for _, losses, _ in tails]
    return min(later), min(float(shuffled.mean()) for *_, shuffled in tails)


def _tails(
    cells: dict[str, Ints], label: Ints, when: Ints
) -> Iterator[tuple[str | None, tuple[Booleans, Floats, Floats], Floats]]:
    """For no column and each: which rows are last, the losses on all rows with and without it, and the
    mean losses on the last rows under shuffled times."""
    random = np.random.default_rng(0)
    n_classes = int(label.max()) + 1
    some = np.sort(random.permutation(len(label))[:_MOST_ROWS])
    label, when = label[some], codes_of(when[some])
    if not when.max(initial=0):
        raise ValueError("all rows have the same time: nothing is earlier than the rest")
    orders = [np.arange(len(label)), *(random.permutation(len(label)) for _ in range(_N_SHUFFLES))]
    begins = max(1, int(np.sort(when)[int((1 - TAIL) * len(when))]))
    in_tail = [when[order] >= begins for order in orders]
    nothing = np.zeros_like(label)
    blind = HeldOutCounts(nothing, label, n_classes, time=when).losses(GiniRule)
    for name, cell in {None: nothing, **{name: cell[some] for name, cell in cells.items()}}.items():
        losses = blind if name is None else np.zeros(0)
        shuffled = np.empty(_N_SHUFFLES)
        for draw, order in enumerate(orders):
            told = HeldOutCounts(cell, label, n_classes, time=when[order]).losses(GiniRule)
            if draw:
                shuffled[draw - 1] = told[in_tail[draw]].mean()
            else:
                losses = told
        yield name, (in_tail[0], losses, blind), shuffled


def _later_is_worse(error: float, shuffled: Floats) -> float:
    """One-sided p-value of an error beside draws of the same law: by Student's t, or a gamma law if skewed."""
    mean, deviation = float(shuffled.mean()), float(shuffled.std(ddof=1)) * np.sqrt(1 + 1 / len(shuffled))
    if deviation <= 1e-12:
        return 1.0
    skewness = float(((shuffled - mean) ** 3).mean()) / deviation**3
    by_gamma = gamma_tail(error, mean, deviation**2, skewness)
    return max(by_gamma, float(stdtr(len(shuffled) - 1, (mean - error) / deviation)))


def _passing_values(
    arrays: dict[str, NDArray[Any]], when: Ints
) -> dict[str | None, tuple[PassingValue, ...]]:
    """Values of each column that appear late or die out early."""
    before = np.searchsorted(np.sort(when), when) / len(when)  # share of the rows that are earlier
    after = 1 - np.searchsorted(np.sort(when), when, side="right") / len(when)
    asked = dict[str | None, tuple[Any, Ints]]()
    for name, column in arrays.items():
        values, code = np.unique(column, return_inverse=True)
        if not is_numeric(column) or len(values) <= _MOST_VALUES:
            asked[name] = values, code
    n_questions = 2 * sum(len(values) for values, _ in asked.values())
    found = dict[str | None, tuple[PassingValue, ...]]()
    for name, (values, code) in asked.items():
        times = np.bincount(code)
        passing = list[PassingValue]()
        for appears, share in ((True, before), (False, after)):
            least = np.ones(len(values))
            np.minimum.at(least, code, share)
            p_values = np.minimum(1.0, n_questions * (1 - least) ** times)
            passing += [
                PassingValue(
                    value=values[v].item(),
                    n_rows=int(times[v]),
                    appears=appears,
                    share=float(least[v] if appears else 1 - least[v]),
                    p_value=float(p_values[v]),
                )
                for v in np.flatnonzero((least >= TAIL) & (p_values <= LEVEL))
            ]
        found[name] = tuple(passing)
    return found
