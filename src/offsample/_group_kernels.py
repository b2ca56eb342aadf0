"""Compiled loops over rows that are sorted by group. Imported only by the functions that call them."""

from typing import Any

import numpy as np

from offsample._kernels import njit
from offsample._typing import Floats, Ints

# Columns of sums by class.
ALONE, RATE, HITS, SIZE, OWN = range(5)


@njit(cache=True, nogil=True)
def sum_groups(
    rows: tuple[Ints, Ints, Ints],
    totals: Ints,
    groups: Floats,
    bundle: Ints,
    packing: tuple[Any, int, int],
    sums: Floats,
    pairs: tuple[Ints, Ints, Ints],
    room: tuple[Ints, Ints, Ints, Floats, Floats, Floats],
) -> int:
    """Sum up what a column says of rows of other groups, in one pass over the rows by value.

    `rows` are values, groups and classes, `totals` the class counts of each value. `packing` is room for the
    rows, and how many bits the classes take there, and with them the bundles. `groups` has for each group
    what each class counts for beside the others of a value (all classes for one row), then 0, to which the
    expected errors on it are added, of the Gini rule learned from the others.

    Added to `sums` are the rows whose value no other group has, the products of the rule's changes over pairs
    of groups as `_unit_intervals` has them (over all pairs where a value has few groups, to first order where
    it has many) and the log loss. Written to `pairs` are the value, bundle and class counts of each bundle
    that has rows at a value; their number is returned. `room` is for sums at a value, and zero.
    """
    value, group, label = rows
    packed, bits, more = packing
    pair_value, pair_bundle, pair_counts = pairs
    of_bundle, touched, place, few, of_few, of_class = room
    n_values, n_classes, n_bundles = totals.shape[0], totals.shape[1], of_bundle.shape[0]
    of_label, in_bundle, most_exact = (1 << bits) - 1, (1 << (more - bits)) - 1, few.shape[0] - n_classes
    end = 0
    for v in range(n_values):
        place[v] = end
        for k in range(n_classes):
            end += totals[v, k]
    for i in range(value.size):
        packed[place[value[i]]] = (group[i] << more) | (bundle[group[i]] << bits) | label[i]
        place[value[i]] += 1

    product, n_pairs, i = 1.0, 0, 0
    for v in range(n_values):
        whole, end, both, same = place[v] - i, place[v], 0.0, 0.0
        n_groups, n_several, n_touched = 0, 0, 0
        is_first_order = whole > most_exact
        # Of groups with one row at a value, and their rates; to first order, sums over pairs of groups are
        # products of sums over groups.
        for k in range(n_classes):
            for j in range(n_classes + 5 if is_first_order else 5):
                of_class[k, j] = 0.0
            of_class[k, RATE] = (totals[v, k] - 1) / max(whole - 1, 1)
        while i < end:
            g, k = packed[i] >> more, packed[i] & of_label
            b, size = (packed[i] >> bits) & in_bundle, 1
            i += 1
            if of_bundle[b, n_classes] == 0:
                of_bundle[b, n_classes] = 1
                touched[n_touched] = b
                n_touched += 1
            of_bundle[b, k] += 1
            if whole > 1 and (i == end or packed[i] >> more != g):
                of_class[k, ALONE] += 1
                groups[g, n_classes] += 1 - of_class[k, RATE]
                # The sum of logarithms is that of a product, which is far cheaper.
                product *= whole / (totals[v, k] - 1 + groups[g, k])
                if product > 1e200:
                    sums[2] += np.log(product)
                    product = 1.0
                n_groups += 1
                continue
            for j in range(n_classes):
                of_class[j, OWN] = 0.0
            of_class[k, OWN] = 1.0
            while i < end and packed[i] >> more == g:
                k = packed[i] & of_label
                of_bundle[b, k] += 1
                of_class[k, OWN] += 1
                size += 1
                i += 1
            hits, length, left = 0.0, 0.0, whole - size
            for k in range(n_classes):
                n, others = of_class[k, OWN], totals[v, k] - of_class[k, OWN]
                hits += n * others
                length += n * n
                if n > 4:
                    sums[2] += n * np.log((left + 1) / (others + groups[g, k]))
                elif n > 0:
                    ratio = (left + 1) / (others + groups[g, k])
                    for _ in range(int(n)):
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
                    few[n_several, k] = of_class[k, OWN]
            n_groups += 1
            n_several += 1
            if is_first_order:
                weight = (whole / left) ** 2
                for k in range(n_classes):
                    of_class[k, HITS] += weight * of_class[k, OWN] * rate
                    of_class[k, SIZE] += weight * of_class[k, OWN] * size
                    for j in range(n_classes if of_class[k, OWN] else 0):
                        of_class[k, 5 + j] += weight * of_class[k, OWN] * of_class[j, OWN]
                both += weight * rate * size
                same += (weight * (length - rate * size)) * (weight * (length - rate * size))
        if 1 < n_groups <= most_exact:
            sums[1] += _exact(few, n_several, of_class, totals, v, of_few)
        elif n_groups > 1:
            weight = (whole / (whole - 1)) ** 2
            for k in range(n_classes):
                weighted = weight * of_class[k, ALONE]
                of_class[k, HITS] += weighted * of_class[k, RATE]
                of_class[k, SIZE] += weighted
                of_class[k, 5 + k] += weighted
                both += weighted * of_class[k, RATE]
                same += of_class[k, ALONE] * (weight * (1 - of_class[k, RATE])) ** 2
            total = both**2 - same
            for k in range(n_classes):
                total -= 2 * of_class[k, HITS] * of_class[k, SIZE]
                for j in range(n_classes):
                    total += of_class[k, 5 + j] ** 2
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
    return n_pairs


