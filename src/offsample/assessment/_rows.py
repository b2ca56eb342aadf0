"""Fitting on some rows and predicting others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from offsample.tables import is_dataframe

__all__ = ["row_losses", "take_rows", "with_progress"]

T = TypeVar("T")


def take_rows(X: Any, rows: NDArray[Any]) -> Any:
    """Some rows of an array, sparse matrix, dataframe or list."""
    if nw.dependencies.is_pandas_dataframe(X):  # whose names need not be strings
        return X.iloc[rows]
    if is_dataframe(X):
        return nw.from_native(X, eager_only=True)[np.asarray(rows)].to_native()
    return X[rows] if hasattr(X, "shape") else [X[int(i)] for i in rows]


def row_losses(
    estimator: Any, X: Any, y: NDArray[Any], train: NDArray[Any], test: NDArray[Any]
) -> NDArray[np.float64]:
    """Losses on rows not trained on: 0 or 1 of a classifier, squared errors of a regressor."""
    model = clone(estimator).fit(take_rows(X, train), y[train])
    predicted = model.predict(take_rows(X, test))
    if is_classifier(estimator):
        return np.asarray(predicted != y[test], dtype=float)
    return np.asarray((predicted - y[test]) ** 2, dtype=float)


def with_progress(items: Iterable[T], what: str, total: int, progress: bool) -> Iterable[T]:
    """The items, with a bar on standard error if wanted."""
    if not progress:
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, what, total=total, console=Console(stderr=True), transient=True)
