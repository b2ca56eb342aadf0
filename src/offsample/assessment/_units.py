"""What is drawn, left out and tested: the one place that knows a unit to be a row.

Audits, comparisons and tests ask here for folds, samples and losses, and never decide what a unit is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.parallel import Parallel, delayed

from offsample import _folds
from offsample._typing import Floats
from offsample.tables import take_rows


def folds_of(cv: Any, X: Any, y: Any, estimator: Any, groups: Any = None) -> _folds.Splits:
    """Return the training and test rows of each fold that a user asked for."""
    return list(_folds.splitter(cv, y, classifier=is_classifier(estimator)).split(X, y, groups))


def tested_share(splits: _folds.Splits) -> float:
    """Return the mean ratio of test rows to training rows."""
    return float(np.mean([len(test) / len(train) for train, test in splits]))


def draws(y: NDArray[Any], by_class: bool, n_draws: int, seed: int) -> list[NDArray[Any]]:
    """Draw bootstrap samples of the rows of a fold, of each class as many as there are if `by_class`."""
    rng = np.random.default_rng(seed)
    parts = [np.flatnonzero(y == label) for label in np.unique(y)] if by_class else [np.arange(len(y))]
    return [np.concatenate([rng.choice(part, len(part)) for part in parts]) for _ in range(n_draws)]


def mean_losses(found: list[list[Floats]], n_rows: int, splits: _folds.Splits) -> Floats:
    """Return the mean loss of each tested row, configurations × rows, from the losses in each test fold."""
    total, times = np.zeros((len(found), n_rows)), np.zeros(n_rows)
    for k, (_, test) in enumerate(splits):
        times[test] += 1
        for i, of_folds in enumerate(found):
            total[i, test] += of_folds[k]
    tested = times > 0
    return np.asarray(total[:, tested] / times[tested])


def row_losses(estimator: Any, X: Any, y: NDArray[Any], train: NDArray[Any], test: NDArray[Any]) -> Floats:
    """Fit on some rows and return the losses on others: 0 or 1 for a classifier, else squared errors."""
    model = clone(estimator).fit(take_rows(X, train), y[train])
    predicted = model.predict(take_rows(X, test))
    loss = predicted != y[test] if is_classifier(estimator) else (predicted - y[test]) ** 2
    return np.asarray(loss, dtype=float)


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
