"""A table as a report reads it: ranked columns, the rows that models are fitted to, and their classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from offsample._deadline import deadline
from offsample._losses import checked_costs, class_of_interest
from offsample._typing import Booleans, Floats, Ints
from offsample.ranking import Ranking, rank_features
from offsample.report._formats import percent, short_name
from offsample.report._metrics import Metric, metric_of
from offsample.report._time_limit import TimeLimited
from offsample.tables import (
    Source,
    TableEncoder,
    Task,
    columns_of,
    is_dataframe,
    open_table,
    read_table,
    take_rows,
    unit_codes,
)
from offsample.tables._base import class_names, missing_column
from offsample.tables._calendar import part_names, with_parts
from offsample.tables._derived import with_derived

_ROWS_IF_FAST = 30_000  # rows that the models of a fast report are fitted to at most
_MAX_SIZE = 12
_COUNTED = 2e7  # values that are counted in a second
_TO_GROUP = 5e8  # values of all rows, at most, to look for equal ones
_TO_COUNT = 0.6  # share of the time that is left which counting may take


@dataclass(frozen=True)
class Options:
    """What can be asked of a report; the same on the command line and in Python."""

    group: tuple[Any, ...] = ()  # names of columns
    time: Any = None
    gap: int = 0  # times before a row that were not known yet
    copies: Literal["auto", "keep"] = "auto"
    categorical_features: tuple[Any, ...] = ()
    ignore: tuple[Any, ...] = ()
    known: tuple[Any, ...] = ()  # before the target, whatever they look like
    positive: Any = None
    max_rows: int = 100_000
    max_size: int | None = None  # leaves, rules or terms; see `TableRead.max_size`
    random_state: int = 0
    fast: bool = False
    time_limit: float | None = None
    engine: str | None = None
    score: float | None = None
    n_test: int | None = None
    n_configurations: float = 1
    scores: str | None = None  # where they are: their file
    metric: str = "auto"
    costs: Any = None
    capacity: float | None = None
    reference: bool = True
    show_rows: bool = False
    task: Task = "auto"
    types: Mapping[Any, str] = field(default_factory=dict)


@dataclass(eq=False)
class TableRead(TimeLimited):
    """A table and its target, read when they are first asked for.

    A target of numbers is read by `NumberStudy`, which says otherwise what is said here of classes.
    """

    task: ClassVar[Literal["classification", "regression"]] = "classification"
    error_type: ClassVar[type] = bool  # of what is measured on each row, and its mean is the error
    guess_name: ClassVar[str] = "the most frequent class"

    source: Any  # path, dict of columns, dataframe or relation
    target: Any  # name of its column
    options: Options

    def __post_init__(self) -> None:
        self.time_limit = self.options.time_limit

    @cached_property
    def ranking(self) -> Ranking:
        """All columns, counted on all rows."""
        features, units = None, (*self.options.group, self.options.time)
        counted = self._whole if self._whole is not None else self.source
        if self._counting_takes_too_long():
            counted = columns_of(self._read)
            self.leave_out("columns were counted on the modelled rows, not on all of them")
        if isinstance(counted, Mapping) or is_dataframe(counted):
            counted = with_derived(columns_of(counted), self._not_derived, types=self.options.types)
        if self.options.ignore:
            columns = columns_of(counted if isinstance(counted, Mapping) else self._read)
            names = list(with_parts(columns, self.options.time))
            for name in self.options.ignore:
                if name not in names:
                    raise ValueError(f"column {name!r} to ignore is not in the table")
            no_features = {*self.options.ignore, *units, self.target}
            features = [name for name in names if name not in no_features]
        left = self.seconds_left  # of which models are to have a part
        with deadline(None if left is None else _TO_COUNT * left, keep_part=True):
            return rank_features(
                counted,
                self.target,
                features=features,
                categorical_features=self.options.categorical_features or "infer",
                engine=self.options.engine if counted is self.source else None,
                group=list(self.options.group) or None,
                time=self.options.time,
                task=self.task,
                types=self.options.types,
                **self.ranked_by(),
            )

    def ranked_by(self) -> dict[str, Any]:
        """Return the criterion of the metric."""
        if self.target not in columns_of(self._read) or not len(self.y) or self.metric.is_error:
            return {}
        if self.metric.name != "cost":
            return {"criterion": self.metric.ranks_by, "positive": self.options.positive}
        if isinstance(self.options.costs, Mapping):
            return {"costs": self.options.costs, "positive": self.options.positive}
        by_value = sorted(self.classes, key=_as_value)
        return {"costs": self.costs} if by_value == self.classes.tolist() else {}

    @property
    def _not_derived(self) -> set[Any]:
        """Columns of which no others are made."""
        units = (*self.options.group, self.options.time, self.target)
        return {*units, *self.options.ignore, *self.options.categorical_features}

    @cached_property
    def costs(self) -> Floats | None:
        """Costs of true and predicted classes, if they were given."""
        costs, named = self.options.costs, self.class_of_interest if self.is_named else None
        return None if costs is None else checked_costs(costs, len(self.classes), named)

    @cached_property
    def metric(self) -> Metric:
        """What models are chosen by, and the report leads with."""
        return metric_of(self.options.metric, self.class_counts, self.costs, self.is_named)

    @property
    def metric_of_order(self) -> Metric:
        """What models are chosen by where rows are to be ordered."""
        return metric_of("auc", self.class_counts, None, self.is_named)

    @cached_property
    def repeated(self) -> tuple[int, int, int] | None:
        """Rows of a table read in part, those equal to an earlier one, and those equal but for the class."""
        n_rows, names = self.ranking.n_samples, [feature.name for feature in self.ranking]
        if n_rows <= len(self.y):
            return None
        if self.ranking.n_duplicates is not None:
            return n_rows, self.ranking.n_duplicates, self.ranking.n_conflicting or 0
        if len(names) * n_rows > _TO_GROUP or self._counting_takes_too_long():
            return None
        units = {"group": list(self.options.group) or None, "time": self.options.time, "task": self.task}
        try:
            with open_table(self.source, self.target, names, engine=self.options.engine, **units) as table:
                distinct, different = table.n_distinct(names)
                return n_rows, n_rows - distinct, distinct - different
        except (ValueError, RuntimeError):  # such as an engine that has no room for all rows
            return None

    def _counting_takes_too_long(self) -> bool:
        """Say whether counting all rows of all columns would take more than a third of the time left."""
        if self.seconds_left is None:
            return False
        columns = columns_of(self._read)
        n_read = n_rows = len(next(iter(columns.values()), ()))
        if isinstance(self.source, Mapping):
            n_rows = len(next(iter(self.source.values()), ()))
        elif hasattr(self.source, "shape"):
            n_rows = self.source.shape[0]
        n_rows = getattr(self._read, "n_source_rows", n_rows)
        return n_rows > n_read and n_rows * len(columns) / _COUNTED > self.seconds_left / 3

    @cached_property
    def _whole(self) -> dict[Any, Any] | None:
        """All columns of a file that is read whole: counting them in memory saves a query for each."""
        n_rows = getattr(self._read, "n_source_rows", None) if isinstance(self.source, (str, Path)) else None
        complete = n_rows is not None and n_rows <= self.max_rows
        return dict(self._read) if complete else None

    @cached_property
    def _read(self) -> Any:
        source, group = self.source, self.options.group
        if group and (isinstance(source, Mapping) or is_dataframe(source)):
            columns = columns_of(source)
            if group[0] in columns and len(columns[group[0]]) > self.max_rows:
                source = take_rows(source, self._whole_groups(columns[group[0]]))
        return read_table(
            source,
            engine=self.options.engine if isinstance(self.source, (str, Path)) else None,
            max_rows=self.max_rows,
            stratify=self.target if self.task == "classification" else None,
            random_state=self.options.random_state,
        )

    def _whole_groups(self, column: Any) -> Ints:
        """Draw groups of a table in memory, with all their rows, as long as there is room for models."""
        group = next(TableEncoder("all").fit_transform({"group": column})).values
        order = np.random.default_rng(self.options.random_state).permutation(int(group.max()) + 1)
        fits = np.cumsum(np.bincount(group)[order]) <= self.max_rows
        return np.flatnonzero(np.isin(group, order[fits]))

    @property
    def origin(self) -> Source | None:
        """The files that were read, and their rows; None for a table in memory."""
        return getattr(self._read, "source", None)

    @cached_property
    def _labelled(self) -> tuple[Ints, NDArray[Any], int]:
        """The rows that have a class, their classes, and the number of all."""
        encoder = TableEncoder("all")
        labels = next(encoder.fit_transform({self.target: columns_of(self._read)[self.target]})).values
        values = np.array(class_names(encoder.values[0]), dtype=object)
        present = np.flatnonzero(labels < len(values))
        return present, values[labels[present]].astype(str), len(labels)

    @cached_property
    def X(self) -> dict[Any, Any]:
        """The features of the rows that models are fitted to."""
        # In the order of the table: of two columns that do as well a model takes the first.
        ranked = frozenset(feature.name for feature in self.ranking)
        columns = with_parts(columns_of(self._read), self.options.time, ranked)
        columns = with_derived(columns, self._not_derived, ranked, self.options.types)
        chosen = {name: column for name, column in columns.items() if name in ranked}
        present, _, n_rows = self._labelled
        return take_rows(chosen, present) if len(present) < n_rows else chosen

    @property
    def parts(self) -> dict[str, str]:
        """Names of the columns that are parts of the time, if there are such."""
        return self.parts_of(self.options.time)

    def parts_of(self, time: Any) -> dict[str, str]:
        """Names of the columns that are parts of a date."""
        return part_names(time, columns_of(self._read))

    @property
    def y(self) -> NDArray[Any]:
        """Their classes, as text."""
        return self._labelled[1]

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes that occur, sorted."""
        return np.unique(self.y)

    @cached_property
    def labels(self) -> Ints:
        """Classes of the rows, as codes."""
        return np.unique(self.y, return_inverse=True)[1]

    @cached_property
    def class_counts(self) -> Ints:
        """Rows of each class."""
        return np.bincount(self.labels, minlength=len(self.classes))

    @cached_property
    def class_of_interest(self) -> int:
        """Code of the class whose rates are shown: the one asked for, the rarer of two, or the largest."""
        found = class_of_interest(self.classes.tolist(), self.class_counts, self.options.positive)
        return int(self.class_counts.argmax()) if found is None else found

    @property
    def is_named(self) -> bool:
        """Whether there is a class of interest: of two, or by name; otherwise it is only drawn as one."""
        return len(self.classes) == 2 or self.options.positive is not None

    @property
    def strata(self) -> NDArray[Any]:
        """What each fold has its share of."""
        return self.y

    @property
    def value_codes(self) -> Ints:
        """Code of each value of the target."""
        return self.labels

    def said_of(self, those: Booleans) -> str:
        """Say what some rows are like."""
        share = float((self.labels[those] == self.class_of_interest).mean())
        return f"{percent(share)} {short_name(self.classes[self.class_of_interest])}"

    def written(self, number: float) -> str:
        """Write a share of a class."""
        return percent(number)

    @property
    def outcome(self) -> NDArray[Any]:
        """Codes of the classes, or numbers."""
        return self.labels

    @property
    def max_size(self) -> int:
        """Most leaves, rules or terms of a model; if nobody says, 12, or one for each class."""
        n_classes = len(self.classes) if self.task == "classification" else 0
        return self.options.max_size or max(_MAX_SIZE, n_classes)

    @property
    def max_rows(self) -> int:
        """Most rows that models are fitted to."""
        limit = self.options.max_rows
        return min(limit, _ROWS_IF_FAST) if self.options.fast else limit

    def unit(self, name: Any, role: Literal["group", "time"]) -> Ints:
        """Code of each row with a class, by a column of the table; that of a time is its place."""
        table = columns_of(self._read)
        if name not in table:
            raise missing_column(name, list(table), role)
        present, _, n_rows = self._labelled
        codes = unit_codes(table[name], role, n_rows, present, name)
        if not codes.any():
            raise ValueError(f"{role} {name!r} has one value in all rows: expected two or more")
        return codes


