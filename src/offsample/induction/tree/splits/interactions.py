"""Pairs of columns that say something together where neither does alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
from scipy.special import log_ndtr

from offsample._typing import Booleans, Ints
from offsample.induction.scoring import Scoring
from offsample.induction.tree.columns import Columns
from offsample.induction.tree.splits.split import Rows, Split
from offsample.induction.tree.splits.split import sizes as n_rows

# The normal law of the statistic needs some rows of the rarest class in each of four cells.
_MIN_EXPECTED = 20
# Columns with more values than this take part with their most frequent ones only.
_MAX_VALUES = 8
# More tests would be too many pairs.
_MAX_TESTS = 500


def interaction_split(
    rows: Rows, columns: Columns, free: list[int], scoring: Scoring, min_leaf: int
) -> tuple[Split, float, Ints] | None:
    """First split of the pair of columns with the clearest interaction, expected gain per split, and cells.

    The columns in `free` take part, whose cells do not depend on the classes: numbers cut at the median of
    the cell, categories by single values against the rest. For each pair of such tests the products of their
    centred indicators are correlated with the class; of a numeric target with being above its quartiles,
    which no number far away can decide. The permutation variance is exact, the tail is normal, and the
    p-value is multiplied by the number of pairs and classes. The split itself has next to no gain: what it
    is worth shows one level below.
    """
    from offsample.induction.tree import kernels

    of_numbers = rows.counts.dtype == np.float64
    labels, totals = _labels(rows)
    if totals[totals > 0].min() < _MIN_EXPECTED or (totals > 0).sum() < 2:
        return None
    tests = list(islice((test for j in free for test in _tests(rows, columns, j)), _MAX_TESTS + 1))
    if len(tests) < 2 or len(tests) > _MAX_TESTS:
        return None
    n = len(rows.index)
    present = np.flatnonzero(totals)
    # Of two classes the other says the same; of quarters, those above each quartile are more.
    present = present[1:] if len(present) == 2 or of_numbers else present
    packed = np.zeros((len(tests) + len(present), -(-n // 64) * 8), np.uint8)
    for t, test in enumerate(tests):
        packed[t, : -(-n // 8)] = np.packbits(_is_inside(rows, columns, test))
    for i, k in enumerate(present):
        packed[len(tests) + i, : -(-n // 8)] = np.packbits(labels >= k if of_numbers else labels == k)
    owner, room = np.array([column for column, _, _ in tests]), np.empty((len(packed), 1 + len(present)))
    z, first, second, n_tried = kernels.best_pair(packed.view(np.uint64), owner, n, room)
    if first < 0:
        return None
    log_p = min(0.0, float(log_ndtr(-z)) + np.log(2.0 * n_tried))
    split = _split_of(rows, columns, scoring, tests[first], log_p, min_leaf)
    if split is None:
        return None
    cells = 2 * _is_inside(rows, columns, tests[first]) + _is_inside(rows, columns, tests[second])
    share = totals / n
    gain = float(2 * (share * (1 - share)).max() * (z**2 - 1))
    if of_numbers:
        gain = scoring.gain(np.stack([rows.y[cells == i].sum(axis=0) for i in range(4)]), rows.counts)
    return replace(split, n_tried=float(n_tried)), gain / 3, cells  # four cells take three splits


def _labels(rows: Rows) -> tuple[Ints, Ints]:
    """Class of each row, of a number its quarter in the cell, and how many rows each has."""
    if rows.counts.dtype != np.float64:
        return rows.y, rows.counts
    number = rows.y[:, 1]
    quarter = np.searchsorted(np.unique(np.quantile(number, (0.25, 0.5, 0.75))), number)
    return quarter, np.bincount(quarter)


def _tests(rows: Rows, columns: Columns, column: int) -> list[tuple[int, int, bool]]:
    """Column, code, and whether the test is `<=` or `==`."""
    is_numeric = columns.edges[column] is not None
    if is_numeric:
        start = columns.offsets[np.searchsorted(columns.numeric, column)]
        sizes = n_rows(rows.histogram[start : start + columns.n_codes[column] - 1])  # but the missing
    elif columns.n_codes[column] > len(rows.index):  # values are rare
        return []
    else:
        sizes = np.bincount(columns.codes[column][rows.index], minlength=columns.n_codes[column])
    filled = np.flatnonzero(sizes)
    if len(filled) < 2:
        return []
    if is_numeric:
        middle = int(np.searchsorted(np.cumsum(sizes), sizes.sum() / 2))
        return [(column, min(middle, int(filled[-2])), True)]
    frequent = filled[np.argsort(-sizes[filled], kind="stable")][:_MAX_VALUES]
    return [(column, int(code), False) for code in (frequent[:1] if len(filled) == 2 else frequent)]


def _is_inside(rows: Rows, columns: Columns, test: tuple[int, int, bool]) -> Booleans:
    column, code, is_threshold = test
    codes = columns.codes[column][rows.index]
    return np.asarray(codes <= code if is_threshold else codes == code)


def _split_of(
    rows: Rows, columns: Columns, scoring: Scoring, test: tuple[int, int, bool], log_p: float, min_leaf: int
) -> Split | None:
    column, code, is_threshold = test
    inside = _is_inside(rows, columns, test)
    y, n_classes = rows.y[inside], len(rows.counts)
    left = y.sum(axis=0) if y.ndim > 1 else np.bincount(y, minlength=n_classes).astype(np.int64)
    children = np.stack([left, rows.counts - left])
    if n_rows(children).min() < min_leaf:
        return None
    gain = scoring.gain(children, rows.counts)
    if is_threshold:
        return Split(column, "threshold", gain, children, log_p, threshold=code)
    present = np.unique(columns.codes[column][rows.index])
    to = (present != code).astype(np.int32)
    return Split(column, "ordered", gain, children, log_p, codes=present, child_of_code=to)
