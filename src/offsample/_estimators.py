"""What our scikit-learn estimators share: dataframes are checked, and left as they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
    validate_data,
)

from offsample import _folds
from offsample._typing import Floats, Ints
from offsample.tables import is_dataframe, merged_columns, take_rows
from offsample.tables._base import missing_column
from offsample.tables._read import take_columns

# Types of parameters in scikit-learn's words; others are arrays.
_NAMES = {int: Integral, float: Real, bool: "boolean", str: str, NoneType: None, Callable: callable}


def check_table_and_target(
    estimator: BaseEstimator, X: Any, y: Any, min_samples: int = 1
) -> tuple[Any, NDArray[Any]]:
    """Check by scikit-learn's rules at `fit`, but leave a dataframe or a dict of columns as it is."""
    if not is_dataframe(X) and not _is_columns(X):
        # An infinite number is a value like a missing one; every learner knows what to do with it.
        X, y = validate_data(
            estimator, X, y, dtype=None, ensure_all_finite=False, ensure_min_samples=min_samples
        )
        return X, y
    _check_names(estimator, X, reset=True)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    y = column_or_1d(y)
    check_consistent_length(*(X.values() if _is_columns(X) else (X,)), y)
    if is_classifier(estimator):
        check_classes(y)
    if len(y) < min_samples:
        raise ValueError(f"Found array with {len(y)} sample(s) while a minimum of {min_samples} is required.")
    return X, y


def check_classes(y: Any) -> None:
    """Raise unless these can be classes, without a warning about numbers that are no integers.

    Nor about classes of few rows, of which a part of a sample may have more than the sample.
    """
    with np.errstate(invalid="ignore"), pointing_to_numbers():
        if type_of_target(y, input_name="y") not in ("binary", "multiclass"):
            check_classification_targets(y)


@contextmanager
def pointing_to_numbers() -> Iterator[None]:
    """Add to an error about classes what takes numbers."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{error} Of a number, TreeRegressor learns.") from error


def check_table(estimator: BaseEstimator, X: Any) -> Any:
    """Check by scikit-learn's rules after `fit`, but leave a dataframe or a dict of columns as it is."""
    check_is_fitted(estimator)
    if is_dataframe(X) or _is_columns(X):
        _check_names(estimator, X, reset=False)
        return X
    return validate_data(estimator, X, dtype=None, ensure_all_finite=False, reset=False)


def check_numbers(estimator: BaseEstimator, X: Any, y: Any = None, *, reset: bool) -> Any:
    """Check for a learner that takes finite numbers only; one that is not is refused by name.

    Columns whose numbers float64 cannot tell apart are read, with a warning that names them.
    """
    table = X if is_dataframe(X) or issparse(X) else np.asarray(X)  # refuses two columns of one name
    if reset and not issparse(X) and np.ndim(table) == 2 and (merged := merged_columns(table)):
        warnings.warn(
            f"column {merged[0]!r} has different numbers beyond 2**53 that are the same as float64, by which "
            f"{type(estimator).__name__} reads them: leave it out, or hand it over as categories",
            stacklevel=3,
        )
    checked = validate_data(
        estimator, X, *((y,) if reset else ()), dtype=np.float64, ensure_all_finite=False, reset=reset
    )
    numbers = checked[0] if reset else checked
    bad = ~np.isfinite(numbers)
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(numbers.shape[1])])
        value = "NaN" if np.isnan(numbers[row, column]) else str(numbers[row, column])
        raise ValueError(
            f"column {str(names[column])!r} has {value} in row {row}: {type(estimator).__name__} takes "
            "finite numbers only; fill in missing values, and replace infinite ones"
        )
    return checked


def fit_rows(model: Any, X: Any, y: NDArray[Any], rows: Any, groups: NDArray[Any] | None = None) -> Any:
    """Fit a model to some of the rows, or to all; what of it takes groups is told them."""
    if rows is not None:
        X, y, groups = take_rows(X, rows), y[rows], None if groups is None else groups[rows]
    if groups is None:
        return model.fit(X, y)
    with config_context(enable_metadata_routing=True):
        return model.fit(X, y, **({"groups": groups} if ask_for_groups(model, y) else {}))


def row_losses(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    train: NDArray[Any],
    test: NDArray[Any],
    groups: Ints | None = None,
) -> Floats:
    """Fit on some rows and return the losses on others: 0 or 1 for a classifier, else squared errors."""
    model = fit_rows(clone(estimator), X, y, train, groups)
    predicted = model.predict(take_rows(X, test))
    loss = predicted != y[test] if is_classifier(estimator) else (predicted - y[test]) ** 2
    return np.asarray(loss, dtype=float)


