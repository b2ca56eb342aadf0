"""What to expect, beside what comes for free."""

from __future__ import annotations

from markupsafe import Markup

from offsample.report._formats import interval, is_missing, percent
from offsample.report.charts._svg import Axis, at, chart, cross, disc, point, tag
from offsample.report.sections.verdict import Verdict


def verdict_chart(verdict: Verdict) -> Markup:
    """The interval of the recommended model, the baseline and, if any, the model with quarantined columns."""
    other = verdict.with_quarantined
    known = [verdict.high, verdict.error, verdict.baseline_error]
    known += [] if other is None else [other.high, other.error]
    axis = Axis(1.08 * max(share for share in known if not is_missing(share)), 2, 96)
    bottom = 78 if other is None else 118
    tip = (
        f"Recommended model: {percent(verdict.error)} expected error on new rows, "
        f"95 % interval {interval(verdict.low, verdict.high)}"
    )
    base = f"Baseline: {percent(verdict.baseline_error)} error when always predicting the most frequent class"
    line = axis(verdict.baseline_error)
    middle = verdict.baseline_error / axis.ticks[-1]
    anchor = "start" if middle < 0.15 else "end" if middle > 0.85 else "middle"
    parts = [
        axis.grid(24, bottom),
        point(
            base,
            tag("line", x1=line, x2=line, y1=24, y2=bottom, class_="baseline"),
            tag("text", "baseline", x=line, y=16, class_="label-strong", text_anchor=anchor),
            first=True,
        ),
        _bar(
            tip,
            axis,
            (verdict.low, verdict.high),
            52,
            "recommended",
            "interval",
            disc(axis(verdict.error), 52, "mark-estimate", 7),
        ),
    ]
    if other is not None:
        parts.append(
            _bar(
                f"With the quarantined columns: {percent(other.error)} estimated error, 95 % interval "
                f"{interval(other.low, other.high)}. Not to be relied on.",
                axis,
                (other.low, other.high),
                94,
                "with quarantined columns",
                "interval-quarantined",
                cross(axis(other.error), 94),
            )
        )
    return chart(
        "chart-verdict",
        "Expected error on new rows, beside the baseline",
        f"{tip}. {base}.",
        *parts,
        width="100%",
        height=bottom + 24,
    )


def _bar(
    tip: str, axis: Axis, ends: tuple[float, float], y: float, text: str, class_: str, mark: Markup
) -> Markup:
    """An interval with its name on the side where there is room."""
    low, high = ends
    right = low / axis.ticks[-1] < 0.45
    name = tag(
        "text",
        text,
        x=14 if right else -14,
        y=4.5,
        class_="label halo",
        text_anchor="start" if right else "end",
    )
    return point(
        tip,
        tag("rect", x=axis(low), y=y - 6, width=axis.width(low, high), height=12, rx=6, class_=class_),
        at(axis(high if right else low), y, name),
        mark,
        first=False,
    )
