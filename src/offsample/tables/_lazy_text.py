"""Text on an engine as what it says: ways are found in the first rows, and counted in all of them there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from offsample.tables._base import ColumnError
from offsample.tables._columns import reason_of
from offsample.tables._meaning import (
    AS_IT_IS,
    EPOCH_NAME,
    PLUS,
    RANGE,
    WHOLE,
    ZEROS,
    Found,
    Tally,
    candidates,
    chosen,
    epoch_found,
)
from offsample.tables._source import reaches_out
from offsample.tables._ways import MISSING, NumberWay, Way

if TYPE_CHECKING:
    from offsample.tables.engines._engine import EngineBase

_FIRST_ROWS = 2_000

Frame = nw.LazyFrame[Any]
Dtypes = dict[str, nw.dtypes.DType]


def read_text(
    frame: Frame, dtypes: Dtypes, asked: Mapping[str, tuple[Any, str]], engine: EngineBase
) -> tuple[Frame, Dtypes, dict[str, Found]]:
    """Read columns, which are given with their name and what the user says of them, as what they say.

    Returns the frame, in which moments and durations are microseconds, the types that they stand for, and how
    each was read.
    """
    found = dict[str, Found]()
    for alias, (name, wish) in asked.items():
        try:
            one = _of_column(frame, dtypes.get(alias, nw.Unknown()), alias, name, wish, engine)
        except ColumnError:
            raise
        except BaseException as error:  # which the count itself will report
            reason_of(error)
            if type(error).__name__ == "PermissionException":  # the next time DuckDB says otherwise
                raise ValueError(f"the table with the column {name!r} {reaches_out(error)}") from error
            continue
        if wish and one.way is None and dtypes.get(alias) == nw.String:
            raise ColumnError(f"column {name!r} cannot be read as {wish}")
        found[alias] = one
    ways_by_alias = {alias: one.way for alias, one in found.items() if one.way is not None}
    if ways_by_alias:
        frame = engine.with_read(frame, {alias: (alias, way) for alias, way in ways_by_alias.items()})
    kinds: Any = {"number": nw.Float64(), "moment": nw.Datetime("us"), "duration": nw.Duration("us")}
    return frame, dtypes | {alias: kinds[way.quantity] for alias, way in ways_by_alias.items()}, found


def _of_column(
    frame: Frame, dtype: nw.dtypes.DType, alias: str, name: Any, wish: str, engine: EngineBase
) -> Found:
    if dtype.is_integer():
        return _epoch(frame, alias, name, wish, engine)
    if dtype != nw.String:
        return AS_IT_IS
    rows = engine.fetch_rows(frame.select(alias).head(_FIRST_ROWS))
    sample = [value for (value,) in rows if isinstance(value, str)]
    ways, why = candidates(sample, name, wish)
    return chosen(ways, _tally(frame, alias, ways, engine), sample, wish) if ways else Found(None, why)


def _tally(frame: Frame, alias: str, ways: list[Way], engine: EngineBase) -> Tally:
    """Count the rows that each way reads, and those that look like codes."""
    tried = engine.with_read(frame.select(alias), {f"w{i}": (alias, way) for i, way in enumerate(ways)})
    text = nw.col(alias).str.strip_chars()
    is_word = text.str.to_lowercase().is_in(sorted(MISSING))
    tests = [
        ~is_word & ~nw.col(alias).is_null(),
        is_word & (text != ""),
        *(text.str.contains(p) for p in (ZEROS, PLUS, WHOLE)),
    ]
    for i, way in enumerate(ways):
        number = nw.col(f"w{i}")
        tests.append(
            (number >= RANGE[0]) & (number <= RANGE[1]) if way.quantity == "moment" else ~number.is_null()
        )
    sums = [test.cast(nw.Int64).sum().alias(f"n{i}") for i, test in enumerate(tests)]
    largest = nw.col("w0").abs().max().alias("largest")
    *counts, most = engine.fetch_rows(tried.select(*sums, largest))[0]
    n_texts, n_missing, n_zeros, n_plus, n_whole, *n_read = (int(n or 0) for n in counts)
    largest_number = float(most or 0) if isinstance(ways[0], NumberWay) else 0.0
    return Tally(n_texts, n_read, n_zeros, n_plus, n_whole, n_missing, largest_number)


def _epoch(frame: Frame, alias: str, name: Any, wish: str, engine: EngineBase) -> Found:
    """Whether whole numbers are seconds since 1970."""
    kind = wish.partition(":")[0]
    if kind != "date" and (kind or not EPOCH_NAME.search(str(name).lower())):
        return AS_IT_IS
    ends = frame.select(nw.col(alias).min().alias("low"), nw.col(alias).max().alias("high"))
    return epoch_found(np.array(engine.fetch_rows(ends)[0], float), name, wish)
