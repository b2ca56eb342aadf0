"""How a ranking looks: in a terminal, as the text of the object, in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from offsample._text import OTHERS, SHARES, Field, fit_table, number, percentage, shorten, visible
from offsample.criteria import CRITERIA

if TYPE_CHECKING:
    from offsample.ranking import RankedFeature, Ranking

_MOST_LINES = 20
_MOST_HTML_ROWS = 200
_LONGEST_TITLE = 500
_BAR_WIDTH = 24


def sorting(ranking: Ranking) -> str:
    """What the columns are sorted by."""
    if ranking.order == "lower_bound":
        return "the gain that is certain (the lower limit of its interval)"
    if ranking.order == "estimate" or not CRITERIA[ranking.criterion].estimates_error:
        return ranking.criterion
    return "the gain to expect; columns without clear evidence last, by p-value"


def baseline(ranking: Ranking) -> str:
    """What the error of a column is compared with."""
    return {"bayes": OTHERS, "gini": SHARES}[CRITERIA[ranking.criterion].reported_rule]


def guess(ranking: Ranking) -> str:
    """How a class is guessed from the value of one column, with an example."""
    label = shorten(visible(ranking.classes[-1]), 20)
    return {
        "bayes": "The guess is the most frequent class among the rows with the same value.",
        "gini": f'The guess follows the shares: if 3 of 10 rows with the same value are "{label}", it says '
        f'"{label}" 3 times out of 10.',
    }[CRITERIA[ranking.criterion].reported_rule]


def unknown_intervals(ranking: Ranking) -> list[str]:
    """A sentence on the intervals that are marked, if some are."""
    if all(feature.interval_is_known for feature in ranking):
        return []
    return [
        "? marks intervals that may be too short: there are fewer than ten groups (or parts of the time), or "
        "most of the error is on values that one group has alone."
    ]


def _interval(feature: RankedFeature) -> str:
    return f"{feature.low:.4f}–{feature.high:.4f}" + ("" if feature.interval_is_known else " ?")


def _gain(feature: RankedFeature) -> str:
    return f"{feature.expected_gain:.4f}" if feature.significant else "no evidence"


def _values(feature: RankedFeature) -> str:
    return "" if feature.n_present_values is None else f"{feature.n_present_values:,}"


def ranking_table(
    ranking: Ranking, width: int, *, chart: bool = True, most: int | None = None, encoding: str = "utf-8"
) -> list[str]:
    """Lines of a table that fits into `width` cells: where it does not, the chart goes first."""
    shown = ranking.features[:most]
    scale = max([ranking.baseline_error, *(f.high for f in shown)])
    fields = [
        Field("column", [visible(f.name) for f in shown], right=False),
        Field("kind", [f.kind for f in shown], right=False, rank=2),
        Field("values", [_values(f) for f in shown], rank=5),
        Field("missing", [f"{f.n_missing:,}" if f.n_missing else "" for f in shown], rank=3),
        Field("error", [f"{f.error:.4f}" for f in shown]),
        Field(f"{percentage(ranking.confidence)} interval", [_interval(f) for f in shown], rank=6),
        Field("on the sample", [f"{f.training_error:.4f}" for f in shown], rank=4),
        Field("gain", [_gain(f) for f in shown], rank=7),
    ]
    if not any(f.n_missing for f in shown):
        del fields[3]
    if chart:
        bars = [interval_bar(f, ranking.baseline_error, scale) for f in shown]
        fields.insert(-2, Field("", bars, right=False, rank=1))
    if not CRITERIA[ranking.criterion].estimates_error:
        fields.append(Field(ranking.criterion, [number(f.score) for f in shown]))
    return fit_table(fields, width, encoding)


def interval_bar(feature: RankedFeature, baseline: float, scale: float, width: int = _BAR_WIDTH) -> str:
    """The interval as a line, the estimate as a dot on it, the baseline as a mark: from 0 to `scale`."""

    def place(value: float) -> int:
        return min(width - 1, int(value / scale * width)) if scale > 0 else 0

    bar = [" "] * width
    bar[place(baseline)] = "┆"
    for i in range(place(feature.low), place(feature.high) + 1):
        bar[i] = "─"
    bar[place(feature.error)] = "●"
    return "".join(bar)


def ranking_text(ranking: Ranking) -> str:
    """The ranking in eighty columns, its first twenty lines."""
    lines = [
        f"{len(ranking):,} columns, {ranking.n_samples:,} rows, {len(ranking.classes):,} classes. Error "
        f"of {baseline(ranking)}: {ranking.baseline_error:.4f}",
        *([] if ranking.new_rows == "new rows" else [f"errors are for {ranking.new_rows}"]),
        f"sorted by {sorting(ranking)}",
        *ranking_table(ranking, 80, chart=False, most=_MOST_LINES),
    ]
    if len(ranking) > _MOST_LINES:
        lines.append(f"… and {len(ranking) - _MOST_LINES:,} more")
    if ranking.n_dropped:
        lines.append(f"{ranking.n_dropped:,} rows without a target were left out")
    lines += [*unknown_intervals(ranking), *(f"left out: {visible(why)}" for why in ranking.left_out)]
    return "\n".join(lines)


def ranking_html(ranking: Ranking) -> str:
    """The ranking as a table with bars, for a notebook: no script, no style but its own."""
    shown = ranking.features[:_MOST_HTML_ROWS]
    scale = max([ranking.baseline_error, *(f.high for f in shown)]) or 1.0
    interval = f"{percentage(ranking.confidence)} interval"
    titles = ("column", "", "error", interval, "on the sample", "gain", "values", "kind")
    head = "".join(f'<th style="{_side(i)}">{escape(title)}</th>' for i, title in enumerate(titles))
    rows = "".join(_html_row(f, ranking.baseline_error, scale) for f in shown)
    more = f"<p>… and {len(ranking) - len(shown):,} more</p>" if len(ranking) > len(shown) else ""
    dropped = f" {ranking.n_dropped:,} rows without a target were left out." if ranking.n_dropped else ""
    return (
        f"<div><p>{len(ranking):,} columns, {ranking.n_samples:,} rows. Error of {baseline(ranking)}, "
        f"without any column: {ranking.baseline_error:.4f} (the mark in the bars).{dropped}<br>Sorted by "
        f"{escape(sorting(ranking))}.</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}</div>"
    )


def _html_row(feature: RankedFeature, baseline: float, scale: float) -> str:
    name = visible(feature.name)
    title = escape(shorten(name, _LONGEST_TITLE), quote=True)
    cells = (
        f'<bdi title="{title}">{escape(shorten(name, 40))}</bdi>',
        _html_bar(feature, baseline, scale),
        f"{feature.error:.4f}",
        _interval(feature),
        f"{feature.training_error:.4f}",
        _gain(feature),
        _values(feature),
        feature.kind,
    )
    faint = "" if feature.significant else ' style="opacity:.6"'
    row = "".join(f'<td style="{_side(i)}">{cell}</td>' for i, cell in enumerate(cells))
    return f"<tr{faint}>{row}</tr>"


def _side(column: int) -> str:
    side = "left" if column in (0, 1, 7) else "right"
    return f"text-align:{side};white-space:nowrap;padding:.2em .6em"


def _html_bar(feature: RankedFeature, baseline: float, scale: float) -> str:
    """The error as a bar from 0, its interval as a line over it, the baseline as a mark."""

    def share(value: float) -> float:
        return min(100.0, max(0.0, 100 * value / scale))

    low, high, base = share(feature.low), share(feature.high), share(baseline)
    shown = f"error {feature.error:.4f}, interval {feature.low:.4f} to {feature.high:.4f}"
    parts = (
        f"left:0;top:.2em;height:.6em;width:{share(feature.error):.2f}%;background:#4c78a8",
        f"left:{low:.2f}%;top:.45em;height:.1em;width:{high - low:.2f}%;background:currentColor",
        f"left:{base:.2f}%;top:0;height:1em;border-left:1px dashed currentColor",
    )
    drawn = "".join(f'<div style="position:absolute;{part}"></div>' for part in parts)
    return (
        f'<div role="img" aria-label="{shown}" style="position:relative;width:12em;height:1em">{drawn}</div>'
    )
