"""How alike rows of one group are in a column, beside any rows, and beside rows of neighbouring groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc

from offsample._typing import Floats, Ints
from offsample.rows._columns import codes_of, is_numeric, ranks_of

# Values are merged with their neighbours, so many together, to see whether a column is a mere quantity.
NEIGHBOURS = 4


def alikeness(group: Ints, column: NDArray[Any]) -> tuple[float, float]:
    """How much more alike rows of one group are than any rows, off the sample, and its p-value.

    One less the ratio of the mean disagreement of two rows of a group to that of two rows of any, a row
    weighing the same in groups of every size; groups of one row do not count. Two rows disagree if their
    values differ, and by half the squared difference of their ranks if they are numbers. It is 0 on average
    where the groups say nothing, as it is the leave-one-out error (`criteria.ginger`) beside its base. The
    p-value is of the F test of the ranks, or of its like for categories [1]_, with as many degrees of freedom
    as give its variance.

    References
    ----------
    .. [1] R. J. Light, B. H. Margolin (1971). An Analysis of Variance for Categorical Data. JASA 66.
    """
    return ranked_alikeness(group, ranks_of(column) if is_numeric(column) else column)


def _squares(group: Ints, values: NDArray[Any]) -> tuple[Floats, Floats]:
    """Rows of each group, and their squares about its mean; of codes, those of their indicators."""
    size = np.bincount(group).astype(float)
    if is_numeric(values):
        beyond = values - values.mean()
        sums, of_rows = np.bincount(group, beyond), np.bincount(group, beyond**2)
        return size, np.asarray(of_rows - sums**2 / np.maximum(size, 1))
    pair = codes_of(paired(group, values))
    return size, np.asarray(size - np.bincount(group, np.bincount(pair)[pair]) / np.maximum(size, 1))


def ranked_alikeness(group: Ints, values: NDArray[Any]) -> tuple[float, float]:
    """`alikeness` of codes, or of numbers by their ranks."""
    kept = ~np.isnan(values)
    kept[kept] = np.bincount(group[kept])[group[kept]] > 1
    of_group, values = codes_of(group[kept]), _known(values[kept])
    n_rows, n_groups = len(values), int(of_group.max(initial=-1)) + 1
    if n_groups < 2:
        return 0.0, 1.0
    (size, squares), (_, (total,)) = _squares(of_group, values), _squares(np.zeros_like(of_group), values)
    if total <= 1e-9:
        return 0.0, 1.0
    within, left = float((size / (size - 1) * squares).sum()), float(squares.sum())
    if is_numeric(values):
        ratio = (total - left) / (n_groups - 1) / max(left / (n_rows - n_groups), 1e-300)
        p_value = float(fdtrc(n_groups - 1, n_rows - n_groups, ratio))
    else:
        # The covariance of the categories is that of so many that are equally frequent.
        second, third = (float(((np.bincount(values) / n_rows) ** power).sum()) for power in (2, 3))
        freedom = (1 - second) ** 2 / (second - 2 * third + second**2)
        p_value = float(chdtrc(freedom * (n_groups - 1), freedom * (n_rows - 1) * (total - left) / total))
    return 1 - within / (total * n_rows / (n_rows - 1)), p_value


def _known(values: NDArray[Any]) -> NDArray[Any]:
    return values if is_numeric(values) else codes_of(values)


def merged_alikeness(group: Ints, values: NDArray[Any], alike: float) -> float:
    """How alike rows would be if four neighbouring groups were merged, each counting for a quarter.

    So neighbours count, whatever their rows: one large group among small ones would be as alike as before.
    """
    known = ~np.isnan(values)
    of_group, values = group[known], _known(values[known])
    coarse = of_group // NEIGHBOURS
    (size, squares), (whole, of_whole) = _squares(of_group, values), _squares(coarse, values)
    inner = np.arange(len(size)) // NEIGHBOURS
    pairs = whole**2 - np.bincount(inner, size**2, len(whole))  # of rows of different groups
    apart = whole * of_whole - np.bincount(inner, size * squares, len(whole))
    there, total = pairs > 0, float(_squares(np.zeros_like(of_group), values)[1].sum())
    if total <= 1e-9 or not there.any():
        return alike
    mean = float((whole * apart)[there] @ (1 / pairs[there]) / whole[there].sum())
    beside = 1 - mean / (total / max(1, len(values) - 1))
    return alike / NEIGHBOURS + (1 - 1 / NEIGHBOURS) * beside


def paired(first: Ints, second: Ints) -> Ints:
    return first * (int(second.max()) + 1) + second
