"""`offsample columns`: what each column of a table is read as, before anything is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from offsample._text import Field, amount, fit_table, shorten, visible
from offsample.cli._app import command
from offsample.cli._options import Asked
from offsample.cli._screen import named, print_table, say, screen_encoding, screen_width
from offsample.tables import ColumnRead

_WITHOUT = ("target", "features", "ignore", "categorical", "group", "time")
_LONGEST_EXAMPLE = 16


@command(without=_WITHOUT, max_rows=100_000)
def columns(asked: Asked) -> None:
    """List what each column is read as, and why.

    Numbers and dates in text are read as what they say where nearly all rows are written in one way. Use
    --types to say what a column is, here and in every command that reads a table.

    Example: offsample columns customers.csv --types zip=category,joined=date:dmy
    """
    from offsample.tables import describe_columns, read_table

    source = asked.source if asked.demo else asked.named_table
    read = read_table(source, engine=asked.engine, max_rows=asked.max_rows, random_state=asked.seed)
    found = list(describe_columns(read, asked.column_types))
    n_rows = found[0].n_rows if found else 0
    n_source_rows = getattr(read, "n_source_rows", n_rows)
    result = {"n_rows": n_rows, "n_source_rows": n_source_rows, "columns": [asdict(one) for one in found]}
    asked.show(read, lambda: result, lambda: _print(found, n_rows, n_source_rows, asked))


def _print(found: Sequence[ColumnRead], n_rows: int, n_source_rows: int, asked: Asked) -> None:
    rows = f"a sample of {n_rows:,} of " * (n_source_rows > n_rows) + amount(n_source_rows, "row")
    say(f"{len(found):,} columns of {asked.source_name}, as {rows} show{'s' * (n_rows == 1)} them.", "")
    missing = [f"{one.n_missing / max(1, one.n_rows):.1%}" if one.n_missing else "" for one in found]
    fields = [
        Field("column", [visible(one.name) for one in found], right=False),
        Field("read as", [one.kind for one in found], right=False),
        Field("values", [f"{one.n_values:,}" for one in found]),
        Field("missing", missing, rank=2),
        Field("for example", [_example(one) for one in found], right=False, rank=1),
    ]
    print_table(fit_table(fields, screen_width(), screen_encoding()))
    told = [
        one for one in found if one.share_read is not None or one.kind in ("text", "left out") or _is_odd(one)
    ]
    if told:
        say("", *(_sentence(one) for one in told))


def _example(one: ColumnRead) -> str:
    return ", ".join(shorten(visible(value), _LONGEST_EXAMPLE) for value in one.examples[:2])


def _is_odd(one: ColumnRead) -> bool:
    """Whether a column stays what it is for a reason that should be known."""
    return one.why not in ("names", "as you said", "every row has its own value") and not (
        one.why.startswith(("stored as", "two words"))
    )


def _sentence(one: ColumnRead) -> str:
    name = named(one.name)
    if one.kind == "left out":
        return f"Left out: {one.why}"
    unread = f" Not written so, and missing: {amount(one.n_unread, 'row')}." if one.n_unread else ""
    share = "" if one.share_read is None else f" {one.share_read:.1%} of its texts say it."
    return f"{name}: {one.why}.{share}{unread}"
