import json

import pytest
from typer.testing import CliRunner

from offsample import plan_holdout
from offsample.cli import app

run = CliRunner().invoke


def test_all_directions():
    size = run(app, ["plan", "--rows", "10000", "--configurations", "64", "--precision", ".03"]).output
    assert size.splitlines()[0] == "A hold-out set of 3,975 rows."
    assert "6,025 rows are left to train on." in size
    number = run(app, ["plan", "--n-test", "1186", "--precision", ".05"]).output
    assert number.startswith("Up to 18 configurations on 1,186 test rows.")
    precision = run(app, ["plan", "--n-test", "1186", "--configurations", "64"]).output
    assert precision.startswith("A precision of 0.0549 with 1,186 test rows.")
    few = run(app, ["plan", "--rows", "1000", "--configurations", "64", "--precision", ".03"]).output
    assert "That is more than the 1,000 rows that there are" in few
    none = run(app, ["plan", "--n-test", "20", "--precision", ".01"]).output
    assert none == "20 test rows are too few for that precision, even of one configuration.\n"


def test_json():
    arguments = ["--n-test", "1186", "--configurations", "64", "--expected-error", ".05", "--json"]
    found = json.loads(run(app, ["plan", *arguments]).output)
    assert found == plan_holdout(n_test=1186, n_configurations=64, expected_error=0.05).to_dict()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give two of --n-test (or --rows), --configurations and --precision, got 0"),
        (["--n-test", "9", "--configurations", "2", "--precision", ".1"], "--precision, got 3"),
        (["--n-test", "9", "--configurations", "nan"], "n_configurations must be at least 1, got nan"),
        (["--n-test", "0", "--precision", ".1"], "n_test must be at least 1, got 0"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message):
    result = run(app, ["plan", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1
