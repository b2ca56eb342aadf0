"""`offsample select`: which few columns suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from offsample._text import MAJORITY, Field, fit_table, number, visible
from offsample.cli._app import (
    AsJson,
    Categorical,
    Demo,
    EngineName,
    Features,
    Ignore,
    MaxRows,
    Seed,
    TableName,
    TargetName,
    command,
    source_and_target,
    source_lines,
    source_name,
    source_of,
)
from offsample.cli._rows import labelled_columns
from offsample.cli._screen import named, print_json, print_table, say, screen_encoding, screen_width

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
        typer.Option(
            help="The method that ranks the columns: relief suits all kinds, simba and gflip columns of "
            "numbers."
        ),
    ] = "relief",
    features: Features = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    max_rows: MaxRows = 2000,
    seed: Seed = 0,
    engine: EngineName = None,
    as_json: AsJson = False,
    demo: Demo = False,
) -> None:
    """Choose the few columns that predict new rows as well as all do.

    A row is predicted to be like the most similar row that is known. Columns are ranked by how clearly they
    set rows of one class apart from the others; the fewest are kept whose error, on rows that had no part in
    the ranking, is as good as any.

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
        _print_columns(result, named(target), n_source_rows, n_dropped, source_name(table))
        say(*source_lines(read))


def _print_columns(
    result: SufficientColumns, target: str, n_source_rows: int, n_dropped: int, source: str
) -> None:
    rows = f"{n_source_rows:,} rows of {source}"
    if result.n_used < n_source_rows - n_dropped:
        rows = f"a sample of {result.n_used:,} of the {rows}"
    n, is_of_use = len(result.columns), result.n_chosen > 0
    if is_of_use:
        few = f"{result.n_chosen:,} of {n:,} columns {'suffices' if result.n_chosen == 1 else 'suffice'}"
        verdict = f"{few} to predict {target}, judging by {rows}."
    else:
        few = "The only column is not" if n == 1 else f"None of the {n:,} columns is"
        verdict = (
            f"{few} shown to help in predicting {target}, judging by {rows}: guessing the most frequent "
            "class does as well."
        )
    say(
        verdict,
        "The error is that of predicting a row to be like the most similar one that is known, on rows that "
        "had no part in the ranking; for each column, with it and those above it. "
        f"{MAJORITY.capitalize()} is wrong in {result.baseline_error:.4f} of the rows.",
        "",
    )
    print_table(_lines(result, is_of_use), [not column.chosen for column in result.columns])
    say(
        "",
        "How often: the share of random halves of the rows that choose the column. Two such halves have "
        f"{result.stability:.0%} of their columns in common.",
    )
    for copy, original in result.copies.items():
        say(f"Left out: {named(copy)}, an exact copy of {named(original)}.")
    if n_dropped:
        say(f"{n_dropped:,} rows without {target} were left out.")


def _lines(result: SufficientColumns, is_of_use: bool) -> list[str]:
    columns = result.columns
    errors = {size.n_columns: f"{size.error:.4f} ± {size.standard_error:.4f}" for size in result.sizes}
    largest = max(abs(column.weight) for column in columns) or 1.0
    bars = ["█" * round(_BAR_WIDTH * max(column.weight, 0) / largest) for column in columns]
    fields = [
        Field("column", [visible(column.name) for column in columns], right=False),
        Field("weight", [number(column.weight) for column in columns], rank=3),
        Field("", bars, right=False, rank=1),
        Field("chosen", ["yes" if column.chosen and is_of_use else "" for column in columns], right=False),
        Field("how often", [f"{column.share:.0%}" for column in columns], rank=2),
        Field("error so far", [errors.get(column.rank, "not tried") for column in columns], rank=4),
    ]
    return fit_table(fields, screen_width(), screen_encoding())
