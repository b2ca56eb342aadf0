"""`offsample forecast`: how big a model, how many rows."""

from __future__ import annotations

from math import log, sqrt
from typing import Annotated, Any

import typer
from rich.table import Table as RichTable

from offsample.cli._app import (
    AsJson,
    Demo,
    EngineName,
    Ignore,
    TableName,
    TargetName,
    command,
    print_json,
    source_and_target,
    wide_console,
)
from offsample.cli._rows import labelled_columns

_MAX_ROWS = 100_000


@command
def forecast(
    table: TableName = None,
    target: TargetName = None,
    sizes: Annotated[
        list[int] | None, typer.Option("--splits", help="A number of splits to try (repeat for more).")
    ] = None,
    max_rows: Annotated[int, typer.Option(help="Read a random sample of at most so many rows.")] = _MAX_ROWS,
    ignore: Ignore = None,
    seed: Annotated[int, typer.Option(help="Of folds and samples.")] = 0,
    engine: EngineName = None,
    as_json: AsJson = False,
    demo: Demo = False,
) -> None:
    """Predict the error of trees of different sizes on new rows, and what more rows would bring.

    Example: offsample forecast customers.parquet --target churned
    """
    from offsample.expected_error.sizing import size_forecast
    from offsample.tables import read_table

    source, target = source_and_target(table, target, demo)
    columns = dict(read_table(source, engine=engine, max_rows=max_rows, seed=seed))
    y, X, n_dropped = labelled_columns(columns, target, None, ignore)
    options: dict[str, Any] = {"sizes": sizes} if sizes else {}
    found = size_forecast(X, y, random_state=seed, **options)
    if as_json:
        print_json({**found.to_dict(), "target": target, "holdout": _holdout_plan(found)})
        return
    console = wide_console()
    console.print(
        f"{found.n_rows:,} rows. Error: of predicting {target} on new rows with a tree.\n", markup=False
    )
    console.print(_grid(found.sizes, "splits", "n_splits", found.best))
    console.print()
    if found.curve:
        console.print(_grid(found.curve, "rows", "n_rows", None))
        console.print()
    console.print(found.statement, markup=False)
    plan = _holdout_plan(found)
    console.print(
        f"To know the errors of all {len(found.sizes)} sizes from held-out rows to within "
        f"{plan['deviation']:.3f}, "
        f"hold out {plan['n_holdout']:,} of the {found.n_rows:,} rows"
        + (
            f" (a tenth of the error would take {plan['n_wanted']:,})."
            if plan["n_wanted"] > plan["n_holdout"]
            else "."
        ),
        markup=False,
    )
    if n_dropped:
        console.print(f"{n_dropped:,} rows without {target} were left out.", markup=False)


def _holdout_plan(found: Any) -> dict[str, Any]:
    """Rows to hold out to know all errors to a tenth of the best with 95 % confidence, or half."""
    from offsample.bounds import agnostic_sample_size

    wanted = agnostic_sample_size(log(len(found.sizes)), max(0.1 * found.best.error, 0.005))
    n_holdout = min(wanted, found.n_rows // 2)
    deviation = sqrt((log(len(found.sizes)) + log(2 / 0.05)) / (2 * n_holdout))
    return {"deviation": deviation, "n_holdout": n_holdout, "n_wanted": wanted}


def _grid(points: Any, title: str, name: str, best: Any) -> RichTable:
    grid = RichTable(box=None, pad_edge=False, header_style="bold")
    grid.add_column(title, justify="right")
    grid.add_column("error, 95% interval", justify="right")
    grid.add_column("")
    for point in points:
        note = "smallest within one standard error" if point is best else ""
        if name == "n_rows" and not point.measured:
            note = "prolonged"
        grid.add_row(
            f"{getattr(point, name):,}", f"{point.error:.4f}  {point.low:.4f}–{point.high:.4f}", note
        )
    return grid
