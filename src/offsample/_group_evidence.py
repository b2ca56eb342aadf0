"""Is there a signal beyond what rows of the same group share? A test whose units are groups."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from offsample._counting import over_classes
from offsample._grouped_counts import GroupedCounts, Groups, GroupTable
from offsample._proportions import gamma_tail
from offsample._typing import Floats, Ints

# Draws of most columns; at first, enough where so many of them are as large as the sample, as most noise
# has (Besag & Clifford 1991); and where none comes near it and no law is fitted to their tail.
_N_DRAWS, _FEW_DRAWS, _ENOUGH_AS_LARGE, _MANY_DRAWS = 399, 99, 10, 9_999
# With fewer groups than this that count, the tail beyond all draws is not extrapolated.
_FEWEST_FOR_TAIL = 30
# A table of values and groups with more pairs than this share of all is multiplied as a matrix.
_DENSE = 0.1


class Resampled(NamedTuple):
    """How far cells differ in their classes across groups, beside what resampled groups show."""

    excess: float  # over the mean of the draws, per row
    deviation: float
    p_value: float


def resample_groups(cells: GroupedCounts) -> Resampled:
    """Test whether a partition tells the class of rows of other groups."""
    table, (total, variance) = cells.bundled, _bundles(cells.groups)
    with libraries().limit(limits=1, user_api="blas"):  # threads wait for each other longer than they work
        drawn = statistics(table, variance, _FEW_DRAWS) if len(total) > 2 else np.zeros(1)
        if len(drawn) > 1 and (drawn[1:] >= drawn[0]).sum() < _ENOUGH_AS_LARGE:
            drawn = statistics(table, variance)
        effective = float(total.sum() ** 2 / (total @ total))
        if effective < _FEWEST_FOR_TAIL and len(drawn) > 1 and drawn[0] > drawn[1:].max():
            drawn = statistics(table, variance, _MANY_DRAWS)
    return _compare(drawn[0], drawn[1:], float(total.sum()), effective)


@lru_cache(maxsize=1)  # the same for all columns of a table
def _bundles(groups: Groups) -> tuple[Floats, Floats]:
    """Rows of each bundle, and the variance of its shares: that of the mean of what its groups have."""
    total = np.bincount(groups.bundle, groups.size).astype(np.float64)
    squares = groups.size.astype(float) ** 2 * _variance(groups.counts.astype(float))
    return total, np.bincount(groups.bundle, squares) / total**2


def statistics(table: GroupTable, variance: Floats | None = None, n_draws: int = _N_DRAWS) -> Floats:
    """Return the statistic of the sample, then of resampled groups, whose shares have this variance.

    It is ``sum_v (1/c_v) sum_{g≠h} e_vg · e_vh``, where ``e_vg = n_vg - c_vg p`` is what group g has at
    value v beyond the shares p of the classes in the sample; groups that agree there make it large. Without a
    signal, two things can be exchanged. The classes of a whole group might as well be those of another: its
    shares, in units of their standard deviation (which the correlation of rows within groups decides),
    are shuffled among the groups. And what a group has at its values beyond its own shares might as well be
    the opposite: its sign is drawn. So columns that are constant within groups are tested between groups, all
    others within and between. Where large groups have another class than small ones, shuffled shares would
    be larger, or smaller, than those of the sample: what pairs of groups have on average is added, and the
    shares of each draw are scaled to lie as far apart.
    """
    n_groups = table.n_groups
    counts = table.counts.astype(float)
    of_group = table.over_groups(counts)
    size = of_group.sum(axis=1)
    share = of_group / size[:, None]
    variance = _variance(of_group) if variance is None else variance
    unit = np.sqrt(variance)  # in which all groups are alike
    alike = (share - (share / variance[:, None]).sum(axis=0) / (1 / variance).sum()) / unit[:, None]

    # A value that one group has alone says nothing of others.
    n_there = np.diff(table.starts, append=len(table.value))
    kept = np.repeat(n_there > 1, n_there)
    if not kept.any():
        return np.zeros(1)
    group, value = table.group[kept], np.cumsum(np.diff(table.value[kept], prepend=-1) != 0) - 1
    n_rows_there = over_classes(counts)
    whole = np.sqrt(table.over_values(n_rows_there)[n_there > 1])
    rows = n_rows_there[kept] / whole[value]
    within = counts[kept] / whole[value][:, None] - rows[:, None] * share[group]
    is_dense = len(group) > _DENSE * len(whole) * n_groups

    def by_value(terms: Floats) -> Any:
        if not is_dense:
            return csr_array((terms, (value, group)), (len(whole), n_groups))
        table = np.zeros((len(whole), n_groups))
        table[value, group] = terms
        return table

    def product(first: Any, second: Any) -> Floats:
        """Sums over the values of products, of all pairs of groups."""
        products = first.T @ second
        return np.asarray(products if is_dense else products.toarray())

    # What a group has at its values beyond its share of all rows, squared. (Shares beyond those of all rows
    # add up to 0: pairs of groups alone, without any signal, have the sum of their squares below it.)
    n_together = whole @ whole - rows @ rows
    of_itself = np.bincount(group, rows**2, n_groups)
    of_itself -= size**2 * n_together / max(size.sum() ** 2 - size @ size, 1.0)
    of_itself = np.maximum(of_itself, 0.0)
    sign, moves = _draws(n_groups, n_draws)[1], by_value(rows)
    # Sums are made over the values, or over pairs of groups, of whichever there are fewer.
    pairs = product(moves, moves) if len(whole) > n_groups else None
    answer, of_stays = np.zeros(sign.shape[1]), np.zeros((n_groups, n_groups))
    # Of two classes, one has what the other has not.
    n_classes = counts.shape[1]
    for k, beyond in enumerate(within.T[: 1 if n_classes == 2 else n_classes]):
        stays = by_value(beyond)
        moved = _moved(alike[:, k].tobytes(), unit.tobytes(), size.tobytes(), n_draws)
        # Pairs of groups lie as far apart as in the sample: the largest may be of one class, or a rare one.
        squares = of_itself[:, None] * moved**2
        apart = np.maximum(squares.sum(axis=0) ** 2 - np.einsum("gd,gd->d", squares, squares), 0.0)
        moved = moved * (apart[0] / np.where(apart > 0, apart, 1.0)) ** 0.25
        if pairs is None:
            sums = moves @ moved + stays @ sign
            answer += np.einsum("vd,vd->d", sums, sums)
        else:
            answer += np.einsum("gd,gd->d", pairs @ moved + 2 * product(moves, stays) @ sign, moved)
            of_stays += product(stays, stays)
        # Without a group and itself.
        answer -= of_itself @ moved**2 + beyond @ beyond
        answer -= np.einsum("g,gd,gd->d", np.bincount(group, 2 * rows * beyond, n_groups), moved, sign)
    if pairs is not None:
        answer += np.einsum("gd,gd->d", of_stays @ sign, sign)
    return 2 * answer if n_classes == 2 else answer


def _variance(of_group: Floats) -> Floats:
    size = of_group.sum(axis=1)
    return np.asarray(1 / size + (1 - 1 / size) * _correlation(of_group / size[:, None], size))


def _correlation(share: Floats, size: Floats) -> float:
    """Correlation of two rows of a group, by the analysis of variance; between 0 and 1."""
    n_rows, n_groups = float(size.sum()), len(size)
    beyond = share - size @ share / n_rows
    within = float(size @ (1 - (share**2).sum(axis=1))) / max(n_rows - n_groups, 1.0)
    between = float(size @ (beyond**2).sum(axis=1)) / (n_groups - 1)
    typical = (n_rows - float(size @ size) / n_rows) / (n_groups - 1)
    total = between + (typical - 1) * within
    return min(1.0, max(0.0, (between - within) / total)) if total > 0 else 0.0


@cache
def libraries() -> Any:
    """Controller of the threads of numpy's libraries."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@lru_cache(maxsize=8)
