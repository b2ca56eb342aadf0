"""Suspected clusters: rows that lie as close together as repeated measurements, of what no column says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from offsample.rows._columns import Columns, checked, codes_of, is_numeric, ranks_of

# A row's class must agree with that of rows so near this much more than with that of rows beyond, which say
# nearly nothing; and distances must grow so many times as fast from near to beyond as before and after.
DROP, BEYOND, JUMP = 0.5, 0.15, 1.15
FEWEST_CLUSTERS, FEWEST_ROWS = 25, 4
_CONTINUOUS = 0.5
_MOST_ROWS, _MOST_ASKED, _MOST_COLUMNS, _MOST_NEAR = 4000, 300, 8, 512


@dataclass(frozen=True)
class Clusters:
    """Rows that lie in many tight clusters, each of which has a class of its own.

    Attributes
    ----------
    columns : tuple of str
        The continuous columns in which rows lie close together.
    n_clusters : int
        About how many there are, within a factor of two.
    error_known : float
        How often the class of a row differs from that of one in its cluster.
    error_new : float
        How often it differs from that of a row just beyond.
    """

    columns: tuple[str, ...]
    n_clusters: int
    error_known: float
    error_new: float


def suspect_clusters(columns: Columns, y: ArrayLike) -> Clusters | None:
    """Find out whether rows lie in tight clusters, as visits of patients do whose number is not in the table.

    Asked of are up to eight columns of numbers of which half or more differ, by their ranks, at 300 rows
    drawn at random. Let a(k) be how much more often than by chance the class of a row is that of its k-th
    neighbour (1 if always), and r(k) the mean logarithm of the distance to it. For some m, of at most a
    25th of the rows, a is larger by 0.5 or more up to m/2 than from 2 m to 4 m, where it is at most 0.15;
    and the slope of r against log k is from m/2 to 2 m at least 1.15 times as large as from m/4 to m/2 and
    as from 2 m to 4 m. Smooth densities have one slope; where the class depends on the columns, a falls
    slowly; in a mixture of few components it does not fall to nothing.

    An honest mixture of many components, each with a class of its own, is the same table: this is a
    question. Clusters that overlap, or are seen in some of the columns only, are not found.

    Parameters
    ----------
    columns : mapping of str to array-like of shape (n_rows,)
        Integers are codes of categories, floats are numbers, with NaN where missing.
    y : array-like of int, shape (n_rows,)
        Class codes.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.rows import suspect_clusters
    >>> random = np.random.default_rng(0)
    >>> patient = random.permutation(np.repeat(np.arange(60), 40))
    >>> level = random.normal(size=(4, 60))[:, patient] + 0.1 * random.normal(size=(4, 2400))
    >>> sick = random.integers(0, 2, 60)[patient]
    >>> found = suspect_clusters({f"x{j}": column for j, column in enumerate(level)}, sick)
    >>> found.columns, found.error_known < 0.02, found.error_new > 0.4
    (('x0', 'x1', 'x2', 'x3'), True, True)
    """
    arrays, label = checked(columns, y)
    random = np.random.default_rng(0)
    some = random.permutation(len(label))[:_MOST_ROWS]
    numbers = {name: column[some] for name, column in arrays.items() if is_numeric(column)}
    least = _CONTINUOUS * len(some)
    names = [name for name, column in numbers.items() if int(codes_of(column).max(initial=0)) >= least]
    names = names[:_MOST_COLUMNS]
    most = min(_MOST_NEAR, len(some) - 1)
    if len(names) < 2 or most < 4 * FEWEST_ROWS:
        return None
    place = np.column_stack([np.nan_to_num(ranks_of(numbers[name]), nan=0.5) for name in names])
    label = codes_of(label[some])
    distance, near = cKDTree(place).query(place[:_MOST_ASKED], most + 1)
    same = (label[near[:, 1:]] == label[: len(near), None]).mean(axis=0)
    grown = np.log(np.maximum(distance[:, 1:], 1e-12)).mean(axis=0)
    chance = float(((np.bincount(label) / len(label)) ** 2).sum())
    size = FEWEST_ROWS
    while 4 * size <= most and FEWEST_CLUSTERS * size <= len(label):
        inner, outer = same[: size // 2].mean(), same[2 * size : 4 * size].mean()
        at = grown[[size // 4 - 1, size // 2 - 1, 2 * size - 1, 4 * size - 1]]
        before, jump, after = np.diff(at) / np.log([size // 2 / (size // 4), 2 * size / (size // 2), 2])
        drop, beyond = (inner - outer) / (1 - chance), (outer - chance) / (1 - chance)
        if drop >= DROP and beyond <= BEYOND and jump >= JUMP * max(before, after):
            return Clusters(tuple(names), len(label) // size, 1 - float(inner), 1 - float(outer))
        size += max(1, size // 3)
    return None
