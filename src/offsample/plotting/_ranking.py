"""A ranking as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offsample._ranking_shown import baseline
from offsample._text import percentage
from offsample.plotting._axes import AS_TEXT, ESTIMATE, QUIET, TRAINING, new_axes, short
from offsample.ranking import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_ranking(ranking: Ranking, *, max_columns: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the error of each column off the sample, with its interval, beside the error on the sample.

    Columns without evidence of a signal are grey. The gap between the two marks is what fools a criterion
    that looks at the sample alone.

    Parameters
    ----------
    ranking : Ranking
        Of `rank_features`.
    max_columns : int
        How many of the first columns to draw.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    shown = ranking.features[:max_columns]
    own_figure = ax is None
    ax = ax if ax is not None else new_axes(height=1.4 + 0.28 * len(shown))
    for row, feature in enumerate(shown):
        colour = ESTIMATE if feature.significant else QUIET
        ax.plot([feature.training_error, feature.error], [row, row], color=QUIET, linewidth=0.6, zorder=1)
        ax.plot([feature.low, feature.high], [row, row], color=colour, linewidth=3, alpha=0.45, zorder=2)
    rows = range(len(shown))
    ax.scatter(
        [f.training_error for f in shown], rows, s=26, marker="D", facecolors="none",
        edgecolors=TRAINING, zorder=3, label="on the sample",
    )  # fmt: skip
    ax.scatter(
        [f.error for f in shown], rows, s=30, zorder=4, label="estimated off the sample",
        color=[ESTIMATE if f.significant else QUIET for f in shown],
    )  # fmt: skip
    ax.axvline(ranking.baseline_error, color="black", linewidth=1, linestyle=":", label=baseline(ranking))
    ax.set_yticks(list(rows), [short(feature.name) for feature in shown], **AS_TEXT)
    ax.invert_yaxis()
    ax.set_xlim(left=min(0.0, *(f.low for f in shown)) - 0.005)
    ax.set_xlabel(f"error, with {percentage(ranking.confidence)} interval")
    ax.set_title(f"{len(shown)} of {len(ranking)} columns by {ranking.criterion}, {ranking.n_samples:,} rows")
    if own_figure:
        ax.figure.legend(loc="outside lower center", ncols=3, frameon=False)
    else:
        ax.legend(frameon=False)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax
