"""Scores of predictions, each in one form: what it is on rows that count several times, or not at all.

A metric takes labels, the predictions of one configuration and counts (draws × rows), and returns a score for
each draw; it is NaN where the rows of a draw do not define it. A bootstrap is then one call, of matrix
products and one sort.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer_names

from offsample._typing import Floats

_LEAST = np.finfo(float).eps
_ALIASES = {
    "roc_auc": "auc",
    "zero_one_loss": "error",
    "brier_score": "brier",
    "mean_absolute_error": "mae",
    "mean_squared_error": "mse",
    "root_mean_squared_error": "rmse",
}


def scorer_name(scoring: Any) -> Any:
    """Scikit-learn's name of a score, of which lower ones are negative, by that of a metric, in any case."""
    if not isinstance(scoring, str) or scoring in get_scorer_names():
        return scoring
    if (found := _scorer_of(scoring.lower())) is not None:
        return found
    ours = ", ".join(one for one in METRICS if _scorer_of(one))
    raise ValueError(f"scoring must be one of {ours}, or a scorer of scikit-learn, got {scoring!r}")


def _scorer_of(metric: str) -> str | None:
    long = {short: name for name, short in _ALIASES.items()}.get(metric, metric)
    return next(iter({long, f"neg_{long}"} & {*get_scorer_names()}), None)


def as_read(scoring: Any, scorer: Any) -> tuple[str, float]:
    """Title of a score, and -1 for a loss, which scikit-learn has turned and people turn back."""
    return title_of(scoring) if isinstance(scoring, str) else "score", getattr(scorer, "_sign", 1.0)


@dataclass(frozen=True)
class Metric:
    """A score of predictions; where it is a mean over the rows of a fold, `row` has the score of each."""

    title: str
    score: Callable[[NDArray[Any], NDArray[Any], Floats], Floats]
    row: Callable[[NDArray[Any], NDArray[Any]], Floats] | None = None
    greater_is_better: bool = False
    response: str = "predict"  # of a model: its method, or "rating" for any that orders rows
    is_share: bool = False  # of rows that are right, or wrong
    can_guess: bool = True  # whether a prediction that knows nothing has a score

    @property
    def takes_classes(self) -> bool:
        """Whether labels and predictions are classes, or ratings of classes."""
        return self.is_share or self.response != "predict" or self.title in _OF_CLASSES

    def encoded(self, y: NDArray[Any], predictions: list[NDArray[Any]]) -> tuple[Any, list[Any], Metric]:
        """Return classes as codes from 0 on, in the predictions too, and the metric for so many classes."""
        if not self.takes_classes:
            return np.asarray(y, dtype=float), [np.asarray(p, dtype=float) for p in predictions], self
        classes, codes = np.unique(y, return_inverse=True)
        metric = METRICS["f1_macro"] if len(classes) > 2 and self.title == "F1" else self
        return codes, [metric._encoded(p, classes) for p in predictions], metric

    def _encoded(self, p: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
        n = len(classes)
        if p.ndim == 2 and p.shape[1] != n:
            raise ValueError(
                f"predictions have {p.shape[1]} columns, expected one for each of the {n} classes in y"
                + ": leave out those of classes that no row has" * (p.shape[1] > n)
            )
        if self.response != "predict":
            if n == 1:
                raise ValueError(
                    f"{self.title} needs two classes, and all rows are of {classes.tolist()[0]!r}"
                )
            if p.ndim == 1 and n != 2:
                raise ValueError(
                    f"{self.title} of {n} classes needs a column of predictions for each, in their order"
                )
            p = np.asarray(p, dtype=float)
            if self.response == "predict_proba" and (p.min() < 0 or p.max() > 1):
                raise ValueError(
                    f"{self.title} is of probabilities between 0 and 1, got {p.min():g} to {p.max():g}"
                )
            return p
        if p.ndim == 2:
            return np.asarray(p.argmax(axis=1))
        same_kind = (p.dtype.kind in "biuf") == (classes.dtype.kind in "biuf")
        codes = np.searchsorted(classes, p) if same_kind else np.full(len(p), n)
        known = classes[np.minimum(codes, n - 1)] == p if same_kind else np.zeros(len(p), dtype=bool)
        if not known.all() and not (
            same_kind and all(float(v).is_integer() for v in p[~known] if p.dtype.kind == "f")
        ):
            raise ValueError(
                f"predicted classes such as {classes.tolist()[0]!r} are what {self.title} is of, got "
                f"{p[~known].tolist()[0]!r}: for probabilities take auc, log_loss or brier"
            )
        return np.where(known, codes, n)

    def guess(self, y: NDArray[Any]) -> float | None:
        """Score of the best prediction that is the same for all rows."""
        if self.title == "AUC" or not self.can_guess:
            return 0.5 if self.can_guess else None
        same = [y.mean(), np.median(y)]
        if self.takes_classes:
            same = [np.bincount(y) / len(y)] if self.response == "predict_proba" else list(np.unique(y))
        tried = [np.broadcast_to(p, (len(y), *np.shape(p))) for p in same]
        scores = [float(self.score(y, p, np.ones((1, len(y))))[0]) for p in tried]
        return max(scores) if self.greater_is_better else min(scores)

    @property
    def error_shift(self) -> float | None:
        """Loss less error rate, where there is one: a loss is the score, negated if greater is better."""
        return (-1.0 if self.greater_is_better else 0.0) if self.is_share else None


def _share(part: Any, whole: Any) -> Floats:
    """Return the ratio, NaN where it has no meaning."""
    whole = np.asarray(whole, dtype=float)
    return np.asarray(np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan))


