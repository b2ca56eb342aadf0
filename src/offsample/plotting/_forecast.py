"""Forecasts as pictures: error against the size of the model, and against the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from offsample.plotting._axes import AS_TEXT, ESTIMATE, QUIET, TRAINING, new_axes, plain, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_forecast(search: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the predicted learning curve of a fitted search: the expected error of each candidate.

    Parameters
    ----------
    search : ExpectedErrorSearch
        Fitted.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(height=4)
    shown = search.forecast_
    places = range(len(shown))
    _band(ax, places, shown)
    ax.plot(places, [f.error for f in shown], "o-", color=ESTIMATE, label=shown[0].kind)
    best = search.best_index_
    ax.plot([best], [shown[best].error], "o", color=TRAINING, markersize=9, label="chosen")
    labels = [short(", ".join(str(value) for value in f.params.values())) for f in shown]
    ax.set_xticks(list(places), labels, **AS_TEXT)
    ax.set_xlabel(plain(", ".join(shown[0].params)), **AS_TEXT)
    return _finish(ax)


def plot_sizes(forecast: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the expected error of trees of different sizes beside their error on the sample.

    Parameters
    ----------
    forecast : SizeForecast
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(height=4)
    places = range(len(forecast.sizes))
    _band(ax, places, forecast.sizes)
    ax.plot(places, [p.error for p in forecast.sizes], "o-", color=ESTIMATE, label="expected on new rows")
    ax.plot(
        places,
        [p.training_error for p in forecast.sizes],
        "D--",
        color=TRAINING,
        mfc="none",
        label="on the sample",
    )
    ax.axvline(forecast.sizes.index(forecast.best), color=QUIET, linewidth=1, linestyle=":")
    ax.set_xticks(list(places), [str(p.n_splits) for p in forecast.sizes])
    ax.set_xlabel("splits")
    return _finish(ax)


def plot_learning_curve(forecast: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the error against the number of rows, measured and extrapolated.

    Parameters
    ----------
    forecast : SizeForecast
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(height=4)
    rows = [p.n_rows for p in forecast.curve]
    _band(ax, rows, forecast.curve)
    for measured, style, name in ((True, "o-", "measured"), (False, "o--", "extrapolated")):
        part = [p for p in forecast.curve if p.measured == measured]
        ax.plot(
            [p.n_rows for p in part],
            [p.error for p in part],
            style,
            color=ESTIMATE if measured else QUIET,
            label=name,
        )
    ax.set_xscale("log")
    ax.set_xlabel("rows")
    return _finish(ax)


def _band(ax: Axes, places: Any, points: Any) -> None:
    ax.fill_between(
        list(places), [p.low for p in points], [p.high for p in points], color=ESTIMATE, alpha=0.2, lw=0
    )


def _finish(ax: Axes) -> Axes:
    ax.set_ylabel("error, with 95% interval")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
