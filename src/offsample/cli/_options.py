"""The options of all commands that read a table, each said once, and what they ask for."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, get_type_hints

import numpy as np
import typer
from numpy.typing import NDArray

from offsample._ranking_shown import about_repeats
from offsample._text import MAJORITY, amount, shorten, value_text, visible
from offsample._typing import Grouping, Ints
from offsample.cli._repeats import Repeats
from offsample.cli._screen import named, print_json, say, screen_width
from offsample.tables import Engine, TablePath, Task, Units
from offsample.tables._meaning import check_types, declared


def option(typed: str, about: str, **more: Any) -> Any:
    """Option as it is typed, "--output -o FILE", and what it is for; the parameter's name is its own."""
    names = [word for word in typed.split() if word.startswith("-")]
    metavar = next((word for word in typed.split() if not word.startswith("-")), None)
    return typer.Option(*names, metavar=metavar, help=about, **more)


AsJson = Annotated[bool, option("--json", "Print the result as JSON instead of text.")]
AskedTask = Annotated[
    Task,
    option(
        "",
        "What the target is: classes, or a number. auto: numbers are numbers, but for whole ones of at most "
        "20 different values.",
    ),
]
Verbose = Annotated[bool, option("--verbose -v", "If something goes wrong, show the details.")]


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
            help="A file (Parquet, CSV, Excel, JSON, Arrow, or file.db#table of SQLite or DuckDB), a folder "
            "of such files, a pattern such as 'sales-*.csv', a query (SELECT ...) for DuckDB, or - for CSV "
            "from standard input.",
        ),
    ] = None
    target: Annotated[
        str | None,
        option(
            "--target -t COLUMN", "The column to predict: classes or, but for rules and select, a number."
        ),
    ] = None
    features: Annotated[
        list[str] | None, option("--feature -f COLUMN", "Learn from this column only. May be repeated.")
    ] = None
    ignore: Annotated[
        list[str] | None,
        option(
            "COLUMN",
            "Leave this column out, for example one that is filled in only after the event. May be repeated.",
        ),
    ] = None
    categorical: Annotated[
        list[str] | None,
        option(
            "COLUMN",
            "Treat the numbers in this column as names without an order, such as postal codes. May "
            "be repeated.",
        ),
    ] = None
    types: Annotated[
        list[str] | None,
        option(
            "COLUMN=TYPE[,...]",
            "What columns are: number, date, time, category or text, such as price=number,zip=category, or "
            "how they are written, such as when=date:dmy; or a file of such lines. See offsample columns.",
        ),
    ] = None
    group: Annotated[
        list[str] | None,
        option(
            "COLUMN[,COLUMN]",
            "Rows with the same value belong together, such as those of one customer: the error is for new "
            "customers. Two columns that cross, such as users and items: for rows that are new in both. A "
            "comma in a name is written \\,.",
        ),
    ] = None
    time: Annotated[
        str | None,
        option("COLUMN", "When a row was made: the error is for later rows, predicted from earlier ones."),
    ] = None
    max_rows: Annotated[int, option("ROWS", "Work on a random sample if the table has more rows.")] = (
        1_000_000
    )
    seed: Annotated[
        int,
        option(
            "NUMBER", "Start of the random numbers: the same seed, the same answer.", min=0, max=2**32 - 1
        ),
    ] = 0
    engine: Annotated[Engine | None, option("", "The program that reads the files; by default DuckDB.")] = (
        None
    )
    as_json: AsJson = False
    demo: Annotated[bool, option("--demo", "Try it on a made-up table of customers.")] = False
    allow_external: Annotated[
        bool,
        option(
            "--allow-external",
            "Let a database or a query read other files, load extensions and use the network.",
        ),
    ] = False
    max_bytes: Annotated[
        int | None, option("SIZE", "Refuse a larger table; by default 64GiB of CSV text.", parser=_size)
    ] = None

    @cached_property
    def source(self) -> Any:
        """The table to open: what was given, or the demonstration."""
        if self.demo:
            from offsample.datasets import make_customers

            if self.table is not None:
                raise ValueError("--demo takes no table: leave out the one or the other")
            return make_customers()
        if self.target is None and self.table is not None:
            raise ValueError("no target given: name the column to predict with --target")
        return self.named_table

    @property
    def named_table(self) -> TablePath:
        """The table that was given, which may have no target."""
        if self.table is None:
            raise ValueError("no table given: name a file, such as table.parquet or table.csv, or try --demo")
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
    def groups(self) -> Any:
        """The columns of groups, as the library takes them."""
        if self.group is None:
            return None
        typed = ",".join(self.group)
        names = [name.replace("\\,", ",") for name in re.split(r"(?<!\\),", typed)]
        units = [*names, self.time]
        if not all(names) or len(set(units)) < len(units):
            raise ValueError(f"--group {typed!r} must name one column or several, each once")
        return names if len(names) > 1 else names[0]

    @property
    def units(self) -> Units:
        """What new rows come in."""
        return Units.of(self.groups, self.time)

    @property
    def categorical_features(self) -> Any:
        """The columns to treat as names, as the library takes them."""
        return [*(self.categorical or ()), *declared(self.column_types)] or "infer"

    @cached_property
    def column_types(self) -> dict[str, str]:
        """The types that were given, here or in a file."""
        found = dict[str, str]()
        for typed in self.types or ():
            text, mark = typed, ","
            if "=" not in typed and Path(typed).is_file():
                text, mark = Path(typed).read_text(encoding="utf-8"), "\n"
            for part in filter(None, (line.strip() for line in text.split(mark))):
                name, equals, kind = (word.strip() for word in part.rpartition("="))
                if part.startswith("#"):
                    continue
                if not (name and equals and kind):
                    said = f"--types {shorten(part, 60)!r} is not understood: expected a file, or columns"
                    raise ValueError(f"{said} such as price=number,zip=category")
                found[name] = kind
        return check_types(found)

    def rows(self, least: int = 0, task: Task = "classification") -> Rows:
        """Read the table, or a sample of this many rows at least, and say which columns cannot be used."""
        from offsample.tables import grouping, labelled_rows, read_table

        source, most = self.source, max(self.max_rows, least)
        read = read_table(source, engine=self.engine, max_rows=most, random_state=self.seed)
        asked = (self.features, self.ignore or (), self.units, task, self.column_types)
        found = labelled_rows(dict(read), self.to_predict, *asked)
        for why in found.left_out:
            say(f"offsample: left out: {why}", err=True)
        n_source_rows = getattr(read, "n_source_rows", len(found.y) + found.n_dropped)
        group = grouping(found.groups)
        at = (n_source_rows, read, group, found.time, found.is_numeric)
        return Rows(found.y, found.columns, found.n_dropped, *at)

    def show(self, read: Any, result: Callable[[], dict[str, Any]], text: Callable[[], None]) -> None:
        """Print a result, as JSON or as text, and what it was read from; of rows, how many are equal."""
        rows = read if isinstance(read, Rows) else None
        source = getattr(read if rows is None else rows.read, "source", None)
        repeats = Repeats.of(rows) if rows is not None else None
        if self.as_json:
            counted = {} if repeats is None else repeats._asdict()
            print_json(counted | result() | {"source": None if source is None else asdict(source)})
            return
        text()
        if repeats is not None and (said := about_repeats(repeats, is_grouped=bool(self.units))):
            say("", *said)
        if source is not None:  # of a table that was not generated
            files = tuple(shorten(visible(file), screen_width() - 1) for file in source.files)
            say("", f"Read {replace(source, files=files)}.")

    def say_dropped(self, n_dropped: int, *, gap: bool = False) -> None:
        """Say how many rows have no target, after an empty line if there is to be a gap."""
        if n_dropped:
            say(*[""] * gap, f"Left out, without {named(self.to_predict)}: {amount(n_dropped, 'row')}.")


