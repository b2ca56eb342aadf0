"""Every column's error on new rows, or another figure, its interval and its training error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from offsample.report._formats import amount, is_missing, short_name, short_names
from offsample.report._metrics import ERROR, METRICS, OFF_BY, Metric
from offsample.report.charts._svg import Axis, chart, cross, diamond, disc, em_width, number_label, point, tag
from offsample.report.findings import term_of
from offsample.report.sections.columns import Column, Columns

MOST_ROWS = 60
_ROW = 26
_TOP = 26
_LABELS = 30  # percent of the width
# Widths that fit there, in em: on the narrowest page that shows each class (901, 621 and 360 pixels).
_FITTING = (18, 11.8, 7.6)
_WIDTHS = (" name-wide", " name-middle", " name-narrow")


def columns_chart(
    columns: Columns, listed: Sequence[Column] | None = None, metric: Metric = METRICS[ERROR]
) -> Markup:
    """Draw one row per column that is listed, for the first 60."""
    shown = (columns.columns if listed is None else listed)[:MOST_ROWS]
    is_error, what = metric.is_error, f"{metric.title} with its interval"
    if is_error or metric.name == "r2":
        what = f"{'expected error' if is_error else 'R²'} with its interval, and training error"
    base = columns.baseline_error if is_error else columns.baseline_score or 0.0
    if columns.baseline_off_by is not None:
        metric, base = OFF_BY, columns.baseline_off_by
        shown = [replace(column, score=column.off_by) for column in shown]
        what = "how far medians are off, with its interval, and in training"
    ends = [end for c in shown if not c.quarantined for end in metric.ends(c)] + [base]
    axis = Axis(
        ends,
        _LABELS + 3,
        96,
        beside=[end for c in shown for end in (*metric.ends(c), *_trained(c, metric))],
        label=None if is_error else number_label,
        within=(
            max(-0.2, min([0.0, *_known(ends)])) if metric.name == "r2" else 0.0,
            1.0 if is_error else max([1.0 if metric is not OFF_BY else base, *_known(ends)]),
        ),
    )
    bottom = _TOP + _ROW * len(shown)
    baseline, side = axis(base), axis.anchor(base)
    names = [short_names((c.name for c in shown), longest, em_width) for longest in _FITTING]
    return chart(
        "chart-columns",
        f"{metric.title} to expect of each column by itself",
        f"{amount(len(shown), 'row')}, one per column, the best first: {what}. Without any column: "
        f"{metric.write(base)}. The table below has these numbers.",
        *(_whole_row(i, "back-quarantined") for i, column in enumerate(shown) if column.quarantined),
        axis.grid(_TOP, bottom),
        tag("line", x1=baseline, x2=baseline, y1=_TOP - 6, y2=bottom, class_="baseline"),
        tag("text", "without any column", x=baseline, y=_TOP - 11, class_="label-strong", text_anchor=side),
        *(
            _row(column, [short[column.name] for short in names], i, axis, columns.confidence, metric)
            for i, column in enumerate(shown)
        ),
        height=bottom + 24,
    )


def _whole_row(i: int, class_: str) -> Markup:
    return tag("rect", x=0, y=_TOP + _ROW * i, width="100%", height=_ROW, class_=class_)


def _row(column: Column, names: list[str], i: int, axis: Axis, confidence: float, metric: Metric) -> Markup:
    top = _TOP + _ROW * i
    middle = top + _ROW / 2
    low, value, high = metric.ends(column)
    place = "" if is_missing(value) else axis(value)
    term = None if column.finding is None else term_of(column.finding)
    if column.quarantined:
        kind, class_ = "quarantined", "mark-quarantined"
        mark = cross(place, middle, class_)
    elif column.is_quiet:
        kind, class_ = "no-evidence", "mark-no-evidence"
        mark = disc(place, middle, class_, 4.5)
    else:
        kind, class_ = "usual", "mark-estimate"
        mark = disc(place, middle, class_)
    finding = "" if term is None else f"\nFinding: {term.title.lower()}"
    finding += ", quarantined" if column.quarantined else ""
    titles = ("Expected error", "Training error") if metric.is_error else (metric.title, "In training")
    told = f"{titles[0]} {metric.column(column)}"
    trained = "".join(f"\n{titles[1]} {metric.write(share)}" for share in _trained(column, metric))
    tip = (
        f"{short_name(column.name, 80)}\n{told}, "
        f"{100 * confidence:g} % interval {metric.within(column)}{trained}{finding}"
    )
    parts = [_whole_row(i, "row")]
    fitting = [(names[0], "")] if len(set(names)) == 1 else zip(names, _WIDTHS, strict=True)
    labels = [
        tag("text", short, x=6, y=_ROW / 2, class_=f"name name-{kind}{width}") for short, width in fitting
    ]
    # a nested picture cuts off what is longer than its width
    parts.append(tag("svg", *labels, x=0, y=top, width=f"{_LABELS}%", height=_ROW))
    if not is_missing(value):
        if not is_missing(low) and not is_missing(high):
            x1, x2 = axis(low), axis(high)
            parts.append(tag("line", x1=x1, x2=x2, y1=middle, y2=middle, class_=f"bar bar-{kind}"))
        for share in _trained(column, metric):
            parts += [axis.mark(share, middle, diamond(axis(share), middle), "mark-training")]
        parts.append(axis.mark(value, middle, mark, class_))
    return point(tip, *parts, first=i == 0)


def _trained(column: Column, metric: Metric) -> list[float]:
    """What the column reaches in training, by a metric of which that is shown."""
    known = {"error": column.training_error, "r2": column.training_r2, "off_by": column.training_off_by}
    share = known.get(metric.name)
    return [] if share is None or is_missing(share) else [share]


def _known(ends: Sequence[float]) -> list[float]:
    return [end for end in ends if not is_missing(end)]
