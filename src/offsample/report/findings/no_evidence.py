"""No evidence: nothing suggests that the column helps, by itself or in the model."""

from __future__ import annotations

from typing import Any

from offsample._ties import rounded
from offsample.ranking import RankedFeature
from offsample.report._formats import auc_text, percent
from offsample.report._metrics import ERROR
from offsample.report._study import Study
from offsample.report.findings import Finding, Term

CODE = "no-evidence"
TERM = Term(
    "No evidence",
    "A column that has nothing to do with the target could easily look like this one.",
    "That does not prove it useless: with more rows, or together with other columns, it may turn out to "
    "help.",
    is_quiet=True,
)
RULE = (
    "What the column seems to gain may well be luck, given how many columns were examined, and the model "
    "does not use it. It may still help in a larger table, or together with other columns. Of the columns "
    "without this finding, at most 5 % are noise, on average."
)
QUARANTINES = False


def find(study: Study) -> dict[Any, Finding]:
    """Find columns whose worth cannot be told from none."""
    return {
        f.name: Finding(
            CODE,
            str(f.name),
            f"{f.name}: {_compared(f, study.ranking.baseline_error, str(study.new_rows), study.metric.name)}",
        )
        for f in study.ranking
        if not f.significant and f.name not in study.findings and f.name not in study.used
    }


def _compared(
    feature: RankedFeature, baseline: float, new_rows: str = "new rows", metric: str = ERROR
) -> str:
    auc = getattr(feature, "auc", None)
    if metric != ERROR and auc is not None:
        if rounded(auc) <= 0.5:
            return f"orders {new_rows} no better than chance (p = {feature.p_value:.2g})."
        return (
            f"orders {new_rows} with AUC {auc_text(auc)}, which may well be luck (p = {feature.p_value:.2g})."
        )
    error, without = percent(min(feature.error, 1)), percent(baseline)
    is_better = feature.error < baseline and error != without
    return (
        f"wrong in {error} of {new_rows}, {'against' if is_better else 'no better than the'} {without} "
        f"without any column{', which may well be luck' if is_better else ''} (p = {feature.p_value:.2g})."
    )
