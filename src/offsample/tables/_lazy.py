"""Tables that an engine counts: one implementation through narwhals, for every engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from offsample._typing import Ints
from offsample.tables._base import (
    MAX_CLASSES,
    Bins,
    ColumnError,
    Kind,
    Profile,
    Table,
    Wanted,
    check_classes,
    check_names,
    collapse,
    missing_column,
)
from offsample.tables._calendar import lazy_parts, part_names
from offsample.tables._columns import not_hashable, reason_of
from offsample.tables._encode import sort_labels
from offsample.tables._kinds import EXACT, WIDE, kind_of
from offsample.tables._lanes import lane_exprs, pack, unpack
from offsample.tables._lazy_moments import center_of, moment_bins, moment_profile
from offsample.tables._lazy_text import read_text
from offsample.tables._lazy_units import UnitReader
from offsample.tables._source import reaches_out
from offsample.tables._targets import Task
from offsample.tables._units import UnitRows
from offsample.tables.engines import ENGINES, holder_of, load, require

if TYPE_CHECKING:
    from offsample.tables.engines._engine import EngineBase

# Above this many classes it is cheaper to group by value and class before one column per class.
_MAX_DIRECT_CLASSES = 10
# Columns whose extremes are asked for in one query.
_AT_ONCE = 200
# Errors of DuckDB about what it finds in a file, by name.
_OF_A_FILE = {"Error", "InvalidInputException", "SerializationException"}
_SAME_IN_PYTHON = (nw.String, nw.Boolean, nw.Categorical, nw.Enum)


def microseconds(alias: str) -> str:
    """Name of the column that an engine adds for the dates of another."""
    return f"{alias}_us"


class Held(NamedTuple):
    """A column of an engine's frame."""

    alias: str  # its name there
    dtype: nw.dtypes.DType
    number: str | None = None  # the column that holds its values as numbers, where there is one
    refused: str | None = None  # what is said of one that cannot be counted, such as one of lists


