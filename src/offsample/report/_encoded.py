"""Features of a table as numbers and codes, and what is asked of them column by column."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from offsample._typing import Ints
from offsample.ranking import RankedFeature
from offsample.report._codes import are_codes
from offsample.report._metrics import Score
from offsample.report._reading import TableRead
from offsample.rows import Repeats, find_repeats, suspect_entities
from offsample.rows._columns import codes_of
from offsample.rows._entities import are_alike
from offsample.tables import EncodedTable, columns_of

# A page is sent around, and people are in it: values that fewer rows have are not named unless asked for.
FEWEST = 5
RARE = "(rare)"
# Columns are compared with each other on at most this many rows, numeric ones cut into this many bins.
COMPARED_ROWS = 20_000
_COMPARED_BINS = 16
# Rows that differ, at least, for their number to say that all were written so many times.
_FEWEST_DISTINCT = 1000
_NUMBERED = re.compile(r"(.*?)(\d{1,18})", re.DOTALL)


@dataclass(eq=False)
class EncodedRead(TableRead):
    """A table whose features are encoded once for all models."""

    _cells: dict[Any, tuple[Ints, int]] = field(default_factory=dict)
    categories: tuple[Any, ...] = ()  # columns that hold numbers and are read as categories

    @cached_property
    def as_read(self) -> EncodedTable:
        """Features of the modelled rows as numbers and codes; whole numbers without order are categories."""
        declared = [name for name in self.options.categorical_features if name in self.X]
        types, found = self.options.types, list[Any]()
        read = EncodedTable.of(self.X, declared, types)
        numbers = [n for n, one in read.known.items() if one.kind == "numeric" and one.quantity != "moment"]
        for name in numbers:
            if name not in types and are_codes(read[name], self.labels, len(numbers)):
                found.append(name)
        if found:  # what rows may belong to, as patients' numbers, is asked about, and is no category
            asked = {n for entity in suspect_entities(unordered(read), self.labels) for n in entity.names}
            found = [name for name in found if name not in asked and not are_alike(codes_of(read[name]))]
        self.categories = (*declared, *found)
        return EncodedTable.of(self.X, self.categories, types) if found else read

    @cached_property
    def encoded(self) -> EncodedTable:
        """The same, encoded once for all models, with one name for all values that few rows have.

        Whatever is written of models and columns is written with these names.
        """
        if self.options.show_rows:
            return self.as_read
        known = dict(self.as_read.known)
        for name, one in known.items():
            if one.kind == "categorical":
                sizes = np.bincount(self.as_read[name], minlength=len(one.values))
                values = (v if n >= FEWEST else RARE for v, n in zip(one.values, sizes, strict=False))
                known[name] = replace(one, values=tuple(values))
        return EncodedTable(self.as_read, known)

    def is_date(self, name: Any) -> bool:
        """Whether a feature holds dates."""
        return self.encoded.known[name].quantity == "moment"

    @cached_property
    def repeats(self) -> Repeats:
        """Rows that equal an earlier one, in the columns of groups and time too.

        Those that models are fitted to may have few copies of each other. Where a table is read in part, all
        its rows were written k times if they are k times as many as differ: by chance one number in as many
        as differ is such a multiple.
        """
        time = [] if self.options.time is None else [self.options.time]
        units = {name: self.unit(name, "group") for name in (*self.options.group, *time)}
        # Parts of a date differ where it does: they are no columns of their own.
        there = columns_of(self._read)
        read = {name: column for name, column in self.encoded.items() if name in there}
        dates = [*time, *(name for name in read if self.is_date(name))]
        found = find_repeats({**read, **units}, self.value_codes, dates)
        n_rows, n_copies, _ = self.repeated or (1, 0, 0)
        times, rest = divmod(n_rows, n_rows - n_copies)
        if rest or times < 2 or n_rows - n_copies < _FEWEST_DISTINCT:
            return found
        return replace(found, times=times, p_value=min(found.p_value, 1 / (n_rows - n_copies)))

    @cached_property
    def unordered(self) -> tuple[EncodedTable, Ints]:
        """One row of each set of copies, of which any column carries all others, and their classes."""
        group = self.repeats.group if self.repeats.are_copies else np.arange(len(self.y))
        rows = np.unique(group, return_index=True)[1]
        return unordered(self.as_read.take(rows)), self.labels[rows]

    def score_of(self, feature: RankedFeature) -> Score | None:
        """Return the figure of a column by itself; None if columns were ranked by their errors."""
        if self.ranking.baseline_score is None:
            return None
        ends = feature.score, feature.score_low, feature.score_high
        return Score(*(nan if end is None else self.metric.per * end for end in ends))

    @property
    def per(self) -> float:
        """What gains of columns are multiplied by."""
        return self.metric.per

    @property
    def columns_base(self) -> float | None:
        """Figure of the metric without any column, where columns have one."""
        base = self.ranking.baseline_score
        return None if base is None else base * self.metric.per

    def sample_of(self, rows: Ints, size: int | None) -> Ints:
        """Draw at most `size` of some rows, each class with its share; None for all."""
        if size is None or len(rows) <= size:
            return rows
        order = np.random.default_rng(self.options.random_state).permutation(len(rows))
        order = order[np.argsort(self.labels[rows[order]], kind="stable")]  # class by class
        return np.sort(rows[order[np.linspace(0, len(rows) - 1, size).astype(np.int64)]])

    def cells(self, name: Any) -> tuple[Ints, int]:
        """Return the cell of each compared row, by value or bin, and how many cells there are."""
        if name not in self._cells:
            column = self.encoded[name]
            values = column[compared_rows(len(column))]
            known = values[~np.isnan(values)] if self.encoded.kind(name) == "numeric" else values[:0]
            if len(np.unique(known)) > _COMPARED_BINS:
                cuts = np.quantile(known, np.linspace(0, 1, _COMPARED_BINS + 1)[1:-1])
                values = np.where(np.isnan(values), np.nan, np.searchsorted(cuts, values, side="left"))
            codes = np.unique(values, return_inverse=True)[1].astype(np.int64)  # all NaN are one value
            self._cells[name] = codes, int(codes.max(initial=-1)) + 1
        return self._cells[name]

    def columns(self, features: Collection[Any]) -> EncodedTable:
        """Select features; without any one that says nothing, so that models can be fitted."""
        return self.encoded.select(features) or EncodedTable.of({"(no column)": np.zeros(len(self.y))})


def compared_rows(n_rows: int) -> slice:
    """Return the rows on which columns are compared with each other, spread evenly."""
    return slice(None, None, max(1, -(-n_rows // COMPARED_ROWS)))


def unordered(table: EncodedTable) -> EncodedTable:
    """Categories whose neighbours are no longer those by spelling: by a number at their end, or any.

    Patients of one clinic, whose numbers begin alike, would be taken for what lies side by side.
    """
    columns = dict(table)
    for name, known in table.known.items():
        texts = [str(value) for value in known.values] if known.kind != "numeric" else []
        ends = [_NUMBERED.fullmatch(text) for text in texts]
        order = np.random.default_rng(0).permutation(len(texts))
        if all(ends) and len({end[1] for end in ends if end}) == 1:
            order = np.argsort([int(end[2]) for end in ends if end], kind="stable")
        if texts:
            columns[name] = np.append(np.argsort(order), len(texts))[columns[name]]
    return EncodedTable(columns, table.known)