def holds_numbers(source: Any, target: Any, options: Options) -> bool:
    """Whether a target is to be taken as a number: where that is not said, by all of its values."""
    if options.task != "auto":
        return options.task == "regression"
    with open_table(source, target, engine=options.engine, task="auto", types=options.types) as table:
        return table.is_numeric


def with_column(table: Any, values: Any, role: str) -> tuple[dict[Any, Any], str]:
    """Add the target, or a group, to the columns of a table in memory; return the name that it is given."""
    if isinstance(table, (str, Path)):
        raise ValueError(f"{role} must be the name of a column where the table is a file, not an array")
    columns = columns_of(table if isinstance(table, np.ndarray) else read_table(table))
    n_rows, n_labels = len(next(iter(columns.values()), values)), len(values)
    if n_rows != n_labels:
        if isinstance(values, list) and all(isinstance(name, str) and name in columns for name in values):
            raise ValueError(f"{role} {values} must name one column or several, each once")
        raise ValueError(f"the {role} has {n_labels} labels for a table of {n_rows} rows")
    name = str(getattr(values, "name", None) or role)
    while name in columns:
        name += "_"
    return {**columns, name: values}, name


def _as_value(name: str) -> tuple[bool, float, str]:
    """Place of a class among others: numbers by size, texts after them."""
    try:
        return False, float(name), name
    except ValueError:
        return True, 0.0, name
