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
    source_lines,
    source_of,
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
    read = read_table(source, engine=engine, max_rows=max_rows, random_state=seed)
    y, X, n_dropped = labelled_columns(dict(read), target, None, ignore)
    options: dict[str, Any] = {"sizes": sizes} if sizes else {}
    found = size_forecast(X, y, random_state=seed, **options)
    if as_json:
        about = {"target": target, "holdout": _holdout_plan(found), **source_of(read)}
        print_json({**found.to_dict(), **about})
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
    for sentence in _plan_sentences(_holdout_plan(found), found):
        console.print(sentence, markup=False)
    if n_dropped:
        console.print(f"{n_dropped:,} rows without {target} were left out.", markup=False)
    for line in source_lines(read):
        typer.echo(line)


def _holdout_plan(found: Any) -> dict[str, Any]:
    """Rows to hold out to choose among the sizes, and to know the errors of all, to a tenth of the best."""
    from offsample.bounds import agnostic_sample_size
    from offsample.expected_error import rows_to_choose

    wanted = max(0.1 * found.best.error, 0.005)
    choice = rows_to_choose([point.error for point in found.sizes], wanted, max(1, found.n_rows // 2))
    loss = choice.mean - min(point.error for point in found.sizes)
    n_know = agnostic_sample_size(log(len(found.sizes)), wanted)
    n_held = min(n_know, found.n_rows // 2)
    deviation = sqrt((log(len(found.sizes)) + log(2 / 0.05)) / (2 * n_held))
    return {
        "to_choose": {
            "method": "Theorem 14", "n_holdout": choice.n_holdout, "expected_loss": loss, "wanted": wanted,
            "selection_probability": choice.selection_probability.tolist(),
        },
        "to_know": {"method": "Hoeffding", "n_holdout": n_held, "n_wanted": n_know, "deviation": deviation},
    }  # fmt: skip


def _plan_sentences(plan: dict[str, Any], found: Any) -> tuple[str, str]:
    choose, know = plan["to_choose"], plan["to_know"]
    return (
        f"To choose among the {len(found.sizes)} sizes by held-out rows at an expected loss of "
        f"{choose['expected_loss']:.4f}, hold out {choose['n_holdout']:,} of the {found.n_rows:,} rows "
        "(Theorem 14, with the errors above).",
        f"To know the errors of all of them to within {know['deviation']:.3f}, hold out "
        f"{know['n_holdout']:,} (Hoeffding)"
        + (
            f"; a tenth of the error would take {know['n_wanted']:,}."
            if know["n_wanted"] > know["n_holdout"]
            else "."
        ),
    )


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
