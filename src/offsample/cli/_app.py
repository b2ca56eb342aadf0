"""What all commands share: the application, its options, and how it fails."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from offsample import __version__
from offsample.tables import Engine

__all__ = [
    "AsJson",
    "Categorical",
    "Demo",
    "EngineName",
    "Features",
    "Ignore",
    "TableName",
    "TargetName",
    "app",
    "command",
    "draw",
    "print_json",
    "source_and_target",
    "wide_console",
]

app = typer.Typer(
    help="Choices of supervised learning on tables, made by the error to expect off the sample.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

TableName = Annotated[
    str | None,
    typer.Argument(
        help="Parquet or CSV files (a path, directory or glob), duckdb:///file.db#table, a SELECT for "
        "DuckDB, or - for CSV on standard input."
    ),
]
TargetName = Annotated[
    str | None, typer.Option("--target", "-t", help="The column to predict: its values are classes.")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option("--categorical", help="Read this column as categorical though it holds numbers (repeat)."),
]
Features = Annotated[
    list[str] | None, typer.Option("--feature", "-f", help="Use only this column (repeat for more).")
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", help="Leave this column out, e.g. a leak (repeat).")
]
EngineName = Annotated[Engine | None, typer.Option("--engine", help="What reads and counts a path.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Demo = Annotated[bool, typer.Option("--demo", help="Use a generated table of customers.")]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Register a command that ends with a sentence on standard error instead of a traceback.

    With exit code 2 for bad input, 1 for a failure.
    """

    @app.command()
    @wraps(function)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            function(*arguments, **options)
        except typer.Exit:  # which is a RuntimeError
            raise
        except (ValueError, TypeError, ImportError, FileNotFoundError, IsADirectoryError) as error:
            _fail(error, 2)
        except (RuntimeError, OSError, MemoryError) as error:
            _fail(error, 1)

    return run


def _fail(error: BaseException, code: int) -> None:
    typer.echo(f"offsample: {error or type(error).__name__}", err=True)
    raise typer.Exit(code)


def source_and_target(table: str | None, target: str | None, demo: bool) -> tuple[Any, str]:
    """The table to open and its target, of what was given or of the demonstration."""
    if demo:
        from offsample.datasets import make_customers

        if table is not None:
            raise ValueError("--demo takes no table: leave out the one or the other")
        return make_customers(), target or "churned"
    if table is None:
        raise ValueError("no table given: name a Parquet or CSV file, or try --demo")
    if target is None:
        raise ValueError("no target given: name the column to predict with --target")
    return table, target


def print_json(result: Any) -> None:
    """Print a plain result; JSON has no number that is infinite or undefined, so that those are null."""
    typer.echo(json.dumps(_finite(result), indent=2, default=str, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def draw(plot: str, result: Any, path: Path) -> None:
    """Draw a result by a function of `offsample.plotting` into a file, whose name says of what kind."""
    try:
        from offsample import plotting
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'offsample[plot]'") from error
    getattr(plotting, plot)(result).figure.savefig(path, dpi=150, bbox_inches="tight")


def wide_console() -> Console:
    """A console for tables, which keep their width in a pipe instead of being broken at 80 columns."""
    return Console(width=None if sys.stdout.isatty() else 130, highlight=False)


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
