"""Tables in memory: a column at a time becomes integer codes, and the codes are counted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample.tables._base import Bins, Kind, Profile, Table, check_classes, sort_labels
from offsample.tables._columns import as_quantities, codes_of, column_kind, hash_errors, labels_at
from offsample.tables._encode import as_floats, encode, plain
from offsample.tables._profile import bins_of_classes, profile_of_codes, profile_of_integers


class MemoryTable(Table):
    """A table whose columns are read from memory.

    Parameters
    ----------
    read : callable
        From a feature's name to its column, an array or a narwhals Series.
    features, categorical
        As `choose_features` returns them.
    target : ndarray or narwhals Series
        The labels.
    target_name : str
        What error messages call the target.
    """

    def __init__(
        self,
        read: Callable[[Any], Any],
        features: Sequence[Any],
        categorical: Collection[Any] | None,
        target: Any,
        target_name: str,
    ) -> None:
        super().__init__(features, categorical)
        self._read = read
        codes, n_codes, missing = codes_of(target, "target", target_name)
        size = np.bincount(codes, minlength=n_codes)
        self.n_dropped = 0 if missing is None else int(size[missing])
        if missing is not None:
            size[missing] = 0
        used = np.flatnonzero(size)
        some_row = np.zeros(n_codes, np.intp)
        some_row[codes] = np.arange(len(codes))
        with hash_errors("target", target_name):
            found = labels_at(target, some_row[used])
        check_classes(found, target_name, int(size.sum()), self.n_dropped)
        self.classes = tuple(sort_labels(found))
        n_classes = len(self.classes)
        rank = {label: k for k, label in enumerate(self.classes)}
        # A row without a label gets the class after the last: cheaper than to filter every column.
        recode = np.full(n_codes, n_classes, np.min_scalar_type(n_classes))
        recode[used] = [rank[label] for label in found]
        self._y = recode[codes]
        self.class_totals = np.zeros(n_classes, np.int64)
        self.class_totals[recode[used]] = size[used]

    def _natural_kind(self, name: Any) -> Kind:
        return column_kind(as_quantities(self._read(name)))

    def value_counts(self, name: Any) -> Profile:
        """Count the classes at every distinct value of a column; a missing value is a value of its own."""
        self._require_feature(name)
        column, n_classes = self._column(name), len(self.classes)
        with hash_errors("column", repr(name)):
            values = plain(column)
            if values.missing is None and values.n_codes is None and values.values.dtype.kind in "iu":
                profile = profile_of_integers(values.values, self._y, n_classes)
                if profile is not None:
                    return profile
            codes, n_codes, missing = encode(values)
        return profile_of_codes(codes, n_codes, missing, self._y, n_classes)

    def _binned_counts(self, name: Any, max_bins: int) -> Bins:
        column = as_quantities(self._column(name))
        with hash_errors("column", repr(name)):
            numbers = as_floats(plain(column, as_number=True))
        return bins_of_classes([numbers[rows] for rows in self._rows_of_class], max_bins)

    def _column(self, name: Any) -> NDArray[Any] | nw.Series[Any]:
        column = self._read(name)
        if len(column) != len(self._y):
            raise ValueError(f"column {name!r} has {len(column)} rows, but the target has {len(self._y)}")
        return column  # type: ignore[no-any-return]

    @cached_property
    def _rows_of_class(self) -> list[NDArray[np.intp]]:
        order = np.argsort(self._y, kind="stable")
        return np.split(order, np.cumsum(self.class_totals))[:-1]
