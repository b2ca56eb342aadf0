"""Columns that equal another one in every row."""

from __future__ import annotations

import hashlib
from typing import Any

import narwhals as nw
import numpy as np

from offsample.tables import TableEncoder

__all__ = ["copies_in", "take_columns"]


def copies_in(encoder: TableEncoder, table: Any) -> dict[Any, Any]:
    """Fit an encoder, and find the columns that equal an earlier one in every row."""
    digests = [hashlib.blake2b(column.values.tobytes()).digest() for column in encoder.fit_transform(table)]
    first: dict[Any, Any] = {}
    copies = {}
    for name, *content in zip(encoder.names, digests, encoder.kinds, encoder.values, strict=True):
        original = first.setdefault(tuple(content), name)
        if original != name:
            copies[name] = original
    return copies


def take_columns(table: Any, positions: list[int]) -> Any:
    """Columns of an array, a dict or a dataframe."""
    if isinstance(table, np.ndarray):
        return table[:, positions]
    if isinstance(table, dict):
        names = list(table)
        return {names[j]: table[names[j]] for j in positions}
    if nw.dependencies.is_pandas_dataframe(table):  # whose names need not be strings
        return table.iloc[:, positions]
    return nw.from_native(table, eager_only=True)[:, positions].to_native()
