"""Columns that are made of others: parts of dates, days between dates, and words of free text.

They are columns like any other: each has to show by itself that it says something of new rows. Which there
are is chosen without a look at the target.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample.tables._calendar import named_parts, part_names
from offsample.tables._columns import given_column, sorted_codes
from offsample.tables._encode import plain
from offsample.tables._kinds import as_quantities
from offsample.tables._meaning import is_prose, is_text, recognised, texts_at

_MOST_WORDS = 40
# A word is in so many rows, and in such a share of them, at least.
_LEAST_ROWS, _LEAST_SHARE = 10, 0.01
_WORD = re.compile(r"[^\W\d_]{3,}")
_MENTIONS = " mentions "
_DAYS = " (days)"
# Of more dates than this no differences are made.
_MOST_DATES = 4
_DAY = np.timedelta64(1, "D")


def with_derived(
    columns: Mapping[Any, Any],
    without: Collection[Any] = (),
    wanted: Collection[Any] | None = None,
    types: Mapping[Any, str] | None = None,
) -> dict[Any, Any]:
    """Columns with what is made of them, but for some; or with what is wanted, as a model does.

    Of a date, the month, the weekday and the hour where they come again; of two dates, the days between; of
    free text, whether a word is in it, for words that are in some rows and not in others.
    """
    made, types = dict(columns), types or {}
    names = None if wanted is None else sorted({str(name) for name in wanted if name not in columns})
    if names is not None and not names:
        return made
    dates: dict[Any, NDArray[Any]] = {}
    for name, given in columns.items():
        its_own = None if names is None else [one for one in names if str(name) in one]
        if name in without or its_own == []:
            continue
        column = given_column(given)
        asked = types.get(name, "")
        if its_own and (words := [one for one in its_own if one.startswith(f"{name}{_MENTIONS}")]):
            made |= _words(column, name, words)
            continue
        if asked.partition(":")[0] not in ("category", "number", "time", "text"):
            moments = _moments(column, name, asked, is_sure=names is not None)
            if moments is not None:
                dates[name] = moments
                made |= named_parts(moments, part_names(name, columns, wanted or ()), wanted)
                continue
        if names is None and is_text(column) and asked in ("", "text"):
            made |= _words(column, name, None)
    if 1 < len(dates) <= _MOST_DATES:
        for first, second in combinations(dates, 2):
            name = f"{first} to {second}{_DAYS}"
            if (names is None or name in names) and name not in columns:
                made[name] = (dates[second] - dates[first]) / _DAY
    return made


def made_of(made: Any, columns: Iterable[Any]) -> list[Any]:
    """Those of some columns that another one is made of, by its name."""
    marks, ends = (": ", _MENTIONS, " to "), " to {}" + _DAYS
    begins = {name: tuple(f"{name}{mark}" for mark in marks) for name in columns}
    made = str(made)
    return [one for one in begins if made.startswith(begins[one]) or made.endswith(ends.format(one))]


def _moments(column: Any, name: Any, asked: str, *, is_sure: bool) -> NDArray[Any] | None:
    """Dates of a column; None where it holds none, and where it is not sure that it does."""
    read, found = recognised(column, name, asked) if asked or not is_sure else recognised(column, name)
    if found.way is not None and found.way.quantity != "moment":
        return None
    try:
        read = as_quantities(read)
        values = plain(read).values if not is_text(read) else None
    except TypeError:  # of lists and structures, which whoever reads the column names
        return None
    return values if values is not None and values.dtype.kind == "M" else None


def _words(column: Any, name: Any, wanted: Collection[str] | None) -> dict[str, NDArray[Any]]:
    """Whether each word is in the text of a row, "yes" or "no"; of free text, or of what a model wants."""
    if wanted is None:
        sample = texts_at(column)
        if sample is None or not is_prose(sorted(set(sample)), len(sample)):
            return {}
    texts, codes = sorted_codes(column, "column", repr(name))
    if wanted is None and not all(isinstance(text, str) for text in texts):
        return {}
    found = [frozenset(_WORD.findall(str(text).lower())) for text in texts]
    if wanted is None:
        times = np.bincount(codes, minlength=len(texts) + 1)
        rows: Counter[str] = Counter()
        for words, n in zip(found, times.tolist(), strict=False):
            for word in words:
                rows[word] += n
        n_rows, least = int(times[:-1].sum()), max(_LEAST_ROWS, _LEAST_SHARE * len(codes))
        # The words that divide the rows best, whatever the target; of equals the first in the alphabet.
        often = {word: min(n, n_rows - n) for word, n in rows.items() if min(n, n_rows - n) >= least}
        chosen = sorted(sorted(often, key=lambda word: (-often[word], word))[:_MOST_WORDS])
    else:
        chosen = [one.removeprefix(f"{name}{_MENTIONS}") for one in wanted]
    made = {}
    for word in chosen:
        said = np.array(["yes" if word in words else "no" for words in found] + [None], object)
        made[f"{name}{_MENTIONS}{word}"] = said[codes]
    return made
