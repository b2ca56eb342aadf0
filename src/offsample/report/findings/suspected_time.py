"""Suspected order: dates and running numbers along which the class changes, and the order of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from offsample._typing import Ints
from offsample.report._formats import listed, percent, short_name
from offsample.report._study import Study
from offsample.report.findings import Finding, Term
from offsample.report.sections._honest import validated_as
from offsample.rows import Order

CODE = "suspected_time"
TERM = Term(
    "Suspected order",
    "The target changes along a date, a running number or the order of the rows. If new rows are later ones, "
    "they are not like these.",
    "Say who the new rows are: if they are later ones, name the column with --time (time= in Python).",
)
RULE = (
    "Along the column, or down the table, neighbouring rows are of the same class more often than by chance, "
    "or twenty parts of the rows have different shares of the classes, at 1 % over all columns asked about. "
    "Or a column predicts later rows, by a date, worse than in any other order. Asked about are dates, "
    "also as ISO text, whole numbers that hardly repeat and have few gaps, and the order of the rows "
    "unless they are sorted by the class or a column."
)
QUARANTINES = False
OF_ROWS = "(order of the rows)"

_MOST = 2  # orders that the model is cross-validated along


def find(study: Study) -> dict[Any, Finding]:
    """Find orders in which the rows may have come, unless the user has said it."""
    what = "whether rows came in an order"
    if study.options.time is None and study.options.group:
        study.leave_out(what, "its tests take rows as independent, not in groups")
    elif study.options.time is None and study.has_time_for(what):
        return {order.name: _finding(study, order) for order in study.suspected_orders[:_MOST]}
    return {}


def _finding(study: Study, order: Order) -> Finding:
    """Put past to future beside the same with shuffled times: both learn from as many rows."""
    name = "the order of the rows" if order.name is None else str(order.name)
    time = study.places_in(order)
    shuffled = np.random.default_rng(study.options.random_state).permutation(time)
    rows, asked = replace(study.new_rows, time=time), "Are new rows later ones? Then "
    # As a time it is no column any more.
    without = [order.name] if order.name in study.used else []
    who = f"a model of this size without {name}" if without else "the model"
    both = rows, replace(rows, time=shuffled)
    later, any_order = (validated_as(study, study.choice, one, without) for one in both)
    if later is None or any_order is None:
        errors = (
            f"the best column alone is wrong in {percent(order.error)} of the last rows, and in "
            f"{percent(order.shuffled_error)} if rows came in any order"
        )
    elif study.metric.loss_of(later)[1] <= study.metric.loss_of(any_order)[1] or (
        study.metric.figure(later) == study.metric.figure(any_order)
    ):
        asked, errors = f"Learned from the past, {who} does as well on later rows", " as in any other order"
    else:
        study.asked.append(replace(later, label=f"later rows by {name}"))
        told, any_other = study.metric.told(later, "later rows"), study.metric.figure(any_order)
        told = f"{'is' if study.metric.is_error else 'has'} {told}"
        errors = f"learned from the past, {who} {told}; in any other order it would be {any_other}"
    what = "class" if study.task == "classification" else "target"
    verb = "changes" if order.part_shares else "comes in runs"
    changes = f"along it the {what} {verb}{_shown(study, order)}, {_ends(study, order, time)} in the last"
    if order.drifting:
        changes = f"along it changes what {listed(order.drifting)} says of the {what}"
    message = f"{name}: {changes}. {asked}{errors}."
    return Finding(CODE, None if order.name is None else name, message)


def _shown(study: Study, order: Order) -> str:
    """Say what the test has seen: neighbours that are alike, or parts that differ."""
    if not order.part_shares:
        alike, by_chance = percent(order.alike), percent(order.alike_by_chance)
        of = "the same class" if study.task == "classification" else "the same fifth of the target"
        return f" (neighbouring rows are of {of} in {alike} of cases, in any order in {by_chance})"
    n_parts = len(order.part_shares)
    shares = np.array(order.part_shares)
    widest = int(np.ptp(shares, axis=0).argmax())
    least, most = percent(shares[:, widest].min()), percent(shares[:, widest].max())
    name = short_name(study.classes[widest])
    if study.task == "regression":
        name = f"of its rows in {name} of the target"
    return f" (of {n_parts} parts of the rows one has {least} {name}, another {most})"


def _ends(study: Study, order: Order, time: Ints) -> str:
    """Say what the first fifth of the rows is like, and what the last."""
    if study.task == "regression":
        ends = np.quantile(time, (0.2, 0.8))
        first, last = study.said_of(time <= ends[0]), study.said_of(time >= ends[1])
    else:
        shares = (one[study.class_of_interest] for one in (order.first_shares, order.last_shares))
        first, last = map(percent, shares)
        first += f" {short_name(study.classes[study.class_of_interest])}"
    here = "in the first fifth of the rows"  # runs, as of weekdays, need not have led anywhere
    return f"from {first} {here} to {last}" if order.part_shares else f"{first} {here} and {last}"
