"""What every configuration of a search does on every row, out of fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, make_scorer, zero_one_loss
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import column_or_1d

from offsample import _folds
from offsample._typing import Floats
from offsample.assessment._correctors import share_of_choice
from offsample.assessment._rows import with_progress
from offsample.tables import take_rows

__all__ = ["OutOfFold", "Redrawn", "out_of_fold_losses"]

_N_DRAWS = 200


@dataclass(frozen=True)
class Redrawn:
    """Losses (n_configurations, n_draws) on bootstrap samples of the rows of each fold, mean over folds.

    Attributes
    ----------
    drawn : array
        On the rows drawn.
    left_out : array
        On the rows not drawn, of configurations with the smallest loss on those drawn; NaN elsewhere.
    """

    drawn: Floats
    left_out: Floats


@dataclass(frozen=True)
class OutOfFold:
    """Losses of configurations, the smaller the better.

    Attributes
    ----------
    folds : array of shape (n_configurations, n_folds)
        Scores of the folds, negated.
    rows : array of shape (n_configurations, n_rows) or None
        Of single rows, where a score is their mean: those that no fold tests are left out, and a row that
        several folds test has its mean loss.
    redrawn : Redrawn or None
        For scores that are no mean over rows.
    n_rows : int
        Rows that were tested.
    error_shift : float or None
        What a loss is less an error rate, if it is one: -1 for accuracies, 0 for negated errors.
    """

    folds: Floats
    rows: Floats | None
    redrawn: Redrawn | None
    n_rows: int
    error_shift: float | None


def out_of_fold_losses(
    search: Any, params: Iterable[Any], X: Any, y: Any, groups: Any, n_jobs: int | None, progress: bool
) -> OutOfFold:
    """Refit each configuration of a search on each of its folds, once."""
    estimator, y = search.estimator, column_or_1d(y)
    cv = _folds.splitter(search.cv, y, classifier=is_classifier(estimator))
    splits = list(cv.split(X, y, groups))
    scorer = _scorer(search)
    by_row = _row_losses().get(repr(scorer))
    draws = [_draws(y[test], is_classifier(estimator), k) for k, (_, test) in enumerate(splits)]
    jobs = [(configuration, k) for configuration in params for k in range(len(splits))]
    judge = _of_rows(by_row) if by_row else _of_draws(scorer, draws)
    done = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_refit)(estimator, configuration, X, y, splits[k], k, judge) for configuration, k in jobs
    )
    found = list(with_progress(done, "Refitting", len(jobs), progress))
    by_fold = [found[i : i + len(splits)] for i in range(0, len(found), len(splits))]
    if by_row is None:
        return _redraw(by_fold, scorer, X, y, splits, draws)
    return _by_row(by_fold, len(y), splits, by_row.error_shift)


@dataclass(frozen=True)
class _RowLoss:
    """A score that is a mean over rows: how to predict, and the negated score of a row."""

    method: str
    loss: Callable[[Any, Any], Any]
    error_shift: float | None = None


def _row_losses() -> dict[str, _RowLoss]:
    """By the text of the scorer, which is the same for a name and for what `make_scorer` makes."""
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
    """The scorer that the search chose by."""
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


def _refit(estimator: Any, params: Any, X: Any, y: Any, split: Any, k: int, judge: Callable[..., Any]) -> Any:
    train, test = split
    model = clone(estimator).set_params(**params).fit(take_rows(X, train), y[train])
    return judge(model, take_rows(X, test), y[test], k)


def _of_rows(by_row: _RowLoss) -> Callable[..., Floats]:
    def judge(model: Any, X: Any, y: Any, _: int) -> Floats:
        predicted = getattr(model, by_row.method)(X)
        if by_row.method == "predict_proba":
            missing = ~np.isin(y, model.classes_)
            if missing.any():
                raise ValueError(
                    f"class {y[missing].tolist()[0]!r} is in a test fold and not in its training rows"
                )
            predicted = predicted[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        return np.asarray(by_row.loss(y, predicted), dtype=float)

    return judge


def _by_row(found: list[list[Floats]], n_rows: int, splits: Any, error_shift: float | None) -> OutOfFold:
    total, times = np.zeros((len(found), n_rows)), np.zeros(n_rows)
    for _, test in splits:
        times[test] += 1
    for i, of_folds in enumerate(found):
        for (_, test), losses in zip(splits, of_folds, strict=True):
            total[i, test] += losses
    tested = times > 0
    folds = np.array([[losses.mean() for losses in of_folds] for of_folds in found])
    return OutOfFold(folds, total[:, tested] / times[tested], None, int(tested.sum()), error_shift)


class _Recalled:
    """A fitted model that remembers what it said of the rows of its test fold, and says it of some of them.

    Scorers ask it as they would ask the model, and no row is predicted twice.
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

        recall.__name__ = name  # by which scorers tell what they are answered
        return recall

    def _knows(self, name: str) -> bool:
        return name in self._said or (
            name in ("predict", "predict_proba", "decision_function") and hasattr(self._model, name)
        )

    def forget_model(self) -> _Recalled:
        """Keep only what was said so far: a model may be large, and need not travel between processes."""
        self._model = self._X = None
        return self

    def score(self, scorer: Any, X: Any, y: Any, rows: NDArray[Any]) -> float:
        """Score of some of the rows; NaN where these few do not define it."""
        self.rows = rows
        with warnings.catch_warnings():
            warnings.simplefilter("error", UndefinedMetricWarning)
            try:
                return float(scorer(self, take_rows(X, rows), y[rows]))
            except (ValueError, UndefinedMetricWarning):
                return np.nan


