"""Suspected clusters: rows that lie as close together as repeated measurements, of what no column says."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from offsample.rows._columns import Columns, checked, codes_of, is_numeric, ranks_of

DROP, BEYOND, JUMP = 0.5, 0.15, 1.15
FEWEST_CLUSTERS, FEWEST_ROWS = 25, 4
_MOST_ROWS, _MOST_ASKED, _MOST_NEAR = 4000, 300, 512


class Clusters(NamedTuple):
    """Rows that lie in many tight clusters, each of which has a class of its own."""

    columns: tuple[str, ...]  # in which they lie close together
    n_clusters: int  # within a factor of two
    error_known: float  # how often the class of a row differs from that of one in its cluster
    error_new: float  # and from that of one just beyond


def suspect_clusters(columns: Columns, y: ArrayLike) -> Clusters | None:
    """Find out whether rows lie in tight clusters, as visits of patients do whose number is not in the table.

    Asked of are up to eight columns of numbers of which half or more differ, by their ranks, at 300 rows
    drawn at random. Let a(k) be how much more often than by chance the class of a row is that of its k-th
    neighbour (1 if always), and r(k) the mean logarithm of the distance to it. For some m, of at most a
    25th of the rows, a is larger by more than 0.5 up to m/2 than from 2 m to 4 m, where it is at most 0.15;
    and the slope of r against log k is from m/2 to 2 m at least 1.15 times as large as from m/4 to m/2 and
    as from 2 m to 4 m. Smooth densities have one slope; where the class depends on the columns, a falls
    slowly; in a mixture of few components it does not fall to nothing. An honest mixture of many components,
    each with a class of its own, is the same table: this is a question. Clusters that overlap, or are seen in
    some of the columns only, are not found.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.rows import suspect_clusters
    >>> random, patient = np.random.default_rng(0), np.repeat(np.arange(60), 40)
    >>> level = random.normal(size=(4, 60))[:, patient] + 0.1 * random.normal(size=(4, 2400))
    >>> sick = random.integers(0, 2, 60)[patient]
    >>> suspect_clusters({f"x{j}": column for j, column in enumerate(level)}, sick).columns
    ('x0', 'x1', 'x2', 'x3')
    """
    arrays, label = checked(columns, y)
    some = np.random.default_rng(0).permutation(len(label))[:_MOST_ROWS]
    label, most = codes_of(label[some]), min(_MOST_NEAR, len(some) - 1)
    numbers = {name: column[some] for name, column in arrays.items() if is_numeric(column)}
    names = [name for name, one in numbers.items() if 2 * codes_of(one).max(initial=0) >= len(some)][:8]
    if len(names) < 2 or most < 4 * FEWEST_ROWS:
        return None
    place = np.column_stack([np.nan_to_num(ranks_of(numbers[name]), nan=0.5) for name in names])
    distance, near = cKDTree(place).query(place[:_MOST_ASKED], most + 1)
    same = (label[near[:, 1:]] == label[: len(near), None]).mean(axis=0)
    grown = np.log(np.maximum(distance[:, 1:], 1e-12)).mean(axis=0)
    chance, size = float(((np.bincount(label) / len(label)) ** 2).sum()), FEWEST_ROWS
    while 4 * size <= most and FEWEST_CLUSTERS * size <= len(label):
        inner, outer = float(same[: size // 2].mean()), float(same[2 * size : 4 * size].mean())
        at = np.array([size // 4, size // 2, 2 * size, 4 * size])
        before, jump, after = np.diff(grown[at - 1]) / np.diff(np.log(at))
        falls = inner - outer > DROP * (1 - chance) and outer - chance <= BEYOND * (1 - chance)
        if falls and jump >= JUMP * max(before, after):
            return Clusters(tuple(names), len(label) // size, 1 - inner, 1 - outer)
        size += max(1, size // 3)
    return None
