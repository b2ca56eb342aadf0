"""The papers' tables and figures on the command line."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

import offsample
from offsample.cli._app import AsJson, command
from offsample.cli._screen import print_json, print_text

__all__ = ["reproduce"]


@command
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A table or figure, such as ginger.fig1; `list` shows all of them."
        ),
    ] = "list",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write tables and figures into this folder; without it they are printed, and nothing is "
            "written.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Repeat a table or figure of the papers.

    Our numbers are printed beside theirs.

    Example: offsample reproduce ginger.fig1 --output figures
    """
    papers, known = _papers()
    if name == "list":
        _show(known, as_json)
        return
    if name not in known:
        raise ValueError(f"no experiment is called {name!r}: `offsample reproduce list` names them all")
    chosen = known[name]
    with TemporaryDirectory() as scratch:
        outcome = papers.record(chosen, output or Path(scratch))
        found = import_module("papers._verdicts").recorded(name, output or Path(scratch))
    if as_json:
        print_json(found)
        return
    print_text(f"{chosen.title}\n\n{outcome}\n")
    drawn = "".join(f", {name}{suffix}.png, {name}{suffix}.svg" for suffix in outcome.figures)
    if output is not None:
        print_text(f"Written to {output}: {name}.txt, {name}.json{drawn}")
    else:
        print_text("Nothing was written. To keep them, name a folder with --output.")


def _papers() -> tuple[Any, dict[str, Any]]:
    """The module of experiments, and all of them by name: they are in the source, not in the wheel."""
    source = Path(offsample.__file__).parents[2]
    if (source / "papers").is_dir() and str(source) not in sys.path:
        sys.path.insert(0, str(source))
    try:
        papers = import_module("papers._experiments")
        return papers, papers.experiments()
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] != "papers":
            raise ImportError(
                f"the experiments need {error.name}: pip install 'offsample[papers]'"
            ) from error
        raise FileNotFoundError(
            "the experiments are in the source of offsample, not in the installed package: run this in a "
            "checkout or an unpacked source distribution, after `pip install -e .[papers]`"
        ) from None


def _show(known: dict[str, Any], as_json: bool) -> None:
    recorded = import_module("papers._verdicts").recorded
    rows = []
    for name, chosen in known.items():
        found = recorded(name) or {}
        row = {"name": name, "title": chosen.title}
        # Wall-clock time tells how busy the machine was; CPU time is what a reader can expect.
        row |= {key: found.get(key) for key in ("seconds", "cpu_seconds")}
        if chosen.run is None:
            row["reason"] = chosen.reason
        rows.append(row)
    if as_json:
        print_json(rows)
        return
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        took = "cannot be repeated" if "reason" in row else _time(row["cpu_seconds"])
        print_text(f"{row['name']:<{width}}  {took:>18}  {row['title']}")  # a line each, however long


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:,.0f} CPU s" if seconds < 100 else f"{seconds / 60:,.0f} CPU min"
