"""The command line: parse, call the library, print. One module per command."""

from offsample.cli import rank  # noqa: F401  (registers its command)
from offsample.cli._app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    app()
