"""Suspected group: the rows seem to belong to the values of a column, as visits belong to patients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from offsample._held_out_counts import together
from offsample.report._formats import count, interval, listed, percent, short_name
from offsample.report._study import Study
from offsample.report._units import NewRows
from offsample.report.findings import Finding, Term
from offsample.report.sections._honest import HonestError, of_easier, validated_as
from offsample.rows import Entity, suspect_clusters
from offsample.rows._columns import codes_of
from offsample.rows._entities import are_alike, possible_entities

CODE = "suspected_group"
TERM = Term(
    "Suspected group",
    "Rows with the same value seem to belong together, as visits of a patient do. On rows of a new value the "
    "error is another one.",
    "Say who the new rows are: if they are of new values, name the column with --group (group= in Python).",
)
# Of a column that the model looks at: so much more error on rows of new values, and so many times as much.
RISE, TIMES = 0.05, 1.15
RULE = (
    "The values repeat, and rows of one value are far more alike than rows of neighbouring values: in two "
    "columns that have nothing to do with each other, or in the class; or no value of another column occurs "
    "twice with the same value. By the best single column, the value itself among them, rows of new "
    "values are predicted worse than those of known ones, by a point or more. At most 5 % of tables "
    "of independent rows get this finding so, but for values that others were looked up by. Or the "
    "column, of thirty categories or more or of whole "
    "numbers with few gaps (of thirteen if all have about as many rows, as in a panel), says something of "
    "the class, and the model is wrong in rows of new values, of it "
    f"or of two such columns that it looks at, by {100 * RISE:g} points and {TIMES:g} times as often or "
    "more, and beyond the 95 % interval, or one standard error if the values have equal numbers of rows, as "
    "in a panel. Then nothing in the table tells customers, who are new, from "
    "cities, which come again: an honest city of such weight is asked about too. Or, with "
    "no such column, rows lie in 25 or more tight clusters of the continuous columns, each with a class of "
    "its own, and that of a row just beyond says nothing. It is a question: a city whose values all come "
    "again may be an honest column."
)
QUARANTINES = False

_MOST = 2  # columns that the model is cross-validated by
_ALL_KNOWN = 0.01


def find(study: Study) -> dict[Any, Finding]:
    """Find columns that may name what the rows belong to, unless the user has said it."""
    what = "whether rows belong together"
    if study.options.group or not study.has_time_for(what):
        return {}
    found, (table, labels), entities = dict[Any, Finding](), study.unordered, study.entities[:_MOST]
    known = {name for entity in entities for name in entity.names}
    rest = [name for name in table if name not in known and not study.is_date(name)]
    possible = sorted(possible_entities(table, labels, rest), key=lambda one: one.names[0] not in study.used)
    possible = [] if study.choice is None else possible[:_MOST]
    for entity in (*entities, *possible):
        if len(found) < _MOST:
            by_group = _new_values(study, entity)
            new = validated_as(study, study.choice, by_group, without=entity.names)
            if entity in entities or _is_harmed(study, new, are_alike=_of_panel(by_group)):
                others = tuple(str(one.name) for one in entity.carried if one.name is not None)
                rows_are = "rows seem to belong to"
                if entity in possible and entity.names[0] in study.used:
                    rows_are = "the model looks at"
                question = _question(study, entity, by_group, new)
                if question is not None:
                    said = f"{_name(entity)}: {rows_are} {_values(entity)}. {question}"
                    found[entity.names] = Finding(CODE, _name(entity), said, others)
    crossing = len(possible) == _MOST and all(one.names[0] in study.used for one in possible)
    if not found and crossing:  # that cross, as users and items do: of one the other makes up
        one, other = (_new_values(study, entity) for entity in possible)
        both = replace(one, groups=one.groups + other.groups, names=one.names + other.names)
        new = validated_as(study, study.choice, both, without=[*possible[0].names, *possible[1].names])
        if _is_harmed(study, new):
            said = f"the model looks at {' and at '.join(map(_values, possible))}. "
            said += _question(study, possible[0], both, new) or ""
            for entity in possible:
                found[entity.names] = Finding(CODE, _name(entity), f"{_name(entity)}: {said}")
    clusters = None if found else suspect_clusters(table, labels)
    if clusters is not None:
        names, near, beyond = clusters.columns, percent(clusters.error_known), percent(clusters.error_new)
        said = (
            f"Rows lie in about {count(clusters.n_clusters)} tight clusters in {listed(names)}, as visits of "
            f"a patient do, and no column says of what. The class differs in {near} from that of a row in "
            f"the same cluster, and in {beyond} from that of one just beyond. Is a new row one of a new "
            "cluster? Then add a column that says which rows belong together, and name it with --group."
        )
        found[names] = Finding(CODE, None, said, names)
    return found


def _name(entity: Entity) -> str:
    return " × ".join(map(str, entity.names))


def _values(entity: Entity) -> str:
    named = f"“{short_name(_name(entity))}”"
    return f"{count(entity.n_groups)} different {named}, with {entity.rows_per_group:.3g} rows each"


def _new_values(study: Study, entity: Entity) -> NewRows:
    """New rows of which each has a new value."""
    group = together(*(np.unique(study.encoded[name], return_inverse=True)[1] for name in entity.names))
    return replace(study.new_rows, groups=(group,), names=(_name(entity),), are_copies=False)


def _of_panel(new_rows: NewRows) -> bool:
    return len(new_rows.groups) == 1 and are_alike(codes_of(new_rows.groups[0]))


def _is_harmed(study: Study, new: HonestError | None, *, are_alike: bool = False) -> bool:
    """Whether the model is so much worse on rows of new values that it must be asked whether they are.

    Both errors are of the same rows, and vary together: for values of a panel one standard error is enough.
    Others may be cities.
    """
    if new is None:
        return False
    known, (low, value, high) = study.metric.loss_of(study.shown)[1], study.metric.loss_of(new)
    enough = (high - low) / 3.92 if are_alike else value - low
    return value >= max(known + RISE, TIMES * known) and value - known > enough


def _question(study: Study, entity: Entity, by_group: NewRows, new: HonestError | None) -> str | None:
    """Ask it, with both errors; None where the model is no worse on new values: it does not matter."""
    study.suspected.extend(by_group.groups)
    a_new = " and ".join(f"a new “{short_name(name)}”" for name in by_group.names)
    if new is not None:
        easier = replace(next(by_group.weaker()), time=by_group.time, gap=by_group.gap)
        told = of_easier(study.seen_as(by_group), study.choice, easier)
        knows = told is not None and told.knows
        if knows and study.used & {*entity.names}:  # as the model of the page does
            knows = study.metric.loss_of(told)[1] < study.metric.loss_of(study.shown)[1]
        of_known, who = (told, "Told which, the") if knows else (study.shown, "The")
        who = "Told which, a" if knows and not study.used else who  # the page shows a guess
        known, within = study.metric.figure(of_known), f"({study.metric.likely(of_known)})"
        if known == study.metric.figure(new):
            return None
        study.asked += [new, told] if knows else [new]
        errors = f"{who} model is wrong in {known} {within} of new rows of these, and in "
        errors += f"{percent(new.error)} ({interval(new.low, new.high)}) of rows of {a_new}"
        if not study.metric.is_error:
            errors = f"{who} model has {study.metric.title} {known} {within} on new rows of these, and "
            errors += study.metric.told(new, f"rows of {a_new}")
    else:
        errors = (
            f"The best column alone is wrong in {percent(entity.error_known)} of new rows of these, and in "
            f"{percent(entity.error_new)} of rows of {a_new}"
        )
    mass = (
        "As all have about as many rows, how often new ones come cannot be told"
        if _of_panel(by_group)
        else "If rows come as these did, nearly all new ones will have a value that is known: if they do, as "
        "with cities, the first error holds"
        if entity.missing_mass <= _ALL_KNOWN
        else f"Even if rows come as these did, {percent(entity.missing_mass)} of them will have a new one"
    )
    pair = (
        " To say so, make one column of both, and name it."
        if len(entity.names) > 1
        else f" --group {','.join(by_group.names)} makes the page for them, with a model of its own."
    )
    return f"Is a new row {a_new}? {errors}. {mass}.{pair}"
