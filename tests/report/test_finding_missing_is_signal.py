"""What a column says is mostly whether it was filled in."""

import numpy as np
import pytest

from offsample.report._study import Options, Study
from offsample.report.findings import missing_is_signal


def table_of(seed, of_missing=0.0, of_values=0.0, n=1500, text=False):
    """A column that is missing in a third of the rows; both its absence and its values may tell the class."""
    rng = np.random.default_rng(seed)
    value, missing = rng.integers(0, 4, n), rng.random(n) < 1 / 3
    rate = 0.3 + np.where(missing, of_missing, of_values * (value - 1.5) / 1.5)
    column = np.where(missing, np.nan, value)
    if text:
        column = np.array([None if np.isnan(v) else f"v{v:.0f}" for v in column], object)
    return {"column": column, "noise": rng.normal(size=n), "y": (rng.random(n) < rate).astype(int)}


def found(table, **options):
    study = Study(table, "y", Options(**options))
    return missing_is_signal.find(study)


@pytest.mark.parametrize("word", ["N/A", "null", "?", " - "])
def test_a_word_for_a_missing_value_is_one(word):
    table = table_of(0, of_missing=0.4, text=True)
    whole = found(table)["column"].message
    table["column"] = np.array([word if one is None else one for one in table["column"]], object)
    assert found(table)["column"].message == whole
    table["column"][table["column"] == word] = "none"  # of these: an answer
    assert not found(table)


@pytest.mark.parametrize("text", [False, True])
def test_a_column_that_tells_by_its_absence(text):
    finding = found(table_of(0, of_missing=0.4, text=text))["column"]
    assert finding.message.startswith("column: y is “")
    assert "rows where it is missing, and in" in finding.message


def test_it_names_the_class_and_both_shares():
    table = {"y": (["no"] * 9 + ["yes"]) * 40 + ["yes"] * 400}
    table["a"] = [None if label == "yes" and i % 3 else 1.0 + i % 5 for i, label in enumerate(table["y"])]
    missing = np.array([value is None for value in table["a"]])
    yes = np.array(table["y"]) == "yes"
    message = found(table)["a"].message
    assert f"in 100.0 % of the {missing.sum():,} rows" in message
    assert f"{100 * yes[~missing].mean():.1f} % of the others" in message


def test_values_that_say_more_than_absence_are_left_alone():
    wrong = [seed for seed in range(40) if found(table_of(seed, of_missing=0.12, of_values=0.25))]
    assert len(wrong) <= 5, wrong  # at most 5 % by the rule: 6 or more of 40 in one of a hundred


def test_noise_that_is_missing_says_nothing():
    assert sum(bool(found(table_of(seed))) for seed in range(40)) <= 5


def test_rows_of_a_group_are_not_counted_one_by_one():
    """Each of thirty patients has the column or not, and one class: forty rows say no more than one."""
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        patient = np.repeat(np.arange(30), 40)
        missing, y = rng.random(30) < 0.4, rng.random(30) < 0.4
        column = np.where(missing[patient], np.nan, rng.normal(size=1200))
        alarms += bool(found({"column": column, "patient": patient, "y": y[patient]}, group=("patient",)))
    assert alarms <= 3
