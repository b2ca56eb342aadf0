"""What more rows, and a larger model, would bring."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsample._deadline import OutOfTime
from offsample.expected_error.sizing import CurvePoint, learning_curve
from offsample.report._formats import interval, percent, points
from offsample.report._study import Study
from offsample.report.sections._choice import Alternative, Choice
from offsample.report.sections.model import Model

__all__ = ["Sizing", "describe", "sentences"]

# A learning curve grows about as many models as this many folds.
_N_FITS = 4
# The intervals of the errors of two numbers of rows overlap more than those of one curve at both.
_BETTER_KNOWN = " (this difference is known better than the errors themselves)"


@dataclass(frozen=True)
class Sizing:
    """What more of either would bring.

    Attributes
    ----------
    curve : tuple of CurvePoint
        Error of the recommended kind of model against the number of rows: measured, then extrapolated. Empty
        where there are too few rows to measure it.
    gain_of_doubling : tuple of float or None
        Interval for the decrease of the error with twice the rows.
    larger : Alternative or None
        A larger model that is better than the recommended one.
    n_rows : int
        Rows that models were fitted to.
    """

    curve: tuple[CurvePoint, ...]
    gain_of_doubling: tuple[float, float] | None
    larger: Alternative | None
    n_rows: int


def describe(study: Study, choice: Choice, model: Model) -> Sizing | None:
    """The learning curve of the recommended kind of model; None where it cannot be told."""
    what = "what more rows would bring"
    if study.options.fast:
        study.leave_out(what, "a fast report does without")
        return None
    if model.is_constant or choice.validation is None:
        why = (
            "there is no model that learns from them"
            if model.is_constant
            else "there was no cross-validation"
        )
        study.leave_out(what, why)
        return None
    if choice.kind.most_rows is not None and len(study.y) > choice.kind.most_rows:
        study.leave_out(what, f"a {choice.kind.name} is fitted to {choice.kind.most_rows:,} rows at most")
        return Sizing((), None, model.larger, len(study.y))
    seconds = _N_FITS * study.mean_seconds("fold", choice.kind.name)
    if not study.has_time_for(what, seconds):
        return None
    learner = choice.kind.of_size(study.options.max_size)
    rows = study.sample_of(np.arange(len(study.y)), choice.kind.most_rows)
    n_learned = int(np.mean([len(study.sample_of(train, choice.kind.most_rows)) for train, _ in study.folds]))
    try:
        with study.deadline():
            curve, gain = learning_curve(
                study.columns(choice.features).take(rows),
                study.y[rows],
                learner=learner,
                known=(n_learned, model.error),
                n_repeats=3 if choice.kind.most_rows is None else 2,
                random_state=study.options.random_state,
            )
    except OutOfTime:
        study.leave_out(what)
        return None
    return Sizing(curve, gain if curve else None, model.larger, len(study.y))


def sentences(sizing: Sizing, model: Model) -> tuple[str, ...]:
    """What the section says, in words."""
    found = []
    if sizing.larger is not None:
        larger = sizing.larger
        gain = points(model.error - larger.error).lstrip("+")
        found.append(
            f"{larger.name[:1].upper()}{larger.name[1:]}, should be wrong in {percent(larger.error)} of "
            f"cases (95 % interval {interval(larger.low, larger.high)}): {gain} points less than the "
            "recommended one, but not a model to read."
        )
    if sizing.gain_of_doubling is not None:
        low, high = (points(max(0.0, end)).lstrip("+") for end in sizing.gain_of_doubling)
        fall = f"With twice as many rows the error of such a {model.kind} should fall by"
        found.append(
            f"Twice as many rows would hardly change the error of such a {model.kind}."
            if high == "0.0"
            else f"{fall} at most {high} points, perhaps not at all{_BETTER_KNOWN}."
            if low == "0.0"
            else f"{fall} {f'{low} to {high}' if low != high else f'about {low}'} points{_BETTER_KNOWN}."
        )
    else:
        found.append("There are too few rows to say how much more rows would help.")
    return tuple(found)
