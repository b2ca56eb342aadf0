"""Missing is signal: what a column says is mostly whether it was filled in."""

from __future__ import annotations

from typing import Any

import numpy as np

from offsample._ties import best_of
from offsample._typing import Booleans
from offsample.ranking import rank_features
from offsample.report._formats import percent
from offsample.report._study import Study, compared_rows
from offsample.report.findings import Finding, Term
from offsample.report.findings.masked import gain_within
from offsample.tables._ways import MISSING

CODE = "missing_is_signal"
TERM = Term(
    "Missing is signal",
    "Whether the column was filled in says more about the target than what is in it.",
    "Find out why it is missing. If it is filled in after the outcome, it is a leak; if forms or habits "
    "change, the signal goes with them.",
)
RULE = (
    "Rows with and without a value differ in the target, after correction for the number of columns, and "
    "among the rows with a value less than half of the column's gain is left, with 95 % confidence: by the "
    "squared distance of class shares, or means, from what happened, whatever the report leads with. A "
    "column more than half of whose gain is in its values gets it in at most 5 % of tables."
)
QUARANTINES = False

_SHARE = 0.5


def find(study: Study) -> dict[Any, Finding]:
    """Find columns whose gain is mostly in whether they are missing."""
    asked = [f.name for f in study.ranking if f.significant and f.name not in study.findings]
    missing = {name: _is_missing(study, name) for name in asked}
    missing = {name: those for name, those in missing.items() if 0 < those.sum() < len(those)}
    if not missing:
        return {}
    told = rank_features(missing, study.outcome, group=study.told_groups, task=study.task)
    rows, found = compared_rows(len(study.y)), {}
    for name, those in missing.items():
        codes, strata = study.cells(name)[0], those[rows].astype(np.int64)
        if not told[name].significant or not 0 < strata.sum() < len(strata):
            continue
        whole, _ = gain_within(np.zeros_like(strata), codes, study.outcome[rows])
        left, deviation = gain_within(strata, codes, study.outcome[rows])
        if left + 1.645 * deviation < _SHARE * whole:
            found[name] = Finding(CODE, str(name), _said(study, name, those))
    return found


def _is_missing(study: Study, name: Any) -> Booleans:
    """Rows without a value, or with a word that says so; "none" may be an answer, such as none of these."""
    values, missing = study.encoded.known[name].values, study.encoded.is_missing(name)
    words = [i for i, one in enumerate(values) if str(one).strip().lower() in MISSING - {"none", "nil"}]
    return missing | np.isin(study.encoded[name], words) if words else missing


def _said(study: Study, name: Any, missing: Any) -> str:
    if study.task == "regression":
        return (
            f"{name}: {study.target} has {study.said_of(missing)} in the {missing.sum():,} rows where it is "
            f"missing, and {study.said_of(~missing)} in the others; what is in it says less."
        )
    with_, without = (
        np.bincount(study.labels[those], minlength=len(study.classes)) for those in (~missing, missing)
    )
    rates = without / without.sum(), with_ / with_.sum()
    is_of_interest = study.is_named and not study.metric.is_error
    of_most = study.class_of_interest if is_of_interest else best_of(rates[0] - rates[1])
    return (
        f"{name}: {study.target} is “{study.classes[of_most]}” in {percent(rates[0][of_most])} of the "
        f"{without.sum():,} rows where it is missing, and in {percent(rates[1][of_most])} of the others; "
        "what is in it says less."
    )
