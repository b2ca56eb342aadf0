"""How big a model, how many rows: what is measured, what is prolonged, what cannot be told."""

from dataclasses import replace

import numpy as np
import pytest
from report.example import example_report

from offsample.expected_error.sizing import size_forecast
from offsample.report._html import render_page
from offsample.report._markdown import render_markdown
from offsample.report._study import Options, Study
from offsample.report.sections import sizing


def problem(n=320, seed=0):
    rng = np.random.default_rng(seed)
    table = {"a": rng.normal(size=n), "b": rng.integers(0, 6, n)}
    table["y"] = np.where(((table["a"] > 0) & (table["b"] % 2 == 0)) ^ (rng.random(n) < 0.1), "p", "n")
    return table


def test_it_is_what_the_library_finds():
    table = problem()
    study = Study(table, "y", Options(random_state=1))
    found = sizing.describe(study, ["a", "b"])
    columns = {name: table[name] for name in study.X}
    sizes = [0, 1, 2, 4, 8, 16, 32, 64, 128]
    assert found == size_forecast(columns, table["y"], sizes=sizes, random_state=1)
    assert [p.measured for p in found.curve] == sorted((p.measured for p in found.curve), reverse=True)
    assert study.skipped == []


def test_declared_columns_are_categories():
    table = problem()
    options = Options(categorical_features=("b",))
    found = sizing.describe(Study(table, "y", options), ["a", "b"])
    as_text = {**table, "b": table["b"].astype(str)}
    assert found == sizing.describe(Study(as_text, "y", Options()), ["a", "b"])


@pytest.mark.parametrize(
    ("table", "trusted", "options", "reason"),
    [
        (problem(), ["a"], Options(fast=True), "too long for a fast report"),
        (problem(), [], Options(), "no column is left"),
        ({**problem(50), "y": ["once"] + ["n", "p"] * 24 + ["n"]}, ["a"], Options(), "class once has 1"),
        (problem(), ["a"], Options(time_limit=1e-9), "time limit"),
    ],
)
def test_what_cannot_be_told_is_left_out_and_said_so(table, trusted, options, reason):
    study = Study(table, "y", options)
    assert sizing.describe(study, trusted) is None
    [note] = study.skipped
    assert note.startswith("how big a model, how many rows: ")
    assert reason in note


def test_few_rows_have_no_learning_curve():
    found = sizing.describe(Study(problem(60), "y", Options()), ["a", "b"])
    assert found.curve == ()
    assert "too few rows to say how much more rows would help" in sizing.sentences(found)[1]
    report = replace(example_report(), sizing=found)
    assert 'class="chart chart-learning"' in render_page(example_report())
    assert 'class="chart chart-learning"' not in render_page(report)
    assert "extrapolated" not in render_markdown(report)


@pytest.mark.parametrize(
    ("gain", "said"),
    [
        ((0.004, 0.0213), "should fall by 0.4 to 2.1 percentage points."),
        ((-0.01, 0.02), "should fall by up to 2.0 percentage points, if at all."),
        ((0.0101, 0.0104), "should fall by about 1.0 percentage points."),
        ((-0.01, 0.0001), "Twice as many rows would hardly change the error of a tree."),
    ],
)
def test_the_gain_is_said_in_percentage_points(gain, said):
    assert said in sizing.sentences(replace(example_report().sizing, gain_of_doubling=gain))[1]


def test_that_no_tree_helps_is_said():
    forecast = example_report().sizing
    assert sizing.sentences(forecast)[0].startswith("A tree of 4 splits is about as good as any larger one")
    nothing = sizing.sentences(replace(forecast, best=forecast.sizes[0]))[0]
    assert nothing == (
        "No tree is clearly better than always guessing the most frequent class, which is wrong in 25.4 % of "
        "new rows (95 % interval 23.6 – 27.2 %)."
    )
