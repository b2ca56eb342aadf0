"""The command line: parse, call the library, print."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from offsample import __version__
from offsample.criteria import CRITERIA
from offsample.ranking import Order, RankedFeature, Ranking, rank_features
from offsample.tables import Engine

app = typer.Typer(
    help="Choices of supervised learning on tables, made by the error to expect off the sample.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_BAR_WIDTH = 24


def _one_sentence(command: Callable[..., None]) -> Callable[..., None]:
    """End with a sentence on standard error instead of a traceback: 2 for bad input, 1 for a failure."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except (ValueError, TypeError, ImportError, FileNotFoundError, IsADirectoryError) as error:
            _fail(error, 2)
        except (RuntimeError, OSError, MemoryError) as error:
            _fail(error, 1)

    return run


def _fail(error: BaseException, code: int) -> None:
    typer.echo(f"offsample: {error or type(error).__name__}", err=True)
    raise typer.Exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"offsample {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
@_one_sentence
def rank(
    table: Annotated[
        str | None,
        typer.Argument(
            help="Parquet or CSV files (a path, directory or glob), duckdb:///file.db#table, or - for CSV on "
            "standard input."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column to predict: its values are classes.")
    ] = None,
    features: Annotated[
        list[str] | None, typer.Option("--feature", "-f", help="Rank only this column (repeat for more).")
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            "--categorical", help="Read this column as categorical though it holds numbers (repeat)."
        ),
    ] = None,
    criterion: Annotated[
        str, typer.Option(help=f"What to judge a column by: {', '.join(CRITERIA)}.", metavar="NAME")
    ] = "ginger",
    order: Annotated[
        Order, typer.Option(help="auto: columns with evidence of a signal first, by expected gain.")
    ] = "auto",
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    engine: Annotated[Engine | None, typer.Option(help="What reads and counts a path.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Rank a generated table of customers.")] = False,
) -> None:
    """Rank the columns of a table by the error to expect when predicting new rows from one of them.

    Example: offsample rank customers.parquet --target churned
    """
    source: Any = table
    if demo:
        from offsample.datasets import make_customers

        if table is not None:
            raise ValueError("--demo takes no table: leave out the one or the other")
        source, target = make_customers(), target or "churned"
    if source is None:
        raise ValueError("no table given: name a Parquet or CSV file, or try --demo")
    if target is None:
        raise ValueError("no target given: name the column to predict with --target")
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
        typer.echo(json.dumps(ranking.to_dict(), indent=2, default=str))
    else:
        _print_ranking(ranking, target)


def _print_ranking(ranking: Ranking, target: str) -> None:
    # In a pipe a table keeps its width, instead of being broken at 80 columns.
    console = Console(width=None if sys.stdout.isatty() else 130, highlight=False)
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


def main() -> None:
    """Run the command line."""
    app()
