"""What the margin-based selectors share: reading tables, checking, choosing, and handing columns back."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from offsample._estimators import (
    TableSelector,
    check_classes,
    check_table,
    check_table_and_target,
    n_to_select,
)
from offsample._held_out_counts import together
from offsample._ties import best_first, best_of
from offsample._typing import Booleans, Floats, Ints
from offsample.margin._number import Weigh, number_off_sample
from offsample.margin._space import Columns, Scale, Scaling, read_classes, scale_columns
from offsample.tables import TableEncoder, several_groups
from offsample.tables._targets import are_classes

Target = Ints | Floats  # classes, or numbers from 0 to 1


@dataclass(kw_only=True, eq=False, repr=False)
class MarginSelector(TableSelector):
    """Base of Relief, Simba and GFlip."""

    scale: Scale = "minmax"
    categorical_features: Literal["infer", "all"] | Sequence[Any] | Booleans = "infer"
    categories: Literal["unit", "matched"] = "unit"
    n_jobs: int | None = None
    random_state: Annotated[Any, "random_state"] = None
    verbose: Annotated[int, "verbose"] = 0
    support_: Booleans = field(init=False)
    feature_weights_: Floats = field(init=False)
    _encoder: TableEncoder = field(init=False)
    _scalings: list[Scaling | None] = field(init=False)
    _takes_numbers: ClassVar[bool] = False

    @abstractmethod
    def _select(self, columns: Columns, target: Any, random: np.random.RandomState, n_threads: int) -> None:
        """Set the learned attributes."""

    def fit(self, X: Any, y: Any, *, groups: ArrayLike | None = None) -> Self:
        """Weigh the features and select some.

        Parameters
        ----------
        X : array or dataframe of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes; for `Relief` also numbers, if they are floats and not whole numbers of at most 20 values.
        groups : array-like of shape (n_samples,), optional
            Rows that belong together, such as those of one customer: hits and misses are of other groups.
        """
        self._validate_params()
        X, y = check_table_and_target(self, X, y, min_samples=2)
        target: Any = numbers_in(y) if self._takes_numbers else None
        self.__dict__.pop("classes_", None)
        if target is None:
            self.classes_, target = read_classes(y)
            check_classes(y)
            if len(self.classes_) < 2:
                raise ValueError(
                    f"y has one class only, {self.classes_.tolist()[0]!r}: expected at least two"
                )
        self._encoder = TableEncoder(self.categorical_features)
        encoded = self._encoder.fit_transform(X)
        columns, self._scalings = scale_columns(self._encoder, encoded, self.scale)
        if groups is not None:
            columns = columns._replace(groups=several_groups(groups, len(target)))
        self._select(columns, target, check_random_state(self.random_state), effective_n_jobs(self.n_jobs))
        return self

    def transform(self, X: Any, weighted: bool = False) -> Any:
        """Keep the selected columns; a dataframe stays one, with the types it had.

        Parameters
        ----------
        X : array or dataframe of shape (n_samples, n_features)
        weighted : bool, default=False
            Return an array of the selected columns, scaled as in `fit` and times the root of their weight:
            Euclidean distances in it are those of the weighted norm, as for a rule of nearest neighbours
            (Sec. 3.2 of the paper). Columns of categories are refused.
        """
        if not weighted:
            return super().transform(X)
        kept = np.flatnonzero(self.get_support())
        encoded = list(self._encoder.transform(check_table(self, X)))
        roots, columns = np.sqrt(np.maximum(self.feature_weights_, 0.0)), []
        for j in kept.tolist():
            if encoded[j].kind == "categorical":
                raise ValueError(
                    f"column {str(encoded[j].name)!r} has categories: only numbers can be weighted"
                )
            values, scaling = encoded[j].values.astype(np.float64), self._scalings[j]
            columns.append(roots[j] * (values if scaling is None else scaling.apply(values)))
        return np.array(columns, np.float64, ndmin=2).reshape(len(kept), -1).T

    def _report(self, message: str) -> None:
        if self.verbose:
            sys.stderr.write(f"[{type(self).__name__}] {message}\n")

    def _get_support_mask(self) -> Booleans:
        check_is_fitted(self)
        return self.support_


@dataclass(kw_only=True, eq=False, repr=False)
class WeighingSelector(MarginSelector):
    """Base of Relief and Simba, which select by weights."""

    n_features_to_select: int | float | Literal["auto"] = "auto"
    threshold: float | None = None

    def _keep_best(self, weights: Floats, weigh: Weigh, columns: Columns, target: Target) -> None:
        """Select the features of largest weight, as many as are asked for, or all above a threshold."""
        wanted, threshold = self.n_features_to_select, self.threshold
        self.feature_weights_, self.ranking_ = weights, ranks(weights)
        if threshold is None:
            n_auto = 1
            if isinstance(wanted, str) and wanted == "auto":  # with the same folds at any time
                matched, random = self.categories == "matched", np.random.RandomState(0)
                n_auto = number_off_sample(weigh, columns, target, matched=matched, random=random)
            self.n_features_ = n_to_select(wanted, len(weights), n_auto)
        elif wanted != "auto":
            raise ValueError(
                f"n_features_to_select={wanted!r} and threshold={threshold:g}: expected one of the two"
            )
        else:
            self.n_features_ = int(np.sum(weights > threshold))
        self.support_ = self.ranking_ <= self.n_features_


def numbers_in(y: Any) -> Floats | None:
    """Numbers of a target of floats, from 0 to 1; None if these are whole and few."""
    values = np.asarray(y)
    if values.dtype.kind != "f" or values.ndim != 1 or np.isnan(values).any() or are_classes(values):
        return None
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(high - low) or low == high:
        raise ValueError(f"y has numbers from {low:g} to {high:g}: expected finite and different ones")
    return np.asarray((values - low) / (high - low), np.float64)


def rows_with_a_hit(labels: Ints, groups: Ints | None = None) -> Ints:
    """Return the rows with a hit and a miss of another group. Others have no margin, but are neighbours."""
    if groups is None:  # of one row each
        return np.flatnonzero(np.bincount(labels)[labels] > 1)
    hits, both = np.bincount(labels)[labels], together(labels, groups)
    misses = len(labels) - hits - np.bincount(groups)[groups] + np.bincount(both)[both]
    return np.flatnonzero((hits > np.bincount(both)[both]) & (misses > 0))


def ranks(worth: Floats) -> Ints:
    """Rank from 1 for the largest; of equal ones (to ten digits) the first comes first."""
    rank = np.empty(len(worth), np.int64)
    rank[best_first(worth, np.abs(worth).max(initial=0.0) or 1.0)] = np.arange(1, len(worth) + 1)
    return rank


def best_run(histories: list[Floats]) -> int:
    """Return which of several restarts ended with the largest score; the first of equals."""
    scores = np.array([history[-1] for history in histories])
    return best_of(scores, np.abs(scores).max() or 1.0)
