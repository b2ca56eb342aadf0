"""A few numbers with their intervals on one scale: the verdict, and a score that was reported."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

from markupsafe import Markup

from offsample.report._formats import interval, is_missing, percent, short_name
from offsample.report._metrics import METRICS, OFF_BY, Metric, Score
from offsample.report.charts._svg import Axis, chart, cross, diamond, disc, point, tag
from offsample.report.sections._honest import HonestError
from offsample.report.sections.reference import Reference
from offsample.report.sections.trust import Trust
from offsample.report.sections.verdict import Verdict

_START, _END = 2, 96  # of the scale, in percent of the width
_TOP = 24
_LONGEST = 48  # characters of a name above a bar
_BAR = 44  # a line of text, then a bar
_DRAWN = {  # mark and bar
    "main": ("mark-estimate", "interval"),
    "known": ("mark-no-evidence", "interval-known"),
    "quarantined": ("mark-quarantined", "interval-quarantined"),
}
_SCORE, _SCORE_BOTTOM = 56, 88


def verdict_chart(
    verdict: Verdict, reference: Reference | None = None, metric: Metric | None = None
) -> Markup:
    """Draw the recommended model, on all kinds of new rows, what is reached without it, and must not be.

    By the metric of the report, or by absolute errors, where the page goes by these.
    """
    metric = METRICS[verdict.metric] if metric is None else metric
    is_error, is_off = metric.is_error, metric is OFF_BY
    off = verdict.mean_absolute_error, verdict.mean_absolute_error_low, verdict.mean_absolute_error_high
    main = HonestError(
        verdict.new_rows, verdict.error, verdict.low, verdict.high, score=verdict.score,
        mean_absolute_error=Score(*(nan if end is None else end for end in off)),
    )  # fmt: skip

    def seen(one: Any) -> Any:
        """The same, with the figure that is drawn in the place of its score."""
        return replace(one, score=one.mean_absolute_error) if is_off and one is not None else one

    reference, other = seen(reference), seen(verdict.with_quarantined)
    shown = [seen(one) for one in (*verdict.honest[:-1], main)]
    if not verdict.interval_is_known:
        ends: Any = {"low": nan, "high": nan}
        shown = [replace(one, **ends, score=one.score and replace(one.score, **ends)) for one in shown]
    bars = [(one, "known" if place < len(shown) - 1 else "main") for place, one in enumerate(shown)]
    bars += [(seen(replace(one, label=f"{one.label}?")), "known") for one in verdict.asked]
    known = [share for one, _ in bars for share in metric.ends(one)]
    of_reference = metric.ends(reference) if reference else ()  # one wild row, and it begins anywhere
    known += [share for share in of_reference[1:2] if share >= 0]
    beside = (*of_reference, *(() if other is None else metric.ends(other)))
    baseline = verdict.baseline_error if is_error else verdict.baseline_score or 0.0
    baseline = verdict.baseline_mean_absolute_error or 0.0 if is_off else baseline
    on_axis = [share for share in (*known, baseline) if not is_missing(share)]
    on_axis += [0.1] * (metric.name == "r2")  # closer up, nothing would look like something
    every = [*on_axis, *(share for share in of_reference if not is_missing(share))]
    within = (0.0, 1.0) if is_error else (min([0.0, *every]), max([1.0 - is_off, *every]))
    axis = Axis(on_axis, _START, _END, beside, label=None if is_error else metric.write, within=within)
    bottom = _TOP + _BAR * (len(bars) + (other is not None) + (reference is not None)) + 4
    base = f"Without any column: {metric.title} {metric.write(baseline)}"
    title = f"{metric.title} to expect on {verdict.new_rows}, beside that without any column"
    if is_error:
        here = " of these rows" * verdict.guess_differs
        base = f"Always guessing the most frequent class: wrong in {percent(baseline)}{here}"
        title = f"Expected error on {verdict.new_rows}, beside always guessing the most frequent class"
    named = "always guessing" if is_error else "without any column"
    parts = [axis.grid(_TOP, bottom), _guessing(base, axis, baseline, bottom, first=True, named=named)]
    tips = []
    for row, (one, kind) in enumerate(bars):
        who = "The same learner, told which group a row is of" if one.knows else "Recommended model"
        tips.append(f"{who}: {metric.told(one, one.label)}")
        name = f"{metric.figure(one)}: {short_name(one.label, _LONGEST)}"
        if len(bars) == 1:
            name = "recommended model"
        parts.append(_bar(tips[-1], axis, metric.ends(one), row, name, kind))
    if reference is not None:
        tips.append(f"{reference.name.capitalize()}: {metric.told(reference, verdict.new_rows)}")
        by = f"{metric.title} " * (not is_error)
        name = f"{reference.name}, not to be read: {by}{metric.figure(reference)}"
        parts.append(_bar(tips[-1], axis, metric.ends(reference), len(bars), name, "known"))
    if other is not None:
        told = metric.told(other, verdict.new_rows)
        name = f"with quarantined columns: {metric.figure(other)}"
        other_tip = f"With the quarantined columns: seemingly {told}. Do not rely on it."
        parts.append(
            _bar(
                other_tip, axis, metric.ends(other), len(bars) + (reference is not None), name, "quarantined"
            )
        )
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


def _guessing(
    tip: str, axis: Axis, share: float, bottom: float, *, first: bool, named: str = "always guessing"
) -> Markup:
    """Draw the baseline as a line with its name above."""
    x, side = axis(share), axis.anchor(share)
    line = tag("line", x1=x, x2=x, y1=_TOP, y2=bottom, class_="baseline")
    name = tag("text", named, x=x, y=16, class_="label-strong", text_anchor=side)
    return point(tip, line, name, first=first)


def _bar(tip: str, axis: Axis, shares: tuple[float, float, float], row: int, text: str, kind: str) -> Markup:
    """Draw an interval with its mark, and its name in the line above."""
    low, error, high = shares
    if is_missing(error):
        return Markup()
    y = _TOP + _BAR * row + 34
    class_, bar = _DRAWN[kind]
    mark = cross(axis(error), y, class_) if kind == "quarantined" else disc(axis(error), y, class_, 7)
    return point(
        tip,
        Markup() if is_missing(low) or is_missing(high) else axis.stretch(low, high, y, 12, bar),
        tag("text", text, x="2%", dx=6, y=y - 16, class_="label halo"),
        axis.mark(error, y, mark, class_),
        first=False,
    )
