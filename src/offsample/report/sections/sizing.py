"""What more rows, and a larger model, would bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from offsample._deadline import OutOfTime
from offsample._typing import Floats, Ints
from offsample.expected_error.sizing import CurvePoint, learning_curve, why_no_curve
from offsample.report._formats import interval, percent, points
from offsample.report._metrics import ERROR, METRICS, Metric
from offsample.report._scales import ERRORS, Scale
from offsample.report._study import Study
from offsample.report.sections._choice import Alternative, Choice
from offsample.report.sections.model import Model

_N_FITS = 4  # a learning curve grows about as many models as this many folds
# The intervals of the errors of two numbers of rows overlap more than those of one curve at both.
_BETTER_KNOWN = " (this difference is known better than the {} themselves)"


@dataclass(frozen=True)
class Sizing:
    """What more of either would bring."""

    # Error of the recommended kind of model against the number of rows: measured, then extrapolated. Empty
    # where there are too few rows to measure it. Of another `loss`, shares of what guessing loses.
    curve: tuple[CurvePoint, ...]
    gain_of_doubling: tuple[float, float] | None  # interval for the decrease of the error with twice the rows
    larger: Alternative | None  # a larger model that is better than the recommended one
    n_rows: int  # that models were fitted to
    loss: str = ERROR
    unmeasured: str | None = None  # why there is no curve, if it is not for too few rows


def describe(study: Study, choice: Choice, model: Model) -> Sizing | None:
    """Measure the learning curve of the recommended kind of model; None where that cannot be done."""
    what = "what more rows would bring"
    if study.options.fast:
        study.leave_out(what, "a fast report does without")
        return None
    if model.is_constant or choice.validation is None:
        no_model, no_folds = "there is no model that learns from them", "there was no cross-validation"
        study.leave_out(what, no_model if model.is_constant else no_folds)
        return None
    if study.new_rows:
        why = why_no_curve(str(study.new_rows), bool(study.new_rows.groups))
        study.leave_out(what, why)
        return Sizing((), None, model.larger, len(study.y), model.loss, why)
    kind, n_rows = choice.kind, len(study.y)
    if kind.most_rows is not None and n_rows > kind.most_rows:
        study.leave_out(what, f"a {kind.name} is fitted to {kind.most_rows:,} rows at most")
        return Sizing((), None, model.larger, n_rows, model.loss)
    if not study.has_time_for(what, _N_FITS * study.mean_seconds("fold", kind.name)):
        return None
    n_learned = int(np.mean([len(train) for train, _ in study.folds]))
    X, learner = study.columns(choice.features), kind.of_size(study.max_size)
    if study.costs is not None:
        learner.set_params(costs=None)  # of a class that a part of the rows may not have

    def losses(fitted: Any, rows: Ints) -> Floats:
        return study.told(study.losses(fitted, X.take(rows), rows, None)[1][0])

    known = float(study.told(choice.validation.of(choice.stage)).mean())
    low, _, high = study.metric.ends(model)
    try:
        with study.deadline():
            curve, gain = learning_curve(
                X,
                study.y,
                learner=learner,
                known=(n_learned, known),
                deviation_known=(high - low) / 3.92 if study.metric.by_pairs else 0.0,  # of one page
                losses=None if study.metric.is_error else losses,
                n_repeats=3 if kind.most_rows is None else 2,
                random_state=study.options.random_state,
            )
    except OutOfTime:
        study.leave_out(what)
        return None
    told = gain if curve and not curve[-1].measured else None
    return Sizing(curve, told, model.larger, n_rows, model.loss)


def sentences(
    sizing: Sizing, model: Model, metric: Metric = METRICS[ERROR], scale: Scale = ERRORS
) -> tuple[str, ...]:
    """Say in words what more would bring."""
    found = []
    of = " points" * scale.is_share
    if sizing.larger is not None:
        larger, name = sizing.larger, f"{sizing.larger.name[:1].upper()}{sizing.larger.name[1:]}"
        gain = points(model.error - larger.error).lstrip("+")
        told = (
            f"should be wrong in {percent(larger.error)} of cases (95 % interval "
            f"{interval(larger.low, larger.high)}): {gain} points less than the recommended one"
        )
        if not metric.is_error:
            told = (
                f"has {metric.word} {metric.figure(larger)} ({metric.likely(larger)}), the recommended one "
            )
            told += metric.figure(model)
        found.append(f"{name}, {told}, but not a model to read.")
    if sizing.gain_of_doubling is not None:
        least, most = (max(0.0, end) for end in sizing.gain_of_doubling)
        low, high, nothing = scale.size(least), scale.size(most), scale.size(0.0)
        known = _BETTER_KNOWN.format("errors" if scale.is_share else "figures")
        moves = "rise" if scale.is_turned else "fall"
        fall = f"With twice as many rows the {scale.name} of such a {model.kind} should {moves} by"
        found.append(
            f"Twice as many rows would hardly change the {scale.name} of such a {model.kind}."
            if high == nothing
            else f"{fall} at most {high}{of}, perhaps not at all{known}."
            if low == nothing
            else f"{fall} {f'{low} to {high}' if low != high else f'about {low}'}{of}{known}."
        )
    elif sizing.unmeasured or sizing.curve:
        moved = "risen so far, or rises" if scale.is_turned else "fallen so far, or falls"
        why = f"a curve that has not {moved} ever faster, does not tell how it goes on"
        found.append(f"How much more rows would help is not known: {sizing.unmeasured or why}.")
    else:
        found.append("There are too few rows to say how much more rows would help.")
    return tuple(found)
