"""Suspected order: dates and running numbers along which the class changes, and the order of the rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._proportions import gamma_tail
from offsample._typing import Ints
from offsample.rows._alikeness import alikeness
from offsample.rows._columns import Columns, checked, codes_of, ends_of, is_numeric
from offsample.rows._drift import find_drift, later_errors

LEVEL = 0.01
# A running number differs in so many of the rows, and lies in a range at most so many times their number.
DISTINCT, RANGE = 0.9, 2
# Rows are sorted by a column if it changes at most so much more often than it must, and would else often.
_RUNS, _OFTEN = 1.1, 5
_N_PARTS, _FEWEST_PER_PART = 20, 5
_MOST_ROWS = 10_000


@dataclass(frozen=True)
class Order:
    """An order in which the rows may have come."""

    name: str | None  # the column, or None for the order of the rows
    kind: Literal["date", "number", "rows"]
    # Probability of such a change of the class along it in any order, times the number of questions.
    p_value: float
    # A column by which the rows are sorted; "" if by class. Then their order says nothing more.
    sorted_by: str | None
    first_shares: tuple[float, ...]  # shares of the classes in the first and the last fifth of the rows
    last_shares: tuple[float, ...]
    # Error of the best column in the last fifth of the rows, predicted from earlier ones, and the same if
    # rows came in any order. NaN where no order is suspected.
    error: float = float("nan")
    shuffled_error: float = float("nan")
    # Columns that predict later rows worse than if rows came in any order, see `find_drift`; asked of dates
    # along which the class itself does not change.
    drifting: tuple[str, ...] = ()
    # Share of neighbouring rows that are of one class, and what it would be in any order.
    alike: float = float("nan")
    alike_by_chance: float = float("nan")
    # Shares of the classes in the parts of the rows that differ; none if the p-value is of neighbours.
    part_shares: tuple[tuple[float, ...], ...] = ()

    @property
    def is_suspected(self) -> bool:
        """Whether the class, or what columns say of it, changes along it, and rows are not merely sorted."""
        return (self.p_value <= LEVEL and self.sorted_by is None) or bool(self.drifting)


def suspect_orders(
    columns: Columns, y: ArrayLike, dates: Collection[str] = (), groups: Sequence[Ints] = ()
) -> tuple[Order, ...]:
    """Find out whether the rows came one after the other, so that a new one is later than these.

    Asked about are the columns that are dates; running numbers, that is columns of whole numbers of which
    90 % are different, in a range of at most twice the number of rows; and the order of the rows. Two
    tests ask whether the class changes along them: whether *neighbours* are of the same class more often than
    in random order (number of runs), and whether twenty *parts* differ in their classes (`alikeness`). Twice
    the smaller p-value is multiplied by the number of questions; an order is suspected at 0.01. A date is
    also suspected if a column drifts along it (`find_drift`).

    Rows that are sorted by the class or by a column differ along their order because of that; this is said
    instead (`Order.sorted_by`). Of rows of one group that follow each other only the first is asked.

    Parameters
    ----------
    columns : mapping of str to array-like of shape (n_rows,)
        Integers are codes of categories, floats are numbers, with NaN where missing.
    y : array-like of int, shape (n_rows,)
        Class codes.
    dates : collection of str
        Names of the columns that are dates.
    groups : collection of arrays of int
        Codes of what the rows belong to, if that is known or suspected.

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
    if len(label) < 2:
        return ()
    running = [name for name, column in arrays.items() if name not in dates and _is_running(column)]
    asked: list[str | None] = [*dates, *running, None]
    orders = list[Order]()
    for name in asked:
        place = np.arange(len(label)) if name is None else _sorted_rows(arrays[name])
        in_order, is_first = label[place], np.ones(len(label), bool)
        for group in groups if name not in dates else ():
            is_first[1:] &= np.diff(group[place]) != 0
        asked_of = in_order[is_first]
        p_value, n_parts = _changes(codes_of(asked_of))
        n_runs, mean = _runs(codes_of(asked_of))[:2]
        orders.append(
            Order(
                name=name,
                kind="rows" if name is None else "date" if name in dates else "number",
                p_value=min(1.0, len(asked) * p_value),
                sorted_by=_sorted_by(arrays, label) if name is None else None,
                first_shares=_shares(in_order[: len(label) // 5], label),
                last_shares=_shares(in_order[-(len(label) // 5) :], label),
                alike=(len(asked_of) - n_runs) / max(1, len(asked_of) - 1),
                alike_by_chance=(len(asked_of) - mean) / max(1, len(asked_of) - 1),
                part_shares=tuple(_shares(part, label) for part in _in_parts(asked_of, n_parts)),
            )
        )
    return tuple(_with_errors(order, arrays, label) for order in orders)


def neighbours_alike(label: Ints) -> float:
    """Probability that as many neighbouring rows would be of one class in a random order.

    The mean and the variance of the number of runs over all orders are known [1]_. It is skewed where a class
    is rare; the tail is that of a gamma law with the skewness of independent pairs.

    References
    ----------
    .. [1] D. E. Barton, F. N. David (1957). Multiple Runs. Biometrika 44.
    """
    n_runs, mean, variance, skewness = _runs(label)
    return gamma_tail(-n_runs, -mean, variance, skewness) if variance > 1e-12 else 1.0


def _runs(label: Ints) -> tuple[float, float, float, float]:
    """Number of runs, its mean and variance over all orders, and the skewness of its opposite."""
    n, times = len(label), np.bincount(label).astype(float)
    squares, cubes = float((times**2).sum()), float((times**3).sum())
    variance = (squares * (squares + n * (n + 1)) - 2 * n * cubes - n**3) / (n**2 * max(n - 1.0, 1.0))
    # The squared third moments of indicators of the classes: of one, of two, of three of them.
    share = times / n
    second, fourth, sixth = (float((share**power).sum()) for power in (2, 4, 6))
    skewed = share**2 * (1 - 2 * share) ** 2
    third = float((skewed * ((1 - share) ** 2 + 3 * (second - share**2))).sum())
    third += 4 * (second**3 - 3 * second * fourth + 2 * sixth)
    skewness = n * max(third, 0.0) / max(variance, 1e-12) ** 1.5
    return 1 + int((np.diff(label) != 0).sum()), n + 1 - squares / n, variance, skewness


def _changes(label: Ints) -> tuple[float, int]:
    """Twice the smaller p-value of neighbours and parts, and the number of parts, or 0 if of neighbours.

    Parts are asked only if each has some rows of two classes.
    """
    times = np.sort(np.bincount(label))
    n_parts = min(_N_PARTS, int(times[-2]) // _FEWEST_PER_PART) if len(times) > 1 else 0
    p_value, p_parts = neighbours_alike(label), 1.0
    if n_parts > 1:
        p_parts = alikeness(np.arange(len(label)) * n_parts // len(label), label)[1]
    return min(1.0, 2 * min(p_value, p_parts)), n_parts if p_parts < p_value else 0


def _in_parts(label: Ints, n_parts: int) -> list[Ints]:
    part = np.arange(len(label)) * n_parts // max(1, len(label))
    return [label[part == number] for number in range(n_parts)]


def _is_running(column: NDArray[Any]) -> bool:
    if not is_numeric(column) or np.isnan(column).any() or (column != np.rint(column)).any():
        return False
    n_rows, (low, high) = len(column), ends_of(column)
    return bool(high - low <= RANGE * n_rows and len(np.unique(column)) >= max(DISTINCT * n_rows, 2.0))


def _sorted_rows(column: NDArray[Any]) -> Ints:
    """Rows by value; in random order where values are equal."""
    shuffled = np.random.default_rng(0).permutation(len(column))
    return shuffled[np.argsort(column[shuffled], kind="stable")]


def _sorted_by(arrays: dict[str, NDArray[Any]], label: Ints) -> str | None:
    for name, column in {"": label, **arrays}.items():
        code = codes_of(column[:: 1 + len(label) // _MOST_ROWS])
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


def _shares(part: Ints, label: Ints) -> tuple[float, ...]:
    return tuple((np.bincount(part, minlength=int(label.max()) + 1) / max(1, len(part))).tolist())


def _with_errors(order: Order, arrays: dict[str, NDArray[Any]], label: Ints) -> Order:
    """Ask a date, along which the class does not change, what drifts along it; and what any order costs."""
    time = np.arange(len(label)) if order.name is None else arrays[order.name]
    others = {name: column for name, column in arrays.items() if name != order.name}
    if order.kind == "date" and not order.is_suspected:
        when = np.nan_to_num(time.astype(float), nan=np.inf)
        drifts = find_drift(others, label, when) if len(np.unique(when)) > 1 else ()
        drifting = (one.name for one in drifts if one.is_found and one.name is not None)
        order = replace(order, drifting=tuple(drifting))
    if not order.is_suspected:
        return order
    later, shuffled = later_errors(others, label, time)
    return replace(order, error=later, shuffled_error=shuffled)
