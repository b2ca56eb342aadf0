"""Chosen features as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from offsample.margin import SufficientColumns
from offsample.plotting._axes import AS_TEXT, ESTIMATE, QUIET, TRAINING, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_weights(selector: Any, *, max_columns: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the weights of the features, the largest first; those that were selected are blue.

    Parameters
    ----------
    selector : Relief, Simba or GFlip
        Fitted.
    max_columns : int
        Features to show.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    weights = selector.feature_weights_
    names = getattr(selector, "feature_names_in_", [f"x{j}" for j in range(len(weights))])
    shown = np.argsort(-weights, kind="stable")[:max_columns]
    ax = ax if ax is not None else new_axes(height=1 + 0.24 * len(shown))
    kept = selector.get_support()
    ax.barh(range(len(shown)), weights[shown], color=[ESTIMATE if kept[j] else QUIET for j in shown])
    ax.set_yticks(range(len(shown)), [short(names[j]) for j in shown], **AS_TEXT)
    ax.invert_yaxis()
    ax.set_xlabel("weight")
    ax.set_title(f"{kept.sum():,} of {len(weights):,} features selected by {type(selector).__name__}")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_sufficient(found: SufficientColumns, *, ax: Axes | None = None) -> Axes:
    """Draw the error on held-out rows against the number of columns, with one standard error.

    Parameters
    ----------
    found : SufficientColumns
        Of `margin.sufficient_columns`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(height=4)
    columns = [size.n_columns for size in found.sizes]
    curves: list[tuple[str, str, str, list[tuple[float | None, float | None]]]] = [
        ("nearest neighbour", TRAINING, "o--", [(s.error, s.standard_error) for s in found.sizes])
    ]
    if found.judged_by == "model":
        judged = [(s.model_error, s.model_standard_error) for s in found.sizes]
        curves.append(("model", ESTIMATE, "o-", judged))
    for name, colour, style, points in curves:
        errors, bars = zip(*points, strict=True)
        ax.errorbar(columns, errors, yerr=bars, fmt=style, color=colour, capsize=2, label=name)
    ax.axhline(found.baseline_error, color=QUIET, linewidth=1, label="no column")
    ax.axvline(found.n_chosen, color=QUIET, linewidth=1, linestyle=":", label=f"chosen: {found.n_chosen}")
    ax.set_xscale("log")
    ax.set_xticks(columns, list(map(str, columns)))
    ax.minorticks_off()
    ax.set_xlabel(f"columns, in the order of {found.method}")
    ax.set_ylabel("error on held-out rows")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
