"""Predicting the error of what a learner would return, from the distribution of error rates in its model.

The package is callable like its main function: ``offsample.expected_error(prior, …)`` is
``offsample.expected_error.expected_error(prior, …)``.

References
----------
- T. Scheffer (1999). Error Estimation and Model Selection. TU Berlin.
"""

from typing import TYPE_CHECKING

from offsample._lazy import lazy_names, make_callable

if TYPE_CHECKING:  # all public names; each is loaded on first use
    from offsample.expected_error._candidates import CandidateForecast as CandidateForecast
    from offsample.expected_error._labelings import labeling_counts as labeling_counts
    from offsample.expected_error.analysis import ErrorForecast as ErrorForecast
    from offsample.expected_error.analysis import ForecastDiagnostics as ForecastDiagnostics
    from offsample.expected_error.analysis import expected_error as expected_error
    from offsample.expected_error.holdout import BestSplit as BestSplit
    from offsample.expected_error.holdout import HoldoutSelection as HoldoutSelection
    from offsample.expected_error.holdout import best_split as best_split
    from offsample.expected_error.holdout import holdout_selection as holdout_selection
    from offsample.expected_error.prior import ErrorPrior as ErrorPrior
    from offsample.expected_error.selection import ExpectedErrorSearch as ExpectedErrorSearch
    from offsample.expected_error.sizing import CurvePoint as CurvePoint
    from offsample.expected_error.sizing import SizeForecast as SizeForecast
    from offsample.expected_error.sizing import SizePoint as SizePoint
    from offsample.expected_error.sizing import size_forecast as size_forecast

__all__, __getattr__, __dir__ = lazy_names(__name__)
make_callable(__name__, "expected_error")
