"""The options of all commands that read a table, each said once, and what they ask for."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from inspect import Parameter
from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np
import typer

from offsample._text import shorten
from offsample.cli._screen import named, print_json, say
from offsample.tables import Engine, TablePath

__all__ = ["AsJson", "Asked", "Rows", "Verbose", "guess_error", "shared_parameters"]

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of text.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="If something goes wrong, show the details.")]


def _size(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([kmgt]?)(i?)b?", text.strip().lower())
    size = float(found[1]) * (1024 if found[3] else 1000) ** " kmgt".index(found[2] or " ") if found else 0.0
    if not 1 <= size < sys.maxsize:
        raise typer.BadParameter(f"{shorten(text, 60)!r} is not a size: expected one such as 500MB or 20GiB")
    return int(size)


@dataclass(frozen=True)
class Asked:
    """What was asked of a command that reads a table, by the options that all such commands share.

    A field is an option. A command has them all but those that it says it is without.
    """

    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            help="A Parquet or CSV file, a folder of such files, a pattern such as 'sales-*.csv', "
            "duckdb:///file.db#table, a query (SELECT ...) for DuckDB, or - to read CSV from standard input.",
        ),
    ] = None
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="COLUMN", help="The column to predict; each of its values is a class."
        ),
    ] = None
    features: Annotated[
        list[str] | None,
        typer.Option(
            "--feature", "-f", metavar="COLUMN", help="Learn from this column only. May be repeated."
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore",
            metavar="COLUMN",
            help="Leave this column out, for example one that is filled in only after the event. May be "
            "repeated.",
        ),
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            "--categorical",
            metavar="COLUMN",
            help="Treat the numbers in this column as names without an order, such as postal codes. May be "
            "repeated.",
        ),
    ] = None
    max_rows: Annotated[
        int,
        typer.Option(
            "--max-rows", metavar="ROWS", help="Work on a random sample if the table has more rows."
        ),
    ] = 1_000_000
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            metavar="NUMBER",
            min=0,
            max=2**32 - 1,
            help="Start of the random numbers: the same seed, the same answer.",
        ),
    ] = 0
    engine: Annotated[
        Engine | None, typer.Option("--engine", help="The program that reads the files; by default DuckDB.")
    ] = None
    as_json: AsJson = False
    demo: Annotated[bool, typer.Option("--demo", help="Try it on a made-up table of customers.")] = False
    allow_external: Annotated[
        bool,
        typer.Option(
            "--allow-external",
            help="Let a database or a query read other files, load extensions and use the network.",
        ),
    ] = False
    max_bytes: Annotated[
        int | None,
        typer.Option(
            parser=_size, metavar="SIZE", help="Refuse a larger table; by default 64GiB of CSV text."
        ),
    ] = None

    @cached_property
    def source(self) -> Any:
        """The table to open: what was given, or the demonstration."""
        if self.demo:
            from offsample.datasets import make_customers

            if self.table is not None:
                raise ValueError("--demo takes no table: leave out the one or the other")
            return make_customers()
        if self.table is None:
            raise ValueError("no table given: name a Parquet or CSV file, or try --demo")
        if self.target is None:
            raise ValueError("no target given: name the column to predict with --target")
        return TablePath(self.table, allow_external=self.allow_external, max_bytes=self.max_bytes)

    @property
    def to_predict(self) -> str:
        """Name of the target."""
        return self.target or "churned"

    @property
    def source_name(self) -> str:
        """The table in a sentence."""
        if self.table is None:
            return "the table of customers"
        return "standard input" if self.table == "-" else named(self.table)

    @property
    def categorical_features(self) -> Any:
        """The columns to treat as names, as the library takes them."""
        return self.categorical or "infer"

    def rows(self, least: int = 0) -> Rows:
        """Read the table, or a sample of this many rows at least, and say which columns cannot be used."""
        from offsample.tables import labelled_rows, read_table

        source, most = self.source, max(self.max_rows, least)
        read = read_table(source, engine=self.engine, max_rows=most, random_state=self.seed)
        y, columns, n_dropped, left_out = labelled_rows(
            dict(read), self.to_predict, self.features, self.ignore or ()
        )
        for why in left_out:
            say(f"offsample: left out: {why}", err=True)
        return Rows(y, columns, n_dropped, getattr(read, "n_source_rows", len(y) + n_dropped), read)

    def show(self, read: Any, result: Callable[[], dict[str, Any]], text: Callable[[], None]) -> None:
        """Print a result, as JSON or as text, and what it was read from."""
        source = getattr(read, "source", None)
        if self.as_json:
            print_json(result() | ({"source": None if source is None else asdict(source)}))
            return
        text()
        if source is not None:  # of a table that was not generated
            say("", f"Read {source}.")

    def say_dropped(self, n_dropped: int, *, gap: bool = False) -> None:
        """Say how many rows have no target, after an empty line if there is to be a gap."""
        if n_dropped:
            say(*[""] * gap, f"{n_dropped:,} rows without {named(self.to_predict)} were left out.")


class Rows(NamedTuple):
    """Rows to fit something to: labels and columns, and what they were read from."""

    y: np.ndarray[Any, Any]
    columns: dict[Any, Any]
    n_dropped: int
    n_source_rows: int
    read: Any


def guess_error(y: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """Error of always guessing the most frequent class, and its interval."""
    from offsample._proportions import wilson

    error = 1 - float(np.unique(y, return_counts=True)[1].max()) / len(y)
    return error, *wilson(error, len(y))


def shared_parameters(without: Collection[str], defaults: dict[str, Any]) -> list[Parameter]:
    """Parameters of the options that a command shares with the others."""
    types = get_type_hints(Asked, include_extras=True)
    values = {field.name: field.default for field in fields(Asked) if field.name not in without} | defaults
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=value, annotation=types[name])
        for name, value in values.items()
    ]
