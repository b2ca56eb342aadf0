"""A few numbers with their intervals on one scale: the verdict, and a score that was reported."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from offsample.report._formats import interval, percent, short_name
from offsample.report.charts._svg import Axis, chart, cross, diamond, disc, point, tag
from offsample.report.sections._honest import HonestError
from offsample.report.sections.trust import Trust
from offsample.report.sections.verdict import Verdict

_START, _END = 2, 96  # of the scale, in percent of the width
_TOP = 24
_LONGEST = 40  # characters of a name above a bar
_BAR = 44  # a line of text, then a bar
_DRAWN = {  # mark and bar
    "main": ("mark-estimate", "interval"),
    "known": ("mark-no-evidence", "interval-known"),
    "quarantined": ("mark-quarantined", "interval-quarantined"),
}
_SCORE, _SCORE_BOTTOM = 56, 88


def verdict_chart(verdict: Verdict) -> Markup:
    """Draw the recommended model, on all kinds of new rows, the baseline, and what must not be used."""
    other = verdict.with_quarantined
    main = HonestError(verdict.new_rows, verdict.error, verdict.low, verdict.high)
    bars = [*((one, "known") for one in verdict.honest[:-1]), (main, "main")]
    bars += [(replace(one, label=f"{one.label}?"), "known") for one in verdict.asked]
    known = [share for one, _ in bars for share in (one.low, one.error, one.high)]
    beside = () if other is None else (other.low, other.error, other.high)
    axis = Axis((*known, verdict.baseline_error), _START, _END, beside)
    bottom = _TOP + _BAR * (len(bars) + (other is not None)) + 4
    base = f"Always guessing the most frequent class: wrong in {percent(verdict.baseline_error)}"
    parts = [axis.grid(_TOP, bottom), _guessing(base, axis, verdict.baseline_error, bottom, first=True)]
    tips = []
    for row, (one, kind) in enumerate(bars):
        name = f"{percent(one.error)}: {short_name(one.label, _LONGEST)}"
        tips.append(
            f"Recommended model: wrong in {percent(one.error)} of {one.label}, "
            f"95 % interval {interval(one.low, one.high)}"
        )
        if len(bars) == 1:
            name = "recommended model"
        parts.append(_bar(tips[-1], axis, (one.low, one.error, one.high), row, name, kind))
    if other is not None:
        other_tip = (
            f"With the quarantined columns: seemingly wrong in {percent(other.error)} of {verdict.new_rows}, "
            f"95 % interval {interval(other.low, other.high)}. Do not rely on it."
        )
        name = f"with quarantined columns: {percent(other.error)}"
        shares = (other.low, other.error, other.high)
        parts.append(_bar(other_tip, axis, shares, len(bars), name, "quarantined"))
    title = f"Expected error on {verdict.new_rows}, beside always guessing the most frequent class"
    return chart("chart-verdict", title, f"{'. '.join(tips)}. {base}.", *parts, height=bottom + 24)


def trust_chart(trust: Trust) -> Markup:
    """Draw the interval, the corrected score in it, the score as reported, and the baseline."""
    found = trust.found
    axis = Axis((found.naive, found.corrected, found.low, found.high, found.baseline), _START, _END)
    tip = f"Between {interval(found.low, found.high)}, with {100 * found.confidence:g} % confidence"
    reported = f"Reported: {percent(found.naive)}"
    corrected = f"Corrected for picking the best: {percent(found.corrected)}"
    parts = [
        axis.grid(_TOP, _SCORE_BOTTOM),
        point(tip, axis.stretch(found.low, found.high, _SCORE, 14, "interval"), first=True),
    ]
    if found.baseline is not None:
        base = f"Always guessing the most frequent class: right in {percent(found.baseline)}"
        parts.append(_guessing(base, axis, found.baseline, _SCORE_BOTTOM, first=False))
    parts.append(point(corrected, disc(axis(found.corrected), _SCORE, "mark-estimate", 7), first=False))
    parts.append(point(reported, diamond(axis(found.naive), _SCORE, size=7), first=False))
    title = "The score as reported, and what to expect of it"
    description = f"{reported}. {corrected}. {tip}."
    return chart("chart-trust", title, description, *parts, height=_SCORE_BOTTOM + 24)


def _guessing(tip: str, axis: Axis, share: float, bottom: float, *, first: bool) -> Markup:
    """Draw the baseline as a line with its name above."""
    x, side = axis(share), axis.anchor(share)
    line = tag("line", x1=x, x2=x, y1=_TOP, y2=bottom, class_="baseline")
    name = tag("text", "always guessing", x=x, y=16, class_="label-strong", text_anchor=side)
    return point(tip, line, name, first=first)


def _bar(tip: str, axis: Axis, shares: tuple[float, float, float], row: int, text: str, kind: str) -> Markup:
    """Draw an interval with its mark, and its name in the line above."""
    low, error, high = shares
    y = _TOP + _BAR * row + 34
    class_, bar = _DRAWN[kind]
    mark = cross(axis(error), y, class_) if kind == "quarantined" else disc(axis(error), y, class_, 7)
    return point(
        tip,
        axis.stretch(low, high, y, 12, bar),
        tag("text", text, x="2%", y=y - 16, class_="label halo"),
        axis.mark(error, y, mark, class_),
        first=False,
    )
