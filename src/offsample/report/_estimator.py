"""The recommended model as an estimator of its own, which reads tables as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from offsample._estimators import n_rows
from offsample._squared_losses import alike, few_decide
from offsample._typing import Floats
from offsample.report._encoded import FEWEST
from offsample.report._study import Study
from offsample.tables import EncodedTable, TableEncoder, columns_of
from offsample.tables._base import class_names, missing_column
from offsample.tables._calendar import with_parts
from offsample.tables._derived import made_of, with_derived
from offsample.tables._meaning import as_moments


class _Reported(BaseEstimator):  # type: ignore[misc]
    """A learner, the columns that it looks at by name, and how they are read."""

    def __init__(
        self,
        learner: Any,
        columns: Sequence[Any],
        categorical_features: Sequence[Any] = (),
        time: Any = None,
        types: Mapping[Any, str] | None = None,
        is_undecided: bool = False,
    ) -> None:
        self.learner, self.columns, self.categorical_features = learner, columns, categorical_features
        self.time, self.types, self.is_undecided = time, types, is_undecided

    def _table(self, X: Any) -> EncodedTable:
        """The columns of another table, encoded anew."""
        there = self._with_made(columns_of(X))
        for name in self.columns:
            if name not in there:
                raise missing_column(name, list(there), "feature")
        read = {name: there[name] for name in self.columns} or {"(no column)": np.zeros(n_rows(X))}
        return EncodedTable.of(read, self.categorical_features, self.types)

    def _with_made(self, columns: Mapping[Any, Any]) -> dict[Any, Any]:
        """Columns of a table, and those that are made of others."""
        columns = with_parts(dict(columns), self.time, self.columns)
        return with_derived(columns, wanted=self.columns, types=self.types)

    def _encoded(self, X: Any) -> EncodedTable:
        """Columns of another table by the codes that the model knows; those that it ignores are zeros."""
        columns, unread = columns_of(X), dict[Any, Any]()
        if not columns.keys() >= self._made.keys():
            dates = self._dates.encode(columns)
            columns |= {name: as_moments(dates[name]) for name in dates}
            unread.update(dates.unread)
        read = self._read.encode(self._with_made(columns))
        zeros = dict.fromkeys(self._ignored, np.zeros(n_rows(X)))
        return EncodedTable(zeros | read, read.known, unread | dict(read.unread))

    def _keep(
        self, model: Any, table: EncodedTable, X: Any, rare: Mapping[str, set[Any]] | None = None
    ) -> Self:
        """Keep a fitted model, how its columns are encoded, dates that some are made of, and rare values."""
        self.model_, there, self._rare = model, columns_of(X), rare or {}
        self._made = {name: made_of(name, there) for name in self.columns if name not in there}
        of = {source for sources in self._made.values() for source in sources}
        types = {name: asked for name, asked in (self.types or {}).items() if name in of}
        sources = EncodedTable.of({name: there[name] for name in there if name in of}, types=types)
        dates = {name: one for name, one in sources.known.items() if one.quantity == "moment"}
        self._dates = EncodedTable({name: sources[name][:0] for name in dates}, dates)
        known = {name: table.known[name] for name in self.columns}
        self._read = EncodedTable({name: table[name][:0] for name in known}, known)
        self._ignored = [name for name in table if name not in known]
        self.feature_names_in_ = np.array([str(name) for name in self.columns], object)
        self.n_features_in_ = len(self.columns)
        return self

    @property
    def _texts(self) -> set[Any]:
        """Columns that a file should hand over as the text that they are."""
        sources = {source for sources in self._made.values() for source in sources}
        return {*self._read.texts, *self._dates.texts, *(sources - self._dates.keys())}

    def _ask(self, X: Any, method: str, *more: float) -> NDArray[Any]:
        """Ask the model about a table, which may be encoded already."""
        check_is_fitted(self)
        table = X if isinstance(X, EncodedTable) else self._encoded(X)
        return np.asarray(getattr(self.model_, method)(table, *more))


class ReportedClassifier(ClassifierMixin, _Reported):  # type: ignore[misc]
    """The model that a report recommends: it takes a table, picks its columns by name and ignores all others.

    `Report.estimator` is one, fitted to the rows of the report: `model_` is the fitted learner, whose classes
    are text, and `classes_` are the classes as the table has them, sorted. A clone can be fitted to other
    rows: the same learner, of the same size at most, on the same columns. Month, weekday and hour of the
    report's `time` are made here: a table needs the time itself. One that `is_undecided` is not shown to
    help: its probabilities are half way between the learner's and the class shares.

    Examples
    --------
    >>> import offsample
    >>> from offsample.datasets import make_customers
    >>> model = offsample.report(make_customers(), target="churned", fast=True).estimator
    >>> model.feature_names_in_.tolist(), model.predict({"city": ["city 030", None]}).tolist()
    (['city'], ['yes', 'no'])
    """

    def fit(self, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Fit the same learner to the same columns of another table; options are those of the learner."""
        table = self._table(X)
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        model = clone(self.learner).fit(table, codes, **options)
        model = half_way(model) if self.is_undecided else model
        return self._of_classes(classes, model.classes_)._keep(model, table, X)

    def _of_classes(self, classes: NDArray[Any], place: NDArray[Any]) -> Self:
        """Note the classes, and the place of the model's among them."""
        self.classes_, self._place = classes, place
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row of a dataframe, a dict of columns or, if the report was on one, an array."""
        found = self._ask(X, "predict")
        return np.asarray(self.classes_[self._place[np.searchsorted(self.model_.classes_, found)]])

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of each row, in the order of `classes_`."""
        found = self._ask(X, "predict_proba")
        shares = np.zeros((len(found), len(self.classes_)))
        shares[:, self._place] = found
        return shares

    def _form(self) -> Any:
        return self.model_._form().of_classes(self.classes_.tolist(), self._place)


