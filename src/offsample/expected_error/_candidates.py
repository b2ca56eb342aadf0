"""Candidates of a search: their parameters, their languages, and what is expected of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid

from offsample._text import digits
from offsample.expected_error._fallbacks import Estimate
from offsample.expected_error.analysis import ErrorForecast
from offsample.expected_error.languages import Language, SplitTrees
from offsample.induction.tree.classifier import TreeClassifier
from offsample.tables import TableEncoder, is_dataframe

_NOISE = 0.1


@dataclass(frozen=True)
class CandidateForecast:
    """What is expected of one candidate."""

    params: dict[str, Any]  # of the estimator
    error: float  # on new rows, with its 95 % interval
    low: float
    high: float
    standard_error: float
    kind: str  # the method that found the error: "forecast", or the fallback that was used
    log_size: float | None  # natural logarithm of the number of hypotheses of the model, if known
    warnings: tuple[str, ...]  # reasons to doubt the forecast


def expand(candidates: Any) -> list[tuple[dict[str, Any], Language | None]]:
    """Return the parameters and the language of each candidate."""
    if isinstance(candidates, Mapping) or all(isinstance(entry, Mapping) for entry in candidates):
        candidates = [(params, None) for params in ParameterGrid(candidates)] if candidates else []
    else:
        for entry in candidates:
            if not (isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[0], Mapping)):
                raise ValueError(
                    f"a candidate must be a dict of parameters, or (dict, Language), got {entry!r}"
                )
            if not isinstance(entry[1], Language):
                raise ValueError(
                    f"unknown language {entry[1]!r}: expected a Language of "
                    f"offsample.expected_error.languages"
                )
    if not candidates:
        raise ValueError("candidates is empty: give at least one")
    return [(dict(params), language) for params, language in candidates]


def as_numbers(X: Any) -> NDArray[Any]:
    """Return the table as numbers and codes, missing values below all others."""
    if not is_dataframe(X):
        array = np.asarray(X)
        if array.dtype.kind in "biuf":
            return np.asarray(np.nan_to_num(array, nan=-np.inf, neginf=-np.inf, posinf=np.inf))
    columns = TableEncoder("infer").fit_transform(X)
    return np.column_stack([np.nan_to_num(np.asarray(c.values, dtype=float), nan=-1e300) for c in columns])


def language_of(model: Any, table: Any, n_classes: int) -> Language | None:
    """Return the language of one of our trees with a number of splits; None for any other model."""
    if not isinstance(model, TreeClassifier) or model.max_splits is None or model.max_depth is not None:
        return None
    n_tests = max(1, sum(len(np.unique(column)) - 1 for column in np.asarray(table).T))
    return SplitTrees(model.max_splits, n_tests, max(2, n_classes))


def doubts(forecasts: Sequence[ErrorForecast]) -> list[str]:
    """Return the reasons to doubt the forecasts, each once."""
    found = dict.fromkeys(reason for forecast in forecasts for reason in forecast.diagnostics.warnings)
    noise = min(forecast.diagnostics.training_error for forecast in forecasts)
    if noise > _NOISE:
        found[
            f"the labels are noisy: every model makes {noise:.2f} errors or more on the sample, and they "
            "make the same ones"
        ] = None
    return list(found)


def stated(
    chosen: CandidateForecast, reasons: Sequence[str], with_groups: bool, of_numbers: bool = False
) -> str:
    """Say what was chosen, with its error, and by what."""
    name = ", ".join(f"{key}={value}" for key, value in chosen.params.items()) or "The only candidate"
    whom = "rows of new groups" if with_groups else "new rows"
    by = "The expected error analysis chose it."
    if chosen.kind != "forecast":
        kind = "Cross-validation" if "cross-validation" in chosen.kind else f"The {chosen.kind}"
        by = f"{kind} chose it, not the expected error analysis" + (
            f": {'; '.join(reasons)}." if reasons else "."
        )
    if of_numbers:
        off, low, high = (digits(value**0.5) for value in (chosen.error, chosen.low, chosen.high))
        return (
            f"{name} should be off by {off} on {whom} (root of the mean squared error, 95% interval {low} to "
            f"{high}). {by}"
        )
    return (
        f"{name} should be wrong on {chosen.error:.1%} of {whom} (95% interval {chosen.low:.1%} to "
        f"{chosen.high:.1%}). {by}"
    )


def of_forecast(forecast: ErrorForecast) -> Estimate:
    """Return the estimate that a forecast makes."""
    spread = np.sqrt(max(0.0, float(forecast.posterior @ (forecast.prior.errors - forecast.mean) ** 2)))
    return Estimate(forecast.mean, *forecast.interval(), float(spread), "forecast")
