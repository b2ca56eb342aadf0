"""Masked: useful alone, useless given the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Ints
from offsample.counts import CellCounts, CellMoments, count_cells
from offsample.evidence import signal_evidence
from offsample.ranking import RankedFeature
from offsample.report._formats import auc_text, points, quantity
from offsample.report._study import Study, compared_rows
from offsample.report.findings import Finding, Term

CODE = "masked"
TERM = Term(
    "Masked",
    "Useful by itself, but of no proven use once the other columns are known.",
    "A model can do without it, or use it in place of the columns that mask it.",
)
RULE = (
    "By itself the column clearly helps. But among rows that the model treats alike, and that have the same "
    "values of the columns it uses as far as these are few, less than a tenth of that help is left, with "
    "95 % confidence: by the squared distance of class shares, or means, "
    "from what happened, whatever the report leads with. A column that adds more than that is "
    "wrongly called masked in at most 5 % of tables."
)
QUARANTINES = False

_SHARE = 0.1
_ROWS = 50  # that are alike in the columns that the model uses, on average


def find(study: Study) -> dict[Any, Finding]:
    """Find columns that the columns used by the recommended model stand in for."""
    rows = compared_rows(len(study.y))
    cells = study.model.apply(study.columns(study.allowed))[rows]
    cells = cells.argmax(axis=1) if cells.ndim == 2 else cells  # the likeliest leaf of a stochastic tree
    leaf = np.unique(cells, return_inverse=True)[1]
    for name in sorted(study.used, key=str):  # the same ones at each run, where there is no room for all
        pairs = np.column_stack([leaf, study.cells(name)[0]])
        finer = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
        leaf = finer if (int(finer.max()) + 1) * _ROWS <= len(leaf) else leaf
    target, found, one = study.outcome[rows], {}, np.zeros_like(leaf)
    for f in study.ranking:
        if not f.significant or f.name in study.findings or f.name in study.used:
            continue
        codes = study.cells(f.name)[0]
        left, deviation = gain_within(leaf, codes, target)
        whole = f.expected_gain if study.score_of(f) is None else gain_within(one, codes, target)[0]
        if left + 1.645 * deviation < _SHARE * whole:
            found[f.name] = Finding(
                CODE,
                str(f.name),
                f"{f.name} {_alone(f, study)} by itself, but adds almost nothing to the columns "
                "that the model uses.",
                tuple(sorted(map(str, study.used))),
            )
    return found


def _alone(feature: RankedFeature, study: Study) -> str:
    metric, score, medians = study.metric, study.score_of(feature), study.by_medians
    if medians is not None:
        return f"is off by {quantity(medians[feature.name].error)}, not {quantity(medians.baseline_error)},"
    if score is not None and metric.name == "auc":
        return f"orders rows with AUC {auc_text(score.value)}"
    if score is not None:
        return f"has {metric.word} {metric.write(score.value)}"
    return f"lowers the error by {points(feature.expected_gain).lstrip('+')} points"


def gain_within(strata: Ints, codes: Ints, target: NDArray[Any]) -> tuple[float, float]:
    """Return the gain of a column within strata, and its deviation over shuffles of the target in them.

    The target is codes of classes, or numbers.
    """
    m, is_number = len(target), target.dtype.kind == "f"
    n_classes = 0 if is_number else int(target.max()) + 1
    signal = variance = 0.0
    order = np.argsort(strata, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(strata))[:-1]):
        cells, local = np.unique(codes[rows], return_inverse=True)
        counted: CellCounts | CellMoments
        if is_number:
            counted = CellMoments.from_codes(local, target[rows])
        else:
            counted = CellCounts(count_cells(local, target[rows], len(cells), n_classes))
        evidence = signal_evidence(counted)
        share = len(rows) / m
        signal += share * evidence.signal
        variance += (share * evidence.deviation) ** 2
    return signal, float(np.sqrt(variance))
