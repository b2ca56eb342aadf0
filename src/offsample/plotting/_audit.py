"""An audit as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offsample._text import percentage
from offsample.assessment import Audit
from offsample.plotting._axes import ESTIMATE, QUIET, TRAINING, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_audit(audit: Audit, *, ax: Axes | None = None) -> Axes:
    """Draw the scores of all configurations in order, and what the best of them is worth.

    Configurations as good as the best, as far as the folds tell, are blue; the bar at the left is the
    corrected score with its interval.

    Parameters
    ----------
    audit : Audit
        Of `audit_search`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    own_figure = ax is None
    ax = ax if ax is not None else new_axes(height=4)
    near = set(audit.indistinguishable)
    order = sorted(range(len(audit.rows)), key=lambda i: audit.scores[i], reverse=audit.greater_is_better)
    colours = [ESTIMATE if audit.rows[i] in near else QUIET for i in order]
    places = range(1, len(order) + 1)
    ax.scatter(places, [audit.scores[i] for i in order], s=16, color=colours, label="as good as the best")
    ax.plot([0, 0], [audit.low, audit.high], color=ESTIMATE, linewidth=3, alpha=0.45)
    ax.scatter([0], [audit.corrected], s=40, color=ESTIMATE, zorder=3, label="corrected, with interval")
    ax.scatter(
        [1],
        [audit.naive],
        s=48,
        marker="D",
        facecolors="none",
        edgecolors=TRAINING,
        zorder=3,
        label="reported",
    )
    ax.axhline(audit.corrected, color=ESTIMATE, linewidth=0.6, linestyle=":")
    ax.set_xlabel("configuration, the best first")
    ax.set_ylabel(f"score, with {percentage(audit.confidence)} interval")
    ax.set_title(f"The best of {audit.n_configurations} configurations looks {audit.optimism:.4f} too good")
    if own_figure:
        ax.figure.legend(loc="outside lower center", ncols=3, frameon=False)
    else:
        ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
