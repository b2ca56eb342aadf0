"""Columns made of others: parts of dates, days between them, words of free text."""

import numpy as np
import pytest

from offsample import TreeClassifier, report
from offsample.export import to_sql
from offsample.report._reading import Options
from offsample.report._study import Study
from offsample.report.findings import identifier
from offsample.tables import labelled_rows
from offsample.tables._derived import with_derived

WORDS = [f"{first}{vowel}ing" for first in "bcdfghkl" for vowel in "aeiou"]


def days(random, n):
    every = np.datetime64("2022-01-01") + random.integers(0, 800, n)
    return [f"{str(day)[8:10]}.{str(day)[5:7]}.{str(day)[:4]}" for day in every], every


@pytest.fixture(scope="module")
def orders():
    random = np.random.default_rng(0)
    text, day = days(random, 500)
    weekend = (day.view("i8") + 3) % 7 >= 5
    angry = random.random(500) < 0.3
    notes = [" ".join([*random.choice(WORDS, 8), *["refund"] * int(bad)]) for bad in angry]
    y = np.where((weekend | angry) ^ (random.random(500) < 0.05), "late", "early")
    return {"day": text, "note": notes, "y": y}


def test_what_is_made(orders):
    made = with_derived(orders, {"y"})
    new = [name for name in made if name not in orders]
    assert new[:2] == ["day: month", "day: weekday"]
    assert "note mentions refund" in new
    assert len(new) == 2 + 40
    assert made["note mentions refund"].tolist() == [
        "yes" if "refund" in note else "no" for note in orders["note"]
    ]
    assert set(made["day: weekday"]) == {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
    assert list(with_derived(orders, {"y", "note", "day"})) == list(orders)
    assert list(with_derived(orders, {"y"}, types={"note": "category", "day": "category"})) == list(orders)


def test_days_between_dates():
    table = {
        "sent": ["2024-01-30", "2024-02-27", None],
        "due": np.array(["2024-02-01", "2024-03-01", "NaT"], "M8[D]"),
    }
    np.testing.assert_array_equal(with_derived(table)["sent to due (days)"], [2, 3, np.nan])


def test_a_tree_finds_the_weekend_and_the_word(orders):
    rows = labelled_rows(orders, "y")
    model = TreeClassifier().fit(rows.columns, rows.y)
    assert set(model.used_columns_[:2]) == {"day: weekday", "note mentions refund"}
    assert model.estimated_error_ < 0.12
    assert "day: weekday" not in labelled_rows(orders, "y", ignore=["day"]).columns


def test_words_that_say_nothing_are_not_taken():
    """Forty words and two parts of a date are forty-two tries."""
    for seed in range(3):
        random = np.random.default_rng(seed)
        table = {"note": [" ".join(random.choice(WORDS, 9)) for _ in range(300)], "day": days(random, 300)[0]}
        rows = labelled_rows({**table, "y": random.choice(["a", "b"], 300)}, "y")
        assert TreeClassifier().fit(rows.columns, rows.y).n_splits_ == 0


def test_the_model_of_a_report_makes_them_of_new_rows(orders):
    found = report(orders, "y", fast=True, reference=False)
    model = found.estimator
    assert set(model.columns) == {"day: weekday", "note mentions refund"}
    # Of one row nobody knows whether the day is first; the model does.
    new = {"day": ["05.02.2024"], "note": ["nothing to say"]}
    assert model.predict(new).tolist() == ["early"]
    assert model.predict({**new, "note": ["a REFUND, please"]}).tolist() == ["late"]
    assert model.predict({**new, "day": ["04.02.2024"]}).tolist() == ["late"]
    with pytest.raises(ValueError, match=r"is made of '(day|note)'"):
        to_sql(model)
    card = {line.about: line.said for line in found.card}
    assert "no table has it" in card["Not written as SQL or Python"]
    assert "no value of what it looks at is missing" in card["Missing values"]
    for text in (found.to_markdown(), found.to_html()):
        assert "joblib.load" in text
        assert "to_sql" not in text
    n = len(found.columns.columns)
    assert found.columns.n_made == n - 2  # all but the day and the note
    assert f"It uses 2 of {n} columns (counting {n - 2} made of others): " in found.to_markdown()


def test_free_text_is_no_identifier(orders):
    assert identifier.find(Study(orders, "y", Options(fast=True))) == {}
