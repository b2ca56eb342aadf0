"""What the reports share: where they go, verdicts, and how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results"
RULE_COLORS = {"gini": "#c4622d", "bayes": "#1f5f8b"}
REPRODUCED, CORRECTED, NOT_REPRODUCED = "reproduced", "with a correction", "NOT reproduced"


def verdict(holds: bool) -> str:
    """Whether a claim of the paper was found true."""
    return REPRODUCED if holds else NOT_REPRODUCED


def pyplot() -> Any:
    """matplotlib, set up to write files."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    # The same file from the same numbers.
    plt.rcParams.update({"svg.hashsalt": "offsample", "font.size": 9, "axes.spines.top": False})
    plt.rcParams.update({"axes.spines.right": False, "savefig.dpi": 110})
    return plt


def save(figure: Any, name: str, folder: Path) -> None:
    """Write a figure as PNG and SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png")
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    pyplot().close(figure)


def legend(figure: Any, handles: Sequence[Any]) -> None:
    """One legend above all axes."""
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
