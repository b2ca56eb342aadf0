"""Rankings by losses and by AUC: in the library, as a selector, on the command line."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample import FeatureRanker, rank_features
from offsample.cli import app
from offsample.counts import CellCounts, GroupedCounts, HeldOutCounts
from offsample.criteria import (
    CRITERIA,
    auc_lpo,
    cost_loo,
    information_gain_loo,
    log_loss_loo,
    score_interval,
)

run = CliRunner().invoke
LOSSES = ("log_loss_loo", "brier_loo", "auc_lpo")


@pytest.fixture(scope="module")
def churn() -> dict[str, np.ndarray]:
    """5 % leave; one column orders them well and none makes them more likely than not."""
    random = np.random.default_rng(0)
    n = 4000
    plan, city = random.integers(0, 4, n), random.integers(0, 300, n)
    rate = np.array([0.01, 0.02, 0.04, 0.14])[plan]
    return {
        "plan": np.array(list("abcd"))[plan],
        "city": np.char.add("city", city.astype(str)),
        "colour": np.array(["red", "green", "blue"])[random.integers(0, 3, n)],
        "age": random.normal(size=n) + 1.0 * (random.random(n) < rate),
        "customer": np.char.add("c", np.arange(n).astype(str)),
        "visitor": random.integers(0, 500, n),
        "day": random.integers(0, 200, n),
        "churned": np.where(random.random(n) < rate, "yes", "no"),
    }


def codes(values) -> np.ndarray:
    return np.unique(np.asarray(values), return_inverse=True)[1]


@pytest.mark.parametrize("name", LOSSES)
def test_score_interval_and_gain_are_those_of_the_counts(churn, name) -> None:
    ranking = rank_features(churn, "churned", criterion=name)
    y = codes(churn["churned"])
    for column in ("plan", "city", "customer"):
        cells, found = CellCounts.from_codes(codes(churn[column]), y), ranking[column]
        assert found.score == pytest.approx(CRITERIA[name](cells), abs=1e-12)
        assert (found.score_low, found.score_high) == pytest.approx(score_interval(cells, name), abs=1e-12)
        assert found.auc == pytest.approx(auc_lpo(cells))
        assert found.bits == pytest.approx(information_gain_loo(cells), abs=1e-12)
        blind = CRITERIA[name](CellCounts([np.bincount(y)]))
        assert ranking.baseline_score == pytest.approx(blind)
        sign = -1 if CRITERIA[name].better == "lower" else 1
        assert found.gain == pytest.approx(sign * (found.score - blind), abs=1e-3)
        assert found.gain_low < found.gain
    same = rank_features(churn, "churned")
    assert ranking["plan"].error == same["plan"].error
    assert (same["plan"].score_low, same["plan"].score_high) == (same["plan"].low, same["plan"].high)
    assert rank_features(churn, "churned", criterion="gini")["plan"].score_low is None


@pytest.mark.parametrize("name", ["ginger", *LOSSES])
def test_signals_come_first_and_no_identifier(churn, name) -> None:
    ranking = rank_features(churn, "churned", criterion=name)
    assert ranking.features[0].name == "plan"
    n_found = sum(f.significant for f in ranking)
    assert all(f.significant for f in ranking.features[:n_found])
    assert not ranking["customer"].significant
    assert ranking["customer"].auc == 0.5
    assert ranking["customer"].bits == pytest.approx(0, abs=1e-12)
    by_score = [f.score for f in rank_features(churn, "churned", criterion=name, order="estimate")]
    assert by_score == sorted(by_score, reverse=name == "auc_lpo")


def test_groups_and_time(churn) -> None:
    y, plan = codes(churn["churned"]), codes(churn["plan"])
    new = rank_features(churn, "churned", criterion="log_loss_loo", group="visitor")
    cells = GroupedCounts.from_rows(plan, y, churn["visitor"])
    assert new["plan"].score == pytest.approx(log_loss_loo(cells))
    assert new["plan"].score_low == pytest.approx(score_interval(cells, "log_loss_loo")[0])
    later = rank_features(churn, "churned", criterion="auc_lpo", time="day")
    cells = HeldOutCounts(plan, y, 2, time=churn["day"])
    assert later["plan"].score == pytest.approx(auc_lpo(cells))
    assert later["plan"].score_high == pytest.approx(score_interval(cells, "auc_lpo")[1])


def test_costs(churn) -> None:
    y, plan = codes(churn["churned"]), codes(churn["plan"])
    cells = CellCounts.from_codes(plan, y)
    ranking = rank_features(churn, "churned", costs={"fn": 20, "fp": 1})
    assert ranking.criterion == "cost_loo"
    assert ranking.positive == "yes"
    assert ranking["plan"].score == pytest.approx(cost_loo(cells, {"fn": 20, "fp": 1}))
    matrix = [[0, 1], [20, 0]]
    same = rank_features(churn, "churned", criterion="cost_loo", costs=matrix)
    assert same.features == ranking.features
    reverse = rank_features(churn, "churned", costs={"fn": 1, "fp": 20}, positive="no")
    assert reverse.features == ranking.features
    turned = {**churn, "churned": np.where(churn["churned"] == "yes", "a", "b")}  # the rarer is now first
    assert rank_features(turned, "churned", costs={"fn": 20, "fp": 1})["plan"].score == ranking["plan"].score


@pytest.mark.parametrize("order", ["auto", "lower_bound"])
def test_no_column_without_evidence_comes_first_by_cost(order) -> None:
    """Not where half of all rows are positive and every left-out row turns the decision of all others."""
    random = np.random.default_rng(11)
    for _ in range(8):
        y = np.repeat([0, 1], 100)
        table = {f"noise{j}": random.integers(0, 2, 200).astype(str) for j in range(6)}
        table["signal"] = np.where(random.random(200) < 0.72, y, 1 - y).astype(str)
        table["id"] = np.arange(200).astype(str)
        ranking = rank_features(table, y, costs={"fn": 1, "fp": 1}, order=order)
        assert ranking.baseline_score == 1.0
        assert ranking.features[0].name == "signal"
        found = [f.significant for f in ranking]
        assert found == sorted(found, reverse=True)


def test_where_no_column_changes_a_decision_evidence_decides(churn) -> None:
    """All cost the same, and the table's order says nothing."""
    table = {"weak": np.where(np.arange(4000) % 3 == 0, churn["plan"], "a"), **churn}
    ranking = rank_features(table, "churned", costs={"fn": 2, "fp": 1}, features=["weak", "plan"])
    assert ranking["weak"].score == ranking["plan"].score
    assert [f.name for f in ranking] == ["plan", "weak"]