def _mean(scores: Any, counts: Floats) -> Floats:
    return _share(counts @ np.asarray(scores, dtype=float), counts.sum(axis=1))


def _over_classes(scores: list[Floats], rows: tuple[Any, Any, Any] | None = None) -> Floats:
    """Mean over the classes that have a score, alike or by rows: labels, counts and classes."""
    sizes = 1.0 if rows is None else np.transpose(rows[1] @ (rows[0][:, None] == rows[2]))
    known = np.isfinite(scores) * sizes
    return _share((known * np.nan_to_num(scores)).sum(axis=0), known.sum(axis=0))


def _recalls(y: NDArray[Any], p: NDArray[Any], counts: Floats) -> Floats:
    return _over_classes([_mean(p[y == k] == k, counts[:, y == k]) for k in np.unique(y)])


def _f1s(y: NDArray[Any], p: NDArray[Any], counts: Floats, classes: Any) -> list[Floats]:
    hits = [counts @ (2.0 * ((y == k) & (p == k))) for k in classes]
    return [_share(two, counts @ (1.0 * (y == k) + (p == k))) for two, k in zip(hits, classes, strict=True)]


def _f1(y: NDArray[Any], p: NDArray[Any], counts: Floats) -> Floats:
    """Of class 1; 0 where it is neither there nor predicted, as in scikit-learn."""
    return np.asarray(np.nan_to_num(_f1s(y, p, counts, [1])[0]))


def _f1_of_classes(y: NDArray[Any], p: NDArray[Any], counts: Floats, weighted: bool = False) -> Floats:
    """Mean over the classes that are there or predicted, in each draw, as in scikit-learn."""
    classes = np.unique(np.concatenate([y, p]))
    return _over_classes(_f1s(y, p, counts, classes), (y, counts, classes) if weighted else None)


def _auc(y: NDArray[Any], p: NDArray[Any], counts: Floats, weighted: bool = False) -> Floats:
    """Pairs in the right order, ties by half; of more than two classes the mean of each against the rest."""
    if p.ndim == 2 and p.shape[1] > 2:
        classes = np.arange(p.shape[1])
        scores = [_auc(y == k, p[:, k], counts) for k in classes]
        return _over_classes(scores, (y, counts, classes) if weighted else None)
    rating = p if p.ndim == 1 else p[:, -1]
    order = np.argsort(rating, kind="stable")
    first = np.flatnonzero(np.diff(rating[order], prepend=-np.inf))  # of each rating
    is_positive = (y == 1)[order]
    positive = np.add.reduceat(counts[:, order] * is_positive, first, axis=1)
    negative = np.add.reduceat(counts[:, order] * ~is_positive, first, axis=1)
    below = np.cumsum(negative, axis=1) - negative / 2
    return _share((positive * below).sum(axis=1), positive.sum(axis=1) * negative.sum(axis=1))


def _r2(y: NDArray[Any], p: NDArray[Any], counts: Floats) -> Floats:
    n, centred = counts.sum(axis=1), y - y.mean()
    spread = counts @ centred**2 - _share((counts @ centred) ** 2, n)
    tiny = 1e-12 * float((centred**2).sum())  # rounding, where all labels are the same
    return 1 - _share(counts @ (y - p) ** 2, np.where(spread > tiny, spread, 0.0))


