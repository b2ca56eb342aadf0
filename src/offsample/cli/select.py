"""`offsample select`: which few columns suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table as RichTable
from rich.text import Text

from offsample.cli._app import (
    AsJson,
    Categorical,
    Demo,
    EngineName,
    Features,
    Ignore,
    TableName,
    TargetName,
    command,
    print_json,
    source_and_target,
    source_lines,
    source_of,
    wide_console,
)
from offsample.cli._rows import labelled_columns

if TYPE_CHECKING:
    from offsample.margin import SufficientColumns

_READ_ROWS = 100_000
_BAR_WIDTH = 24


@command
def select(
    table: TableName = None,
    target: TargetName = None,
    method: Annotated[
        Literal["relief", "simba", "gflip"],
        typer.Option(help="What ranks the columns. For categories relief, for numbers simba or gflip too."),
    ] = "relief",
    features: Features = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    max_rows: Annotated[int, typer.Option(help="Of a larger table, a random sample of so many.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of samples, folds and methods.")] = 0,
    engine: EngineName = None,
    as_json: AsJson = False,
    demo: Demo = False,
) -> None:
    """Choose the few columns that together predict new rows as well as all.

    Columns are ranked by the margin that they give the nearest-neighbour rule. Their number is the
    smallest whose error, on rows that had no part in the ranking, is as good as any.

    Example: offsample select customers.parquet --target churned
    """
    from offsample.margin import sufficient_columns
    from offsample.tables import read_table

    source, target = source_and_target(table, target, demo)
    read = read_table(source, engine=engine, max_rows=max(_READ_ROWS, max_rows), random_state=seed)
    y, columns, n_dropped = labelled_columns(dict(read), target, features, ignore)
    result = sufficient_columns(
        columns,
        y,
        method=method,
        max_rows=max_rows,
        categorical_features=categorical or "infer",
        random_state=seed,
    )
    n_source_rows = getattr(read, "n_source_rows", len(y) + n_dropped)
    if as_json:
        extra = {"target": target, "n_source_rows": n_source_rows, "n_dropped": n_dropped, **source_of(read)}
        print_json({**extra, **result.to_dict()})
    else:
        _print_columns(result, target, n_source_rows, n_dropped)
        for line in source_lines(read):
            typer.echo(line)


def _print_columns(result: SufficientColumns, target: str, n_source_rows: int, n_dropped: int) -> None:
    console = wide_console()
    grid = RichTable(box=None, pad_edge=False, header_style="bold")
    grid.add_column("column", overflow="fold")
    grid.add_column("weight", justify="right")
    grid.add_column("")
    grid.add_column("chosen")
    grid.add_column("of resamples", justify="right")
    grid.add_column("error with it and those above", justify="right")
    errors = {size.n_columns: size for size in result.sizes}
    largest = max([abs(column.weight) for column in result.columns]) or 1.0
    for column in result.columns:
        size = errors.get(column.rank)
        grid.add_row(
            Text(str(column.name)),
            f"{column.weight:.4f}",
            "█" * round(_BAR_WIDTH * max(column.weight, 0) / largest),
            "yes" if column.chosen else "",
            f"{column.share:.0%}",
            "" if size is None else f"{size.error:.4f} ± {size.standard_error:.4f}",
            style="" if column.chosen else "dim",
        )
    rows = f"{n_source_rows:,} rows"
    if result.n_used < n_source_rows - n_dropped:
        rows = f"a sample of {result.n_used:,} of {rows}"
    console.print(
        f"{result.n_chosen} of {len(result.columns)} columns suffice to predict {target}, by {result.method} "
        f"on {rows}; e = {result.score:.4g}.\nError: of the nearest-neighbour rule on rows that had no part "
        f"in the ranking. Without any column: {result.baseline_error:.4f}.\n",
        markup=False,
    )
    console.print(grid)
    console.print(
        f"\nTwo random halves of the rows choose {result.stability:.0%} of the columns in common.",
        markup=False,
    )
    if n_dropped:
        console.print(f"{n_dropped:,} rows without {target} were left out.", markup=False)
