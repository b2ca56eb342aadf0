"""What more rows would bring: what is measured, what is prolonged, what cannot be told."""

from dataclasses import replace

import numpy as np
import pytest
from report.example import example_report

from offsample.report._html import render_page
from offsample.report._markdown import render_markdown
from offsample.report._study import Options, Study
from offsample.report.sections import _choice, model, sizing


def problem(n=320, seed=0):
    rng = np.random.default_rng(seed)
    table = {"a": rng.normal(size=n), "b": rng.integers(0, 6, n)}
    table["y"] = np.where(((table["a"] > 0) & (table["b"] % 2 == 0)) ^ (rng.random(n) < 0.1), "p", "n")
    return table


def described(table, trusted, options):
    study = Study(table, "y", options)
    choice = _choice.choose(study, trusted)
    shown = model.describe(study, choice)
    return study, shown, sizing.describe(study, choice, shown)


def test_measurements_come_first_and_the_last_is_the_recommended_model():
    study, shown, found = described(problem(), ["a", "b"], Options(random_state=1))
    assert [p.measured for p in found.curve] == sorted((p.measured for p in found.curve), reverse=True)
    measured = [p for p in found.curve if p.measured]
    assert [p.n_rows for p in measured] == [20, 40, 80, 160, 256]
    assert measured[-1].error == shown.error
    assert study.skipped == []


def test_declared_columns_are_categories():
    table = problem()
    found = described(table, ["a", "b"], Options(categorical_features=("b",)))[2]
    as_text = {**table, "b": table["b"].astype(str)}
    assert found == described(as_text, ["a", "b"], Options())[2]


@pytest.mark.parametrize(
    ("table", "trusted", "options", "reason"),
    [
        (problem(), ["a", "b"], Options(fast=True), "a fast report does without"),
        (problem(), [], Options(), "there is no model that learns from them"),
        ({**problem(50), "a": np.zeros(50), "b": np.zeros(50)}, ["a"], Options(), "there is no model"),
    ],
)
def test_what_cannot_be_told_is_left_out_and_said_so(table, trusted, options, reason):
    study, _, found = described(table, trusted, options)
    assert found is None
    [note] = study.skipped
    assert note.startswith("what more rows would bring: ")
    assert reason in note


def test_few_rows_have_no_learning_curve():
    x = np.linspace(-1, 1, 60)
    table = {"a": x, "b": np.zeros(60), "y": np.where(x > 0, "p", "n")}
    _, shown, found = described(table, ["a", "b"], Options())
    assert found.curve == ()
    assert "too few rows to say how much more rows would help" in sizing.sentences(found, shown)[-1]
    report = replace(example_report(), sizing=found)
    assert 'class="chart chart-learning"' in render_page(example_report())
    assert 'class="chart chart-learning"' not in render_page(report)
    assert "extrapolated" not in render_markdown(report)


@pytest.mark.parametrize(
    ("gain", "said"),
    [
        ((0.004, 0.0213), "by 0.4 to 2.1 points"),
        ((-0.01, 0.02), "by at most 2.0 points, perhaps not at all (this difference is known better"),
        ((0.0101, 0.0104), "by about 1.0 points"),
    ],
)
def test_the_gain_is_said_in_points(gain, said):
    report = example_report()
    assert said in sizing.sentences(replace(report.sizing, gain_of_doubling=gain), report.model)[-1]
