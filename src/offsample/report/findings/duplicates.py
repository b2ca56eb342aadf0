"""Duplicates: rows that were written more than once."""

from __future__ import annotations

from typing import Any

from offsample.report._formats import amount, count, listed
from offsample.report._study import Study
from offsample.report.findings import Finding, Term
from offsample.rows._repeats import LEVEL

CODE = "duplicates"
TERM = Term(
    "Copies",
    "Rows occur more than once, far more often than independent rows would: what is learned from one copy "
    "is known of the others, which says nothing about new rows.",
    "Find out how they came about, and keep one of each. So it is done here, unless all that repeats differs "
    "in the target.",
)
RULE = (
    "There are more equal rows than if the columns came in two independent halves, ten times over; and more "
    "than 70 % of the rows that agree in one half agree in the other, whichever half that is. Or all rows "
    "occur an even number of times; of a table that models see a part of, its rows are a multiple of those "
    "that differ, of which there are 1,000 or more. If they are no copies so, what copies may differ in is "
    "set aside: times, what names each row, and a number that differs in rows that agree in two others. "
    "Then the same is asked without the target: rows are copies if two columns of numbers repeat together "
    "and most are of one class. At most "
    f"{100 * LEVEL:g} % of tables of independent rows get this finding, also where columns have few values "
    "and repeats are natural."
)
QUARANTINES = False


def find(study: Study) -> dict[Any, Finding]:
    """Say that repeated rows are copies."""
    repeats = study.repeats
    if not repeats.are_copies and not repeats.are_conflicts:
        return {}
    why = f"independent rows would show at most {count(repeats.n_expected)}"
    if repeats.times > 1:
        why = f"every row occurs {repeats.times} times, or a multiple of it"
    counted = repeats.n_rows, repeats.n_copies, repeats.n_conflicting
    n_rows, n_copies, n_conflicting = (None if repeats.apart_from else study.repeated) or counted
    said = [f"{count(n_copies)} of {amount(n_rows, 'row')} equal an earlier one"] * (n_copies > 0)
    if n_conflicting:
        also = "do" if said else f"of {amount(n_rows, 'row')} equal an earlier one"
        said.append(f"{count(n_conflicting)} {also} in all columns but the target")
    but_for = f", but for {listed(repeats.apart_from)}" * bool(repeats.apart_from)
    told = " The columns do not tell such rows apart, or one of two is wrong." * repeats.are_conflicts
    return {None: Finding(CODE, None, f"{', and '.join(said)}{but_for}: {why}.{told}")}