class Rows(NamedTuple):
    """Rows to fit something to: labels and columns, and what they were read from."""

    y: NDArray[Any]
    columns: dict[Any, Any]
    n_dropped: int
    n_source_rows: int
    read: Any
    group: Grouping | None = None
    time: Ints | None = None
    is_numeric: bool = False

    @property
    def units(self) -> list[Ints]:
        """What intervals take to be independent, where rows are not: groups, or parts of the time."""
        from offsample._held_out_counts import unit_parts

        return unit_parts(self.group, self.time)

    @property
    def n_units(self) -> int | None:
        """How many of these there are; of groups that cross, of the kind that has the fewest."""
        kinds = self.units if self.time is None else self.units[:-1] or self.units
        return min((len(np.unique(unit)) for unit in kinds), default=None)

    def say_units(self, ends: str = "Intervals") -> None:
        """Say what the intervals take to be independent."""
        from offsample._unit_intervals import FEWEST_UNITS

        if self.n_units is not None:
            what = f"{self.n_units:,} {'parts of the time' if self.group is None else 'groups'}"
            if isinstance(self.group, tuple):
                what = f"{' and '.join(f'{len(np.unique(one)):,}' for one in self.group)} groups that cross"
            few = ": too few to know how far off the error may be" * (self.n_units < FEWEST_UNITS)
            say(f"{ends} take the {what} to be independent of each other{few}.")
            if self.group is not None and ends == "Intervals":
                say("Rank has intervals of single columns, report those of the model that it chooses.")

    def taken(self, rows: Ints) -> Rows:
        """Some of the rows."""
        from offsample.tables import take_rows, taken

        of, time = taken(self.group, rows), None if self.time is None else self.time[rows]
        return self._replace(y=self.y[rows], columns=take_rows(self.columns, rows), group=of, time=time)

    def fit(self, model: Any) -> Any:
        """Fit a learner of ours; of rows of one time nothing is later."""
        if self.time is not None and np.ptp(self.time):
            from offsample.induction.by_time import fit_later

            return fit_later(model, self.columns, self.y, self.group, self.time)
        return model.fit(self.columns, self.y, **({} if self.group is None else {"groups": self.group}))


