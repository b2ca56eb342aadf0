"""The ranking of columns as a scikit-learn selector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from offsample._estimators import TableSelector, check_classes, check_table_and_target, n_to_select
from offsample._typing import Booleans
from offsample.induction.weights import repeated_rows
from offsample.ranking import Order, rank_features
from offsample.tables import column_names, take_rows
from offsample.tables._units import kinds

__all__ = ["FeatureRanker"]


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureRanker(TableSelector):
    """Select columns by the error to expect, on new rows, of predicting the target from one of them.

    Columns are read as they are: strings, categories, numbers, missing values. Nothing has to be encoded
    first, and the selected columns come out as they went in.

    Parameters
    ----------
    criterion : str, default="ginger"
        A name in `criteria.CRITERIA`.
    n_features_to_select : int, float, "auto" or None, default=None
        How many of the first columns to keep: a number, a share of all, or (None, "auto") those with
        evidence of a signal after a false-discovery control, and at least the first.
    order : {"auto", "estimate", "lower_bound"}, default="auto"
        What the columns are sorted by; see `rank_features`.
    confidence : float, default=0.95
        Of the intervals; 1 - confidence is the false-discovery rate.
    numeric : {"auto", "distinct"} or int, default="auto"
        How numeric columns are partitioned; see `rank_features`.
    categorical_features : "infer", "all", list of names, or boolean mask, default="infer"
        Columns to read as categorical although they hold numbers.
    costs : array-like of shape (n_classes, n_classes), dict or None, default=None
        Rank by the cost of the cheapest class; see `rank_features`.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether `y` is classes or a number; see `rank_features`.

    Attributes
    ----------
    ranking_ : Ranking
        Everything that is known of the columns, in order.
    scores_ : ndarray of shape (n_features_in_,)
        The criterion of each column, in the order of the input.
    n_features_ : int
        Number of columns kept.
    classes_ : ndarray
        Where `y` is classes.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where the input has names.

    See Also
    --------
    rank_features : The same for any table or engine, as a result to look at.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample import FeatureRanker
    >>> rng = np.random.default_rng(1)
    >>> y = rng.integers(0, 2, 300)
    >>> X = np.column_stack([rng.normal(size=300), y + rng.normal(size=300), np.arange(300) % 150])
    >>> FeatureRanker().fit(X, y).get_support()
    array([False,  True, False])
    """

    criterion: str = "ginger"
    n_features_to_select: int | float | Literal["auto"] | None = None
    order: Order = "auto"
    confidence: float = 0.95
    numeric: Literal["auto", "distinct"] | int = "auto"
    categorical_features: Literal["infer", "all"] | Sequence[Any] | Booleans = "infer"
    costs: ArrayLike | Mapping[str, float] | None = None
    task: Literal["auto", "classification", "regression"] = "auto"

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Rank the columns.

        Parameters
        ----------
        X : array or dataframe of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes, or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts: whole numbers.
        groups : array-like of shape (n_samples,) or (n_samples, n_kinds), optional
            Rows that belong together: the columns are ranked by the error on new groups, of all kinds.
        """
        self._validate_params()
        is_category = str(getattr(y, "dtype", "")) == "category"  # of whole numbers, too
        task = "classification" if is_category and self.task == "auto" else self.task
        X, y = check_table_and_target(self, X, y)
        rows = repeated_rows(sample_weight, len(y))
        together = [] if groups is None else [column_or_1d(kind) for kind in kinds(groups)]
        check_consistent_length(y, *together)
        if rows is not None:
            X, y = take_rows(X, rows), y[rows]
            together = [kind[rows] for kind in together]
        if task == "classification" or y.dtype.kind not in "iuf":
            check_classes(y)
        names = column_names(X)
        ranking = rank_features(
            X,
            y,
            criterion=self.criterion,
            order=self.order,
            confidence=self.confidence,
            numeric=self.numeric,
            categorical_features=self.categorical_features,
            group=together or None,
            costs=self.costs,
            task=task,
        )
        self.ranking_ = ranking
        if ranking.task == "classification":
            self.classes_ = np.unique(y)
        self.scores_ = np.array([ranking[name].score for name in names])
        n_significant = max(1, sum(f.significant for f in ranking))
        self.n_features_ = n_to_select(self.n_features_to_select, len(names), n_significant)
        self._position = {feature.name: i for i, feature in enumerate(ranking)}
        self._names = names
        return self

    def _get_support_mask(self) -> Booleans:
        check_is_fitted(self)
        return np.array([self._position[name] < self.n_features_ for name in self._names])
