"""The class that fn and fp speak of, and that rates are of: one rule everywhere."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample import rank_features, report
from offsample._losses import checked_costs, class_of_interest
from offsample.cli import app
from offsample.counts import CellCounts
from offsample.criteria import cost_loo
from offsample.induction import (
    CommitteeClassifier,
    DecisionListClassifier,
    DNFClassifier,
    StochasticTreeClassifier,
    TreeClassifier,
)

COSTS = {"fn": 20, "fp": 1}


def table(rare="a_rare", rest="z_rest", n=600):
    """The rarer class comes first in the order of names, where the second class is not the rarer one."""
    random = np.random.default_rng(0)
    x = random.normal(size=n)
    hit = random.random(n) < 0.1 + 0.3 * (x > 0.8)
    return {"x": np.round(x, 1), "z": np.round(random.normal(size=n), 1), "y": np.where(hit, rare, rest)}


def test_the_rule():
    assert class_of_interest(["a", "b"], [3, 9]) == 0
    assert class_of_interest(["a", "b"], [9, 3]) == 1
    assert class_of_interest(["a", "b"], [5, 5]) == 1
    assert class_of_interest(["a", "b"], [9, 3], "a") == 0
    assert class_of_interest(["a", "b", "c"], [9, 3, 5]) is None
    assert class_of_interest([1, 2, 3], [9, 3, 5], "3") == 2
    for classes, named in (
        ([False, True], "true"),
        (np.array([False, True]), "1"),
        ([0.0, 1.0], "1"),
        ([0, 1], "1.0"),
    ):
        assert class_of_interest(classes, [9, 3], named) == 1
    assert class_of_interest(["1.0", "1"], [9, 3], "1") == 1
    assert class_of_interest(["False", "True"], [9, 3], "1") == 1
    for classes, named in ((["Yes", "yes"], "YES"), ([0, 1], "true")):
        with pytest.raises(ValueError, match="is not a class"):
            class_of_interest(classes, [9, 3], named)
    with pytest.raises(ValueError, match="positive 'd' is not a class: expected one of 'a', 'b'"):
        class_of_interest(["a", "b"], [9, 3], "d")


@pytest.mark.parametrize(
    "learner",
    [TreeClassifier, DecisionListClassifier, DNFClassifier, StochasticTreeClassifier, CommitteeClassifier],
)
def test_learners_take_it_by_frequency_not_by_name(learner):
    first, second = table(), table("z_rare", "a_rest")
    X = np.stack([first["x"], first["z"]], axis=1)
    said = [learner(costs=COSTS).fit(X, one["y"]) for one in (first, second)]
    matrix = learner(costs=[[0, 20], [1, 0]]).fit(X, first["y"])
    np.testing.assert_array_equal(said[0].predict(X), matrix.predict(X))
    for one in said:  # to miss a rare row is dear, so many rows are taken for one
        assert np.mean(np.char.endswith(one.predict(X).astype(str), "rare")) > 0.5


def test_a_formula_for_a_named_class_has_costs_of_that_class():
    one = table()
    X = np.stack([one["x"], one["z"]], axis=1)
    named = DNFClassifier(positive="z_rest", costs=COSTS).fit(X, one["y"])
    matrix = DNFClassifier(positive="z_rest", costs=[[0, 1], [20, 0]]).fit(X, one["y"])
    np.testing.assert_array_equal(named.predict(X), matrix.predict(X))


def test_criteria_rankings_reports_and_the_command_line_agree(tmp_path):
    one, other = table(), table("z_rare", "a_rest")
    assert cost_loo(CellCounts([[2, 30], [9, 20]]), COSTS) == cost_loo(CellCounts([[30, 2], [20, 9]]), COSTS)
    ranked = [rank_features(t, "y", costs=COSTS) for t in (one, other)]
    assert [r.positive for r in ranked] == ["a_rare", "z_rare"]
    assert ranked[0]["x"].score == pytest.approx(ranked[1]["x"].score)
    found = [report(t, "y", costs=COSTS, fast=True) for t in (one, other)]
    assert [r.positive for r in found] == ["a_rare", "z_rare"]
    assert found[0].verdict.cost == pytest.approx(found[1].verdict.cost)
    np.testing.assert_array_equal(found[0].estimator.model_.costs, [[0, 20], [1, 0]])
    path = tmp_path / "one.parquet"
    pd.DataFrame(one).to_parquet(path)
    asked = ["report", str(path), "-t", "y", "--costs", "fn=20,fp=1", "--fast", "--json", "-q"]
    told = CliRunner().invoke(app, asked)
    assert json.loads(told.stdout)["verdict"]["cost"] == pytest.approx(found[0].verdict.cost)


@pytest.fixture(scope="module")
def three():
    random = np.random.default_rng(3)
    x = random.normal(size=1500)
    y = np.where(
        random.random(1500) < 0.04 + 0.3 * (x > 1), "rare", np.where(random.random(1500) < 0.3, "b", "c")
    )
    return {"x": x, "z": random.normal(size=1500), "y": y}


def test_of_three_classes_the_named_one_is_against_the_rest(three):
    found = report(three, "y", positive="rare", metric="auc", capacity=0.05, fast=True)
    verdict = found.verdict
    assert found.positive == "rare"
    assert verdict.auc > 0.6
    assert verdict.captured > 0.15
    assert found.acting.positive == "rare"
    assert found.acting.decision.share == pytest.approx(0.05)
    assert "y is “rare”" in verdict.sentence
    assert "The 5 % of rows that it rates highest" in verdict.sentence
    alone = {**three, "y": np.where(three["y"] == "rare", "rare", "rest")}
    of_two = report(alone, "y", metric="auc", fast=True)
    assert verdict.auc == pytest.approx(of_two.verdict.auc, abs=0.06)
    for column, same in zip(found.columns.columns, of_two.columns.columns, strict=True):
        assert column.name == same.name
        assert column.score.value == pytest.approx(same.score.value, abs=0.02)  # cut by all classes
    assert "Acting on it" in found.to_markdown()
    for page in (found.to_html(), found.to_markdown()):
        assert "“rare” against the rest" in page
        assert "each class against the rest" not in page


def test_a_capacity_without_a_class_of_interest_is_refused(three):
    with pytest.raises(ValueError, match="capacity is for one class of 3: name it with positive"):
        report(three, "y", capacity=0.05, fast=True)
    with pytest.raises(ValueError, match="positive 'd' is not a class"):
        report(three, "y", positive="d", fast=True)


@pytest.mark.parametrize(("classes", "named"), [([False, True], "true"), ([0.0, 1.0], "1"), ([0, 1], "1.0")])
def test_a_class_is_named_as_people_type_it(classes, named):
    one = table()
    one["y"] = np.array(classes)[(one["y"] == "a_rare").astype(int)]
    found = report(one, "y", positive=named, fast=True)
    assert found.positive == str(classes[1])
    assert rank_features(one, "y", criterion="auc_lpo", positive=named).positive == classes[1]


def test_of_more_classes_fn_and_fp_are_of_the_one_that_is_named():
    for positive in range(3):
        matrix = checked_costs(COSTS | {"tp": 2, "tn": 0.5}, 3, positive)
        for true in range(3):
            for said in range(3):
                kind = "tf"[(true == positive) != (said == positive)] + "np"[said == positive]
                assert matrix[true, said] == (COSTS | {"tp": 2, "tn": 0.5})[kind]
    with pytest.raises(ValueError, match="speak of one class, and there are 3: expected which one"):
        checked_costs(COSTS, 3, None)


GAINS = "must not be negative.* the same decisions follow from "


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"fn": 10}, r"by these costs \(fp is not given\) one class is the cheapest decision for every row"),
        ({"fn": -1, "fp": 1}, "by these costs one class is the cheapest decision for every row"),
        ({"fn": 0, "fp": 1, "tp": -4}, f"{GAINS}fn=4,fp=1$"),
        ([[-3, 0], [2, 0]], rf"{GAINS}\[\[0.0, 3.0\], \[2.0, 0.0\]\]"),
    ],
)
def test_costs_that_leave_nothing_to_decide_or_are_gains_are_refused_alike(costs, message, tmp_path):
    one = table(n=60)
    tree = TreeClassifier(costs=costs)
    for refused in (
        lambda: report(one, "y", costs=costs, fast=True),
        lambda: rank_features(one, "y", costs=costs),
        lambda: tree.fit(np.column_stack([one["x"]]), one["y"]),
    ):
        with pytest.raises(ValueError, match=message):
            refused()
    if costs == {"fn": 10}:
        pd.DataFrame(one).to_csv(path := tmp_path / "t.csv")
        for command in ("rank", "tree", "report"):
            said = CliRunner().invoke(app, [command, str(path), "--target", "y", "--costs", "fn=10"])
            assert said.exit_code == 2
            assert "cheapest decision" in said.output


def test_rows_are_ranked_by_costs_or_by_another_metric(tmp_path):
    pd.DataFrame(table(n=60)).to_csv(path := tmp_path / "t.csv")
    asked = ["rank", str(path), "--target", "y", "--costs", "fn=10,fp=1"]
    for more in (["--metric", "error"], ["--metric", "auc"], ["--criterion", "ginger"]):
        said = CliRunner().invoke(app, [*asked, *more])
        assert said.exit_code == 2
        assert f"{' '.join(more)} does not" in said.output


def test_the_report_refuses_costs_of_an_unnamed_class_of_three():
    rows = table() | {"y": np.resize(["a", "b", "c"], 600)}
    with pytest.raises(ValueError, match="speak of one class"):
        report(rows, "y", costs=COSTS, fast=True)
