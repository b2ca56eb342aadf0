"""Which of very many columns have evidence of their own, and nothing else of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._judged import p_value_of
from offsample._losses import class_of_interest
from offsample._partitions import MAX_BINS, MOST_ALONE, ROWS_PER_BIN, partition
from offsample._ties import rounded
from offsample._typing import Floats
from offsample.criteria import find_criterion
from offsample.evidence import (
    discoveries,
    evidence_of_pairs,
    joint_p_value,
    order_evidence,
    shuffle_moments,
    signal_evidence,
)
from offsample.ranking import rank_features
from offsample.tables import EncodedTable, open_table

_CONFIDENCE = 0.95
_AT_ONCE = 1000  # columns
_FEWEST_ROWS = ROWS_PER_BIN


def evident_columns(table: EncodedTable, y: NDArray[Any], group: Any = None, **asked: Any) -> list[Any]:
    """Name the columns that `rank_features` calls significant; if there is none, the first that it lists."""
    p_values: dict[Any, float] = {}
    told = _told_apart(y, asked)
    if group is None and _FEWEST_ROWS <= len(y) <= MAX_BINS:
        numbers = [name for name in table if table.kind(name) == "numeric" and np.isfinite(table[name]).all()]
        for start in range(0, len(numbers), _AT_ONCE):
            names = numbers[start : start + _AT_ONCE]
            found = _p_values(np.array([table[name] for name in names]), told)
            p_values |= {name: p for name, p in zip(names, found.tolist(), strict=True) if p == p}
    categories = {name for name in table if table.kind(name) == "categorical"}
    if rest := [name for name in table if name not in p_values]:
        read = {"group": group, "categorical_features": categories.intersection(rest)}
        with open_table(table.select(rest), told, **read) as source:
            for column in source.columns:
                ways = partition(source, column, "auto")
                by_cut = [signal_evidence(cells).p_value for cells in ways.candidates]
                p_values[column.name] = p_value_of(ways.bins, by_cut)
    names, found = list(p_values), np.array(list(p_values.values()))
    is_evident = discoveries(found, 1 - _CONFIDENCE)
    if is_evident.any():
        return [name for name, one in zip(names, is_evident, strict=True) if one]
    near = rounded(found)
    first = set(np.array(names, object)[near == near.min()])
    tied = [name for name in table if name in first]
    if len(tied) == 1:
        return tied
    asked |= {"group": group, "categorical_features": categories.intersection(tied)}
    gains = {one.name: rounded(one.gain) for one in rank_features(table.select(tied), y, **asked)}
    return [max(tied, key=lambda name: gains[name])]


def _told_apart(y: NDArray[Any], asked: dict[str, Any]) -> NDArray[Any]:
    """Class of each row; of a criterion of one class, whether it is that."""
    classes, totals = np.unique(y, return_counts=True)
    of_interest = class_of_interest(classes.tolist(), totals, asked.get("positive"))
    by = find_criterion(asked.get("criterion", "ginger"), asked.get("costs"), len(classes), of_interest)
    return y if by.of_class is None else y == classes[by.of_class]


def _p_values(columns: Floats, y: NDArray[Any]) -> Floats:
    """P-values of columns of numbers, one after the other, as `rank_features` cuts them; else NaN.

    That is where most numbers differ, so that all columns are cut into 2, 4, … bins of about equal size.
    """
    n_columns, n_rows = columns.shape
    order, place = np.argsort(columns, axis=1, kind="stable"), np.arange(n_rows)
    ordered = np.take_along_axis(columns, order, axis=1)
    is_first = np.column_stack([np.ones(n_columns, bool), ordered[:, 1:] != ordered[:, :-1]])
    is_last = np.column_stack([is_first[:, 1:], np.ones(n_columns, bool)])
    first = np.maximum.accumulate(np.where(is_first, place, 0), axis=1)
    end = np.minimum.accumulate(np.where(is_last, place + 1, n_rows)[:, ::-1], axis=1)[:, ::-1]
    middle = (end - (end - first) / 2) / n_rows
    labels, totals = np.unique(y, return_inverse=True, return_counts=True)[1:]
    moments, label = shuffle_moments(tuple(sorted(totals.tolist()))), labels[order]
    p_values, n_bins = list[Floats](), 2
    while n_bins == 2 or n_bins * ROWS_PER_BIN <= n_rows:
        cell = (middle * n_bins).astype(np.int64) + n_bins * np.arange(n_columns)[:, None]
        counts = np.array(
            [np.bincount(cell[label == k], minlength=n_bins * n_columns) for k in range(len(totals))]
        ).reshape(len(totals), n_columns, n_bins)
        sizes = counts.sum(axis=0)
        size, agreeing = np.maximum(sizes, 2), (counts * (counts - 1)).sum(axis=0).astype(float)
        found = evidence_of_pairs(size, (sizes > 1).astype(np.int64), agreeing, n_rows, moments)
        p_values.append(found[2])
        n_bins *= 2
    n_values, n_alone = is_first.sum(axis=1), (is_first & is_last).sum(axis=1)
    is_cut_so = (n_values > max(2, n_rows / 2)) & (n_alone > MOST_ALONE * n_rows)
    value, joint = is_first.cumsum(axis=1) - 1, np.full(n_columns, np.nan)
    for one, by_cut in zip(np.flatnonzero(is_cut_so), np.array(p_values).T[is_cut_so], strict=True):
        cell = value[one] * len(totals) + label[one]
        bins = np.bincount(cell, minlength=int(n_values[one]) * len(totals)).reshape(-1, len(totals))
        joint[one] = joint_p_value(by_cut.tolist(), order_evidence(bins).p_value)
    return joint
