"""No evidence: nothing suggests that the column helps, by itself or in the model."""

from __future__ import annotations

from typing import Any

from offsample.report._formats import percent
from offsample.report._study import Study
from offsample.report.findings._finding import Finding

RULE = (
    "Its gain is not significant after a false-discovery control over all columns at 5 %, and the model does "
    "not use it either. It may still matter: with few rows, or together with others. Of the columns that do "
    "not get this finding at most 5 % are noise, on average."
)


def find(study: Study, without: frozenset[Any], used: frozenset[Any]) -> dict[Any, Finding]:
    """Columns whose worth cannot be told from none."""
    return {
        f.name: Finding(
            "no-evidence",
            str(f.name),
            f"{f.name}: no evidence of a signal (p = {f.p_value:.2g}, estimated error "
            f"{percent(min(f.error, 1))} against {percent(study.ranking.baseline_error)} without any "
            f"column).",
        )
        for f in study.ranking
        if not f.significant and f.name not in without and f.name not in used
    }
