"""Nested cross-validation: each fold chooses the parameters again, without its test rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import column_or_1d, has_fit_parameter

from offsample import _folds
from offsample._checks import check_confidence
from offsample._estimators import ask_for_groups
from offsample._frames import make_frame
from offsample._text import number, percentage
from offsample.assessment._intervals import score_interval
from offsample.assessment._metrics import OF_NUMBERS, as_read, scorer_name, within
from offsample.assessment._out_of_fold import metric_of_model
from offsample.assessment._result import Result
from offsample.assessment._units import ScoredRows, folds_of, run_all
from offsample.tables import take_rows, unit_codes


@dataclass(frozen=True, repr=False)
class NestedScores(Result):
    """Scores of an estimator together with the choice of its parameters."""

    scores: tuple[float, ...]  # on each outer fold, of the parameters chosen without it; losses not negative
    mean: float  # of the scores, with the interval of rows (accuracy, R², errors) or the corrected t
    low: float
    high: float
    params: tuple[dict[str, Any], ...]  # chosen in each outer fold
    inner_scores: tuple[float, ...]  # the best in each fold: what the search would have reported there
    optimism: float  # by how much the mean of the inner scores is better than that of the outer ones
    stability: float  # share of pairs of folds that chose the same parameters
    param_stability: dict[str, float]  # share of folds that chose the most frequent value, by parameter
    n_test: tuple[int, ...]  # rows of each outer fold
    confidence: float
    metric: str = "score"
    greater_is_better: bool = True

    def to_frame(self) -> Any:
        """Return a dataframe with one row per outer fold, of the library that is installed."""
        names = sorted({name for params in self.params for name in params})
        return make_frame(
            {
                "fold": list(range(len(self.scores))),
                "n_test": list(self.n_test),
                "score": list(self.scores),
                "inner_score": list(self.inner_scores),
                **{name: [params.get(name) for params in self.params] for name in names},
            }
        )

    def __repr__(self) -> str:
        return (
            f"NestedScores: {self.metric} {self.mean:.4f} ({'more' if self.greater_is_better else 'less'} is "
            f"better), {percentage(self.confidence)} interval "
            f"{self.low:.4f}–{self.high:.4f}, {len(self.scores)} folds; optimism of the inner choice "
            f"{number(self.optimism)}, {self.stability:.0%} of pairs of folds chose alike"
        )


def nested_cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    param_grid: Mapping[str, Any] | list[Mapping[str, Any]] | None = None,
    cv: Any = 10,
    inner_cv: Any = None,
    scoring: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    progress: bool = False,
) -> NestedScores:
    """Estimate the score of an estimator together with the tuning of its parameters.

    n²-fold cross-validation of Scheffer (1999), Sec. 5.6: each outer fold chooses the parameters with the
    best mean over the inner folds, refits the estimator with them, and scores it on rows that took no part.
    The estimate is almost unbiased and costs one search per outer fold; `audit_search` needs only one search.

    Parameters
    ----------
    estimator : estimator or search
        A search of scikit-learn (with `estimator` and `best_params_`), or an estimator with `param_grid`. An
        estimator alone is cross-validated as it is.
    X, y : array-like
    param_grid : dict or list of dict, optional
        Grid that `GridSearchCV` searches, for an estimator that is not a search.
    cv : int or splitter, default=10
        Outer folds.
    inner_cv : int or splitter, optional
        Inner folds; those of the search by default, or as many as outer ones.
    scoring : str or callable, optional
        That of the search by default, or else accuracy or R².
    groups : array-like, optional
        Rows of a group stay together in outer and inner folds: a number of folds then means `GroupKFold`.
        Estimators whose `fit` takes groups get them.
    sample_weight : array-like, optional
        Routed to the fit and to the scoring of outer and inner folds; in a pipeline, to its last step.
        Metadata routing is switched on.
    confidence : float, default=0.95
    n_jobs : int, optional
        Outer folds to run at a time.
    progress : bool, default=False

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from offsample import nested_cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> nested = nested_cross_validate(tree, X, y, param_grid={"max_depth": [1, 2, 3]}, cv=5)
    >>> round(nested.mean, 2), len(nested.params)
    (0.95, 5)
    """
    check_confidence(confidence)
    y = column_or_1d(y)
    metadata = {
        name: np.asarray(values)
        for name, values in (("groups", groups), ("sample_weight", sample_weight))
        if values is not None
    }
    for name, values in metadata.items():
        if len(values) != len(y):
            raise ValueError(f"{name} has {len(values)} values, expected one for each of the {len(y)} rows")
    if groups is not None:
        metadata["groups"] = unit_codes(groups, "groups", len(y))
    with config_context(enable_metadata_routing=True):
        splits = folds_of(cv, X, y, estimator, metadata.get("groups"))
        search, scorer = _prepare(estimator, param_grid, inner_cv, cv, scoring, y, metadata)
        # Weighted scores are no means over rows that count alike.
        metric = None if sample_weight is not None else metric_of_model(scorer, estimator)
        predicts = metric is not None and metric.title in OF_NUMBERS
        jobs = ((search, scorer, X, y, train, test, metadata, predicts) for train, test in splits)
        found = run_all(_one_fold, jobs, n_jobs, "Searching", progress)
    scores, inner = (np.array([one[i] for one in found]) for i in (0, 2))
    params = tuple(one[1] for one in found)
    predicted = np.concatenate([one[3] for one in found]) if predicts else None
    tested = ScoredRows.of_splits(splits, y, metadata.get("groups"))
    title, sign = as_read(scoring or getattr(estimator, "scoring", None), scorer)
    scores, inner, optimism = sign * scores, sign * inner, float(inner.mean() - scores.mean())
    low, high = within(title, *score_interval(scores, splits, confidence, metric, tested, predicted))
    return NestedScores(
        scores=tuple(scores.tolist()),
        mean=float(scores.mean()),
        low=low,
        high=high,
        params=params,
        inner_scores=tuple(inner.tolist()),
        optimism=optimism,
        stability=_pairs_alike(params),
        param_stability={
            # the grids of a list may have different parameters: "not set" is then a value
            name: Counter(repr(p.get(name)) for p in params).most_common(1)[0][1] / len(params)
            for name in sorted({name for p in params for name in p})
        },
        n_test=tuple(len(test) for _, test in splits),
        confidence=confidence,
        metric=title,
        greater_is_better=sign > 0,
    )


def _one_fold(
    search: Any,
    scorer: Any,
    X: Any,
    y: Any,
    train: Any,
    test: Any,
    metadata: dict[str, NDArray[Any]],
    predicts: bool,
) -> tuple[float, dict[str, Any], float, Any]:
    """Outer score, chosen parameters and best inner score of one outer fold, and what is predicted there."""
    is_search = hasattr(search, "cv")
    fit = {name: values[train] for name, values in metadata.items()}
    if "groups" not in get_routing_for_object(search).consumes("fit", {"groups"}):
        fit.pop("groups", None)
    model = clone(search).fit(take_rows(X, train), y[train], **fit)
    weights = {name: values[test] for name, values in metadata.items() if name == "sample_weight"}
    score = float(scorer(model, take_rows(X, test), y[test], **weights))
    predicted = model.predict(take_rows(X, test)) if predicts else None
    if not is_search:
        return score, {}, score, predicted
    return score, dict(model.best_params_), float(model.best_score_), predicted


def _prepare(
    estimator: Any, param_grid: Any, inner_cv: Any, outer_cv: Any, scoring: Any, y: Any, metadata: Any
) -> tuple[Any, Any]:
    """Return the search or estimator to fit in each outer fold, and the scorer of the outer rows."""
    is_search = hasattr(estimator, "estimator") and hasattr(estimator, "cv") and hasattr(estimator, "refit")
    if is_search and param_grid is not None:
        raise ValueError("param_grid is for an estimator: the search has its own")
    if is_search and isinstance(estimator.scoring, list | tuple | dict):
        raise ValueError("the search has several metrics: give it one scoring")
    scoring = scorer_name(estimator.scoring if is_search and scoring is None else scoring)
    base = clone(estimator.estimator if is_search else estimator)
    if scoring is None:
        scoring = "accuracy" if is_classifier(base) else "r2"
    scorer = get_scorer(scoring) if isinstance(scoring, str) else check_scoring(base, scoring)
    if "sample_weight" in metadata:
        _request_weights(base)
        scorer = scorer.set_score_request(sample_weight=True)
    if "groups" in metadata:
        ask_for_groups(base, y)
    if not is_search and param_grid is None:
        return base, scorer
    if is_search:
        own = estimator.cv if estimator.cv is not None else 5
        search = clone(estimator).set_params(estimator=base, cv=own if inner_cv is None else inner_cv)
    else:
        search = GridSearchCV(base, param_grid, cv=outer_cv if inner_cv is None else inner_cv)
    splitter = _folds.splitter(search.cv, y, classifier=is_classifier(base), with_groups="groups" in metadata)
    return search.set_params(scoring=scorer, cv=splitter), scorer


def _request_weights(estimator: Any) -> None:
    """Request sample weights where the user has neither requested nor refused them."""
    steps = [step for _, step in estimator.steps] if hasattr(estimator, "steps") else [estimator]
    if not has_fit_parameter(steps[-1], "sample_weight"):
        raise ValueError(f"{type(steps[-1]).__name__} takes no sample_weight: leave it out")
    for step in steps:
        if not has_fit_parameter(step, "sample_weight"):
            continue
        if step.get_metadata_routing().fit.requests.get("sample_weight") is None:
            step.set_fit_request(sample_weight=step is steps[-1])


def _pairs_alike(params: tuple[dict[str, Any], ...]) -> float:
    counts = Counter(repr(sorted(p.items())) for p in params).values()
    n = len(params)
    return sum(c * (c - 1) for c in counts) / (n * (n - 1)) if n > 1 else 1.0
