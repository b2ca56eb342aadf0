"""A table as the kernels see it: columns of numbers, and how two values of each differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._typing import Booleans, Floats, Ints
from offsample.tables import TableEncoder
from offsample.tables._encode import encode, plain
from offsample.tables._encoder import EncodedColumn

Weights = TypeVar("Weights", Floats, NDArray[np.float32])
Scale = Literal["minmax", "standard"] | None

# How two values of a column differ; INCOMPLETE is added where some value is missing.
SQUARED, ABSOLUTE, CATEGORY, INCOMPLETE = 0, 1, 2, 3
_LARGEST = 1e150  # squares of larger differences, summed over many features, could leave the range of float64
_MODERATE = 400  # numbers up to 2 to this power, and down to its inverse, are scaled as they are


class Columns(NamedTuple):
    """Scaled columns; categories are numbered, and missing values are NaN."""

    values: Floats  # (n_features, n_rows)
    categorical: Booleans
    groups: Ints | None = None  # that rows belong to

    def of_rows(self, rows: Ints) -> Columns:
        """Some of the rows, scaled as all are."""
        groups = None if self.groups is None else self.groups[rows]
        return Columns(np.ascontiguousarray(self.values[:, rows]), self.categorical, groups)


class Scaling(NamedTuple):
    """How the numbers of a column were put on the common scale."""

    exponent: int  # of a power of two, which rounds nothing, where squares would leave the range of float64
    infinite: tuple[float, float]  # what infinite numbers are taken for: as far as the farthest
    offset: float
    unit: float

    def apply(self, values: Floats) -> Floats:
        """Scale numbers; a missing one stays missing."""
        with np.errstate(over="ignore"):
            values = np.ldexp(values, -self.exponent)
            values = np.where(np.isinf(values), np.where(values > 0, *self.infinite[::-1]), values)
            return np.clip((values - self.offset) / self.unit, -_LARGEST, _LARGEST)


class Space(NamedTuple):
    """Columns and their difference functions."""

    columns: Floats  # (n_features, n_rows)
    rows: Floats  # the same transposed, for what runs over the features of a row
    kinds: Ints  # how two values of each feature differ
    # (1 + n_incomplete, n_rows): expected difference between the row's value and one drawn from the column,
    # or between two drawn ones where it is missing. The first row is zero, for complete columns.
    expected: Floats
    expected_row: Ints  # where in `expected` each feature is
    gaps: Floats  # what two values of a category differ by


class Pairs(NamedTuple):
    """Squared distances of all pairs of rows, and for each row its nearest hits (group 0) and misses (1)."""

    distances: Floats  # (n_rows, n_rows), infinite on the diagonal
    bounds: Ints  # class c has the rows from bounds[c] to bounds[c + 1]
    neighbor: Ints  # (n_rows, 2, n_near), in the order of the distances; -1 where there are no more
    near: Floats  # their distances
    beyond: Floats  # (n_rows, 2): no other row is nearer than that
    stale: Booleans  # (n_rows,): whether distances changed since the nearest were found


class Flips(NamedTuple):
    """Features to add or to take out."""

    features: Ints
    signs: Floats  # 1 to add, -1 to take out
    reaches: Floats  # what two rows can differ by at most


def read_classes(y: ArrayLike) -> tuple[NDArray[Any], Ints]:
    """Return the classes in sorted order, and the code of each row's class."""
    values = np.asarray(y)
    if values.ndim != 1:
        raise ValueError(f"y has {values.ndim} dimensions: expected 1")
    codes = encode(plain(values))
    missing = codes.codes == codes.missing
    if np.any(missing):
        raise ValueError(f"y is missing in row {np.argmax(missing)}: expected a class for each row")
    classes, labels = np.unique(values, return_inverse=True)
    return classes, labels.astype(np.int64)


def scale_columns(
    encoder: TableEncoder, encoded: Iterable[EncodedColumn], scale: Scale, n_reference: int | None = None
) -> tuple[Columns, list[Scaling | None]]:
    """Put columns on a common scale, that of the first `n_reference` rows, and say how.

    None stands for a category, and where nothing is scaled.
    """
    rows, categorical, scalings = [], [], []
    for j, column in enumerate(encoded):
        values, scaling = column.values.astype(np.float64), None
        categorical.append(column.kind == "categorical")
        if categorical[-1]:
            values[column.values == len(encoder.known[j].values)] = np.nan  # its code for missing
        elif scale is None:
            _check_range(values, column.name, n_reference)
        else:
            scaling = _scaling_of(values[:n_reference], scale)
            values = scaling.apply(values)
        rows.append(values)
        scalings.append(scaling)
    return Columns(np.array(rows, np.float64, ndmin=2), np.array(categorical, bool)), scalings


