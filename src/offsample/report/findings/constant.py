"""Constant: the same value in every row."""

from __future__ import annotations

from typing import Any

from offsample.report._study import Study
from offsample.report.findings._finding import Finding

RULE = "Every row has the same value, or every value is missing. Counted on all rows: never wrong."


def find(study: Study) -> dict[Any, Finding]:
    """Columns with one value."""
    found = {}
    for f in study.ranking:
        if f.n_values == 1 or f.n_cells <= 1:
            what = (
                "is missing in every row" if f.n_missing == study.ranking.n_samples else "has one value only"
            )
            found[f.name] = Finding("constant", str(f.name), f"{f.name} {what}.")
    return found
