"""A dataframe in memory on an engine, without the columns that the engine does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from offsample.tables._columns import is_missing, known_type, reason_of

if TYPE_CHECKING:
    from offsample.tables.engines._engine import EngineBase


def hand_over(
    frame: nw.DataFrame[Any], aliases: list[str], engine: EngineBase
) -> tuple[nw.LazyFrame[Any], dict[str, str]]:
    """Lazy frame of the columns that an engine takes, under other names, and what is said of the others."""
    if frame.implementation.is_pandas_like():  # whose names need not be strings
        frame = nw.from_native(frame.to_native().set_axis(aliases, axis=1), eager_only=True)
    else:
        frame = frame.rename(dict(zip(frame.columns, aliases, strict=True)))
    refused: dict[str, str] = {}
    for name, dtype in frame.schema.items():
        try:
            frame = engine.fitted(_with_known_type(frame, name, dtype), name)
        except BaseException as error:
            refused[name] = reason_of(error)
    frame = frame.drop(list(refused))
    try:
        lazy = _on(frame, engine.name)
    except BaseException as error:
        reason_of(error)
        taken = []
        for name in frame.columns:
            try:
                _on(frame.select(name), engine.name)
                taken.append(name)
            except BaseException as odd:
                refused[name] = reason_of(odd)
        lazy = _on(frame.select(taken), engine.name) if taken else frame.lazy()
    said = "cannot be handed to {} ({}): leave engine out to count it in memory, convert it, or leave it out"
    return lazy, {name: said.format(engine.name, why) for name, why in refused.items()}


def _on(frame: nw.DataFrame[Any], engine: str) -> nw.LazyFrame[Any]:
    lazy: nw.LazyFrame[Any] = frame.lazy(engine)  # type: ignore[arg-type]
    lazy.collect_schema()
    return lazy


def _with_known_type(frame: nw.DataFrame[Any], name: str, dtype: nw.dtypes.DType) -> nw.DataFrame[Any]:
    """Frame with a column as a type that engines know, where they would fail or lose some of it."""
    if frame.implementation.is_pyarrow():
        column = known_type(frame[name])
        if str(column.to_native().type).startswith("decimal256"):  # at which polars would panic
            import pyarrow as pa

            fitting = column.to_native().cast(pa.decimal128(38, column.to_native().type.scale))
            column = nw.from_native(fitting, series_only=True)
        frame = frame.with_columns(column.alias(name))
    # DuckDB would make 1 and "1" the same text.
    if dtype == nw.Object and frame.implementation.is_pandas_like():
        types = {type(value) for value in frame[name].to_list() if not is_missing(value)}
        if len(types) > 1 and not types <= {int, float}:
            raise TypeError(f"it mixes {' and '.join(sorted(kind.__name__ for kind in types))}")
    return frame
