"""The command line: parse, call the library, print. One module per command."""

from offsample.cli import audit, forecast, plan, rank, report, reproduce, rules, select, tree  # noqa: F401  (each registers its command)
from offsample.cli._app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    app()
