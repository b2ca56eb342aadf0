"""What all commands share: the application, how a command is registered, and how it ends."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from offsample import __version__
from offsample.cli._failing import fail, renamed, spelling
from offsample.cli._options import Asked, Verbose, shared_parameters
from offsample.cli._screen import flush_output, say
from offsample.cli._signals import ended_in_order
from offsample.tables import is_query

app = typer.Typer(
    help="Find out what a table can predict on rows that nobody has seen yet, and how far to trust the "
    "answer.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _Command(TyperCommand):
    """A command that takes a query for what it is, also one that begins with a comment, ``-- so``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(
                ctx, [f" {text}" if text.startswith("--") and is_query(text) else text for text in args]
            )
        except typer.BadParameter as error:
            said = error.format_message().removesuffix(".").replace(": Value error, ", ": ")
            say(f"offsample: {said[:1].lower()}{said[1:]}", err=True)
            raise typer.Exit(2) from None


def command(without: Collection[str] = (), **defaults: Any) -> Callable[[Callable[..., None]], Any]:
    """Register a command that ends with a sentence on standard error instead of a traceback.

    With exit code 2 for bad input, 1 for a failure. A command whose first parameter is `asked` reads a table
    and has the options of `Asked`, but for those that it is `without`, some with other defaults. Every
    command has the option --verbose, which shows where a failure came from.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        own = signature(function, eval_str=True)
        options = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in own.parameters.values()]
        shared: list[Parameter] = []
        if options and options[0].name == "asked":
            shared, options = shared_parameters(without, defaults), options[1:]
        has_verbose = "verbose" in own.parameters
        verbosity = Parameter("verbose", Parameter.KEYWORD_ONLY, default=False, annotation=Verbose)
        all_options = [*shared[:2], *options, *shared[2:], *([] if has_verbose else [verbosity])]
        spelled = {one.name: spelling(one) for one in all_options}

        @wraps(function)
        def run(**given: Any) -> None:
            names = renamed(spelled, given)
            verbose = given["verbose"] if has_verbose else given.pop("verbose", False)
            try:
                with ended_in_order(), warnings.catch_warnings():
                    _say_warnings(verbose)
                    if shared:
                        asked = Asked(**{one.name: given.pop(one.name, one.default) for one in shared})
                        function(asked, **given)
                    else:
                        function(**given)
                    flush_output()  # a full disk shows here, not after the last line of the program
            except (typer.Exit, typer.Abort, BrokenPipeError):  # of which the first is a RuntimeError
                raise
            except Exception as error:
                fail(error, verbose, names)

        run.__signature__ = own.replace(parameters=all_options)  # type: ignore[attr-defined]
        app.command(cls=_Command)(run)
        return run

    return register


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
