"""Known in time? What the model would be without each of its columns; and what its card says it does."""

import numpy as np
import pytest

import offsample
from offsample.induction import TreeClassifier
from offsample.report._study import Options, Study
from offsample.report.findings import near_copy
from offsample.report.sections import _choice, in_time
from offsample.report.sections._validation import first_as_good


def problem(n=600):
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=n), "b": rng.choice(["u", "v", "w"], n), "noise": rng.normal(size=n)}
    table["copy"] = table["b"]
    table["y"] = np.where(((table["a"] > 0) & (table["b"] != "u")) ^ (rng.random(n) < 0.05), "p", "n")
    return table


@pytest.fixture(scope="module")
def study():
    return Study(problem(), "y", Options(max_size=5))


def test_columns_are_left_out_on_the_same_folds(study):
    choice = _choice.choose(study, ["a", "b", "copy", "noise"])
    study.findings = near_copy.find(study)
    found = in_time.describe(study, choice, _choice.rated_as(study, choice))
    assert [one.name for one in found.columns] == list(choice.model.used_columns_)
    assert found.figure == choice.validation.error(choice.stage)
    of = {one.name: one for one in found.columns}
    wrong = np.zeros((5, len(study.y)), bool)
    for train, test in study.folds:
        rest = {name: study.X[name] for name in ("b", "copy", "noise")}
        tree = TreeClassifier(categorical_split="ordered", random_state=0, max_splits=4)
        tree.fit({name: one[train] for name, one in rest.items()}, study.y[train])
        said = tree.staged_predict({name: one[test] for name, one in rest.items()}, range(5))
        wrong[:, test] = said != study.y[test]
    without = wrong[first_as_good(study, wrong)].mean()
    assert of["a"].figure == pytest.approx(without)
    assert of["a"].worse == pytest.approx(without - found.figure)
    assert of["a"].low > 0.05
    # Whichever of two equal columns is used, the other can take its place.
    (one,) = of.keys() - {"a"}
    (other,) = {"b", "copy"} - {one}
    assert abs(of[one].worse) < 0.01 < of["a"].worse
    assert of[one].low <= 0 <= of[one].high
    assert (of[one].instead, of["a"].instead) == ((other,), ())


def test_a_part_of_a_large_table_is_enough(study, monkeypatch):
    choice = _choice.choose(study, ["a", "b", "noise"])
    known = _choice.rated_as(study, choice)
    whole = in_time.describe(study, choice, known)
    monkeypatch.setattr(in_time, "_MOST_ROWS", {True: 400, False: 400})
    part = in_time.describe(study, choice, known)
    assert part.figure == whole.figure
    for one, other in zip(part.columns, whole.columns, strict=True):
        assert one.worse == pytest.approx(other.worse, abs=0.06)
        assert one.figure == pytest.approx(part.figure + one.worse)
    monkeypatch.setattr(in_time, "_MOST_TRIED", {True: 1, False: 1})
    first, *others = in_time.describe(study, choice, known).columns
    assert first.worse == part.columns[0].worse
    assert all(np.isnan(one.worse) for one in others)
    assert any("only the first 1 of 2 columns" in one for one in study.skipped)


@pytest.mark.parametrize("of", ["numbers", "rare", "list"])
def test_in_the_metric_of_the_page(of):
    table = problem(500)
    del table["copy"]
    if of == "numbers":
        table["y"] = table["a"] + 3.0 * (table["b"] == "u")
    elif of == "rare":
        table["y"] = ((table["a"] > 0.6) & (table["b"] == "u")).astype(int)
    else:  # which trees need many leaves for
        rng = np.random.default_rng(1)
        table = {f"x{i}": rng.integers(0, 2, 500) for i in range(6)}
        terms = [table[f"x{i}"] & table[f"x{i + 3}"] for i in range(3)]
        table["y"] = np.where(np.any(terms, axis=0), "p", "n")
    report = offsample.report(table, "y", max_size=5, reference=False)
    assert {one.name for one in report.in_time.columns} == set(report.model.columns)
    shown = report.verdict.error if report.verdict.score is None else report.verdict.score.value
    assert report.in_time.figure == pytest.approx(shown)
    assert sum(one.low > 0 for one in report.in_time.columns) >= 2
    for text in (report.to_html(), report.to_markdown()):
        assert "Known in time?" in text
        assert "worse by" in text.lower()


def test_the_card_says_what_the_model_does():
    table = problem()
    table["a"][:40] = np.nan
    report = offsample.report(table, "y", fast=True, ignore=["copy"])
    card = {line.about: line.said for line in report.card}
    model = report.estimator
    assert "a (6.7 %)" in card["Missing values"]
    share = model.predict_proba({"a": [np.nan], "b": [None]}).max()
    (said,) = model.predict({"a": [np.nan], "b": [None]})
    assert card[
        "A row of which nothing is known"
    ] == f"is said to be “{said}”, with a probability of {share:.1%}".replace("%", " %")
    # Never missing is never seen: rows stop there, and numbers beyond count as the nearest.
    rows = {"a": [1.0, 1.0, 99.0], "b": ["never", None, "never"]}
    assert len(np.unique(model.predict_proba(rows), axis=0)) == 1
    known = {"a": [max(table["a"][40:]), 1e9], "b": ["u", "u"]}
    assert len(np.unique(model.predict_proba(known), axis=0)) == 1
    for text in (report.to_html(), report.to_markdown()):
        assert "joblib.load" in text
        assert "to_sql(model" in text


def test_a_model_without_columns_has_a_short_card():
    table = {"x": np.random.default_rng(0).normal(size=200), "y": ["n", "p"] * 100}
    report = offsample.report(table, "y", fast=True)
    assert report.in_time is None
    assert [line.about for line in report.card] == ["Predicts", "Model", "Fitted to", "Its error is for"]
    assert "joblib.load" not in report.to_html()
