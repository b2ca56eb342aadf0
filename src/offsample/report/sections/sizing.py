"""How big a model, and how many rows: what more of either would bring."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from offsample.expected_error.sizing import SizeForecast, size_forecast
from offsample.report._formats import amount, interval, percent, points
from offsample.report._study import Study

__all__ = ["SizeForecast", "describe", "sentences"]

_N_FOLDS = 3
_SIZES = (0, 1, 2, 4, 8, 16, 32, 64, 128)


def describe(study: Study, trusted: Collection[Any]) -> SizeForecast | None:
    """Errors of larger trees, and the learning curve; None where they cannot be told."""
    what = "how big a model, how many rows"
    if study.options.fast:
        study.skipped.append(f"{what}: takes too long for a fast report")
        return None
    if not trusted:
        study.skipped.append(f"{what}: no column is left to learn from")
        return None
    classes, counts = np.unique(study.y, return_counts=True)
    if len(classes) < 2 or counts.min() < _N_FOLDS:
        rarest = f"class {classes[counts.argmin()]} has {counts.min()}"
        study.skipped.append(f"{what}: {_N_FOLDS} rows of each of two classes are needed, {rarest}")
        return None
    if not study.has_time_for(what):
        return None
    return size_forecast(
        study.declared_columns(trusted),
        study.y,
        sizes=_SIZES,
        n_folds=_N_FOLDS,
        random_state=study.options.random_state,
    )


def sentences(forecast: SizeForecast) -> tuple[str, ...]:
    """What the forecast says, with shares written as in the rest of the report."""
    best = forecast.best
    expected = f"wrong in {percent(best.error)} of new rows (95 % interval {interval(best.low, best.high)})"
    said = [
        f"A tree of {amount(best.n_splits, 'split')} is about as good as any larger one: it should be "
        f"{expected}."
        if best.n_splits
        else f"No tree is clearly better than always guessing the most frequent class, which is {expected}."
    ]
    if forecast.curve:
        low, high = (points(max(0.0, gain)).lstrip("+") for gain in forecast.gain_of_doubling)
        fall = "With twice as many rows the error of a tree should fall by"
        said.append(
            "Twice as many rows would hardly change the error of a tree."
            if high == "0.0"
            else f"{fall} up to {high} percentage points, if at all."
            if low == "0.0"
            else f"{fall} {f'{low} to {high}' if low != high else f'about {low}'} percentage points."
        )
    else:
        said.append("There are too few rows to say how much more rows would help.")
    return tuple(said)
