"""The papers' tables and figures on the command line."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

import offsample
from offsample.cli._app import command
from offsample.cli._options import AsJson, option
from offsample.cli._output import check_folder
from offsample.cli._screen import print_json, print_text


@command()
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A table or figure, such as ginger.fig1; `list` shows all of them."
        ),
    ] = "list",
    output: Annotated[
        Path | None,
        option(
            "--output -o FOLDER",
            "Write tables and figures into this folder; without it they are printed, and nothing is written.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Repeat a table or figure of the papers.

    Our numbers are printed beside theirs. The experiments are in the source, not in the installed package;
    in a checkout, `python -m papers` does the same.

    Example: offsample reproduce ginger.fig1 --output figures
    """
    run = _experiments()
    if output is not None:
        check_folder(output)
    found, text = run(name, output)
    if as_json:
        print_json(found)
    else:
        print_text(text)


def _experiments() -> Any:
    """What `python -m papers` runs: the experiments are in the source, not in the wheel."""
    source = Path(offsample.__file__).parents[2]
    if (source / "papers").is_dir() and str(source) not in sys.path:
        sys.path.insert(0, str(source))
    try:
        return import_module("papers._reproduce").reproduce
    except ModuleNotFoundError:
        raise FileNotFoundError(
            "the experiments are in the source of offsample, not in the installed package: run "
            "`python -m papers` in a checkout or an unpacked source distribution"
        ) from None
