"""A score as it was reported, and what to expect."""

from __future__ import annotations

from markupsafe import Markup

from offsample.report._formats import interval, percent
from offsample.report.charts._svg import Axis, chart, diamond, disc, point, tag
from offsample.report.sections.trust import Trust

_TOP, _ROW, _BOTTOM = 24, 56, 88


def trust_chart(trust: Trust) -> Markup:
    """The interval, the corrected score in it, the score as reported, and the baseline."""
    found = trust.found
    axis = Axis((found.naive, found.corrected, found.low, found.high, found.baseline), 2, 96)
    confidence = f"{100 * found.confidence:g} %"
    tip = f"Between {interval(found.low, found.high)} on new rows, with {confidence} confidence"
    reported = f"Reported: {percent(found.naive)}"
    corrected = f"Corrected for picking the best: {percent(found.corrected)}"
    ends = axis.width(found.low, found.high)
    parts = [
        axis.grid(_TOP, _BOTTOM),
        point(
            tip,
            tag("rect", x=axis(found.low), y=_ROW - 7, width=ends, height=14, rx=7, class_="interval"),
            first=True,
        ),
    ]
    if found.baseline is not None:
        line, side = axis(found.baseline), axis.anchor(found.baseline)
        parts.append(
            point(
                f"Always guessing the most frequent class: right in {percent(found.baseline)}",
                tag("line", x1=line, x2=line, y1=_TOP, y2=_BOTTOM, class_="baseline"),
                tag("text", "always guessing", x=line, y=16, class_="label-strong", text_anchor=side),
                first=False,
            )
        )
    parts.append(point(corrected, disc(axis(found.corrected), _ROW, "mark-estimate", 7), first=False))
    parts.append(point(reported, diamond(axis(found.naive), _ROW, size=7), first=False))
    return chart(
        "chart-trust",
        "The score as reported, and what to expect on new rows",
        f"{reported}. {corrected}. {tip}.",
        *parts,
        width="100%",
        height=_BOTTOM + 24,
    )
