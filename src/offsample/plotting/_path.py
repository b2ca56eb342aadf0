"""A growing model as a picture: error against size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from offsample.plotting._axes import ESTIMATE, QUIET, TRAINING, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_path(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the training and the estimated error of a model of each size, and the size that was kept.

    Parameters
    ----------
    model : fitted tree, list, formula or program
        Anything with a ``path_``.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(height=4)
    path = model.path_
    sizes = [step.n_splits for step in path]
    ax.plot(sizes, [s.training_error for s in path], color=TRAINING, linestyle="--", label="on the sample")
    ax.plot(sizes, [s.estimated_error for s in path], color=ESTIMATE, label="estimated on new rows")
    ax.axvline(path.n_splits, color=QUIET, linewidth=1, linestyle=":", label=f"kept: {path.n_splits}")
    ax.set_xlabel("splits")
    ax.set_ylabel("error")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
