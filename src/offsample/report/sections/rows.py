"""The rows: copies of each other, rows that belong together, rows in time."""

from __future__ import annotations

from dataclasses import dataclass

from offsample.report._formats import amount, count, listed
from offsample.report._study import Study
from offsample.report.findings import Finding, suspected_group, suspected_time


@dataclass(frozen=True)
class Rows:
    """What was found out about the rows."""

    n_rows: int  # that were compared: all with a class, or where that takes too long those of the models
    n_duplicates: int  # rows that equal an earlier one in all columns and in class
    n_conflicting: int  # rows whose columns equal those of an earlier one, but of none of the same class
    copies_left_out: bool  # whether equal rows are copies, of which one counts
    suspected_groups: tuple[str, ...]  # columns to whose values the rows seem to belong
    suspected_times: tuple[str, ...]  # columns, or "(order of the rows)", along which the class changes
    findings: tuple[Finding, ...]
    sentences: tuple[str, ...]  # what was counted, and what was done about it

    @property
    def questions(self) -> tuple[Finding, ...]:
        """The findings that ask who the new rows are."""
        return tuple(f for f in self.findings if f.code in (suspected_group.CODE, suspected_time.CODE))


def describe(study: Study) -> Rows:
    """Gather what was counted, and found."""
    findings, (n_rows, n_duplicates, n_conflicting) = tuple(study.of_rows), _counted(study)
    return Rows(
        n_rows=n_rows,
        n_duplicates=n_duplicates,
        n_conflicting=n_conflicting,
        copies_left_out=study.new_rows.are_copies,
        suspected_groups=tuple(f.column for f in findings if f.code == suspected_group.CODE and f.column),
        suspected_times=tuple(
            str(f.column or suspected_time.OF_ROWS) for f in findings if f.code == suspected_time.CODE
        ),
        findings=findings,
        sentences=tuple(_sentences(study)),
    )


def _counted(study: Study) -> tuple[int, int, int]:
    """Rows, those that equal an earlier one, and those that do but for the class: of the whole table."""
    repeats = study.repeats
    return study.repeated or (repeats.n_rows, repeats.n_duplicates, repeats.n_conflicting)


def _sentences(study: Study) -> list[str]:
    repeats, (n_rows, n_duplicates, n_conflicting) = study.repeats, _counted(study)
    part = ", those that models were fitted to" * (n_rows < study.ranking.n_samples)
    said = [f"Rows that equal an earlier one: {count(n_duplicates)} of {count(n_rows)}{part}."]
    if repeats.apart_from:
        n, names = count(repeats.n_copies), listed(repeats.apart_from)
        said.append(f"Rows that equal an earlier one but for {names}: {n}.")
    if n_conflicting:
        n = count(n_conflicting)
        said.append(f"Rows that do so but for the target, of which no model can be right on both: {n}.")
    if study.new_rows.are_copies:
        said.append(
            "They are copies: each row counts once, and copies that differ in the target were left out "
            "together. If they are none, say so: copies=“keep” in Python, --keep-copies on the command line."
        )
    elif n_rows > repeats.n_rows and n_duplicates and not repeats.are_copies:
        modelled = f"the {count(repeats.n_rows)} rows that models were fitted to"
        said.append(
            f"Whether they are copies was asked of {modelled}, and is not shown there: they count as rows."
        )
    elif repeats.n_copies and not repeats.are_copies and not repeats.are_conflicts:
        said.append("So many are natural in such columns: they count as rows.")
    elif repeats.are_copies:
        said.append("They seem to be copies, but count as rows, as was asked for.")
    if len(study.new_rows.groups) > 1:
        names, which = listed(study.new_rows.names), "both" if len(study.new_rows.groups) == 2 else "all"
        said.append(
            f"Rows that are new in {which} of {names} are predicted from rows that share none of them; those "
            "new in one alone, from all rows that do not share that one."
        )
    if len(study.tested) < len(study.y):
        n, of_all = count(len(study.tested)), count(len(study.y))
        others = "mean may be another" if study.task == "regression" else "classes may have other shares"
        said.append(
            f"{n} of the {of_all} rows can be held back so: errors of models, and of always guessing, are of "
            f"these, whose {others}."
        )
    if (time := study.options.time) is not None:
        parts = [part for part, name in study.parts.items() if name in study.X]
        again = "comes again, and is a column" if len(parts) == 1 else "come again, and are columns"
        made = f"; its {' and '.join(parts)} {again}" * bool(parts)
        said.append(
            f"{time} says what is earlier. It is no column to predict from, as new rows have later "
            f"values{made}."
        )
    if gap := study.options.gap:
        said.append(f"No model learns from the last {amount(gap, 'different time')} before what it predicts.")
    return said
