"""What an engine is asked for, and how it is done where the engine has no way of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import narwhals as nw
import numpy as np

from offsample._typing import Ints
from offsample.tables._columns import known_type, reason_of
from offsample.tables._kinds import is_missing
from offsample.tables._lazy import LazyTable
from offsample.tables._ways import Way
from offsample.tables.engines._files import Read, Reading

Frame = nw.LazyFrame[Any]
Dtypes = dict[str, nw.dtypes.DType]
Dated = tuple[Frame, Dtypes, Collection[str]]


class EngineBase:
    """An engine, by what works on all that narwhals knows; each has its own way for some of it."""

    package = install = ""  # what is imported, and what pip installs to bring it
    takes_frames = False  # whether it counts dataframes in memory
    runs_queries = False  # whether it reads databases and queries
    has_windows = True  # whether narwhals has cumulative sums there
    table = LazyTable
    # Errors about types, by name, also of what others compute with: an engine not in use is not imported.
    type_errors = frozenset({
        "ArrowNotImplementedError", "ArrowInvalid", "NotImplementedError", "NotImplementedException",
        "ConversionException", "BinderException", "InvalidOperationError", "ComputeError", "SchemaError",
        "PanicException", "AnalysisException", "OverflowError", "NarwhalsError",
    })  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name

    def rename(self, frame: Frame, aliases: list[str]) -> Frame:
        """Rename the columns by position; raise where the engine may take one name for another."""
        if len({name.casefold() for name in frame.collect_schema().names()}) < len(aliases):
            said = f"some names of columns differ by case only, and {self.name} may take one for the other"
            raise ValueError(f"{said}: rename")
        return rename_exactly(frame, aliases)

    def with_dates(self, frame: Frame, dtypes: Dtypes, target: str) -> Dated:  # noqa: ARG002
        """Add dates as numbers, in columns called `microseconds`, where narwhals has no expression for it.

        Returns the frame, the types of its columns, and the columns that have such a number beside them.
        """
        return frame, dtypes, ()

    def with_read(self, frame: Frame, ways: Mapping[str, tuple[str, Way]]) -> Frame:
        """Add columns of what the text of others says, read in a way."""
        for name, (text, way) in ways.items():
            frame = way.on_engine(frame, text, name)
        return frame

    def native_types(self, frame: Frame) -> dict[str, str]:  # noqa: ARG002
        """What the engine calls the types that narwhals does not know."""
        return {}

    def fitted(self, frame: nw.DataFrame[Any], name: str) -> nw.DataFrame[Any]:  # noqa: ARG002
        """Dataframe with a column as a type that the engine takes whole; raise where there is none."""
        return frame

    def take(self, frame: nw.DataFrame[Any], aliases: list[str]) -> tuple[Frame, dict[str, str]]:
        """Lazy frame of the columns of a dataframe, renamed, and what is said of those that are not taken."""
        if frame.implementation.is_pandas_like():  # whose names need not be strings
            frame = nw.from_native(frame.to_native().set_axis(aliases, axis=1), eager_only=True)
        else:
            frame = frame.rename(dict(zip(frame.columns, aliases, strict=True)))
        refused: dict[str, str] = {}
        for name, dtype in frame.schema.items():
            try:
                frame = self.fitted(_with_known_type(frame, name, dtype), name)
                self._hold(frame.select(name))
            except BaseException as error:
                refused[name] = reason_of(error)
        frame = frame.drop(list(refused))
        lazy = self._hold(frame) if frame.columns else frame.lazy()
        advice = "leave engine out to count it in memory, convert it, or leave it out"
        return lazy, {n: f"cannot be handed to {self.name} ({why}): {advice}" for n, why in refused.items()}

    def _hold(self, frame: nw.DataFrame[Any]) -> Frame:
        return checked(frame.lazy(self.name))  # type: ignore[arg-type]

    def parquet(self, files: list[str]) -> Any:
        """Parquet files as the engine holds them; one that only takes tables, as ibis, is never asked."""
        raise NotImplementedError(f"{self.name} reads no files")

    def csv(self, files: list[str]) -> Read | None:  # noqa: ARG002
        """Lazy frame of text, and the names in its header; None where that is left to DuckDB."""
        return None

    def scan(self, reading: Reading) -> Read:
        """Lazy frame of files, and the names of the columns where the engine has changed them."""
        try:
            read = self.csv(reading.files) if reading.is_csv else (checked(self.parquet(reading.files)), None)
        except (OSError, ImportError, MemoryError):
            raise
        except BaseException as error:
            raise ValueError(f"{reason_of(error)} (by {self.name}; DuckDB reads more)") from error
        return read or self.scan_parsed(reading)

    def scan_parsed(self, reading: Reading) -> Read:
        """Lazy frame of what DuckDB has read, and the names of its columns."""
        files, names = reading.as_parquet()
        return checked(self.parquet(files)), names

    def fetch_rows(self, frame: Frame) -> list[tuple[Any, ...]]:
        """Result of a query as native Python values."""
        return frame.collect().rows()

    def fetch_integers(self, frame: Frame) -> Ints:
        """Result of a query as a matrix of integers."""
        return np.asarray(frame.collect().to_numpy()).astype(np.int64, copy=False)

    def fetch_columns(self, frame: Frame) -> list[Any]:
        """Result of a query as columns in memory, arrays or narwhals Series."""
        return [known_type(column) for column in frame.collect().iter_columns()]

    def collect(self, frame: Frame, max_rows: int | None, stratify: int | None, random_state: int) -> Any:  # noqa: ARG002
        """Dataframe of all rows; or how many there are, and arrays of the sample that `read_table` wants."""
        return frame.collect()


ENGINE = EngineBase


def rename_exactly(frame: Frame, aliases: list[str]) -> Frame:
    """Rename the columns on an engine that tells names apart by case."""
    return frame.rename(dict(zip(frame.collect_schema().names(), aliases, strict=True)))


def checked(native: Any) -> Frame:
    """Lazy frame; what an engine cannot read, such as a damaged file, fails here, not in the first count."""
    frame: Frame = nw.from_native(native)
    frame.collect_schema()
    return frame


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
