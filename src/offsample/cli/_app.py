"""What all commands share: the application, its options, and how it fails."""

from __future__ import annotations

import re
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from offsample import __version__
from offsample._text import shorten
from offsample.cli._failing import fail, renamed, spelling
from offsample.cli._screen import named, say
from offsample.tables import Engine, TablePath
from offsample.tables._databases import interrupt_queries

__all__ = [
    "AsJson",
    "Categorical",
    "Demo",
    "EngineName",
    "Features",
    "Ignore",
    "MaxRows",
    "Seed",
    "TableName",
    "TargetName",
    "app",
    "command",
    "source_and_target",
    "source_lines",
    "source_name",
    "source_of",
]

# Seconds until a signal that was not acted on is sent again.
_PATIENCE = 0.1

app = typer.Typer(
    help="Find out what a table can predict on rows that nobody has seen yet, and how far to trust the "
    "answer.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

TableName = Annotated[
    str | None,
    typer.Argument(
        metavar="TABLE",
        help="A Parquet or CSV file, a folder of such files, a pattern such as 'sales-*.csv', "
        "duckdb:///file.db#table, a query (SELECT ...) for DuckDB, or - to read CSV from standard input.",
    ),
]
TargetName = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="The column to predict; each of its values is a class."
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        help="Treat the numbers in this column as names without an order, such as postal codes. May be "
        "repeated.",
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option("--feature", "-f", metavar="COLUMN", help="Learn from this column only. May be repeated."),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="COLUMN",
        help="Leave this column out, for example one that is filled in only after the event. May be "
        "repeated.",
    ),
]
MaxRows = Annotated[
    int,
    typer.Option("--max-rows", metavar="ROWS", help="Work on a random sample if the table has more rows."),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="NUMBER",
        min=0,
        max=2**32 - 1,
        help="Start of the random numbers: the same seed, the same answer.",
    ),
]
EngineName = Annotated[
    Engine | None, typer.Option("--engine", help="The program that reads the files; by default DuckDB.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of text.")]
Demo = Annotated[bool, typer.Option("--demo", help="Try it on a made-up table of customers.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="If something goes wrong, show the details.")]


def _size(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([kmgt]?)(i?)b?", text.strip().lower())
    size = float(found[1]) * (1024 if found[3] else 1000) ** " kmgt".index(found[2] or " ") if found else 0.0
    if not 1 <= size < sys.maxsize:
        raise typer.BadParameter(f"{shorten(text, 60)!r} is not a size: expected one such as 500MB or 20GiB")
    return int(size)


# Every command that reads a table has these.
_READING: dict[str, tuple[Any, Any]] = {
    "allow_external": (
        Annotated[
            bool,
            typer.Option(
                "--allow-external",
                help="Let a database or a query read other files, load extensions and use the network.",
            ),
        ],
        False,
    ),
    "max_bytes": (
        Annotated[
            int | None,
            typer.Option(
                parser=_size, metavar="SIZE", help="Refuse a larger table; by default 64GiB of CSV text."
            ),
        ],
        None,
    ),
}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Register a command that ends with a sentence on standard error instead of a traceback.

    With exit code 2 for bad input, 1 for a failure. Every command has the option --verbose, which shows where
    a failure came from; a command with a table gets the options of reading one.
    """
    own = signature(function, eval_str=True)
    spelled = {name: spelling(parameter) for name, parameter in own.parameters.items()}
    has_verbose = "verbose" in own.parameters
    added = dict(_READING) if "table" in own.parameters else {}

    @wraps(function)
    def run(*arguments: Any, **options: Any) -> None:
        verbose = options["verbose"] if has_verbose else options.pop("verbose", False)
        reading = {name: options.pop(name) for name in added if name in options}
        try:
            if added and options.get("table") is not None:
                options["table"] = TablePath(options["table"], **reading)
            with _ended_in_order(), warnings.catch_warnings():
                _say_warnings(verbose)
                function(*arguments, **options)
                sys.stdout.flush()  # a full disk shows here, not after the last line of the program
        except (typer.Exit, typer.Abort, BrokenPipeError):  # of which the first is a RuntimeError
            raise
        except Exception as error:
            fail(error, verbose, renamed(spelled, options))

    shown = {**added, **({} if has_verbose else {"verbose": (Verbose, False)})}
    more = [Parameter(n, Parameter.KEYWORD_ONLY, default=d, annotation=a) for n, (a, d) in shown.items()]
    run.__signature__ = own.replace(parameters=[*own.parameters.values(), *more])  # type: ignore[attr-defined]
    app.command()(run)
    return run


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Unwind when the process is told to end, so that temporary files are removed.

    Python acts on a signal only between two of its own steps: a thread wakes it from a query, and from a wait
    for input that began just after the signal came.
    """
    can = threading.current_thread() is threading.main_thread()
    if not can or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    main, ended = threading.get_ident(), threading.Event()

    def end(number: int, _: Any) -> None:
        ended.set()
        raise SystemExit(128 + number)

    def wake() -> None:
        with inbox:
            while number := inbox.recv(1):
                interrupt_queries()
                if number[0] == signal.SIGTERM and not ended.wait(_PATIENCE):
                    signal.pthread_kill(main, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    inbox, outbox = socket.socketpair()
    outbox.setblocking(False)
    before = signal.set_wakeup_fd(outbox.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=wake, daemon=True).start()
    try:
        yield
    except Exception:
        if ended.is_set():  # an engine makes an error of its own of it
            raise SystemExit(128 + signal.SIGTERM) from None
        raise
    finally:
        ended.set()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.set_wakeup_fd(before)
        outbox.close()


def _say_warnings(verbose: bool) -> None:
    """Print warnings as sentences, each once; those about the program itself only if details are wanted."""
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        internal = issubclass(category, (DeprecationWarning, FutureWarning, RuntimeWarning))
        if text not in said and (verbose or not internal):
            said.add(text)
            say(f"offsample: {text}", err=True)

    warnings.showwarning = show


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


def source_name(table: str | None) -> str:
    """The table in a sentence."""
    return "the table of customers" if table is None else "standard input" if table == "-" else named(table)


def source_of(read: Any) -> dict[str, Any]:
    """Entry for JSON: the files and rows that a result or its columns were read from."""
    source = getattr(read, "source", None)
    return {"source": None if source is None else asdict(source)}


def source_lines(read: Any) -> list[str]:
    """The same as text; no line for a table that was generated."""
    source = getattr(read, "source", None)
    return [] if source is None else ["", f"Read {source}."]


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
