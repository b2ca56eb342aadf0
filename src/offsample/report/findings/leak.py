"""Leak: one column predicts almost perfectly, and nothing else comes near it."""

from __future__ import annotations

from typing import Any

from offsample.report._formats import percent
from offsample.report._study import Study
from offsample.report.findings import Finding, Term
from offsample.report.findings.near_copy import copies

CODE = "leak"
TERM = Term(
    "Leak",
    "The column predicts the target almost perfectly, and nothing else comes close.",
    "Ask when its value becomes known. If that is only after the target, drop it. The model here does "
    "not use it.",
)
RULE = (
    "By itself the column removes at least two thirds of the error made without any column, even at the "
    "upper end of its 95 % interval; and a tree with all the other columns does worse than a tree with this "
    "one alone: their 95 % intervals do not touch. Columns that nearly determine each other are judged "
    "together. No column of 50 real data sets was flagged. A legitimate cause that no other column reflects "
    "would be, so take the finding as a question."
)
QUARANTINES = True

_LEFT = 1 / 3


def find(study: Study) -> dict[Any, Finding]:
    """Find columns that are probably known only after the target is."""
    limit = _LEFT * study.ranking.baseline_error
    errors = {f.name: f.error for f in study.ranking if f.name not in study.findings}
    suspects = [f.name for f in study.ranking if f.name in errors and f.significant and f.high <= limit]
    if not suspects:
        return {}
    twins = copies(study, suspects, _LEFT)
    found = {}
    for name in suspects:
        group = {name, *(b for a, b in twins if a == name), *(a for a, b in twins if b == name)}
        others = [other for other in errors if other not in group]
        alone = study.tree([name])
        high = alone.estimated_error_interval_[1]
        rest = study.tree(others) if others else None
        low = rest.estimated_error_interval_[0] if rest else study.majority_error
        if high < low:
            error = rest.estimated_error_ if rest else study.majority_error
            found[name] = Finding(
                CODE,
                str(name),
                f"{name} by itself predicts {study.target} with {percent(errors[name])} errors; "
                f"all other columns together make {percent(error)}. Is it known before {study.target} is?",
                tuple(sorted(str(other) for other in group - {name})),
            )
    return found
