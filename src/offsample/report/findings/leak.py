"""Leak: one column predicts almost perfectly, and nothing else comes near it."""

from __future__ import annotations

from typing import Any

from offsample.report._formats import percent
from offsample.report._study import Study
from offsample.report.findings._finding import Finding
from offsample.report.findings.near_copy import copies

RULE = (
    "The column alone removes two thirds of the baseline's error or more, at the upper end of its 95 % "
    "interval, and a tree on all other columns together is worse than a tree on it alone: their 95 % "
    "intervals do not touch. Columns that nearly determine each other are judged together. No column of 50 "
    "real data sets is flagged; a lawful cause that nothing else stands in for would be, so take it as a "
    "question."
)

_LEFT = 1 / 3


def find(study: Study, without: frozenset[Any]) -> dict[Any, Finding]:
    """Columns that are probably known only after the target is."""
    limit = _LEFT * study.ranking.baseline_error
    names = [f.name for f in study.ranking if f.name not in without]
    suspects = [f.name for f in study.ranking if f.name in set(names) and f.significant and f.high <= limit]
    if not suspects:
        return {}
    twins = copies(study, suspects, _LEFT)
    found = {}
    for name in suspects:
        group = {name, *(b for a, b in twins if a == name), *(a for a, b in twins if b == name)}
        others = [other for other in names if other not in group]
        alone = study.tree([name])
        high = alone.estimated_error_interval_[1]
        rest = study.tree(others) if others else None
        low = rest.estimated_error_interval_[0] if rest else study.majority_error
        if high < low:
            error = rest.estimated_error_ if rest else study.majority_error
            found[name] = Finding(
                "leak",
                str(name),
                f"{name} alone predicts {study.target} with an error of {percent(alone.estimated_error_)}; "
                f"all other columns together reach {percent(error)}. Is it known before {study.target} is?",
                tuple(sorted(str(other) for other in group - {name})),
            )
    return found
