"""`offsample select`: which few columns suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from offsample._text import MAJORITY, Field, fit_table, number, visible
from offsample.cli._app import command
from offsample.cli._options import Asked, Rows, option
from offsample.cli._screen import named, print_table, say, screen_encoding, screen_width

if TYPE_CHECKING:
    from offsample.margin import SufficientColumns

_READ_ROWS = 100_000
_BAR_WIDTH = 24


@command(max_rows=2000)
def select(
    asked: Asked,
    method: Annotated[
        Literal["relief", "simba", "gflip"],
        option(
            "",
            "The method that ranks the columns: relief suits all kinds, simba and gflip columns of numbers.",
        ),
    ] = "relief",
) -> None:
    """Choose the few columns that predict new rows as well as all do.

    A row is predicted to be like the most similar row that is known. Columns are ranked by how clearly they
    set rows of one class apart from the others; the fewest are kept whose error, on rows that had no part in
    the ranking, is as good as any.

    Example: offsample select customers.parquet --target churned
    """
    from offsample.margin import sufficient_columns

    rows = asked.rows(least=_READ_ROWS)
    found = sufficient_columns(
        rows.columns,
        rows.y,
        method=method,
        max_rows=asked.max_rows,
        categorical_features=asked.categorical_features,
        random_state=asked.seed,
        group=rows.group,
        time=rows.time,
    )
    about = {"target": asked.to_predict, "n_source_rows": rows.n_source_rows, "n_dropped": rows.n_dropped}
    about |= {"new_rows": asked.units.new_rows, "n_units": rows.n_units}
    asked.show(rows, lambda: about | found.to_dict(), lambda: _print_columns(found, rows, asked))


def _print_columns(result: SufficientColumns, read: Rows, asked: Asked) -> None:
    target, rows = named(asked.to_predict), f"{read.n_source_rows:,} rows of {asked.source_name}"
    if result.n_used < read.n_source_rows - read.n_dropped:
        rows = f"a sample of {result.n_used:,} of the {rows}"
    n, is_of_use = len(result.columns), result.n_chosen > 0
    if is_of_use:
        few = f"{result.n_chosen:,} of {n:,} columns {'suffices' if result.n_chosen == 1 else 'suffice'}"
        verdict = f"{few} to predict {target}, judging by {rows}."
    else:
        few = "The only column is not" if n == 1 else f"None of the {n:,} columns is"
        verdict = f"{few} shown to help in predicting {target}, judging by {rows}: {result.not_shown}."
        if result.gain > result.gain_standard_error and rows.startswith("a sample"):
            verdict += " More rows (--max-rows) may show it."
    say(
        verdict,
        "The error is that of predicting a row to be like the most similar one that is known, on "
        f"{asked.units.new_rows if asked.units else 'rows'} that had no part in the ranking; for each "
        "column, with it and those above it. "
        f"{MAJORITY.capitalize()} is wrong in {result.baseline_error:.4f} of the rows.",
        "",
    )
    print_table(_lines(result, is_of_use), [not column.chosen for column in result.columns])
    say(
        "",
        f"How often: the share of random halves of the {'rows' if read.group is None else 'groups'} that "
        "choose the column. Two such halves have "
        f"{result.stability:.0%} of their columns in common.",
    )
    read.say_units("Standard errors (±)")
    for copy, original in result.copies.items():
        say(f"Left out: {named(copy)}, an exact copy of {named(original)}.")
    asked.say_dropped(read.n_dropped)


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
