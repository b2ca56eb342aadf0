"""`offsample report`: one page, one verdict."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from offsample.cli._app import (
    AsJson,
    Categorical,
    Demo,
    EngineName,
    Ignore,
    TableName,
    TargetName,
    command,
    print_json,
    source_and_target,
)
from offsample.report.findings import Code

_CODES: tuple[str, ...] = get_args(Code)


@command
def report(
    table: TableName = None,
    target: TargetName = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the page; by default beside you.")
    ] = None,
    categorical: Categorical = None,
    ignore: Ignore = None,
    positive: Annotated[str | None, typer.Option(help="The class of interest, of two.")] = None,
    sample: Annotated[int, typer.Option(help="Rows to fit models to; columns are counted on all.")] = 100_000,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    fast: Annotated[
        bool, typer.Option("--fast", help="Fewer folds and resamples, no forecast of sizes.")
    ] = False,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which what can wait is left out.", metavar="SECONDS")
    ] = None,
    engine: EngineName = None,
    score: Annotated[
        float | None, typer.Option(help="Accuracy that you measured: how far to trust it.")
    ] = None,
    n_test: Annotated[int | None, typer.Option("--n-test", help="Rows that it was measured on.")] = None,
    configurations: Annotated[float, typer.Option(help="How many configurations it is the best of.")] = 1,
    scores: Annotated[
        Path | None,
        typer.Option(help="Instead: CSV file of accuracies, a line per configuration, a column per fold."),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(help=f"Exit with 3 on one of these findings: {', '.join(_CODES)}.", metavar="CODES"),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="The report as text as well, on standard error.")
    ] = False,
    as_json: AsJson = False,
    demo: Demo = False,
) -> None:
    """Write a page that says what to expect of a table on new rows, and print where it is.

    With --json the report is printed as JSON, and the page is written only if --output says where.

    Examples: offsample report customers.parquet --target churned --open;
    offsample report customers.parquet --target churned --score .91 --configurations 200 --n-test 1000
    """
    from offsample.report import report as make_report

    wanted = _codes(fail_on)
    if sample < 2:
        raise ValueError(f"--sample must be at least 2, got {sample}")
    if output is not None and not output.parent.is_dir():  # before the work, not after it
        raise FileNotFoundError(f"--output: No such file or directory: {str(output.parent)!r}")
    source, target = source_and_target(table, target, demo)
    title = "customers" if demo else None
    with _progress(not quiet) as on_stage:
        result = make_report(
            source,
            target,
            categorical_features=categorical or (),
            ignore=ignore or (),
            positive=positive,
            max_rows=sample,
            random_state=seed,
            fast=fast,
            time_limit=time_limit,
            engine=engine,
            score=score,
            n_test=n_test,
            n_configurations=configurations,
            scores=scores,
            title=title,
            command=_command(),
            on_stage=on_stage,
        )
    if as_json:
        print_json(result.to_dict())
    if output is not None or not as_json:
        path = output or _page_name(result.title)
        result.to_html(path)
        if not as_json:
            typer.echo(path)
        if open_page:
            typer.launch(path.resolve().as_uri())
    if verbose:
        typer.echo(result.to_markdown(), err=True)
    found = [finding for finding in result.columns.findings if finding.code in wanted]
    for finding in found:
        typer.echo(f"offsample: {finding.code}: {finding.message}", err=True)
    if found:
        raise typer.Exit(3)


def _codes(text: str | None) -> frozenset[str]:
    codes = frozenset(filter(None, (text or "").replace(" ", "").split(",")))
    if unknown := codes - set(_CODES):
        raise ValueError(f"--fail-on knows no finding {sorted(unknown)[0]!r}: expected {', '.join(_CODES)}")
    return codes


def _page_name(title: str) -> Path:
    kept = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(title).stem)[:80].strip("-")
    return Path(f"{kept or 'table'}-report.html")


def _command() -> str:
    return shlex.join(["offsample", *sys.argv[1:]])


@contextmanager
def _progress(wanted: bool) -> Iterator[Any]:
    """Stages and an idea of the time left, on standard error of a terminal; nothing in a pipe."""
    if not (wanted and sys.stderr.isatty()):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from offsample.report._build import STAGES

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("opening the table", total=len(STAGES))

        def on_stage(name: str) -> None:
            bar.update(task, description=name, completed=STAGES.index(name) if name in STAGES else None)

        yield on_stage
