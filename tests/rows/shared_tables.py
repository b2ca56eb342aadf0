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
