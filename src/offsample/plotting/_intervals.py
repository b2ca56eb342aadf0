"""Estimates with their intervals: columns, configurations, models and folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from offsample._ranking_shown import baseline
from offsample._text import percentage
from offsample.assessment import Audit, Comparison, NestedScores
from offsample.plotting._axes import ESTIMATE, QUIET, TRAINING, finish, name_rows, new_axes, short
from offsample.ranking import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OPEN: dict[str, Any] = {"marker": "D", "facecolors": "none", "edgecolors": TRAINING}


def plot_ranking(ranking: Ranking, *, max_columns: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the error of each column off the sample, with its interval, beside the error on the sample.

    Columns without evidence of a signal are grey. The gap between the two marks is what fools a criterion
    that looks at the sample alone.

    Parameters
    ----------
    ranking : Ranking, of `rank_features`
    max_columns : int
        How many of the first columns to draw.
    """
    shown = ranking.features[:max_columns]
    legend = "below" if ax is None else "inside"
    ax = ax or new_axes(height=1.4 + 0.28 * len(shown))
    colours = [ESTIMATE if feature.significant else QUIET for feature in shown]
    for row, (feature, colour) in enumerate(zip(shown, colours, strict=True)):
        ax.plot([feature.training_error, feature.error], [row, row], color=QUIET, linewidth=0.6, zorder=1)
        ax.plot([feature.low, feature.high], [row, row], color=colour, linewidth=3, alpha=0.45, zorder=2)
    rows = range(len(shown))
    ax.scatter([f.training_error for f in shown], rows, s=26, zorder=3, label="on the sample", **_OPEN)
    errors = [f.error for f in shown]
    ax.scatter(errors, rows, s=30, zorder=4, label="estimated off the sample", color=colours)
    ax.axvline(ranking.baseline_error, color="black", linewidth=1, linestyle=":", label=baseline(ranking))
    name_rows(ax, [short(feature.name) for feature in shown], ticks=False)
    ax.set_xlim(left=min(0.0, *(f.low for f in shown)) - 0.005)
    title = f"{len(shown)} of {len(ranking)} columns by {ranking.criterion}, {ranking.n_samples:,} rows"
    x = f"error, with {percentage(ranking.confidence)} interval"
    return finish(ax, x, title=title, legend=legend)


def plot_audit(audit: Audit, *, ax: Axes | None = None) -> Axes:
    """Draw the scores of all configurations in order, and what the best of them is worth.

    Configurations as good as the best, as far as the folds tell, are blue; the bar at the left is the
    corrected score with its interval.

    Parameters
    ----------
    audit : Audit, of `audit_search`
    """
    legend = "below" if ax is None else "inside"
    ax = ax or new_axes(height=4)
    near = set(audit.as_good_as_best)
    order = sorted(range(len(audit.rows)), key=lambda i: audit.scores[i], reverse=audit.greater_is_better)
    colours = [ESTIMATE if audit.rows[i] in near else QUIET for i in order]
    places = range(1, len(order) + 1)
    ax.scatter(places, [audit.scores[i] for i in order], s=16, color=colours, label="as good as the best")
    ax.plot([0, 0], [audit.low, audit.high], color=ESTIMATE, linewidth=3, alpha=0.45)
    ax.scatter([0], [audit.corrected], s=40, color=ESTIMATE, zorder=3, label="corrected, with interval")
    ax.scatter([1], [audit.naive], s=48, zorder=3, label="reported", **_OPEN)
    ax.axhline(audit.corrected, color=ESTIMATE, linewidth=0.6, linestyle=":")
    y = f"{audit.metric}, with {percentage(audit.confidence)} interval"
    title = f"The best of {audit.n_configurations} configurations looks {audit.optimism:.4f} too good"
    return finish(ax, "configuration, the best first", y, title=title, legend=legend)


def plot_comparison(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw the scores of models with their intervals; those not told apart from the best are blue.

    Parameters
    ----------
    comparison : Comparison, of `compare`
    """
    ax = ax or new_axes(height=1 + 0.4 * len(comparison.models))
    shown = zip(comparison.models, comparison.scores, comparison.intervals, strict=True)
    for place, (model, score, (low, high)) in enumerate(shown):
        colour = ESTIMATE if model in comparison.best else QUIET
        ax.plot([low, high], [place, place], color=colour, linewidth=3, alpha=0.45)
        ax.plot([score], [place], "o", color=colour)
    name_rows(ax, [short(model) for model in comparison.models])
    title = f"{comparison.n_folds} folds, {comparison.test}, holm"
    return finish(ax, f"score, with {percentage(comparison.confidence)} interval", title=title)


def plot_nested(scores: NestedScores, *, ax: Axes | None = None) -> Axes:
    """Draw what the search reported in each outer fold beside the score there, and the mean score.

    Parameters
    ----------
    scores : NestedScores, of `nested_cross_validate`
    """
    ax = ax or new_axes(height=4)
    folds = range(1, len(scores.scores) + 1)
    ax.vlines(folds, scores.inner_scores, scores.scores, color=QUIET, linewidth=1)
    ax.plot(folds, scores.inner_scores, "D", color=TRAINING, mfc="none", label="reported by the search")
    ax.plot(folds, scores.scores, "o", color=ESTIMATE, label="on the outer fold")
    ax.axhline(scores.mean, color=ESTIMATE, linewidth=1)
    ax.axhspan(scores.low, scores.high, color=ESTIMATE, alpha=0.12, linewidth=0, label="mean, with interval")
    ax.set_xticks(list(folds))
    more = "more" if scores.optimism >= 0 else "less"
    title = f"The search reports {abs(scores.optimism):.4f} {more} than its choice is worth"
    y = f"score, with {percentage(scores.confidence)} interval"
    return finish(ax, "outer fold", y, title=title, legend="inside")
