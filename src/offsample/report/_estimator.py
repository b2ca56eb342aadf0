"""The recommended model as a classifier of its own, which reads tables as they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from offsample._estimators import n_rows
from offsample._typing import Floats
from offsample.induction import StochasticTreeClassifier
from offsample.report._study import Study, _columns
from offsample.tables import EncodedTable, TableEncoder
from offsample.tables._base import class_names, missing_column

__all__ = ["ReportedClassifier", "reported"]

_NO_COLUMN = "(no column)"


class ReportedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The model that a report recommends: it takes a table, picks its columns by name and ignores all others.

    `Report.estimator` is one, fitted to the rows of the report. A clone can be fitted to others: the same
    learner, with the same limit to its size, on the same columns.

    Parameters
    ----------
    learner : estimator
        Not fitted; of the kind and size of the recommended model.
    columns : list of names
        The columns that it reads.
    categorical_features : list of names
        Those of them that are categories although they hold numbers.

    Attributes
    ----------
    model_ : estimator
        The fitted model, whose classes are text.
    classes_ : ndarray of shape (n_classes,)
        Classes as the table has them, sorted.
    feature_names_in_, n_features_in_ : ndarray of str, int
        The columns that it reads, and their number.

    Examples
    --------
    >>> import offsample
    >>> from offsample.datasets import make_customers
    >>> table = make_customers()
    >>> model = offsample.report(table, target="churned", fast=True).estimator
    >>> model.feature_names_in_.tolist(), model.predict({"city": ["city 030", None]}).tolist()
    (['city'], ['yes', 'no'])
    """

    def __init__(
        self, learner: Any, columns: Sequence[Any], categorical_features: Sequence[Any] = ()
    ) -> None:
        self.learner = learner
        self.columns = columns
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Fit the same learner to the same columns of another table.

        Parameters
        ----------
        X : dataframe, dict of columns or, where the report was on one, array of two dimensions
        y : array-like of shape (n_samples,)
        **options
            Handed on to the learner, such as `sample_weight`.
        """
        there = _columns(X)
        for name in self.columns:
            if name not in there:
                raise missing_column(name, list(there), "feature")
        read = {name: there[name] for name in self.columns} or {_NO_COLUMN: np.zeros(n_rows(X))}
        table = EncodedTable.of(read, self.categorical_features)
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        model = clone(self.learner).fit(table, codes, **options)
        return self._keep(model, table, classes, model.classes_)

    def _keep(self, model: Any, table: EncodedTable, classes: NDArray[Any], place: NDArray[Any]) -> Self:
        """Keep a fitted model, how its columns are encoded, and the place of its classes among all."""
        self.model_, self.classes_, self._place = model, classes, place
        columns = table.select(self.columns)
        self._read = EncodedTable(
            {name: values[:0] for name, values in columns.items()},
            {name: table.known[name] for name in columns},
        )
        self._ignored = [name for name in table if name not in columns]
        self.feature_names_in_ = np.array([str(name) for name in self.columns], object)
        self.n_features_in_ = len(self.columns)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row, of the type that it has in the table of the report.

        Parameters
        ----------
        X : table, as for `fit`
        """
        found = self.model_.predict(self._encoded(X))
        return np.asarray(self.classes_[self._place[np.searchsorted(self.model_.classes_, found)]])

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of each row, in the order of `classes_`.

        Parameters
        ----------
        X : table, as for `fit`
        """
        found = self.model_.predict_proba(self._encoded(X))
        shares = np.zeros((len(found), len(self.classes_)))
        shares[:, self._place] = found
        return shares

    def _encoded(self, X: Any) -> EncodedTable:
        """Columns by the codes of the table that the model was fitted to; zeros for those that it ignores."""
        check_is_fitted(self)
        read = self._read.encode(X)
        return EncodedTable(dict.fromkeys(self._ignored, np.zeros(n_rows(X))) | read, read.known)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = self.learner.__sklearn_tags__().input_tags
        return tags


def reported(study: Study, model: Any, features: Collection[Any]) -> ReportedClassifier:
    """Make the recommended model, fitted to some features of the study's rows, read any table by itself."""
    used = {str(name) for name in model.used_columns_}
    if isinstance(model, StochasticTreeClassifier):  # scales each row by all of its columns
        used = {str(name) for name in features}
    columns = [name for name in study.X if str(name) in used]
    given = [name for name in study.options.categorical_features if name in columns]
    encoder = TableEncoder("all").fit({study.target: _columns(study._read)[study.target]})
    texts = class_names(encoder.values[0])
    place = np.array([texts.index(text) for text in model.classes_])
    estimator = ReportedClassifier(clone(model), columns, given)
    return estimator._keep(model, study.columns(features), _as_array(encoder.values[0]), place)


def _as_array(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as an array whose values are equal to them: numpy would make text of 1 and "a"."""
    if len({type(label) for label in labels}) == 1 and isinstance(labels[0], (bool, int, float, str)):
        return np.array(labels)
    objects = np.empty(len(labels), object)
    objects[:] = labels
    return objects
