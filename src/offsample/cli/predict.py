"""`offsample predict`: what the saved model of a report says of the rows of another table."""

from __future__ import annotations

import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from offsample._text import amount
from offsample.cli._app import command
from offsample.cli._options import option, share_of
from offsample.cli._output import check_output
from offsample.cli._screen import named, print_text, say
from offsample.tables import BlockWriter, TablePath, read_blocks

_KINDS = (".parquet", ".csv")


@command()
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A file that offsample report --save wrote: your own.")
    ],
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The rows to predict: a file or a query, as for report.")
    ],
    output: Annotated[
        Path | None, option("--output -o FILE", "Write all columns and the new ones: .parquet or .csv.")
    ] = None,
    interval: Annotated[
        str | None,
        option("SHARE", "Of a number: ends, low and high, that hold this share of new rows, such as 95%."),
    ] = None,
    prefix: Annotated[str, option("TEXT", "Put this before the names of the new columns.")] = "",
    quiet: Annotated[bool, option("--quiet -q", "Do not say what was found.")] = False,
) -> None:
    """Predict the rows of a table with the model of a report.

    New columns: prediction, p_CLASS for each class (of a number low and high, if asked for), decided_by
    (the leaf or rule), unseen (columns whose value the model has never seen, or cannot read). Columns are
    read as what the model knows them as, row by row, and written in blocks. A value that cannot be read is
    missing; where that is most of a column, a warning says so, also with --quiet. The file of the model is a
    pickle: to read it is to run it, so use none that a stranger gave you.

    Example: offsample predict model.joblib new.parquet -o scored.parquet
    """
    from sklearn.base import is_regressor

    from offsample.report import load_model, scored

    if output is None and sys.stdout.isatty():
        raise ValueError("no output given: name a file with --output, such as scored.parquet or scored.csv")
    if not model.is_file():
        raise ValueError(f"there is no file {str(model)!r}: expected one that offsample report --save wrote")
    if find_spec("pyarrow") is None:
        raise ImportError("predicting files needs pyarrow: pip install 'offsample[arrow]'")
    source = TablePath(table)
    if output is not None:
        check_output(output, _KINDS, source, model)
    chosen, digest = load_model(model)
    held = None if interval is None else share_of(interval, "--interval")
    if held is not None and not is_regressor(chosen):
        raise ValueError("--interval is of numbers, and this model predicts classes: see p_CLASS for each")
    found: Counter[Any] = Counter()
    not_read: Counter[str] = Counter()
    n_rows, n_unseen, total, is_number = 0, 0, 0.0, is_regressor(chosen)
    with BlockWriter(output) as written:
        for block in read_blocks(source, as_text=chosen._texts):
            said_of = scored(chosen, block, not_read, held)
            columns = {f"{prefix}{name}": values for name, values in said_of.items()}
            for name in columns:
                if name in block.column_names:
                    raise ValueError(
                        f"the table has a column {name!r} already: rename it, or put a word before the new "
                        "ones with --prefix"
                    )
            written.add(block, columns)
            said = columns[f"{prefix}prediction"]
            n_rows, total = n_rows + len(said), total + (said.sum() if is_number else 0)
            unread = tuple(f"{name} (not read)" for name in not_read)  # which come after what is new
            n_unseen += sum(one != "" and not one.startswith(unread) for one in said_of["unseen"])
            found.update(() if is_number else said.tolist())
    for name in [one for one, n in not_read.items() if 2 * n > n_rows]:
        told = f"Warning: {not_read.pop(name):,} of {n_rows:,} values of {named(name)} cannot be read as the "
        say(f"{told}model does, and are missing: store the column as it was for the report.", err=True)
    if quiet:
        return
    told = ", ".join(f"{n:,} {named(str(value))}" for value, n in found.most_common(10)) or "none"
    if is_number and n_rows:
        told = f"mean {total / n_rows:.6g}"
    target, origin = named(chosen.origin_["target"]), chosen.origin_
    lines = [f"{amount(n_rows, 'row')}, {target} predicted for {origin['new_rows']}: {told}."]
    if n_unseen:
        have = "row has" if n_unseen == 1 else "rows have"
        lines.append(f"{n_unseen:,} {have} a value that the model has never seen: see {prefix}unseen.")
    for name, n in not_read.items():
        said = f"{n:,} rows have" if n > 1 else "1 row has"
        lines.append(f"{named(name)}: {said} a value that cannot be read as the model does, and is missing.")
    lines.append(f"Model of {named(origin['table'])}, SHA-256 {digest[:16]}….")
    say(*lines, err=True)
    if output is not None:
        print_text(str(output))