def _draws(y: NDArray[Any], by_class: bool, seed: int) -> list[NDArray[Any]]:
    """Bootstrap samples of the rows of a fold; of a classifier, as many of each class as there are."""
    rng = np.random.default_rng(seed)
    parts = [np.flatnonzero(y == label) for label in np.unique(y)] if by_class else [np.arange(len(y))]
    return [np.concatenate([rng.choice(part, len(part)) for part in parts]) for _ in range(_N_DRAWS)]


def _of_draws(scorer: Any, draws: list[list[NDArray[Any]]]) -> Callable[..., tuple[float, Floats, _Recalled]]:
    def judge(model: Any, X: Any, y: Any, k: int) -> tuple[float, Floats, _Recalled]:
        recalled = _Recalled(model, X)
        recalled.rows = np.arange(len(y))
        whole = float(scorer(recalled, X, y))
        drawn = np.array([recalled.score(scorer, X, y, rows) for rows in draws[k]])
        return whole, drawn, recalled.forget_model()

    return judge


def _redraw(
    found: Any, scorer: Any, X: Any, y: Any, splits: Any, draws: list[list[NDArray[Any]]]
) -> OutOfFold:
    folds = -np.array([[whole for whole, _, _ in of_folds] for of_folds in found])
    drawn = -_mean_of_known(np.array([[drawn for _, drawn, _ in of_folds] for of_folds in found]), axis=1)
    left_out = np.full(drawn.shape, np.nan)
    for b in np.flatnonzero(np.isfinite(drawn).all(axis=0)):
        for i in np.flatnonzero(share_of_choice(drawn[None, :, b])[0]):
            scores = []
            for k, (_, test) in enumerate(splits):
                out = np.setdiff1d(np.arange(len(test)), draws[k][b])
                scores.append(found[i][k][2].score(scorer, take_rows(X, test), y[test], out))
            left_out[i, b] = -_mean_of_known(np.array(scores), axis=0)
    known = np.isfinite(left_out).any(axis=0)
    if not known.any():
        raise ValueError(
            "no bootstrap sample of the rows defines the score: use the fold scores, without X and y"
        )
    n_rows = len(np.unique(np.concatenate([test for _, test in splits])))
    return OutOfFold(folds, None, Redrawn(drawn[:, known], left_out[:, known]), n_rows, None)


def _mean_of_known(scores: Floats, axis: int) -> Any:
    """Mean over folds, of those on which the score is defined; NaN where it is on none."""
    known = np.isfinite(scores)
    n = known.sum(axis=axis)
    return np.where(n > 0, np.where(known, scores, 0).sum(axis=axis) / np.maximum(n, 1), np.nan)
