"""Every column's error on new rows, its interval and its training error."""

from __future__ import annotations

from markupsafe import Markup

from offsample.report._formats import amount, interval, is_missing, percent, short_name
from offsample.report._glossary import term_of
from offsample.report.charts._svg import Axis, chart, cross, diamond, disc, join, point, tag
from offsample.report.sections.columns import Column, Columns

MOST_ROWS = 60
_ROW = 26
_TOP = 26
_LABELS = 30  # percent of the width


def columns_chart(columns: Columns) -> Markup:
    """One row per column, the first 60."""
    shown = columns.columns[:MOST_ROWS]
    shares = [s for c in shown for s in (c.error, c.high, c.training_error) if not is_missing(s)]
    axis = Axis(max([*shares, columns.baseline_error]), _LABELS + 3, 96)
    bottom = _TOP + _ROW * len(shown)
    baseline = axis(columns.baseline_error)
    return chart(
        "chart-columns",
        "Error of each column by itself on new rows",
        f"{amount(len(shown), 'row')}, one per column, the best first: estimated error with its interval, "
        f"and training error. Baseline {percent(columns.baseline_error)}. The table below has these numbers.",
        join([_back(i) for i, column in enumerate(shown) if column.quarantined]),
        axis.grid(_TOP, bottom),
        tag("line", x1=baseline, x2=baseline, y1=_TOP - 6, y2=bottom, class_="baseline"),
        tag("text", "baseline", x=baseline, y=_TOP - 11, class_="label-strong", text_anchor="middle"),
        join([_row(column, i, axis, columns.confidence) for i, column in enumerate(shown)]),
        width="100%",
        height=bottom + 24,
    )


def _back(i: int) -> Markup:
    return tag("rect", x=0, y=_TOP + _ROW * i, width="100%", height=_ROW, class_="back-quarantined")


def _row(column: Column, i: int, axis: Axis, confidence: float) -> Markup:
    top = _TOP + _ROW * i
    middle = top + _ROW / 2
    if column.quarantined:
        kind, mark = "quarantined", cross(axis(column.error), middle)
    elif column.finding in ("no-evidence", "constant"):
        kind, mark = "no-evidence", disc(axis(column.error), middle, "mark-no-evidence", 4.5)
    else:
        kind, mark = "usual", disc(axis(column.error), middle, "mark-estimate")
    finding = "" if column.finding is None else f"\nFinding: {term_of(column.finding).title.lower()}"
    finding += ", quarantined" if column.quarantined else ""
    tip = (
        f"{short_name(column.name, 80)}\n"
        f"Estimated error {percent(column.error)}, "
        f"{100 * confidence:g} % interval {interval(column.low, column.high)}\n"
        f"Training error {percent(column.training_error)}{finding}"
    )
    parts = [tag("rect", x=0, y=top, width="100%", height=_ROW, class_="row")]
    # a nested picture cuts off what is longer than its width
    label = tag("text", short_name(column.name, 36), x=6, y=_ROW / 2, class_=f"name name-{kind}")
    parts.append(tag("svg", label, x=0, y=top, width=f"{_LABELS}%", height=_ROW))
    if not is_missing(column.error):
        if not is_missing(column.low) and not is_missing(column.high):
            ends = {"x1": axis(column.low), "x2": axis(column.high)}
            parts.append(tag("line", **ends, y1=middle, y2=middle, class_=f"bar bar-{kind}"))
        if not is_missing(column.training_error):
            parts.append(diamond(axis(column.training_error), middle))
        parts.append(mark)
    return point(tip, *parts, first=i == 0)
