"""What to expect on new rows, in one paragraph."""

from __future__ import annotations

from dataclasses import dataclass

from offsample.report._formats import percent
from offsample.report._study import Study
from offsample.report.findings import Finding
from offsample.report.sections._honest import HonestError
from offsample.report.sections.columns import Columns
from offsample.report.sections.model import Alternative, Model

ASSUMPTION = "if new rows come like these, independently"
IN_TIME = "if later rows change no more than these did"


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


def conclude(
    study: Study,
    columns: Columns,
    model: Model,
    with_quarantined: Alternative | None,
    honest: tuple[HonestError, ...],
) -> Verdict:
    """Draw the conclusion from the other sections."""
    first = honest[0] if honest and study.options.group else None
    known = (None, None, None) if first is None else (first.error, first.low, first.high)
    quarantined = tuple(finding for finding in columns.findings if finding.quarantines)
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
        sentence=_sentence(model, study, quarantined) + _contrast(honest, model.is_constant),
        new_rows=str(study.new_rows),
        known_error=known[0],
        known_low=known[1],
        known_high=known[2],
        honest=honest,
        asked=tuple(study.asked),
        assumption=IN_TIME if study.options.time is not None else None if study.options.group else ASSUMPTION,
        doubt=study.new_rows.doubt(study.tested),
    )


def _contrast(honest: tuple[HonestError, ...], is_constant: bool) -> str:
    """Put the errors of the same learner on all kinds of new rows beside each other."""
    said = ", in ".join(f"{percent(one.error)} of {one.label}" for one in honest)
    who = "A tree chosen for each" if is_constant else "The same learner"
    return f" {who} is wrong in {said}." if len(honest) > 1 else ""


def _sentence(model: Model, study: Study, quarantined: tuple[Finding, ...]) -> str:
    target = str(study.target)
    if model.is_constant and study.is_out_of_time:
        return (
            f"The time limit of {study.options.time_limit:g} s was reached before a model was found. Always "
            f"guessing the most frequent class of {target} is wrong in {percent(model.baseline_error)} of "
            "the rows."
        )
    if model.is_constant:
        what = "Nothing that was found in this table"
        if quarantined:
            names = ", ".join(str(finding.column) for finding in quarantined[:3])
            more = f" and {len(quarantined) - 3} more" if len(quarantined) > 3 else ""
            what = f"Without the quarantined column{'s' * (len(quarantined) > 1)} ({names}{more}), nothing"
        return (
            f"{what} predicts {target} better than always guessing its most "
            f"frequent class, which is wrong in {percent(model.baseline_error)} of the rows."
        )
    n = len(model.columns)
    expected = (
        f"On {study.new_rows}, {model.name} that looks at {n} column{'s' * (n != 1)} should be wrong in "
        f"about {percent(model.error)} of cases (95 % interval {percent(model.low)} to "
        f"{percent(model.high)}); "
        f"always guessing the most frequent class is wrong in {percent(model.baseline_error)}."
    )
    doubt = " That is not clearly better than the guess: the table does not show that the model helps."
    return expected if model.beats_baseline else expected + doubt
