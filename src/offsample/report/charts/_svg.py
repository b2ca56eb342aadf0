"""SVG as escaped strings, and what all charts share.

Charts are as wide as the page: positions along x are percentages, heights and text are pixels, so that
text is as large on a telephone as on a desk. Colours and strokes are classes of the style sheet, for both
themes.
"""

from __future__ import annotations

import math

from markupsafe import Markup, escape

from offsample.report._formats import printable

Attribute = str | float | None


def tag(name: str, *children: str, **attributes: Attribute) -> Markup:
    """An element: children that are not markup are escaped, and so is every attribute; `None` leaves one out.

    >>> tag("text", "a < b", class_="axis", text_anchor="end")
    Markup('<text class="axis" text-anchor="end">a &lt; b</text>')
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(escape(child if isinstance(child, Markup) else printable(child)) for child in children)
    return Markup(f"<{name}{written}>{inner}</{name}>" if inner else f"<{name}{written}/>")


def join(parts: list[Markup]) -> Markup:
    """Elements one after the other."""
    return Markup("").join(parts)


def chart(
    name: str,
    title: str,
    description: str,
    *children: str,
    width: str | float,
    height: float,
    view_box: str | None = None,
) -> Markup:
    """A whole chart, with its name for those who do not see it."""
    return tag(
        "svg",
        tag("title", title, id=f"{name}-title"),
        tag("desc", description, id=f"{name}-desc"),
        *children,
        class_=f"chart {name}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        width=width,
        height=height,
        viewBox=view_box,
    )


def point(tip: str, *children: str, first: bool, **attributes: Attribute) -> Markup:
    """Something with a tooltip that the keyboard reaches: the first by tab, the others by arrows."""
    return tag(
        "g", tag("title", tip), *children, class_="point", tabindex="0" if first else "-1", **attributes
    )


def at(x: str, y: float, *children: str) -> Markup:
    """Children around a place of which x is a percentage."""
    return tag("svg", *children, x=x, y=y, overflow="visible", width=1, height=1)


def disc(x: str, y: float, class_: str, radius: float = 5) -> Markup:
    """Mark of an estimate."""
    return tag("circle", cx=x, cy=y, r=radius, class_=class_)


def diamond(x: str, y: float, class_: str = "mark-training", size: float = 5) -> Markup:
    """Mark of an error on the training sample."""
    return at(x, y, tag("path", d=f"M0 {-size}L{size} 0L0 {size}L{-size} 0Z", class_=class_))


def square(x: str, y: float, class_: str = "mark-validated", size: float = 3.5) -> Markup:
    """Mark of a cross-validated error."""
    return at(x, y, tag("rect", x=-size, y=-size, width=2 * size, height=2 * size, class_=class_))


def cross(x: str, y: float, class_: str = "mark-quarantined", size: float = 4.5) -> Markup:
    """Mark of an estimate that must not be used."""
    return at(
        x, y, tag("path", d=f"M{-size} {-size}L{size} {size}M{-size} {size}L{size} {-size}", class_=class_)
    )


class Axis:
    """Shares on a stretch of the page.

    Parameters
    ----------
    largest : float
        Share to be shown at least.
    start, end : float
        Percentages of the width.
    smallest : float
        Share to begin with at the latest.
    """

    def __init__(self, largest: float, start: float, end: float, smallest: float = 0.0) -> None:
        self.ticks = nice_ticks(largest, smallest)
        self.start, self.end = start, end

    def __call__(self, share: float) -> str:
        """Where a share is, in percent of the width."""
        inside = min(max((share - self.ticks[0]) / (self.ticks[-1] - self.ticks[0]), 0.0), 1.0)
        return f"{self.start + (self.end - self.start) * inside:.2f}%"

    def width(self, low: float, high: float) -> str:
        """How wide an interval is."""
        return f"{max(float(self(high)[:-1]) - float(self(low)[:-1]), 0):.2f}%"

    def grid(self, top: float, bottom: float) -> Markup:
        """Vertical lines and their labels below."""
        lines = []
        for i, tick in enumerate(self.ticks):
            # every other label gives way on a narrow page
            narrow = " if-wide" if i % 2 and len(self.ticks) > 4 else ""
            lines.append(tag("line", x1=self(tick), x2=self(tick), y1=top, y2=bottom, class_="grid"))
            lines.append(
                tag(
                    "text",
                    tick_label(tick),
                    x=self(tick),
                    y=bottom + 16,
                    class_="tick" + narrow,
                    text_anchor="middle",
                )
            )
        return join(lines)


def nice_ticks(largest: float, smallest: float = 0.0, most: int = 6) -> list[float]:
    """Round shares from just below the smallest to just above the largest.

    >>> nice_ticks(0.42)
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    >>> nice_ticks(0.26, 0.21)
    [0.21, 0.22, 0.23, 0.24, 0.25, 0.26]
    """
    if not math.isfinite(largest) or largest <= smallest:
        return [0.0, 0.5, 1.0] if not 0 < largest <= 1 else nice_ticks(largest)
    largest = min(largest, 1.0)
    step = 10.0 ** math.floor(math.log10((largest - smallest) / most))
    for factor in (1, 2, 2.5, 5, 10, 20):
        first = math.floor(round(smallest / (step * factor), 9))
        last = math.ceil(round(largest / (step * factor), 9))
        if last - first <= most:
            break
    return [round(i * step * factor, 12) for i in range(first, last + 1)]


def tick_label(share: float) -> str:
    """A round share as a percentage."""
    return f"{100 * share:.6g} %"


def _plain(value: str | float) -> str:
    return printable(value) if isinstance(value, str) else f"{value:.6g}"
