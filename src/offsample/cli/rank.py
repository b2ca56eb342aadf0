"""`offsample rank`: which columns will be worth something on new rows."""

from __future__ import annotations

import sys
from typing import Annotated

from offsample._ranking_shown import baseline, guess, ranking_table, sorting, unknown_intervals
from offsample.cli._app import command
from offsample.cli._options import Asked, option
from offsample.cli._screen import named, print_table, say, screen_encoding, screen_width
from offsample.criteria import CRITERIA, listed
from offsample.ranking import Order, Ranking, rank_features


@command(without=("ignore", "max_rows", "seed"))
def rank(
    asked: Asked,
    criterion: Annotated[
        str,
        option(
            "NAME",
            "The measure that judges a column. "
            f"{' and '.join(name for name, known in CRITERIA.items() if known.estimates_error)} estimate the "
            "error on new rows; the others are there for comparison: "
            f"{listed(known for known in CRITERIA.values() if not known.estimates_error)}.",
        ),
    ] = "ginger",
    order: Annotated[
        Order,
        option(
            "",
            "auto: by the gain to expect, columns without clear evidence last, by p-value. estimate: "
            "by the criterion. lower_bound: by the gain that is certain.",
        ),
    ] = "auto",
    confidence: Annotated[float, option("SHARE", "How often an interval should hold the true error.")] = 0.95,
) -> None:
    """Rank the columns by how well each alone predicts new rows.

    In a narrow terminal, and in a pipe, the table loses its chart and then its less important columns; set
    COLUMNS=130 to see all of it.

    Example: offsample rank customers.parquet --target churned
    """
    ranking = rank_features(
        asked.source,
        asked.to_predict,
        features=asked.features,
        criterion=criterion,
        order=order,
        confidence=confidence,
        categorical_features=asked.categorical_features,
        engine=asked.engine,
        progress=sys.stderr.isatty(),
        group=asked.groups,
        time=asked.time,
    )
    asked.show(ranking, ranking.to_dict, lambda: _print_ranking(ranking, asked))


def _print_ranking(ranking: Ranking, asked: Asked) -> None:
    width, encoding = screen_width(), screen_encoding()
    lines = ranking_table(ranking, width, encoding=encoding)
    has_chart = lines != ranking_table(ranking, width, chart=False, encoding=encoding)
    marked = " (┆ in the chart)" if has_chart else ""
    say(
        f"{len(ranking):,} columns and {ranking.n_samples:,} rows of {asked.source_name}. The error is the "
        f"share of {ranking.new_rows} for which a guess at {named(asked.to_predict)} would be wrong if it "
        f"knew that column only. {guess(ranking)} Without any column, {baseline(ranking)} is wrong in "
        f"{ranking.baseline_error:.4f} of them{marked}.",
        f"Sorted by {sorting(ranking)}.",
        "",
    )
    print_table(lines, [not feature.significant for feature in ranking])
    if unknown := unknown_intervals(ranking):
        say("", *unknown)
    asked.say_dropped(ranking.n_dropped, gap=True)
    if ranking.left_out:
        say("", *(f"Left out: {why}" for why in ranking.left_out))
