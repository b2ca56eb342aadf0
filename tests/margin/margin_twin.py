"""Slow, obvious versions of the margin, its gradient, ReliefF and the greedy flips: one pair at a time."""

from __future__ import annotations

import math

import numpy as np


def difference(values, categorical, f, i, j, squared=True):
    """Difference of two rows in one feature; a missing value (None) is any of the known ones."""
    column = [row[f] for row in values]
    known = [v for v in column if v is not None]

    def gap(a, b):
        if categorical[f]:
            return float(a != b)
        return (a - b) ** 2 if squared else abs(a - b)

    options_i = [column[i]] if column[i] is not None else known
    options_j = [column[j]] if column[j] is not None else known
    gaps = [gap(a, b) for a in options_i for b in options_j]
    return sum(gaps) / len(gaps) if gaps else 0.0


def gaps_of(values, categorical=None, squared=True):
    """All differences, of shape (rows, rows, features)."""
    n, d = len(values), len(values[0])
    categorical = categorical or [False] * d
    return np.array(
        [
            [[difference(values, categorical, f, i, j, squared) for f in range(d)] for j in range(n)]
            for i in range(n)
        ]
    )


def gaps_of_numbers(X):
    return (X[:, None, :] - X[None, :, :]) ** 2


def neighbors(gaps, y, w, i):
    """Nearest hit and miss of a row, the first of equally near ones; None where there is none."""
    best = {True: None, False: None}
    near = {True: math.inf, False: math.inf}
    for j in range(len(y)):
        if j == i:
            continue
        distance = math.sqrt(sum(w[f] ** 2 * gaps[i, j, f] for f in range(len(w))))
        if distance < near[y[j] == y[i]]:
            near[y[j] == y[i]], best[y[j] == y[i]] = distance, j
    return best[True], best[False], near[True], near[False]


def margin(gaps, y, w, i):
    hit, miss, to_hit, to_miss = neighbors(gaps, y, w, i)
    return math.nan if hit is None or miss is None else (to_miss - to_hit) / 2


def score(gaps, y, w, utility=lambda t: t):
    margins = [margin(gaps, y, w, i) for i in range(len(y))]
    return sum(utility(t) for t in margins if not math.isnan(t))


def relief(gaps, y, rows):
    """Algorithm 3, averaged: the nearest hit and the nearest miss of any other class."""
    ones = np.ones(gaps.shape[2])
    total = np.zeros(gaps.shape[2])
    for i in rows:
        hit, miss, _, _ = neighbors(gaps, y, ones, i)
        total += gaps[i, miss] - gaps[i, hit]
    return total / len(rows)


def relieff(gaps, y, n_neighbors, rows):
    """k nearest rows of each class; misses weigh by the prior of their class among the other classes."""
    total = np.zeros(gaps.shape[2])
    distances = gaps.sum(axis=2)
    for i in rows:
        for c in sorted(set(y)):
            group = [j for j in range(len(y)) if y[j] == c and j != i]
            group = sorted(group, key=lambda j: (distances[i, j], j))[:n_neighbors]
            share = np.mean([gaps[i, j] for j in group], axis=0)
            if c == y[i]:
                total -= share
            else:
                prior = list(y).count(c) / len(y)
                total += prior / (1 - list(y).count(y[i]) / len(y)) * share
    return total / len(rows)


def surf(gaps, y, limits):
    """ReliefF by the rows that are nearer than a limit of each row."""
    total = np.zeros(gaps.shape[2])
    for i, limit in enumerate(limits):
        for c in sorted(set(y)):
            group = [j for j in range(len(y)) if y[j] == c and j != i and gaps[i, j].sum() < limit]
            if group:
                factor = -1.0 if c == y[i] else list(y).count(c) / (len(y) - list(y).count(y[i]))
                total += factor * np.mean([gaps[i, j] for j in group], axis=0)
    return total / len(y)


def rrelieff(gaps, y, n_neighbors, rows):
    """RReliefF by its three sums over the k nearest rows, which weigh the same."""
    distances, spread = gaps.sum(axis=2), max(y) - min(y)
    of_target, of_features, of_both = 0.0, np.zeros(gaps.shape[2]), np.zeros(gaps.shape[2])
    for i in rows:
        near = sorted((j for j in range(len(y)) if j != i), key=lambda j: (distances[i, j], j))[:n_neighbors]
        for j in near:
            apart = abs(y[i] - y[j]) / spread
            of_target += apart / len(near)
            of_features += gaps[i, j] / len(near)
            of_both += apart * gaps[i, j] / len(near)
    return of_both / of_target - (of_features - of_both) / (len(rows) - of_target)


def simba_step(gaps, y, w, i):
    """Add one term of the gradient, Algorithm 2; nothing where a distance is 0."""
    hit, miss, to_hit, to_miss = neighbors(gaps, y, w, i)
    if to_hit == 0 or to_miss == 0:
        return np.zeros(len(w))
    return 0.5 * (gaps[i, miss] / to_miss - gaps[i, hit] / to_hit) * w


def flip_pass(gaps, y, selected, order, utility=lambda t: t):
    """One pass of Algorithm 1."""
    selected = selected.copy()
    for f in order:
        with_f, without_f = selected.copy(), selected.copy()
        with_f[f], without_f[f] = 1, 0
        more, less = score(gaps, y, with_f, utility), score(gaps, y, without_f, utility)
        if not math.isclose(more, less, rel_tol=1e-9, abs_tol=1e-12):
            selected = with_f if more > less else without_f
    return selected
