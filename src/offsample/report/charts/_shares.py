"""Shares as bars."""

from __future__ import annotations

from markupsafe import Markup

from offsample.report.charts._svg import tag


def share_bar(share: float, largest: float) -> Markup:
    """A bar whose number stands beside it, as text: nothing to read aloud."""
    width = 100 * min(max(share / largest, 0.0), 1.0) if largest > 0 else 0.0
    return tag(
        "svg",
        tag("rect", width="100%", height=10, rx=5, class_="bar-rail"),
        tag("rect", width=f"{width:.2f}%", height=10, rx=5, class_="bar-share"),
        class_="chart chart-share",
        width="100%",
        height=10,
        aria_hidden="true",
    )
