"""Constant: the same value in every row."""

from __future__ import annotations

from typing import Any

from offsample.report._study import Study
from offsample.report.findings import Finding, Term

CODE = "constant"
TERM = Term("Constant", "Every row has the same value.", "It cannot tell rows apart.", is_quiet=True)
RULE = "Every row has the same value, or none has one. This is counted on all rows, so it is never wrong."
QUARANTINES = False


def find(study: Study) -> dict[Any, Finding]:
    """Find columns with one value."""
    found = {}
    for f in study.ranking:
        if f.n_values == 1 or f.n_cells <= 1:
            empty = f.n_missing == study.ranking.n_samples
            what = "has no value in any row" if empty else "has the same value in every row"
            found[f.name] = Finding(CODE, str(f.name), f"{f.name} {what}.")
    return found