@pytest.mark.parametrize(("kind", "found"), [("shifted", 0.65), ("away", 0.5), ("noise", None)])
def test_numbers_of_a_rare_class_are_found(kind, found) -> None:
    """Of 30 positives in 3,000 rows, by their order as by bins."""
    random, p_values = np.random.default_rng(12), []
    y = np.repeat([1, 0], [30, 2970])
    for _ in range(60):
        x = random.normal(size=3000)
        x[:30] = {"shifted": x[:30] + 0.55, "away": x[:30] * 1.7, "noise": x[:30]}[kind]
        p_values.append(rank_features({"x": x}, y)["x"].p_value)
    share = np.mean(np.array(p_values) <= 0.05)
    assert share <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60) if found is None else share >= found


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"costs": [[0, 1]]}, r"costs has shape \(1, 2\): expected \(2, 2\)"),
        ({"costs": {"fn": 1, "cost": 2}}, "entry 'cost'"),
        ({"costs": {"fn": 1}, "criterion": "auc_lpo"}, "costs are for criterion 'cost_loo'"),
        ({"criterion": "cost_loo"}, "needs costs"),
        ({"costs": {"fn": 1}, "positive": "maybe"}, "positive 'maybe' is not a class: .*'no', 'yes'"),
        ({"criterion": "auc"}, "criterion must be one of"),
    ],
)
def test_refusals(churn, options, said) -> None:
    with pytest.raises(ValueError, match=said):
        rank_features(churn, "churned", **options)