def _draws(n_groups: int, n_draws: int) -> tuple[Ints, Floats]:
    """Orders of the groups and signs, groups × draws; the first are those of the sample."""
    random = np.random.default_rng(n_groups)
    order = np.array([np.arange(n_groups), *(random.permutation(n_groups) for _ in range(n_draws))])
    sign = random.choice([-1.0, 1.0], (n_groups, n_draws + 1))
    sign[:, 0] = 1.0
    return np.ascontiguousarray(order.T), sign


@lru_cache(maxsize=64)  # the same for all columns of a table
def _moved(alike: bytes, unit: bytes, size: bytes, n_draws: int) -> Floats:
    """What each group has of a class beyond the mean of all rows, groups × draws, when shuffled."""
    of_group, rows = np.frombuffer(alike), np.frombuffer(size)
    moved = of_group[_draws(len(rows), n_draws)[0]] * np.frombuffer(unit)[:, None]
    return np.asarray(moved - rows @ moved / rows.sum())


def _compare(seen: float, drawn: Floats, n_rows: float, effective_groups: float) -> Resampled:
    """Share of the draws that are as large; where few are, the tail of a gamma law of the same moments."""
    if not len(drawn):
        return Resampled(0.0, 0.0, 1.0)
    mean, deviation = float(drawn.mean()), float(drawn.std())
    if deviation <= max(1e-9 * (abs(seen) + abs(mean)), 1e-13 * n_rows):  # but for rounding, all are the same
        return Resampled(0.0, 0.0, 1.0)
    as_large = int((drawn >= seen - 1e-9 * deviation).sum())
    p_value = (1 + as_large) / (1 + len(drawn))
    if not as_large and effective_groups >= _FEWEST_FOR_TAIL:
        skewness = float((((drawn - mean) / deviation) ** 3).mean())
        p_value = min(p_value, gamma_tail(seen, mean, deviation**2, skewness))
    return Resampled((seen - mean) / n_rows, deviation / n_rows, p_value)
