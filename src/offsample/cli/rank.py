"""`offsample rank`: which columns will be worth something on new rows."""

from __future__ import annotations

import csv
import sys
from dataclasses import asdict
from functools import partial
from typing import Annotated, Literal

from offsample._ranking_shown import about_error, about_loss, loss_name, notes, ranking_table, sorting
from offsample._text import amount
from offsample.cli._app import command
from offsample.cli._costs import Costs, costs_of
from offsample.cli._options import Asked, AskedTask, option
from offsample.cli._screen import named, print_table, say, screen_encoding, screen_width
from offsample.criteria import CRITERIA, NUMERIC_CRITERIA, listed
from offsample.ranking import Order, Ranking, rank_features

_MOST_SORTED = 1_000_000  # rows that are ranked a second time, by medians, where a few decide all squares
Metric = Literal["error", "auc", "log_loss", "brier", "cost"]
_METRICS = {
    "error": "ginger",
    "auc": "auc_lpo",
    "log_loss": "log_loss_loo",
    "brier": "brier_loo",
    "cost": "cost_loo",
}


@command(without=("ignore", "max_rows", "seed"))
def rank(
    asked: Asked,
    criterion: Annotated[
        str | None,
        option(
            "NAME",
            "The measure that judges a column. "
            f"{' and '.join(name for name, known in CRITERIA.items() if known.estimates_error)} estimate the "
            "error on new rows, "
            f"{' and '.join(name for name, known in CRITERIA.items() if known.judge)} another loss (see "
            "--metric); the others are there for comparison: "
            f"{listed(known for known in CRITERIA.values() if not (known.estimates_error or known.judge))}. "
            f"Of a number: {', '.join(sorted(NUMERIC_CRITERIA))} (ginger is variance_loo); by default "
            "R squared or, if a few rows decide it, absolute_error_loo.",
        ),
    ] = None,
    metric: Annotated[
        Metric | None,
        option(
            "",
            "What columns are ranked by: the error; auc, how well a column orders rows of a rare class; "
            "log_loss or brier, how good its probabilities are; cost, what the cheapest decision costs.",
        ),
    ] = None,
    costs: Costs = None,
    positive: Annotated[
        str | None,
        option("CLASS", "The class of interest for --costs and --metric auc; by default the rarer of two."),
    ] = None,
    task: AskedTask = "auto",
    order: Annotated[
        Order,
        option(
            "",
            "auto: by the gain to expect, columns without clear evidence last, by p-value. estimate: "
            "by the criterion. lower_bound: by the gain that is certain.",
        ),
    ] = "auto",
    confidence: Annotated[float, option("SHARE", "How often an interval should hold the true error.")] = 0.95,
    as_csv: Annotated[bool, option("--csv", "Print the columns as CSV instead of text.")] = False,
) -> None:
    """Rank the columns by how well each alone predicts new rows.

    In a narrow terminal, and in a pipe, the table loses its chart and then its less important columns; set
    COLUMNS=130 to see all of it.

    Example: offsample rank customers.parquet --target churned
    """
    if criterion is not None and metric is not None:
        raise ValueError("--metric and --criterion both say what ranks columns: leave out one of the two")
    if as_csv and asked.as_json:
        raise ValueError("--csv and --json exclude each other")
    if costs is not None and (metric or criterion or "cost") not in ("cost", "cost_loo"):
        told = f"--metric {metric}" if metric else f"--criterion {criterion}"
        raise ValueError(f"--costs rank by cost, and {told} does not: leave out one of the two")
    if metric == "cost" and costs is None:
        raise ValueError("--metric cost needs --costs, such as --costs fn=10,fp=1")
    rank_by = partial(
        rank_features,
        asked.source,
        asked.to_predict,
        features=asked.features,
        order=order,
        confidence=confidence,
        categorical_features=asked.categorical_features,
        engine=asked.engine,
        progress=sys.stderr.isatty(),
        group=asked.groups,
        time=asked.time,
        costs=costs_of(costs),
        positive=positive,
        task=task,
        types=asked.column_types,
    )
    ranking = rank_by(criterion=_METRICS[metric] if metric else criterion or "ginger")
    unasked = criterion is None and metric is None and not asked.units
    if unasked and ranking.few_decide is not None and ranking.n_samples <= _MOST_SORTED:
        ranking = rank_by(criterion="absolute_error_loo")
    if as_csv:
        rows = [asdict(feature) for feature in ranking]
        written = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
        written.writeheader()
        written.writerows(rows)
        return
    asked.show(ranking, ranking.to_dict, lambda: _print_ranking(ranking, asked))


def _print_ranking(ranking: Ranking, asked: Asked) -> None:
    width, encoding = screen_width(), screen_encoding()
    lines = ranking_table(ranking, width, encoding=encoding)
    has_chart = lines != ranking_table(ranking, width, chart=False, encoding=encoding)
    marked = " (┆ in the chart)" if has_chart else ""
    about = about_loss(ranking) if loss_name(ranking) else about_error(ranking, named(asked.to_predict))
    if ranking.assumed:
        say(f"{ranking.assumed.replace('(task ', '(--task ')}.")
    say(
        f"{amount(len(ranking), 'column')} and {amount(ranking.n_samples, 'row')} of {asked.source_name}. "
        f"{about}{marked}.",
        f"Sorted by {sorting(ranking)}.",
        "",
    )
    print_table(lines, [not feature.significant for feature in ranking])
    if said := notes(ranking):
        say("", *said)
    if ranking.rare_class is not None and ranking.criterion != "cost_loo":
        one = named(ranking.rare_class)
        say(
            "",
            f"How well columns tell one class from the others, such as {one}: --metric auc --positive {one}.",
        )
    asked.say_dropped(ranking.n_dropped, gap=True)
    if ranking.left_out:
        say("", *(f"Left out: {why}" for why in ranking.left_out))
