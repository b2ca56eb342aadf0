"""What to expect on new rows, in one paragraph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from offsample.report._formats import MISSING, is_missing, quantity
from offsample.report._metrics import ERROR, METRICS, TOP, UNKNOWN, Rated, Score
from offsample.report._study import Study
from offsample.report.findings import Finding, drift
from offsample.report.sections._honest import HonestError
from offsample.report.sections._validation import vote
from offsample.report.sections._words import (
    Signals,
    about_one_class,
    baseline_score,
    contrast,
    if_known,
    sentence,
)
from offsample.report.sections.columns import Columns
from offsample.report.sections.model import Alternative, Model
from offsample.report.sections.reference import Reference

ASSUMPTION = "if new rows come like these, independently"
IN_TIME = "if later rows change no more than these did"
DRIFTING = "if the drift that was found goes on as before"


@dataclass(frozen=True)
class Verdict:
    """What a reader should take away."""

    error: float  # of the recommended model, expected on new rows, with its 95 % interval
    low: float
    high: float
    baseline_error: float  # of always predicting the most frequent class
    beats_baseline: bool  # whether it makes clearly fewer mistakes than that on the same rows held back
    model: str  # the recommended model in words, such as "a tree with 7 leaves"
    columns: tuple[str, ...]  # that it needs
    quarantined: tuple[Finding, ...]  # columns that it must not use, and why
    with_quarantined: Alternative | None  # what the same learner would seem to reach with them
    n_rows: int  # with a target, on which columns were judged
    n_dropped: int  # without a target, left out
    n_modelled: int  # that models were fitted to: fewer than `n_rows` where the table was sampled
    sentence: str  # all of this in a sentence or two
    new_rows: str = "new rows"  # that the error is for: "rows of a new “id”", "later rows"
    # Of the same learner on new rows of known groups; None where rows have no groups.
    known_error: float | None = None
    known_low: float | None = None
    known_high: float | None = None
    # The same learner on rows that are easier to predict, known groups first, and last the error above.
    honest: tuple[HonestError, ...] = ()
    asked: tuple[HonestError, ...] = ()  # of the same model, if new rows are what nobody has said
    assumption: str | None = None  # under which the error holds, where the user has not said who is new
    doubt: str | None = None  # why nobody can know how far the error is off
    interval_is_known: bool = True  # or whether intervals are of too few groups, or times, to be believed
    metric: str = "error"  # that the report leads with, and its model was chosen by
    # On the same new rows, each with its 95 % interval; None where nothing was held back.
    auc: float | None = None  # with more classes than two, the mean of each against the rest, by frequency
    auc_low: float | None = None
    auc_high: float | None = None
    log_loss: float | None = None  # in nats a row
    log_loss_low: float | None = None
    log_loss_high: float | None = None
    log_loss_saved: float | None = None  # share of the log loss of the class shares
    log_loss_saved_low: float | None = None
    log_loss_saved_high: float | None = None
    captured: float | None = None  # share of the class of interest in the tenth that is rated highest
    captured_low: float | None = None
    captured_high: float | None = None
    cost: float | None = None  # of 1,000 rows; None without costs
    cost_low: float | None = None
    cost_high: float | None = None
    baseline_log_loss: float | None = None  # of the class shares
    baseline_cost: float | None = None  # of 1,000 rows, of the best decision that is always the same
    score: Score | None = None  # the figure of the metric, if it is not the error
    baseline_score: float | None = None  # without any column
    task: str = "classification"  # or "regression": then `error` is the mean squared error
    # Of a target of numbers, on the same new rows, in its units and as a share of its variance.
    mean_absolute_error: float | None = None
    mean_absolute_error_low: float | None = None
    mean_absolute_error_high: float | None = None
    r2: float | None = None
    r2_low: float | None = None
    r2_high: float | None = None
    baseline_mean_absolute_error: float | None = None  # of the median of all
    n_signals: int = 0  # columns that have evidence of their own, of those that a model may use
    # A tree that orders rows by them, where none decides better than a guess: AUC, log loss and captured
    # share above are its own then.
    ordering: Alternative | None = None
    # AUC of all columns together, in a model that nobody can read or in a vote, where they order rows but no
    # model that can be read is shown to.
    together: Score | None = None
    # Where no model is shown to help: the best that was tried, if it seems to, which is handed over.
    undecided: Alternative | None = None

    @property
    def handed_over(self) -> str:
        """What the model is that `Report.estimator` is although nothing is shown."""
        if (one := self.undecided) is None:
            return ""
        metric = METRICS[self.metric]
        is_known = self.interval_is_known and metric.within(one) != MISSING
        within = f" ({metric.within(one)})" * is_known
        return (
            f"The best that was tried, {one.name}, has {metric.word} {metric.figure(one)}{within} on rows "
            f"held back, where no column has {metric.write(self.baseline_score)}: that may be chance. It is "
            "what Report.estimator and --save hand over, its probabilities half way to the class shares."
        )

    @property
    def guess_differs(self) -> bool:
        """Whether it is to guess the most frequent class, and new rows may have another one than these."""
        return not self.columns and self.cost is None and self.error != self.baseline_error

    @property
    def off_by(self) -> str:
        """By how much predictions of numbers are off on average."""
        return quantity(self.mean_absolute_error)

    @property
    def off_within(self) -> str:
        """The ends of its interval, written as exactly."""
        if is_missing(self.mean_absolute_error_low):
            return UNKNOWN
        ends = self.mean_absolute_error_low, self.mean_absolute_error_high
        return f"95 % interval {' to '.join(quantity(end, self.mean_absolute_error) for end in ends)}"


def conclude(
    study: Study,
    columns: Columns,
    model: Model,
    with_quarantined: Alternative | None,
    honest: tuple[HonestError, ...],
    rated: Any,
    ordering: tuple[Alternative, Rated] | None,
    ceiling: Reference | None,
    undecided: Alternative | None,
) -> Verdict:
    """Draw the conclusion from the other sections, and from what was said of rows that were held back."""
    first = honest[0] if honest and study.options.group else None
    known = (None, None, None) if first is None else (first.error, first.low, first.high)
    doubt = study.new_rows.doubt(study.tested, ERROR if study.metric.is_error else study.metric.title)
    quarantined = tuple(finding for finding in columns.findings if finding.quarantines)
    assumption = None if study.options.group else ASSUMPTION
    if study.options.time is not None:
        assumption = DRIFTING if any(one.code == drift.CODE for one in study.of_rows) else IN_TIME
    n_signals = sum(column.significant and not column.quarantined for column in columns.columns)
    tree, ordered = (None, rated) if ordering is None else ordering
    together = None
    if n_signals and tree is None and not (model.score is not None and model.beats_baseline):
        together = _together(study, ceiling, rated)
    return Verdict(
        error=model.error,
        low=model.low,
        high=model.high,
        baseline_error=model.baseline_error,
        beats_baseline=model.beats_baseline,
        model=model.name,
        columns=model.columns,
        quarantined=quarantined,
        with_quarantined=with_quarantined,
        n_rows=study.ranking.n_samples,
        n_dropped=study.ranking.n_dropped,
        n_modelled=model.n_rows,
        sentence=sentence(model, study, quarantined, rated, Signals(n_signals, tree, together))
        + if_known(study, model, quarantined, with_quarantined)
        + contrast(study, honest, model)
        + (f" This holds only {DRIFTING}." if assumption == DRIFTING else "")
        + about_one_class(study),
        new_rows=str(study.new_rows),
        known_error=known[0],
        known_low=known[1],
        known_high=known[2],
        honest=honest,
        asked=tuple(study.asked),
        assumption=assumption,
        doubt=doubt,
        interval_is_known=doubt is None,
        metric=study.metric.name,
        score=model.score,
        baseline_score=None if rated is None else baseline_score(study),
        task=study.task,
        n_signals=n_signals,
        ordering=tree,
        together=None if together is None else together[1],
        undecided=undecided,
        **({} if rated is None else _figures(study, rated, ordered)),
    )


def _together(study: Study, ceiling: Reference | None, rated: Any) -> tuple[str, Score] | None:
    """AUC of all columns, in the opaque model or by a vote, if they order rows better than chance."""
    if study.task == "regression" or rated is None:
        return None
    name, found = "", None
    if ceiling is not None:
        name, found = f"{ceiling.name}, which nobody can read, has", ceiling.auc
    elif (votes := vote(study, study.allowed)) is not None:
        proba = np.zeros((len(votes), len(study.classes)))
        proba[:, study.class_of_interest] = votes
        name, found = "a vote of all columns has", replace(rated, proba=proba, n_folds=len(study.folds)).auc()
    return (name, found) if found is not None and found.low > 0.5 else None


def _figures(study: Study, rated: Any, ordered: Any) -> dict[str, float | None]:
    """Measure the model by every metric that makes sense, whichever leads.

    Where it only guesses, and a tree orders rows, what is `ordered` is measured; costs are of the model.
    """
    found, base = {}, {}
    if study.task == "regression":
        found = {"mean_absolute_error": rated.mean_absolute_error(), "r2": rated.r2()}
        base["baseline_mean_absolute_error"] = rated.blind_error
        return base | _ends(found)
    found["auc"] = ordered.auc()
    if study.is_named:
        found["captured"] = ordered.on_top(TOP)[1]
    for name in ("log_loss", *(["cost"] if study.costs is not None else [])):
        found[name] = METRICS[name].measure(ordered if name == "log_loss" else rated, study.costs)
        losses = METRICS[name].losses(study.guess_proba, study.labels[study.tested], study.costs)
        base[f"baseline_{name}"] = float(losses.mean())
        if name == "log_loss":
            own = METRICS[name].losses(ordered.proba, ordered.labels, None)
            found["log_loss_saved"] = ordered.saved(own, losses)
    return base | _ends(found)


def _ends(found: dict[str, Score]) -> dict[str, float | None]:
    """Figures and the ends of their intervals by name; None where they are not known."""
    ends: dict[str, str] = {"": "value", "_low": "low", "_high": "high"}
    return {
        f"{name}{end}": None if is_missing(number := getattr(score, field)) else float(number)
        for name, score in found.items()
        for end, field in ends.items()
    }
