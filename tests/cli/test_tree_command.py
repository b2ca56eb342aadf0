import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.datasets import make_customers
from offsample.induction import TreeClassifier, TreeRegressor

run = CliRunner().invoke


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    table = pd.DataFrame(make_customers(1500))
    table.to_parquet(folder / "customers.parquet")
    table.to_csv(folder / "customers.csv", index=False)
    return folder


def test_demo_says_what_error_to_expect():
    result = run(app, ["tree", "--demo", "--ignore", "exit_survey_sent"])
    assert result.exit_code == 0
    said = " ".join(result.output.split())
    table = make_customers()
    y = table.pop("churned")
    del table["exit_survey_sent"]
    tree = TreeClassifier().fit(table, y)
    low, high = tree.estimated_error_interval_
    assert (
        f"an error of {tree.estimated_error_:.4f} on new rows (95% interval {low:.4f} to {high:.4f})" in said
    )
    assert f"Always guessing the most frequent class is wrong in {tree.path_[0].training_error:.4f}." in said
    assert f"\n\n{tree.export_text()}\n" in result.output
    assert "customer_id" not in result.output


@pytest.mark.parametrize("name", ["customers.parquet", "customers.csv", "*.parquet"])
@pytest.mark.parametrize("engine", [[], ["--engine", "polars"]])
def test_files(files, name, engine):
    result = run(app, ["tree", str(files / name), "-t", "churned", "--json", *engine])
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    table = make_customers(1500)
    y = table.pop("churned")
    expected = TreeClassifier().fit(table, y)
    assert found["n_samples"] == found["n_source_rows"] == 1500
    assert found["estimated_error"] == pytest.approx(expected.estimated_error_)
    assert found["importances"]["exit_survey_sent"] > 0.95
    assert found["tree"] == expected.to_dict()
    assert [step["n_splits"] for step in found["path"]] == list(range(len(expected.path_)))


def test_standard_input_keeps_standard_error_clean(files):
    command = [sys.executable, "-m", "offsample", "tree", "-", "-t", "churned", "-f", "plan", "-f", "city"]
    done = subprocess.run(
        [*command, "--json"], input=(files / "customers.csv").read_text(), capture_output=True, text=True
    )
    assert done.stderr == ""
    assert set(json.loads(done.stdout)["importances"]) <= {"plan", "city"}


def test_options(files, tmp_path):
    path = str(files / "customers.parquet")
    how = ["--criterion", "gini", "--max-splits", "3", "--max-rows", "1000", "--json"]
    what = ["-f", "age", "-f", "support_calls", "--categorical", "support_calls"]
    found = json.loads(run(app, ["tree", path, "-t", "churned", *how, *what]).output)
    assert (found["n_samples"], found["n_source_rows"], found["n_splits"]) == (1000, 1500, 3)
    assert set(found["importances"]) <= {"age", "support_calls"}
    text = run(app, ["tree", path, "-t", "churned", "--max-rows", "1000"]).output
    assert text.startswith("A tree that predicts churned, grown on 1,000 of 1,500 rows of")
    drawn = ["--svg", str(tmp_path / "t.svg")]
    assert run(app, ["tree", path, "-t", "churned", *drawn]).exit_code == 0
    assert (tmp_path / "t.svg").read_text().startswith("<?xml")


def test_rows_without_target_are_left_out(tmp_path):
    table = pd.DataFrame({"x": list("aabb") * 20, "y": ["n", "n", "p", None] * 20})
    table.to_parquet(tmp_path / "t.parquet")
    output = run(app, ["tree", str(tmp_path / "t.parquet"), "-t", "y"]).output
    assert output.startswith("A tree that predicts y, grown on 60 of 80 rows of")
    assert "It has 2 leaves." in " ".join(output.split())
    assert "Left out, without y: 20 rows." in output


