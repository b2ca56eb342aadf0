"""What every table answers, and the plain values that it answers with."""

from __future__ import annotations

import difflib
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from numbers import Number
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from offsample import _counting
from offsample._counting import Counts
from offsample._typing import Floats, Ints
from offsample.tables._source import Source
from offsample.tables._units import UnitRows, Units

Kind = Literal["categorical", "numeric"]

# More labels than this are an identifier or a number, and a count vector per value would not fit in memory.
MAX_CLASSES = 1000
_MAX_FRACTIONAL_LABELS = 100
# More different numbers than this are rather a quantity than classes: digits, months and letters are fewer.
_MAX_NUMBERS = 31
# With more rows, a class for every second one is no class; scikit-learn warns from the same number on.
_FEW_ROWS = 20
_INFINITY = float("inf")

# What can be done with a number here, said where it is refused.
AS_A_NUMBER = (
    "task='regression' (--task regression) takes it as a number, and reads text such as '$1,200' as one"
)
IN_DAYS = "of dates or durations, predict the days since the first, or hours"
NO_COLUMNS = "no columns are left to learn from: expected at least one besides the target"


class ColumnError(ValueError):
    """A column that cannot be read: what looks at many leaves it out, and says so."""


@dataclass(frozen=True)
class Column:
    """A feature of a table: its name, and whether its values are names or ordered quantities."""

    name: Any
    kind: Kind


@dataclass(frozen=True, eq=False)
class Profile:
    """The values of a column, up to their identity."""

    # (n, K + 1): each distinct count vector over the K classes, then the number of values that have it, in
    # lexicographic order. For a numeric target float64: a row for each number of rows that values have, as
    # `CellMoments.from_table` reads it.
    rows: Counts
    n_missing: int  # rows where the value is missing

    @property
    def n_values(self) -> int:
        """Distinct values; missing counts as one."""
        return int(self.rows[:, -1].sum())


def merge(pieces: list[Ints]) -> Ints:
    """Profile rows of the union of disjoint sets of values."""
    rows = np.concatenate(pieces)
    return collapse(rows[:, :-1], rows[:, -1])


def collapse(counts: NDArray[Any], multiplicity: Ints | None = None) -> Ints:
    """Distinct count vectors that are not all zero, in lexicographic order, each with its multiplicity."""
    rows: Ints = np.column_stack(_counting.collapse(counts, multiplicity)).astype(np.int64, copy=False)
    # Values that are not in use have the least vector of all; to look for them before would cost more.
    return rows[1:] if len(rows) and not rows[0, :-1].any() else rows


@dataclass(frozen=True, eq=False)
class Bins:
    """Class counts of a numeric column in bins of about equal size, chosen without looking at the target.

    For a numeric target these are moments, of float64, as `CellMoments.from_cells` reads them.
    """

    # (n_bins, K): in the order of the values; no bin is empty. Equal values are never split over two bins.
    counts: Counts
    missing: Counts  # (K,): class counts of the rows where the value is missing
    # (n_bins - 1,): largest value of each bin but the last. Dates and durations are microseconds (since
    # 1970).
    edges: Floats
    # Distinct values that are not missing; None where the engine would need another pass.
    n_values: int | None
    exact: bool  # whether every distinct value has a bin of its own

    @property
    def sizes(self) -> Ints:
        """Rows of each bin, then those where the value is missing."""
        every = np.vstack([self.counts, self.missing])
        return (every.sum(axis=1) if every.dtype == np.int64 else every[:, 0]).astype(np.int64)


