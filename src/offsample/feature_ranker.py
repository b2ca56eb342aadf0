"""The ranking of columns as a scikit-learn selector."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from offsample.ranking import Order, rank_features

__all__ = ["FeatureRanker"]


class FeatureRanker(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select columns by the error to expect, on new rows, of predicting the class from one of them.

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

    Attributes
    ----------
    ranking_ : Ranking
        Everything that is known of the columns, in order.
    scores_ : ndarray of shape (n_features_in_,)
        The criterion of each column, in the order of the input.
    n_features_ : int
        Number of columns kept.
    classes_ : ndarray
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "criterion": [str],
        "n_features_to_select": [Integral, Real, str, None],
        "order": [str],
        "confidence": [Real],
        "numeric": [str, Integral],
        "categorical_features": [str, "array-like"],
    }

    def __init__(
        self,
        *,
        criterion: str = "ginger",
        n_features_to_select: int | float | Literal["auto"] | None = None,
        order: Order = "auto",
        confidence: float = 0.95,
        numeric: Literal["auto", "distinct"] | int = "auto",
        categorical_features: Literal["infer", "all"] | Sequence[Any] | NDArray[np.bool_] = "infer",
    ) -> None:
        self.criterion = criterion
        self.n_features_to_select = n_features_to_select
        self.order = order
        self.confidence = confidence
        self.numeric = numeric
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any) -> Self:
        """Rank the columns.

        Parameters
        ----------
        X : array or dataframe of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes.
        """
        self._validate_params()
        X, y = self._checked(X, y)
        check_classification_targets(y)
        names = _column_names(X)
        ranking = rank_features(
            X,
            y,
            criterion=self.criterion,
            order=self.order,
            confidence=self.confidence,
            numeric=self.numeric,
            categorical_features=_names_of_mask(self.categorical_features, names),
        )
        self.ranking_ = ranking
        self.classes_ = np.unique(y)
        self.scores_ = np.array([ranking[name].score for name in names])
        self.n_features_ = self._n_to_select(len(names), sum(f.significant for f in ranking))
        self._position = {feature.name: i for i, feature in enumerate(ranking)}
        self._names = names
        return self

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Check by scikit-learn's rules, but leave a dataframe as it is."""
        if not _is_dataframe(X):
            X, y = validate_data(self, X, y, dtype=None, ensure_all_finite="allow-nan")
            return X, y
        validate_data(self, X, skip_check_array=True)
        if y is None:
            raise ValueError("FeatureRanker requires y to be passed, but the target y is None")
        if len(X) == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required."
            )
        return X, column_or_1d(y)

    def _n_to_select(self, n_features: int, n_significant: int) -> int:
        wanted = self.n_features_to_select
        if wanted is None or wanted == "auto":
            return max(1, n_significant)
        if isinstance(wanted, Integral) and 1 <= wanted <= n_features:
            return int(wanted)
        if isinstance(wanted, float) and 0 < wanted <= 1:
            return max(1, round(wanted * n_features))
        raise ValueError(
            f"n_features_to_select must be 'auto', an integer from 1 to {n_features} or a share in (0, 1], "
            f"got {wanted!r}"
        )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return np.array([self._position[name] < self.n_features_ for name in self._names])

    def transform(self, X: Any) -> Any:
        """Keep the selected columns; a dataframe stays one, with the types it had.

        Parameters
        ----------
        X : array or dataframe of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if not _is_dataframe(X):
            return super().transform(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        kept = np.flatnonzero(self.get_support()).tolist()
        if nw.dependencies.is_pandas_dataframe(X):  # whose names need not be strings
            return X.iloc[:, kept]
        return nw.from_native(X, eager_only=True)[:, kept].to_native()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _is_dataframe(X: Any) -> bool:
    return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)


def _column_names(X: Any) -> list[Any]:
    """Names of the columns as `tables.open_table` calls them."""
    if nw.dependencies.is_pandas_dataframe(X):
        return list(X.columns)
    if _is_dataframe(X):
        return list(nw.from_native(X, eager_only=True).columns)
    return [f"x{j}" for j in range(X.shape[1])]


def _names_of_mask(categorical_features: Any, names: list[Any]) -> Any:
    if isinstance(categorical_features, str):
        return categorical_features
    chosen = np.asarray(categorical_features)
    if chosen.dtype != bool:
        return list(categorical_features)
    if chosen.shape != (len(names),):
        raise ValueError(
            f"categorical_features is a mask of shape {chosen.shape}: expected one entry for each of "
            f"{len(names)} columns"
        )
    return [name for name, is_categorical in zip(names, chosen, strict=True) if is_categorical]
