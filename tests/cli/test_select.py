import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.datasets import make_customers
from offsample.margin import sufficient_columns

run = CliRunner().invoke


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    table = pd.DataFrame(make_customers(500))
    table.to_parquet(folder / "customers.parquet")
    table.loc[::10, "churned"] = None
    table.to_csv(folder / "gaps.csv", index=False)
    return folder


def test_demo():
    result = run(app, ["select", "--demo"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].startswith(
        "1 of 11 columns suffices to predict churned, judging by a sample of 2,000 of the"
    )
    first = next(line for line in lines if line.startswith("exit_survey_sent"))
    assert first.split()[2:4] == ["yes", "100%"]
    assert max(map(len, lines)) <= 80
    assert "█" not in result.output
    assert "█" in run(app, ["select", "--demo"], env={"COLUMNS": "120"}).output


def test_columns_that_do_not_help_are_not_said_to_suffice(tmp_path):
    rng = np.random.default_rng(0)
    noise = {f"x{i}": rng.normal(size=120) for i in range(4)} | {"y": rng.random(120) < 0.1}
    pd.DataFrame(noise).to_csv(tmp_path / "noise.csv", index=False)
    result = run(app, ["select", str(tmp_path / "noise.csv"), "-t", "y"])
    assert result.output.startswith("None of the 4 columns is shown to help in predicting y")
    assert "guessing the most frequent class does as well." in " ".join(result.output.split())


def test_what_is_better_than_a_guess_but_may_be_chance_is_not_said_to_do_as_well(tmp_path):
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 5)
    x = rng.integers(0, 2, 60)
    y = x ^ (rng.random(60) < 0.36)
    table = {"who": [f"p{i}" for i in who], "x": x[who], "z": rng.normal(size=300), "y": y[who]}
    pd.DataFrame(table).to_csv(tmp_path / "weak.csv", index=False)
    call = ["select", str(tmp_path / "weak.csv"), "-t", "y", "--group", "who"]
    result = run(app, [*call, "--max-rows", "250"])
    said, found = " ".join(result.output.split()), json.loads(run(app, [*call, "--json"]).output)
    assert said.startswith("None of the 2 columns is shown to help in predicting y")
    assert "does as well" not in said
    assert "with 1 column the error is smaller than that of guessing the most frequent class by 0." in said
    assert (
        "the best of 2 such differences must be 2.5 standard errors. More rows (--max-rows) may show" in said
    )
    guess, best = found["baseline_error"], min(size["error"] for size in found["sizes"])
    assert found["gain"] == pytest.approx(guess - best)
    assert found["gain_standard_error"] < found["gain"] <= 2.5 * found["gain_standard_error"]


@pytest.mark.parametrize("engine", [[], ["--engine", "polars"]])
@pytest.mark.parametrize("method", ["relief", "simba", "gflip"])
def test_json(files, engine, method):
    path = str(files / "customers.parquet")
    result = run(app, ["select", path, "-t", "churned", "--method", method, "--json", *engine])
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    table = make_customers(500)
    y = table.pop("churned")
    expected = sufficient_columns(table, y, method=method).to_dict()
    assert {name: found[name] for name in ("chosen", "n_chosen", "method")} == {
        name: expected[name] for name in ("chosen", "n_chosen", "method")
    }
    assert found["n_source_rows"] == found["n_samples"] == 500
    assert found["columns"][0]["weight"] == pytest.approx(expected["columns"][0]["weight"])


def test_missing_targets_and_dropped_columns(files):
    options = ["-t", "churned", "--ignore", "exit_survey_sent", "--categorical", "lucky_number"]
    result = run(app, ["select", str(files / "gaps.csv"), *options])
    assert result.exit_code == 0, result.output
    assert "Left out, without churned: 50 rows." in result.output
    assert "exit_survey_sent" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "no table given", id="no table"),
        pytest.param(["nowhere.parquet", "-t", "y"], "nowhere.parquet", id="file that is not there"),
        pytest.param(["--demo", "--ignore", "colour"], "colour", id="column to ignore that is not there"),
        pytest.param(["--demo", "--max-rows", "3"], "--max-rows must be at least 10, got 3", id="three rows"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message):
    result = run(app, ["select", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
