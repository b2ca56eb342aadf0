"""Suspected order: the class changes along a number, a date or down the table."""

import re

import numpy as np
import pytest

from offsample.report import report
from offsample.report._study import Options, Study
from offsample.report.findings import suspected_time
from offsample.report.sections._honest import HonestError
from tests.rows.generators import drifting, few_valued


@pytest.fixture(scope="module")
def suspected():
    columns, y = drifting(np.random.default_rng(0))
    return report({**columns, "y": y}, "y", fast=True)


def test_a_running_number_is_asked_about_with_both_errors(suspected):
    assert suspected.rows.suspected_times == ("number",)
    (finding,) = suspected.rows.questions
    assert "Are new rows later ones?" in finding.message
    (later,) = suspected.verdict.asked
    assert later.label == "later rows by number"
    assert f"wrong in {100 * later.error:.1f} %" in finding.message


def test_a_number_that_is_quarantined_keeps_that_finding_too(suspected):
    codes = {f.code for f in suspected.columns.findings if f.column == "number"}
    assert codes == {"identifier", "suspected_time"}
    assert next(c.finding for c in suspected.columns.columns if c.name == "number") == "identifier"


def test_of_a_number_parts_are_told_apart_by_its_fifths():
    rng = np.random.default_rng(0)
    day = np.datetime64("2024-01-01", "D") + np.arange(800)
    y = rng.normal(size=800) + np.linspace(0, 3, 800)
    found = report({"day": day, "x": rng.normal(size=800), "y": y}, "y", fast=True)
    part = r"one has 0 % of its rows in the (lowest|highest) fifth of the target, another \d+\.\d %"
    assert re.search(part, found.rows.questions[0].message)


def test_the_order_of_the_rows_has_no_column():
    rng = np.random.default_rng(0)
    y = (rng.random(800) < np.linspace(0.2, 0.8, 800)).astype(int)
    found = report({"x": rng.normal(size=800), "y": y}, "y", fast=True)
    assert found.rows.suspected_times == ("(order of the rows)",)
    assert found.rows.questions[0].column is None
    assert found.rows.questions[0].message.startswith("the order of the rows: along it the class changes")
    assert "The order of the rows: along it" in found.to_markdown()


def test_dates_are_asked_about_and_missing_ones_come_last():
    rng = np.random.default_rng(0)
    day = np.datetime64("2026-01-01") + rng.permutation(600).astype("timedelta64[D]")
    y = (rng.random(600) < np.where(day < np.datetime64("2026-10-01"), 0.3, 0.7)).astype(int)
    day = day.astype("datetime64[us]")
    day[5] = np.datetime64("NaT")
    study = Study({"day": day, "x": rng.normal(size=600), "y": y}, "y", Options())
    (order,) = study.suspected_orders
    assert (order.name, order.kind) == ("day", "date")
    assert study.places_in(order).argmax() == 5


def test_dates_that_are_text_are_asked_about_as_dates_are():
    rng = np.random.default_rng(0)
    day = np.datetime64("2026-01-01") + rng.permutation(600).astype("timedelta64[D]")
    y = (rng.random(600) < np.where(day < np.datetime64("2026-10-01"), 0.3, 0.7)).astype(int)
    text = np.array([*day.astype(str)], object)
    text[5] = None
    columns = {"x": rng.normal(size=600), "y": y}
    at = [None if one is None else f"{one}T09:30Z" for one in text]
    study = Study({"day": text, "at": at, **columns}, "y", Options())
    assert [(order.name, order.kind) for order in study.suspected_orders] == [("day", "date"), ("at", "date")]
    places = study.places_in(study.suspected_orders[0])
    assert places.argmax() == 5
    assert (np.argsort(np.delete(places, 5)) == np.argsort(np.delete(day, 5))).all()
    number = np.array([f"1234-{one}" for one in rng.integers(56, 99, 600)])  # which is no month
    assert Study({"number": number, **columns}, "y", Options()).suspected_orders == []


def test_independent_rows_and_answered_questions_are_not_asked_about():
    columns, y = few_valued(np.random.default_rng(0))
    assert suspected_time.find(Study({**columns, "y": y}, "y", Options())) == {}
    columns, y = drifting(np.random.default_rng(0))
    assert suspected_time.find(Study({**columns, "y": y}, "y", Options(time="number"))) == {}


def test_an_order_that_is_that_of_a_suspected_group_is_not_asked_about():
    random = np.random.default_rng(0)
    who = np.repeat(random.permutation(300), 3)
    table = {"patient": [f"p{i}" for i in who], "sex": random.choice(["f", "m"], 300)[who]}
    table |= {"town": random.choice(list("abcdefg"), 300)[who], "pulse": random.normal(size=900)}
    table["sick"] = random.integers(0, 2, 300)[who] ^ (random.random(900) < 0.1)
    rows = report(table, "sick", fast=True).rows
    assert (rows.suspected_groups, rows.suspected_times) == (("patient",), ())


def test_where_later_rows_are_predicted_as_well_there_is_no_question(monkeypatch):
    rng = np.random.default_rng(0)
    y = (rng.random(400) < np.linspace(0.2, 0.8, 400)).astype(int)
    study = Study({"x": rng.normal(size=400), "y": y}, "y", Options())
    error = HonestError("later rows", 0.4, 0.3, 0.5)
    monkeypatch.setattr(suspected_time, "validated_as", lambda *_: error)
    (finding,) = suspected_time.find(study).values()
    assert "Are new rows later ones?" not in finding.message
    assert finding.message.endswith("the model does as well on later rows as in any other order.")
    assert study.asked == []


def test_a_model_of_later_rows_does_without_their_time(monkeypatch):
    """As with `time=`: a column that the model uses would tell it when a row was."""
    rng = np.random.default_rng(0)
    day = np.datetime64("2026-01-01") + np.arange(200).astype("timedelta64[D]")
    x = rng.normal(size=200)
    table = {"day": day, "x": x, "y": 2 * x + np.arange(200) / 40 + rng.normal(size=200)}
    asked, ask = [], suspected_time.validated_as
    monkeypatch.setattr(suspected_time, "validated_as", lambda *all_: asked.append(all_) or ask(*all_))
    found = report(table, "y", fast=True)
    assert "day" in found.verdict.columns
    assert [without for *_, without in asked] == [["day"], ["day"]]
    (question,) = (one for one in found.rows.questions if one.column == "day")
    assert "Then learned from the past, a model of this size without day has R² " in question.message
