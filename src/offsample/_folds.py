"""Parts of the rows that are left out in turn: every cross-validation gets its folds here."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._ties import rounded
from offsample._typing import Ints

Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def dealt(n_rows: int, n_folds: int, random: Any, *, labels: Any = None, groups: Any = None) -> Ints:
    """Fold of each row, dealt out in random order; with `labels` so that the folds have like classes.

    `random` is a numpy Generator or RandomState. With `groups`, rows of one group are in one fold.
    """
    if groups is not None:
        return _deal_groups(n_folds, random, np.zeros(n_rows, int) if labels is None else labels, groups)
    order = random.permutation(n_rows)
    if labels is None:
        return in_turn(order, n_folds)
    folds = np.empty(n_rows, np.int64)
    folds[order[np.argsort(labels[order], kind="stable")]] = in_turn(np.arange(n_rows), n_folds)
    return folds


def in_turn(places: Ints, n_folds: int) -> Ints:
    """Fold of each row by its place in an order: the first n in different folds, then the next n."""
    return np.asarray(places % n_folds)


def shuffled(
    y: Any,
    n_folds: int,
    seed: int,
    *,
    stratify: bool = True,
    groups: Any = None,
    time: Any = None,
    gap: int = 0,
) -> Splits:
    """Rows to learn from and rows to test on, of each fold; each class with its share if `stratify`.

    With `groups` no fold tests on a group that it learned from. With `time` the rows are tested in `n_folds`
    blocks, one after the other, and each is learned from what was before, `gap` times left out in between;
    with both, from earlier rows of other groups, in ``n_folds`` blocks times two halves of the groups.

    A tuple has several kinds of groups, which cross as users and items do. The groups of each kind are dealt
    into `n_folds` parts (with `time` two). A fold tests on the rows of one part of each, and learns from
    those that are in none of them; of the combinations, twice as many as there are parts are tested.
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    kinds = () if groups is None else groups if isinstance(groups, tuple) else (groups,)
    if not kinds and time is None:
        kind = StratifiedKFold if stratify else KFold
        return list(kind(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))
    whole = np.arange(len(y))
    blocks = [(whole, whole)] if time is None else forward(time, n_folds, gap)
    if not kinds:
        return blocks
    random, labels = np.random.default_rng(seed), np.asarray(y) if stratify else None
    n_parts = n_folds if time is None else 2
    parts = [dealt(len(y), n_parts, random, labels=labels, groups=group) for group in kinds]
    splits = []
    for train, test in blocks:
        for part, shift in product(range(n_parts), (0, 1) if len(parts) > 1 else (0,)):
            tested = [part, *[(part + shift) % n_parts] * (len(parts) - 1)]
            n_inside = np.sum([of_row == p for of_row, p in zip(parts, tested, strict=True)], axis=0)
            learned, left_out = train[n_inside[train] == 0], test[n_inside[test] == len(parts)]
            if len(learned) and len(left_out):
                splits.append((learned, left_out))
    return splits


def forward(time: ArrayLike, n_folds: int, gap: int = 0) -> Splits:
    """Rows of the past and of the next block, for each block after the first; equal times stay together.

    The rows of the last `gap` different times before a block are not learned from: where what is predicted
    is only known so many days later, or rows overlap, they would know what the next ones do not. Blocks that
    nothing is left to learn from are not tested.
    """
    if gap < 0:
        raise ValueError(f"gap must be a number of times of at least 0, got {gap}")
    when = np.asarray(time)
    distinct, place = np.unique(when, return_inverse=True)
    if len(distinct) < 2:
        raise ValueError("all rows have the same time: nothing is earlier than the rest")
    earlier = np.searchsorted(np.sort(place), place)  # rows that are strictly earlier
    block = earlier * (n_folds + 1) // len(when)
    splits = []
    for number in np.unique(block)[1:] if 0 in block else np.unique(block):
        test = np.flatnonzero(block == number)
        train = np.flatnonzero(place < place[test].min() - gap)
        if len(train):
            splits.append((train, test))
    if not splits:
        raise ValueError(
            f"gap is {gap}, but the rows have {len(distinct)} different times: nothing is earlier"
        )
    return splits


def splitter(cv: Any, y: Any, *, classifier: bool, with_groups: bool = False) -> Any:
    """What makes the folds that a user asked for: a number, a splitter or the folds, as in scikit-learn.

    A number means `GroupKFold` where rows have groups.
    """
    from sklearn.model_selection import GroupKFold, check_cv

    return GroupKFold(cv) if isinstance(cv, int) and with_groups else check_cv(cv, y, classifier=classifier)


def _deal_groups(n_folds: int, random: Any, labels: Any, groups: Any) -> Ints:
    """Fold of each row: groups, the largest first, go where their classes are missing most."""
    _, label = np.unique(labels, return_inverse=True)
    names, group = np.unique(groups, return_inverse=True)
    if len(names) < n_folds:
        raise ValueError(f"the rows have {len(names)} groups: expected at least {n_folds}, one in each fold")
    counts = np.zeros((len(names), int(label.max()) + 1))
    np.add.at(counts, (group, label), 1)
    weight = counts / counts.sum(axis=0) ** 2
    order = random.permutation(len(names))
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    held, n_held = np.zeros((n_folds, counts.shape[1])), np.zeros(n_folds)
    fold = np.empty(len(names), np.int64)
    for g in order:
        # What the sum of the squared shares of the classes in the folds would grow by; then by rows.
        chosen = int(np.lexsort((n_held, rounded(held @ weight[g])))[0])
        fold[g] = chosen
        held[chosen] += counts[g]
        n_held[chosen] += counts[g].sum()
    return fold[group]
