"""Compiled loops over rows that are sorted by group. Imported only by the functions that call them."""

from typing import Any

import numpy as np

from offsample._kernels import njit
from offsample._typing import Floats, Ints


@njit(cache=True, nogil=True, error_model="numpy")
def sum_groups(
    rows: tuple[Ints, Ints, Ints], totals: Ints, groups: Floats, bundle: Ints, packed: Any, most_exact: int
) -> tuple[Floats, Ints, Ints, Ints]:
    """Sum up what a column says of rows of other groups, in one pass over the rows by value.

    `rows` are values, groups and classes, `totals` the class counts of each value, `packed` room for rows.
    `groups` has for each group what each class counts for beside the others of a value (all classes for one
    row), then 0, to which the expected errors on it are added, of the Gini rule learned from the others.

    Returns the rows whose value no other group has, the products of the rule's changes over pairs of groups
    as `_unit_intervals` has them (over all pairs where a value has few groups, to first order where it has
    many) and the log loss; then the value, bundle and class counts of each bundle that has rows at a value.
    """
    value, group, label = rows
    n_values, n_classes = totals.shape
    n_bundles, bits = bundle.max() + 1, 0
    while 1 << bits < n_classes:
        bits += 1
    more = bits
    while 1 << (more - bits) < n_bundles:
        more += 1
    of_label, in_bundle = (1 << bits) - 1, (1 << (more - bits)) - 1
    ends, n_pairs = np.zeros(n_values + 1, np.int64), 0
    for v in range(n_values):
        whole = 0
        for k in range(n_classes):
            whole += totals[v, k]
        ends[v + 1] = ends[v] + whole
        n_pairs += min(whole, n_bundles)
    place = ends[:-1].copy()
    for i in range(value.size):
        packed[place[value[i]]] = (group[i] << more) | (bundle[group[i]] << bits) | label[i]
        place[value[i]] += 1

    sums, product = np.zeros(3), 1.0
    pair_value, pair_bundle = np.empty(n_pairs, np.int64), np.empty(n_pairs, np.int64)
    pair_counts = np.empty((n_pairs, n_classes), np.int64)
    few, room = np.zeros((most_exact + n_classes, n_classes)), np.empty((most_exact + n_classes, 4))
    of_bundle = np.zeros((n_bundles, n_classes + 1), np.int64)
    own, touched = np.zeros(n_classes, np.int64), np.empty(n_bundles, np.int64)
    alone, rates = np.zeros(n_classes, np.int64), np.zeros(n_classes)  # of groups with one row at a value
    # To first order, sums over pairs of groups are products of these sums over groups.
    products, by_hits, by_size = np.zeros((n_classes, n_classes)), np.zeros(n_classes), np.zeros(n_classes)
    n_pairs = 0
    for v in range(n_values):
        whole, i, both, same = ends[v + 1] - ends[v], ends[v], 0.0, 0.0
        n_groups, n_several, n_touched = 0, 0, 0
        is_first_order = whole > most_exact
        for k in range(n_classes):
            alone[k], by_hits[k], by_size[k] = 0, 0.0, 0.0
            rates[k] = (totals[v, k] - 1) / max(whole - 1, 1)
            if is_first_order:
                for j in range(n_classes):
                    products[k, j] = 0.0
        while i < ends[v + 1]:
            g, k = packed[i] >> more, packed[i] & of_label
            b, size = (packed[i] >> bits) & in_bundle, 1
            i += 1
            if of_bundle[b, n_classes] == 0:
                of_bundle[b, n_classes] = 1
                touched[n_touched] = b
                n_touched += 1
            of_bundle[b, k] += 1
            if whole > 1 and (i == ends[v + 1] or packed[i] >> more != g):
                alone[k] += 1
                groups[g, n_classes] += 1 - rates[k]
                # The sum of logarithms is that of a product, which is far cheaper.
                product *= whole / (totals[v, k] - 1 + groups[g, k])
                if product > 1e200:
                    sums[2] += np.log(product)
                    product = 1.0
                n_groups += 1
                continue
            for j in range(n_classes):
                own[j] = 0
            own[k] = 1
            while i < ends[v + 1] and packed[i] >> more == g:
                k = packed[i] & of_label
                of_bundle[b, k] += 1
                own[k] += 1
                size += 1
                i += 1
            hits, length, left = 0, 0, whole - size
            for k in range(n_classes):
                n, others = own[k], totals[v, k] - own[k]
                hits += n * others
                length += n * n
                if n > 4:
                    sums[2] += n * np.log((left + 1) / (others + groups[g, k]))
                elif n > 0:
                    ratio = (left + 1) / (others + groups[g, k])
                    for _ in range(n):
                        product *= ratio
                if product > 1e200:
                    sums[2] += np.log(product)
                    product = 1.0
            if left == 0:
                sums[0] += size
                groups[g, n_classes] += size * (1 - 1 / n_classes)
                continue
            rate = hits / left
            groups[g, n_classes] += size - rate
            if n_several < most_exact:
                for k in range(n_classes):
                    few[n_several, k] = own[k]
            n_groups += 1
            n_several += 1
            if is_first_order:
                weight = (whole / left) ** 2
                for k in range(n_classes):
                    by_hits[k] += weight * own[k] * rate
                    by_size[k] += weight * own[k] * size
                    for j in range(n_classes if own[k] else 0):
                        products[k, j] += weight * own[k] * own[j]
                both += weight * rate * size
                same += (weight * (length - rate * size)) ** 2
        if 1 < n_groups <= most_exact:
            sums[1] += _exact(few, n_several, alone, totals[v], room)
        elif n_groups > 1:
            weight = (whole / (whole - 1)) ** 2
            for k in range(n_classes):
                weighted = weight * alone[k]
                by_hits[k] += weighted * rates[k]
                by_size[k] += weighted
                products[k, k] += weighted
                both += weighted * rates[k]
                same += alone[k] * (weight * (1 - rates[k])) ** 2
            total = both**2 - same
            for k in range(n_classes):
                total -= 2 * by_hits[k] * by_size[k]
                for j in range(n_classes):
                    total += products[k, j] ** 2
            sums[1] += total / whole**2
        if 4 * n_touched > n_bundles:  # no need to sort
            n_touched = 0
            for b in range(n_bundles):
                if of_bundle[b, n_classes]:
                    touched[n_touched] = b
                    n_touched += 1
        for j in range(n_touched):
            b, at = touched[j], n_pairs + j
            while at > n_pairs and pair_bundle[at - 1] > b:
                pair_bundle[at] = pair_bundle[at - 1]
                at -= 1
            pair_bundle[at] = b
        for _ in range(n_touched):
            b = pair_bundle[n_pairs]
            pair_value[n_pairs] = v
            for k in range(n_classes):
                pair_counts[n_pairs, k] = of_bundle[b, k]
                of_bundle[b, k] = 0
            of_bundle[b, n_classes] = 0
            n_pairs += 1
    sums[2] += np.log(product)
    return sums, pair_value[:n_pairs], pair_bundle[:n_pairs], pair_counts[:n_pairs]


