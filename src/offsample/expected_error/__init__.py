"""Predicting the error of what a learner would return, from the distribution of error rates in its model.

The package is called like its main function: ``offsample.expected_error(prior, …)`` is
``offsample.expected_error.expected_error(prior, …)``. One attribute of `offsample` cannot be both a package
and a function, so the package is callable.
"""

from offsample._lazy import lazy_names, make_callable

# Loaded on first use, as everything heavy here.
_HOME = {
    "ErrorForecast": "offsample.expected_error.analysis",
    "ErrorPrior": "offsample.expected_error.prior",
    "ExpectedErrorSearch": "offsample.expected_error.selection",
    "best_split": "offsample.expected_error.holdout",
    "expected_error": "offsample.expected_error.analysis",
    "holdout_selection": "offsample.expected_error.holdout",
    "is_selection_worthwhile": "offsample.expected_error.holdout",
    "labeling_counts": "offsample.expected_error._labelings",
    "size_forecast": "offsample.expected_error.sizing",
    "tail_aware_prior": "offsample.expected_error.splitting",
}

__all__ = [
    "ErrorForecast",
    "ErrorPrior",
    "ExpectedErrorSearch",
    "best_split",
    "expected_error",
    "holdout_selection",
    "is_selection_worthwhile",
    "labeling_counts",
    "size_forecast",
    "tail_aware_prior",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)

make_callable(__name__, "expected_error")
