"""How many features to take: the error of the nearest-neighbour rule on rows that the ranking did not see."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from offsample import _folds
from offsample._ties import best_first
from offsample._typing import Floats, Ints
from offsample._unit_intervals import standard_error
from offsample.margin._passes import add_distances
from offsample.margin._space import Columns, make_space

# The error is measured at each size up to ten, then at most at so many more, each about a quarter larger.
_MORE_SIZES, _GROWTH = 10, 1.25
# Distances are sums of differences of about 1; those that differ by less than this per column are equal.
_ROUNDING = 1e-14
_MOST_ROWS = 1000  # that the number is chosen on: it takes as many rankings as there are folds
_N_FOLDS = 5

Weigh = Callable[[Columns, Ints | Floats], Floats]


def number_off_sample(
    weigh: Weigh, columns: Columns, target: Ints | Floats, *, matched: bool, random: np.random.RandomState
) -> int:
    """Choose how many of the best features to take, for classes or for numbers from 0 to 1.

    Each of five folds is predicted by the nearest rows in the best 1, 2, … features by the other folds.
    Returned is the smallest number whose error is within one standard error of the least.
    """
    rows, labels = np.arange(len(target)), None
    if target.dtype.kind == "i":
        rows = stratified_rows(target.astype(np.int64), _MOST_ROWS, random)
        labels = target[rows].astype(np.int64)
    elif len(rows) > _MOST_ROWS:
        rows = np.sort(random.permutation(rows)[:_MOST_ROWS])
    groups = None if columns.groups is None else columns.groups[rows]
    sizes = nested_sizes(len(columns.values))
    losses = np.full((len(sizes), len(rows)), np.nan)
    n_folds = _N_FOLDS if groups is None else min(_N_FOLDS, len(np.unique(groups)))
    if n_folds < 2:
        return 1
    folds = _folds.dealt(len(rows), n_folds, random, labels=labels, groups=groups)
    for fold in range(n_folds):
        train, test = rows[folds != fold], rows[folds == fold]
        if not len(test) or len(np.unique(target[train])) < 2:
            continue
        weights = weigh(columns.of_rows(train), target[train])
        order = best_first(weights, float(np.abs(weights).max()) or 1.0)
        both = columns.of_rows(np.append(train, test))
        losses[:, folds == fold] = nested_losses(both, target[train], target[test], order, sizes, matched)
    tried = ~np.isnan(losses[0])
    if not tried.any():
        return 1
    return sizes[smallest_as_good(losses[:, tried], () if groups is None else (groups[tried],))]


def nested_sizes(n_columns: int) -> list[int]:
    """Numbers of columns to try."""
    few = range(1, min(n_columns, 10) + 1)
    n_more = min(_MORE_SIZES, int(np.ceil(np.log(max(n_columns / 10, 1)) / np.log(_GROWTH))))
    more = np.geomspace(10, max(n_columns, 10), n_more + 1).round()[1:]
    return sorted({*few, *map(int, more)})


def nested_losses(
    columns: Columns,
    known: Ints | Floats,
    truth: Ints | Floats,
    order: Ints,
    sizes: list[int],
    matched: bool,
    n_near: int = 1,
) -> Floats:
    """Losses of the last rows, predicted by the `n_near` nearest of the first in the best columns.

    Rows that are equally near vote, or are averaged. A loss is 0 or 1, and squared for a number.
    """
    n_train = len(known)
    space = make_space(columns, n_reference=n_train, matched=matched)
    test = np.arange(n_train, n_train + len(truth))
    distances = np.zeros((len(truth), n_train))
    are_numbers = known.dtype.kind == "f"
    n_classes = 0 if are_numbers else int(max(known.max(), truth.max())) + 1
    answers = known[:, None] if are_numbers else np.eye(n_classes)[known.astype(np.int64)]
    losses, n_added = np.empty((len(sizes), len(truth))), 0
    for i, size in enumerate(sizes):
        added = np.zeros(len(order))
        added[order[n_added:size]] = 1.0
        add_distances(space, added, test, distances)
        n_added = size
        last = np.partition(distances, n_near - 1, axis=1)[:, n_near - 1 : n_near]
        near = distances <= last + _ROUNDING * size
        said = near @ answers
        if are_numbers:
            losses[i] = (said[:, 0] / near.sum(axis=1) - truth) ** 2
        else:
            losses[i] = said.argmax(axis=1) != truth
    return losses


def smallest_as_good(losses: Floats, units: Sequence[Ints] = ()) -> int:
    """Return the first size whose loss is within one standard error of the smallest."""
    means = losses.mean(axis=1)
    best = int(np.argmin(means))
    return int(np.argmax(means <= means[best] + standard_error(losses[best], units)))


def stratified_rows(labels: Ints, max_rows: int, random: np.random.RandomState) -> Ints:
    """Draw rows from each class in proportion to its size, but two at least where it has them."""
    if len(labels) <= max_rows:
        return np.arange(len(labels))
    sizes = np.bincount(labels)
    whole, rest = np.divmod(sizes * max_rows, len(labels))
    wanted = np.maximum(whole, np.minimum(sizes, 2))
    # What rounding down loses goes to the largest remainders; what the twos add comes from the largest class.
    missing = max_rows - int(wanted.sum())
    wanted[np.argsort(-np.where(wanted > whole, -1, rest), kind="stable")[: max(missing, 0)]] += 1
    while wanted.sum() > max_rows and wanted.max() > 2:
        wanted[wanted.argmax()] -= 1
    drawn = [random.permutation(np.flatnonzero(labels == c))[:n] for c, n in enumerate(wanted.tolist())]
    return np.sort(np.concatenate(drawn))
