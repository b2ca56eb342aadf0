"""Whole numbers that are codes: neighbours have no more in common than any two of them."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from offsample._typing import Floats, Ints

_FEWEST_VALUES, _MOST_VALUES = 8, 64
# Codes are numbered one after the other; what has gaps, or hardly repeats, is a quantity that was measured.
_LEAST_ROWS, _GAPS = 20, 2
_LEVEL = 0.01  # of the test, for all columns together
_SHARE = 0.5  # of the differences between any values, that those between neighbours have at least


def are_codes(values: Floats, labels: Ints, n_columns: int) -> bool:
    """Whether the classes differ between neighbouring values as they do between any two, beyond chance.

    Along an order neighbours differ little. Pearson's statistics of all pairs of neighbours are added up,
    which vary as a multiple of one of fewer degrees of freedom, since pairs share a value (Satterthwaite
    1946); but without the value that differs most from its own two, which may be no code but a mark.
    """
    there = np.isfinite(values)
    known, place = np.unique(values[there], return_inverse=True)
    if not _FEWEST_VALUES <= len(known) <= _MOST_VALUES or (known != np.round(known)).any():
        return False
    if len(place) < _LEAST_ROWS * len(known) or np.ptp(known) >= _GAPS * len(known):
        return False
    counts = np.zeros((len(known), int(labels.max(initial=0)) + 1))
    np.add.at(counts, (place, labels[there]), 1)
    of_pairs, freedom = _pearson(counts[:-1], counts[1:])
    if not freedom.any():
        return False
    one = 1 / counts.sum(axis=1)
    overlap = one[1:-1] ** 2 / ((one[:-2] + one[1:-1]) * (one[1:-1] + one[2:]))
    times = 1 + 2 * float((overlap * np.minimum(freedom[1:], freedom[:-1])).sum() / freedom.sum())
    mark = int((of_pairs[1:] + of_pairs[:-1]).argmax())
    of_pairs, freedom = (np.delete(part, [mark, mark + 1]) for part in (of_pairs, freedom))
    left = np.delete(counts, mark + 1, axis=0)
    i, j = np.triu_indices(len(left), 1)
    of_any, any_freedom = (part.sum() for part in _pearson(left[i], left[j]))
    n = max(freedom.sum(), 1.0)
    is_rough = of_pairs.sum() / n - 1 >= _SHARE * (of_any / max(any_freedom, 1.0) - 1)
    return bool(is_rough and chdtrc(n / times, of_pairs.sum() / times) <= _LEVEL / n_columns)


def _pearson(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Pearson's statistics of pairs of values by the classes of their rows, and their degrees of freedom."""
    n, m, both = one.sum(axis=-1, keepdims=True), other.sum(axis=-1, keepdims=True), one + other
    of_classes = (one * m - other * n) ** 2 / (n * m * np.maximum(both, 1))
    return of_classes.sum(axis=-1), (both > 0).sum(axis=-1) - 1.0
