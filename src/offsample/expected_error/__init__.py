"""Predicting the error of what a learner would return, from the distribution of error rates in its model.

The package is called like its main function: ``offsample.expected_error(prior, …)`` is
``offsample.expected_error.expected_error(prior, …)``. One attribute of `offsample` cannot be both a package
and a function, so the package is callable.
"""

from offsample._lazy import lazy_names, make_callable

# Loaded on first use, as everything heavy here.
_HOME = {
    "BestSplit": "offsample.expected_error.holdout",
    "CandidateForecast": "offsample.expected_error.selection",
    "CurvePoint": "offsample.expected_error.sizing",
    "ErrorForecast": "offsample.expected_error.analysis",
    "ErrorPrior": "offsample.expected_error.prior",
    "ExpectedErrorSearch": "offsample.expected_error.selection",
    "ForecastDiagnostics": "offsample.expected_error.analysis",
    "HoldoutSelection": "offsample.expected_error.holdout",
    "SelectionVerdict": "offsample.expected_error.holdout",
    "SizeForecast": "offsample.expected_error.sizing",
    "SizePoint": "offsample.expected_error.sizing",
    "best_split": "offsample.expected_error.holdout",
    "expected_error": "offsample.expected_error.analysis",
    "holdout_selection": "offsample.expected_error.holdout",
    "is_selection_worthwhile": "offsample.expected_error.holdout",
    "labeling_counts": "offsample.expected_error._labelings",
    "rows_to_choose": "offsample.expected_error.holdout",
    "size_forecast": "offsample.expected_error.sizing",
    "tail_aware_prior": "offsample.expected_error.splitting",
}

__all__ = [
    "BestSplit",
    "CandidateForecast",
    "CurvePoint",
    "ErrorForecast",
    "ErrorPrior",
    "ExpectedErrorSearch",
    "ForecastDiagnostics",
    "HoldoutSelection",
    "SelectionVerdict",
    "SizeForecast",
    "SizePoint",
    "best_split",
    "expected_error",
    "holdout_selection",
    "is_selection_worthwhile",
    "labeling_counts",
    "rows_to_choose",
    "size_forecast",
    "tail_aware_prior",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)

make_callable(__name__, "expected_error")