class Table(ABC):
    """Columns of a table, a target, and their counts; no work per column before it is asked for.

    Use it as a context manager, or call `close`, to release connections and temporary files early.
    """

    classes: tuple[Any, ...]  # none for a numeric target
    class_totals: Ints  # for a numeric target, the number of rows
    n_dropped: int
    center: float = 0.0  # what moments of a numeric target are about
    files: tuple[str, ...] | None = None  # that it was read from
    units = Units()
    found: Mapping[Any, Any] = {}  # how the text of columns was read that were asked for; see `_meaning`

    def __init__(self, features: Sequence[Any], categorical: frozenset[Any] | None) -> None:
        self.features = tuple(features)
        self._categorical = categorical
        self._kinds: dict[Any, Kind] = {}

    @property
    def is_numeric(self) -> bool:
        """Whether the target is a number, whose moments are counted, and no class."""
        return not self.classes

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The features with their kinds."""
        return tuple(Column(name, self.kind(name)) for name in self.features)

    @property
    def n_rows(self) -> int:
        """Rows that have a target."""
        return int(self.class_totals.sum())

    @property
    def source(self) -> Source | None:
        """The files that it was read from, and their rows; None for a table that was handed over."""
        return None if self.files is None else Source(self.files, self.n_rows + self.n_dropped)

    def kind(self, name: Any) -> Kind:
        """Whether a feature is read as categorical or as numeric."""
        self._require_feature(name)
        if self._categorical is None or name in self._categorical:
            return "categorical"
        if name not in self._kinds:
            self._kinds[name] = self._natural_kind(name)
        return self._kinds[name]

    @abstractmethod
    def _natural_kind(self, name: Any) -> Kind: ...

    def value_counts(self, name: Any) -> Profile:
        """Count the classes at every distinct value of a column; a missing value is a value of its own."""
        self._require_feature(name)
        return self._value_counts(name)

    @abstractmethod
    def _value_counts(self, name: Any) -> Profile: ...

    def binned_counts(self, name: Any, max_bins: int = 1024) -> Bins:
        """Count the classes in quantile bins of a numeric column.

        Value v, with r rows below it among n, falls into bin ``floor(r * max_bins / n)``, unless there
        are at most `max_bins` distinct values: then each is a bin. Values are compared as float64.
        """
        if self.kind(name) == "categorical":
            raise ValueError(f"column {name!r} is categorical: bins need a numeric column")
        if max_bins < 2:
            raise ValueError(f"max_bins must be at least 2, got {max_bins}")
        return self._binned_counts(name, max_bins)

    @abstractmethod
    def _binned_counts(self, name: Any, max_bins: int) -> Bins: ...

    def unit_rows(self, name: Any, *, as_numbers: bool = False) -> UnitRows:
        """Read a column with the class, groups and time of each row; without a name, one value for all."""
        if name is not None:
            self._require_feature(name)
        return self._unit_rows(name, as_numbers)

    @abstractmethod
    def _unit_rows(self, name: Any, as_numbers: bool) -> UnitRows: ...

    @cached_property
    def in_units(self) -> bool:
        """Whether rows come in time or in groups; groups of one row each are rows."""
        if not self.units.groups or self.units.time is not None:
            return bool(self.units)
        groups = self.unit_rows(None).groups
        return len(groups) > 1 or int(groups[0].max()) + 1 < self.n_rows

    @abstractmethod
    def n_distinct(self, names: Sequence[Any]) -> tuple[int, int]:
        """Count the rows with a label that differ in these features, a unit or the label, and without it."""

    def _require_feature(self, name: Any) -> None:
        if name not in self._feature_set:
            raise missing_column(name, self.features, "feature")

    @cached_property
    def _feature_set(self) -> frozenset[Any]:
        return frozenset(self.features)

    def close(self) -> None:
        """Release what the table holds open; it cannot be read afterwards."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __repr__(self) -> str:
        target = "a numeric target" if self.is_numeric else f"{len(self.classes)} classes"
        return f"<{type(self).__name__}: {self.n_rows} rows, {len(self.features)} features, {target}>"


def class_names(labels: Sequence[Any]) -> list[str]:
    """Text of each label, as Python writes it where two would be the same, such as 1 and "1"."""
    names = [str(label) for label in labels]
    return names if len(set(names)) == len(names) else [repr(label) for label in labels]


def check_classes(labels: Sequence[Any], target: str, n_rows: int, n_dropped: int) -> None:
    """Raise unless the labels of a number of rows can be the classes of a classification problem."""
    if not labels:
        if not n_dropped:
            raise ValueError("the table has no rows: expected at least two rows with different targets")
        raise ValueError(f"target {target} is missing in all {n_dropped} rows: expected two or more classes")
    if len(labels) == 1:
        raise ValueError(f"target {target} has one class only, {labels[0]!r}: expected two or more")
    if endless := [label for label in labels if is_number(label) and abs(label) == _INFINITY]:
        raise ValueError(
            f"target {target} has the value {endless[0]}: expected classes, which are text or finite "
            "numbers; infinity is none to any learner"
        )
    fractional = sum(isinstance(label, float) and not label.is_integer() for label in labels)
    if fractional > _MAX_FRACTIONAL_LABELS:
        raise ValueError(
            f"target {target} is continuous (more than {_MAX_FRACTIONAL_LABELS} different fractions): "
            f"expected classes; {AS_A_NUMBER}, or cut it into bins first, for example at its quantiles"
        )
    most, many = MAX_CLASSES, f"more than {MAX_CLASSES} classes"
    if n_rows > _FEW_ROWS and len(labels) <= most:
        most, many = n_rows // 2, f"{len(labels)} different values in {n_rows} rows"
    if len(labels) > min(most, _MAX_NUMBERS):
        from offsample.tables._meaning import are_moments  # which knows the errors of this module

        is_time = isinstance(labels[0], (date, timedelta, np.datetime64, np.timedelta64))
        advice = IN_DAYS if is_time or are_moments(labels) else f"of a quantity, {AS_A_NUMBER}"
        if advice == IN_DAYS and len(labels) <= most:
            most, many = _MAX_NUMBERS, f"{len(labels)} different times"
    if len(labels) > most:
        raise ValueError(
            f"target {target} has {many}: expected classes that repeat, not an identifier or a quantity; "
            f"group rare labels; {advice}"
        )
    if len(labels) > _MAX_NUMBERS and all(is_number(label) for label in labels):
        warnings.warn(
            f"target {target} holds {len(labels)} different numbers, and each is taken as a class of its "
            f"own: a prediction is wrong unless it hits the very number. If they are amounts, {AS_A_NUMBER}; "
            "or cut them into ranges first, for example into quarters: in SQL ntile(4) OVER (ORDER BY ...), "
            "in pandas qcut(..., 4). If they are classes, hand them over as text, in SQL by "
            "CAST(... AS VARCHAR).",
            stacklevel=3,
        )


