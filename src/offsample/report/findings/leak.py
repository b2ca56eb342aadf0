"""Leak: one column predicts almost perfectly, and nothing else comes near it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from offsample._squared_losses import squared_losses
from offsample._text import MAJORITY
from offsample._typing import Ints
from offsample.counts import CellMoments, count_cells
from offsample.report._formats import percent, r2_text
from offsample.report._study import Study, compared_rows
from offsample.report.findings import Finding, Term
from offsample.report.findings.near_copy import copies

CODE = "leak"
TERM = Term(
    "Leak",
    "The column predicts the target almost perfectly, and nothing else comes close.",
    "Ask when its value becomes known. If that is only after the target, drop it. If it is before, say so "
    "(known= or --known), and the model uses it; here it does not.",
)
RULE = (
    "By itself the column removes at least two thirds (of the squared error of a number: five sixths) of "
    "the error made without any column, even at the upper end of its 95 % interval; and a tree with all "
    "the other columns does worse than a tree with this one alone: their 99 % intervals do not touch. "
    "Columns that nearly determine each other are judged together. If a few rows decide all squares of a "
    "number, its ranks take its place. Where the report leads with another metric, the log loss takes the "
    "place of the error. No column of 50 real data sets was flagged. A "
    "legitimate cause that no other column reflects would be, so take the finding as a question."
)
QUARANTINES = True

_LEFT, _LEFT_OF_NUMBERS = 1 / 3, 1 / 6
_WIDER = 2.576 / 1.96  # an interval of 99 % than one of 95 %: the column is the best of many


def find(study: Study) -> dict[Any, Finding]:
    """Find columns that are probably known only after the target is."""
    of_numbers, limit = study.task == "regression", limit_of(study)
    is_error = study.metric.is_error or of_numbers
    errors = {f.name: f.error for f in study.ranking if f.name not in study.findings}
    by_ranks, ranked = of_numbers and study.ranking.few_decide is not None, study
    if by_ranks:  # a few rows decide all squares: ranks have none that are far away
        ranked = study.seen_as(study.new_rows, study.varying)
        ranked.__dict__["_labelled"] = study._labelled[0], rankdata(study.y), study._labelled[2]
    suspects = [
        f.name
        for f in study.ranking
        if f.name in errors
        and f.name not in study.options.known
        and f.significant
        and (
            f.high <= limit
            or (by_ranks and _r2_of_ranks(study, f.name) >= 1 - _LEFT_OF_NUMBERS)
            or (not is_error and log_loss_left(study, study.cells(f.name)[0])[2] <= _LEFT)
        )
    ]
    if not suspects:
        return {}
    twins = copies(study, suspects, _LEFT)
    found = {}
    for name in suspects:
        group = {name, *(b for a, b in twins if a == name), *(a for a, b in twins if b == name)}
        others = [other for other in errors if other not in group]
        rest = ranked.tree(others) if others else None
        beside = ("the mean" if of_numbers else MAJORITY) if rest is None else "a tree of all other columns"
        if is_error:
            alone, low, error = ranked.tree([name]), *[ranked.majority_error] * 2
            own = alone.estimated_error_
            high = own + _WIDER * (alone.estimated_error_interval_[1] - own)
            if rest is not None:
                error = rest.estimated_error_
                low = error - _WIDER * (error - rest.estimated_error_interval_[0])
            told = f"predicts {study.target} with {percent(own)} errors, in a tree; {beside} makes"
            if of_numbers:
                share, what = r2_text(1 - own / ranked.majority_error), "the ranks of " * by_ranks
                told = f"explains {share} of the variance of {what}{study.target}, in a tree; {beside}"
        else:
            own, _, high = log_loss_left(study, study.cells(name)[0])
            low = error = 1.0
            if rest is not None:  # whose splits were chosen by these rows: at least as much is left
                leaves = rest.apply(study.columns(others))[compared_rows(len(study.y))]
                error, low, _ = log_loss_left(study, np.unique(leaves, return_inverse=True)[1])
            told = f"leaves {percent(own)} of the log loss without any column; {beside} leaves"
        left = r2_text(1 - error / ranked.majority_error) if of_numbers else percent(error)
        if high < low:
            found[name] = Finding(
                CODE,
                str(name),
                f"{name} by itself {told} {left}. Is it known before {study.target} is?",
                tuple(sorted(str(other) for other in group - {name})),
            )
    return found


def limit_of(study: Study) -> float:
    """Return the most error that a column by itself may leave, and be a leak."""
    return (_LEFT_OF_NUMBERS if study.task == "regression" else _LEFT) * study.ranking.baseline_error


def _r2_of_ranks(study: Study, name: Any) -> float:
    """Lower end of the interval of R² of a column, for the ranks of the target."""
    ranks = rankdata(study.y[compared_rows(len(study.y))])
    cells = CellMoments.from_codes(study.cells(name)[0], ranks)
    return squared_losses(cells).r2_interval()[0]


def log_loss_left(study: Study, cells: Ints) -> tuple[float, float, float]:
    """Return the log loss of the cells of compared rows as a share of that without any, and its interval.

    A row is left out of its cell and of the class shares, as by `criteria.log_loss_loo`.
    """
    labels = study.labels[compared_rows(len(study.y))]
    totals = np.bincount(labels, minlength=len(study.classes))
    counts = count_cells(cells, labels, int(cells.max()) + 1, len(totals))
    share = np.maximum((totals - 1) / max(1, len(labels) - 1), 0.5 / len(labels))[labels]
    losses = -np.log((counts[cells, labels] - 1 + share) / counts[cells].sum(axis=1))
    loss, radius = losses.mean(), 1.96 * losses.std() / np.sqrt(len(losses))
    base = -np.log(share).mean()
    return float(loss / base), float((loss - radius) / base), float((loss + radius) / base)
