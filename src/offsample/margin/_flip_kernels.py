"""Compiled loops of the greedy search over sets of features; see `_kernels`."""

from math import isnan

import numpy as np

from offsample._kernels import njit
from offsample._typing import Floats, Ints
from offsample.margin._kernels import difference
from offsample.margin._space import SQUARED, Near, Space

_INFINITE = 0x7FF0000000000000  # the bits of an infinite float


@njit(cache=True, nogil=True)
def _insert(near: Near, i: int, group: int, place: int, j: int, distance: float) -> None:
    """Put row j among the near rows of row i, which are sorted up to `place`."""
    while place > 0 and distance < near.distance[i, group, place - 1]:
        near.distance[i, group, place] = near.distance[i, group, place - 1]
        near.neighbor[i, group, place] = near.neighbor[i, group, place - 1]
        place -= 1
    near.distance[i, group, place] = distance
    near.neighbor[i, group, place] = j


@njit(cache=True, nogil=True)
def add_to_distances(
    space: Space,
    feature: int,
    sign: float,
    reach: float,
    start: int,
    stop: int,
    distances: Floats,
    near: Near,
) -> None:
    """Add a feature to (or with sign -1 take it out of) the rows of the matrix from `start` to `stop`."""
    n_rows, n_near = len(distances), near.neighbor.shape[2]
    kind, gap = space.kinds[feature], space.gaps[feature]
    e = space.expected_row[feature]
    for i in range(start, stop):
        a = space.columns[feature, i]
        if kind == SQUARED:
            for j in range(n_rows):
                b = space.columns[feature, j]
                distances[i, j] += sign * ((a - b) * (a - b))
        else:
            for j in range(n_rows):
                b = space.columns[feature, j]
                distances[i, j] += sign * difference(
                    kind, gap, a, b, space.expected[e, i], space.expected[e, j]
                )
        near.stale[i] = True
        for group in range(2):
            if sign < 0:  # no row comes nearer than that
                near.beyond[i, group] -= reach
            for k in range(n_near):
                j = near.neighbor[i, group, k]
                if j < 0:
                    break
                here = distances[i, j]
                _insert(near, i, group, k, j, here)


@njit(cache=True, nogil=True)
def nearest_among_near(
    space: Space,
    near: Near,
    features: Ints,
    signs: Floats,
    reaches: Floats,
    start: int,
    stop: int,
    squares: Floats,
) -> None:
    """Find the distances to the nearest hit and miss with each of these features added or taken out.

    Only the rows that were near before are looked at. Where one further off could have come nearer, the
    entry of `squares`, of shape (groups, features, rows), becomes NaN.
    """
    n_near = near.neighbor.shape[2]
    for b in range(features.size):
        feature, sign = features[b], signs[b]
        kind, gap = space.kinds[feature], space.gaps[feature]
        e = space.expected_row[feature]
        shift = reaches[b] if sign < 0 else 0.0
        for group in range(2):
            for i in range(start, stop):
                x = space.columns[feature, i]
                least = np.inf
                for k in range(n_near):
                    j = near.neighbor[i, group, k]
                    here = near.distance[i, group, k]
                    if j < 0 or (sign > 0 and here >= least):
                        break
                    z = space.columns[feature, j]
                    if kind == SQUARED:
                        here += sign * ((x - z) * (x - z))
                    else:
                        here += sign * difference(kind, gap, x, z, space.expected[e, i], space.expected[e, j])
                    least = here if here < least else least
                squares[group, b, i] = least if least <= near.beyond[i, group] - shift else np.nan


@njit(cache=True, nogil=True)
def _find_near(distances: Floats, i: int, low: int, high: int, near: Near) -> None:
    """Find the near rows of a row whose class has those from `low` to `high`."""
    near.stale[i] = False
    n_near = near.neighbor.shape[2]
    for group in range(2):
        near.beyond[i, group] = np.inf
        for k in range(n_near):
            near.neighbor[i, group, k] = -1
        count = 0
        for j in range(low if group == 0 else 0, high if group == 0 else len(distances)):
            here = distances[i, j]
            if here == np.inf or (group == 1 and low <= j < high):  # the row itself, or a hit
                continue
            if count == n_near:
                farthest = near.distance[i, group, n_near - 1]
                left_out = here if here >= farthest else farthest
                if left_out < near.beyond[i, group]:
                    near.beyond[i, group] = left_out
                if here >= farthest:
                    continue
                count -= 1
            _insert(near, i, group, count, j, here)
            count += 1


@njit(cache=True, nogil=True)
def nearest_among_all(
    space: Space,
    distances: Floats,
    bounds: Ints,
    features: Ints,
    signs: Floats,
    start: int,
    stop: int,
    squares: Floats,
    near: Near,
    row: Floats,
    bits: Ints,
) -> None:
    """Fill in the NaNs of `nearest_among_near`, looking at all rows.

    Rows are sorted by class: class c has those from ``bounds[c]`` to ``bounds[c + 1]``. A row of the matrix,
    whose diagonal is infinite, is read once for all features. Where the near rows of a row were found for
    another set of features, they are found anew. `row` and `bits` (the same as integers) are room for a row.
    """
    n_rows = len(distances)
    for c in range(bounds.size - 1):
        low, high = bounds[c], bounds[c + 1]
        for i in range(low if low > start else start, high if high < stop else stop):
            for b in range(features.size):
                if not (isnan(squares[0, b, i]) or isnan(squares[1, b, i])):
                    continue
                if near.stale[i]:
                    _find_near(distances, i, low, high, near)
                feature, sign = features[b], signs[b]
                kind, gap = space.kinds[feature], space.gaps[feature]
                e = space.expected_row[feature]
                x = space.columns[feature, i]
                if kind == SQUARED:
                    for j in range(n_rows):
                        z = space.columns[feature, j]
                        row[j] = distances[i, j] + sign * ((x - z) * (x - z))
                else:
                    for j in range(n_rows):
                        z = space.columns[feature, j]
                        row[j] = distances[i, j] + sign * difference(
                            kind, gap, x, z, space.expected[e, i], space.expected[e, j]
                        )
                # A minimum of floats is not vectorised; floats that are not negative are ordered as their
                # bits are. One that should be zero may be slightly negative: then so is the minimum, and the
                # caller makes it zero. Indexes are not negative: see `scan`.
                hit = miss = _INFINITE
                for j in range(np.uint64(low)):
                    miss = bits[j] if bits[j] < miss else miss
                for j in range(np.uint64(low), np.uint64(high)):
                    hit = bits[j] if bits[j] < hit else hit
                for j in range(np.uint64(high), np.uint64(n_rows)):
                    miss = bits[j] if bits[j] < miss else miss
                bits[0] = hit
                squares[0, b, i] = row[0]
                bits[0] = miss
                squares[1, b, i] = row[0]