class Expected(NamedTuple):
    """Error to expect of a model on new rows, its interval, and that of always guessing one class.

    Of numbers the errors are mean squared ones, and the guess is the mean.
    """

    error: float
    low: float
    high: float
    baseline: float
    new_rows: str = "new rows"
    seen: float | None = None  # on the rows that the model was made of, if its path does not say
    unsplit: float | None = None  # on new groups, if it knew no column

    @classmethod
    def of(cls, model: Any, rows: Rows, asked: Asked) -> Self:
        """Estimate of the model; one of rows without a split is the guess, and has its error."""
        from offsample._unit_intervals import loss_interval

        guess = model.path_[0].estimated_error
        if rows.is_numeric or (rows.time is not None and rows.group is None):
            low, high = model.estimated_error_interval_
            return cls(model.estimated_error_, low, high, guess, asked.units.new_rows)
        unsplit = None if rows.group is None else guess
        classes, counts = np.unique(rows.y, return_counts=True)
        guess = 1 - float(counts.max()) / len(rows.y)
        is_wrong = (rows.y != classes[counts.argmax()]).astype(float)
        error, ends = guess, loss_interval(is_wrong, rows.units, error=guess)
        if model.path_.n_splits or rows.group is not None or model.costs is not None:
            error, ends = model.estimated_error_, model.estimated_error_interval_
        seen = None if model.costs is None else float((model.predict(rows.columns) != rows.y).mean())
        return cls(error, ends[0], ends[1], guess, asked.units.new_rows, seen, unsplit)

    def sentence(self, model: Any, did: str) -> str:
        """The errors in a sentence; `did` says what the model did with the rows that it has seen."""
        from sklearn.base import is_classifier

        if not is_classifier(model):
            seen = model.path_[model.path_.n_splits].training_error
            off, low, high, mean, on_seen = (value_text(float(f"{e**0.5:.4g}")) for e in (*self[:4], seen))
            r2 = 1 - self.error / self.baseline if self.baseline > 0 else 0.0
            return (
                f"Expect it to be off by {off} on {self.new_rows} (root mean squared error, 95% interval "
                f"{low} to {high}); on the rows that {did} it is off by {on_seen}. The mean of all rows is "
                f"off by {mean}: R² {r2:.2f}."
            )
        seen = model.path_[model.path_.n_splits].training_error if self.seen is None else self.seen
        return (
            f"Expect an error of {self.error:.4f} on {self.new_rows} (95% interval {self.low:.4f} to "
            f"{self.high:.4f}); on the rows that {did} it is {seen:.4f}. {MAJORITY.capitalize()} is wrong in "
            f"{self.baseline:.4f}{self._of_new_groups}."
        )

    @property
    def _of_new_groups(self) -> str:
        """What the guess is on new groups, if that is another number."""
        if self.unsplit is None or f"{self.unsplit:.4f}" == f"{self.baseline:.4f}":
            return ""
        return (
            f" of these rows, and to be expected wrong in {self.unsplit:.4f} of {self.new_rows}, of which "
            "another class may be the most frequent"
        )


def shared_parameters(without: Collection[str], defaults: dict[str, Any]) -> list[Parameter]:
    """Parameters of the options that a command shares with the others."""
    types = get_type_hints(Asked, include_extras=True)
    values = {field.name: field.default for field in fields(Asked) if field.name not in without} | defaults
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=value, annotation=types[name])
        for name, value in values.items()
    ]


def share_of(text: str, name: str) -> float:
    """Return the share that an option of this name gives, in percent or not."""
    try:
        return float(text.rstrip("% ")) / (100 if "%" in text else 1)
    except ValueError:
        raise ValueError(f"{name} expects a share such as 5% or 0.05, got {text!r}") from None
