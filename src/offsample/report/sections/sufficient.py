"""Which few columns suffice: those that the recommended model looks at, and what fewer of them would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from offsample._deadline import OutOfTime
from offsample._ties import best_first
from offsample.report._study import Study
from offsample.report.sections._choice import Choice

__all__ = ["FewColumns", "NeededColumn", "SizeError", "describe"]


@dataclass(frozen=True)
class SizeError:
    """Error on left-out rows of the recommended kind of model with its first so many columns.

    Attributes
    ----------
    n_columns : int
    error : float
    standard_error : float
    """

    n_columns: int
    error: float
    standard_error: float


@dataclass(frozen=True)
class NeededColumn:
    """A column that the recommended model looks at.

    Attributes
    ----------
    name : str
    share : float
        Of the folds, in which the model of the other folds looks at it too.
    """

    name: str
    share: float


@dataclass(frozen=True)
class FewColumns:
    """The columns of the recommended model, and how much worse it would be with fewer of them.

    Attributes
    ----------
    columns : tuple of NeededColumn
        The most important first.
    n_available : int
        Columns that it could have used.
    sizes : tuple of SizeError
        With no column, with the first, the first two, …; the last is the recommended model itself. In each
        fold the columns are those that are most important there. Only the first and the last where the
        model is no tree.
    baseline_error : float
        Of always predicting the most frequent class.
    n_folds : int
    """

    columns: tuple[NeededColumn, ...]
    n_available: int
    sizes: tuple[SizeError, ...]
    baseline_error: float
    n_folds: int

    @property
    def n_chosen(self) -> int:
        """How many columns suffice."""
        return len(self.columns)


def describe(study: Study, choice: Choice) -> FewColumns | None:
    """Errors with fewer columns, on the folds that the model was validated on; None where there are none."""
    what, validation, kind = "which few columns suffice", choice.validation, choice.kind
    if not choice.model.used_columns_:
        nothing = SizeError(0, study.majority_error, 0.0)
        return FewColumns((), len(choice.features), (nothing,), study.majority_error, 0)
    if validation is None:
        study.leave_out(what, "there was no cross-validation")
        return None
    size = choice.model.size_
    names = list(choice.model.used_columns_)
    orders = [_used_at(model, size) for model in validation.models]
    X = study.columns(choice.features)
    seconds = study.mean_seconds("fold", kind.name) / max(1, len(choice.features))
    full = validation.of(size).astype(float)
    sizes = [SizeError(0, study.majority_error, 0.0)]
    # A model of another kind takes too long to be fitted to every number of columns in every fold.
    for n_columns in range(1, len(names)) if kind.most_rows is None else ():
        wrong = full.copy()
        for (train, test), order in zip(study.folds, orders, strict=True):
            few = order[:n_columns]
            if len(few) == len(order):  # the fold's own model has no more
                continue
            if not study.has_time_for(what, seconds * n_columns):
                return None
            try:
                with study.deadline():
                    model = kind.of_size(size).fit(X.select(few).take(train), study.y[train])
            except OutOfTime:
                study.leave_out(what)
                return None
            wrong[test] = model.predict(X.select(few).take(test)) != study.y[test]
        sizes.append(SizeError(n_columns, *_mean_and_error(wrong)))
    if names:
        sizes.append(SizeError(len(names), *_mean_and_error(full)))
    shares = [float(np.mean([name in order for order in orders])) for name in names]
    return FewColumns(
        columns=tuple(NeededColumn(str(name), share) for name, share in zip(names, shares, strict=True)),
        n_available=len(choice.features),
        sizes=tuple(sizes),
        baseline_error=study.majority_error,
        n_folds=validation.n_folds,
    )


def _used_at(model: Any, size: int) -> list[Any]:
    """Columns that a fold's model of this size looks at, the most important first."""
    if not hasattr(model, "tree_") or not hasattr(model.tree_, "staged"):
        return list(model.used_columns_)
    flat, names = model.tree_, model._encoder.names
    inner = np.flatnonzero(~flat.is_leaf)
    kept = inner[np.argsort(flat.first_child[inner])][: size - 1]
    gain = np.bincount(flat.feature[kept], np.maximum(flat.gain[kept], 0), minlength=len(names))
    used = np.unique(flat.feature[kept])
    return [names[j] for j in used[best_first(gain[used])]]


def _mean_and_error(wrong: Any) -> tuple[float, float]:
    return float(wrong.mean()), float(wrong.std() / np.sqrt(len(wrong)))
