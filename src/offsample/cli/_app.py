"""What all commands share: the application, its options, and how it fails."""

from __future__ import annotations

import inspect
import json
import math
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from offsample import __version__
from offsample.tables import Engine, TablePath

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
    "source_lines",
    "source_of",
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


def _size(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([kmgt]?)(i?)b?", text.strip().lower())
    if not found:
        raise typer.BadParameter(f"{text!r} is not a size: expected one such as 500MB or 20GiB")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** " kmgt".index(found[2] or " "))


# Every command that reads a table has these.
_READING = {
    "allow_external": Annotated[
        bool,
        typer.Option(
            "--allow-external", help="Let a database or query read other files, extensions and the network."
        ),
    ],
    "max_bytes": Annotated[
        int | None,
        typer.Option(
            parser=_size, metavar="SIZE", help="Refuse a larger table (by default 64GiB of CSV text)."
        ),
    ],
}
Demo = Annotated[bool, typer.Option("--demo", help="Use a generated table of customers.")]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Register a command that ends with a sentence on standard error instead of a traceback.

    With exit code 2 for bad input, 1 for a failure. A command with a table gets the options of reading one.
    """

    @wraps(function)
    def run(*arguments: Any, **options: Any) -> None:
        reading = {name: options.pop(name) for name in _READING if name in options}
        try:
            if options.get("table") is not None:
                options["table"] = TablePath(options["table"], **reading)
            with _ended_in_order():
                function(*arguments, **options)
        except typer.Exit:  # which is a RuntimeError
            raise
        except (ValueError, TypeError, ImportError, FileNotFoundError, IsADirectoryError) as error:
            _fail(error, 2)
        except (RuntimeError, OSError, MemoryError) as error:
            _fail(error, 1)

    signature = inspect.signature(function, eval_str=True)
    if "table" in signature.parameters:
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=kind,
                default=None if name == "max_bytes" else False,
            )
            for name, kind in _READING.items()
        ]
        signature = signature.replace(parameters=[*signature.parameters.values(), *added])
    run.__signature__ = signature  # type: ignore[attr-defined]
    return app.command()(run)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Unwind when the process is told to end, so that temporary files are removed."""
    can = threading.current_thread() is threading.main_thread()
    if not can or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    ended = False

    def end(number: int, _: Any) -> None:
        nonlocal ended
        ended = True
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    except Exception:
        if ended:  # an engine makes an error of its own of it
            raise SystemExit(128 + signal.SIGTERM) from None
        raise
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


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


def source_of(read: Any) -> dict[str, Any]:
    """Entry for JSON: the files and rows that a result or its columns were read from."""
    source = getattr(read, "source", None)
    return {"source": None if source is None else asdict(source)}


def source_lines(read: Any) -> list[str]:
    """The same as text; no line for a table that was generated."""
    source = getattr(read, "source", None)
    return [] if source is None else ["", f"Read {source}."]


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
