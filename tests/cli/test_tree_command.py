import json
import subprocess
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.datasets import make_customers
from offsample.induction import TreeClassifier

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
    drawn = ["--svg", str(tmp_path / "t.svg"), "--png", str(tmp_path / "t.png")]
    assert run(app, ["tree", path, "-t", "churned", *drawn]).exit_code == 0
    assert (tmp_path / "t.svg").read_text().startswith("<?xml")
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


def test_rows_without_target_are_left_out(tmp_path):
    table = pd.DataFrame({"x": list("aabb") * 20, "y": ["n", "n", "p", None] * 20})
    table.to_parquet(tmp_path / "t.parquet")
    output = run(app, ["tree", str(tmp_path / "t.parquet"), "-t", "y"]).output
    assert output.startswith("A tree that predicts y, grown on 60 of 80 rows of")
    assert "It has 2 leaves." in " ".join(output.split())
    assert "20 rows without y were left out." in output


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
        (["--demo", "-t", "age"], "is continuous"),
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
    drawn = ["--svg", str(tmp_path / "t.svg"), "--png", str(tmp_path / "t.png")]
    result = run(app, ["tree", str(tmp_path / "t.csv"), "-t", "y", *drawn])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "t.svg").read_text().startswith("<?xml")