def test_more_classes_have_no_single_auc_but_can_be_ranked_by_it() -> None:
    random = np.random.default_rng(1)
    y = random.integers(0, 3, 600)
    table = {"good": np.where(random.random(600) < 0.5, y, 0), "noise": random.integers(0, 5, 600), "y": y}
    ranking = rank_features(table, "y", criterion="auc_lpo")
    assert [f.name for f in ranking] == ["good", "noise"]
    assert ranking["good"].auc is None
    assert ranking.positive is None
    assert ranking["good"].score_low > 0.5
    assert ranking["noise"].score_low <= 0.5 <= ranking["noise"].score_high
    with pytest.raises(ValueError, match="there are 3: expected which one"):
        rank_features(table, "y", costs={"fn": 1})
    table = {name: column.astype(str) for name, column in table.items()}
    rest = {**table, "y": y == 2}
    for units in ({}, {"group": np.arange(600) // 4}):  # a named one has its own, against the rest
        named = rank_features(table, "y", criterion="auc_lpo", positive="2", **units)
        alone = rank_features(rest, "y", criterion="auc_lpo", **units)
        for one in ("good", "noise"):
            assert named[one].score == pytest.approx(alone[one].score)
        for end in ("score_low", "score_high", "gain_low"):
            assert getattr(named["good"], end) == pytest.approx(getattr(alone["good"], end))
        mean = rank_features(table, "y", criterion="auc_lpo", **units)["good"]
        assert abs(mean.score - named["good"].score) > 0.01


def test_a_selector_takes_them(churn) -> None:
    X = pd.DataFrame({name: churn[name] for name in ("colour", "plan", "city")})
    by_auc = FeatureRanker(criterion="auc_lpo", n_features_to_select=1).fit(X, churn["churned"])
    assert by_auc.get_feature_names_out().tolist() == ["plan"]
    by_cost = FeatureRanker(costs={"fn": 20, "fp": 1}).fit(X, churn["churned"])
    assert by_cost.ranking_.criterion == "cost_loo"
    assert by_cost.scores_[1] == by_cost.ranking_["plan"].score


@pytest.mark.parametrize("metric", ["auc", "log_loss", "brier", "cost", "error"])
def test_the_command_line(churn, metric, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # a long path would be a long line
    path = "churn.csv"
    pd.DataFrame(churn).to_csv(path, index=False)
    costs = ["--costs", "fn=20,fp=1"] if metric == "cost" else []
    asked = ["rank", path, "-t", "churned", "--metric", metric, *costs]
    shown = run(app, asked, env={"COLUMNS": "80"})
    assert shown.exit_code == 0, shown.output
    assert [line for line in shown.output.splitlines() if len(line) > 80] == []
    title = next(line for line in shown.output.splitlines() if line.startswith("column  "))
    assert {"auc": "AUC", "log_loss": "log loss", "brier": "Brier"}.get(metric, metric) in title
    assert title.count("AUC") == 1
    found = json.loads(run(app, [*asked, "--json"]).output)
    expected = rank_features(
        path, "churned", criterion=found["criterion"], costs={"fn": 20, "fp": 1} if costs else None
    )
    assert found["features"][0]["score"] == pytest.approx(expected.features[0].score, abs=1e-12)
    lines = list(csv.DictReader(io.StringIO(run(app, [*asked, "--csv"]).output)))
    assert [line["name"] for line in lines] == [f.name for f in expected]
    assert float(lines[0]["score_high"]) == pytest.approx(expected.features[0].score_high)
    grouped = run(app, [*asked, "--group", "visitor"])
    assert "rows with a new 'visitor'" in " ".join(grouped.output.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--metric", "auc", "--criterion", "ginger"],
            "both say what ranks columns: leave out one of the two",
        ),
        (["--metric", "foo"], "offsample: invalid value for '--metric': 'foo' is not one of"),
        (["--metric", "cost"], "--metric cost needs --costs"),
        (["--costs", "fn:10"], "expected costs such as fn=10,fp=1"),
        (["--costs", "fn=10,fp=1", "--positive", "perhaps"], "positive 'perhaps' is not a class"),
        (["--csv", "--json"], "exclude each other"),
    ],
)
def test_the_command_line_refuses_in_a_sentence(arguments, said) -> None:
    result = run(app, ["rank", "--demo", *arguments])
    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.splitlines()) == 1


@pytest.mark.parametrize("name", [*LOSSES, "cost_loo"])
def test_text_and_notebook_show_the_loss(churn, name) -> None:
    costs = {"fn": 20, "fp": 1} if name == "cost_loo" else None
    ranking = rank_features(churn, "churned", criterion=name, costs=costs)
    text, html = repr(ranking), ranking._repr_html_()
    assert all(len(line) <= 80 for line in text.splitlines())
    plan = ranking["plan"]
    for shown in (text, html):
        assert f"{plan.score:.4f}" in shown
        assert f"{plan.score_low:.4f}–{plan.score_high:.4f}" in shown
        assert f"{ranking.baseline_score:.4f}" in shown
    assert {"auc", "bits", "score_low", "score_high"} <= set(ranking.to_frame().columns)


def test_a_table_by_auc_marks_what_says_nothing_and_where_the_order_changes():
    random = np.random.default_rng(5)
    y = random.random(2000) < 0.1
    table = {"clear": random.integers(0, 3, 2000) + 2 * y, "weak": random.random(2000) < 0.3 + 0.085 * y}
    table |= {f"noise{j}": random.integers(0, 40, 2000).astype(str) for j in range(4)} | {"y": y}
    ranking = rank_features(table, "y", criterion="auc_lpo")
    weak, text = ranking["weak"], str(ranking)
    assert weak.significant
    assert 0.01 / 6 < weak.p_value < 0.05
    assert "From weak on evidence is not clear (p above 0.0017): by p-value." in text
    below = [f for f in ranking if f.score < 0.5 and not f.significant]
    assert below
    assert text.count("≤ 0.5") == len(below)
    assert f"{below[0].score:.4f}" not in text


def test_a_loss_that_is_worse_than_of_no_column_is_told_as_that():
    """At 38 of 40 values of a rare class one row of prior weight is too little."""
    random = np.random.default_rng(3)
    code = random.integers(0, 40, 20_000)
    y = np.where(random.random(20_000) < np.where(code < 4, 0.012, 0.0016), "yes", "no")
    ranking = rank_features({"code": code.astype(str), "y": y}, "y", criterion="log_loss_loo")
    feature = ranking["code"]
    assert feature.significant
    assert feature.score > ranking.baseline_score
    for shown in (" ".join(repr(ranking).split()), ranking._repr_html_()):
        assert "below 0" in shown
        assert "code has evidence, and its log loss is worse than of no column" in shown
    by_area = rank_features({"code": code.astype(str), "y": y}, "y", criterion="auc_lpo")
    assert by_area["code"].score > 0.6
    assert "below 0" not in repr(by_area)
    assert "worse than of no column" not in repr(by_area)
