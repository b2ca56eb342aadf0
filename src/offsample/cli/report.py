"""`offsample report`: one page, one verdict."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from offsample.cli._app import command
from offsample.cli._costs import costs_of
from offsample.cli._options import Asked, AskedTask, option, share_of
from offsample.cli._output import check_output
from offsample.cli._screen import json_text, print_json, print_text, say
from offsample.report._write import write_text
from offsample.report.findings import CODES

# What a report is written as, by the end of the file's name.
_FORMATS: dict[str, Callable[[Any], str]] = {
    ".html": lambda result: result.to_html(),
    ".md": lambda result: result.to_markdown(),
    ".json": lambda result: json_text(result.to_dict()),
}


@command(without=("features", "max_rows"))
def report(
    asked: Asked,
    output: Annotated[
        Path | None,
        option(
            "--output -o FILE",
            "Write the report to this file: a page (.html), text (.md) or data (.json). By default "
            "it is a page, TABLE-report.html in the current folder.",
        ),
    ] = None,
    gap: Annotated[
        int,
        option("TIMES", "With --time: how many different times before a row are not known when it comes."),
    ] = 0,
    positive: Annotated[
        str | None, option("CLASS", "The class that you are interested in; by default the rarer of two.")
    ] = None,
    task: AskedTask = "auto",
    metric: Annotated[
        str,
        option(
            "NAME",
            "What to lead with, and choose models by: error, auc, log_loss, brier or cost. By default the "
            "error, or the AUC where 80 % of the rows are of a class or all models only order rows.",
        ),
    ] = "auto",
    costs: Annotated[
        str | None, option("COSTS", "What mistakes cost, such as fn=10,fp=1: ten for a row that was missed.")
    ] = None,
    capacity: Annotated[
        str | None, option("SHARE", "Share of the rows that you can act upon, such as 5%.")
    ] = None,
    sample: Annotated[
        int,
        option(
            "ROWS", "Fit models to at most this many rows, drawn at random; columns are judged on all rows."
        ),
    ] = 100_000,
    max_size: Annotated[
        int | None,
        option(
            "NUMBER",
            "Recommend a model of at most this many leaves, rules or terms; by default 12, or one for each "
            "class.",
        ),
    ] = None,
    fast: Annotated[bool, option("--fast", "Be quick: less cross-validation, and trees only.")] = False,
    time_limit: Annotated[
        float | None, option("SECONDS", "Leave out whatever does not fit into this time.")
    ] = None,
    score: Annotated[
        float | None, option("SHARE", "An accuracy that you measured: the page says how far to trust it.")
    ] = None,
    n_test: Annotated[int | None, option("ROWS", "Number of rows that you measured it on.")] = None,
    configurations: Annotated[float, option("NUMBER", "How many models or settings it is the best of.")] = 1,
    scores: Annotated[
        Path | None,
        option(
            "FILE",
            "Or a CSV file with the accuracies of all that you tried: a line for each, a column for "
            "each fold.",
        ),
    ] = None,
    no_reference: Annotated[
        bool, option("--no-reference", "Do not measure how far an opaque model is ahead of this one.")
    ] = False,
    show_rows: Annotated[
        bool, option("--show-rows", "Name values that fewer than five rows have, too: people may be in them.")
    ] = False,
    known: Annotated[
        list[str] | None,
        option("COLUMN", "This column is known before the target, and no leak. May be repeated."),
    ] = None,
    keep_copies: Annotated[
        bool, option("--keep-copies", "Count rows that seem to be copies of others as rows of their own.")
    ] = False,
    fail_on: Annotated[
        str | None,
        option(
            "CODES",
            f"For scripts: exit with code 3 if one of these was found, separated by commas: "
            f"{', '.join(CODES)}.",
        ),
    ] = None,
    save: Annotated[
        Path | None,
        option("FILE", "Save the model of the page to this file, model.joblib, for offsample predict."),
    ] = None,
    open_page: Annotated[bool, option("--open", "Open the page in a browser.")] = False,
    quiet: Annotated[bool, option("--quiet -q", "Do not show progress.")] = False,
    verbose: Annotated[
        bool,
        option(
            "--verbose -v",
            "Print the report as text as well, on standard error. If something goes wrong, show the details.",
        ),
    ] = False,
) -> None:
    """Write a page on what this table can predict on new rows.

    The name of the page is printed. With --json the report itself is printed as JSON, and a page is written
    only if --output names a file.

    Examples: offsample report customers.parquet --target churned --open;
    offsample report customers.parquet --target churned --score .91 --configurations 200 --n-test 1000
    """
    from offsample.report import report as make_report
    from offsample.report import save_model
    from offsample.report._build import table_title

    wanted = _codes(fail_on)
    if sample < 2:
        raise ValueError(f"--sample must be at least 2, got {sample}")
    source, is_written = asked.source, output is not None or not asked.as_json
    title = "customers" if asked.demo else table_title(source)
    path = output or _page_name(title)
    if save is not None:
        check_output(save, (".joblib",), source, scores)
    if is_written:
        check_output(path, () if _is_standard_output(path) else _FORMATS, source, scores)
    with _progress(not quiet) as on_stage:
        result = make_report(
            source,
            asked.to_predict,
            group=asked.groups,
            time=asked.time,
            gap=gap,
            copies="keep" if keep_copies else "auto",
            categorical_features=asked.categorical or (),
            types=asked.column_types,
            ignore=asked.ignore or (),
            known=known or (),
            positive=positive,
            metric=metric,
            costs=costs_of(costs),
            capacity=None if capacity is None else share_of(capacity, "--capacity"),
            max_rows=sample,
            max_size=max_size,
            random_state=asked.seed,
            fast=fast,
            time_limit=time_limit,
            engine=asked.engine,
            score=score,
            n_test=n_test,
            n_configurations=configurations,
            scores=scores,
            reference=not no_reference,
            show_rows=show_rows,
            task=task,
            title=title,
            command=shlex.join(["offsample", *sys.argv[1:]]),
            on_stage=on_stage,
        )
    if save is not None:
        result = save_model(result, save)
    if result.assumed and not quiet:
        say(f"{result.assumed.replace('(task ', '(--task ')}.", err=True)
    if asked.as_json:
        print_json(result.to_dict())
    if is_written:
        text = _FORMATS.get(path.suffix.lower(), _FORMATS[".html"])(result)
        if _is_standard_output(path):
            sys.stdout.buffer.write(text.encode())
        else:
            write_text(path, text)
            if not asked.as_json:
                print_text(str(path))
            if open_page:
                typer.launch(path.resolve().as_uri())
    if verbose:
        print_text(result.to_markdown(), err=True)
    if found := [finding for finding in result.columns.findings if finding.code in wanted]:
        say(*(f"offsample: {finding.code}: {finding.quoted}" for finding in found), err=True)
        raise typer.Exit(3)


def _is_standard_output(path: Path) -> bool:
    """Whether a file is where the command prints to, such as /dev/stdout."""
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except OSError:  # not there, or no file at all
        return False


def _codes(text: str | None) -> frozenset[str]:
    codes = frozenset(filter(None, (text or "").replace(" ", "").split(",")))
    if unknown := codes - set(CODES):
        raise ValueError(f"--fail-on knows no finding {sorted(unknown)[0]!r}: expected {', '.join(CODES)}")
    return codes


def _page_name(title: str) -> Path:
    kept = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(title).stem)[:80].strip("-")
    return Path(f"{kept or 'table'}-report.html")


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
