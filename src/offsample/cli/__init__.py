"""The command line: parse, call the library, print. One module per command."""

from offsample.cli import (  # noqa: F401  (each registers its command)
    audit,
    columns,
    forecast,
    plan,
    predict,
    rank,
    report,
    reproduce,
    rules,
    schema,
    select,
    tree,
)
from offsample.cli._app import app
from offsample.cli._screen import open_closed_streams

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    open_closed_streams()
    app()
