"""Nearest rows found in single precision, and in double precision where that leaves a doubt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample.margin._space import CATEGORY, SQUARED, Floats, Ints, Space

Singles = NDArray[np.float32]

# Values compared at a time, where many rows are almost equally near.
_CHUNK = 1 << 20


class Neighbors(NamedTuple):
    """Nearest rows of each group, of shape (rows, groups, neighbours).

    An index is -1 and a distance infinite where a group has too few.
    """

    neighbor: Ints
    distance: Floats


def no_neighbors(n_rows: int, n_groups: int, n_neighbors: int) -> Neighbors:
    """Places for neighbours yet to be found."""
    shape = (n_rows, n_groups, n_neighbors)
    return Neighbors(np.full(shape, -1, np.int64), np.full(shape, np.inf))


class Sketch(NamedTuple):
    """Numeric columns without missing values in single precision, to find out which rows can be nearest.

    Attributes
    ----------
    values : ndarray of float32, shape (n_features, n_rows)
        Centred, so that an offset costs no precision, and divided by the widest range.
    ranges : ndarray of shape (n_features,)
        Of these values: at most 1.
    """

    values: Singles
    ranges: Floats


def make_sketch(space: Space) -> Sketch | None:
    """Sketch of a space of plain numbers that all differ in the same way; None for any other."""
    if space.kinds[0] >= CATEGORY or (space.kinds != space.kinds[0]).any():
        return None
    low, high = space.columns.min(axis=1), space.columns.max(axis=1)
    unit = float(np.max(high / 2 - low / 2)) * 2 or 1.0
    centre = low / 2 + high / 2
    values = ((space.columns - centre[:, None]) / unit).astype(np.float32)
    return Sketch(values, (high - low) / unit)


def find_with_sketch(
    space: Space,
    sketch: Sketch,
    weights: Floats,
    rows: Ints,
    groups: NDArray[np.integer],
    n_groups: int,
    n_neighbors: int,
) -> Neighbors:
    """Nearest rows of each group; distances only for one neighbour, and several in no particular order.

    Parameters
    ----------
    groups : ndarray of shape (len(rows), n_candidates)
        The group of each candidate, as the row sees it. A row is not its own candidate.
    """
    from offsample.margin import _kernels

    squared = bool(space.kinds[0] == SQUARED)
    features = np.flatnonzero(weights)
    largest = float(weights.max(initial=0.0)) or 1.0
    relative = weights[features] / largest
    padding = -len(features) % 4  # by a feature without weight
    scanned = np.empty(groups.shape, np.float32)
    _kernels.scan(
        sketch.values,
        squared,
        np.append(features, np.zeros(padding, np.int64)),
        np.append(relative, np.zeros(padding)).astype(np.float32),
        rows,
        scanned,
    )
    own = np.flatnonzero(rows < groups.shape[1])
    scanned[own, rows[own]] = np.inf
    edges = _edges(scanned, groups, n_groups, n_neighbors)
    surely, possibly = _limits(edges, sketch.ranges[features], relative, squared)

    row, column = np.nonzero(scanned <= _spread(possibly, groups))
    place = row * n_groups + groups[row, column]  # rows and groups counted through
    near = scanned[row, column]
    sure = near < surely.ravel()[place]
    n_left = n_neighbors - np.bincount(place[sure], minlength=edges.size)
    doubt = np.flatnonzero(~sure)
    distance = np.zeros(len(row))
    if n_neighbors == 1 or (np.bincount(place[doubt], minlength=edges.size) > n_left).any():
        distance[doubt] = _distances(space.rows, rows[row[doubt]], column[doubt], weights, squared)
        doubt = doubt[np.lexsort((distance[doubt], place[doubt]))]  # stable: the first of equally near ones
        taken = np.concatenate([np.flatnonzero(sure), doubt[_rank(place[doubt]) < n_left[place[doubt]]]])
    else:
        taken = np.arange(len(row))
    taken = taken[np.argsort(place[taken], kind="stable")]
    found = no_neighbors(len(rows), n_groups, n_neighbors)
    position = place[taken] * n_neighbors + _rank(place[taken])
    found.neighbor.ravel()[position] = column[taken]
    found.distance.ravel()[position] = distance[taken]
    return found


def _spread(values: Singles, groups: NDArray[np.integer]) -> Singles:
    """The value of each candidate's group."""
    if values.shape[1] == 2:  # much faster than an index for each candidate
        return np.where(groups == 0, values[:, :1], values[:, 1:])
    return np.asarray(values[np.arange(len(values))[:, None], groups])


