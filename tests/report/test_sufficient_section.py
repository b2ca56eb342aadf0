"""Which few columns suffice: what is looked at, what is left out and said so."""

from dataclasses import replace

import numpy as np
import pytest
from report.example import example_report

from offsample.margin.sufficient import sufficient_columns
from offsample.report._html import render_page
from offsample.report._markdown import render_markdown
from offsample.report._study import Options, Study
from offsample.report.sections import sufficient


def problem(n=300, seed=0, n_noise=3):
    rng = np.random.default_rng(seed)
    table = {f"noise {i}": rng.normal(size=n) for i in range(n_noise)}
    table |= {"a": rng.normal(size=n), "b": rng.integers(0, 3, n)}
    table["y"] = np.where((table["a"] > 0) ^ (rng.random(n) < 0.05), "p", "n")
    return table


def names(table):
    return [name for name in table if name != "y"]


def test_it_is_what_the_library_finds():
    table = problem()
    study = Study(table, "y", Options(fast=True, random_state=3))
    found = sufficient.describe(study, names(table))
    expected = sufficient_columns(
        {name: table[name] for name in study.X},
        table["y"],
        max_rows=1000,
        n_folds=3,
        n_resamples=4,
        random_state=3,
    )
    assert found == expected
    assert found.chosen == ["a"]
    assert found.judged_by == "nearest neighbour"
    assert sufficient.helps(found)
    assert study.skipped == []


def test_in_the_full_report_the_tree_decides():
    table = problem(150)
    found = sufficient.describe(Study(table, "y", Options()), names(table))
    assert found.judged_by == "model"
    assert all(size.model_error is not None for size in found.sizes)
    assert found.chosen == ["a"]


def test_columns_that_are_not_trusted_are_not_looked_at():
    table = problem()
    found = sufficient.describe(Study(table, "y", Options(fast=True)), ["b", "noise 0"])
    assert {column.name for column in found.columns} == {"b", "noise 0"}
    assert not sufficient.helps(found)


def test_declared_columns_are_categories():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 12, 400)
    table = {"code": code, "other": rng.normal(size=400), "y": np.where(code % 2 == 0, "p", "n")}
    study = Study(table, "y", Options(fast=True, categorical_features=("code",)))
    assert study.declared_columns(["code"])["code"].dtype.kind in "UO"
    found = sufficient.describe(study, ["code", "other"])
    assert found.chosen == ["code"]
    assert found.sizes[0].error == 0


@pytest.mark.parametrize(
    ("table", "trusted", "options", "reason"),
    [
        (problem(), [], Options(), "no column is left"),
        (problem(12), ["a"], Options(), "too few rows"),
        ({**problem(100), "y": ["p"] + ["n"] * 99}, ["a"], Options(), "too few rows, 1 of the second"),
        (problem(200, n_noise=60), None, Options(fast=True), "62 columns take too long for a fast report"),
        (problem(), ["a"], Options(time_limit=1e-9), "time limit"),
    ],
)
def test_what_cannot_be_told_is_left_out_and_said_so(table, trusted, options, reason):
    study = Study(table, "y", options)
    assert sufficient.describe(study, names(table) if trusted is None else trusted) is None
    [note] = study.skipped
    assert note.startswith("which few columns suffice: ")
    assert reason in note


def test_a_class_with_one_row_does_no_harm():
    table = problem()
    table["y"] = np.array(table["y"], dtype=object)
    table["y"][0] = "only once"
    assert sufficient.describe(Study(table, "y", Options(fast=True)), names(table)).chosen[0] == "a"


def test_of_very_many_columns_the_best_are_looked_at(monkeypatch):
    monkeypatch.setattr(sufficient, "MOST_COLUMNS", 3)
    table = problem()
    study = Study(table, "y", Options(fast=True))
    found = sufficient.describe(study, ["a", "noise 1", "b", "noise 2"])
    assert {column.name for column in found.columns} == {"a", "noise 1", "b"}
    assert study.skipped == [
        "which few columns suffice: only the first 3 of 4 columns, by themselves the best, were looked at"
    ]


def test_names_become_text():
    pd = pytest.importorskip("pandas")
    table = problem()
    frame = pd.DataFrame({0: table["a"], 1: table["b"], "y": table["y"]})
    found = sufficient.describe(Study(frame, "y", Options(fast=True)), [0, 1])
    assert found.chosen == ["0"]


def test_renderings_say_what_was_found_and_what_was_not():
    report = example_report()
    found = report.sufficient
    assert f"{found.n_chosen} of {len(found.columns)} columns" in render_markdown(report)
    useless = replace(found, baseline_error=0.0)
    for render in (render_markdown, render_page):
        assert "was shown to help" not in render(report)
        assert "was shown to help" in render(replace(report, sufficient=useless))
    fewer = replace(found, columns=found.columns[:3])
    assert "best by themselves" not in render_markdown(report)
    assert "best by themselves" in render_markdown(replace(report, sufficient=fewer))


def test_columns_chosen_without_evidence_are_marked():
    report = example_report()
    assert 'class="chip chip-doubt"' not in render_page(report)
    columns = tuple(
        replace(column, chosen=column.name in ("plan", "lucky_number"))
        for column in report.sufficient.columns
    )
    doubtful = replace(report, sufficient=replace(report.sufficient, columns=columns, n_chosen=2))
    assert render_page(doubtful).count('class="chip chip-doubt"') == 1
    assert "perhaps by chance: lucky_number." in render_markdown(doubtful)
