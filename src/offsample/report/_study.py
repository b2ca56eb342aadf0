"""What the sections of a report share: the table, its ranking, and models grown on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from offsample import _folds
from offsample._deadline import deadline
from offsample._typing import Booleans, Ints
from offsample.counts import HeldOutCounts
from offsample.induction import TreeClassifier
from offsample.ranking import Ranking, rank_features
from offsample.report._time_limit import TimeLimited
from offsample.report._units import NewRows
from offsample.rows import Order, Repeats, find_repeats, suspect_orders
from offsample.tables import EncodedTable, Source, TableEncoder, open_table, read_table, take_rows
from offsample.tables._base import class_names, missing_column
from offsample.tables._columns import as_column
from offsample.tables._kinds import as_quantities
from offsample.tables._units import coarsest

__all__ = ["Options", "Study"]

# Columns are compared with each other on at most this many rows, numeric ones cut into this many bins.
_COMPARED_ROWS = 20_000
_COMPARED_BINS = 16
_ROWS_IF_FAST = 30_000  # rows that the models of a fast report are fitted to at most
_COUNTED = 2e7  # values that are counted in a second
_TO_COUNT = 0.6  # share of the time that is left which counting may take


@dataclass(frozen=True)
class Options:
    """What can be asked of a report; the same on the command line and in Python."""

    group: tuple[Any, ...] = ()  # names of columns
    time: Any = None
    copies: Literal["auto", "keep"] = "auto"
    categorical_features: tuple[Any, ...] = ()
    ignore: tuple[Any, ...] = ()
    positive: Any = None
    max_rows: int = 100_000
    max_size: int = 12
    random_state: int = 0
    fast: bool = False
    time_limit: float | None = None
    engine: str | None = None
    score: float | None = None
    n_test: int | None = None
    n_configurations: float = 1
    scores: str | None = None  # where they are: their file


@dataclass(eq=False)
class Study(TimeLimited):
    """A table, a target, and what was computed of them so far.

    Everything expensive is computed once, when it is first asked for, and timed under the stage that asked.
    `folds` alone says how rows are split, `wrong` what is measured on them, and `units` what varies.
    """

    source: Any  # path, dict of columns, dataframe or relation
    target: Any  # name of its column
    options: Options
    findings: dict[Any, Any] = field(default_factory=dict)  # about columns, by their names, so far
    of_rows: list[Any] = field(default_factory=list)  # findings about the rows
    model: Any = None  # the recommended one, as soon as it is chosen
    allowed: Sequence[Any] = ()  # the columns that it was chosen among
    choice: Any = None  # how it is fitted again
    error: float = float("nan")  # that it should have on new rows
    _cells: dict[Any, tuple[Ints, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.time_limit = self.options.time_limit

    @property
    def used(self) -> frozenset[Any]:
        """The columns that the recommended model looks at."""
        return frozenset() if self.model is None else frozenset(self.model.used_columns_)

    @cached_property
    def ranking(self) -> Ranking:
        """All columns, counted on all rows."""
        features, units = None, (*self.options.group, self.options.time)
        if self.options.ignore:
            names = list(_columns(self.source if isinstance(self.source, Mapping) else self._read))
            for name in self.options.ignore:
                if name not in names:
                    raise ValueError(f"column {name!r} to ignore is not in the table")
            no_features = {*self.options.ignore, *units, self.target}
            features = [name for name in names if name not in no_features]
        counted = self._whole if self._whole is not None else self.source
        if self._counting_takes_too_long():
            counted = _columns(self._read)
            self.leave_out("columns were counted on the modelled rows, not on all of them")
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
            )

    def _counting_takes_too_long(self) -> bool:
        """Say whether counting all rows of all columns would take more than a third of the time left."""
        if self.seconds_left is None:
            return False
        columns = _columns(self._read)
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
        source, n_rows = self.source, len(getattr(self.source, "index", ()))
        if isinstance(source, Mapping):
            n_rows = len(next(iter(source.values()), ()))
        if self.options.group and n_rows > self.max_rows:
            source = take_rows(source, self._whole_groups(source[self.options.group[0]]))
        return read_table(
            source,
            engine=self.options.engine if isinstance(self.source, (str, Path)) else None,
            max_rows=self.max_rows,
            stratify=self.target,
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
    def _rows(self) -> tuple[dict[Any, Any], NDArray[Any]]:
        table = _columns(self._read)
        encoder = TableEncoder("all")
        labels = next(encoder.fit_transform({self.target: table[self.target]})).values
        values = np.array(class_names(encoder.values[0]), dtype=object)
        present = np.flatnonzero(labels < len(values))
        # In the order of the table: of two columns that do as well a model takes the first.
        ranked = frozenset(feature.name for feature in self.ranking)
        chosen = {name: column for name, column in table.items() if name in ranked}
        if len(present) < len(labels):
            chosen = take_rows(chosen, present)
        return chosen, values[labels[present]].astype(str)

    @property
    def X(self) -> dict[Any, Any]:
        """The features of the rows that models are fitted to."""
        return self._rows[0]

    @property
    def y(self) -> NDArray[Any]:
        """Their classes, as text."""
        return self._rows[1]

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
        wanted = self.options.positive
        if wanted is not None:
            found = np.flatnonzero(self.classes == str(wanted))
            if not len(found):
                listed = ", ".join(map(str, self.classes[:10]))
                raise ValueError(f"positive is {wanted!r}: expected one of the classes {listed}")
            return int(found[0])
        counts = self.class_counts
        return int(counts.argmin() if len(counts) == 2 else counts.argmax())

    @property
    def max_rows(self) -> int:
        """Most rows that models are fitted to."""
        limit = self.options.max_rows
        return min(limit, _ROWS_IF_FAST) if self.options.fast else limit

    @cached_property
    def new_rows(self) -> NewRows:
        """Who the new rows are, as the user says: this decides what is left out together."""
        names, time = self.options.group, self.options.time
        groups = [self._unit(name, "group") for name in names]
        kept = coarsest(groups)
        names = tuple(
            str(name) for name, group in zip(names, groups, strict=True) if any(group is k for k in kept)
        )
        return NewRows(tuple(kept), None if time is None else self._unit(time, "time"), names)

    def _unit(self, name: Any, role: Literal["group", "time"]) -> Ints:
        """Code of each row with a class, by a column of the table; that of a time is its place."""
        table = _columns(self._read)
        if name not in table:
            raise missing_column(name, list(table), role)
        row = "row"
        while row in (name, self.target):
            row += "_"
        unit = {self.target: table[self.target], name: table[name], row: np.arange(len(table[name]))}
        with open_table(unit, self.target, [row], **{role: name}) as opened:
            found = opened.unit_rows(row, as_numbers=True)
        codes = found.groups[0] if found.time is None else found.time
        if not codes.any():
            raise ValueError(f"{role} {name!r} has one value in all rows: expected two or more")
        return codes[np.argsort(found.values)]

    @cached_property
    def varying(self) -> NewRows:
        """What varies independently in the rows, and intervals are made of."""
        return self.new_rows

    def seen_as(self, new_rows: NewRows, varying: NewRows | None = None) -> Self:
        """Return the same study with other rows left out, for a second error of the same learner.

        Unless told what varies, the model stays the same too, and is told the same groups.
        """
        other, known = copy(self), self.told_groups
        for name in ("folds", "tested", "units", "guess_is_wrong", "told_groups"):
            other.__dict__.pop(name, None)
        other.__dict__.update(new_rows=new_rows, varying=varying or new_rows)
        if varying is None:  # the very same model
            other.__dict__["told_groups"] = known
        return other

    @cached_property
    def told_groups(self) -> Ints | None:
        """The groups that learners are told; of several kinds the one with the fewest."""
        return min(self.new_rows.groups, key=lambda group: int(group.max()), default=None)

    @cached_property
    def repeats(self) -> Repeats:
        """Rows that equal an earlier one."""
        return find_repeats(self.encoded, self.labels)

    @cached_property
    def suspected_orders(self) -> list[Order]:
        """Dates, running numbers, or the order of the rows, along which the class changes."""
        if self.options.group:
            return []  # the tests take rows as independent
        dates = [name for name in self.X if is_temporal(self.X[name])]
        return [one for one in suspect_orders(self.encoded, self.labels, dates) if one.is_suspected]

    def places_in(self, order: Order) -> Ints:
        """Place of each row in an order; of those that are missing, the last."""
        values = np.arange(len(self.y)) if order.name is None else self.encoded[order.name]
        return np.unique(values, return_inverse=True)[1]

    def group_copies(self) -> None:
        """Leave copies of a row out together, unless the user says that they are none, or names groups."""
        if self.options.group or self.options.copies == "keep" or not self.repeats.are_copies:
            return
        self.__dict__["new_rows"] = replace(self.new_rows, groups=(self.repeats.group,), are_copies=True)
        ranked = rank_features(
            {**self.X, self.target: self.y},
            self.target,
            categorical_features=self.options.categorical_features or "infer",
            group=self.repeats.group,
            time=self.new_rows.time,
        )
        known = self.ranking
        if known.n_samples > len(self.y):
            self.leave_out("columns were counted on the modelled rows, among which copies were looked for")
        self.__dict__["ranking"] = replace(ranked, n_dropped=known.n_dropped, left_out=known.left_out)

    @cached_property
    def folds(self) -> _folds.Splits:
        """Rows to learn from and rows to test on, the same for every model; none where rows are too few."""
        n_folds = 3 if self.options.fast else 5
        if len(self.y) < n_folds:
            return []
        stratify = bool(self.class_counts.min() >= n_folds)
        return self.new_rows.splits(self.y, n_folds, self.options.random_state, stratify=stratify)

    @cached_property
    def tested(self) -> Ints:
        """The rows that some fold tests on, in their order: all, unless the first have no past."""
        return (
            np.unique(np.concatenate([test for _, test in self.folds]))
            if self.folds
            else np.arange(len(self.y))
        )

    def place(self, rows: Ints) -> Ints:
        """Place of rows among those that are tested."""
        return np.searchsorted(self.tested, rows)

    @cached_property
    def units(self) -> HeldOutCounts | None:
        """What varies independently among the tested rows; None if it is the rows."""
        return self.varying.units(self.tested)

    def sample_of(self, rows: Ints, size: int | None) -> Ints:
        """Draw at most `size` of some rows, each class with its share; None for all."""
        if size is None or len(rows) <= size:
            return rows
        order = np.random.default_rng(self.options.random_state).permutation(len(rows))
        order = order[np.argsort(self.labels[rows[order]], kind="stable")]  # class by class
        return np.sort(rows[order[np.linspace(0, len(rows) - 1, size).astype(np.int64)]])

    @cached_property
    def encoded(self) -> EncodedTable:
        """Features of the modelled rows as numbers and codes, encoded once for all models."""
        return EncodedTable.of(self.X, [name for name in self.options.categorical_features if name in self.X])

    def cells(self, name: Any) -> tuple[Ints, int]:
        """Return the cell of each compared row, by value or bin, and how many cells there are."""
        if name not in self._cells:
            column = self.encoded[name]
            values = column[compared_rows(len(column))]
            if (
                self.encoded.kind(name) == "numeric"
                and len(np.unique(values[~np.isnan(values)])) > _COMPARED_BINS
            ):
                cuts = np.nanquantile(values, np.linspace(0, 1, _COMPARED_BINS + 1)[1:-1])
                values = np.where(np.isnan(values), np.nan, np.searchsorted(cuts, values, side="left"))
            codes = np.unique(values, return_inverse=True)[1].astype(np.int64)  # all NaN are one value
            self._cells[name] = codes, int(codes.max(initial=-1)) + 1
        return self._cells[name]

    def columns(self, features: Collection[Any]) -> EncodedTable:
        """Select features; without any one that says nothing, so that models can be fitted."""
        return self.encoded.select(features) or EncodedTable.of({"(no column)": np.zeros(len(self.y))})

    def tree(self, features: Collection[Any]) -> TreeClassifier:
        """Grow a tree of a size that can be read, on some of the features, as far as time allows."""
        with self.deadline(keep_part=True):
            learner = self.learner.set_params(max_splits=self.options.max_size - 1)
            tree: TreeClassifier = self.fitted(learner, self.columns(features))
            return tree

    def fitted(self, learner: Any, X: Any, rows: Ints | None = None) -> Any:
        """Fit a learner to some rows of a table, and tell it their groups if it takes them."""
        y, groups = self.y, self.told_groups
        if rows is not None:
            X, y, groups = X.take(rows), y[rows], None if groups is None else groups[rows]
        if groups is None or not has_fit_parameter(learner, "groups"):
            return learner.fit(X, y)
        return learner.fit(X, y, groups=groups)

    @property
    def learner(self) -> TreeClassifier:
        """Grows trees whose splits all have two branches, so that values that behave alike share one."""
        return TreeClassifier(categorical_split="ordered", random_state=self.options.random_state)

    def wrong(self, predicted: NDArray[Any], rows: Any = slice(None)) -> Booleans:
        """Say which predictions for these rows, along the last axis, are wrong; errors are their shares."""
        return np.asarray(predicted != self.y[rows])

    @cached_property
    def guess_is_wrong(self) -> Booleans:
        """Tested rows that are not of the most frequent class; of later rows, of that of the rows before."""
        if self.new_rows.time is None or not self.folds:
            return np.asarray(self.labels[self.tested] != self.class_counts.argmax())
        wrong = np.zeros(len(self.tested), bool)
        for train, test in self.folds:
            wrong[self.place(test)] = self.labels[test] != np.bincount(self.labels[train]).argmax()
        return wrong

    @property
    def majority_error(self) -> float:
        """Share of them."""
        return float(self.guess_is_wrong.mean())


def with_column(table: Any, values: Any, role: str) -> tuple[dict[Any, Any], str]:
    """Add the target, or a group, to the columns of a table in memory; return the name that it is given."""
    if isinstance(table, (str, Path)):
        raise ValueError(f"{role} must be the name of a column where the table is a file, not an array")
    columns = _columns(table if isinstance(table, np.ndarray) else read_table(table))
    n_rows, n_labels = len(next(iter(columns.values()), values)), len(values)
    if n_rows != n_labels:
        raise ValueError(f"the {role} has {n_labels} labels for a table of {n_rows} rows")
    name = str(getattr(values, "name", None) or role)
    while name in columns:
        name += "_"
    return {**columns, name: values}, name


def is_temporal(column: Any) -> bool:
    """Whether a column holds dates, times or durations."""
    column = as_quantities(as_column(column)) if isinstance(column, list | tuple) else column
    dtype = getattr(column, "dtype", None)
    words = ("date", "time", "duration")
    return getattr(dtype, "kind", None) in ("M", "m") or any(word in str(dtype).lower() for word in words)


def compared_rows(n_rows: int) -> slice:
    """Return the rows on which columns are compared with each other, spread evenly."""
    return slice(None, None, max(1, -(-n_rows // _COMPARED_ROWS)))


def _columns(table: Any) -> dict[Any, Any]:
    """Return the columns of a table in memory by name, in the library that holds them."""
    if isinstance(table, Mapping):
        return dict(table)
    if isinstance(table, np.ndarray):
        return {f"x{j}": table[:, j] for j in range(table.shape[1])}
    if nw.dependencies.is_pandas_dataframe(table):  # whose names need not be strings
        return {name: table[name] for name in table.columns}
    frame = nw.from_native(table, eager_only=True)
    return {name: frame[name].to_native() for name in frame.columns}
