"""The model card: what the model was fitted to, whom its error is for, and what it does when in doubt."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from offsample.export import to_python
from offsample.report._formats import amount, count, listed, percent, short_name
from offsample.report._study import Study
from offsample.report.sections.model import Model
from offsample.report.sections.verdict import Verdict
from offsample.tables import EncodedTable

# Of a model that cannot be taken to where this library is not.
NOT_WRITTEN = "Not written as SQL or Python"
# What models of each kind do with a value that is missing, and with a category that they have never seen.
_ALIKE = "A number beyond those that were seen is on the same side as the nearest."
_DOUBTS = {
    "tree": (
        "A missing category is a value of its own or, if none was missing, one never seen. A missing number "
        "goes with the side of a split that the rows without one belong to; if none was missing there, with "
        "the larger side.",
        "At a category that was never seen a row stops, and is decided like all rows that came so far. "
        f"{_ALIKE}",
    ),
    "tree of oblique tests": (
        "A missing category is a value of its own. A missing number counts as the mean of its column.",
        "A category that was never seen counts as none of those that were. Numbers beyond those that were "
        "seen are computed with as they are.",
    ),
}
_OF_RULES = (
    "Missing is a value of its own, which a condition may ask for. No comparison with a missing number is "
    "true.",
    "No condition that names a category is true of one that was never seen: the next rule decides, at last "
    f"the default. {_ALIKE}",
)


@dataclass(frozen=True)
class CardLine:
    """One thing that whoever uses the model should know."""

    about: str
    said: str


def describe(
    study: Study, model: Model, verdict: Verdict, estimator: Any, title: str
) -> tuple[CardLine, ...]:
    """Gather what was decided elsewhere, and ask the model about a row of which nothing is known."""
    is_number = study.task == "regression"
    classes = "a number" if is_number else f"{listed([f'“{short_name(one)}”' for one in study.classes], 6)}"
    rows = f"{count(verdict.n_modelled)} of " * (verdict.n_modelled < verdict.n_rows)
    fitted = (
        f"{rows}{amount(verdict.n_rows, 'row')} of {short_name(title)}, also those held back to measure it"
    )
    holds = str(study.new_rows)
    if study.options.group:
        holds += (
            f", by {amount(int(max(one.max() for one in study.new_rows.groups)) + 1, 'group')} in the table"
        )
    holds += f", {verdict.assumption}" if verdict.assumption else ""
    lines = [
        ("Predicts", f"{short_name(study.target)}: {classes}"),
        ("Model", f"{model.name}; random numbers from seed {study.options.random_state}"),
        ("Fitted to", fitted),
        ("Its error is for", f"{holds}. {verdict.doubt or ''}".strip()),
    ]
    if verdict.undecided is not None:
        lines.append(("Handed over", verdict.handed_over))
    if not model.columns:
        return tuple(CardLine(*line) for line in lines)
    empty = [
        f"{short_name(name)} ({percent(float(study.encoded.is_missing(name).mean()))})"
        for name in study.encoded
        if str(name) in model.columns and study.encoded.is_missing(name).any()
    ]
    missing, unseen = _DOUBTS.get(model.kind, _OF_RULES)
    said = _of_nothing(study, estimator)
    here = (
        f"In these rows values are missing of {listed(empty, 6)}."
        if empty
        else "In these rows no value of what it looks at is missing."
    )
    lines += [
        ("Looks at", f"{listed([short_name(name) for name in model.columns], 12)}, and ignores all else"),
        ("Missing values", f"{missing} {here}"),
        ("Values never seen", unseen),
        ("A row of which nothing is known", f"is said to be {said}"),
    ]
    try:
        to_python(estimator)
    except ValueError as error:
        lines.append((NOT_WRITTEN, str(error)))
    return tuple(CardLine(*line) for line in lines)


def _of_nothing(study: Study, estimator: Any) -> str:
    """What the model says of a row in which every value is missing."""
    known = estimator._read.known
    row = {name: np.array([nan if one.kind == "numeric" else len(one.values)]) for name, one in known.items()}
    table = EncodedTable(dict.fromkeys(estimator._ignored, np.zeros(1)) | row, known)
    (said,) = estimator.model_.predict(table)
    if study.task == "regression":
        return study.written(float(said))
    share = float(estimator.model_.predict_proba(table).max())
    return f"“{short_name(said)}”, with a probability of {percent(share)}"
