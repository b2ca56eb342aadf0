"""A fitted model as plain conditions and numbers, which `offsample.export` writes in other languages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from offsample._typing import Floats
from offsample.tables import TableEncoder
from offsample.tables._calendar import NAMES, PARTS
from offsample.tables._ways import DateWay, EpochWay, Way


class Column(NamedTuple):
    """A column, whose number it stands for in an expression."""

    name: Any
    # Codes are categories that are numbers which float64 tells apart; names are compared as they are.
    # Parts are of a moment: months and weekdays, from Monday on, count from 1, hours from 0.
    kind: Literal["number", "moment", "duration", "code", "name", "month", "weekday", "hour"]
    way: Way | None = None  # in which it is read, if it is not stored as what it is


class Condition(NamedTuple):
    """A test of one column, which is true or false for missing values, too."""

    column: Column
    kind: Literal["at_most", "above", "in", "not in"]
    value: Any  # a threshold, or values
    missing: bool  # whether it is true where the column is missing

    def contrary(self) -> Condition:
        """The condition that is true where this one is false."""
        kinds: dict[str, Any] = {"at_most": "above", "above": "at_most", "in": "not in", "not in": "in"}
        return self._replace(kind=kinds[self.kind], missing=not self.missing)


class Op(NamedTuple):
    """A sum, product, quotient or comparison, or the function max, min, sqrt, abs or round."""

    sign: str
    parts: Sequence[Any]


class Case(NamedTuple):
    """What the first branch says whose conditions (or comparisons) are all true."""

    branches: tuple[tuple[All, Any], ...]
    otherwise: Any


All = tuple[Condition | Op, ...]
Expression = Any  # a number, a `Column`, an `Op`, a `Case`, or the name of a step
Conditions = Callable[[Sequence[int]], All]


class Form(NamedTuple):
    """A model: some steps, the cell that a row comes to, and what is said there.

    One of numbers has no shares, and the number of each cell takes the place of its class.
    """

    classes: list[Any]
    cell: Expression
    labels: NDArray[np.integer]  # place of the class that each cell predicts
    shares: list[Expression | Floats]  # probability of each class, or an array with that of each cell
    steps: Sequence[dict[str, Expression]] = ()  # numbers with names, of which some may need earlier ones

    @property
    def is_of_numbers(self) -> bool:
        """Whether cells predict numbers, which have no probabilities."""
        return not self.shares

    def of_classes(self, classes: list[Any], place: NDArray[np.integer]) -> Form:
        """The same model, its classes being at some places among others."""
        shares: list[Any] = [0.0] * len(classes)
        for k, share in zip(place, self.shares, strict=True):
            shares[k] = share
        return self._replace(classes=classes, labels=place[self.labels], shares=shares)


def columns_of(encoder: TableEncoder) -> list[Column]:
    """Columns of an encoder."""
    kinds: list[Any] = []
    for kind, values in zip(encoder.quantities, encoder.values, strict=True):
        types = {type(value) for value in values}
        exact = types <= {int, float} and all(isinstance(v, float) or abs(v) < 2**53 for v in values)
        kinds.append(kind or ("code" if types and exact else "name"))
    return list(map(Column, encoder.names, kinds, (found.way for found in encoder.found)))


def at_most(column: Column, threshold: float, *, missing: bool) -> Condition:
    """Test of a number; an infinite threshold lets all through that is not missing."""
    if np.isinf(threshold):
        return Condition(column, "not in", (), missing)
    return Condition(column, "at_most", float(threshold), missing)


def one_of(column: Column, known: Sequence[Any], codes: Collection[int]) -> Condition:
    """Test of a category by codes of its values; the one after the last stands for a missing value."""
    values = tuple(known[code] for code in codes if code < len(known))
    return Condition(column, "in", values, len(known) in codes)


def case(branches: Sequence[tuple[All, Expression]], otherwise: Expression) -> Expression:
    """A `Case` that goes on with the branches of another, if that is its last part."""
    for i, (tests, part) in enumerate(branches):
        if not tests:
            branches, otherwise = branches[:i], part
            break
    if isinstance(otherwise, Case):
        branches, otherwise = (*branches, *otherwise.branches), otherwise.otherwise
    return Case(tuple(branches), otherwise) if branches else otherwise


def form_of(estimator: Any) -> Form:
    """A fitted model to be written; raise where it cannot be."""
    if not hasattr(estimator, "_form"):
        said = f"{type(estimator).__name__} cannot be written as SQL or Python"
        raise TypeError(f"{said}: expected a tree, an oblique tree, rules, or the estimator of a report")
    check_is_fitted(estimator)
    parts = dict[Any, Column]()
    for name, of in getattr(estimator, "_made", {}).items():
        part: Any = str(name).rstrip("_").rpartition(": ")[2]
        if len(of) == 1 and of[0] in estimator._dates and part in PARTS:
            parts[name] = Column(of[0], part, estimator._dates.known[of[0]].found.way)
            continue
        source = " and ".join(repr(str(one)) for one in of) or "the time"
        raise ValueError(
            f"column {str(name)!r} is made of {source} for the model, and no table has it: add it to your "
            "table by yourself, and make the report again"
        )
    form: Form = estimator._form()
    return _as_stored(form, parts) if parts else form


def _as_stored(one: Any, parts: dict[Any, Column]) -> Any:
    """The same of the dates that a table has in place of their parts; months and weekdays by number."""
    if isinstance(one, Condition) and one.column.name in parts:
        column = parts[one.column.name]
        names = NAMES.get(column.kind)
        value = one.value if names is None else tuple(1.0 + names.index(name) for name in one.value)
        return one._replace(column=column, value=value)
    if isinstance(one, Column):
        return parts.get(one.name, one)
    if isinstance(one, dict):
        return {name: _as_stored(part, parts) for name, part in one.items()}
    if not isinstance(one, (tuple, list)):
        return one
    made = [_as_stored(part, parts) for part in one]
    return type(one)(*made) if hasattr(one, "_fields") else type(one)(made)


def require_stored(column: Column, *, iso: bool = False) -> None:
    """Raise where a column is read from text, such as "$1,234"; dates as programs write them may be taken."""
    is_epoch = isinstance(column.way, EpochWay) and column.way.unit != "ymd"
    if not (column.way is None or is_epoch or (iso and column.way == DateWay())):
        raise ValueError(
            f"column {str(column.name)!r} was read as what its text says, a number or a date, and no other "
            "language reads it the same: store it as one, and fit the model again"
        )