def ask_for_groups(model: Any, y: Any) -> bool:
    """Let a model ask for groups, with metadata routing on, and say whether any part of it does.

    Each step of a pipeline whose `fit` takes them does, unless it was told not to; a search with a number of
    folds gets folds of groups.
    """
    if has_fit_parameter(model, "groups") and hasattr(model, "set_fit_request"):
        if model.get_metadata_routing().fit.requests.get("groups") is None:
            model.set_fit_request(groups=True)
    elif hasattr(model, "steps"):
        for _, step in model.steps:
            ask_for_groups(step, y)
    elif hasattr(model, "estimator"):
        ask_for_groups(model.estimator, y)
        if hasattr(model, "cv"):
            cv = 5 if model.cv is None else model.cv
            model.set_params(cv=_folds.splitter(cv, y, classifier=is_classifier(model), with_groups=True))
    return "groups" in get_routing_for_object(model).consumes("fit", {"groups"})


def n_rows(X: Any) -> int:
    """Rows of an array, a dataframe or a dict of columns."""
    return len(next(iter(X.values()), ())) if _is_columns(X) else len(X)


def _is_columns(X: Any) -> bool:
    return isinstance(X, dict) and not issparse(X)  # one kind of sparse matrix is a dict


def _check_names(estimator: BaseEstimator, X: Any, reset: bool) -> None:
    if not _is_columns(X):
        validate_data(estimator, X, skip_check_array=True, reset=reset)
    elif reset:  # scikit-learn knows no dicts of columns
        estimator.n_features_in_ = len(X)
        estimator.feature_names_in_ = np.array([str(name) for name in X], object)
    else:
        known = {str(name) for name in X}
        for name in getattr(estimator, "feature_names_in_", ()):
            if name not in known:
                raise missing_column(name, list(X), "feature")


def n_to_select(wanted: Any, n_features: int, n_auto: int) -> int:
    """Number of columns that ``n_features_to_select`` stands for: itself, a share, or `n_auto`."""
    if wanted is None or (isinstance(wanted, str) and wanted == "auto"):
        return n_auto
    if isinstance(wanted, Integral) and not isinstance(wanted, bool) and 1 <= int(wanted) <= n_features:
        return int(wanted)
    if isinstance(wanted, Real) and not isinstance(wanted, Integral) and 0 < float(wanted) <= 1:
        return max(1, round(float(wanted) * n_features))
    raise ValueError(
        f"n_features_to_select must be 'auto', an integer from 1 to {n_features} or a share in (0, 1], "
        f"got {wanted!r}"
    )


class TypedEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose parameters are checked by the types of the fields that hold them."""

    _least: ClassVar[dict[str, int]] = {}  # least values of numbers that may also be None or a name

    def _validate_params(self) -> None:
        super()._validate_params()
        estimator: Any = type(self)
        for name, allowed in _choices_of(estimator).items():
            value = getattr(self, name)
            if value not in allowed or value is True:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
        for name, smallest in self._least.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, str) and value < smallest:
                raise ValueError(f"{name} must be at least {smallest}, got {value}")

    @property
    def _parameter_constraints(self) -> dict[str, Any]:
        estimator: Any = type(self)
        return _constraints_of(estimator)


@cache
def _constraints_of(estimator: Any) -> dict[str, Any]:
    """What scikit-learn checks of parameters, from the types of the fields that hold them."""
    types = get_type_hints(estimator, include_extras=True)
    return {field.name: _constraints(types[field.name]) for field in fields(estimator)}


@cache
def _choices_of(estimator: Any) -> dict[str, tuple[Any, ...]]:
    """Values of the parameters that take no others: a `Literal`, or None beside one."""
    types, found = get_type_hints(estimator, include_extras=True), {}
    for field in fields(estimator):
        parts = get_args(types[field.name]) if get_origin(types[field.name]) in (Union, UnionType) else ()
        kinds = [part for part in parts or (types[field.name],) if part is not NoneType]
        if len(kinds) == 1 and get_origin(kinds[0]) is Literal:
            found[field.name] = (*get_args(kinds[0]), *[None] * (NoneType in parts))
    return found


def _constraints(kind: Any) -> Any:
    """The same for one type; an annotation says it in scikit-learn's words."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return parts[1] if parts[1] == "no_validation" else list(parts[1:])
    if origin in (Union, UnionType):
        return list(dict.fromkeys(one for part in parts for one in _constraints(part)))
    if origin is Literal:
        return list(dict.fromkeys(_NAMES[type(value)] for value in parts))
    return [_NAMES.get(origin or kind, "array-like")]


class TableEstimator(TypedEstimator):
    """An estimator that reads tables as they are: strings, categories and missing values."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class TableSelector(SelectorMixin, TableEstimator):  # type: ignore[misc]
    """A selector of columns that takes any table and gives back columns as they went in."""

    def transform(self, X: Any) -> Any:
        """Keep the selected columns; a dataframe stays one, with the types it had.

        Parameters
        ----------
        X : array or dataframe of shape (n_samples, n_features)
        """
        X = check_table(self, X)
        kept = np.flatnonzero(self.get_support()).tolist()
        return take_columns(X, kept)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def row_weights(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Weight of each of n rows, 1 by default."""
    weight = np.asarray(1.0 if sample_weight is None else sample_weight, dtype=np.float64)
    weight = np.full(n, float(weight)) if weight.ndim == 0 else weight
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has shape {weight.shape}: expected one weight for each of {n} rows")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.sum() > 0):
        raise ValueError("sample_weight must be finite, not negative, and not zero for all rows")
    return weight
