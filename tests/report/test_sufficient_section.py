"""Which few columns suffice: those of the model, and what fewer of them would do."""

import re
from dataclasses import replace

import numpy as np
import pytest
from report.example import example_report

from offsample.induction import TreeClassifier
from offsample.report._html import render_page
from offsample.report._markdown import render_markdown
from offsample.report._study import Options, Study
from offsample.report.sections import _choice, sufficient
from offsample.report.sections.sufficient import NeededColumn, SizeError


def problem(n=600, seed=0, n_noise=3):
    rng = np.random.default_rng(seed)
    table = {f"noise {i}": rng.normal(size=n) for i in range(n_noise)}
    table |= {"a": rng.normal(size=n), "b": rng.integers(0, 3, n)}
    truth = (table["a"] > 0) & (table["b"] > 0)
    table["y"] = np.where(truth ^ (rng.random(n) < 0.05), "p", "n")
    return table


def names(table):
    return [name for name in table if name != "y"]


def described(table, trusted=None, **options):
    study = Study(table, "y", Options(**options))
    choice = _choice.choose(study, names(table) if trusted is None else trusted)
    return study, *sufficient.fewest(study, choice)


def test_they_are_the_columns_of_the_model():
    study, choice, found = described(problem())
    assert [column.name for column in found.columns] == list(choice.model.used_columns_)
    assert {column.name for column in found.columns} == {"a", "b"}
    assert all(column.share == 1 for column in found.columns)
    assert found.n_available == 5
    assert [size.n_columns for size in found.sizes] == [0, 1, 2]
    assert found.sizes[0].error == study.majority_error
    assert found.sizes[-1].error == choice.validation.error(choice.stage)
    # As wide as the interval of the same error in the verdict.
    low, high = study.error_interval(choice.validation.wrong_at(choice.stage), choice.validation.n_folds)
    assert 2 * 1.96 * found.sizes[-1].standard_error == pytest.approx(high - low, rel=0.05)
    assert study.skipped == []


def test_fewer_columns_are_tried_on_the_same_folds():
    table = problem()
    study, choice, found = described(table)
    wrong = np.zeros(len(study.y), bool)
    first = found.columns[0].name
    for train, test in study.folds:
        tree = TreeClassifier(categorical_split="ordered", random_state=0, max_splits=choice.stage)
        tree.fit({first: table[first][train]}, study.y[train])
        wrong[test] = tree.predict({first: table[first][test]}) != study.y[test]
    assert found.sizes[1].error == pytest.approx(wrong.mean())


def test_a_column_that_brings_nothing_on_rows_held_back_is_left_out():
    """Of two columns that say the same with noise of their own, one does as well where the noise is small."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=400)
    table = {"a": a, "b": a + rng.normal(size=400) / 20}
    table["y"] = np.where((a > 0) ^ (rng.random(400) < 0.2), "p", "n")
    study = Study(table, "y", Options())
    full = TreeClassifier(stopping="none", max_splits=4, categorical_split="ordered", random_state=0)
    kind = replace(_choice.tree_kind(study), learner=full)
    validation = _choice.cross_validate(study, kind, [["a", "b"]] * 5)
    whole = full.fit(study.columns(["a", "b"]), study.y)
    assert set(whole.used_columns_) == {"a", "b"}
    before = _choice.Choice(kind, whole, whole, 4, validation, ["a", "b"])
    after, found = sufficient.fewest(study, before)
    assert [column.name for column in found.columns] == list(after.model.used_columns_) == ["a"]
    assert [size.n_columns for size in found.sizes] == [0, 1, 2]
    assert found.sizes[1].error == after.validation.error(after.stage)
    assert found.sizes[2].error == validation.error(4)
    one, both = after.validation.of(after.stage), validation.of(4)
    assert (one & ~both).sum() - (both & ~one).sum() <= np.sqrt((one != both).sum())
    page = render_page(replace(example_report(), sufficient=found))
    assert "More columns do not make it clearly better." in page


def test_columns_that_are_not_trusted_are_not_looked_at():
    found = described(problem(), ["noise 0", "noise 1"])[2]
    assert found.columns == ()
    assert found.sizes == (sufficient.SizeError(0, found.baseline_error, 0.0),)


def test_what_cannot_be_told_is_left_out_and_said_so():
    study = Study(problem(), "y", Options())
    choice = replace(_choice.choose(study, names(problem())), validation=None)
    assert sufficient.fewest(study, choice) == (choice, None)
    assert study.skipped[-1] == "which few columns suffice: there was no cross-validation"


def test_names_become_text():
    pd = pytest.importorskip("pandas")
    table = problem()
    frame = pd.DataFrame({0: table["a"], 1: table["b"], "y": table["y"]})
    assert {column.name for column in described(frame, [0, 1])[2].columns} == {"0", "1"}


def test_renderings_say_what_was_found_and_what_was_not():
    report = example_report()
    found = report.sufficient
    assert f"{found.n_chosen} of {found.n_available} columns" in render_markdown(report)
    useless = replace(found, columns=(), sizes=found.sizes[:1])
    for render in (render_markdown, render_page):
        assert "No column is needed" not in render(report)
        assert "No column is needed" in render(replace(report, sufficient=useless))


def sentence(report, render):
    text = " ".join(re.sub("<[^>]*>|[*]{2}", "", render(report)).split())
    return text.partition("Which few columns suffice")[2].rpartition("Which few columns suffice")[2]


@pytest.mark.parametrize("render", [render_markdown, render_page])
def test_the_sentence_fits_what_was_found(render):
    report = example_report()
    found = report.sufficient
    four = tuple(NeededColumn(name, 1.0) for name in "abcd")
    steps = tuple(SizeError(k, 0.3 - k / 20, 0.01) for k in range(5))
    cases = {
        "1 of 4 columns that a model may use is enough: the model above looks": (4, four[:1], steps),
        "3 of 4 columns that a model may use are enough: the model above looks": (4, four[:3], steps),
        "The model above needs all 4 columns that a model may use: without one of them": (4, four, steps),
        "The model above needs the only column that a model may use.": (1, four[:1], steps[:2]),
        "The model above uses all 4 columns that a model may use. Whether fewer would do was not tried": (
            4, four, (steps[0], steps[-1])
        ),
        "No column is needed: no model that can be read is shown": (1, (), steps[:1]),
    }  # fmt: skip
    for words, (n_available, columns, sizes) in cases.items():
        found = replace(found, n_available=n_available, columns=columns, sizes=sizes)
        said = sentence(replace(report, sufficient=found), render)
        assert words in said
        is_stepwise = len(sizes) > 2
        assert ("the two most important" in said) == (is_stepwise and render is render_page)
    whole = replace(report.sufficient, n_available=len(report.columns.columns))
    assert "that a model may use" not in sentence(replace(report, sufficient=whole), render)
