"""Lazy frames of every engine, with columns renamed by position before anything refers to them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw

from offsample.tables._base import ColumnError, Table, choose_features, missing_column
from offsample.tables._columns import not_hashable
from offsample.tables._handover import hand_over
from offsample.tables._lazy import LazyTable

# What brings a package; DuckDB comes with offsample unless somebody removed it.
_SOURCES = {
    "duckdb": "duckdb",
    "polars": "'offsample[polars]'",
    "dask": "'offsample[dask]'",
    "pyspark": "'offsample[spark]'",
}
# Engines that tell names apart by case, or whose columns are renamed by position before anything is read.
_BY_POSITION = ("memory", "polars", "dask", "duckdb", "spark")


def require(package: str) -> None:
    """Raise a sentence that names the extra unless a package is installed."""
    if find_spec(package) is None:
        raise ImportError(f"{package} is not installed: pip install {_SOURCES[package]}")


def open_frame(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any],
    target: Any,
    features: Sequence[Any] | None,
    categorical: Collection[Any] | str,
    engine: str | None,
    names: Sequence[Any] | None = None,
) -> Table:
    """Open a frame on an engine.

    Parameters
    ----------
    frame : narwhals DataFrame or LazyFrame
    target, features, categorical, engine
        As in `open_table`.
    names : sequence, optional
        Names of the columns where the engine has changed them (DuckDB makes "A_1" of "A" beside "a").
    """
    own = "memory" if isinstance(frame, nw.DataFrame) else engine_of(frame)
    if engine is not None and engine != own and not (own == "memory" and engine in ("duckdb", "polars")):
        advice = "engines duckdb and polars take it" if own == "memory" else "leave engine out"
        raise ValueError(f"engine={engine!r} cannot count a table that is held by {own}: {advice}")
    names = list(_native_names(frame)) if names is None else list(names)
    if hasattr(target, "__len__") and not isinstance(target, (str, tuple)):
        raise ValueError(f"target must be the name of a column for a table on {engine or own}, got an array")
    if target not in names:
        raise missing_column(target, names, "target")
    chosen, declared = choose_features(names, target, features, categorical)
    if own not in _BY_POSITION and len({str(name).casefold() for name in names}) < len(names):
        raise ValueError(
            f"some names of columns differ by case only, and {own} may take one for the other: rename"
        )
    aliases = [f"c{i}" for i in range(len(names))]
    sources, refused = dict(zip(names, aliases, strict=True)), dict[str, str]()
    if isinstance(frame, nw.DataFrame):
        assert engine is not None
        require(engine)
        own, (lazy, refused) = engine, hand_over(_rename_eager(frame, aliases), engine)
        if (alias := sources[target]) in refused:
            raise ColumnError(f"target {target!r} {refused[alias]}")
    else:
        lazy = _rename(frame, aliases)
    schema = lazy.collect_schema()
    dtypes = {name: schema.get(alias, nw.Unknown()) for name, alias in sources.items()}
    if own == "duckdb" and getattr(dtypes[target], "time_zone", None):  # which it hands out with pytz only
        moment = f"* REPLACE (make_timestamp(epoch_us({sources[target]})) AS {sources[target]})"
        lazy, dtypes[target] = _lazy_frame(lazy.to_native().project(moment)), nw.Datetime("us")
    numbers: dict[Any, str] = {}
    if own in ("duckdb", "spark", "ibis"):
        lazy, numbers = _add_microseconds(lazy, own, sources, dtypes)
    unreadable = _nested(lazy, sources, dtypes)
    unreadable |= {name: refused[alias] for name, alias in sources.items() if alias in refused}
    arguments = (lazy, sources, numbers, dtypes, unreadable, chosen, declared, target, own)
    if own == "dask":
        from offsample.tables._dask import DaskTable

        return DaskTable(*arguments)
    if own == "spark":
        from offsample.tables._spark import SparkTable

        return SparkTable(*arguments)
    return LazyTable(*arguments)


def engine_of(frame: nw.LazyFrame[Any]) -> str:
    """Name of the engine that holds a frame."""
    implementation = frame.implementation
    if implementation.is_pyspark() or implementation.is_pyspark_connect():
        return "spark"
    return str(implementation.name).lower()


def _native_names(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> list[Any]:
    if isinstance(frame, nw.DataFrame):
        return list(frame.columns)
    return list(frame.collect_schema().names())


def _rename_eager(frame: nw.DataFrame[Any], aliases: list[str]) -> nw.DataFrame[Any]:
    if frame.implementation.is_pandas_like():  # whose names need not be strings
        return nw.from_native(frame.to_native().set_axis(aliases, axis=1), eager_only=True)
    return frame.rename(dict(zip(frame.columns, aliases, strict=True)))


def _rename(frame: nw.LazyFrame[Any], aliases: list[str]) -> nw.LazyFrame[Any]:
    """Rename by position: to DuckDB and Spark "a" and "A" are the same name, silently."""
    if frame.implementation.is_duckdb():
        columns = ", ".join(f"#{i + 1} AS {name}" for i, name in enumerate(aliases))
        return _lazy_frame(frame.to_native().project(columns))
    if engine_of(frame) == "spark":
        return _lazy_frame(frame.to_native().toDF(*aliases))
    return frame.rename(dict(zip(frame.collect_schema().names(), aliases, strict=True)))


def _lazy_frame(native: Any) -> nw.LazyFrame[Any]:
    frame: nw.LazyFrame[Any] = nw.from_native(native)
    return frame


def _nested(
    frame: nw.LazyFrame[Any], sources: dict[Any, str], dtypes: dict[Any, nw.dtypes.DType]
) -> dict[Any, str]:
    """What is said of the columns whose values are no categories, though some engines would group by them."""
    kinds: dict[str, Any] = {}
    if any(dtype == nw.Unknown for dtype in dtypes.values()):  # of which narwhals says no more
        native = frame.to_native()
        if frame.implementation.is_duckdb():
            kinds = dict(zip(native.columns, native.types, strict=True))
        elif frame.implementation.is_polars():
            kinds = dict(native.collect_schema())
    found = {}
    for name, alias in sources.items():
        kind = str(kinds.get(alias, dtypes[name]))
        is_nested = dtypes[name].is_nested() or dtypes[name] == nw.Object
        if is_nested or kind.upper().startswith(("MAP", "UNION", "VARIANT")):
            found[name] = not_hashable(kind)
    return found


def _add_microseconds(
    frame: nw.LazyFrame[Any], engine: str, sources: dict[Any, str], dtypes: dict[Any, nw.dtypes.DType]
) -> tuple[nw.LazyFrame[Any], dict[Any, str]]:
    """Add dates as numbers, in columns of their own, where narwhals has no expression for that."""
    native, numbers = frame.to_native(), {}
    added: dict[str, Any] = {}
    for name, alias in sources.items():
        dtype, number = dtypes[name], f"{alias}_us"
        if engine == "duckdb" and dtype.is_temporal() and dtype != nw.Time:
            moment = (
                f"TRY_CAST({alias} AS TIMESTAMP)" if dtype == nw.Date else alias
            )  # or else it may be too far
            added[number] = f"epoch_us({moment}) AS {number}"
        elif engine == "ibis" and dtype in (nw.Date, nw.Datetime):
            moment = native[alias].cast("timestamp")
            seconds = moment.truncate("s").epoch_seconds()  # which would round
            added[number] = seconds.cast("int64") * 1_000_000 + moment.microsecond()
        elif engine == "spark" and dtype == nw.Date:
            added[number] = f"unix_date({alias}) * 86400000000 AS {number}"
        elif engine == "spark" and dtype == nw.Datetime:
            added[number] = f"unix_micros(cast({alias} AS timestamp)) AS {number}"
        else:
            continue
        numbers[name] = number
    if not added:
        return frame, numbers
    if engine == "duckdb":
        return _lazy_frame(native.project(", ".join(["*", *added.values()]))), numbers
    if engine == "ibis":
        return _lazy_frame(native.mutate(**added)), numbers
    return _lazy_frame(native.selectExpr("*", *added.values())), numbers
