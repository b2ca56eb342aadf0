"""DuckDB: reads every path unless another engine is asked for, and needs neither pandas nor pyarrow."""

from __future__ import annotations

from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample._typing import Ints
from offsample.tables._columns import as_column, reason_of
from offsample.tables._databases import NUMPY_TYPES
from offsample.tables._encode import Unreadable, plain
from offsample.tables._kinds import EXACT
from offsample.tables._lazy import microseconds
from offsample.tables._source import TablePath, reading_rows
from offsample.tables.engines._engine import Dated, Dtypes, EngineBase, Frame
from offsample.tables.engines._files import Read, Reading

# A query for each column takes longer than to read so little.
_FEW_CELLS = 20_000_000
_FEW_ROWS = 100_000
_MANY_COLUMNS = 1000
_AS_IT_IS = NUMPY_TYPES | {"TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "INTERVAL"}
_AS_IT_IS |= {"TIMESTAMP WITH TIME ZONE"}
# Types that numpy has not, by the start of their names, and the type of Python that has them all.
_WIDE = {"HUGEINT": int, "UHUGEINT": int, "DECIMAL": Decimal}


class _DuckDB(EngineBase):
    package = "duckdb"
    install = "duckdb"  # it comes with offsample unless somebody removed it
    takes_frames = runs_queries = True

    def rename(self, frame: Frame, aliases: list[str]) -> Frame:
        columns = ", ".join(f"#{i + 1} AS {alias}" for i, alias in enumerate(aliases))
        renamed: Frame = nw.from_native(frame.to_native().project(columns))  # "a" and "A" are one name to it
        return renamed

    def with_dates(self, frame: Frame, dtypes: Dtypes, target: str) -> Dated:
        relation, added = frame.to_native(), {}
        if getattr(dtypes[target], "time_zone", None):  # which is handed out with pytz only
            relation = relation.project(f"* REPLACE (make_timestamp(epoch_us({target})) AS {target})")
            dtypes = dtypes | {target: nw.Datetime("us")}
        for alias, dtype in dtypes.items():
            if dtype.is_temporal() and dtype != nw.Time:
                # A date may be too far for microseconds.
                moment = f"TRY_CAST({alias} AS TIMESTAMP)" if dtype == nw.Date else alias
                added[alias] = f"epoch_us({moment}) AS {microseconds(alias)}"
        if added:
            relation = relation.project(", ".join(["*", *added.values()]))
        return nw.from_native(relation), dtypes, added

    def native_types(self, frame: Frame) -> dict[str, str]:
        relation = frame.to_native()
        return dict(zip(relation.columns, map(str, relation.types), strict=True))

    def fitted(self, frame: nw.DataFrame[Any], name: str) -> nw.DataFrame[Any]:
        if str(frame.schema[name]) == "Float16":
            return frame.with_columns(nw.col(name).cast(nw.Float32))
        if frame.schema[name] == nw.Duration:
            spans = plain(frame[name]).values
            if (spans.astype("timedelta64[us]") != spans)[~np.isnat(spans)].any():
                raise ValueError("it has durations finer than a microsecond")
        return frame

    def scan(self, reading: Reading) -> Read:
        relation, names = reading.relation()
        return nw.from_native(relation), names

    def fetch_rows(self, frame: Frame) -> list[tuple[Any, ...]]:
        return list(frame.to_native().fetchall())  # narwhals would need pyarrow

    def fetch_integers(self, frame: Frame) -> Ints:
        columns = frame.to_native().fetchnumpy().values()
        return np.column_stack([np.asarray(column) for column in columns]).astype(np.int64)

    def fetch_columns(self, frame: Frame) -> list[Any]:
        relation = frame.to_native()
        if not {str(kind) for kind in relation.types} <= NUMPY_TYPES:
            return [as_column(values) for values in zip(*relation.fetchall(), strict=True)]
        if find_spec("pyarrow"):  # for which strings need not become objects
            return super().fetch_columns(frame)
        return [_with_missing(column) for column in relation.fetchnumpy().values()]

    def collect(self, frame: Frame, max_rows: int | None, stratify: int | None, random_state: int) -> Any:
        relation = frame.to_native()
        n_rows = _count(relation)
        kinds = [str(kind) for kind in relation.types]
        merged = _merged(relation, kinds)
        # By position: DuckDB does not tell "a" and "A" apart.
        chosen = ", ".join(_selected(i, "text" if i in merged else kind) for i, kind in enumerate(kinds))
        if max_rows is not None and n_rows > max_rows:
            numbered = relation.project(f"{chosen}, row_number() OVER () AS place")
            order = f"hash(place::VARCHAR || '-{int(random_state)}')"
            if stratify is None:
                drawn = numbered.order(order).limit(max_rows)
            else:
                value = f"c{stratify}"
                turn = f"row_number() OVER (PARTITION BY {value} ORDER BY {order}) AS turn"
                ranked = numbered.project(f"place, {turn}, count(*) OVER (PARTITION BY {value}) AS rows")
                kept = ranked.filter(f"turn <= round(rows * {max_rows / n_rows!r})").project("place AS kept")
                drawn = numbered.join(kept.set_alias("k"), "place = kept", "semi")
            relation = drawn.order("place").project("* EXCLUDE (place)")
        else:
            relation = relation.project(chosen)
        found = _fetch_columns(relation)
        columns = [_with_missing(found[f"c{i}"]) for i in range(len(found))]
        for i, number in merged.items():
            columns[i][:] = [None if text is None else number(text) for text in columns[i].tolist()]
        return n_rows, columns


ENGINE = _DuckDB


def _count(relation: Any) -> int:
    return int(relation.aggregate("count(*)").fetchall()[0][0])


def _fetch_columns(relation: Any) -> dict[str, Any]:
    """Columns as arrays; of `Unreadable` objects where DuckDB fails to read one of them."""
    try:
        return dict(relation.fetchnumpy())
    except Exception as error:
        # Such as of a moment that its microseconds cannot hold.
        if type(error).__name__ != "ConversionException":
            raise
    n_rows, found = _count(relation), dict[str, Any]()
    for name in relation.columns:
        try:
            found |= relation.project(name).fetchnumpy()
        except Exception as error:
            found[name] = np.empty(n_rows, object)
            found[name][:] = [Unreadable(reason_of(error))] * n_rows
    return found


def _merged(relation: Any, kinds: list[str]) -> dict[int, Any]:
    """Columns, of types that numpy has not, with numbers of which float64 takes two for one."""
    wide = {i: _WIDE[name] for i, kind in enumerate(kinds) if (name := kind.partition("(")[0]) in _WIDE}
    if not wide:
        return {}
    ways = "count(DISTINCT c{0}) > count(DISTINCT CAST(c{0} AS DOUBLE))"
    numbers = relation.project(", ".join(f"#{i + 1} AS c{i}" for i in wide))
    found = numbers.aggregate(", ".join(ways.format(i) for i in wide)).fetchall()[0]
    return {i: number for (i, number), merged in zip(wide.items(), found, strict=True) if merged}


def _selected(i: int, kind: str) -> str:
    """Expression that reads a column as a type that numpy has; only nested values become objects."""
    is_nested = kind.startswith(("STRUCT", "MAP", "UNION", "VARIANT")) or kind.endswith("]")
    if kind in _AS_IT_IS or is_nested:
        return f"#{i + 1} AS c{i}"
    if kind == "DATE":  # which may be infinite, or beyond what microseconds can say
        return f"TRY_CAST(#{i + 1} AS TIMESTAMP) AS c{i}"
    return f"CAST(#{i + 1} AS {'DOUBLE' if kind.partition('(')[0] in _WIDE else 'VARCHAR'}) AS c{i}"


def _with_missing(column: Any) -> NDArray[Any]:
    """Plain array of a masked one: the mask would be lost on the way through `numpy.asarray`."""
    if not isinstance(column, np.ma.MaskedArray):
        return np.asarray(column)
    values, mask = column.data, np.ma.getmaskarray(column)
    if not mask.any():
        return np.asarray(values)
    if values.dtype.kind in "iu" and np.abs(values[~mask].astype(np.float64)).max(initial=0) < EXACT:
        values = values.astype(np.float64)
    elif values.dtype.kind in "iub":
        values = values.astype(object)
    else:
        values = values.copy()
    kind = values.dtype.kind
    values[mask] = np.nan if kind == "f" else np.array("NaT", values.dtype) if kind in "mM" else None
    return np.asarray(values)


def few_rows(path: TablePath, relation: Any, names: list[Any]) -> Blocks | None:
    """Columns of a relation that is sooner read into memory than counted; None for any other."""
    if not {str(kind) for kind in relation.types} <= NUMPY_TYPES:
        return None
    with reading_rows(path):
        n_rows = _count(relation)
    is_small = n_rows * len(names) <= _FEW_CELLS or len(names) >= _MANY_COLUMNS
    return Blocks(path, relation, names, n_rows) if n_rows <= _FEW_ROWS and is_small else None


class Blocks:
    """Columns of a DuckDB relation, read in blocks that fit into memory; the last block is kept."""

    def __init__(self, path: TablePath, relation: Any, names: list[Any], n_rows: int) -> None:
        self._path, self._relation, self._names = path, relation, names
        self._position = {name: i for i, name in enumerate(names)}
        self._size = max(1, _FEW_CELLS // max(1, n_rows))
        self._block, self._columns = -1, dict[Any, Any]()

    @property
    def all_read(self) -> bool:
        """Whether all columns are in memory."""
        return len(self._columns) == len(self._names)

    def read(self, name: Any) -> Any:
        """Column of a name."""
        block = self._position[name] // self._size
        if block != self._block:
            places = range(block * self._size, min((block + 1) * self._size, len(self._names)))
            wanted = ", ".join(f"#{i + 1} AS c{i}" for i in places)
            with reading_rows(self._path):
                chosen = _fetch_columns(self._relation.project(wanted))
            self._block, self._columns = block, {self._names[i]: chosen[f"c{i}"] for i in places}
            if self.all_read:
                self._relation = None  # which would keep the connection
        return self._columns[name]