def is_number(label: Any) -> bool:
    """Whether a label is a number, and no truth value."""
    return isinstance(label, (Number, np.number)) and not isinstance(label, (bool, np.bool_))


def check_names(names: Sequence[Any]) -> None:
    """Raise where two columns have the same name."""
    counts = Counter(names)
    if len(counts) < len(names):
        twice = next(name for name, times in counts.items() if times > 1)
        raise ValueError(f"{counts[twice]} columns are named {twice!r}: expected different names; rename one")


class Wanted(NamedTuple):
    """What `open_table` was asked for: the target, the features, and the columns declared categorical."""

    target: Any
    features: Sequence[Any] | None = None
    categorical: Collection[Any] | str = ()
    units: Units = Units()
    task: Any = "classification"  # see `_targets.Task`
    types: Mapping[Any, str] = {}  # of columns, as a user says them; see `_meaning`

    def read_as(self, names: Sequence[Any]) -> dict[Any, str]:
        """Columns whose text is read as what it says, and what the user says of them."""
        declared = declared_categorical(self.categorical, names)
        if declared is None:
            return {}
        kept = {*declared, *(one for one in self.units.groups if isinstance(one, str))}
        types, of_number = self.types, self.task == "regression"
        if isinstance(self.target, (str, int, tuple)) and self.target not in types:
            types = {**types, self.target: "number"} if of_number else types
            kept |= set() if of_number else {self.target}
        return {name: types.get(name, "") for name in names if name not in kept}

    def choose(
        self, names: Sequence[Any], parts: Collection[str] = ()
    ) -> tuple[list[Any], frozenset[Any] | None]:
        """Features of a table, parts of the time too, and which are declared categorical (None: all)."""
        check_names(names)
        names = [*names, *parts]
        known, features = frozenset(names), self.features
        if isinstance(features, str):
            raise ValueError(f"features must be a list of column names, got the string {features!r}")
        if features is None:
            features = [name for name in names if name != self.target and self.units.role(name) is None]
        for name in self.units.names:
            if name not in known:
                raise missing_column(name, names, self.units.role(name) or "column")
            if name == self.target:
                raise ValueError(f"{self.units.role(name)} {name!r} is the target: name another column")
        for name in features:
            if name not in known:
                raise missing_column(name, names, "feature")
            if name == self.target:
                raise ValueError(f"feature {name!r} is the target: remove it from features")
            if role := self.units.role(name):
                raise ValueError(
                    f"feature {name!r} is the {role}: new rows have others; remove it from features"
                )
        if len(set(features)) < len(features):
            raise ValueError("features names a column twice: expected different names")
        declared = declared_categorical(self.categorical, names)
        made = [part for part in parts if not str(part).endswith("hour")]  # months and weekdays
        return list(features), None if declared is None else declared.union(made)


def declared_categorical(
    categorical: Any, names: Sequence[Any], ways: str = '"infer", "all" or a list of names'
) -> frozenset[Any] | None:
    """Columns that are declared categorical in one of some ways, or by a mask; None for all."""
    if isinstance(categorical, str):
        if categorical not in ("infer", "all"):
            raise ValueError(f"categorical_features must be {ways}, got {categorical!r}")
        return None if categorical == "all" else frozenset()
    chosen = np.asarray(categorical)
    if chosen.dtype == bool:
        if chosen.shape != (len(names),):
            raise ValueError(
                f"categorical_features is a mask of shape {chosen.shape}: expected one entry for each of "
                f"{len(names)} columns"
            )
        return frozenset(name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen)
    for name in categorical:
        if name not in names:
            raise missing_column(name, names, "categorical column")
    return frozenset(categorical)


def missing_column(name: Any, names: Sequence[Any], role: str) -> ValueError:
    """Error for a column that is not there, with the nearest name that is."""
    as_text: Mapping[str, Any] = {str(known): known for known in names}
    near = difflib.get_close_matches(str(name), list(as_text)[:10_000], n=1)
    some = ", ".join(repr(known) for known in names[:5]) + ", …" * (len(names) > 5)
    hint = f"did you mean {as_text[near[0]]!r}?" if near else f"the table has {len(names)} columns ({some})"
    return ValueError(f"{role} {name!r} is not a column of the table: {hint}")
