"""What every configuration of a search does on every row, out of fold."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, clone, is_classifier, is_regressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import check_scoring, get_scorer, make_scorer, zero_one_loss
from sklearn.utils import get_tags
from sklearn.utils.validation import column_or_1d

from offsample._estimators import fit_rows
from offsample._typing import Floats
from offsample.assessment._losses import Draws, SearchLosses
from offsample.assessment._metrics import METRICS, Metric, metric_of
from offsample.assessment._units import ScoredRows, folds_of, groups_of, run_all
from offsample.tables import take_rows

_SCORINGS = (
    "accuracy", "balanced_accuracy", "f1", "f1_macro", "f1_weighted", "roc_auc", "roc_auc_ovr",
    "roc_auc_ovr_weighted", "neg_log_loss", "neg_brier_score", "r2",
    "neg_mean_absolute_error", "neg_mean_squared_error", "neg_root_mean_squared_error",
)  # fmt: skip


def out_of_fold_losses(
    search: Any, cv: Any, params: Any, X: Any, y: Any, groups: Any, n_jobs: int | None, progress: bool
) -> SearchLosses:
    """Refit each configuration of a search once on each of its folds."""
    estimator, y = search.estimator, column_or_1d(y)
    groups = groups_of(groups, len(y))
    splits = folds_of(cv, X, y, estimator, groups)
    tested = ScoredRows.of_splits(splits, y, groups)
    scorer = scorer_of(search)
    metric, draws = metric_of_scorer(scorer), Draws.of(tested, is_classifier(estimator))
    params = list(params)
    jobs = [
        (estimator, one, X, y, split, groups, partial(_predict, metric, np.unique(y)))
        if metric
        else (estimator, one, X, y, split, groups, partial(_score, scorer, draws.of_rows(k)))
        for one in params
        for k, split in enumerate(splits)
    ]
    found = run_all(_refit, jobs, n_jobs, "Refitting", progress)
    by_fold = [found[i : i + len(splits)] for i in range(0, len(found), len(splits))]
    if metric is not None:
        known, predictions, metric = metric.encoded(tested.y, [np.concatenate(of) for of in by_fold])
        return SearchLosses.of_predictions(metric, replace(tested, y=known), predictions)
    scores = np.array([[scores for scores, _ in of_folds] for of_folds in by_fold])
    scorers = [
        [
            partial(own.scores, scorer, take_rows(X, test), y[test])
            for (_, own), (_, test) in zip(of_folds, splits, strict=True)
        ]
        for of_folds in by_fold
    ]
    return SearchLosses.of_draws(scorers, scores, draws, -1.0)


def metric_of_scorer(scorer: Any) -> Metric | None:
    """Return the metric of a scorer of scikit-learn, by its text, which `make_scorer` writes alike."""
    if repr(scorer) == repr(make_scorer(zero_one_loss, greater_is_better=False)):
        return METRICS["error"]
    return next((metric_of(name) for name in _SCORINGS if repr(get_scorer(name)) == repr(scorer)), None)


def metric_of_model(scoring: Any, model: Any) -> Metric | None:
    """Return the metric of a score, by name or as a model's own, which that of a search is if it says so."""
    scorer = check_scoring(model, scoring)
    metric, is_own = metric_of_scorer(scorer), repr(scorer).endswith(".score")
    if metric is not None or not is_own:
        return metric
    if getattr(model, "scoring", None) is not None:
        is_search = hasattr(model, "refit") or model.scoring == "accuracy"
        return metric_of_scorer(check_scoring(model, model.scoring)) if is_search else None
    while hasattr(model, "steps") or hasattr(model, "refit"):
        model = model.steps[-1][1] if hasattr(model, "steps") else model.estimator
    if is_classifier(model):
        return METRICS["accuracy"]
    return METRICS["r2"] if getattr(type(model), "score", None) is RegressorMixin.score else None


