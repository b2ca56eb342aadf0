"""Axes and colours that all figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Blue and orange are told apart by nearly everyone, also in grey.
ESTIMATE, TRAINING, QUIET = "#1f5fa8", "#d9730d", "#8a8a8a"


def new_axes(height: float, width: float = 8) -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'offsample[plot]'") from error
    axes: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return axes


# Given to every text that strangers wrote: a dollar sign in it does not begin a formula.
AS_TEXT: dict[str, Any] = {"parse_math": False}


def plain(text: Any) -> str:
    """Text in which every character can be seen: fonts and files know no control characters."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in str(text)
    )


def short(name: Any, length: int = 32) -> str:
    """The same in at most `length` characters."""
    text = plain(name)
    return text if len(text) <= length else text[: length - 1] + "…"
