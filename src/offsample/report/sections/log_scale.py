"""Skewed numbers: what the same learner does on their logarithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import skew

from offsample._ties import rounded
from offsample.report._formats import quantity, r2_text
from offsample.report._metrics import Score
from offsample.report._study import Study
from offsample.report.sections import _choice
from offsample.report.sections._validation import is_better

# Numbers are skewed from here on, if the logarithm is less than half as much.
_SKEWED, _LESS = 1.0, 0.5


@dataclass(frozen=True)
class LogScale:
    """A tree of the logarithm of the target, on the same rows held back."""

    r2: Score  # of the logarithm
    mean_absolute_error: Score  # of its predictions, brought back to the units of the target
    factor: float  # by which half of them are off, or less
    is_better: bool  # whether it is clearly the scale on which errors are alike, and they are as close
    sentence: str


def describe(study: Study, features: Sequence[Any], rated: Any) -> LogScale | None:
    """Try the logarithm of positive numbers that are skewed; None of others, or without time."""
    if study.task != "regression" or rated is None or not study.folds or study.y.min() <= 0:
        return None
    log, what = np.log(study.y), "the logarithm of the target"
    lopsided = float(skew(study.y))
    if lopsided < _SKEWED or abs(float(skew(log))) > _LESS * lopsided or not study.has_time_for(what):
        return None
    other = study.seen_as(study.new_rows, study.varying)
    other.__dict__["_labelled"] = study._labelled[0], log, study._labelled[2]
    found = _choice.choose(other, features)
    told = _choice.rated_as(other, found)
    if told is None:
        return None
    back = replace(rated, predicted=np.exp(told.predicted))
    off, r2 = back.mean_absolute_error(), told.r2()
    own, new = (np.abs(one.numbers - one.predicted) for one in (rated, back))
    factor = float(np.exp(np.median(np.abs(told.numbers - told.predicted))))
    within = f" ({r2_text(r2.low)} to {r2_text(r2.high)})" * rated.is_known
    sentence = (
        f"A tree of the logarithm of {study.target} explains {r2_text(r2.value)}{within} of its variance. "
        f"Brought back, its predictions are off by {quantity(off.value)} on average, those of the model here "
        f"by {quantity(float(own.mean()))}; half of them are off by a factor of {factor:.2f} or less."
    )
    # What is lost of a row by Laplace's law about its prediction, in nats: less on the scale where errors are
    # as large for large numbers as for small ones.
    spread = np.abs(told.numbers - told.predicted)
    lost = [one / one.mean() + np.log(one.mean()) for one in (own, spread)]
    is_closer = r2.value > 0 and bool(rounded(new.mean() / own.mean()) <= 1)
    return LogScale(
        r2, off, factor, is_closer and is_better(lost[0], lost[1] + told.numbers, study), sentence
    )
