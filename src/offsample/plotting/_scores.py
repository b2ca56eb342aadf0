"""Scores of models, and of a choice, as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offsample._text import percentage
from offsample.assessment import Comparison, NestedScores
from offsample.plotting._axes import AS_TEXT, ESTIMATE, QUIET, TRAINING, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_comparison(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw the scores of models with their intervals; those not told apart from the best are blue.

    Parameters
    ----------
    comparison : Comparison
        Of `compare`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(height=1 + 0.4 * len(comparison.models))
    for place, (model, score, (low, high)) in enumerate(
        zip(comparison.models, comparison.scores, comparison.intervals, strict=True)
    ):
        colour = ESTIMATE if model in comparison.best else QUIET
        ax.plot([low, high], [place, place], color=colour, linewidth=3, alpha=0.45)
        ax.plot([score], [place], "o", color=colour)
    ax.set_yticks(range(len(comparison.models)), [short(model) for model in comparison.models], **AS_TEXT)
    ax.invert_yaxis()
    ax.set_xlabel(f"score, with {percentage(comparison.confidence)} interval")
    ax.set_title(f"{comparison.n_folds} folds, {comparison.test}, {comparison.correction}")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_nested(scores: NestedScores, *, ax: Axes | None = None) -> Axes:
    """Draw what the search reported in each outer fold beside the score there, and the mean score.

    Parameters
    ----------
    scores : NestedScores
        Of `nested_cross_validate`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(height=4)
    folds = range(1, len(scores.scores) + 1)
    ax.vlines(folds, scores.inner_scores, scores.scores, color=QUIET, linewidth=1)
    ax.plot(folds, scores.inner_scores, "D", color=TRAINING, mfc="none", label="reported by the search")
    ax.plot(folds, scores.scores, "o", color=ESTIMATE, label="on the outer fold")
    ax.axhline(scores.mean, color=ESTIMATE, linewidth=1)
    ax.axhspan(scores.low, scores.high, color=ESTIMATE, alpha=0.12, linewidth=0, label="mean, with interval")
    ax.set_xticks(list(folds))
    ax.set_xlabel("outer fold")
    ax.set_ylabel(f"score, with {percentage(scores.confidence)} interval")
    more = "more" if scores.optimism >= 0 else "less"
    ax.set_title(f"The search reports {abs(scores.optimism):.4f} {more} than its choice is worth")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
