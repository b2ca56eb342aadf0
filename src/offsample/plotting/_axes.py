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


def short(name: Any, length: int = 32) -> str:
    text = str(name).replace("$", r"\$")  # which would start a formula
    return text if len(text) <= length else text[: length - 1] + "…"
