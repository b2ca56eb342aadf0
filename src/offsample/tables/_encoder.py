"""Tables as a learned model reads them: the same value, the same code, at fit and at prediction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample._typing import Booleans, Floats
from offsample.tables._base import Kind, check_names, declared_categorical, missing_column
from offsample.tables._columns import array_columns, as_frame, frame_names, frame_reader, sorted_codes
from offsample.tables._imposed import Known, floats_of, known_codes, known_numbers, quantity_of
from offsample.tables._kinds import as_quantities, column_kind, is_merged, type_kind
from offsample.tables._meaning import AS_IT_IS, Found, check_types, recognised
from offsample.tables._meaning import declared as as_names
from offsample.tables._ways import EpochWay


class EncodedColumn(NamedTuple):
    """A column as float64 (NaN where missing), or as codes of its values."""

    name: Any
    values: Floats | NDArray[np.int32]
    kind: Kind
    unread: Booleans | None = None  # rows with a value that is none of the kind, and missing here


class EncodedTable(dict[Any, NDArray[Any]]):
    """Columns of a table that were encoded once, so that many models can be fitted to parts of it.

    A learner reads it like a dict of columns, but finds the codes made already. A value keeps its code in
    every part of the table, also in a part without it. `of` makes one.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.tables import EncodedTable
    >>> table = EncodedTable.of({"city": ["Rome", "Oslo", "Rome"], "age": [30, 40, 50]})
    >>> {name: column.tolist() for name, column in table.take(np.array([0, 2])).items()}
    {'city': [1, 1], 'age': [30.0, 50.0]}
    """

    def __init__(
        self,
        columns: Mapping[Any, NDArray[Any]],
        known: Mapping[Any, Known],
        unread: Mapping[Any, Booleans] | None = None,
    ) -> None:
        super().__init__(columns)
        self.known, self.unread = known, unread or {}

    @classmethod
    def of(
        cls,
        table: Any,
        categorical: Literal["infer", "all"] | Sequence[Any] | Booleans = "infer",
        types: Mapping[Any, str] | None = None,
    ) -> Self:
        """Encode a table; `categorical` and `types` are those of `TableEncoder`."""
        encoder = TableEncoder(categorical, types)
        columns = {column.name: column.values for column in encoder.fit_transform(table)}
        return cls(columns, {known.name: known for known in encoder._known})

    def kind(self, name: Any) -> Kind:
        """Kind of a column."""
        return self.known[name].kind

    def is_missing(self, name: Any) -> Booleans:
        """Whether a column has no value, row by row."""
        column, known = self[name], self.known[name]
        return np.asarray(np.isnan(column) if known.kind == "numeric" else column == len(known.values))

    def take(self, rows: NDArray[Any]) -> EncodedTable:
        """The same columns of some rows."""
        return EncodedTable({name: values[rows] for name, values in self.items()}, self.known)

    def select(self, names: Collection[Any]) -> EncodedTable:
        """Some of the columns, in the order of the table."""
        wanted = frozenset(names)
        return EncodedTable({name: values for name, values in self.items() if name in wanted}, self.known)

    def encode(self, table: Any) -> EncodedTable:
        """Return the same columns of another table, by the codes of this one."""
        columns = list(TableEncoder().fit(self).transform(table))
        unread = {column.name: column.unread for column in columns if column.unread is not None}
        return EncodedTable({column.name: column.values for column in columns}, self.known, unread)

    @property
    def texts(self) -> list[Any]:
        """Columns whose text is read as this table says, or compared: a file should not read it before."""
        return [
            name
            for name, one in self.known.items()
            if not isinstance(one.found.way, EpochWay | None)
            or any(isinstance(value, str) for value in one.values)
        ]


class TableEncoder:
    """Remembers the values of a table's columns, and reads other tables by them.

    A numeric column becomes float64, with NaN where it is missing. The values of a categorical column get the
    codes 0, 1, … in sorted order, the same whichever library holds them; a missing value gets the code after
    the last, and a value that was not there at `fit` the one after that.

    Parameters
    ----------
    categorical : "infer", "all", list of names, or boolean mask
        Columns to read as categorical whatever their type. Otherwise numbers, dates and durations are
        numeric, everything else is categorical, and so are numbers that float64 cannot tell apart, such as
        keys beyond 2**53. Python objects count as what they all are. Text that says numbers, dates or times
        of the day is read as these. Columns of other tables are read as what they were at `fit`, however
        they are stored there, each value by itself: one that cannot be is missing, with a warning.
    types : dict from names to types, optional
        What columns are, where it is not to be found out; see `open_table`.

    Attributes
    ----------
    names : list
        Of the columns; those of an array are "x0", "x1", ….
    kinds : list of {"categorical", "numeric"}
    values : list of tuple
        The known values of each categorical column, in the order of their codes.

    Examples
    --------
    >>> from offsample.tables import TableEncoder
    >>> encoder = TableEncoder().fit({"city": ["Rome", "Oslo", None], "age": [30, 40, 50]})
    >>> for column in encoder.transform({"city": ["Oslo", None, "Bonn"], "age": [1, 2, None]}):
    ...     print(column.name, column.values.tolist())
    city [0, 2, 3]
    age [1.0, 2.0, nan]
    """

    names: list[Any]
    _known: list[Known]

    def __init__(
        self,
        categorical: Literal["infer", "all"] | Sequence[Any] | Booleans = "infer",
        types: Mapping[Any, str] | None = None,
    ) -> None:
        self.categorical, self.types = categorical, check_types(types)

    @property
    def known(self) -> list[Known]:
        """What is remembered of each column."""
        return self._known

    @property
    def kinds(self) -> list[Kind]:
        """Kind of each column."""
        return [known.kind for known in self._known]

    @property
    def values(self) -> list[tuple[Any, ...]]:
        """Known values of each column in the order of their codes; none for a numeric one."""
        return [known.values for known in self._known]

    @property
    def quantities(self) -> list[str]:
        """What the numbers of each column are: "number", "moment" or "duration"; "" for a categorical one."""
        return [known.quantity for known in self._known]

    @property
    def found(self) -> list[Found]:
        """How the text of each column is read."""
        return [known.found for known in self._known]

    def fit(self, table: Any) -> Self:
        """Remember kinds and values of the columns.

        Parameters
        ----------
        table : array of two dimensions, dict of columns, or dataframe
        """
        for _ in self.fit_transform(table):
            pass
        return self

    def fit_transform(self, table: Any) -> Iterator[EncodedColumn]:
        """Remember the columns, and return them encoded, one at a time."""
        if isinstance(table, EncodedTable):
            self.names, self._known = list(table), [table.known[name] for name in table]
            yield from self.transform(table)
            return
        names, read = open_columns(table)
        ways = '"infer", "all", a list of names or a mask'
        chosen = declared_categorical(self.categorical, names, ways)
        declared = frozenset(names) if chosen is None else chosen.union(as_names(self.types))
        self.names, self._known = names, []
        for name in names:
            column, found = read(name), AS_IT_IS
            if name not in declared:
                column, found = recognised(column, name, self.types.get(name, ""))
                column = as_quantities(column)
            kind: Kind = "categorical" if name in declared else type_kind(column)
            known: tuple[Any, ...] = ()
            if kind == "numeric":
                values: Any = floats_of(column, name)
                kind = "categorical" if is_merged(column, values) else "numeric"
            if kind == "categorical":
                known, values = sorted_codes(column, "column", repr(name))
            # Numbers that are names here are so in every other table, whatever numbers it has.
            is_name = name in declared or (kind == "categorical" and _holds_numbers(column))
            quantity = quantity_of(column) * (kind == "numeric")
            self._known.append(Known(name, kind, known, is_name, quantity, found))
            yield EncodedColumn(name, values, kind)

    def transform(self, table: Any, only: Collection[Any] | None = None) -> Iterator[EncodedColumn]:
        """Read the columns of another table by the remembered values, one at a time.

        Parameters
        ----------
        table : array of two dimensions, dict of columns, or dataframe
        only : names, optional
            Leave out other columns; they need not be there.
        """
        names, read = open_columns(table)
        there = frozenset(names)
        for known in self._known:
            if only is not None and known.name not in only:
                continue
            if known.name not in there:
                raise missing_column(known.name, names, "feature")
            if isinstance(table, EncodedTable):
                if table.known[known.name] is not known:
                    raise ValueError(
                        f"column {known.name!r} has codes of another table: encode them together"
                    )
                yield EncodedColumn(known.name, table[known.name], known.kind)
                continue
            column = read(known.name)
            if known.kind == "categorical":
                yield EncodedColumn(known.name, known_codes(column, known), known.kind)
            else:
                values, unread = known_numbers(column, known)
                yield EncodedColumn(known.name, values, known.kind, unread)


def is_dataframe(table: Any) -> bool:
    """Whether this is a dataframe in memory."""
    return isinstance(as_frame(table, eager_only=True, pass_through=True), nw.DataFrame)


def columns_of(table: Any) -> dict[Any, Any]:
    """Columns of a table in memory by name, in the library that holds them."""
    if isinstance(table, Mapping):
        return dict(table)
    if isinstance(table, np.ndarray):
        return {f"x{j}": table[:, j] for j in range(table.shape[1])}
    if nw.dependencies.is_pandas_dataframe(table):  # whose names need not be strings
        return {name: table[name] for name in table.columns}
    frame = nw.from_native(table, eager_only=True)
    return {name: frame[name].to_native() for name in frame.columns}


def lists_of(frame: Any) -> dict[str, list[Any]]:
    """Columns of a dataframe in memory as lists of plain values."""
    columns = nw.from_native(frame, eager_only=True)
    return {name: columns[name].to_list() for name in columns.columns}


def column_names(table: Any) -> list[Any]:
    """Names of the columns of an array, a dict or a dataframe, as `TableEncoder` calls them."""
    return open_columns(table)[0]


def merged_columns(table: Any) -> list[Any]:
    """Names of the columns with numbers of which float64 takes two for one, such as keys beyond 2**53."""
    if isinstance(table, np.ndarray) and table.dtype.kind in "fb" and table.dtype.itemsize <= 8:
        return []
    names, read = open_columns(table)
    kinds = {name: column_kind(as_quantities(read(name))) for name in names}
    return [name for name, kind in kinds.items() if kind == "categorical" and _holds_numbers(read(name))]


def _holds_numbers(column: Any) -> bool:
    return type_kind(as_quantities(column, exact=False)) == "numeric"


def open_columns(table: Any) -> tuple[list[Any], Any]:
    """Names of the columns of a table in memory, and a function that reads one by name."""
    if isinstance(table, (np.ndarray, Mapping)):
        names, read = array_columns(table)
    else:
        frame = as_frame(table, eager_only=True)
        names, read = list(frame_names(table) or frame.columns), frame_reader(table, frame)
    check_names(names)
    return names, read
