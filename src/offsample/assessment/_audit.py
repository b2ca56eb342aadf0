"""What the best score of a finished search is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from offsample._checks import check_confidence, check_count
from offsample._frames import make_frame
from offsample._text import amount, number, percentage
from offsample._ties import best_of, rounded
from offsample.assessment._correctors import indistinguishable
from offsample.assessment._losses import SearchLosses
from offsample.assessment._metrics import METRICS, within
from offsample.assessment._predictions import predicted_losses
from offsample.assessment._result import Result
from offsample.assessment._scores import complexity_of, read_scores
from offsample.assessment._units import repeats_of, splits_of
from offsample.tables import Units

_MOST_ROWS = 10**15
Method = Literal["auto", "bootstrap", "shrinkage"]


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """What the best of many scores is worth, in the unit of the scores."""

    naive: float  # best mean score, as the search reports it
    corrected: float  # score to expect of that configuration on new rows, with its interval
    low: float
    high: float
    optimism: float  # how much too good the naive score is; positive whatever the direction of the scores
    best: int  # row of the best configuration
    label: Any  # its parameters or name
    as_good_as_best: tuple[int, ...]  # rows of those at most `tolerance` worse, with this confidence
    tolerance: float
    simplest: int | None  # row of the simplest of these; None where nothing tells which is simple
    simplest_label: Any
    scores: tuple[float, ...]  # mean score of each configuration that has scores
    rows: tuple[int, ...]  # its row, or trial number
    labels: tuple[Any, ...]
    estimates: dict[str, float]  # corrected score by every method that these scores allow
    method: str
    confidence: float
    n_configurations: int  # tried, including those that failed or were dropped on the way
    n_failed: int  # left out because a fold has no score (failed fits)
    n_folds: int
    n_samples: int | None  # rows behind the scores, if known
    greater_is_better: bool
    metric: str = "score"  # what the numbers are, in a sentence
    n_groups: int | None = None  # that the rows come in, if given: the score is then for new groups
    new_rows: str = "new rows"  # what the score is for, in words
    caution: str = ""  # what the correction cannot know; empty where it hardly matters
    assumed: str = ""  # what is taken for granted of splits that nothing is known of

    def to_frame(self) -> Any:
        """Return a dataframe with one row per configuration, the best first."""
        sign = -1 if self.greater_is_better else 1
        order = sorted(range(len(self.rows)), key=lambda i: sign * rounded(self.scores[i]))
        near = set(self.as_good_as_best)
        return make_frame(
            {
                "row": [self.rows[i] for i in order],
                "configuration": [_text(self.labels[i]) for i in order],
                "score": [self.scores[i] for i in order],
                "as_good_as_best": [self.rows[i] in near for i in order],
            }
        )

    def __repr__(self) -> str:
        one = amount(self.n_samples, "row") if self.n_samples else "one score"
        on = amount(self.n_folds, "fold") if self.n_folds > 1 else one
        wide = max(15, len(f"best {self.metric}"))
        units = f", on new ones of {self.n_groups:,} groups" if self.n_groups else ""
        lines = [
            f"Audit of the best of {amount(self.n_configurations, 'configuration')}, {on}, by {self.method}"
            + (f", on {self.new_rows}" if self.new_rows.startswith("later") else units),
            f"{'best ' + self.metric:{wide}} {number(self.naive)}  {_text(self.label)}",
            f"{'corrected':{wide}} {number(self.corrected)}  {percentage(self.confidence)} interval "
            f"{number(self.low)}–{number(self.high)}",
            f"{'optimism':{wide}} {number(self.optimism)}",
            f"{'as good as best':{wide}} {amount(len(self.as_good_as_best), 'configuration')}, at most "
            f"{number(self.tolerance)} worse"
            + (f"; the simplest: {_text(self.simplest_label)}" if self.simplest is not None else ""),
        ]
        if self.n_failed:
            lines.append(f"{amount(self.n_failed, 'configuration')} left out, without a score on every fold")
        lines += [said for said in (self.caution, self.assumed) if said]
        return "\n".join(lines)


def _text(label: Any) -> str:
    if isinstance(label, Mapping):
        return ", ".join(f"{name}={value}" for name, value in label.items())
    return str(label)


def audit_search(
    search: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    predictions: Any = None,
    losses: Any = None,
    metric: str | Callable[..., float] | None = None,
    fold: Any = None,
    time: Any = None,
    method: Method = "auto",
    confidence: float = 0.95,
    greater_is_better: bool | None = None,
    complexity: str | Callable[[Any], float] | Sequence[float] | None = None,
    tolerance: float | None = None,
    n_samples: int | None = None,
    groups: Any = None,
    cv: Any = None,
    fold_scores: str = "fold_scores",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Audit:
    """Say what the best score of a finished search is worth on new rows.

    Parameters
    ----------
    search : fitted search, study or table of scores, optional
        - `GridSearchCV`, `RandomizedSearchCV` or any search with scikit-learn's `cv_results_`, or these; of
          successive halving, the last round counts. With several metrics, `metric` or that of `refit`
          counts. Losses that scikit-learn negates are shown as they are.
        - An Optuna study of one objective. Fold scores are the trials' user attribute `fold_scores`, or the
          values they reported if a trial's value is their mean; otherwise n_samples is needed.
        - An array, sequence, dict or dataframe of scores, configurations × folds, or the path of such a
          table. Folds are the columns named like ``split0_test_score`` or ``fold 1``, or else all columns of
          numbers.
    X, y : array-like, optional
        The rows of a scikit-learn search. Each configuration is then refitted once on each fold, without the
        sample weights of the search, and single rows replace fold scores. Scorers that are no `metric` (see
        there) are called on 200 samples of the rows. The built-in score of an estimator that is neither
        classifier nor regressor is refused: name a scoring. Random splits without a fixed random_state are
        drawn again, and the last round of successive halving is scored on all rows.
    predictions : arrays, table or path, optional
        Instead of a search, whatever made them: what each configuration predicts for each row, by models that
        had not seen the row. A dict of arrays by configuration, an array (configurations × rows), or a table
        with a column for each configuration; probabilities of several classes have a column for each class in
        a third dimension. With a study, the user attribute that holds them. Rows that no configuration
        predicts are left out. `y`, `groups`, `time` and `fold` are arrays too, or columns of the table.
    losses : arrays, table or path, optional
        The same, but of losses of each row, by a loss of your own; smaller is better.
    metric : str or callable, optional
        How to score predictions: of classes "accuracy", "error", "balanced_accuracy", "f1" (the last of two
        classes, else the mean over them); of probabilities (of the last of two classes, or all) "auc",
        "log_loss", "brier"; of numbers "r2", "mae", "mse", "rmse"; or the names that scikit-learn has for
        them. A function of true values and predictions is called on each of 200 samples of the rows. Of
        several metrics in `cv_results_`, the one that counts.
    fold : array-like or str, optional
        The fold that tested each row. A score is then the mean over folds, otherwise that of all rows.
    time : array-like or str, optional
        When each predicted row was made: thirty parts of the time are the units, and not rows.
    method : str, default="auto"
        "auto" is "bootstrap" (BBC-CV of rows, or of folds where there are no rows), which won the comparison
        in ``papers/tuning_optimism``. "shrinkage" takes scores as normal, with the covariance of the fold
        scores.
    confidence : float, default=0.95
        Of the interval, and of what is as good as the best.
    greater_is_better : bool, optional
        Direction of a table of scores or of a function, True by default. A search or study knows its own.
    complexity : str, callable or sequence, optional
        What is simple: the name of a parameter of which less is simpler, a function of a configuration's
        parameters (or name), or a number for each row. By default parameters known to mean size or
        regularisation (`max_depth`, `C`, `alpha`, …) tell.
    tolerance : float, optional
        How much worse than the best a configuration may be, with this confidence, to count as good as it: by
        paired differences of the rows (or groups, or else folds), less what the best owes to luck. One
        standard error of the best score by default.
    n_samples : int, optional
        Rows behind the scores, needed where each configuration has only one score.
    groups : array-like or str, optional
        Rows that belong together, with X and y or with predictions: the score is then for rows of new groups.
        They go to the splitter of the search (a number of folds means `GroupKFold`) and to estimators whose
        `fit` takes them; the bootstrap and the interval have groups as their units. A row that is predicted
        several times, as in repeated cross-validation, is such a group too.
    cv : int, splitter or list of (train, test), optional
        What made the folds of a table of scores or of `cv_results_`; a search knows it, unless they came from
        a generator. A number means folds that test each row once, so that 30 scores and ``cv=5`` are six
        repeats. Without it up to ten scores are taken as folds that share no test row, which `assumed` says;
        more are refused, for they are seldom of one cross-validation.
    fold_scores : str
        User attribute of an Optuna trial that holds its fold scores.
    n_jobs : int, optional
        Refits to run at a time.
    progress : bool, default=False
        Show a bar on standard error while refitting.

    Notes
    -----
    The choice is repeated on bootstrap samples of rows (or folds) and judged on those left out, without fits.
    Their mean, of a share of 1/e, varies (e - 1) times as much as that of all, which also covers variation of
    the models. With rows and accuracy, the interval is Wilson's with n / (e - 1) rows; otherwise ± the
    quantile of t (folds) or of the normal distribution (rows), times ``sqrt((e - 1) s² / n)``, with s² the
    mean variance of those not told from the best. One configuration by itself has 1 + K / (K - 1) of K folds
    for e - 1 (Nadeau and Bengio 2003). What it cannot know: docs/whether-to-believe-a-score.md.

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
    if n_samples is not None:
        check_count("n_samples", n_samples, 1, _MOST_ROWS)
    assumed = ""
    if losses is not None and metric is not None:
        raise ValueError("losses are scored already: leave out metric, or give predictions")
    if losses is not None:
        predictions, metric = losses, "loss"
    if predictions is not None:
        if metric is None:
            raise ValueError(f"metric is missing: how to score predictions, one of {', '.join(METRICS)}")
        if X is not None:
            raise ValueError("predictions were made already: leave out X")
        of_rows = {"y": y, "groups": groups, "time": time, "fold": fold}
        found, known = predicted_losses(predictions, metric, of_rows, search, greater_is_better)
    else:
        if (X is None) != (y is None):
            raise ValueError("X and y go together: give both, or neither to use the fold scores")
        if X is None and (groups is not None or time is not None or fold is not None):
            raise ValueError(
                "groups, time and fold say which rows belong together: give X and y too, or predictions, for "
                "scores say nothing of rows"
            )
        unused = {"metric": metric, "fold": fold, "time": time, "n_samples": n_samples}
        if X is not None and (names := [name for name, value in unused.items() if value is not None]):
            raise ValueError(
                "a search that is refitted on X and y has its own folds and scoring, and no time: "
                f"leave out {' and '.join(names)}, or give predictions"
            )
        found = read_scores(search, greater_is_better, fold_scores, metric)
        if greater_is_better not in (None, found.greater_is_better):
            raise ValueError("greater_is_better is for tables and functions: the search or study has its own")
        if X is None:
            n_scores = found.scores.shape[1]
            if (n_repeats := repeats_of(splits_of(search, cv), n_scores, n_samples)) is None:
                assumed = (
                    f"The {n_scores} scores are taken as those of {n_scores} folds that share no test row: "
                    "for repeated or random splits give cv, or they look more certain than they are."
                )
            known = SearchLosses.of_scores(found, n_samples, n_repeats or 1)
            if n_scores == 1 and n_samples is not None and known.error_shift is not None:
                kind = "accuracies" if found.greater_is_better else "error rates, which a loss is not,"
                assumed = f"The scores are taken as {kind} of {n_samples:,} rows."
        elif not (hasattr(search, "cv_results_") and hasattr(search, "estimator")):
            raise ValueError("X and y are for a scikit-learn search, whose configurations can be refitted")
        else:
            from offsample.assessment._out_of_fold import out_of_fold_losses

            splits = splits_of(search, cv)
            known = out_of_fold_losses(search, splits, found.labels, X, y, groups, n_jobs, progress)
    folds = known.folds
    chosen = "bootstrap" if method == "auto" else method
    if method == "auto" and not known.has_rows and folds.shape[1] == 1 and len(folds) > 1:
        chosen = "shrinkage"
    estimates = known.estimates()
    if chosen not in estimates:
        raise ValueError(known.why_not(chosen))
    corrected = estimates[chosen]
    # Losses go back into the unit and direction of the scores.
    sign = -1.0 if found.greater_is_better else 1.0
    low, high = sorted(sign * end for end in known.interval(corrected, indistinguishable(folds), confidence))
    low, high = within(found.title, low, high)
    near, tolerance = known.as_good_as_best(confidence, tolerance)
    means = folds.mean(axis=1)
    best = best_of(-means)
    taken = [i for i, row in enumerate(found.positions) if row == getattr(search, "best_index_", None)]
    if taken and rounded(means[taken[0]]) > rounded(means[best]):
        assumed += f" This is the best mean score, not what the search took: {_text(found.labels[taken[0]])}."
    assumed = f"{found.assumed} {assumed.strip()}".strip()
    optimism = corrected - float(means[best])
    caution = "" if low < high else "The scores do not vary, and do not tell how far off they may be."
    if known.guess is not None and 0 < known.guess - means[best] <= 3 * optimism and len(means) > 1:
        caution = (
            f"A third or more of what the best has over guessing ({number(sign * known.guess)}) is luck, and "
            "more of it may be: only fitting again tells (nested_cross_validate)."
        )
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
        optimism=optimism,
        best=found.positions[best],
        label=found.labels[best],
        as_good_as_best=tuple(found.positions[i] for i in np.flatnonzero(near)),
        tolerance=tolerance,
        simplest=None if simplest is None else found.positions[simplest],
        simplest_label=None if simplest is None else found.labels[simplest],
        scores=tuple((sign * means).tolist()),
        rows=found.positions,
        labels=found.labels,
        estimates={name: sign * value for name, value in estimates.items()},
        method=chosen,
        confidence=confidence,
        n_configurations=found.n_tried,
        n_failed=found.n_failed,
        n_folds=folds.shape[1],
        n_samples=known.n_rows,
        greater_is_better=found.greater_is_better,
        metric=found.title,
        n_groups=len(known.weights) if known.grouped and known.weights is not None else None,
        new_rows=Units.of(groups, time).new_rows,
        caution=caution,
        assumed=assumed,
    )
