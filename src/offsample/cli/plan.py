"""Planning a hold-out set on the command line."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from offsample.cli._app import AsJson, command, print_json

__all__ = ["plan"]


@command
def plan(
    rows: Annotated[int | None, typer.Option(help="All rows that there are.")] = None,
    n_test: Annotated[int | None, typer.Option("--n-test", help="Rows of the hold-out set.")] = None,
    configurations: Annotated[
        float | None, typer.Option(help="How many will be compared on the hold-out set.")
    ] = None,
    precision: Annotated[
        float | None, typer.Option(help="How much the best of them may be judged too well, e.g. 0.02.")
    ] = None,
    expected_error: Annotated[
        float | None, typer.Option(help="Error that you expect: smaller sets do for small errors.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Of the promise.")] = 0.95,
    as_json: AsJson = False,
) -> None:
    """Say how large a hold-out set must be, how many configurations it bears, or how precise it is.

    Two of --n-test (or --rows), --configurations and --precision give the third.
    Example: offsample plan --rows 10000 --configurations 64 --precision .03
    """
    from offsample.assessment import plan_holdout

    sizes = rows if n_test is None else n_test
    missing = [sizes, configurations, precision].count(None)
    if missing > 1 or (n_test is not None and not missing):
        raise ValueError(
            f"give two of --n-test (or --rows), --configurations and --precision, got {3 - missing}"
        )
    found = plan_holdout(
        rows, configurations, precision, n_test=n_test, confidence=confidence, expected_error=expected_error
    )
    if as_json:
        print_json(found.to_dict())
        return
    many = "any number of" if found.n_configurations == math.inf else f"{found.n_configurations:,.0f}"
    if found.n_configurations < 1:
        typer.echo(f"{found.n_test:,} test rows are too few for that precision, even of one configuration.")
    elif found.solved_for == "n_test":
        typer.echo(f"A hold-out set of {found.n_test:,} rows.")
    elif found.solved_for == "n_configurations":
        typer.echo(f"Up to {many} configurations on {found.n_test:,} test rows.")
    else:
        typer.echo(f"A precision of {found.precision:.4f} with {found.n_test:,} test rows.")
    if found.n_configurations >= 1:
        typer.echo(
            f"With {found.confidence:.0%} confidence, the best of {many} configurations is worse on new rows "
            f"than it looks by at most {found.precision:.4f}."
        )
    if found.n_train is not None and found.n_train > 0:
        typer.echo(f"{found.n_train:,} rows are left to train on.")
    elif not found.feasible and found.n_train is not None:
        typer.echo(
            f"That is more than the {rows:,} rows that there are: cross-validate, and audit the scores "
            "(offsample audit)."
        )
