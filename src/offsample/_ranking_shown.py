"""How a ranking looks: in a terminal, as the text of the object, in a notebook."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from offsample._ranked import doubt_of
from offsample._text import OTHERS, SHARES, Field, amount, fit_table, number, percentage, shorten, visible
from offsample.criteria import CRITERIA

if TYPE_CHECKING:
    from offsample.ranking import RankedFeature, Ranking

_MOST_LINES = 20
_MOST_HTML_ROWS = 200
_LONGEST_TITLE = 500
_BAR_WIDTH = 24
_NARROW = 80
# Losses by name, and what they are of a column.
_LOSSES = {
    "log_loss_loo": (
        "log loss",
        "the mean of minus the logarithm of the share that a row's class has, drawn by one row toward its "
        "share of all rows,",
    ),
    "brier_loo": ("Brier", "the mean squared distance of a row's class from the shares of the classes"),
    "cost_loo": ("cost", "the mean cost of the class that is cheapest by the shares of the classes"),
    "absolute_error_loo": ("absolute error", "by how much the median is off on average"),
    "auc_lpo": ("AUC", "how often, of two rows, the one of a class is rated above the other, by its share"),
}

DOUBT = (
    "? marks intervals that may be too short: there are fewer than ten groups (or parts of the time), or "
    "most of the error is on values that one group has alone."
)


def loss_name(ranking: Ranking) -> str | None:
    """Short name of the loss that columns are ranked by; None for an error, or a criterion of the sample."""
    return _LOSSES[ranking.criterion][0] if ranking.criterion in _LOSSES else None


def _by_r2(ranking: Ranking) -> bool:
    """Whether columns are shown by R²."""
    return ranking.task == "regression" and loss_name(ranking) is None


def about_loss(ranking: Ranking) -> str:
    """What the loss is of a column, and without any."""
    name, about = _LOSSES[ranking.criterion]
    said = (
        f"{name[0].upper()}{name[1:]}, for {ranking.new_rows}, is {about} among the rows with the same value"
    )
    return f"{said}. Without any column it is {number(ranking.baseline_score or 0.0)}"


def _features(ranking: Ranking, most: int | None) -> list[RankedFeature]:
    """Columns with what is shown of them as error and interval: those of the loss, or R², if it is one."""
    shown = list(ranking.features[:most])
    if _by_r2(ranking):
        return [
            replace(
                f,
                error=f.r2 or 0.0,
                low=f.r2_low or 0.0,
                high=f.r2_high or 0.0,
                training_error=f.training_r2 or 0.0,
                expected_gain=f.expected_gain / (ranking.baseline_error or 1.0),
            )
            for f in shown
        ]
    if loss_name(ranking) is None:
        return shown
    return [replace(f, error=f.score, low=f.score_low or 0.0, high=f.score_high or 0.0) for f in shown]


def _without(ranking: Ranking) -> float:
    """What a column is compared with."""
    if _by_r2(ranking):
        return 0.0
    return ranking.baseline_error if ranking.baseline_score is None else ranking.baseline_score


def sorting(ranking: Ranking) -> str:
    """What the columns are sorted by."""
    if ranking.order == "lower_bound":
        return "the gain that is certain (the lower limit of its interval)"
    what, last = loss_name(ranking), "; columns without clear evidence last, by p-value"
    if ranking.order == "estimate" or not (what or _is_error(ranking)):
        return what or ranking.criterion
    return (what or "the gain to expect") + last


def _is_error(ranking: Ranking) -> bool:
    known = CRITERIA.get(ranking.criterion)
    return ranking.task == "regression" or (known is not None and known.estimates_error)


def baseline(ranking: Ranking) -> str:
    """What the error of a column is compared with."""
    known = CRITERIA.get(ranking.criterion)
    return {"bayes": OTHERS, "gini": SHARES}[known.reported_rule if known else "gini"]


def _nothing(ranking: Ranking) -> str:
    if _by_r2(ranking):
        return "the mean"
    return baseline(ranking) if loss_name(ranking) is None else "no column"


def about_error(ranking: Ranking, target: str) -> str:
    """What the error is of a column, and without any."""
    if ranking.task == "regression":
        return (
            f"R² is the share of the variance of {target} that the mean of the rows with the same value "
            f"explains on {ranking.new_rows}: 0 or less if the column says nothing. Without any column, the "
            f"mean of all is off by {ranking.baseline_error**0.5:,.6g} (root of the mean squared error)"
        )
    return (
        f"The error is the share of {ranking.new_rows} for which a guess at {target} would be wrong if it "
        f"knew that column only. {_guess(ranking)} Without any column, {baseline(ranking)} is wrong in "
        f"{ranking.baseline_error:.4f} of them"
    )


def _guess(ranking: Ranking) -> str:
    """How a class is guessed from the value of one column, with an example."""
    label = shorten(visible(ranking.classes[-1]), 20)
    return {
        "bayes": "The guess is the most frequent class among the rows with the same value.",
        "gini": f'The guess follows the shares: if 3 of 10 rows with the same value are "{label}", it says '
        f'"{label}" 3 times out of 10.',
    }[CRITERIA[ranking.criterion].reported_rule]


def notes(ranking: Ranking) -> list[str]:
    """Sentences on marked intervals, on groups that cross and on equal rows, if there are some."""
    said, errors = [], zip(ranking.crossed, ranking.baselines_alone, strict=True)
    if alone := ", ".join(f"{error:.4f} with a new {visible(name)}" for name, error in errors):
        said.append(
            f"Of rows that are new in one of these alone, the guess without any column errs in {alone}."
        )
    if ranking.few_decide is not None:
        advice = "the criterion absolute_error_loo, by medians, is safer"
        if not _by_r2(ranking):
            advice = "absolute errors, by medians, are safer; the criterion ginger shows R²"
            if any(f.significant and number(f.score) == number(_without(ranking)) for f in ranking):
                advice += (
                    ". The median of all rows is that of nearly all values of a column with evidence, so "
                )
                advice += "absolute errors cannot tell what it says: criterion ginger (--criterion) does"
        said.append(
            f"A few rows far away, which weigh like {ranking.few_decide:,} of {ranking.n_samples:,}, decide "
            f"R² and squared errors: {advice}."
        )
    limit = doubt_of(len(ranking))
    doubtful = [f for f in ranking if f.significant and f.p_value > limit]
    if doubtful and loss_name(ranking) and ranking.order == "auto":
        said.append(
            f"From {visible(doubtful[0].name)} on evidence is not clear (p above {limit:.2g}): by p-value."
        )
    if worse := [visible(f.name) for f in ranking if _is_worse(ranking, f)]:
        others = f" (and of {len(worse) - 1:,} more)" if len(worse) > 1 else ""
        told = "rows are too few for shares by value; that it may still order rows, the AUC shows"
        what = f"its {loss_name(ranking)} is worse than of no column"
        said.append(f"{worse[0]}{others} has evidence, and {what}: {told}.")
    said += about_repeats(ranking, is_grouped=ranking.new_rows != "new rows")
    if all(feature.interval_is_known for feature in ranking):
        return said
    return [*said, DOUBT]


def about_repeats(counted: Any, *, is_grouped: bool) -> list[str]:
    """Sentence on the rows that equal an earlier one, if there are some, and what to do about them."""
    if counted.n_duplicates is None:
        return ["Equal rows were not looked for among so many: a report counts them."]
    n_equal, n_conflicting = counted.n_duplicates, counted.n_conflicting
    if not n_equal + n_conflicting:
        return []
    said = f"{n_equal:,} of {counted.n_samples:,} rows equal an earlier one in these columns and the target"
    said += f", {n_conflicting:,} more in all but the target." if n_conflicting else "."
    if is_grouped:
        return [said]
    return [
        f"{said} If they are copies, errors are larger than shown: name what rows belong to with --group "
        "(group= in Python), or make a report, which tells copies from rows that are alike by nature."
    ]


def _interval(feature: RankedFeature) -> str:
    ends = f"{number(feature.low)}–{number(feature.high)}"
    return ends + ("" if feature.interval_is_known else " ?")


def _is_worse(ranking: Ranking, feature: RankedFeature) -> bool:
    """Whether a column has evidence, and a loss of its shares shows as larger than that of no column."""
    by_shares = ranking.task == "classification" and loss_name(ranking) not in (None, "AUC")
    return by_shares and feature.significant and feature.gain < 0 and number(feature.gain) != number(0.0)


def _gain(feature: RankedFeature) -> str:
    gain = feature.expected_gain
    text = f"{gain:.2g}" if 0 < gain < 0.00005 else number(gain)  # where four decimals show none
    return text if feature.significant else "no evidence"


def _shown(ranking: Ranking, feature: RankedFeature) -> str:
    """Error, loss or R² of a column."""
    is_area = loss_name(ranking) == "AUC"
    return "≤ 0.5" if is_area and _says_nothing(feature) else number(feature.error)


def _says_nothing(feature: RankedFeature) -> bool:
    """Whether an AUC is below one half, as that of a column without a signal is by leaving pairs out."""
    area = feature.score if feature.auc is None else feature.auc
    return area < 0.5 and not feature.significant


def _auc(feature: RankedFeature, short: bool = False) -> str:
    if feature.auc is None:
        return ""
    if _says_nothing(feature):
        return "≤.5" if short else "≤.50"
    return f"{feature.auc:.2f}".removeprefix("0") if short else f"{feature.auc:.3f}"


def _values(feature: RankedFeature) -> str:
    return "" if feature.n_present_values is None else f"{feature.n_present_values:,}"


def ranking_table(
    ranking: Ranking, width: int, *, chart: bool = True, most: int | None = None, encoding: str = "utf-8"
) -> list[str]:
    """Lines of a table that fits into `width` cells: where it does not, the chart goes first."""
    fields = _fields(ranking, _features(ranking, most), width <= _NARROW)
    return fit_table([field for field in fields if chart or field.title], width, encoding)


def _fields(ranking: Ranking, shown: list[RankedFeature], short: bool) -> list[Field]:
    """What is shown of some columns; the chart has no title."""
    loss, without, is_number = loss_name(ranking), _without(ranking), _by_r2(ranking)
    scale = max([without, 1.0 if is_number else 0.0, *(f.high for f in shown)])
    fields = [
        Field("column", [visible(f.name) for f in shown], right=False),
        Field("kind", [f.kind for f in shown], right=False, rank=2),
        Field("values", [_values(f) for f in shown], rank=5),
        Field("missing", [f"{f.n_missing:,}" if f.n_missing else "" for f in shown], rank=3),
        Field(_what(ranking), [_shown(ranking, f) for f in shown]),
        Field(f"{percentage(ranking.confidence)} interval", [_interval(f) for f in shown], rank=7),
        Field("", [interval_bar(f, without, scale) for f in shown], right=False, rank=1),
        Field("on the sample", [] if loss else [f"{f.training_error:.4f}" for f in shown], rank=4),
        Field("AUC", [] if loss == "AUC" else [_auc(f, short) for f in shown], rank=6),
        Field("gain", ["below 0" if _is_worse(ranking, f) else _gain(f) for f in shown], rank=8),
    ]
    fields[5:5] = [
        Field(f"new {shorten(visible(name), 12)}", [f"{f.errors_alone[i]:.4f}" for f in shown], rank=8)
        for i, name in enumerate(() if loss or is_number else ranking.crossed)
    ]
    fields = [f for i, f in enumerate(fields) if not i or any(f.cells)]
    if not (loss or _is_error(ranking)):
        fields.append(Field(ranking.criterion, [number(f.score) for f in shown]))
    return fields


def _what(ranking: Ranking) -> str:
    """What is shown of a column."""
    return "R²" if _by_r2(ranking) else loss_name(ranking) or "error"


def interval_bar(feature: RankedFeature, baseline: float, scale: float, width: int = _BAR_WIDTH) -> str:
    """The interval as a line, the estimate as a dot on it, the baseline as a mark: from 0 to `scale`."""

    def place(value: float) -> int:
        return min(width - 1, max(0, int(value / scale * width))) if scale > 0 else 0

    bar = [" "] * width
    bar[place(baseline)] = "┆"
    for i in range(place(feature.low), place(feature.high) + 1):
        bar[i] = "─"
    bar[place(feature.error)] = "●"
    return "".join(bar)


def ranking_text(ranking: Ranking) -> str:
    """The ranking in eighty columns, its first twenty lines."""
    loss = _what(ranking)
    without = f"{loss[0].upper()}{loss[1:]} of {_nothing(ranking)}: {number(_without(ranking))}"
    if _by_r2(ranking):
        without = f"Root mean squared error of the mean: {ranking.baseline_error**0.5:,.6g}"
    kinds = "a number" if ranking.task == "regression" else f"{len(ranking.classes):,} classes"
    lines = [
        *([ranking.assumed] if ranking.assumed else []),
        f"{amount(len(ranking), 'column')}, {amount(ranking.n_samples, 'row')}, {kinds}. {without}",
        *([] if ranking.new_rows == "new rows" else [f"{loss}s are for {ranking.new_rows}"]),
        f"sorted by {sorting(ranking)}",
        *ranking_table(ranking, 80, chart=False, most=_MOST_LINES),
    ]
    if len(ranking) > _MOST_LINES:
        lines.append(f"… and {len(ranking) - _MOST_LINES:,} more")
    if ranking.n_dropped:
        lines.append(f"left out, without a target: {amount(ranking.n_dropped, 'row')}")
    told = (line for said in notes(ranking) for line in wrap(said, 80))
    lines += [*told, *(f"left out: {visible(why)}" for why in ranking.left_out)]
    return "\n".join(lines)


def ranking_html(ranking: Ranking) -> str:
    """The ranking as a table with bars, for a notebook: no script, no style but its own."""
    shown, what = _features(ranking, _MOST_HTML_ROWS), _what(ranking)
    fields = _fields(ranking, shown, short=False)
    style = "text-align:{};white-space:pre;padding:.2em .6em"
    styles = [style.format("right" if field.right else "left") for field in fields]
    head = [f'<th style="{look}">{escape(f.title)}</th>' for look, f in zip(styles, fields, strict=True)]
    rows = []
    for i, feature in enumerate(shown):
        cells = [escape(field.cells[i]) for field in fields]
        name, said = visible(feature.name), f"interval {feature.low:.4f} to {feature.high:.4f}"
        title = escape(shorten(name, _LONGEST_TITLE), quote=True)
        cells[0] = f'<bdi title="{title}">{escape(shorten(name, 40))}</bdi>'
        bar = next(j for j, field in enumerate(fields) if not field.title)
        label = f'role="img" aria-label="{what} {feature.error:.4f}, {said}"'
        cells[bar] = f'<div {label} style="font-family:monospace">{cells[bar]}</div>'
        faint = "" if feature.significant else ' style="opacity:.6"'
        row = [f'<td style="{look}">{cell}</td>' for look, cell in zip(styles, cells, strict=True)]
        rows.append(f"<tr{faint}>{''.join(row)}</tr>")
    more = f"<p>… and {len(ranking) - len(shown):,} more</p>" if len(ranking) > len(shown) else ""
    dropped = f" Left out, without a target: {amount(ranking.n_dropped, 'row')}." if ranking.n_dropped else ""
    n = f"{amount(len(ranking), 'column')}, {amount(ranking.n_samples, 'row')}"
    return (
        f"<div><p>{escape(ranking.assumed or '')}{'<br>' if ranking.assumed else ''}{n}. "
        f"{what[0].upper()}{what[1:]} of {_nothing(ranking)}, without any column: "
        f"{number(_without(ranking))} (the mark in the bars).{dropped}<br>"
        f"Sorted by {escape(sorting(ranking))}.</p>"
        f"<table><thead><tr>{''.join(head)}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"
        f"{''.join(f'<p>{escape(said)}</p>' for said in notes(ranking))}</div>"
    )
