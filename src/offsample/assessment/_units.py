"""What is drawn, left out and tested: the one place that knows a unit to be a row, or a group of rows.

Audits, comparisons and tests ask here for folds, samples and losses, and never decide what a unit is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.parallel import Parallel, delayed

from offsample import _folds
from offsample._typing import Floats, Ints
from offsample.tables import unit_codes


def folds_of(cv: Any, X: Any, y: Any, estimator: Any, groups: Ints | None = None) -> _folds.Splits:
    """Return the training and test rows of each fold that a user asked for; a number means folds of groups.

    Folds that test on a group that they learned from are refused.
    """
    cv = 5 if cv is None else cv
    made = _folds.splitter(cv, y, classifier=is_classifier(estimator), with_groups=groups is not None)
    splits = list(made.split(X, y, groups))
    if groups is not None and any(np.isin(groups[test], groups[train]).any() for train, test in splits):
        raise ValueError(
            f"the folds of {type(made).__name__} test on groups that they learned from: give a number of "
            "folds, or a splitter that keeps groups together, such as GroupKFold"
        )
    return splits


def groups_of(groups: Any, n_rows: int) -> Ints | None:
    """Return the codes of the groups that a user gave."""
    return None if groups is None else unit_codes(groups, "groups", n_rows)


def tested_share(splits: _folds.Splits) -> float:
    """Return the mean ratio of test rows to training rows."""
    return float(np.mean([len(test) / len(train) for train, test in splits]))


def draws(
    y: NDArray[Any], by_class: bool, n_draws: int, seed: int, groups: Ints | None = None
) -> list[NDArray[Any]]:
    """Draw bootstrap samples of the units of a fold, of each class as many as there are if `by_class`.

    Groups are drawn as a whole; by class where each has one class only.
    """
    rng = np.random.default_rng(seed)
    rows: list[NDArray[Any]] = []
    if groups is not None:
        rows = [np.flatnonzero(groups == group) for group in np.unique(groups)]
        by_class = by_class and all((y[of] == y[of[0]]).all() for of in rows)
        y = y[[of[0] for of in rows]]
    parts = [np.flatnonzero(y == label) for label in np.unique(y)] if by_class else [np.arange(len(y))]
    units = [np.concatenate([rng.choice(part, len(part)) for part in parts]) for _ in range(n_draws)]
    return units if groups is None else [np.concatenate([rows[i] for i in drawn]) for drawn in units]


def mean_losses(
    found: list[list[Floats]], n_rows: int, splits: _folds.Splits, groups: Ints | None = None
) -> tuple[Floats, Floats | None]:
    """Return the mean loss of each tested unit, configurations × units, and the rows of each group."""
    total, times = np.zeros((len(found), n_rows)), np.zeros(n_rows)
    for k, (_, test) in enumerate(splits):
        times[test] += 1
        for i, of_folds in enumerate(found):
            total[i, test] += of_folds[k]
    tested = times > 0
    losses = np.asarray(total[:, tested] / times[tested])
    if groups is None:
        return losses, None
    of = np.unique(groups[tested], return_inverse=True)[1]
    sizes = np.bincount(of).astype(float)
    return np.array([np.bincount(of, row) / sizes for row in losses]), sizes


def run_all(
    function: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    what: str = "",
    progress: bool = False,
) -> list[Any]:
    """Call the function with the arguments of each job, with a bar on standard error if wanted."""
    calls = [delayed(function)(*job) for job in jobs]
    results = Parallel(n_jobs=n_jobs, return_as="generator")(calls)
    if not progress:
        return list(results)
    from rich.console import Console
    from rich.progress import track

    bar = track(results, what, total=len(calls), console=Console(stderr=True), transient=True)
    return list(bar)
