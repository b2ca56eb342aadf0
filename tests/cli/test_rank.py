import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample import __version__
from offsample._ranking_shown import interval_bar
from offsample.cli import app
from offsample.datasets import make_customers
from offsample.ranking import rank_features

run = CliRunner().invoke


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    table = pd.DataFrame(make_customers(1000))
    table.to_parquet(folder / "customers.parquet")
    table.to_csv(folder / "customers.csv", index=False)
    return folder


def test_version_and_help():
    assert run(app, ["--version"]).output == f"offsample {__version__}\n"
    assert "rank" in run(app, ["--help"]).output
    assert "offsample rank customers.parquet --target churned" in run(app, ["rank", "--help"]).output


def test_demo():
    result = run(app, ["rank", "--demo"])
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert any(line.startswith("exit_survey_sent") for line in lines)
    assert "no evidence" in lines[-1]
    assert lines[-1].startswith("customer_id")


@pytest.mark.parametrize("name", ["customers.parquet", "customers.csv", "*.parquet"])
@pytest.mark.parametrize("engine", [[], ["--engine", "polars"]])
def test_files(files, name, engine):
    result = run(app, ["rank", str(files / name), "--target", "churned", "--json", *engine])
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found["n_samples"] == 1000
    expected = rank_features(files / "customers.parquet", "churned")
    assert [f["name"] for f in found["features"]] == [f.name for f in expected]
    assert found["features"][0]["error"] == pytest.approx(expected.features[0].error, abs=1e-12)


def test_standard_input(files):
    table = (files / "customers.csv").read_text()
    command = [sys.executable, "-m", "offsample", "rank", "-", "-t", "churned", "-f", "plan", "--json"]
    done = subprocess.run(command, input=table, capture_output=True, text=True, check=True)
    assert [f["name"] for f in json.loads(done.stdout)["features"]] == ["plan"]
    assert done.stderr == ""


def test_options(files):
    path = str(files / "customers.parquet")
    columns = ["-f", "lucky_number", "-f", "plan", "--categorical", "lucky_number"]
    how = ["--criterion", "information_gain", "--order", "estimate", "--confidence", "0.8"]
    result = run(app, ["rank", path, "-t", "churned", *columns, *how])
    assert result.exit_code == 0
    assert "Sorted by information_gain." in result.output
    assert "80% interval" in result.output
    first = next(line for line in result.output.splitlines() if line.startswith("lucky_number"))
    assert first.split()[:2] == ["lucky_number", "100"]


def test_names_are_printed_as_they_are(tmp_path):
    table = pd.DataFrame({"[bold]x[/bold]": list("aabb") * 5, "[red]y": list("nnpp") * 5})
    table.to_parquet(tmp_path / "t.parquet")
    output = run(app, ["rank", str(tmp_path / "t.parquet"), "-t", "[red]y"]).output
    assert "[bold]x[/bold]" in output
    assert "[red]y" in output