class LazyTable(Table):
    """A table that stays in its engine; only profiles come back.

    The columns of `frame` have safe, different names; `held` says which is which.
    """

    def __init__(
        self,
        frame: nw.LazyFrame[Any],
        held: dict[Any, Held],
        features: Sequence[Any],
        categorical: frozenset[Any] | None,
        target: Any,
        engine: EngineBase,
        task: Task = "classification",
    ) -> None:
        super().__init__(features, categorical)
        self._frame, self._held, self._target, self._engine = frame, held, target, engine
        self.fetch_columns, self.fetch_rows = engine.fetch_columns, engine.fetch_rows
        self.has_windows = engine.has_windows
        self._require_scalar("target", self._target)
        if (numeric := center_of(self, target, held[target].dtype, task)) is not None:
            self.classes, ((self.center, self.scale), n_rows) = (), numeric
            self.class_totals = np.array([n_rows], np.int64)
            return
        with self.engine_errors("target", self._target):
            found = self._count_labels()
        self.n_dropped = next((int(total) for label, total in found if label is None), 0)
        labels = [label for label, _ in found if label is not None]
        n_rows = sum(int(total) for _, total in found) - self.n_dropped
        with self.engine_errors("target", self._target):
            self._check_labels(labels, n_rows)
        check_classes(labels, repr(self._target), n_rows, self.n_dropped)
        self.classes, totals = tuple(sort_labels(labels)), dict(found)
        self.class_totals = np.array([int(totals[label]) for label in self.classes], np.int64)
        self._places = pack(self.class_totals)

    def _count_labels(self) -> list[tuple[Any, ...]]:
        labels = self._frame.select(self._label_expr()).group_by("y").agg(nw.len().alias("n"))
        # More labels than are allowed need not all travel.
        return self._engine.fetch_rows(labels.select("y", "n").head(MAX_CLASSES + 2))

    def _check_labels(self, labels: list[Any], n_rows: int) -> None:
        """Raise where a label is not equal to the value that it was read from: it would have no rows."""
        dtype = self._held[self._target].dtype
        if dtype.is_numeric() or dtype in _SAME_IN_PYTHON or len(labels) > MAX_CLASSES:
            return
        found = [nw.col("y") == label for label in labels]
        equal = self._frame.select(self._label_expr()).filter(~nw.col("y").is_null())
        is_lost = len(set(labels)) < len(labels)
        if not is_lost and labels:
            matched = equal.select(nw.any_horizontal(*found, ignore_nulls=True).cast(nw.Int64).sum())
            is_lost = int(self._engine.fetch_rows(matched)[0][0]) < n_rows
        if is_lost:
            raise ColumnError(
                f"target {self._target!r} holds values that Python has not, such as times finer than a "
                "microsecond or dates beyond the year 9999: convert it, for example to strings"
            )

    def _natural_kind(self, name: Any) -> Kind:
        return kind_of(self._held[name].dtype, merged=name in self._merged)

    @cached_property
    def _merged(self) -> frozenset[Any]:
        """Features with numbers of which float64 takes two for one."""
        if self._categorical is None:
            return frozenset()
        undeclared = {name: self._held[name] for name in self.features if name not in self._categorical}
        wide = [name for name, held in undeclared.items() if held.dtype in WIDE and not held.refused]
        beyond = [name for name in wide if undeclared[name].dtype == nw.Decimal]
        whole = [name for name in wide if undeclared[name].dtype != nw.Decimal]
        for start in range(0, len(whole), _AT_ONCE):
            beyond += self._beyond_exact(whole[start : start + _AT_ONCE])
        return frozenset(name for name in beyond if self._is_merged(name))

    def _beyond_exact(self, names: list[Any]) -> list[Any]:
        """Those of some columns of whole numbers that reach 2**53, as which float64 reads the next too."""
        columns = [nw.col(self._held[name].alias) for name in names]
        extremes = [column.min().alias(f"low{i}") for i, column in enumerate(columns)]
        extremes += [column.max().alias(f"high{i}") for i, column in enumerate(columns)]
        found = self._ask_for_numbers(self._frame.select(*extremes))
        if found is None:
            return names
        largest = np.abs(found).reshape(2, -1).max(axis=0)
        return [name for name, size in zip(names, largest, strict=True) if size >= EXACT]

    def _is_merged(self, name: Any) -> bool:
        value = self._value_expr(name)
        both = self._frame.select(value.alias("v"), value.cast(nw.Float64).alias("number"))
        counts = [nw.col(column).n_unique().alias(column) for column in ("v", "number")]
        found = self._ask_for_numbers(both.filter(~nw.col("v").is_null()).select(*counts))
        return found is not None and found[0] > found[1]

    def _ask_for_numbers(self, row: nw.LazyFrame[Any]) -> list[float] | None:
        """The one row of a query; None where the engine fails, which the count itself will report."""
        try:
            return [float(number or 0) for number in self._engine.fetch_rows(row)[0]]
        except BaseException as error:
            reason_of(error)
            return None

    def _value_counts(self, name: Any) -> Profile:
        self._require_scalar("column", name)
        with self.engine_errors("column", name):
            return self._profile(name)

    def _profile(self, name: Any) -> Profile:
        rows = self.labelled([name])
        if self.is_numeric:
            return moment_profile(self, rows)
        indicators: list[nw.Expr] = [(nw.col("y") == label).cast(nw.Int64) for label in self.classes]
        if len(self.classes) > _MAX_DIRECT_CLASSES:
            rows = rows.group_by("v0", "y").agg(nw.len().alias("n")).with_columns(nw.col("n").cast(nw.Int64))
            indicators = [nw.col("n") * indicator for indicator in indicators]
        lanes = lane_exprs(indicators, self._places)
        names = [f"lane{j}" for j in range(len(lanes))]
        values = rows.select("v0", *lanes).group_by("v0").agg(*[nw.col(lane).sum() for lane in names])
        vectors = values.select(
            *[nw.col(lane).cast(nw.Int64) for lane in names],  # DuckDB's sums are wider
            nw.col("v0").is_null().cast(nw.Int64).alias("missing"),
        )
        profile = vectors.group_by(*names).agg(nw.len().alias("n"), nw.col("missing").max())
        table = self._engine.fetch_integers(profile.select(*names, "n", "missing"))
        counts = unpack(table[:, :-2], self._places, self.class_totals)
        n_missing = int(counts[table[:, -1] > 0].sum())
        return Profile(collapse(counts, table[:, -2]), n_missing)

    def _binned_counts(self, name: Any, max_bins: int) -> Bins:
        with self.engine_errors("column", name):
            rows = self.labelled([name], as_numbers=True)
            present = rows.filter(~nw.col("v0").is_null())
            size = present.select(nw.col("v0").n_unique().alias("distinct"), nw.col("v0").count().alias("n"))
            n_values, n_present = (int(number or 0) for number in self._engine.fetch_rows(size)[0])
            if n_values <= max_bins:
                binned = rows.with_columns(nw.col("v0").alias("bin"))
            else:
                binned = self._quantile_bins(rows, max_bins, n_present)
            if self.is_numeric:
                return moment_bins(self, binned, n_values, max_bins)
            groups = binned.group_by("bin", "y").agg(nw.len().alias("n"), nw.col("v0").max().alias("edge"))
            found = self._engine.fetch_rows(groups.select("bin", "y", "n", "edge"))
        return self._as_bins(found, n_values, max_bins)

    def _quantile_bins(self, rows: nw.LazyFrame[Any], max_bins: int, n_present: int) -> nw.LazyFrame[Any]:
        """Rows with their bin; null where the value is missing."""
        below = nw.col("v0").rank("min").cast(nw.Int64) - 1
        # One integer per row: where the value is null its rank must not be used on any engine.
        bins = nw.when(~nw.col("v0").is_null()).then(below * max_bins // n_present)
        return rows.with_columns(bins.alias("bin"))

    def _as_bins(self, found: list[tuple[Any, ...]], n_values: int, max_bins: int) -> Bins:
        code = {label: k for k, label in enumerate(self.classes)}
        missing = np.zeros(len(code), np.int64)
        counts: dict[Any, Ints] = {}
        edges: dict[Any, float] = {}
        for bin_, label, times, edge in found:
            if bin_ is None:
                missing[code[label]] += int(times)
                continue
            counts.setdefault(bin_, np.zeros(len(code), np.int64))[code[label]] += int(times)
            edges[bin_] = max(edges.get(bin_, -np.inf), float(edge))
        order = sorted(counts)
        table = np.array([counts[b] for b in order], np.int64).reshape(-1, len(code))
        return Bins(table, missing, np.array([edges[b] for b in order[:-1]]), n_values, n_values <= max_bins)

    def _unit_rows(self, name: Any, as_numbers: bool) -> UnitRows:
        return self._unit_reader.rows(name, as_numbers)

    def n_distinct(self, names: Sequence[Any]) -> tuple[int, int]:
        """Count the distinct rows by grouping by all columns, and those again without their class."""
        names = [*names, *self.units.names]
        by, n = [f"v{i}" for i in range(len(names))], nw.col("n")
        with self.engine_errors("columns", names):
            distinct = self.labelled(names).group_by("y", *by).agg(nw.len().alias("n"))
            different = distinct.select(*by, "n").group_by(*by).agg(n.count())
            found = self.fetch_rows(different.select(n.sum().alias("rows"), n.count().alias("different")))
        return int(found[0][0] or 0), int(found[0][1])

    @cached_property
    def _unit_reader(self) -> UnitReader:
        return UnitReader(self)

    def of_the_same_kind(self, name: Any) -> list[Any]:
        """Features after this one that are read alike."""
        if name is None:
            return []
        later = self.features[self.features.index(name) + 1 :]
        kind = self.kind(name)
        return [other for other in later if not self._held[other].refused and self.kind(other) == kind]

    def labelled(
        self, names: list[Any], units: Sequence[Any] = (), *, as_numbers: bool = False
    ) -> nw.LazyFrame[Any]:
        """Label ("y"), columns ("v0", …) and units ("u0", …) of the rows that have a label."""
        read = self._number_expr if as_numbers else self._value_expr
        values = [nw.lit(0) if name is None else read(name) for name in names]
        columns = [value.alias(f"v{i}") for i, value in enumerate(values)]
        for i, unit in enumerate(units):  # DuckDB hands out moments in a zone with pytz only
            in_zone = getattr(self._held[unit].dtype, "time_zone", None)
            columns.append((self._number_expr(unit) if in_zone else self._value_expr(unit)).alias(f"u{i}"))
        return self._frame.select(self._label_expr(), *columns).filter(~nw.col("y").is_null())

    def number_column(self, name: Any) -> nw.LazyFrame[Any]:
        """A column as numbers, "y", of all rows; null where it is missing."""
        return self._frame.select(self._number_expr(name).alias("y"))

    def _label_expr(self) -> nw.Expr:
        if hasattr(self, "classes") and self.is_numeric:
            return ((self._number_expr(self._target) - self.center) / self.scale).alias("y")
        label = self._value_expr(self._target)
        if self._held[self._target].dtype in (nw.Categorical, nw.Enum):
            label = label.cast(nw.String)  # comparing with a label must not depend on the categories
        return label.alias("y")

    def _value_expr(self, name: Any, *, wide: bool = False) -> nw.Expr:
        column = nw.col(self._held[name].alias)
        if wide and self._held[name].dtype.is_float():  # before ibis takes a sum for a double
            column = column.cast(nw.Float64)
        if self._held[name].dtype.is_float():  # NaN is missing and -0.0 is 0.0
            column = (column + 0.0).fill_nan(None)
        return column

    def _number_expr(self, name: Any) -> nw.Expr:
        _, dtype, number, _ = self._held[name]
        value = self._value_expr(name, wide=True)
        if number is not None:
            value = nw.col(number)
        elif dtype == nw.Duration:
            value = value.dt.total_microseconds()
        elif dtype.is_temporal():
            value = value.dt.timestamp("us")
        return value.cast(nw.Float64)

    def _require_scalar(self, role: str, name: Any) -> None:
        if refused := self._held[name].refused:
            raise ColumnError(f"{role} {name!r} {refused}")

    @contextmanager
    def engine_errors(self, role: str, name: Any) -> Iterator[None]:
        try:
            yield
        except ColumnError:
            raise
        except BaseException as error:
            reason = reason_of(error)
            if type(error).__name__ == "PermissionException":
                raise ValueError(f"the table with the {role} {name!r} {reaches_out(error)}") from error
            if reason.startswith("parquet: ") or "Failed to read file" in reason:  # polars, DuckDB
                raise ValueError(f"the rows of {role} {name!r} cannot be read: {reason}") from error
            if self.files and type(error).__name__ in _OF_A_FILE:
                said = f"{role} {name!r} cannot be read, the file seems damaged: {reason}"
                raise ValueError(said) from error
            # What the engine cannot do with a type says nothing against the other columns.
            is_of_a_type = isinstance(error, TypeError) or type(error).__name__ in self._engine.type_errors
            failure = ColumnError if is_of_a_type else RuntimeError
            raise failure(f"{self._engine.name} failed while counting {role} {name!r}: {reason}") from error


def open_frame(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any],
    wanted: Wanted,
    engine: str | None,
    names: Sequence[Any] | None = None,
) -> Table:
    """Open a frame on an engine; names are given where it has changed them, as DuckDB "A" beside "a"."""
    target = wanted.target
    holder = None if isinstance(frame, nw.DataFrame) else holder_of(frame)
    own = "memory" if holder is None else holder.name
    takers = [name for name in ENGINES if holder is None and load(name).takes_frames]
    if engine is not None and engine not in (own, *takers):
        advice = f"engines {' and '.join(takers)} take it" if holder is None else "leave engine out"
        raise ValueError(f"engine={engine!r} cannot count a table that is held by {own}: {advice}")
    names = list(frame.collect_schema().names() if names is None else names)
    check_names(names)
    if hasattr(target, "__len__") and not isinstance(target, (str, tuple)):
        raise ValueError(f"target must be the name of a column for a table on {engine or own}, got an array")
    if target not in names:
        raise missing_column(target, names, "target")
    if len(wanted.units.names) < len(wanted.units.groups) + (wanted.units.time is not None):
        raise ValueError(f"group and time must be names of columns on {engine or own}, got an array")
    aliases, refused = {name: f"c{i}" for i, name in enumerate(names)}, dict[str, str]()
    if isinstance(frame, nw.DataFrame):
        counter = require(engine or own)
        lazy, refused = counter.take(frame, list(aliases.values()))
        if (alias := aliases[target]) in refused:
            raise ColumnError(f"target {target!r} {refused[alias]}")
    else:
        counter = holder_of(frame)
        lazy = counter.rename(frame, list(aliases.values()))
    dtypes = dict(lazy.collect_schema())
    lazy, dtypes, dated = counter.with_dates(lazy, dtypes, aliases[target])
    is_known = all(dtype != nw.Unknown for dtype in dtypes.values())  # or else narwhals says no more
    refused |= _nested(dtypes, {} if is_known else counter.native_types(lazy))
    asked = {aliases[name]: (name, wish) for name, wish in wanted.read_as(names).items()}
    lazy, read_dtypes, found = read_text(lazy, dtypes, asked, counter)
    read = {alias: alias for alias, dtype in read_dtypes.items() if dtype != dtypes.get(alias)}
    dated, dtypes = {alias: microseconds(alias) for alias in dated} | read, read_dtypes
    is_date = dtypes.get(aliases.get(time := wanted.units.time, "")) in (nw.Date, nw.Datetime)
    if is_date and (wanted.features is None or not set(wanted.features).issubset(names)):
        alias = aliases[time]
        moment = nw.col(dated[alias]) if alias in dated else nw.col(alias).dt.timestamp("us")
        lazy, parts = lazy_parts(lazy, moment, alias, counter.fetch_rows)
        called, dtypes = part_names(time, aliases), dtypes | dict.fromkeys(parts.values(), nw.Int64())
        aliases |= {called[part]: alias for part, alias in parts.items()}
    chosen, declared = wanted.choose(names, list(aliases)[len(names) :])
    held = {}
    for name, alias in aliases.items():
        held[name] = Held(alias, dtypes.get(alias, nw.Unknown()), dated.get(alias), refused.get(alias))
    table = counter.table(lazy, held, chosen, declared, target, counter, wanted.task)
    table.units, table.found = wanted.units, {asked[alias][0]: one for alias, one in found.items()}
    return table


def _nested(dtypes: dict[str, nw.dtypes.DType], native: dict[str, str]) -> dict[str, str]:
    """What is said of the columns whose values are no categories, though some engines would group by them."""
    found = {}
    for alias, dtype in dtypes.items():
        kind = native.get(alias, str(dtype))
        if dtype.is_nested() or dtype == nw.Object or kind.upper().startswith(("MAP", "UNION", "VARIANT")):
            found[alias] = not_hashable(kind)
    return found
