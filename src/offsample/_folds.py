"""Parts of the rows that are left out in turn: every cross-validation gets its folds here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Ints

Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def dealt(
    n_rows: int, n_folds: int, random: Any, *, labels: Any = None, groups: Any = None, time: Any = None
) -> Ints:
    """Fold of each row, dealt out in random order; with `labels` class after class, so that folds are alike.

    Parameters
    ----------
    n_rows, n_folds : int
    random : numpy Generator or RandomState
    labels : ndarray of shape (n_rows,), optional
    groups, time : optional
        Rows that stay together, and when they were made. Not yet.
    """
    _refuse(groups, time)
    order = random.permutation(n_rows)
    if labels is None:
        return in_turn(order, n_folds)
    folds = np.empty(n_rows, np.int64)
    folds[order[np.argsort(labels[order], kind="stable")]] = in_turn(np.arange(n_rows), n_folds)
    return folds


def in_turn(places: Ints, n_folds: int, *, groups: Any = None, time: Any = None) -> Ints:
    """Fold of each row by its place in an order: the first n in different folds, then the next n."""
    _refuse(groups, time)
    return np.asarray(places % n_folds)


def shuffled(
    y: Any, n_folds: int, seed: int, *, stratify: bool = True, groups: Any = None, time: Any = None
) -> Splits:
    """Rows to learn from and rows to test on, of each fold; each class with its share if `stratify`."""
    from sklearn.model_selection import KFold, StratifiedKFold

    _refuse(groups, time)
    kind = StratifiedKFold if stratify else KFold
    return list(kind(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


def splitter(cv: Any, y: Any, *, classifier: bool, with_groups: bool = False, time: Any = None) -> Any:
    """What makes the folds that a user asked for: a number, a splitter or the folds, as in scikit-learn.

    A number means `GroupKFold` where rows have groups.
    """
    from sklearn.model_selection import GroupKFold, check_cv

    _refuse(None, time)
    return GroupKFold(cv) if isinstance(cv, int) and with_groups else check_cv(cv, y, classifier=classifier)


def _refuse(groups: Any, time: Any) -> None:
    if groups is not None or time is not None:
        raise NotImplementedError("folds by groups or time are not there yet")
