"""Fitting on some rows and predicting others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from offsample._typing import Floats
from offsample.tables import take_rows

__all__ = ["row_losses", "with_progress"]

T = TypeVar("T")


def row_losses(estimator: Any, X: Any, y: NDArray[Any], train: NDArray[Any], test: NDArray[Any]) -> Floats:
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
