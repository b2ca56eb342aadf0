"""What to expect, beside what a guess achieves."""

from __future__ import annotations

from markupsafe import Markup

from offsample.report._formats import interval, percent
from offsample.report.charts._svg import Axis, chart, cross, disc, point, tag
from offsample.report.sections.verdict import Verdict

_TOP, _ROW = 24, 44  # a line of text, then a bar


def verdict_chart(verdict: Verdict) -> Markup:
    """The interval of the recommended model, the baseline and, if any, the model with quarantined columns."""
    other = verdict.with_quarantined
    beside = () if other is None else (other.low, other.error, other.high)
    axis = Axis((verdict.low, verdict.error, verdict.high, verdict.baseline_error), 2, 96, beside)
    bottom = _TOP + _ROW * (1 if other is None else 2) + 4
    tip = (
        f"Recommended model: wrong in {percent(verdict.error)} of new rows, "
        f"95 % interval {interval(verdict.low, verdict.high)}"
    )
    base = f"Always guessing the most frequent class: wrong in {percent(verdict.baseline_error)}"
    line = axis(verdict.baseline_error)
    side = axis.anchor(verdict.baseline_error)
    parts = [
        axis.grid(_TOP, bottom),
        point(
            base,
            tag("line", x1=line, x2=line, y1=_TOP, y2=bottom, class_="baseline"),
            tag("text", "always guessing", x=line, y=16, class_="label-strong", text_anchor=side),
            first=True,
        ),
        _bar(tip, axis, (verdict.low, verdict.error, verdict.high), 0, "recommended model"),
    ]
    if other is not None:
        parts.append(
            _bar(
                f"With the quarantined columns: seemingly wrong in {percent(other.error)} of new rows, 95 % "
                f"interval {interval(other.low, other.high)}. Do not rely on it.",
                axis,
                (other.low, other.error, other.high),
                1,
                f"with quarantined columns: {percent(other.error)}",
            )
        )
    return chart(
        "chart-verdict",
        "Expected error on new rows, beside always guessing the most frequent class",
        f"{tip}. {base}.",
        *parts,
        width="100%",
        height=bottom + 24,
    )


def _bar(tip: str, axis: Axis, shares: tuple[float, float, float], row: int, text: str) -> Markup:
    """An interval with its mark, and its name in the line above."""
    low, error, high = shares
    y = _TOP + _ROW * row + 34
    kind = "interval" if row == 0 else "interval-quarantined"
    class_ = "mark-estimate" if row == 0 else "mark-quarantined"
    mark = disc(axis(error), y, class_, 7) if row == 0 else cross(axis(error), y, class_)
    return point(
        tip,
        tag("rect", x=axis(low), y=y - 6, width=axis.width(low, high), height=12, rx=6, class_=kind),
        tag("text", text, x="2%", y=y - 16, class_="label halo"),
        axis.mark(error, y, mark, class_),
        first=False,
    )