def test_rows_without_target_are_reported(tmp_path):
    pd.DataFrame({"x": list("aabb"), "y": ["n", "p", None, "n"]}).to_parquet(tmp_path / "t.parquet")
    output = run(app, ["rank", str(tmp_path / "t.parquet"), "-t", "y"]).output
    assert "Left out, without y: 1 row." in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no table given"),
        (["t.parquet"], "no target given"),
        (["missing.parquet", "-t", "y"], "no such file: 'missing.parquet'"),
        (["--demo", "-t", "churnd"], "target 'churnd' is not a column of the table: did you mean 'churned'?"),
        (["--demo", "--criterion", "nothing"], "criterion must be one of"),
        (["t.parquet", "--demo"], "--demo takes no table"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message):
    result = run(app, ["rank", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1
    assert "Traceback" not in result.output


def test_a_rare_class_of_three_can_be_asked_about(tmp_path):
    random = np.random.default_rng(0)
    y = np.where(random.random(300) < 0.05, "fraud", np.where(random.random(300) < 0.5, "late", "ok"))
    pd.DataFrame({"x": random.normal(size=300), "y": y}).to_csv(tmp_path / "three.csv", index=False)
    told = "one class from the others, such as fraud: --metric auc --positive fraud."
    ask = ["rank", str(tmp_path / "three.csv"), "--target", "y"]
    assert " ".join(run(app, ask).output.split()).count(told) == 1
    assert "--positive" not in run(app, [*ask, "--metric", "auc", "--positive", "fraud"]).output
    refused = run(app, [*ask, "--costs", "fn=10,fp=1"])
    assert "which one (positive=, or --positive CLASS)" in " ".join(refused.output.split())


def test_bar_marks_interval_estimate_and_baseline():
    feature = rank_features({"x": list("aabbab") * 20, "y": list("npnppn") * 20}, "y")["x"]
    bar = interval_bar(feature, baseline=1.0, scale=1.0, width=40)
    assert len(bar) == 40
    assert bar[-1] == "┆"
    assert bar.index("●") == int(feature.error * 40)
    assert bar.count("─") >= 2


def test_errors_for_new_groups_and_later_rows(tmp_path):
    path = str(tmp_path / "visits.csv")
    pd.DataFrame(
        {
            "patient": [f"p{i // 10}" for i in range(400)],
            "nurse": [f"n{i % 7}" for i in range(400)],
            "day": [i % 50 for i in range(400)],
            "fever": [(i // 10 + i % 10 // 9) % 2 for i in range(400)],
            "sick": [i // 10 % 2 for i in range(400)],
        }
    ).to_csv(path, index=False)
    new = run(app, ["rank", path, "-t", "sick", "--group", "patient", "--categorical", "fever"])
    assert "share of rows with a new 'patient'" in " ".join(new.output.split())
    assert not any(line.startswith("patient ") for line in new.output.splitlines())
    later = run(app, ["rank", path, "-t", "sick", "--time", "day", "--json"])
    assert json.loads(later.output)["new_rows"] == "later rows"
    both = run(app, ["rank", path, "-t", "sick", "--group", "patient,nurse"])
    assert "a new 'patient' and a new 'nurse'" in " ".join(both.output.split())
    assert "? marks intervals" in both.output
    wrong = run(app, ["rank", path, "-t", "sick", "--group", "patients"])
    assert wrong.exit_code == 2
    assert "did you mean 'patient'" in wrong.output


def test_absolute_errors_lead_where_a_few_rows_decide(tmp_path):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 300)
    table = pd.DataFrame({"kind": [f"k{k}" for k in kind], "loss": np.exp(kind + 2 * rng.normal(size=300))})
    table.to_parquet(tmp_path / "losses.parquet")
    asked = ["rank", str(tmp_path / "losses.parquet"), "-t", "loss"]
    words = " ".join(run(app, asked).output.split())
    assert "Absolute error, for new rows, is by how much the median is off" in words
    assert "decide R² and squared errors: absolute errors, by medians, are safer" in words
    assert words.startswith("loss is taken as a number")
    assert "a class). 1 column and 300 rows of" in words
    assert "absolute errors cannot tell" not in words
    assert "R² is the share" in " ".join(run(app, [*asked, "--criterion", "ginger"]).output.split())
    assert "absolute_error_loo" in run(app, ["rank", "--help"]).output
    table["loss"] *= rng.random(300) < 0.1 * kind  # mostly 0: so is the median of each kind
    table.to_parquet(tmp_path / "losses.parquet")
    words = " ".join(run(app, asked).output.split())
    assert "absolute errors cannot tell what it says: criterion ginger (--criterion) does." in words


def test_numbers_whose_squares_vanish_are_refused():
    with pytest.raises(ValueError, match="multiply it by a power of ten"):
        rank_features({"a": [1.5, 2.5, 3.5] * 4, "y": 1e-200 * np.arange(12.0)}, "y", task="regression")
