"""Nearest rows found in single precision, and in double precision where that leaves a doubt."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats, Ints
from offsample.margin._space import CATEGORY, SQUARED, Space, in_fours

Singles = NDArray[np.float32]


class Neighbors(NamedTuple):
    """Nearest rows of each group, of shape (rows, groups, neighbours)."""

    neighbor: Ints  # -1 where a group has too few
    distance: Floats  # infinite there


def no_neighbors(n_rows: int, n_groups: int, n_neighbors: int) -> Neighbors:
    """Make room for neighbours yet to be found."""
    shape = (n_rows, n_groups, n_neighbors)
    return Neighbors(np.full(shape, -1), np.full(shape, np.inf))


class Exact(NamedTuple):
    """Distances in double precision, and limits that say where those in single precision do instead."""

    points: Floats  # (n_rows, n_features)
    weights: Floats
    squared: bool
    limits: Floats


class Room(NamedTuple):
    """Room for the rows of a group, and one place more."""

    members: Ints
    values: Singles
    bits: NDArray[np.int32]  # the values seen as integers


class Sketch(NamedTuple):
    """Complete numeric columns in single precision, to find out which rows can be nearest."""

    values: Singles  # (n_features, n_rows), centred to lose no precision, divided by the widest range
    ranges: Floats  # of the features, at most 1


def make_sketch(space: Space) -> Sketch | None:
    """Sketch a space of plain numbers that all differ in the same way; return None for any other."""
    if space.kinds[0] >= CATEGORY or (space.kinds != space.kinds[0]).any():
        return None
    low, high = space.columns.min(axis=1), space.columns.max(axis=1)
    unit = float(np.max(high / 2 - low / 2)) * 2 or 1.0
    centre = low / 2 + high / 2
    values = ((space.columns - centre[:, None]) / unit).astype(np.float32)
    return Sketch(values, (high - low) / unit)


class Sample(NamedTuple):
    """Rows whose nearest hits and misses are found among the first `n_reference` of them."""

    space: Space
    labels: Ints
    sketch: Sketch | None  # None for categories and missing values
    n_reference: int
    groups: Ints  # a row is no neighbour of its own group, by default of itself

    @classmethod
    def of(
        cls, space: Space, labels: Ints, n_reference: int | None = None, groups: Ints | None = None
    ) -> Self:
        """Sketch a space if that can be done."""
        n_first = len(labels) if n_reference is None else n_reference
        groups = np.arange(len(labels)) if groups is None else groups
        return cls(space, labels, make_sketch(space), n_first, groups)


def find_with_sketch(
    sample: Sample, sketch: Sketch, weights: Floats, rows: Ints, n_classes: int | None, n_neighbors: int
) -> Neighbors:
    """Find the nearest rows of each group; distances only for one neighbour, and several in any order."""
    from offsample.margin import _kernels

    space, n_reference = sample.space, sample.n_reference
    squared = bool(space.kinds[0] == SQUARED)
    features = np.flatnonzero(weights)
    relative = weights[features] / (weights.max(initial=0.0) or 1.0)
    scanned = np.zeros((len(rows), n_reference), np.float32)
    _kernels.scan(sketch.values, squared, *in_fours(features, relative.astype(np.float32)), rows, scanned)
    found = no_neighbors(len(rows), n_classes or 2, n_neighbors)
    values = np.empty(n_reference + 1, np.float32)
    room = Room(np.empty(n_reference + 1, np.int64), values, values.view(np.int32))
    exact = Exact(space.rows, weights, squared, limits(sketch.ranges[features], relative, squared))
    of = sample.labels, sample.groups
    _kernels.nearest_scanned(scanned, exact, of, rows, n_classes is not None, room, found)
    return found


def limits(ranges: Floats, weights: Floats, squared: bool) -> Floats:
    """Compute s, t, S and T, which say what distances in single precision are worth.

    Where one row is at the distance E, another is surely nearer if below ``s E - t``, and surely not if above
    ``S E + T``. A distance D is off by at most ``r D + c``; so these are where ``D + (r D + c)`` is
    ``E - (r E + c)``, and ``D - (r D + c)`` is ``E + (r E + c)``.

    A value of the range ``ρ`` is rounded by at most ``u ρ / 2``, so that a difference is off by at most
    ``u ρ``; each sum of four terms is rounded some ten times, and their total once for every four.
    """
    u = 2.0**-24
    r = 1.01 * u * (len(ranges) / 4 + 12)
    if squared:  # |(δ + e)² - δ²| ≤ 2 |δ| |e| + e²; by Cauchy-Schwarz the first sum to at most 2 √D √Σ w e²
        error = u * np.sqrt(np.sum(weights * ranges**2))
        # 2 √D error ≤ r D + error² / r, the geometric mean being no more than the arithmetic one
        r, c = 2 * r, (8 + 1.03 / r) * error**2
    else:
        c = 1.01 * u * np.sum(weights * ranges)
    c += len(ranges) * 2.0**-120  # what is lost where a product is too small for single precision
    return np.array([(1 - r) / (1 + r), 2 * c / (1 + r), (1 + r) / (1 - r), 2 * c / (1 - r)])