@njit(cache=False, nogil=True)
def _exact(counts: Floats, n_groups: int, of_class: Floats, totals: Ints, v: int, room: Floats) -> float:
    """Sum at one value over all pairs: of groups with these counts, and of those of one row, by class."""
    n_classes, whole = counts.shape[1], 0
    for k in range(n_classes):
        whole += totals[v, k]
        if of_class[k, ALONE]:
            for j in range(n_classes):
                counts[n_groups, j] = 0.0
            counts[n_groups, k] = 1.0
            room[n_groups, 3] = of_class[k, ALONE]
            n_groups += 1
    total, left, part = 0.0, 0.0, 0.0
    for g in range(n_groups):
        size, hits = 0.0, 0.0
        for k in range(n_classes):
            size += counts[g, k]
            hits += counts[g, k] * (totals[v, k] - counts[g, k])
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


@njit(cache=True, nogil=True)
def share_above(
    rows: tuple[Ints, Ints, Ints], starts: Ints, of_bundle: Ints, of_value: Ints, offsets: Ints, room: Floats
) -> float:
    """Share of the pairs of rows whose positive is rated above the negative, without the bundles of both.

    `rows` are values, their positives and negatives, by bundle and then by value; `starts` says where each
    bundle begins, then where the last ends. Of bundles whose numbers differ by one of the offsets; ties count
    half. `room` is for twice as many values as a bundle has at most.
    """
    value, positive, negative = rows
    n_bundles, n_values = starts.size - 1, of_value.shape[0]
    all_hits, all_misses, above, n_pairs = 0, 0, 0.0, 0
    for g in range(n_bundles):
        all_hits += of_bundle[g, 0]
        all_misses += of_bundle[g, 1]
    for g in range(n_bundles):
        for at in range(offsets.size):
            is_other = 1 if offsets[at] else 0
            h = (g + offsets[at]) % n_bundles
            if 2 * offsets[at] == n_bundles and h < g:
                continue
            n_pairs += of_bundle[g, 0] * of_bundle[h, 1] + is_other * of_bundle[h, 0] * of_bundle[g, 1]
            i, j, n = starts[g], starts[h], 0
            end_i, end_j = starts[g + 1], starts[h + 1] if is_other else starts[h]
            share = all_hits - of_bundle[g, 0] - is_other * of_bundle[h, 0]
            share /= max(share + all_misses - of_bundle[g, 1] - is_other * of_bundle[h, 1], 1)
            while i < end_i or j < end_j:
                v = value[i] if i < end_i else n_values
                v = min(v, value[j]) if j < end_j else v
                for k in range(4):
                    room[n, k] = 0.0
                while i < end_i and value[i] == v:
                    room[n, 0] += positive[i]
                    room[n, 1] += negative[i]
                    i += 1
                while j < end_j and value[j] == v:
                    room[n, 2] += positive[j]
                    room[n, 3] += negative[j]
                    j += 1
                hits = of_value[v, 0] - room[n, 0] - room[n, 2]
                left = hits + of_value[v, 1] - room[n, 1] - room[n, 3]
                room[n, 4] = hits / left if left > 0 else share
                n += 1
            below_g, below_h, until_g, until_h, i = 0.0, 0.0, 0.0, 0.0, 0
            _sort(room, n)
            while i < n:
                at_i, j = int(room[i, 5]), i
                rated = room[at_i, 4]
                while j < n and room[int(room[j, 5]), 4] == rated:
                    until_g += room[int(room[j, 5]), 1]
                    until_h += room[int(room[j, 5]), 3]
                    j += 1
                while i < j:
                    at_i = int(room[i, 5])
                    others = below_h + until_h if is_other else below_g + until_g
                    above += (room[at_i, 0] * others + room[at_i, 2] * (below_g + until_g)) / 2
                    i += 1
                below_g, below_h = until_g, until_h
    return above / n_pairs if n_pairs else 0.5


@njit(cache=False, nogil=True)
def _sort(room: Floats, n: int) -> None:
    """Order ratings, in column 4, into column 5: what is far apart is compared first (Shell's method)."""
    gap = 1
    for i in range(n):
        room[i, 5] = i
    while gap < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            this, j = room[i, 5], i
            while j >= gap and room[int(room[j - gap, 5]), 4] > room[int(this), 4]:
                room[j, 5] = room[j - gap, 5]
                j -= gap
            room[j, 5] = this
        gap //= 3
