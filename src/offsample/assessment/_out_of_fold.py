"""What every configuration of a search does on every row, out of fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, make_scorer, zero_one_loss
from sklearn.utils import get_tags
from sklearn.utils.validation import column_or_1d

from offsample._estimators import fit_rows
from offsample._typing import Floats
from offsample.assessment._correctors import share_of_choice
from offsample.assessment._losses import Redrawn, SearchLosses
from offsample.assessment._units import draws, folds_of, groups_of, mean_losses, run_all
from offsample.tables import take_rows

_N_DRAWS = 200


def out_of_fold_losses(
    search: Any, params: Iterable[Any], X: Any, y: Any, groups: Any, n_jobs: int | None, progress: bool
) -> SearchLosses:
    """Refit each configuration of a search once on each of its folds."""
    estimator, y = search.estimator, column_or_1d(y)
    groups = groups_of(groups, len(y))
    splits = folds_of(search.cv, X, y, estimator, groups)
    n_folds, tested = len(splits), np.unique(np.concatenate([test for _, test in splits]))
    scorer = _scorer(search)
    by_row = _row_losses().get(repr(scorer))
    drawn = [
        draws(y[test], is_classifier(estimator), _N_DRAWS, k, None if groups is None else groups[test])
        for k, (_, test) in enumerate(splits)
    ]
    judge = partial(_judge_rows, by_row) if by_row else partial(_judge_draws, scorer, drawn)
    jobs = [(estimator, one, X, y, splits[k], k, judge, groups) for one in params for k in range(n_folds)]
    found = run_all(_refit, jobs, n_jobs, "Refitting", progress)
    by_fold = [found[i : i + n_folds] for i in range(0, len(found), n_folds)]
    if by_row is None:
        folds = -np.array([[whole for whole, _, _ in of_folds] for of_folds in by_fold])
        tests = [(take_rows(X, test), y[test]) for _, test in splits]
        redrawn = _redraw(by_fold, scorer, tests, drawn)
        sizes = None if groups is None else np.unique(groups[tested], return_counts=True)[1].astype(float)
        return SearchLosses(folds, len(tested), None, redrawn=redrawn, sizes=sizes)
    folds = np.array([[losses.mean() for losses in of_folds] for of_folds in by_fold])
    units, sizes = mean_losses(by_fold, len(y), splits, groups)
    return SearchLosses(folds, len(tested), by_row.error_shift, units=units, sizes=sizes)


@dataclass(frozen=True)
class _RowLoss:
    """A score that is a mean over rows: how to predict, and the negated score of a row."""

    method: str
    loss: Callable[[Any, Any], Any]
    error_shift: float | None = None


def _row_losses() -> dict[str, _RowLoss]:
    """Row losses by the text of the scorer, which `get_scorer` and `make_scorer` write alike."""
    squared, absolute = (lambda a, b: (a - b) ** 2), (lambda a, b: np.abs(a - b))
    return {
        repr(get_scorer("accuracy")): _RowLoss("predict", lambda a, b: (a != b) - 1.0, -1.0),
        repr(make_scorer(zero_one_loss, greater_is_better=False)): _RowLoss("predict", np.not_equal, 0.0),
        repr(get_scorer("neg_mean_squared_error")): _RowLoss("predict", squared),
        repr(get_scorer("neg_mean_absolute_error")): _RowLoss("predict", absolute),
        repr(get_scorer("neg_log_loss")): _RowLoss(
            "predict_proba", lambda _, p: -np.log(np.maximum(p, np.finfo(float).eps))
        ),
    }


def _scorer(search: Any) -> Any:
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


def _refit(
    estimator: Any, params: Any, X: Any, y: Any, split: Any, k: int, judge: Callable[..., Any], groups: Any
) -> Any:
    train, test = split
    model = fit_rows(clone(estimator).set_params(**params), X, y, train, groups)
    return judge(model, take_rows(X, test), y[test], k)


def _judge_rows(by_row: _RowLoss, model: Any, X: Any, y: Any, _: int) -> Floats:
    predicted = getattr(model, by_row.method)(X)
    if by_row.method == "predict_proba":
        missing = ~np.isin(y, model.classes_)
        if missing.any():
            label = y[missing].tolist()[0]
            raise ValueError(f"class {label!r} is in a test fold and not in its training rows")
        predicted = predicted[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return np.asarray(by_row.loss(y, predicted), dtype=float)


class _Recalled:
    """A fitted model that keeps its predictions for the test fold, so that no row is predicted twice.

    Scorers ask it as they would ask the model, and get the predictions for `rows`.
    """

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

    def score(self, scorer: Any, X: Any, y: Any, rows: NDArray[Any]) -> float:
        """Return the score of some of the rows; NaN where they do not define it."""
        self.rows = rows
        with warnings.catch_warnings():
            warnings.simplefilter("error", UndefinedMetricWarning)
            try:
                return float(scorer(self, take_rows(X, rows), y[rows]))
            except (ValueError, UndefinedMetricWarning):
                return np.nan


def _judge_draws(
    scorer: Any, drawn: list[list[NDArray[Any]]], model: Any, X: Any, y: Any, k: int
) -> tuple[float, Floats, _Recalled]:
    recalled = _Recalled(model, X)
    recalled.rows = np.arange(len(y))
    whole = float(scorer(recalled, X, y))
    scores = np.array([recalled.score(scorer, X, y, rows) for rows in drawn[k]])
    return whole, scores, recalled.forget_model()


def _redraw(
    found: Any, scorer: Any, tests: list[tuple[Any, Any]], samples: list[list[NDArray[Any]]]
) -> Redrawn:
    drawn = -_mean_of_known(np.array([[scores for _, scores, _ in of_folds] for of_folds in found]), axis=1)
    left_out = np.full(drawn.shape, np.nan)
    for b in np.flatnonzero(np.isfinite(drawn).all(axis=0)):
        for i in np.flatnonzero(share_of_choice(drawn[None, :, b])[0]):
            scores = [
                found[i][k][2].score(scorer, X, y, np.setdiff1d(np.arange(len(y)), samples[k][b]))
                for k, (X, y) in enumerate(tests)
            ]
            left_out[i, b] = -_mean_of_known(np.array(scores), axis=0)
    known = np.isfinite(left_out).any(axis=0)
    if not known.any():
        raise ValueError(
            "no bootstrap sample of the rows defines the score: use the fold scores, without X and y"
        )
    return Redrawn(drawn[:, known], left_out[:, known])


def _mean_of_known(scores: Floats, axis: int) -> Any:
    """Return the mean over the folds on which the score is defined; NaN where it is defined on none."""
    known = np.isfinite(scores)
    n = known.sum(axis=axis)
    return np.where(n > 0, np.where(known, scores, 0).sum(axis=axis) / np.maximum(n, 1), np.nan)
