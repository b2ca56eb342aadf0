"""Small pictures within the text: marks beside their meaning, and shares as bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from markupsafe import Markup

from offsample.report._formats import is_missing
from offsample.report.charts._svg import at, cross, diamond, disc, square, tag

_X, _Y = "13", 8.0


def _line(class_: str) -> Markup:
    return tag("line", x1=1, x2=25, y1=_Y, y2=_Y, class_=class_)


_MARKS: dict[str, Callable[[], Markup]] = {
    "estimate": lambda: _line("bar bar-usual") + disc(_X, _Y, "mark-estimate"),
    "no-evidence": lambda: _line("bar bar-no-evidence") + disc(_X, _Y, "mark-no-evidence", 4.5),
    "quarantined": lambda: _line("bar bar-quarantined") + cross(_X, _Y),
    "training": lambda: diamond(_X, _Y),
    "beyond": lambda: at(_X, _Y, tag("path", d="M4 -5L-1 0L4 5", class_="mark-beyond")),
    "baseline": lambda: tag("line", x1=13, x2=13, y1=0, y2=16, class_="baseline"),
    "baseline-across": lambda: _line("baseline"),
    "curve-estimate": lambda: _line("curve-estimate") + disc(_X, _Y, "mark-estimate", 4),
    "curve-band": lambda: (
        tag("rect", x=1, y=2, width=24, height=12, class_="band")
        + _line("curve-estimate")
        + disc(_X, _Y, "mark-estimate", 4)
    ),
    "point": lambda: (
        tag("line", x1=13, x2=13, y1=0, y2=16, class_="error-estimate") + disc(_X, _Y, "mark-estimate", 4)
    ),
    "curve-validated": lambda: _line("curve-validated") + square(_X, _Y),
    "curve-extrapolated": lambda: (
        tag("rect", x=1, y=2, width=24, height=12, class_="band")
        + _line("curve-extrapolated")
        + disc(_X, _Y, "mark-extrapolated", 4)
    ),
    "box": lambda: (
        _line("bar bar-usual")
        + tag("rect", x=7, y=4, width=12, height=8, rx=2, class_="interval")
        + tag("line", x1=11, x2=11, y1=3, y2=13, class_="curve-estimate")
        + disc("14", _Y, "mark-estimate", 3)
    ),
    "interval": lambda: tag("rect", x=1, y=3, width=24, height=10, rx=5, class_="interval"),
    "corrected": lambda: disc(_X, _Y, "mark-estimate", 6),
    "reported": lambda: diamond(_X, _Y, size=6),
    "curve-training": lambda: _line("curve-training") + diamond(_X, _Y, size=4.5),
}


def legend_mark(name: str) -> Markup:
    """Draw the mark of a series as it stands in the chart, or the colour of a class: ``class-3``."""
    if name.startswith("class-"):
        drawn = tag("rect", x=6, y=2, width=14, height=12, rx=2, class_=name)
    else:
        drawn = _MARKS[name]()
    return tag("svg", drawn, class_="chart key", width=26, height=16, aria_hidden="true")


def share_bar(share: float, largest: float) -> Markup:
    """Draw a bar whose number stands beside it as text, so that there is nothing to read aloud."""
    width = 100 * min(max(share / largest, 0.0), 1.0) if largest > 0 else 0.0
    rail = tag("rect", width="100%", height=10, rx=5, class_="bar-rail")
    return bar(rail, tag("rect", width=f"{width:.2f}%", height=10, rx=5, class_="bar-share"))


def picture_bars(picture: Any, ends: tuple[float, float]) -> list[tuple[Any, Markup, Markup]]:
    """Draw how many rows each cell of a picture has, and its rate with the interval, on a common scale."""
    most, (least, span) = max(cell.n_rows for cell in picture.cells), (ends[0], (ends[1] - ends[0]) or 1.0)
    drawn = []
    for cell in picture.cells:
        rows, rate = tag("rect", width=f"{100 * cell.n_rows / most:.1f}%", height=10), Markup()
        if cell.rate is not None:
            low, middle, high = (
                100
                * (cell.rate - least if is_missing(end) else min(max(end, ends[0]), ends[1]) - least)
                / span
                for end in (cell.low, cell.rate, cell.high)
            )
            rate = tag("rect", x=f"{low:.1f}%", width=f"{high - low:.1f}%", height=10)
            rate += tag("circle", cx=f"{middle:.1f}%", cy=5, r=3)
        drawn.append(
            (cell, *(tag("svg", one, class_="cell-bar", aria_hidden="true") for one in (rows, rate)))
        )
    return drawn


def picture_ends(pictures: Iterable[Any]) -> tuple[float, float]:
    """Return the ends of the scale of all rates: from 0 for shares, and where means are."""
    rates = [cell.rate for picture in pictures for cell in picture.cells if cell.rate is not None]
    return (min(0.0, *rates), max(rates)) if len(rates) > 1 else (0.0, 1.0)


def bar(*parts: Markup) -> Markup:
    """Put parts of a bar together, as high as a line of text."""
    return tag("svg", *parts, class_="chart chart-share", width="100%", height=10, aria_hidden="true")
