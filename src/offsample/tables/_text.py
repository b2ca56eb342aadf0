"""The text of CSV files: names of columns, how many there are, and what is wrong with it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from offsample.tables._source import TooLargeError

_MAX_CSV_COLUMNS = 20_000
# Characters of a row that DuckDB reads.
_MAX_CSV_ROW = 2_000_000


def check_width(path: str, file: str) -> str:
    """First line of a CSV file; raise where it has more columns than can be read in reasonable time."""
    separator = separator_of(file)
    marks = (separator,) if separator else (",", ";", "\t", "|")
    with _text(file) as lines:
        first = next(iter(lines), "")
    if not first:
        raise ValueError("it has no text: expected a header")
    if "\0" in first:
        raise ValueError("its header holds zero bytes: expected text in UTF-8")
    n_columns = 1 + max(first.count(mark) for mark in marks)
    if n_columns > _MAX_CSV_COLUMNS:
        raise TooLargeError(
            f"{str(path)!r} has {n_columns:,} columns: CSV is read with up to {_MAX_CSV_COLUMNS:,}, for the "
            "types of each are found anew; convert it to Parquet once, which keeps them"
        )
    return first


def check_headers(files: Sequence[str], plain: Sequence[str], first: str) -> None:
    """Raise unless CSV files have the same columns, as the first line says: engines match them by place."""
    if len(plain) < 2:
        return
    mark = separator_of(plain[0]) or max((",", ";", "\t", "|"), key=first.count)
    names = header(plain[0], mark)
    for file, text in zip(files[1:], plain[1:], strict=True):
        if (found := header(text, mark)) != names:
            raise ValueError(
                f"{file!r} has the columns {', '.join(map(repr, found[:5]))}, but {files[0]!r} has "
                f"{', '.join(map(repr, names[:5]))}: expected the same columns in the same order"
            )


def all_named(names: Sequence[Any]) -> list[Any]:
    """Names of columns, with one for each that has none: an index that was written without."""
    named, taken = list(names), set(names)
    for i, name in enumerate(named):
        if name == "":
            named[i] = f"column {i + 1}"
            while named[i] in taken:
                named[i] += "'"
    return named


def separator_of(file: str) -> str | None:
    """Separator of a CSV file where its name says it."""
    return "\t" if ".tsv" in Path(file).name.lower() else None


def header(file: str, separator: str, quote: str = '"') -> list[str]:
    """Names as they are in the file: every engine has its own way to change what it does not like."""
    with _text(file) as lines:
        return next(csv.reader(lines, delimiter=separator, quotechar=quote))


def trouble(file: str) -> str | None:
    """What is wrong with a CSV file, where it is one of some common things: engines do not say it plainly."""
    allowed = csv.field_size_limit(2**31 - 1)
    try:
        with _text(file) as lines:
            rows = csv.reader(lines, delimiter=separator_of(file) or ",")
            n_names = len(next(rows, ()))
            for row in rows:
                if sum(map(len, row)) > _MAX_CSV_ROW:
                    return f"line {rows.line_num} has more than {_MAX_CSV_ROW:,} characters: expected Parquet"
                if row and len(row) != n_names:
                    return f"line {rows.line_num} has {len(row)} fields, the header {n_names}"
            ends = lines.newlines
    except UnicodeDecodeError as error:
        its = "utf-16" if error.object[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin1"
        advice = f"expected text in UTF-8 (iconv -f {its} -t utf-8 makes it)"
        return f"byte {error.start + 1} is not UTF-8: {advice}"
    except csv.Error as error:
        return f"line {rows.line_num}: {error}"
    except (EOFError, OSError):
        return None
    finally:
        csv.field_size_limit(allowed)
    return f"its lines end in different ways, {ends}: expected one" if isinstance(ends, tuple) else None


def _text(file: str) -> Any:
    return Path(file).open(encoding="utf-8-sig", newline="")