def _rank(sorted_places: Ints) -> Ints:
    """0, 1, … within each run of equal entries."""
    return np.arange(len(sorted_places)) - np.searchsorted(sorted_places, sorted_places)


def _distances(points: Floats, i: Ints, j: Ints, weights: Floats, squared: bool) -> Floats:
    """Distances of pairs, each summed in the same order, so that those of equal rows are equal."""
    size = max(1, _CHUNK // max(len(weights), 1))
    out = np.empty(len(i))
    for start in range(0, len(i), size):
        gaps = points[i[start : start + size]] - points[j[start : start + size]]
        gaps = np.square(gaps, out=gaps) if squared else np.abs(gaps, out=gaps)
        out[start : start + size] = np.sum(np.multiply(gaps, weights, out=gaps), axis=1)
    return out


def _edges(scanned: Singles, groups: NDArray[np.integer], n_groups: int, n_neighbors: int) -> Floats:
    """Distance to the last of the nearest in each group; infinite where a group has no more than that."""
    edges = np.full((len(scanned), n_groups), np.inf)
    for g in range(n_groups):
        if n_neighbors == 1:
            edges[:, g] = np.where(groups == g, scanned, np.float32(np.inf)).min(axis=1, initial=np.inf)
            continue
        members = np.flatnonzero(groups[0] == g)  # classes: the same for each row
        if len(members) > n_neighbors:
            edges[:, g] = np.partition(scanned[:, members], n_neighbors - 1, axis=1)[:, n_neighbors - 1]
    return edges


def _limits(edges: Floats, ranges: Floats, weights: Floats, squared: bool) -> tuple[Singles, Singles]:
    """Distances below which a row is surely among the nearest, and above which it is surely not.

    A distance D that was summed in single precision is off by at most ``s(D) = r D + a √D + c``. A value of
    the range ``ρ`` is rounded by at most ``u ρ / 2``, so that a difference is off by at most ``u ρ``; each
    sum of four terms is rounded some ten times, and their total once for every four. The limits are where
    ``D + s(D)`` is ``edge - s(edge)``, and ``D - s(D)`` is ``edge + s(edge)``.
    """
    u = 2.0**-24
    r = 1.01 * u * (len(ranges) / 4 + 12)
    if squared:  # |(δ + e)² - δ²| ≤ 2 |δ| |e| + e²; by Cauchy-Schwarz the first sum to at most 2 √D √Σ w e²
        error = u * np.sqrt(np.sum(weights * ranges**2))
        a, c = 2.02 * error, 8 * error**2
    else:
        a, c = 0.0, 1.01 * u * np.sum(weights * ranges)
    c += len(ranges) * 2.0**-120  # what is lost where a product is too small for single precision
    finite = np.where(np.isinf(edges), 0.0, edges)
    slack = r * finite + a * np.sqrt(finite) + c
    below = np.maximum(finite - slack - c, 0.0)
    surely = (1 - 2 * u) * ((np.sqrt(a * a + 4 * (1 + r) * below) - a) / (2 * (1 + r))) ** 2
    possibly = ((np.sqrt(a * a + 4 * (1 - r) * (finite + slack + c)) + a) / (2 * (1 - r))) ** 2
    # Of a group that is too small all are taken; only the row itself is at an infinite distance.
    everyone = np.finfo(np.float32).max
    too_few = np.isinf(edges)
    return (
        np.where(too_few, everyone, surely).astype(np.float32),
        # rounded up
        np.nextafter(np.where(too_few, everyone, possibly).astype(np.float32), everyone),
    )
