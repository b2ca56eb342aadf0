"""SVG as escaped strings, and what all charts share.

Positions along x are percentages of the page, heights and text are pixels: text is as large on a telephone as
on a desk. Colours and strokes are classes of the style sheet, for both themes.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

from markupsafe import Markup, escape

from offsample.report._formats import is_missing, printable

Attribute = str | float | None
Shares = Iterable[float | None]
_FINEST = 1e-4  # width of the shortest axis


def tag(name: str, *children: str, **attributes: Attribute) -> Markup:
    """Write an element; attributes, and children that are not markup, are escaped; None is left out.

    >>> tag("text", "a < b", class_="axis", text_anchor="end")
    Markup('<text class="axis" text-anchor="end">a &lt; b</text>')
    """
    written = ""
    for key, value in attributes.items():
        if value is not None:
            text = printable(value) if isinstance(value, str) else f"{value:.6g}"
            written += f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"'
    inner = "".join(escape(child if isinstance(child, Markup) else printable(child)) for child in children)
    return Markup(f"<{name}{written}>{inner}</{name}>")


def join(parts: list[Markup]) -> Markup:
    """Put elements one after the other."""
    return Markup("").join(parts)


def chart(name: str, title: str, description: str, *children: str, height: float) -> Markup:
    """Return a whole chart, as wide as the page, with a name for those who do not see it."""
    return tag(
        "svg",
        tag("title", title, id=f"{name}-title"),
        tag("desc", description, id=f"{name}-desc"),
        *children,
        class_=f"chart {name}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        width="100%",
        height=height,
    )


def point(tip: str, *children: str, first: bool) -> Markup:
    """Group what has a tooltip; the keyboard reaches the first by tab, the others by arrows."""
    return tag("g", tag("title", tip), *children, class_="point", role="img", tabindex="0" if first else "-1")


def at(x: str, y: float, *children: str) -> Markup:
    """Draw children around a place of which x is a percentage."""
    return tag("svg", *children, x=x, y=y, overflow="visible", width=1, height=1)


def disc(x: str, y: float, class_: str, radius: float = 5) -> Markup:
    """Mark an estimate."""
    return tag("circle", cx=x, cy=y, r=radius, class_=class_)


def diamond(x: str, y: float, class_: str = "mark-training", size: float = 5) -> Markup:
    """Mark an error on the training sample."""
    return at(x, y, tag("path", d=f"M0 {-size}L{size} 0L0 {size}L{-size} 0Z", class_=class_))


def square(x: str, y: float, class_: str = "mark-validated", size: float = 3.5) -> Markup:
    """Mark a cross-validated error."""
    return at(x, y, tag("rect", x=-size, y=-size, width=2 * size, height=2 * size, class_=class_))


def cross(x: str, y: float, class_: str = "mark-quarantined", size: float = 4.5) -> Markup:
    """Mark an estimate that must not be used."""
    lines = f"M{-size} {-size}L{size} {size}M{-size} {size}L{size} {-size}"
    return at(x, y, tag("path", d=lines, class_=class_))


class Axis:
    """Shares from `start` to `end`, in percent of the width; see `shown_range` for those beside.

    Or other numbers `within` a range, with a `label` of their own.
    """

    def __init__(
        self,
        shares: Shares,
        start: float,
        end: float,
        beside: Shares = (),
        *,
        label: Callable[[float], str] | None = None,
        within: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self.ticks = nice_ticks(*shown_range(shares, beside, within))
        self.start, self.end, self.label = start, end, label or tick_label

    def place(self, share: float) -> float:
        """Return where a share is; at the end of the axis if it is beyond."""
        inside = (share - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return self.start + (self.end - self.start) * min(max(inside, 0.0), 1.0)

    def __call__(self, share: float) -> str:
        """Return the same as text."""
        return f"{self.place(share):.2f}%"

    def holds(self, share: float | None) -> bool:
        """Say whether a share is there and is on the axis."""
        return share is not None and self.ticks[0] <= share <= self.ticks[-1]

    def stretch(self, low: float, high: float, y: float, height: float, class_: str) -> Markup:
        """Draw an interval with round ends."""
        width = f"{max(self.place(high) - self.place(low), 0):.2f}%"
        top, half = y - height / 2, height / 2
        return tag("rect", x=self(low), y=top, width=width, height=height, rx=half, class_=class_)

    def mark(self, share: float, y: float, drawn: Markup, class_: str) -> Markup:
        """Return the mark of a share, or an arrow of its class that points to one beyond the axis."""
        if self.holds(share):
            return drawn
        way = -1 if share < self.ticks[0] else 1
        arrow = tag("path", d=f"M{-way * 5} -5L0 0L{-way * 5} 5", class_=f"{class_} mark-beyond")
        return at(f"{self.place(share) + way:.2f}%", y, arrow)

    def anchor(self, share: float) -> str:
        """Say on which side of a share there is room for its name."""
        inside = (self.place(share) - self.start) / (self.end - self.start)
        return "start" if inside < 0.3 else "end" if inside > 0.7 else "middle"

    def grid(self, top: float, bottom: float) -> Markup:
        """Draw vertical lines and their labels below."""
        lines = []
        for i, tick in enumerate(self.ticks):
            # every other label gives way on a narrow page
            narrow = " if-wide" if i % 2 and len(self.ticks) > 4 else ""
            x, label = self(tick), self.label(tick)
            lines.append(tag("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid"))
            lines.append(tag("text", label, x=x, y=bottom + 16, class_=f"tick{narrow}", text_anchor="middle"))
        return join(lines)


def shown_range(
    shares: Shares, beside: Shares = (), within: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """Return the ends of an axis, within 0 and 1 or another range; missing shares are passed over.

    It begins at 0 unless the shares would then fill less than half of it. Those beside are left beyond its
    ends where they would squeeze the others into less than a third.

    >>> shown_range([0.2, 0.5]), shown_range([0.4, 0.5]), shown_range([0.4, 0.5], beside=[0.0])
    ((0.0, 0.5), (0.4, 0.5), (0.4, 0.5))
    """
    known = _known(shares, within)
    low, high = _at_least(min(known), max(known), within) if known else within
    filled = high - low
    also = _known(beside, within)
    wide_low, wide_high = min([low, *also]), max([high, *also])
    if filled >= (wide_high - wide_low) / 3:
        low, high = wide_low, wide_high
    return (min(0.0, low) if filled >= high / 2 else low), high


def _known(shares: Shares, within: tuple[float, float]) -> list[float]:
    least, most = within
    return [min(max(share, least), most) for share in shares if share is not None and not is_missing(share)]


def _at_least(low: float, high: float, within: tuple[float, float]) -> tuple[float, float]:
    """Widen a range to a tenth of its upper end: closer up, noise would look like a difference."""
    least, most = within
    width = max(0.1 * high, _FINEST * min(most, 1.0))
    if high - low >= width:
        return low, high
    low = min(max((low + high - width) / 2, least), most - width)
    return low, min(low + width, most)


def nice_ticks(smallest: float, largest: float, most: int = 6) -> list[float]:
    """Return round shares from just below the smallest to just above the largest, at least two.

    >>> nice_ticks(0.0, 0.42)
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    >>> nice_ticks(0.21, 0.26)
    [0.21, 0.22, 0.23, 0.24, 0.25, 0.26]
    """
    power = math.floor(math.log10(((largest - smallest) or _FINEST) / most))
    for factor in (1, 2, 2.5, 5, 10, 20):
        step = factor * 10.0**power
        # what differs by rounding alone is the same tick
        first, last = math.floor(round(smallest / step, 6)), math.ceil(round(largest / step, 6))
        if last - first <= most:
            break
    return [float(f"{i * step:.12g}") for i in range(first, max(last, first + 1) + 1)]


def tick_label(share: float) -> str:
    """Write a round share as a percentage."""
    return f"{100 * share:.6g} %"


def number_label(number: float) -> str:
    """Write a round number."""
    return f"{number:,.6g}"


def em_width(text: str) -> float:
    """Estimate how wide a text is, in em, in the widest of the fonts that the page asks for."""
    return sum(_character_width(character) for character in text)


@cache
def _character_width(character: str) -> float:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):  # over another character, or unseen
        return 0.1
    if character in " !'(),-./:;I[\\]`fijlrt{|}":
        return 0.42
    if character in "#%&+<=>@MW^mw~…":
        return 1.0
    if character >= "ɐ":  # beyond Latin letters
        return 1.3 if character >= "\U0001f000" else 1.1
    return 0.8 if character.isupper() else 0.65
