"""Tables that strangers might hand over, as files."""

from __future__ import annotations

import csv
import datetime as dt
import io
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

NAMES = [
    "x",
    " ",
    "X",
    "target",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</template></style>&lt;",
    "=cmd|' /C calc'!A0",
    "[red]bold[/red] [link=http://x]",
    "\x1b[31mred\x1b]0;title\x07",
    "a\r\nb\tc\x00d",
    "\u202eright to left\u2066",
    "$\\frac{$",
    "{{ 7*7 }}{% raw %}",
    "a\"b'c`d;--",
    "'; DROP TABLE t; --",
    "name with 👩‍🚀 and \U0001f1e8",
    "x" * 300,
    "^.*$",
    "nan",
    "_v",
    "rowid",
    "*",
]
FLOATS = [
    0.0, -0.0, 1.0, -1.5, 5e-324, 1.5e-323, -2.2e-308, 1.7e308, -1.7e308, 1.7976931348623157e308,
    float("inf"), float("-inf"), float("nan"), None,
]  # fmt: skip
INTEGERS = [0, 1, -1, 2**31, -(2**31) - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), None]
TEXTS = [*NAMES, "", "None", "NaN", "NULL", "1e309", "-inf", "0x10", "١٢", "true", "2024-13-45", None]
DATES = [dt.datetime(1, 1, 1), dt.datetime(1970, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999), None]


@dataclass(frozen=True)
class HostileTable:
    """Columns by name, in order (names may repeat), and the name of the one to predict."""

    columns: list[tuple[str, list[Any]]]
    target: str
    suffix: str

    def write(self, folder: Path) -> Path:
        """Write the table into a file whose name is hostile as well."""
        path = folder / f"da[t]a ' & 1{self.suffix}"
        if self.suffix == ".csv":
            path.write_bytes(_as_csv(self.columns))
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            arrays = [_arrow(values) for _, values in self.columns]
            pq.write_table(pa.table(arrays, names=[name for name, _ in self.columns]), path)
        return path


def _as_csv(columns: list[tuple[str, list[Any]]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for name, _ in columns])
    writer.writerows(zip(*(values for _, values in columns), strict=True))
    return text.getvalue().encode("utf-8", "surrogatepass")


def _arrow(values: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several types: as text
        return pa.array([None if value is None else str(value) for value in values])


def _cells(values: list[Any], n: int) -> st.SearchStrategy[list[Any]]:
    """A few of these values, repeated: so that columns can say something."""
    few = st.lists(st.sampled_from(values), min_size=1, max_size=4)
    repeated = few.map(lambda some: [some[i % len(some)] for i in range(n)])
    return st.one_of(repeated, st.lists(st.sampled_from(values), min_size=n, max_size=n))


def columns(n: int, suffix: str) -> st.SearchStrategy[list[Any]]:
    """One column of n values of any kind."""
    kinds = [
        _cells(FLOATS, n),
        st.lists(st.floats(), min_size=n, max_size=n),
        _cells(INTEGERS, n),
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n, max_size=n),
        _cells(TEXTS, n),
        st.lists(st.text(max_size=8), min_size=n, max_size=n),
        _cells([True, False, None], n),
        _cells(DATES, n),
        st.just([None] * n),
        st.just(list(range(n))),
    ]
    if suffix == ".parquet":
        kinds += [
            _cells([Decimal("1.10"), Decimal("-99999999.99"), None], n),
            _cells([[1], [], None], n),
            _cells([{"a": 1}, None], n),
            _cells([b"\x00\xff", b"", None], n),
            _cells([dt.time(0), dt.time(23, 59, 59, 999999), None], n),
            _cells([dt.timedelta(0), dt.timedelta(days=-1), dt.timedelta(days=10**5), None], n),
            _cells([dt.date(1, 1, 1), dt.date(9999, 12, 31), None], n),
        ]
    return st.one_of(kinds)


def targets(n: int) -> st.SearchStrategy[list[Any]]:
    """Mostly two classes in turn; sometimes what is none."""
    in_turn = st.lists(st.sampled_from(TEXTS), min_size=2, max_size=3).map(
        lambda some: [some[i % len(some)] for i in range(n)]
    )
    others = [
        _cells([True, False], n),
        _cells([0, 1, 2], n),
        _cells(FLOATS, n),
        _cells(TEXTS, n),
        st.just([None] * n),
        st.just([f"id {i}" for i in range(n)]),
    ]
    usual = st.just(["yes" if i % 2 else "no" for i in range(n)])
    return st.integers(0, 9).flatmap(
        lambda kind: usual if kind < 6 else in_turn if kind < 8 else st.one_of(others)
    )


@st.composite
def hostile_tables(draw: st.DrawFn) -> HostileTable:
    """Tables of up to five columns and 60 rows."""
    suffix = draw(st.sampled_from([".csv", ".parquet"]))
    n = draw(st.sampled_from([40, 12, 60, 40, 30, 24, 8, 5, 3, 2, 1, 0]))
    some_name = st.one_of(
        st.sampled_from(NAMES), st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
    )
    names = draw(st.lists(some_name.filter(bool), min_size=1, max_size=5, unique=True))
    odd = draw(st.integers(0, 19))
    if odd == 7:
        names[0] = ""
    elif odd == 13 and suffix == ".csv":
        names.append(names[0])
    made = [(name, draw(columns(n, suffix))) for name in names]
    target = draw(some_name.filter(lambda name: name and name not in names))
    at = draw(st.integers(0, len(made)))
    made.insert(at, (target, draw(targets(n))))
    return HostileTable(made, target, suffix)
