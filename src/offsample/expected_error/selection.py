"""A search that forecasts the error of every candidate and fits the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import (
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.utils import assert_all_finite, check_consistent_length, check_random_state, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from offsample._estimators import TypedEstimator, fit_rows
from offsample._frames import make_frame
from offsample._ties import rounded
from offsample._typing import Ints
from offsample.expected_error import _fallbacks
from offsample.expected_error._candidates import (
    CandidateForecast,
    as_numbers,
    doubts,
    expand,
    language_of,
    of_forecast,
    stated,
)
from offsample.expected_error._fallbacks import Estimate
from offsample.expected_error.analysis import ErrorForecast, expected_error
from offsample.expected_error.languages import Language
from offsample.induction.tree.classifier import TreeClassifier
from offsample.tables import unit_codes

Method = Literal["auto", "forecast", "leave_one_out", "cross_validation"]
# So few rows are tested in five folds, not in three, which choose worse: of 300 rows of 20 tables, six parts
# each, three folds lose .021, five .014 and ten .015 (``python -m tests.statistical.path_folds``).
_FEW = 2_000
_OF_NUMBERS = "a forecast counts mistakes about classes, and the target is a number"
_PRIOR_ROWS = 1000  # that a prior is counted on; the forecast is still for all rows


def _has(name: str) -> Any:
    def check(search: ExpectedErrorSearch) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return available_if(check)


@dataclass(eq=False, repr=False)
class ExpectedErrorSearch(ClassifierMixin, MetaEstimatorMixin, TypedEstimator):  # type: ignore[misc]
    """Choose the size of a model by its expected error, and fit it once.

    The forecast of a candidate needs its hypothesis language, not its learner: partitions are drawn from the
    language, all their labelings are counted, and Theorem 6 of Scheffer (1999) gives the error of the
    hypothesis with the fewest errors. It is trusted only for learners that minimise their errors on the
    sample.

    Parameters
    ----------
    estimator : classifier or regressor
        The forecast is for classes. Of a regressor, errors are squared, and cross-validation chooses.
    candidates : dict, list of dict, or list of (dict, Language)
        A grid of parameters, or parameters with their language. That of our trees of `max_splits` is known.
    method : {"auto", "forecast", "leave_one_out", "cross_validation"}, default="auto"
        "auto" uses the forecasts if there is no reason to doubt them, or else takes the first of these that
        applies: the exact leave-one-out error of a language with a single partition; the estimates along the
        growth path of a tree that stops by evidence; cross-validation that reads all sizes off one growth
        path per fold and ends when 30,000 rows have been tested; plain cross-validation.
        "forecast" uses the forecasts in any case, "leave_one_out" is "auto" without forecasts,
        "cross_validation" is plain cross-validation.
    error_minimizing : bool, default=False
        Whether the estimator returns a hypothesis with the fewest errors on the sample; greedy learners do
        not.
    one_standard_error : bool, default=False
        Choose the simplest candidate within one standard error of the best.
    n_draws : int, default=1000
        Partitions to draw for a prior, which is counted on at most 1,000 rows.
    cv : int or splitter, default=5
        Folds of plain cross-validation.
    random_state : int, RandomState or None, default=None
        None draws the same at every fit.

    Attributes
    ----------
    forecast_ : tuple of CandidateForecast
        In the order of the candidates.
    method_ : str
        The method that the choice was made by.
    statement_ : str
        What was chosen, with its error, and whether the analysis chose it or what else, and why.
    fallback_reasons_ : tuple of str
        Why "auto" did not choose by the forecasts; empty if it did.
    best_index_, best_params_, best_error_
        Of the chosen candidate: among equal errors (to ten digits) the one with the smallest language, or
        else the first.
    best_estimator_ : classifier
        Fitted on all rows.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample import ExpectedErrorSearch, TreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> y = ((X[:, 0] > 0) & (X[:, 1] > 0)) ^ (rng.random(600) < 0.1)
    >>> tree = TreeClassifier(stopping="none")
    >>> search = ExpectedErrorSearch(tree, {"max_splits": [0, 1, 2, 40]}, random_state=0).fit(X, y)
    >>> search.best_params_, search.method_
    ({'max_splits': 2}, '5-fold cross-validation of the growth path')
    >>> import textwrap
    >>> print(textwrap.fill(search.statement_, 100))
    max_splits=2 should be wrong on 10.3% of new rows (95% interval 7.9% to 12.8%). Cross-validation
    chose it, not the expected error analysis: TreeClassifier does not minimise its errors on the
    sample.
    """

    estimator: Annotated[Any, "no_validation"]
    candidates: Annotated[Any, dict, list, tuple]
    _: KW_ONLY
    method: Method = "auto"
    error_minimizing: bool = False
    one_standard_error: bool = False
    n_draws: int = 1000
    cv: Annotated[Any, "cv_object"] = 5
    random_state: Annotated[Any, "random_state"] = None
    _least: ClassVar[dict[str, int]] = {"n_draws": 1}

    def fit(self, X: Any, y: Any, groups: ArrayLike | None = None) -> Self:
        """Forecast all candidates and fit the best.

        Parameters
        ----------
        X : array, dataframe or dict of columns, of n_samples rows
        y : array-like of shape (n_samples,)
            Classes; numbers for a regressor.
        groups : array-like of shape (n_samples,), optional
            Rows that belong together: the errors are for rows of new groups. Forecasts and leave-one-out
            errors are for independent rows, so that the choice is made by cross-validation with folds and
            intervals of groups; an estimator whose `fit` takes groups gets them.
        """
        self._validate_params()
        of_numbers = is_regressor(self.estimator)
        if not of_numbers and not is_classifier(self.estimator):
            raise ValueError(
                f"estimator must be a classifier or a regressor, got {type(self.estimator).__name__}"
            )
        if y is None:
            raise ValueError("ExpectedErrorSearch requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        if isinstance(X, Mapping) and not issparse(X):  # some sparse matrices are dicts
            check_consistent_length(next(iter(X.values()), ()), y)
        else:
            X, y = indexable(X, y)
        assert_all_finite(y, input_name="y")
        if of_numbers:
            y = y.astype(float)
        else:
            check_classification_targets(y)
        if of_numbers and self.method == "forecast":
            raise ValueError(f"{_OF_NUMBERS}: use method='auto' or 'cross_validation'")
        together = None if groups is None else unit_codes(groups, "groups", len(y))
        if self.method == "forecast" and groups is not None:
            raise ValueError("a forecast is for independent rows: leave out groups, or use another method")
        candidates = expand(self.candidates)
        random = check_random_state(0 if self.random_state is None else self.random_state)
        seed = int(random.randint(2**31 - 1))
        languages = [None if of_numbers else language for _, language in candidates]
        drawn = self.method == "forecast" or (self.method == "auto" and self.error_minimizing)
        table = None
        if None not in languages or (drawn and isinstance(self.estimator, TreeClassifier)):
            # A bad table is refused by the estimator, in its own words, before anything is drawn from it.
            n_classes = len(self._candidate(candidates[0][0]).fit(X, y).classes_)
            table = as_numbers(X)
            languages = [
                language if language is not None else language_of(self._candidate(params), table, n_classes)
                for params, language in candidates
            ]
        reasons = [_OF_NUMBERS] if of_numbers else self._reasons_against(languages)
        if groups is not None:
            reasons.append("the rows come in groups, and a forecast is for independent rows")
        forecasts: list[ErrorForecast] = []
        if self.method == "forecast" or (self.method == "auto" and not reasons):
            forecasts = self._forecasts(languages, table, y, seed)
            reasons = doubts(forecasts) if self.method == "auto" else []
        self.fallback_reasons_ = tuple(reasons) if self.method == "auto" else ()
        estimates = list(map(of_forecast, forecasts))
        if reasons or not forecasts:
            estimates = self._fall_back(candidates, languages, table, X, y, seed, together)
        self.method_ = estimates[0].kind
        self.forecast_ = tuple(
            CandidateForecast(
                params=candidates[i][0],
                **asdict(estimate),
                log_size=None if language is None else language.log_size(),
                warnings=forecasts[i].diagnostics.warnings if forecasts else (),
            )
            for i, (estimate, language) in enumerate(zip(estimates, languages, strict=True))
        )
        self.best_index_ = self._best()
        chosen = self.forecast_[self.best_index_]
        self.best_params_, self.best_error_ = chosen.params, chosen.error
        self.statement_ = stated(chosen, self.fallback_reasons_, groups is not None, of_numbers)
        self.best_estimator_ = fit_rows(self._candidate(chosen.params), X, y, None, together)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _reasons_against(self, languages: Sequence[Language | None]) -> list[str]:
        """Return the reasons against a forecast that are known before anything is drawn."""
        name = type(self.estimator).__name__
        unknown = f"the hypothesis language of {name} is unknown"
        if None in languages and self.method == "forecast":
            raise ValueError(f"{unknown}: give one with each candidate")
        if not self.error_minimizing:
            return [f"{name} does not minimise its errors on the sample"]
        return [unknown] if None in languages else []

    def _forecasts(
        self, languages: Sequence[Language | None], table: Any, y: NDArray[Any], seed: int
    ) -> list[ErrorForecast]:
        rows = np.arange(len(y))
        if len(y) > _PRIOR_ROWS:
            rows = np.random.default_rng(seed).choice(len(y), _PRIOR_ROWS, replace=False)
        found = []
        for language in languages:
            assert language is not None
            prior = language.count_law(table[rows], y[rows], n_draws=self.n_draws, random_state=seed)
            found.append(expected_error(prior, language.log_size(), len(y)))
        return found

    def _candidate(self, params: dict[str, Any]) -> Any:
        return clone(self.estimator).set_params(**params)

    def _fall_back(
        self,
        candidates: Sequence[tuple[dict[str, Any], Language | None]],
        languages: Sequence[Language | None],
        table: Any,
        X: Any,
        y: NDArray[Any],
        seed: int,
        groups: Ints | None,
    ) -> list[Estimate]:
        if self.method != "cross_validation" and not is_regressor(self.estimator):
            classes, labels, counts = np.unique(y, return_inverse=True, return_counts=True)
            exact = [
                _fallbacks.leave_one_out(language, table, labels, max(2, len(classes)))
                for language in languages
                if language is not None and groups is None
            ]
            known = [estimate for estimate in exact if estimate is not None]
            if len(known) == len(languages):
                return known
            grid = [params for params, _ in candidates]
            if _fallbacks.is_path_grid(self.estimator, grid):
                sizes = [int(params["max_splits"]) for params in grid]
                on_path = None
                if groups is None:
                    on_path = _fallbacks.path_estimates(self.estimator, sizes, X, y)
                n_folds = 5 if len(y) <= _FEW and counts.min() >= 5 else 3
                # A learner that stops by itself does so by groups: each size is then fitted by itself.
                fits = counts.min() >= n_folds and (groups is None or not self.estimator.cuts_back)
                if on_path is None and fits:
                    on_path = _fallbacks.cross_validation_of_paths(
                        self.estimator, sizes, X, y, n_folds, seed, groups
                    )
                if on_path is not None:
                    return on_path
        models = [self._candidate(params) for params, _ in candidates]
        return _fallbacks.cross_validation(models, X, y, self.cv, seed, groups)

    def _best(self) -> int:
        known = [forecast.error for forecast in self.forecast_]
        scale = (max(known) or 1.0) if is_regressor(self.estimator) else 1.0
        errors = rounded(known, scale)
        sizes = [forecast.log_size for forecast in self.forecast_]
        order = [(0.0 if None in sizes else size, i) for i, size in enumerate(sizes)]
        best = min(range(len(errors)), key=lambda i: (errors[i], order[i]))
        if not self.one_standard_error:
            return best
        limit = rounded(known[best] + self.forecast_[best].standard_error, scale)
        return min((i for i in range(len(errors)) if errors[i] <= limit), key=lambda i: order[i])

    def to_frame(self) -> Any:
        """Return a dataframe with one row per candidate, of the library that is installed."""
        check_is_fitted(self)
        columns = {name: [f.params.get(name) for f in self.forecast_] for name in self.forecast_[0].params}
        for name in ("error", "low", "high", "standard_error", "kind", "log_size"):
            columns[name] = [getattr(forecast, name) for forecast in self.forecast_]
        return make_frame(columns)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict with the chosen candidate."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict(X))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of the chosen candidate; R² of a regressor."""
        kind = RegressorMixin if is_regressor(self.estimator) else ClassifierMixin
        return float(kind.score(self, X, y, sample_weight))

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Predict class probabilities with the chosen candidate."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict_proba(X))

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Evaluate the decision function of the chosen candidate."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.estimator_type = inner.estimator_type or tags.estimator_type
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        return tags
