"""Compiled loops over rows that are sorted by group. Imported only by the functions that call them."""

import numpy as np

from offsample._kernels import njit
from offsample._typing import Floats, Ints


@njit(cache=True, nogil=True)
def leave_groups_out(value: Ints, group: Ints, label: Ints, totals: Ints) -> tuple[Floats, int]:
    """Expected errors of the Gini rule on each group, learned from the others; and rows no other can tell of.

    Totals are the class counts of each value. The latter rows have a value that no other group has.
    """
    n_classes = totals.shape[1]
    own = np.zeros(totals.size, np.int64)
    errors = np.zeros(group[-1] + 1)
    n_alone, end = 0, 0
    while end < value.size:
        start, g = end, group[end]
        while end < value.size and group[end] == g:
            own[value[end] * n_classes + label[end]] += 1
            end += 1
        for i in range(start, end):
            v = value[i]
            n_own, n_others, hits = 0, 0, 0
            for k in range(n_classes):
                here = own[v * n_classes + k]
                n_own += here
                n_others += totals[v, k] - here
                hits += here * (totals[v, k] - here)
                own[v * n_classes + k] = 0
            if n_own == 0:  # the value was that of an earlier row of the group
                continue
            if n_others == 0:
                n_alone += n_own
                errors[g] += n_own * (1 - 1 / n_classes)
            else:
                errors[g] += n_own - hits / n_others
    return errors, n_alone


@njit(cache=True, nogil=True)
def count_bundles(value: Ints, group: Ints, label: Ints, counts: Ints) -> None:
    """Count the classes at each value in bundles of groups, that are merged in turn."""
    last, bundle = -1, 0
    for i in range(value.size):
        if group[i] != last:
            last = group[i]
            bundle = last % counts.shape[1]
        counts[value[i], bundle, label[i]] += 1


@njit(cache=True, nogil=True)
def sum_pairs(value: Ints, group: Ints, label: Ints, totals: Ints, most_exact: int) -> float:
    """Sum the products of the Gini rule's changes over pairs of groups, as `_unit_intervals` defines them.

    Over all pairs where a value has few groups, to first order where it has many.
    """
    n_values, n_classes = totals.shape
    ends = np.zeros(n_values + 1, np.int64)
    for v in range(n_values):
        for k in range(n_classes):
            ends[v + 1] += totals[v, k]
    largest = ends.max()
    ends = np.cumsum(ends)
    place = ends[:-1].copy()
    packed = np.empty(value.size, np.int64)  # group and class of each row, sorted by value
    for i in range(value.size):
        packed[place[value[i]]] = group[i] * n_classes + label[i]
        place[value[i]] += 1
    counts = np.zeros((largest + 1, n_classes))
    total = 0.0
    for v in range(n_values):
        n_groups, last = 0, -1
        for i in range(ends[v], ends[v + 1]):
            g = packed[i] // n_classes
            if g != last:
                counts[n_groups] = 0.0
                n_groups, last = n_groups + 1, g
            counts[n_groups - 1, packed[i] - g * n_classes] += 1
        if 1 < n_groups <= most_exact:
            total += _exact(counts[:n_groups], totals[v])
        elif n_groups > 1:
            total += _first_order(counts[:n_groups], totals[v])
    return total


@njit(cache=True, nogil=True)
def _exact(counts: Floats, totals: Ints) -> float:
    """Sum at one value; counts of shape (n_groups, n_classes)."""
    n_groups, n_classes = counts.shape
    size = np.zeros(n_groups)
    hits = np.zeros(n_groups)
    whole = float(totals.sum())
    for g in range(n_groups):
        for k in range(n_classes):
            size[g] += counts[g, k]
            hits[g] += counts[g, k] * (totals[k] - counts[g, k])
    total = 0.0
    for g in range(n_groups):
        for h in range(g):
            common = 0.0
            for k in range(n_classes):
                common += counts[g, k] * counts[h, k]
            left = whole - size[g] - size[h]
            # A hit rate without both is that of any class where nobody is left.
            of_g = (hits[g] - common) / left if left > 0 else size[g] / n_classes
            of_h = (hits[h] - common) / left if left > 0 else size[h] / n_classes
            change_g = hits[g] / (whole - size[g]) - of_g
            total += 2 * change_g * (hits[h] / (whole - size[h]) - of_h)
    return total


@njit(cache=True, nogil=True)
def _first_order(counts: Floats, totals: Ints) -> float:
    """Sum at one value to first order, in time linear in the number of groups."""
    n_groups, n_classes = counts.shape
    whole = float(totals.sum())
    products = np.zeros((n_classes, n_classes))
    by_hits, by_size = np.zeros(n_classes), np.zeros(n_classes)
    both, same = 0.0, 0.0
    for g in range(n_groups):
        size, hits, length = 0.0, 0.0, 0.0
        for k in range(n_classes):
            size += counts[g, k]
            hits += counts[g, k] * (totals[k] - counts[g, k])
            length += counts[g, k] ** 2
        hits /= whole - size
        weight = (1 - size / whole) ** -2
        for k in range(n_classes):
            weighted = weight * counts[g, k]
            by_hits[k] += weighted * hits
            by_size[k] += weighted * size
            for j in range(n_classes):
                products[k, j] += weighted * counts[g, j]
        both += weight * hits * size
        same += (weight * (length - hits * size)) ** 2
    total = both**2 - same
    for k in range(n_classes):
        total -= 2 * by_hits[k] * by_size[k]
        for j in range(n_classes):
            total += products[k, j] ** 2
    return total / whole**2
