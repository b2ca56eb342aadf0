"""Shares against a number of things: the plane in which curves are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from markupsafe import Markup

from offsample.report._formats import count, is_missing
from offsample.report.charts._svg import join, nice_ticks, tag, tick_label

LEFT, RIGHT = 9.0, 97.0
TOP, BOTTOM = 26.0, 260.0
HEIGHT = BOTTOM + 46


class Plane:
    """Numbers along x, as percentages of the width; shares along y, in pixels.

    Parameters
    ----------
    numbers : sequence of float
        Rising.
    shares : iterable of float
        That have to be shown; missing ones are passed over.
    logarithmic : bool
        Whether equal ratios are equally far apart, so that small numbers get the room.
    """

    def __init__(
        self, numbers: Sequence[float], shares: Iterable[float | None], *, logarithmic: bool
    ) -> None:
        known = [share for share in shares if share is not None and not is_missing(share)]
        smallest, biggest = min(known, default=0.0), max(known, default=1.0)
        # curves, unlike bars, may be looked at closely
        self.ticks = nice_ticks(biggest, smallest if smallest > biggest / 2 else 0.0)
        self.numbers = numbers
        self._scale = math.log1p if logarithmic else float
        first, last = (self._scale(numbers[0]), self._scale(numbers[-1])) if numbers else (0.0, 0.0)
        self._first, self._range = first, last - first

    def share_of_width(self, number: float) -> float:
        """Where a number is, from 0 to 1."""
        return (self._scale(number) - self._first) / self._range if self._range else 0.5

    def percent(self, number: float) -> float:
        """Where a number is, in percent of the width."""
        return LEFT + 3 + (RIGHT - LEFT - 5) * self.share_of_width(number)

    def x(self, number: float) -> str:
        """The same as text."""
        return f"{self.percent(number):.2f}%"

    def y(self, share: float) -> float:
        """Where a share is, in pixels."""
        inside = (share - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return BOTTOM - (BOTTOM - TOP) * min(max(inside, 0.0), 1.0)

    def grid(self, what: str, labelled: Sequence[float] | None = None) -> Markup:
        """Lines, ticks and the name of what is counted."""
        parts = []
        for tick in self.ticks:
            at = self.y(tick)
            parts.append(tag("line", x1=f"{LEFT}%", x2=f"{RIGHT}%", y1=at, y2=at, class_="grid"))
            parts.append(
                tag("text", tick_label(tick), x=f"{LEFT - 1}%", y=at + 4, class_="tick", text_anchor="end")
            )
        parts += [
            tag("text", count(number), x=self.x(number), y=BOTTOM + 18, class_="tick", text_anchor="middle")
            for number in self._apart(self.numbers if labelled is None else labelled)
        ]
        where = "" if self.ticks[0] == 0 else f" (errors from {tick_label(self.ticks[0])} up)"
        middle = f"{(LEFT + RIGHT) / 2}%"
        parts.append(tag("text", what + where, x=middle, y=BOTTOM + 38, class_="label", text_anchor="middle"))
        return join(parts)

    def baseline(self, share: float) -> Markup:
        """The error that comes for free."""
        at = self.y(share)
        return join(
            [
                tag("line", x1=f"{LEFT}%", x2=f"{RIGHT}%", y1=at, y2=at, class_="baseline"),
                tag("text", "baseline", x=f"{RIGHT}%", y=at - 6, class_="label-strong", text_anchor="end"),
            ]
        )

    def highlight(self, number: float, text: str) -> Markup:
        """A number that stands out."""
        place, percent = self.x(number), self.percent(number)
        side = "start" if percent < 25 else "end" if percent > 75 else "middle"
        return join(
            [
                tag("line", x1=place, x2=place, y1=TOP - 6, y2=BOTTOM, class_="chosen"),
                tag("text", text, x=place, y=TOP - 11, class_="label-strong", text_anchor=side),
            ]
        )

    def curve(self, points: Iterable[tuple[float, float | None]], class_: str) -> Markup:
        """Lines from one point to the next, over those that are missing."""
        known = [(number, share) for number, share in points if share is not None and not is_missing(share)]
        return join(
            [
                tag("line", x1=self.x(a), y1=self.y(b), x2=self.x(c), y2=self.y(d), class_=class_)
                for (a, b), (c, d) in pairwise(known)
            ]
        )

    def band(self, ends: Sequence[tuple[float, float, float]], class_: str) -> Markup:
        """The area between low and high: a picture of its own, since areas know no percentages."""
        upper = [f"{100 * self.share_of_width(n):.2f} {self.y(high):.2f}" for n, _, high in ends]
        lower = [f"{100 * self.share_of_width(n):.2f} {self.y(low):.2f}" for n, low, _ in reversed(ends)]
        return tag(
            "svg",
            tag("path", d=f"M{'L'.join([*upper, *lower])}Z", class_=class_),
            x=f"{LEFT + 3}%",
            y=0,
            width=f"{RIGHT - LEFT - 5}%",
            height=BOTTOM,
            viewBox=f"0 0 100 {BOTTOM:g}",
            preserveAspectRatio="none",
        )

    def reach(self, number: float) -> Markup:
        """Where the pointer meets a number."""
        place = self.x(number)
        return tag("line", x1=place, x2=place, y1=TOP, y2=BOTTOM, class_="reach")

    def error_bar(self, number: float, low: float, high: float, class_: str, shift: float = 0) -> Markup:
        """An interval, upright; shifted by some pixels, so that two stand beside each other."""
        line = tag("line", x1=shift, x2=shift, y1=0, y2=self.y(low) - self.y(high), class_=class_)
        return tag("svg", line, x=self.x(number), y=self.y(high), overflow="visible", width=1, height=1)

    def _apart(self, numbers: Sequence[float]) -> list[float]:
        """Numbers far enough apart for their labels."""
        shown: list[float] = []
        for number in numbers:
            room = max(5.5, 1.9 * len(count(number)))
            if not shown or self.percent(number) - self.percent(shown[-1]) >= room:
                shown.append(number)
        return shown
