"""Axes, colours and labels that all figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Blue and orange are told apart by nearly everyone, also in grey.
ESTIMATE, TRAINING, QUIET = "#1f5fa8", "#d9730d", "#8a8a8a"
# Given to every text that strangers wrote: a dollar sign in it does not begin a formula.
AS_TEXT: dict[str, Any] = {"parse_math": False}


def new_axes(height: float, width: float = 8) -> Axes:
    """Return the axes of a new figure; sizes are in inches."""
    return new_panels(1, height, width)[0]


def new_panels(n_panels: int, height: float, width: float) -> list[Axes]:
    """Return axes side by side in a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'offsample[plot]'") from error
    grid = plt.subplots(1, n_panels, figsize=(width, height), layout="constrained", squeeze=False)[1]
    return list(grid[0])


def finish(
    ax: Axes, x: str, y: str = "", *, title: str = "", legend: str = "", from_zero: bool = False
) -> Axes:
    """Name the axes, show the legend, and remove the frame above and on the right."""
    ax.set_xlabel(x, **AS_TEXT)
    ax.set_ylabel(y)
    ax.set_title(title)
    if from_zero:
        ax.set_ylim(bottom=0)
    if legend == "below":
        ax.figure.legend(loc="outside lower center", ncols=3, frameon=False)
    elif legend == "inside":
        ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def name_rows(ax: Axes, names: list[str], *, ticks: bool = True) -> None:
    """Write a name beside each row, the first on top; without a line and ticks between them if asked to."""
    ax.set_yticks(range(len(names)), names, **AS_TEXT)
    ax.invert_yaxis()
    if not ticks:
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)


def plain(text: Any) -> str:
    """Replace characters that cannot be seen: fonts and files know no control characters."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in str(text)
    )


def short(name: Any, length: int = 32) -> str:
    """Do the same and cut the text to at most `length` characters."""
    text = plain(name)
    return text if len(text) <= length else text[: length - 1] + "…"