@njit(cache=True, nogil=True, error_model="numpy")
def _exact(counts: Floats, n_groups: int, alone: Ints, totals: Ints, room: Floats) -> float:
    """Sum at one value over all pairs: of groups with these counts, and of those of one row, by class."""
    n_classes, whole = totals.size, 0
    for k in range(n_classes):
        whole += totals[k]
        if alone[k]:
            for j in range(n_classes):
                counts[n_groups, j] = 0.0
            counts[n_groups, k] = 1.0
            room[n_groups, 3] = alone[k]
            n_groups += 1
    total, left, part = 0.0, 0.0, 0.0
    for g in range(n_groups):
        size, hits = 0.0, 0.0
        for k in range(n_classes):
            size += counts[g, k]
            hits += counts[g, k] * (totals[k] - counts[g, k])
        room[g, 0], room[g, 1], room[g, 2] = size, hits, hits / (whole - size)
        is_alone = size == 1
        n_alike = room[g, 3] if is_alone else 1.0
        for h in range(g + 1 if is_alone and n_alike > 1 else g):
            common = 0.0
            for k in range(n_classes):
                common += counts[g, k] * counts[h, k]
            if whole - size - room[h, 0] != left:
                left = whole - size - room[h, 0]
                part = 1 / left if left > 0 else 0.0
            # A hit rate without both is that of any class where nobody is left.
            of_g = (hits - common) * part if left > 0 else size / n_classes
            of_h = (room[h, 1] - common) * part if left > 0 else room[h, 0] / n_classes
            times = (
                n_alike * (room[h, 3] if room[h, 0] == 1 else 1.0) if h < g else n_alike * (n_alike - 1) / 2
            )
            total += 2 * times * (room[g, 2] - of_g) * (room[h, 2] - of_h)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def count_above(
    value: Ints, bundle: Ints, positive: Ints, negative: Ints, offsets: Ints, n_values: int
) -> float:
    """Count pairs of rows whose positive is rated above the negative, without the bundles of both.

    Of bundles whose numbers differ by one of the offsets; ties count half.
    """
    n_bundles = bundle.max() + 1
    starts = np.zeros(n_bundles + 1, np.int64)
    hits, known = np.zeros(n_values), np.zeros(n_values)
    for i in range(value.size):
        hits[value[i]] += positive[i]
        known[value[i]] += positive[i] + negative[i]
        starts[bundle[i] + 1] += 1
    longest = starts.max()
    starts = np.cumsum(starts)
    place = starts[:-1].copy()
    at = np.empty(value.size, np.int64)  # by bundle, then by value
    of_bundle = np.zeros((n_bundles, 2))
    for i in range(value.size):
        at[place[bundle[i]]] = i
        place[bundle[i]] += 1
        of_bundle[bundle[i], 0] += positive[i]
        of_bundle[bundle[i], 1] += positive[i] + negative[i]
    all_hits, all_known = hits.sum(), known.sum()
    rows, rating = np.empty((2 * longest, 4)), np.empty(2 * longest)
    order, ends = np.empty(2 * longest, np.int64), np.empty(2 * longest + 1, np.int64)
    above = 0.0
    for g in range(n_bundles):
        for offset in offsets:
            h = (g + offset) % n_bundles
            if 2 * offset == n_bundles and h < g:
                continue
            i, j, n = starts[g], starts[h], 0
            end_i, end_j = starts[g + 1], starts[h + 1] if offset else starts[h]
            share = all_hits - of_bundle[g, 0] - (of_bundle[h, 0] if offset else 0.0)
            share /= max(all_known - of_bundle[g, 1] - (of_bundle[h, 1] if offset else 0.0), 1.0)
            while i < end_i or j < end_j:
                v = value[at[i]] if i < end_i else n_values
                v = min(v, value[at[j]]) if j < end_j else v
                for k in range(4):
                    rows[n, k] = 0.0
                while i < end_i and value[at[i]] == v:
                    rows[n, 0] += positive[at[i]]
                    rows[n, 1] += negative[at[i]]
                    i += 1
                while j < end_j and value[at[j]] == v:
                    rows[n, 2] += positive[at[j]]
                    rows[n, 3] += negative[at[j]]
                    j += 1
                left = known[v] - rows[n, 0] - rows[n, 1] - rows[n, 2] - rows[n, 3]
                rating[n] = (hits[v] - rows[n, 0] - rows[n, 2]) / left if left > 0 else share
                n += 1
            first, second, i = 0.0, 0.0, 0
            below_g, below_h, until_g, until_h = 0.0, 0.0, 0.0, 0.0
            _sort(rating[:n], order, ends)
            while i < n:
                rated, j = rating[order[i]], i
                while j < n and rating[order[j]] == rated:
                    until_g += rows[order[j], 1]
                    until_h += rows[order[j], 3]
                    j += 1
                while i < j:
                    first += rows[order[i], 0] * ((below_h + until_h) if offset else (below_g + until_g)) / 2
                    second += rows[order[i], 2] * (below_g + until_g) / 2
                    i += 1
                below_g, below_h = until_g, until_h
            above += first + second
    return above


@njit(cache=True, nogil=True, error_model="numpy")
def _sort(rating: Floats, order: Ints, ends: Ints) -> None:
    """Order ratings: into as many parts of equal width, whose ends are noted, then by what is next."""
    n, low, high = rating.size, rating.min(), rating.max()
    scale = (n - 1) / (high - low) if high > low else 0.0
    ends[: n + 1] = 0
    for i in range(n):
        ends[int((rating[i] - low) * scale) + 1] += 1
    if n > 64 and ends[: n + 1].max() > 64:
        order[:n] = np.argsort(rating)
        return
    for i in range(n):
        ends[i + 1] += ends[i]
    for i in range(n - 1, -1, -1):
        part = int((rating[i] - low) * scale) + 1
        ends[part] -= 1
        order[ends[part]] = i
    for i in range(1, n):
        this, j = order[i], i
        while j > 0 and rating[order[j - 1]] > rating[this]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = this