def _scaling_of(values: Floats, scale: Scale) -> Scaling:
    known = values[np.isfinite(values)]
    if not len(known):
        known = np.zeros(1)
    low, high = known.min(), known.max()
    exponent = int(np.frexp(max(-low, high))[1])
    if abs(exponent) <= _MODERATE:
        exponent = 0
    with np.errstate(over="ignore"):
        low, high = np.ldexp(low, -exponent), np.ldexp(high, -exponent)
        # An infinite number is as far as the farthest; beside a constant it is another number nevertheless.
        beyond = 0.5 * (low == high)
        raw = Scaling(exponent, (low - beyond, high + beyond), 0.0, 1.0)
        known = np.ldexp(values[~np.isnan(values)], -exponent)
        known = np.where(np.isinf(known), np.where(known > 0, high + beyond, low - beyond), known)
        if not len(known) or np.ptp(known) == 0:  # all differences are 0, and so would be the unit, or almost
            return raw._replace(offset=float(low))
        if scale == "minmax":
            offset, unit = known.min(), np.ptp(known)
        else:
            offset, unit = known.mean(), known.std()
        return raw._replace(offset=float(offset), unit=float(unit) or 1.0)


def _check_range(values: Floats, name: object, n_reference: int | None) -> None:
    """Refuse numbers that cannot be taken as they are."""
    infinite, known = np.isinf(values), values[:n_reference]
    known = known[np.isfinite(known)]
    if infinite.any():
        raise ValueError(
            f"column {name!r} has {values[infinite][0]} in row {infinite.argmax()}: expected finite numbers "
            "where nothing is scaled"
        )
    if len(known) and np.ptp(known / 4) > _LARGEST / 4:
        raise ValueError(
            f"column {name!r} ranges over more than {_LARGEST:g}: expected smaller numbers "
            "where nothing is scaled"
        )


def make_space(
    columns: Columns, *, squared: bool = True, n_reference: int | None = None, matched: bool = False
) -> Space:
    """Add the difference functions; missing values are drawn from the first `n_reference` rows.

    Two values of a category differ by 1. If `matched`, the difference is such that two rows drawn at random
    differ on average as much in a categorical column as in a numeric one.
    """
    kinds = np.where(columns.categorical, CATEGORY, SQUARED if squared else ABSOLUTE)
    incomplete = np.isnan(columns.values).any(axis=1)
    gaps = np.ones(len(kinds))
    if matched and columns.categorical.any() and not columns.categorical.all():
        typical = [
            _typical_difference(values[:n_reference], kind)
            for values, kind in zip(columns.values, kinds.tolist(), strict=True)
        ]
        of_numbers = np.mean(np.array(typical)[~columns.categorical])
        for j in np.flatnonzero(columns.categorical):
            gaps[j] = of_numbers / typical[j] if typical[j] * of_numbers > 0 else 1.0
    expected = [
        gaps[j] * _expected_difference(columns.values[j], columns.values[j, :n_reference], int(kinds[j]))
        for j in np.flatnonzero(incomplete)
    ]
    kinds = (kinds + INCOMPLETE * incomplete).astype(np.int64)
    expected_rows = np.array([np.zeros(columns.values.shape[1]), *expected])
    places = np.where(incomplete, np.cumsum(incomplete), 0)
    by_row = np.ascontiguousarray(columns.values.T)
    return Space(columns.values, by_row, kinds, expected_rows, places, gaps)


def in_fours(features: Ints, weights: Weights) -> tuple[Ints, Weights]:
    """Repeat the first feature, without weight, until their number is a multiple of four."""
    padding = -len(features) % 4
    if not padding:
        return features, weights
    return (
        np.concatenate([features, np.repeat(features[:1], padding)]),
        np.concatenate([weights, np.zeros(padding, weights.dtype)]),
    )


def largest_differences(space: Space) -> Floats:
    """Bound how much two rows can differ in each feature; an expected difference is no larger."""
    low = np.fmin.reduce(space.columns, axis=1)  # NaN where all are missing, and the difference 0
    ranges = np.nan_to_num(np.fmax.reduce(space.columns, axis=1) - low)
    kinds = space.kinds % INCOMPLETE
    return np.where(kinds == CATEGORY, space.gaps, np.where(kinds == SQUARED, ranges**2, ranges))


def _expected_difference(values: Floats, reference: Floats, kind: int) -> Floats:
    known = np.sort(reference[~np.isnan(reference)])
    if not len(known):
        return np.zeros(len(values))
    typical = _typical_difference(reference, kind)
    return np.where(np.isnan(values), typical, _mean_difference(values, known, kind))


def _typical_difference(values: Floats, kind: int) -> float:
    """Mean difference between two values drawn from a column."""
    known = np.sort(values[~np.isnan(values)])
    return float(_mean_difference(known, known, kind).mean()) if len(known) else 0.0


def _mean_difference(values: Floats, known: Floats, kind: int) -> Floats:
    """Mean difference between each value and all of `known`, which is sorted."""
    if kind == SQUARED:
        return np.asarray((values - known.mean()) ** 2 + known.var())
    below, not_above = (np.searchsorted(known, values, side) for side in ("left", "right"))
    if kind == CATEGORY:
        return np.asarray(1 - (not_above - below) / len(known))
    sums = np.concatenate([[0.0], np.cumsum(known)])
    return np.asarray(((2 * below - len(known)) * values + sums[-1] - 2 * sums[below]) / len(known))
