"""What the sections of a report share: the table, its ranking, and models grown on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample.induction import TreeClassifier
from offsample.ranking import Ranking, rank_features
from offsample.tables import Source, TableEncoder, read_table, take_rows
from offsample.tables._encoder import EncodedColumn

__all__ = ["Options", "Study"]

# Columns are compared with each other on so many rows at most, numeric ones cut into so many bins.
_COMPARED_ROWS = 20_000
_COMPARED_BINS = 16

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Options:
    """What can be asked of a report; the same on the command line and in Python."""

    categorical_features: tuple[Any, ...] = ()
    ignore: tuple[Any, ...] = ()
    positive: Any = None
    max_rows: int = 100_000
    random_state: int = 0
    fast: bool = False
    time_limit: float | None = None
    engine: str | None = None
    score: float | None = None
    n_test: int | None = None
    n_configurations: float = 1
    scores: str | None = None  # where they are: their file


@dataclass(eq=False)
class Study:
    """A table, a target, and what was computed of them so far.

    Everything expensive is computed once, when it is first asked for, and timed under the stage that asked.

    Attributes
    ----------
    source : path, dict of columns, dataframe or relation
    target : name
    options : Options
    on_stage : callable
        Told the name of each stage when it begins.
    """

    source: Any
    target: Any
    options: Options
    on_stage: Callable[[str], None] = lambda _: None
    timings: dict[str, float] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    _started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Tell that a stage begins, and note how long it takes."""
        self.on_stage(name)
        start = time.perf_counter()
        yield
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - start

    def has_time_for(self, what: str) -> bool:
        """Whether the time limit allows for something more; if not, that it was left out is noted."""
        limit = self.options.time_limit
        if limit is None or time.perf_counter() - self._started < limit:
            return True
        self.skipped.append(f"{what}: the time limit of {limit:g} s was reached")
        return False

    @cached_property
    def ranking(self) -> Ranking:
        """All columns, counted on all rows."""
        features = None
        if self.options.ignore:
            names = _names(self.source if isinstance(self.source, Mapping) else self._read)
            for name in self.options.ignore:
                if name not in names:
                    raise ValueError(f"column {name!r} to ignore is not in the table")
            features = [name for name in names if name not in self.options.ignore and name != self.target]
        return rank_features(
            self._whole if self._whole is not None else self.source,
            self.target,
            features=features,
            categorical_features=self.options.categorical_features or "infer",
            engine=None if self._whole is not None else self.options.engine,
        )

    @cached_property
    def _whole(self) -> dict[Any, Any] | None:
        """All columns of a file that is read whole: to count them in memory saves a query for each."""
        n_rows = getattr(self._read, "n_source_rows", None) if isinstance(self.source, (str, Path)) else None
        complete = n_rows is not None and n_rows <= self.options.max_rows
        return dict(self._read) if complete else None

    @cached_property
    def _read(self) -> Any:
        return read_table(
            self.source,
            engine=self.options.engine if isinstance(self.source, (str, Path)) else None,
            max_rows=self.options.max_rows,
            stratify=self.target,
            random_state=self.options.random_state,
        )

    @property
    def origin(self) -> Source | None:
        """The files that were read, and their rows; None for a table that was handed over."""
        return getattr(self._read, "source", None)

    @cached_property
    def _rows(self) -> tuple[dict[Any, Any], NDArray[Any]]:
        table = _columns(self._read)
        encoder = TableEncoder("all")
        labels = next(encoder.fit_transform({self.target: table[self.target]})).values
        values = np.array([str(value) for value in encoder.values[0]], dtype=object)
        present = np.flatnonzero(labels < len(values))
        chosen = {feature.name: table[feature.name] for feature in self.ranking}
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
    def labels(self) -> Codes:
        """Their classes, as codes."""
        return np.unique(self.y, return_inverse=True)[1]

    @cached_property
    def encoded(self) -> dict[Any, EncodedColumn]:
        """Features of the modelled rows as numbers and codes."""
        encoder = TableEncoder([name for name in self.options.categorical_features if name in self.X])
        return {column.name: column for column in encoder.fit_transform(self.X)}

    def cells(self, name: Any) -> tuple[Codes, int]:
        """The cell of each of the first rows, by value or bin, and how many cells there are."""
        if name not in self._cells:
            self._cells[name] = _cells_of(self.encoded[name])
        return self._cells[name]

    @cached_property
    def _cells(self) -> dict[Any, tuple[Codes, int]]:
        return {}

    def columns(self, features: Collection[Any]) -> dict[Any, Any]:
        """Some of the features; one that says nothing where there are none, so that models can be fitted."""
        wanted = frozenset(features)
        chosen = {name: column for name, column in self.X.items() if name in wanted}
        return chosen or {"(no column)": np.zeros(len(self.y))}

    def declared_columns(self, features: Collection[Any]) -> dict[Any, Any]:
        """The same, those declared as categorical as text: for what tells the kinds of columns by itself."""
        columns = self.columns(features)
        declared = [name for name in self.options.categorical_features if name in columns]
        return {**columns, **{name: self.encoded[name].values.astype(str) for name in declared}}

    def learner(self, features: Collection[Any], **parameters: Any) -> TreeClassifier:
        """A tree that is not grown yet."""
        declared = [name for name in self.options.categorical_features if name in features]
        return TreeClassifier(
            categorical_features=declared or "infer", random_state=self.options.random_state, **parameters
        )

    def tree(self, features: Collection[Any], **parameters: Any) -> TreeClassifier:
        """A tree grown on some of the features."""
        return self.learner(features, **parameters).fit(self.columns(features), self.y)

    @property
    def majority_error(self) -> float:
        """Share of the modelled rows that are not of the most frequent class."""
        return float(1 - np.bincount(self.labels).max() / len(self.labels))


def compared_rows(n_rows: int) -> slice:
    """Rows on which columns are compared with each other, spread evenly."""
    return slice(None, None, max(1, -(-n_rows // _COMPARED_ROWS)))


def _cells_of(column: EncodedColumn) -> tuple[Codes, int]:
    values = column.values[compared_rows(len(column.values))]
    if column.kind == "numeric":
        known = np.unique(values[~np.isnan(values)])
        if len(known) > _COMPARED_BINS:
            cuts = np.nanquantile(values, np.linspace(0, 1, _COMPARED_BINS + 1)[1:-1])
            values = np.where(np.isnan(values), np.nan, np.searchsorted(cuts, values, side="left"))
    codes = np.unique(values, return_inverse=True)[1].astype(np.int64)  # all NaN are one value
    return codes, int(codes.max(initial=-1)) + 1


def _columns(table: Any) -> dict[Any, Any]:
    """Columns of a table in memory by name, in the library that holds them."""
    if isinstance(table, Mapping):
        return dict(table)
    if isinstance(table, np.ndarray):
        return {f"x{j}": table[:, j] for j in range(table.shape[1])}
    if nw.dependencies.is_pandas_dataframe(table):  # whose names need not be strings
        return {name: table[name] for name in table.columns}
    frame = nw.from_native(table, eager_only=True)
    return {name: frame[name].to_native() for name in frame.columns}


def _names(table: Any) -> Sequence[Any]:
    return list(_columns(table))
