"""Errors as curves: against the size of a model, the number of columns and the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from offsample.margin import SufficientColumns
from offsample.plotting._axes import AS_TEXT, ESTIMATE, QUIET, TRAINING, finish, new_axes, plain, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WITH_INTERVAL = "error, with 95% interval"


def plot_path(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the training and the estimated error of a model of each size, and the size that was kept.

    Parameters
    ----------
    model : fitted tree, list, formula or program, with a ``path_``
    """
    ax = ax or new_axes(height=4)
    path = model.path_
    sizes = [step.n_splits for step in path]
    ax.plot(sizes, [s.training_error for s in path], color=TRAINING, linestyle="--", label="on the sample")
    ax.plot(sizes, [s.estimated_error for s in path], color=ESTIMATE, label="estimated on new rows")
    ax.axvline(path.n_splits, color=QUIET, linewidth=1, linestyle=":", label=f"kept: {path.n_splits}")
    return finish(ax, "splits", "error", legend="inside", from_zero=True)


def plot_forecast(search: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the predicted learning curve of a fitted search: the expected error of each candidate.

    Parameters
    ----------
    search : fitted ExpectedErrorSearch
    """
    ax = ax or new_axes(height=4)
    shown, best = search.forecast_, search.best_index_
    places = range(len(shown))
    _band(ax, places, shown)
    ax.plot(places, [f.error for f in shown], "o-", color=ESTIMATE, label=shown[0].kind)
    ax.plot([best], [shown[best].error], "o", color=TRAINING, markersize=9, label="chosen")
    labels = [short(", ".join(str(value) for value in f.params.values())) for f in shown]
    ax.set_xticks(list(places), labels, **AS_TEXT)
    x = plain(", ".join(shown[0].params))
    return finish(ax, x, _WITH_INTERVAL, legend="inside", from_zero=True)


def plot_sizes(forecast: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the expected error of trees of different sizes beside their error on the sample.

    Parameters
    ----------
    forecast : SizeForecast
    """
    ax = ax or new_axes(height=4)
    sizes = forecast.sizes
    places, training = range(len(sizes)), [p.training_error for p in sizes]
    _band(ax, places, sizes)
    ax.plot(places, [p.error for p in sizes], "o-", color=ESTIMATE, label="expected on new rows")
    ax.plot(places, training, "D--", color=TRAINING, mfc="none", label="on the sample")
    ax.axvline(sizes.index(forecast.best), color=QUIET, linewidth=1, linestyle=":")
    ax.set_xticks(list(places), [str(p.n_splits) for p in sizes])
    return finish(ax, "splits", _WITH_INTERVAL, legend="inside", from_zero=True)


def plot_learning_curve(forecast: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the error against the number of rows, measured and extrapolated.

    Parameters
    ----------
    forecast : SizeForecast
    """
    ax = ax or new_axes(height=4)
    _band(ax, [p.n_rows for p in forecast.curve], forecast.curve)
    for measured, style, colour in ((True, "o-", ESTIMATE), (False, "o--", QUIET)):
        part = [p for p in forecast.curve if p.measured == measured]
        name = "measured" if measured else "extrapolated"
        ax.plot([p.n_rows for p in part], [p.error for p in part], style, color=colour, label=name)
    ax.set_xscale("log")
    return finish(ax, "rows", _WITH_INTERVAL, legend="inside", from_zero=True)


def plot_sufficient(found: SufficientColumns, *, ax: Axes | None = None) -> Axes:
    """Draw the error on held-out rows against the number of columns, with one standard error.

    Parameters
    ----------
    found : SufficientColumns, of `margin.sufficient_columns`
    """
    ax = ax or new_axes(height=4)
    columns = [size.n_columns for size in found.sizes]
    curves = [("nearest neighbour", TRAINING, "o--", "")]
    curves += [("model", ESTIMATE, "o-", "model_")] * (found.judged_by == "model")
    for name, colour, style, of in curves:
        errors, bars = (
            [getattr(size, of + what) for size in found.sizes] for what in ("error", "standard_error")
        )
        ax.errorbar(columns, errors, yerr=bars, fmt=style, color=colour, capsize=2, label=name)
    ax.axhline(found.baseline_error, color=QUIET, linewidth=1, label="no column")
    ax.axvline(found.n_chosen, color=QUIET, linewidth=1, linestyle=":", label=f"chosen: {found.n_chosen}")
    ax.set_xscale("log")
    ax.set_xticks(columns, list(map(str, columns)))
    ax.minorticks_off()
    x = f"columns, in the order of {found.method}"
    return finish(ax, x, "error on held-out rows", legend="inside", from_zero=True)


def _band(ax: Axes, places: Any, points: Any) -> None:
    low, high = [p.low for p in points], [p.high for p in points]
    ax.fill_between(list(places), low, high, color=ESTIMATE, alpha=0.2, lw=0)
