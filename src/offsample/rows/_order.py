"""Suspected order: dates and running numbers along which the class changes, and the order of the rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._typing import Ints
from offsample.counts import CellCounts
from offsample.criteria import ginger
from offsample.rows._columns import Columns, cells_of, checked, codes_of, gamma_tail, is_numeric, ranks_of
from offsample.rows._drift import later_errors
from offsample.rows._entities import alikeness

__all__ = ["Order", "neighbours_alike", "suspect_orders"]

LEVEL = 0.01
# A running number differs in so many of the rows, and lies in a range at most so many times their number.
DISTINCT, RANGE = 0.9, 10
# Rows are sorted by a column if it changes at most so much more often than it must, and would else often.
_RUNS, _OFTEN = 1.1, 5
_N_PARTS, _FEWEST_PER_PART = 20, 5
_MOST_COLUMNS = 10


@dataclass(frozen=True)
class Order:
    """An order in which the rows may have come.

    Attributes
    ----------
    name : str or None
        The column, or None for the order of the rows.
    kind : {"date", "number", "rows"}
    p_value : float
        Probability of such a change along it if rows came in any order, times the number of questions.
    class_p_value : float
        The same for the class alone; with dates and numbers, nothing else is asked about.
    changes : str or None
        What changes most: a column, or None for the class.
    sorted_by : str or None
        A column by which the rows are sorted; "" if by class. Then their order says nothing more.
    first_shares, last_shares : tuple of float
        Shares of the classes in the first and the last fifth of the rows.
    error, shuffled_error : float
        Error of the best column in the last fifth of the rows, predicted from earlier ones, and the same if
        rows came in any order. NaN where no order is suspected.
    """

    name: str | None
    kind: Literal["date", "number", "rows"]
    p_value: float
    class_p_value: float
    changes: str | None
    sorted_by: str | None
    first_shares: tuple[float, ...]
    last_shares: tuple[float, ...]
    error: float = float("nan")
    shuffled_error: float = float("nan")

    @property
    def is_suspected(self) -> bool:
        """Whether the class changes along it beyond chance, and the rows are not merely sorted."""
        return self.class_p_value <= LEVEL and self.sorted_by is None


def suspect_orders(columns: Columns, y: ArrayLike, dates: Collection[str] = ()) -> tuple[Order, ...]:
    """Find out whether the rows came one after the other, so that a new one is later than these.

    Asked about are the columns that are dates; running numbers, that is columns of whole numbers of which
    90 % are different, in a range of at most ten times the number of rows; and the order of the rows. Two
    tests ask whether the class changes along them: whether *neighbours* are of the same class more often than
    in random order (number of runs), and whether twenty *parts* differ in their classes
    (`alikeness`). Among the rows themselves the columns are asked in the same way, numbers by the product of
    their neighbouring ranks. P-values are multiplied by the number of questions; an order is suspected where
    that of the class is at most 0.01.

    Rows that are sorted by the class or by a column differ along their order because of that; this is said
    instead (`Order.sorted_by`).

    Parameters
    ----------
    columns : mapping of str to array-like of shape (n_rows,)
        Integers are codes of categories, floats are numbers, with NaN where missing.
    y : array-like of int, shape (n_rows,)
        Class codes.
    dates : collection of str
        Names of the columns that are dates.

    Returns
    -------
    tuple of Order
        One for each that was asked about; the order of the rows last.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.rows import suspect_orders
    >>> random = np.random.default_rng(0)
    >>> number = random.permutation(1000).astype(float)
    >>> y = (random.random(1000) < 0.2 + 0.0005 * number).astype(int)
    >>> number, rows = suspect_orders({"number": number, "x": random.normal(size=1000)}, y)
    >>> number.name, number.is_suspected, rows.is_suspected
    ('number', True, False)
    """
    arrays, label = checked(columns, y)
    running = [name for name, column in arrays.items() if name not in dates and _is_running(column)]
    n_questions = len(arrays) + 1 + len(dates) + len(running)
    orders = []
    for name in (*dates, *running):
        order = _sorted_rows(arrays[name])
        p_value = min(1.0, n_questions * _changes(label[order], is_class=True))
        kind: Literal["date", "number"] = "date" if name in dates else "number"
        orders.append(Order(name, kind, p_value, p_value, None, None, *_end_shares(label[order])))
    told = {name: n_questions * _changes(column) for name, column in arrays.items()}
    of_class = min(1.0, n_questions * _changes(label, is_class=True))
    most = min(told, key=lambda name: told[name], default=None)
    if most is not None and of_class <= told[most]:
        most = None
    p_value = of_class if most is None else min(1.0, told[most])
    rows = Order(None, "rows", p_value, of_class, most, _sorted_by(arrays, label), *_end_shares(label))
    return tuple(_with_errors(order, arrays, label) for order in (*orders, rows))


def neighbours_alike(column: NDArray[Any]) -> float:
    """Probability that as many neighbouring rows would be alike in a random order.

    For categories by the number of runs, for numbers by the sum of the products of neighbouring ranks [1]_:
    the means and variances over all orders are known. Both are skewed where some value is rare; the tail is
    that of a gamma law with the skewness of independent pairs.

    References
    ----------
    .. [1] A. Wald, J. Wolfowitz (1943). An Exact Test for Randomness in the Non-Parametric Case Based on
       Serial Correlation. Annals of Mathematical Statistics 14.
    """
    seen, mean, variance, skewness = _neighbours(column) if len(column) > 3 else (0.0, 0.0, 0.0, 0.0)
    return gamma_tail(seen, mean, variance, skewness) if variance > 1e-12 else 1.0


def _neighbours(column: NDArray[Any]) -> tuple[float, float, float, float]:
    """How alike neighbours are, and the mean, variance and skewness of that over all orders."""
    n = len(column)
    if is_numeric(column):
        ranks = ranks_of(column)
        known = ~np.isnan(ranks)
        x = np.where(known, ranks - ranks[known].sum() / max(1, known.sum()), 0.0)
        second, third, fourth = (float((x**power).sum()) for power in (2, 3, 4))
        mean = -second / (n - 1)
        variance = (second**2 - fourth + (second**2 - 2 * fourth) / (n - 2)) / (n - 1) - mean**2
        # The last row is taken as the neighbour of the first.
        return float(x @ np.roll(x, 1)), mean, variance, third**2 / n / max(variance, 1e-12) ** 1.5
    times = np.unique(column, return_counts=True)[1].astype(float)
    squares, cubes = float((times**2).sum()), float((times**3).sum())
    n_runs = 1 + int((np.diff(column) != 0).sum())
    variance = (squares * (squares + n * (n + 1)) - 2 * n * cubes - n**3) / (n**2 * (n - 1.0))
    # The squared third moments of indicators of the categories: of one, of two, of three of them.
    share = times / n
    second, fourth, sixth = (float((share**power).sum()) for power in (2, 4, 6))
    skewed = share**2 * (1 - 2 * share) ** 2
    third = float((skewed * ((1 - share) ** 2 + 3 * (second - share**2))).sum())
    third += 4 * (second**3 - 3 * second * fourth + 2 * sixth)
    return -n_runs, squares / n - n - 1, variance, n * max(third, 0.0) / max(variance, 1e-12) ** 1.5


def _changes(column: NDArray[Any], *, is_class: bool = False) -> float:
    """Twice the smaller p-value of neighbours and parts; parts only if each has some rows of a class."""
    n_rows = len(column)
    n_parts = _N_PARTS
    if not is_numeric(column) or is_class:
        times = np.sort(np.bincount(codes_of(column)))
        n_parts = min(_N_PARTS, int(times[-2]) // _FEWEST_PER_PART) if len(times) > 1 else 0
    n_parts = min(n_parts, n_rows // (2 * _FEWEST_PER_PART))
    p_value = neighbours_alike(column)
    if n_parts > 1:
        p_value = min(p_value, alikeness(np.arange(n_rows) * n_parts // n_rows, column)[1])
    return min(1.0, 2 * p_value)


def _is_running(column: NDArray[Any]) -> bool:
    if not is_numeric(column) or np.isnan(column).any() or (column != np.rint(column)).any():
        return False
    n_rows = len(column)
    return bool(np.ptp(column) <= RANGE * n_rows and len(np.unique(column)) >= max(DISTINCT * n_rows, 2.0))


def _sorted_rows(column: NDArray[Any]) -> Ints:
    """Rows by value; in random order where values are equal."""
    shuffled = np.random.default_rng(0).permutation(len(column))
    return shuffled[np.argsort(column[shuffled], kind="stable")]


def _sorted_by(arrays: dict[str, NDArray[Any]], label: Ints) -> str | None:
    for name, column in {"": label, **arrays}.items():
        code = codes_of(column)
        times = np.bincount(code)
        n_rows, n_values = len(code), len(times)
        n_runs = 1 + int((np.diff(code) != 0).sum())
        often = n_rows - float((times**2.0).sum()) / n_rows
        if n_runs <= _RUNS * n_values and often >= _OFTEN * n_values:
            return name
        step = np.diff(code)
        if n_values > n_rows / 2 and ((step >= 0).all() or (step <= 0).all()):
            return name
    return None


def _end_shares(label: Ints) -> tuple[tuple[float, ...], tuple[float, ...]]:
    n_classes, n_rows = int(label.max()) + 1, max(1, len(label) // 5)
    first, last = (
        np.bincount(part, minlength=n_classes) / n_rows for part in (label[:n_rows], label[-n_rows:])
    )
    return tuple(first.tolist()), tuple(last.tolist())


def _with_errors(order: Order, arrays: dict[str, NDArray[Any]], label: Ints) -> Order:
    if not order.is_suspected:
        return order
    time = np.arange(len(label)) if order.name is None else arrays[order.name]
    others = [name for name in arrays if name != order.name]
    n_classes = int(label.max()) + 1
    error = {
        n: ginger(CellCounts.from_codes(cells_of(arrays[n]), label, n_classes=n_classes)) for n in others
    }
    best = sorted(others, key=lambda name: error[name])[:_MOST_COLUMNS]
    later, shuffled = later_errors({name: arrays[name] for name in best}, label, time)
    return replace(order, error=later, shuffled_error=shuffled)
