"""Shares against a number of things: the plane in which curves are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from markupsafe import Markup

from offsample.report._formats import count, is_missing
from offsample.report.charts._svg import Attribute, Axis, Shares, at, join, tag, tick_label

LEFT, RIGHT = 9.0, 97.0
TOP, BOTTOM = 26.0, 260.0
HEIGHT = BOTTOM + 46


class Plane:
    """Rising numbers along x, in percent of the width, by their ratios if logarithmic; shares along y."""

    def __init__(
        self,
        numbers: Sequence[float],
        shares: Shares,
        *,
        beside: Shares = (),
        logarithmic: bool,
        label: Callable[[float], str] = count,
        within: tuple[float, float] = (0.0, 1.0),
        upright_label: Callable[[float], str] = tick_label,
    ) -> None:
        upright, self.label = Axis(shares, BOTTOM, TOP, beside, within=within), label
        self.upright_label = upright_label
        self.ticks, self.y, self.holds = upright.ticks, upright.place, upright.holds
        self.numbers = numbers
        self._scale = math.log1p if logarithmic else float
        first, last = (self._scale(numbers[0]), self._scale(numbers[-1])) if numbers else (0.0, 0.0)
        self._first, self._range = first, last - first

    def share_of_width(self, number: float) -> float:
        """Return where a number is, from 0 to 1; at the edge if it is beyond."""
        inside = (self._scale(number) - self._first) / self._range if self._range else 0.5
        return min(max(inside, 0.0), 1.0)

    def percent(self, number: float) -> float:
        """Return where a number is, in percent of the width."""
        return LEFT + 3 + (RIGHT - LEFT - 5) * self.share_of_width(number)

    def x(self, number: float) -> str:
        """Return the same as text."""
        return f"{self.percent(number):.2f}%"

    def grid(self, what: str, baseline: float | None = None) -> Markup:
        """Draw lines, ticks, the name of what is counted, and what the scale leaves out."""
        parts = []
        for tick in self.ticks:
            y, label = self.y(tick), self.upright_label(tick)
            parts.append(self._across(y, "grid"))
            parts.append(tag("text", label, x=f"{LEFT - 1}%", y=y + 4, class_="tick", text_anchor="end"))
        parts += [
            tag(
                "text",
                self.label(number),
                x=self.x(number),
                y=BOTTOM + 18,
                class_="tick",
                text_anchor="middle",
            )
            for number in self._apart(self.numbers)
        ]
        notes = [] if self.ticks[0] == 0 else [f"starts at {self.upright_label(self.ticks[0])}"]
        if baseline is not None and not self.holds(baseline):
            is_share, side = (
                self.upright_label is tick_label,
                "below" if baseline < self.ticks[0] else "above",
            )
            notes.append(f"{'always guessing' if is_share else 'without any column'} is {side} the scale")
        label = f"{what} ({', '.join(notes)})" if notes else what
        middle = f"{(LEFT + RIGHT) / 2}%"
        parts.append(tag("text", label, x=middle, y=BOTTOM + 38, class_="label", text_anchor="middle"))
        return join(parts)

    def baseline(self, share: float) -> Markup:
        """Draw the error of a guess, if it is on the plane; the legend names it, where no other label is."""
        return self._across(self.y(share), "baseline") if self.holds(share) else Markup("")

    def _across(self, y: float, class_: str) -> Markup:
        return tag("line", x1=f"{LEFT}%", x2=f"{RIGHT}%", y1=y, y2=y, class_=class_)

    def highlight(self, number: float, text: str) -> Markup:
        """Draw a number that stands out."""
        place, percent = self.x(number), self.percent(number)
        side = "start" if percent < 25 else "end" if percent > 75 else "middle"
        line = tag("line", x1=place, x2=place, y1=TOP - 6, y2=BOTTOM, class_="chosen")
        return line + tag("text", text, x=place, y=TOP - 11, class_="label-strong", text_anchor=side)

    def curve(self, points: Iterable[tuple[float, float | None]], class_: str) -> Markup:
        """Draw lines from one point to the next, over those that are missing, as far as the plane goes."""
        known = [
            (self.percent(number), share)
            for number, share in points
            if share is not None and not is_missing(share)
        ]
        lines = []
        for start, end in pairwise(known):
            if self.holds(start[1]) or self.holds(end[1]):
                (a, b), (c, d) = self._cut(end, start), self._cut(start, end)
                x1, x2 = f"{a:.2f}%", f"{c:.2f}%"
                lines.append(tag("line", x1=x1, y1=self.y(b), x2=x2, y2=self.y(d), class_=class_))
        return join(lines)

    def _cut(self, inner: tuple[float, float], outer: tuple[float, float]) -> tuple[float, float]:
        """Return the end of a line, or where the line leaves the plane."""
        if self.holds(outer[1]):
            return outer
        edge = self.ticks[0] if outer[1] < self.ticks[0] else self.ticks[-1]
        way = (edge - inner[1]) / (outer[1] - inner[1])
        return inner[0] + way * (outer[0] - inner[0]), edge

    def band(self, ends: Sequence[tuple[float, float, float]], class_: str) -> Markup:
        """Draw the area between low and high: a picture of its own, since areas know no percentages."""
        if any(is_missing(low) or is_missing(high) for _, low, high in ends):
            return Markup("")
        upper = [f"{100 * self.share_of_width(n):.2f} {self.y(high):.2f}" for n, _, high in ends]
        lower = [f"{100 * self.share_of_width(n):.2f} {self.y(low):.2f}" for n, low, _ in reversed(ends)]
        area = tag("path", d=f"M{'L'.join([*upper, *lower])}Z", class_=class_)
        x, width, box = f"{LEFT + 3}%", f"{RIGHT - LEFT - 5}%", f"0 0 100 {BOTTOM:g}"
        size: dict[str, Attribute] = {"x": x, "y": 0, "width": width, "height": BOTTOM, "viewBox": box}
        return tag("svg", area, **size, preserveAspectRatio="none")

    def reach(self, number: float) -> Markup:
        """Draw where the pointer meets a number."""
        place = self.x(number)
        return tag("line", x1=place, x2=place, y1=TOP, y2=BOTTOM, class_="reach")

    def error_bar(self, number: float, low: float, high: float, class_: str) -> Markup:
        """Draw an interval, upright, if it is known."""
        if is_missing(low) or is_missing(high):
            return Markup("")
        line = tag("line", x1=0, x2=0, y1=0, y2=self.y(low) - self.y(high), class_=class_)
        return at(self.x(number), self.y(high), line)

    def _apart(self, numbers: Sequence[float]) -> list[float]:
        """Return numbers far enough apart for their labels, also on a narrow page."""
        shown: list[float] = []
        for number in numbers:
            room = max(5.5, 2.4 * len(self.label(number)))
            if not shown or self.percent(number) - self.percent(shown[-1]) >= room:
                shown.append(number)
        return shown