class ReportedRegressor(RegressorMixin, _Reported):  # type: ignore[misc]
    """The model that a report on a target of numbers recommends; otherwise as `ReportedClassifier`."""

    def fit(self, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Fit the same learner to the same columns of another table; options are those of the learner."""
        table = self._table(X)
        y, times = np.asarray(y), options.get("sample_weight")
        model = clone(self.learner).fit(table, y, **options)
        y = y if times is None else np.repeat(y, np.asarray(times, int))
        if not self.columns and few_decide(len(y), alike((y - y.mean()) ** 2)):
            model = at_median(model, y)
        return self._keep(model, table, X)

    def predict(self, X: Any) -> Floats:
        """Number for each row of a dataframe, a dict of columns or, if the report was on one, an array."""
        return self._ask(X, "predict")

    def predict_interval(self, X: Any, confidence: float = 0.95) -> Floats:
        """Ends between which the number of each row should be; see `TreeRegressor.predict_interval`."""
        return self._ask(X, "predict_interval", confidence)

    def _form(self) -> Any:
        return self.model_._form()


def at_median(tree: Any, y: Any) -> Any:
    """Have a tree without splits say the median, its intervals as they are."""
    found, lower = copy(tree), tree.tree_.value[0, 0] - np.median(y)
    found.tree_ = replace(tree.tree_, value=tree.tree_.value - lower)
    found._residuals = replace(tree._residuals, distance=tree._residuals.distance + lower)
    return found


def half_way(tree: Any) -> Any:
    """Have a tree say what is half way between its probabilities and the class shares: either may be right.

    Its log loss is then no more than half of theirs and half of its own, whatever is true.
    """
    found, value = copy(tree), (tree.tree_.value + tree.tree_.value[0]) / 2
    found.tree_ = replace(tree.tree_, value=value, label=tree._cheapest(value))
    return found


def reported(
    study: Study, model: Any, features: Collection[Any], is_undecided: bool = False
) -> ReportedClassifier | ReportedRegressor:
    """Make the recommended model, fitted to some features of the study's rows, read any table by itself."""
    used = features if model.reads_all_columns else model.used_columns_
    table, names = study.columns(features), {str(name) for name in used}
    if study.as_read.select(features):  # with the values that no page names
        table = study.as_read.select(features)
        words = getattr(model, "vocabulary_", None)
        if (encoder := getattr(model, "_encoder", None) or getattr(words, "encoder", None)) is not None:
            encoder._known = [table.known[name] for name in encoder.names]
    columns = [name for name in table if str(name) in names]
    declared = [name for name in study.categories if name in columns]
    about = clone(model), columns, declared, study.options.time, dict(study.options.types), is_undecided
    rare = {} if study.options.show_rows else {str(name): _rare(table, name) for name in columns}
    if study.task == "regression":
        return ReportedRegressor(*about)._keep(model, table, study._read, rare)
    values = TableEncoder("all").fit({study.target: columns_of(study._read)[study.target]}).values[0]
    texts, classes = class_names(values), np.array(values)
    if classes.tolist() != list(values):  # numpy makes text of 1 and "a"
        classes = np.array(values, object)
    place = np.array([texts.index(text) for text in model.classes_])
    return ReportedClassifier(*about)._of_classes(classes, place)._keep(model, table, study._read, rare)


def _rare(table: EncodedTable, name: Any) -> set[Any]:
    """Values that so few rows have that they are not to be named."""
    if table.kind(name) == "numeric":
        return set()
    values = table.known[name].values
    sizes = np.bincount(table[name], minlength=len(values))
    return {value for value, n in zip(values, sizes, strict=False) if n < FEWEST}
