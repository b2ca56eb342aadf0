"""Losses of every configuration on every row, out of fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import column_or_1d

from offsample.assessment._rows import take_rows, with_progress

__all__ = ["OutOfFold", "out_of_fold_losses"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OutOfFold:
    """Losses of shape (n_configurations, n_rows) and their means over folds (n_configurations, n_folds).

    Rows that no fold tests are left out; a row that several folds test has its mean loss.
    """

    rows: Floats
    folds: Floats
    is_proportion: bool


def out_of_fold_losses(
    search: Any, params: Iterable[Any], X: Any, y: Any, groups: Any, n_jobs: int | None, progress: bool
) -> OutOfFold:
    """Refit each configuration of a search on each of its folds, once."""
    estimator = search.estimator
    y = column_or_1d(y)
    scoring, method, loss = _row_loss(search)
    cv = check_cv(search.cv, y, classifier=is_classifier(estimator))
    splits = list(cv.split(X, y, groups))
    jobs = [(configuration, split) for configuration in params for split in splits]
    done = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_losses)(estimator, configuration, X, y, split, method, loss) for configuration, split in jobs
    )
    losses = list(with_progress(done, "Refitting", len(jobs), progress))
    n_configurations = len(jobs) // len(splits)
    total, times = np.zeros((n_configurations, len(y))), np.zeros(len(y))
    folds = np.zeros((n_configurations, len(splits)))
    for k, (_, test) in enumerate(splits):
        times[test] += 1
        for i in range(n_configurations):
            of_rows = losses[i * len(splits) + k]
            total[i, test] += of_rows
            folds[i, k] = of_rows.mean()
    tested = times > 0
    return OutOfFold(total[:, tested] / times[tested], folds, scoring == "accuracy")


def _losses(
    estimator: Any, params: Any, X: Any, y: Any, split: Any, method: str, loss: Callable[..., Any]
) -> Floats:
    train, test = split
    model = clone(estimator).set_params(**params).fit(take_rows(X, train), y[train])
    predicted = getattr(model, method)(take_rows(X, test))
    if method == "predict_proba":
        missing = ~np.isin(y[test], model.classes_)
        if missing.any():
            raise ValueError(f"class {y[test][missing][0]!r} is in a test fold and not in its training rows")
        columns = np.searchsorted(model.classes_, y[test])
        predicted = predicted[np.arange(len(test)), columns]
    return np.asarray(loss(y[test], predicted), dtype=float)


def _row_loss(search: Any) -> tuple[str, str, Callable[..., Any]]:
    """The scoring, how to predict, and the loss of a row, for a scoring that is a mean over rows."""
    scoring = search.scoring
    if isinstance(scoring, list | tuple | dict) or callable(scoring):
        scoring = search.refit if isinstance(search.refit, str) else "a function"
    if scoring is None and is_classifier(search.estimator):
        scoring = "accuracy"
    known: dict[Any, tuple[str, Callable[..., Any]]] = {
        "accuracy": ("predict", lambda truth, label: truth != label),
        "neg_mean_squared_error": ("predict", lambda truth, value: (truth - value) ** 2),
        "neg_mean_absolute_error": ("predict", lambda truth, value: np.abs(truth - value)),
        "neg_log_loss": ("predict_proba", lambda _, p: -np.log(np.maximum(p, np.finfo(float).eps))),
    }
    if scoring not in known:
        raise ValueError(
            f"scoring {scoring or 'of the estimator'!r} is not a mean over rows, as {', '.join(known)} are: "
            "leave out X and y, and the fold scores of the search are used"
        )
    return scoring, *known[scoring]
