"""`offsample schema`: the form of the data that `offsample report --json` prints."""

from __future__ import annotations

from offsample.cli._app import command
from offsample.cli._screen import print_json


@command()
def schema() -> None:
    """Print the JSON schema of what offsample report --json prints.

    Example: offsample schema > report.schema.json
    """
    from offsample.report import report_schema

    print_json(report_schema())