def _explained(y: NDArray[Any], p: NDArray[Any]) -> Floats:
    """R² as a mean over the rows of a fold, whose variance is fixed: that of the few left out may vanish."""
    variance = float(y.var())
    return 1 - _share((y - p) ** 2, np.full(len(y), variance if variance > 1e-12 * float(y @ y) else 0.0))


def _chance(y: NDArray[Any], p: NDArray[Any]) -> Floats:
    """Probability that was given to the class of each row."""
    return np.asarray(p[np.arange(len(y)), y] if p.ndim == 2 else np.where(y == 1, p, 1 - p))


def _log_losses(y: NDArray[Any], p: NDArray[Any]) -> Floats:
    return -np.log(np.maximum(_chance(y, p), _LEAST))


def _brier(y: NDArray[Any], p: NDArray[Any]) -> Floats:
    """Of two classes (1 - chance)², of more the squares of all; as in scikit-learn."""
    if p.ndim == 1 or p.shape[1] == 2:
        return np.asarray((1 - _chance(y, p)) ** 2)
    return np.asarray(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1))


def _of_rows(title: str, row: Callable[..., Any], **more: Any) -> Metric:
    return Metric(title, lambda y, p, counts: _mean(row(y, p), counts), row, **more)


_more = partial(Metric, greater_is_better=True)
METRICS = {
    "accuracy": _of_rows("accuracy", np.equal, greater_is_better=True, is_share=True),
    "error": _of_rows("error", np.not_equal, is_share=True),
    "balanced_accuracy": _more("balanced accuracy", _recalls),
    "f1": _more("F1", _f1),
    "f1_macro": _more("mean F1 of the classes", _f1_of_classes),
    "f1_weighted": _more("weighted F1 of the classes", partial(_f1_of_classes, weighted=True)),
    "auc": _more("AUC", _auc, response="rating"),
    "roc_auc_ovr": _more("AUC", _auc, response="predict_proba"),
    "roc_auc_ovr_weighted": _more("AUC", partial(_auc, weighted=True), response="predict_proba"),
    "log_loss": _of_rows("log loss", _log_losses, response="predict_proba"),
    "brier": _of_rows("Brier score", _brier, response="predict_proba"),
    "r2": _more("R²", _r2, _explained),
    "mae": _of_rows("mean absolute error", lambda y, p: np.abs(y - p)),
    "mse": _of_rows("mean squared error", lambda y, p: (y - p) ** 2),
    "rmse": Metric("root mean squared error", lambda y, p, counts: np.sqrt(_mean((y - p) ** 2, counts))),
    "loss": _of_rows("loss", lambda _, p: p, can_guess=False),
}


_OF_CLASSES = {"balanced accuracy", "F1", "mean F1 of the classes", "weighted F1 of the classes"}
OF_NUMBERS = {METRICS[name].title for name in ("r2", "mae", "mse", "rmse")}
_SHARES = {"accuracy", "error", "AUC"} | _OF_CLASSES  # which lie between 0 and 1


def within(title: str, low: float, high: float) -> tuple[float, float]:
    """Cut an interval where the scores end; of what is not known it stays as it is."""
    if title in {metric.title for metric in METRICS.values()} - {"R²", "loss"}:
        low = max(low, 0.0)
    return low, min(high, 1.0) if title in _SHARES | {"R²"} else high


def title_of(name: str) -> str:
    """Return what a metric is called in a sentence; one of somebody else's by its own name."""
    name = name.lower().removeprefix("neg_")
    known = METRICS.get(_ALIASES.get(name, name))
    return name.replace("_", " ") if known is None else known.title


def metric_of(asked: Any, greater_is_better: bool | None = None) -> Metric:
    """Return the metric of a name, ours or scikit-learn's, or of a function of labels and predictions."""
    if callable(asked):
        own = Metric(getattr(asked, "__name__", "score"), partial(_called, asked), can_guess=False)
        return replace(own, greater_is_better=greater_is_better is not False)
    name = str(asked).lower().removeprefix("neg_")
    if (found := METRICS.get(_ALIASES.get(name, name))) is None:
        raise ValueError(f"metric must be one of {', '.join(METRICS)} or a function, got {asked!r}")
    return found


def _called(function: Callable[..., Any], y: NDArray[Any], p: NDArray[Any], counts: Floats) -> Floats:
    """Score each draw by a function, which may refuse some."""
    scores = np.full(len(counts), np.nan)
    for b, times in enumerate(counts.astype(int)):
        rows = np.repeat(np.arange(len(y)), times)
        if len(rows):
            try:
                scores[b] = function(y[rows], p[rows])
            except ValueError:  # such as one class only
                continue
    return scores
