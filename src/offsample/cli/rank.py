"""`offsample rank`: which columns will be worth something on new rows."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.table import Table as RichTable
from rich.text import Text

from offsample.cli._app import (
    AsJson,
    Categorical,
    Demo,
    EngineName,
    Features,
    TableName,
    TargetName,
    command,
    print_json,
    source_and_target,
    source_lines,
    wide_console,
)
from offsample.criteria import CRITERIA
from offsample.ranking import Order, RankedFeature, Ranking, rank_features

_BAR_WIDTH = 24


@command
def rank(
    table: TableName = None,
    target: TargetName = None,
    features: Features = None,
    categorical: Categorical = None,
    criterion: Annotated[
        str, typer.Option(help=f"What to judge a column by: {', '.join(CRITERIA)}.", metavar="NAME")
    ] = "ginger",
    order: Annotated[
        Order, typer.Option(help="auto: columns with evidence of a signal first, by expected gain.")
    ] = "auto",
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    engine: EngineName = None,
    as_json: AsJson = False,
    demo: Demo = False,
) -> None:
    """Rank the columns of a table by the error to expect when predicting new rows from one of them.

    Example: offsample rank customers.parquet --target churned
    """
    source, target = source_and_target(table, target, demo)
    ranking = rank_features(
        source,
        target,
        features=features,
        criterion=criterion,
        order=order,
        confidence=confidence,
        categorical_features=categorical or "infer",
        engine=engine,
        progress=sys.stderr.isatty(),
    )
    if as_json:
        print_json(ranking.to_dict())
    else:
        _print_ranking(ranking, target)


def _print_ranking(ranking: Ranking, target: str) -> None:
    console = wide_console()
    scale = max([ranking.baseline_error, *(f.high for f in ranking)])
    grid = RichTable(box=None, pad_edge=False, header_style="bold")
    grid.add_column("column", overflow="fold")
    grid.add_column("kind")
    grid.add_column("values", justify="right")
    grid.add_column("missing", justify="right")
    grid.add_column(f"error, {ranking.confidence:.0%} interval", justify="right")
    grid.add_column("")
    grid.add_column("on the sample", justify="right")
    grid.add_column("gain", justify="right")
    with_score = not CRITERIA[ranking.criterion].estimates_error
    if with_score:
        grid.add_column(ranking.criterion, justify="right")
    for feature in ranking:
        style = "" if feature.significant else "dim"
        grid.add_row(
            Text(str(feature.name)),
            feature.kind,
            "" if feature.n_values is None else f"{feature.n_values:,}",
            f"{feature.n_missing:,}" if feature.n_missing else "",
            f"{feature.error:.4f}  {feature.low:.4f}–{feature.high:.4f}",
            interval_bar(feature, ranking.baseline_error, scale),
            f"{feature.training_error:.4f}",
            f"{feature.expected_gain:.4f}" if feature.significant else "no evidence",
            *([f"{feature.score:.4f}"] if with_score else []),
            style=style,
        )
    rule = "the most frequent class" if ranking.criterion == "bayes_loo" else "a class as often as it occurs"
    console.print(
        f"{len(ranking)} columns, {ranking.n_samples:,} rows. Error: of predicting {target} from one column, "
        f"{rule} with the row's value. Without any column: {ranking.baseline_error:.4f} (┆).\n",
        markup=False,
    )
    console.print(grid)
    if ranking.n_dropped:
        console.print(f"\n{ranking.n_dropped:,} rows without {target} were left out.", markup=False)
    for line in ["" for _ in ranking.left_out[:1]] + [f"Left out: {why}" for why in ranking.left_out]:
        console.print(line, markup=False)
    console.print("\n".join(source_lines(ranking)), markup=False, end="\n" if ranking.source else "")


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
