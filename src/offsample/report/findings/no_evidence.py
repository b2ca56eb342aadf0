"""No evidence: nothing suggests that the column helps by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from offsample._ties import rounded
from offsample.ranking import RankedFeature
from offsample.report._formats import auc_text, percent, quantity
from offsample.report._study import Study
from offsample.report.findings import Finding, Term

CODE = "no-evidence"
TERM = Term(
    "No evidence",
    "By itself, a column that has nothing to do with the target could easily look like this one.",
    "That does not prove it useless: with more rows, or together with other columns, it may turn out to "
    "help. The model may use it with others.",
    is_quiet=True,
)
RULE = (
    "What the column seems to gain by itself may well be luck, given how many columns were examined. It may "
    "still help in a larger table, or together with other columns, as it does where the model rightly uses "
    "it. Of the columns without a finding, at most 5 % are noise, on average."
)
QUARANTINES = False
_USED = " The model uses it all the same; what it adds there is not tested."


def find(study: Study) -> dict[Any, Finding]:
    """Find columns whose worth cannot be told from none."""
    return {
        f.name: Finding(
            CODE, str(f.name), f"{f.name}: {_compared(f, study)}" + _USED * (f.name in study.used)
        )
        for f in study.ranking
        if not f.significant and f.name not in study.findings
    }


def _compared(feature: RankedFeature, study: Study) -> str:
    metric, score, new_rows = study.metric, study.score_of(feature), str(study.new_rows)
    chance = f"(p = {feature.p_value:.2g})."
    if score is not None and metric.name == "auc":
        if rounded(score.value) <= 0.5:
            return f"orders {new_rows} no better than chance {chance}"
        return f"orders {new_rows} with AUC {auc_text(score.value)}, which may well be luck {chance}"
    if score is not None and metric.name == "r2" and study.by_medians is None:
        if rounded(score.value) <= 0:
            return f"explains nothing on {new_rows} {chance}"
        return f"R² {metric.write(score.value)} on {new_rows}, which may well be luck {chance}"
    told, value, base = "wrong in {} of {}", min(feature.error, 1.0), study.ranking.baseline_error
    write: Callable[[float], str] = percent
    if (medians := study.by_medians) is not None:
        told, value, write = "off by {} on {}", medians[feature.name].error, quantity
        base = medians.baseline_error
    elif score is not None:
        told, value, write = f"{metric.title} {{}} on {{}}", score.value, metric.write
        base = (study.ranking.baseline_score or 0.0) * metric.per
    figure, without = write(value), write(base)
    is_better = value < base and figure != without
    return (
        f"{told.format(figure, new_rows)}, {'against' if is_better else 'no better than the'} {without} "
        f"without any column{', which may well be luck' if is_better else ''} {chance}"
    )
