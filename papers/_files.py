"""Files of results, of the papers' experiments and of the benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write(path: Path, text: str) -> None:
    """Write a file beside, then rename it: an interruption leaves no half of one."""
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def draw(figure: Any, stem: Path) -> None:
    """Save a figure as PNG and SVG, the same files from the same numbers."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "offsample"}):
        figure.savefig(f"{stem}.png", dpi=110)
        figure.savefig(f"{stem}.svg", metadata={"Date": None})