def score_fold(
    model: Any, scorer: Any, X: Any, y: Any, split: Any, groups: Any, predicts: bool
) -> tuple[float, Any]:
    """Fit on the training rows of a fold, and return the score of its test rows, and what it predicts."""
    train, test = split
    fitted, rows = fit_rows(clone(model), X, y, train, groups), take_rows(X, test)
    return float(scorer(fitted, rows, y[test])), fitted.predict(rows) if predicts else None


def scorer_of(search: Any) -> Any:
    """Return the scorer that the search chose by."""
    scorer = search.scorer_
    if isinstance(scorer, dict):
        scorer = scorer[search.refit]
    if search.scoring is not None:
        return scorer
    if is_classifier(search.estimator):
        return get_scorer("accuracy")
    if is_regressor(search.estimator):
        return get_scorer("r2")
    raise ValueError(
        f"the score of {type(search.estimator).__name__} itself cannot be had row by row: name a scoring of "
        "the search, or leave out X and y, and the fold scores of the search are used"
    )


def _refit(estimator: Any, params: Any, X: Any, y: Any, split: Any, groups: Any, judge: Any) -> Any:
    train, test = split
    model = fit_rows(clone(estimator).set_params(**params), X, y, train, groups)
    return judge(model, take_rows(X, test), y[test])


def _predict(metric: Metric, classes: NDArray[Any], model: Any, X: Any, y: Any) -> NDArray[Any]:
    if metric.response == "rating":
        method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
        rating = np.asarray(getattr(model, method)(X))
        return rating if rating.ndim == 1 else rating[:, -1]
    predicted = np.asarray(getattr(model, metric.response)(X))
    if metric.response == "predict":
        return predicted
    missing = ~np.isin(y, model.classes_)
    if missing.any():
        label = y[missing].tolist()[0]
        raise ValueError(f"class {label!r} is in a test fold and not in its training rows")
    chances = np.zeros((len(y), len(classes)))
    chances[:, np.searchsorted(classes, model.classes_)] = predicted
    return chances


def _score(scorer: Any, counts: Floats, model: Any, X: Any, y: Any) -> tuple[Floats, _Recalled]:
    recalled = _Recalled(model, X)
    scores = recalled.scores(scorer, X, y, counts)
    if not np.isfinite(scores[0]):
        scores[0] = scorer(model, X, y)
    return scores, recalled.forget_model()


class _Recalled:
    """What scorers take for a fitted model: predicts each row of a test fold once, and answers for `rows`."""

    def __init__(self, model: Any, X: Any) -> None:
        self._model, self._X, self._tags = model, X, get_tags(model)
        self._said: dict[str, NDArray[Any]] = {}
        self.rows: NDArray[Any] = np.array([], dtype=int)
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    def __sklearn_tags__(self) -> Any:
        return self._tags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not ("_said" in self.__dict__ and self._knows(name)):
            raise AttributeError(name)

        def recall(_: Any) -> NDArray[Any]:
            if name not in self._said:
                self._said[name] = np.asarray(getattr(self._model, name)(self._X))
            return np.asarray(self._said[name][self.rows])

        recall.__name__ = name  # scorers read which method answered
        return recall

    def _knows(self, name: str) -> bool:
        return name in self._said or (
            name in ("predict", "predict_proba", "decision_function") and hasattr(self._model, name)
        )

    def forget_model(self) -> _Recalled:
        """Keep only the predictions: a model may be large, and need not travel between processes."""
        self._model = self._X = None
        return self

    def scores(self, scorer: Any, X: Any, y: Any, counts: Floats) -> Floats:
        """Return the scores of rows that count so often; NaN where they do not define one."""
        scores = np.full(len(counts), np.nan)
        for b, times in enumerate(counts.astype(int)):
            self.rows = np.repeat(np.arange(len(y)), times)
            with warnings.catch_warnings():
                warnings.simplefilter("error", UndefinedMetricWarning)
                try:
                    scores[b] = scorer(self, take_rows(X, self.rows), y[self.rows])
                except (ValueError, UndefinedMetricWarning):
                    continue
        return scores
