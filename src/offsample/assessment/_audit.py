"""What the best score of a finished search is worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtri
from scipy.stats import t

from offsample._checks import check_confidence, check_count
from offsample._frames import make_frame
from offsample._text import amount, number, percentage
from offsample._ties import best_of, rounded
from offsample._typing import Booleans, Floats
from offsample.assessment._complexity import complexity_of
from offsample.assessment._correctors import (
    FOLD_CORRECTORS,
    VARIANCE_FACTOR,
    bootstrap,
    distinct,
    indistinguishable,
    information,
    redrawn_bootstrap,
    shrinkage,
)
from offsample.assessment._intervals import wilson_interval
from offsample.assessment._scores import SearchScores, read_scores

__all__ = ["Audit", "Method", "audit_search"]

_MOST_ROWS = 10**15
Method = Literal["auto", "bootstrap", "shrinkage", "left_out_fold", "tibshirani", "information"]


@dataclass(frozen=True, repr=False)
class Audit:
    """What the best of many scores is worth, in the unit of the scores.

    Attributes
    ----------
    naive : float
        Best mean score, as the search reports it.
    corrected : float
        Score to expect of that configuration on new rows.
    low, high : float
        Interval for that.
    optimism : float
        How much the naive score is too good: positive whatever the direction of the scores.
    best : int
        Row of the best configuration, and its `label`: parameters or name.
    label : Any
    indistinguishable : tuple of int
        Rows of the configurations that are not worse than the best beyond doubt, the best among them.
    simplest : int or None
        The simplest of those, if what is simple could be told.
    simplest_label : Any
    scores : tuple of float
        Mean score of each configuration, in the order of `rows`.
    rows : tuple of int
        Row (or number of trial) of each configuration that has scores.
    labels : tuple
    estimates : dict
        The corrected score by every method that these scores allow.
    method : str
    confidence : float
    n_configurations : int
        Configurations tried, with those that failed or were dropped on the way.
    n_failed : int
        Configurations without a score on every fold, left out.
    n_folds : int
    n_samples : int or None
        Rows behind the scores, if known.
    greater_is_better : bool
    """

    naive: float
    corrected: float
    low: float
    high: float
    optimism: float
    best: int
    label: Any
    indistinguishable: tuple[int, ...]
    simplest: int | None
    simplest_label: Any
    scores: tuple[float, ...]
    rows: tuple[int, ...]
    labels: tuple[Any, ...]
    estimates: dict[str, float]
    method: str
    confidence: float
    n_configurations: int
    n_failed: int
    n_folds: int
    n_samples: int | None
    greater_is_better: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        return asdict(self)

    def to_frame(self) -> Any:
        """One row per configuration, the best first, as a dataframe of the library that is installed."""
        sign = -1 if self.greater_is_better else 1
        order = sorted(range(len(self.rows)), key=lambda i: sign * rounded(self.scores[i]))
        near = set(self.indistinguishable)
        return make_frame(
            {
                "row": [self.rows[i] for i in order],
                "configuration": [_text(self.labels[i]) for i in order],
                "score": [self.scores[i] for i in order],
                "indistinguishable": [self.rows[i] in near for i in order],
            }
        )

    def __repr__(self) -> str:
        lines = [
            f"Audit of the best of {amount(self.n_configurations, 'configuration')}, "
            f"{amount(self.n_folds, 'fold')}, by {self.method}",
            f"best score      {number(self.naive)}  {_text(self.label)}",
            f"corrected       {number(self.corrected)}  {percentage(self.confidence)} interval "
            f"{number(self.low)}–{number(self.high)}",
            f"optimism        {number(self.optimism)}",
            f"as good as best {amount(len(self.indistinguishable), 'configuration')}"
            + (f", the simplest: {_text(self.simplest_label)}" if self.simplest is not None else ""),
        ]
        if self.n_failed:
            lines.append(f"{amount(self.n_failed, 'configuration')} left out, without a score on every fold")
        return "\n".join(lines)


def _text(label: Any) -> str:
    if isinstance(label, Mapping):
        return ", ".join(f"{name}={value}" for name, value in label.items())
    return str(label)


def audit_search(
    search: Any,
    X: Any = None,
    y: Any = None,
    *,
    method: Method = "auto",
    confidence: float = 0.95,
    greater_is_better: bool | None = None,
    complexity: str | Callable[[Any], float] | Sequence[float] | None = None,
    n_samples: int | None = None,
    groups: Any = None,
    fold_scores: str = "fold_scores",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Audit:
    """Say what the best score of a finished search is worth on new rows.

    Parameters
    ----------
    search : fitted search, study or table of scores
        - `GridSearchCV`, `RandomizedSearchCV` or any search with `cv_results_` of scikit-learn; of successive
          halving, the last round is used. With several metrics, that of `refit`.
        - An Optuna study of one objective. Fold scores are read from the trials' user attribute
          `fold_scores`, or from the values they reported, if a trial's value is the mean of these; else
          n_samples is needed.
        - An array, sequence, dict or dataframe of scores, configurations × folds, or the path of such a CSV
          file: folds are the columns named like ``split0_test_score`` or ``fold 1``, or else all that hold
          numbers.
    X, y : array-like, optional
        The rows of a scikit-learn search. Each configuration is refitted once on each fold (the cost of the
        search, without the sample weights of its fit), and single rows are used instead of fold scores. Of
        the scorings, "accuracy" (also that of a classifier by default), a negated `zero_one_loss`,
        "neg_mean_squared_error", "neg_mean_absolute_error" and "neg_log_loss" are means over rows, and their
        bootstrap is exact. All others ("roc_auc", "balanced_accuracy", "f1", "r2", functions of your own, …)
        are computed anew on 200 samples of the rows of each fold, of a classifier class by class, which
        takes some tenths of a millisecond for each configuration, fold and sample. Only the score of an
        estimator that is neither classifier nor regressor is refused: name a scoring. A search whose splits
        are random without a fixed random_state is scored on new splits, and the last round of successive
        halving on all rows.
    method : str, default="auto"
        "auto" is "bootstrap" (BBC-CV of rows, or of folds where there are no rows), which won the comparison
        (``papers/tuning_optimism``). Others: "shrinkage" (normal scores with the
        covariance of the fold scores), "left_out_fold", "tibshirani", "information" (needs n_samples; for
        accuracies and error rates).
    confidence : float, default=0.95
        Of the interval, and of each comparison with the best.
    greater_is_better : bool, optional
        Direction of a table of scores; True unless given. A search or study knows its own.
    complexity : str, callable or sequence, optional
        What is simple: the name of a parameter of which less is simpler, a function of a configuration's
        parameters (or name), or a number for each row. By default from parameters known to mean size or
        regularisation (`max_depth`, `C`, `alpha`, …).
    n_samples : int, optional
        Rows behind the scores, needed where each configuration has one score only.
    groups : array-like, optional
        For the splitter of the search, together with X and y.
    fold_scores : str
        Name of the user attribute of an Optuna trial that holds its fold scores.
    n_jobs : int, optional
        Refits at a time.
    progress : bool, default=False
        Show a bar on standard error while refitting.

    Returns
    -------
    Audit

    Notes
    -----
    *Correction*: the choice is repeated on bootstrap samples of rows (or folds) and judged on those left out,
    by the losses that are there. Nothing is refitted for it. *Interval*: the mean of the units left out, a
    share of 1/e, varies (e - 1) times as much as that of all; this factor also pays for the luck of the
    models, which no single cross-validation shows. With rows and accuracy, Wilson's interval with n / (e - 1)
    rows; else the corrected score ± the quantile of t (folds) or of the normal distribution (rows), times
    ``sqrt((e - 1) s² / n)``, with s² the mean variance of the configurations as good as the best.
    Both were settled on searches of 42 configurations on 200 or 300 rows of noise and of five data sets;
    ``papers/results/tuning_optimism.calibration_*`` has bias and coverage on samples and data sets that took
    no part in it. What they estimate is the score of models learned from all folds but one: where a learning
    curve is still steep (few rows per class) the refitted model is better, nested cross-validation is as
    pessimistic, and the interval by rows, the shorter one, may cover less than it says.

    Configurations with a missing score (failed fits) are left out and counted.

    Examples
    --------
    >>> from offsample import audit_search
    >>> scores = {"a": [0.71, 0.80, 0.74], "b": [0.79, 0.70, 0.73], "c": [0.70, 0.75, 0.78]}
    >>> audit = audit_search(scores)
    >>> audit.naive, round(audit.corrected, 3), round(audit.optimism, 3)
    (0.75, 0.722, 0.028)
    """
    check_confidence(confidence)
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {get_args(Method)}, got {method!r}")
    if (X is None) != (y is None):
        raise ValueError("X and y go together: give both, or neither to use the fold scores")
    if n_samples is not None:
        check_count("n_samples", n_samples, 1, _MOST_ROWS)
    found = read_scores(search, greater_is_better, fold_scores)
    evidence = _Evidence(found.losses, None, None, n_samples, _error_shift(found.losses, found))
    if X is not None:
        if not (hasattr(search, "cv_results_") and hasattr(search, "estimator")):
            raise ValueError("X and y are for a scikit-learn search, whose configurations can be refitted")
        from offsample.assessment._out_of_fold import out_of_fold_losses

        refitted = out_of_fold_losses(search, found.labels, X, y, groups, n_jobs, progress)
        n_samples = refitted.n_rows
        evidence = _Evidence(refitted.folds, refitted.rows, refitted.redrawn, n_samples, refitted.error_shift)
    losses = evidence.folds
    estimates = _estimates(evidence, found.n_tried)
    chosen = "bootstrap" if method == "auto" else method
    if method == "auto" and losses.shape[1] == 1 and X is None and len(losses) > 1:
        chosen = "shrinkage"
    if chosen not in estimates:
        raise ValueError(_why_not(chosen, losses, n_samples))
    near = indistinguishable(losses, confidence)
    corrected = estimates[chosen]
    low, high = _interval(corrected, evidence, near, confidence)
    return _audit(
        found, losses, near, corrected, (low, high), estimates, chosen, confidence, n_samples, complexity
    )


@dataclass(frozen=True)
class _Evidence:
    """Losses of folds, and of rows or of samples of rows where X and y were given.

    `error_shift` is what a loss is less an error rate, None if it is no error rate.
    """

    folds: Floats
    rows: Floats | None
    redrawn: Any
    n_samples: int | None
    error_shift: float | None

    @property
    def errors(self) -> Floats | None:
        return None if self.error_shift is None else self.folds - self.error_shift


def _error_shift(losses: Floats, found: SearchScores) -> float | None:
    """Scores between 0 and 1 may be accuracies (losses are errors less one) or error rates."""
    shift = -1.0 if found.greater_is_better else 0.0
    return shift if losses.min() >= shift and losses.max() <= shift + 1 else None


def _estimates(evidence: _Evidence, n_tried: int) -> dict[str, float]:
    """Corrected loss by every method that these losses allow."""
    estimates = {}
    losses, errors, n_samples = evidence.folds, evidence.errors, evidence.n_samples
    if losses.shape[1] > 1 or len(losses) == 1:
        estimates = {name: correct(losses) for name, correct in FOLD_CORRECTORS.items()}
    elif n_samples is not None and errors is not None:
        error = float(errors.min())
        estimates["shrinkage"] = shrinkage(
            losses, noise_variance=max(error * (1 - error), 1 / n_samples) / n_samples
        )
    if evidence.rows is not None:
        estimates["bootstrap"] = bootstrap(evidence.rows)
    if evidence.redrawn is not None:
        estimates["bootstrap"] = redrawn_bootstrap(evidence.redrawn.drawn, evidence.redrawn.left_out)
    if n_samples is not None and errors is not None:
        shift = float(losses.min() - errors.min())
        estimates["information"] = information(errors, n_samples, n_tried) + shift
    return estimates


def _why_not(method: str, losses: Floats, n_samples: int | None) -> str:
    if losses.shape[1] == 1 and n_samples is None:
        return (
            "each configuration has one score: give the scores of the folds, or n_samples, the number of "
            "rows behind each score"
        )
    if method == "information" and n_samples is None:
        return "method 'information' needs n_samples, the number of rows behind the scores"
    if losses.shape[1] == 1 and method in FOLD_CORRECTORS and method != "shrinkage":
        return f"method {method!r} needs the scores of several folds, got one score for each configuration"
    return f"method {method!r} needs accuracies or error rates, got scores outside [0, 1]"


def _interval(
    corrected: float, evidence: _Evidence, near: Booleans, confidence: float
) -> tuple[float, float]:
    losses, rows, shift = evidence.folds, evidence.rows, evidence.error_shift
    n_folds, n_samples = losses.shape[1], evidence.n_samples
    tail = (1 + confidence) / 2
    if (rows is not None and shift is not None) or (
        n_folds == 1 and rows is None and evidence.redrawn is None
    ):
        if n_samples is None or shift is None:  # one configuration with one score
            return -math.inf, math.inf
        error = min(1.0, max(0.0, corrected - shift))
        low, high = wilson_interval(
            error * n_samples / VARIANCE_FACTOR, n_samples / VARIANCE_FACTOR, confidence
        )
        return low + shift, high + shift
    if evidence.redrawn is not None:
        drawn = evidence.redrawn.drawn[near]
        variance, quantile = float(distinct(drawn).var(axis=1, ddof=1).mean()), float(ndtri(tail))
    else:
        units = losses if rows is None else rows
        variance = float(distinct(units[near]).var(axis=1, ddof=1).mean()) / units.shape[1]
        quantile = float(t.ppf(tail, n_folds - 1)) if rows is None else float(ndtri(tail))
    radius = quantile * math.sqrt(VARIANCE_FACTOR * variance)
    low, high = corrected - radius, corrected + radius
    return (low, high) if shift is None else (max(low, shift), min(high, shift + 1))


def _audit(
    found: SearchScores,
    losses: Floats,
    near: Booleans,
    corrected: float,
    interval: tuple[float, float],
    estimates: dict[str, float],
    method: str,
    confidence: float,
    n_samples: int | None,
    complexity: Any,
) -> Audit:
    """Put losses back into the unit and direction of the scores."""
    sign = -1.0 if found.greater_is_better else 1.0
    means = losses.mean(axis=1)
    best = best_of(-means)
    low, high = sorted(sign * end for end in interval)
    sizes = complexity_of(found, complexity)
    simplest = None
    if sizes is not None:
        candidates = np.flatnonzero(near)
        simplest = int(candidates[np.lexsort((rounded(means[candidates]), sizes[candidates]))[0]])
    return Audit(
        naive=sign * float(means[best]),
        corrected=sign * corrected,
        low=low,
        high=high,
        optimism=corrected - float(means[best]),
        best=found.positions[best],
        label=found.labels[best],
        indistinguishable=tuple(found.positions[i] for i in np.flatnonzero(near)),
        simplest=None if simplest is None else found.positions[simplest],
        simplest_label=None if simplest is None else found.labels[simplest],
        scores=tuple((sign * means).tolist()),
        rows=found.positions,
        labels=found.labels,
        estimates={name: sign * value for name, value in estimates.items()},
        method=method,
        confidence=confidence,
        n_configurations=found.n_tried,
        n_failed=found.n_failed,
        n_folds=losses.shape[1],
        n_samples=n_samples,
        greater_is_better=found.greater_is_better,
    )
