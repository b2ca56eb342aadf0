"""The real tables as arrays, and what each of the four questions answers on them.

``python -m tests.rows.shared_tables`` prints the list; the tables are those of OFFSAMPLE_DATA.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

SKIPPED = {"reuters21578", "reuters_corn", "reuters_grain"}  # texts, not tables
TIMES = {
    "psid_wages": "year",
    "labor_supply": "year",
    "pbc_visits": "day",
    "storms": "when",
    "flights_2013": "when",
    "email_spam": "time",
    "chicago_rides": "date",
}


def arrays_of(path: Path) -> tuple[dict[str, np.ndarray], np.ndarray, list[str]]:
    """Columns, class codes (a numeric target in two halves) and the names of the dates."""
    import pandas as pd

    about = {entry["name"]: entry for entry in json.loads((data() / "manifest-more.json").read_text())}
    frame = pd.read_parquet(path)
    target = about.get(path.stem, {}).get("target", "target" if "target" in frame else frame.columns[-1])
    y = frame.pop(target)
    if y.dtype.kind in "if" and y.nunique() > 20:
        y = y > y.median()
    frame = frame.drop(columns=["split"], errors="ignore")
    columns, dates = {}, []
    for name, column in frame.items():
        if name == TIMES.get(path.stem) and column.dtype.kind not in "iuf":
            column = pd.to_datetime(column)  # of text, or of Python's days
        if column.dtype.kind == "M":
            dates.append(str(name))
            columns[str(name)] = column.astype("int64").to_numpy(float)
        elif column.dtype.kind in "iuf":
            columns[str(name)] = column.to_numpy(float)
        else:
            columns[str(name)] = column.astype("category").cat.codes.to_numpy(np.int64)
    return columns, y.astype("category").cat.codes.to_numpy(np.int64), dates


def data() -> Path:
    return Path(os.environ["OFFSAMPLE_DATA"])


def tables(only: list[str]) -> Iterator[tuple[str, Any]]:
    paths = [
        path
        for room in ("", "grouped", "temporal", "imbalanced")
        for path in (data() / room).glob("*.parquet")
    ]
    for path in sorted(paths):
        if path.stem not in SKIPPED and (not only or path.stem in only):
            yield path.stem, arrays_of(path)


def main(only: list[str]) -> None:
    from offsample.rows import find_drift, find_repeats, suspect_entities, suspect_orders

    for name, (columns, y, dates) in tables(only):
        repeats = find_repeats(columns, y)
        said = (
            [f"{repeats.n_duplicates} duplicates are copies, p {repeats.p_value:.1g}"]
            if repeats.are_copies
            else []
        )
        for entity in suspect_entities(columns, y):
            carried = ", ".join(one.name or "class" for one in entity.carried)
            said.append(
                f"entity {' × '.join(entity.names)}: {entity.n_groups} groups,"
                f" missing mass {entity.missing_mass:.3f}, carries {carried or '–'},"
                f" crosses {', '.join(entity.crossed) or '–'};"
                f" error {entity.error_known:.3f}, on new {entity.error_new:.3f}"
            )
        for order in suspect_orders(columns, y, dates):
            if order.is_suspected:
                errors = f"{order.error:.3f}, shuffled {order.shuffled_error:.3f}"
                said.append(f"order {order.name or 'of rows'}: p {order.p_value:.1g}, error {errors}")
        if name in TIMES:
            drifts = find_drift(
                {n: c for n, c in columns.items() if n != TIMES[name]}, y, columns[TIMES[name]]
            )
            found = [
                f"{d.name or 'class'} {d.error:.3f}/{d.shuffled_error:.3f}" for d in drifts if d.is_found
            ]
            said.append(f"drift {', '.join(found) or '–'}")
        print(f"{name} ({len(y)} × {len(columns)}):", *said or ["nothing"], sep="\n    ", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