def test_labels_keep_their_type(tmp_path):
    table = pd.DataFrame({"x": list("ab") * 30, "y": [0, 1] * 30, "z": pd.Series([0, None, 1] * 20)})
    table.to_parquet(tmp_path / "t.parquet")
    path = str(tmp_path / "t.parquet")
    assert json.loads(run(app, ["tree", path, "-t", "y", "--json"]).output)["tree"]["prediction"] == 0
    assert json.loads(run(app, ["tree", path, "-t", "z", "--json"]).output)["n_dropped"] == 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no table given"),
        (["t.parquet"], "no target given"),
        (["missing.parquet", "-t", "y"], "no such file: 'missing.parquet'"),
        (["--demo", "-t", "churnd"], "target 'churnd' is not a column of the table: did you mean 'churned'?"),
        (["--demo", "--criterion", "ginni"], "--criterion must be one of ginger"),
        (["--demo", "--ignore", "agee"], "column 'agee' is not a column of the table: did you mean 'age'?"),
        (["--demo", "-t", "age", "--task", "classification"], "is continuous"),
        (["--demo", "--max-splits", "-1"], "--max-splits must be at least 0, got -1"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message):
    result = run(app, ["tree", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1
    assert "Traceback" not in result.output


def test_characters_that_the_font_lacks_are_drawn_without_a_warning(tmp_path):
    table = pd.DataFrame({"👩‍🚀": [0, 1] * 200, "y": ["b", "🇨"] * 200})
    table.to_csv(tmp_path / "t.csv", index=False)
    drawn = ["--svg", str(tmp_path / "t.svg")]
    result = run(app, ["tree", str(tmp_path / "t.csv"), "-t", "y", *drawn])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "t.svg").read_text().startswith("<?xml")


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    rng, n = np.random.default_rng(0), 400
    city, when = rng.integers(0, 4, n), np.arange(n)
    price = 1e5 * (city == 1) + 3e4 * rng.random(n)
    table = pd.DataFrame(
        {"city": city.astype(str), "noise": rng.normal(size=n), "when": when, "price": price}
    )
    table["stars"], table["shop"] = city + 1.0, when // 10
    table.loc[:4, "price"] = np.nan
    path = tmp_path_factory.mktemp("prices") / "prices.parquet"
    table.to_parquet(path)
    return table, str(path)


def test_a_number(prices, tmp_path):
    table, path = prices
    known = table.dropna()
    tree = TreeRegressor().fit(known[["city", "noise"]], known["price"])
    asked = ["tree", path, "-t", "price", "-f", "city", "-f", "noise"]
    found = json.loads(run(app, [*asked, "--json"]).output)
    assert found["task"] == "regression"
    assert found["estimated_error"] == pytest.approx(tree.estimated_error_)
    assert (found["low"], found["high"]) == pytest.approx(tree.estimated_error_interval_)
    assert found["baseline_error"] == pytest.approx(known["price"].var(ddof=0), rel=0.02)
    assert found["tree"] == tree.to_dict()
    shown = run(app, [*asked, "--svg", str(tmp_path / "t.svg")]).output
    said = " ".join(shown.split())
    assert said.startswith("price is taken as a number (--task regression; classification takes each value")
    assert f"\n\n{tree.to_text()}\n" in shown
    assert f"R² {1 - found['estimated_error'] / found['baseline_error']:.2f}." in said
    off, low, high = (f"{float(f'{found[k] ** 0.5:.4g}'):g}" for k in ("estimated_error", "low", "high"))
    assert f"off by {off} on new rows (root mean squared error, 95% interval {low} to {high})" in said
    assert "Left out, without price: 5 rows." in said
    assert (tmp_path / "t.svg").read_text().startswith("<?xml")


def test_a_number_of_later_rows_and_of_new_groups(prices):
    table, path = prices
    known = table.dropna()
    asked = ["tree", path, "-t", "price", "-f", "city", "--json"]
    later = json.loads(run(app, [*asked, "--time", "when"]).output)
    assert later["new_rows"] == "later rows"
    losses = []  # a mean of two cities is what there is to know, in blocks of the time
    blocks = np.array_split(np.arange(len(known)), 6)
    for block in blocks[1:]:
        tree = TreeRegressor().fit(known[["city"]].iloc[: block[0]], known["price"].iloc[: block[0]])
        losses.extend((tree.predict(known[["city"]].iloc[block]) - known["price"].iloc[block]) ** 2)
    assert later["estimated_error"] == pytest.approx(np.mean(losses), rel=0.02)
    assert later["low"] < later["estimated_error"] < later["high"] < later["baseline_error"]
    grouped = json.loads(run(app, [*asked, "--group", "shop"]).output)
    tree = TreeRegressor().fit(known[["city"]], known["price"], groups=known["shop"])
    assert (grouped["n_units"], grouped["estimated_error"]) == (40, pytest.approx(tree.estimated_error_))


def test_the_task_of_whole_numbers(prices):
    asked = ["tree", prices[1], "-t", "stars", "-f", "noise"]
    assert "stars is taken as 4 classes (--task classification;" in " ".join(run(app, asked).output.split())
    found = json.loads(run(app, [*asked, "--json", "--task", "regression"]).output)
    assert (found["task"], found["assumed"]) == ("regression", None)
    text = run(app, [*asked[:3], "city", "-f", "stars", "--json", "--task", "regression"])
    assert json.loads(text.output)["task"] == "regression"  # its text says numbers
    one = run(app, ["tree", prices[1], "-t", "price", "--criterion", "gini"])
    assert "criterion must be" in one.output


@pytest.mark.parametrize("command", ["tree", "rules"])
def test_costs_decide_and_are_told_on_rows_held_back(command, tmp_path):
    random = np.random.default_rng(0)
    n = 400
    risk = random.integers(0, 3, n)
    y = np.where(random.random(n) < np.array([0.02, 0.2, 0.45])[risk], "ill", "well")
    path = tmp_path / "patients.csv"
    pd.DataFrame({"risk": np.array(["low", "some", "high"])[risk], "y": y}).to_csv(path, index=False)
    asked = [command, str(path), "--target", "y", "--costs", "fn=10,fp=1", "--json"]
    found = json.loads(run(app, asked).stdout)
    assert found["baseline_cost"] == pytest.approx(min(10 * (y == "ill").mean(), (y == "well").mean()))
    assert found["cost_low"] < found["cost"] < found["cost_high"]
    if command == "tree":
        # Everyone who is not of low risk is called ill, whatever rows are left out.
        wrong = np.where(risk == 0, y == "ill", y == "well")
        assert found["cost"] == pytest.approx(np.where(y == "ill", 10 * wrong, wrong).mean())
        assert found["estimated_error"] == pytest.approx(wrong.mean(), abs=0.03)
    other = json.loads(run(app, [*asked, "--positive", "well"]).stdout)
    assert other["cost"] != found["cost"]
    assert "--costs too" in run(app, [*asked[:4], "--positive", "ill"]).stderr
