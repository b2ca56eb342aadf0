import json
import re

import pytest
from typer.testing import CliRunner

from offsample import plan_holdout
from offsample.cli import app

run = CliRunner().invoke


def say(*options):
    result = run(app, ["plan", *options])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_all_directions():
    size = say("--rows", "10000", "--configurations", "64", "--precision", ".03")
    assert size.startswith("Hold out 3,975 of the 10,000 rows for testing and train on the other 6,025. ")
    assert "best of 64 configurations on new rows will be at most 3 percentage points above" in size
    number = say("--n-test", "1186", "--precision", ".05")
    assert "You can compare up to 18 configurations on them." in number
    precision = say("--n-test", "1186", "--configurations", "64")
    assert precision.startswith("Test on 1,186 rows that no model has seen. ")
    assert "at most 5.5 percentage points" in precision


def test_what_cannot_be_had_comes_with_what_can():
    few = say("--rows", "1000", "--configurations", "64", "--precision", ".03")
    assert "takes 3,975 test rows, and as many to train on: there are only 1,000 rows." in few
    assert "Cross-validate on all rows instead" in few
    assert few.endswith("Or gather more rows: a held-out part of so few cannot tell.")
    more = say("--rows", "5000", "--configurations", "64", "--precision", ".03")
    assert more.endswith("Or hold out 1,000 rows and be content with 6 percentage points.")
    coarse = say("--rows", "100", "--configurations", "10")
    assert "at most 30 percentage points above" in coarse
    assert "so few test rows cannot tell. Cross-validate on all rows instead" in coarse
    none = say("--n-test", "20", "--precision", ".01")
    assert none.startswith(
        "20 test rows are too few to know the error of even one model to within 1 percentage"
    )
    assert say("--n-test", "1", "--configurations", "9").startswith("1 test row is too few")


def test_rows_alone_leave_rows_to_train_on():
    said = say("--rows", "10000", "--configurations", "64")
    assert said.startswith("Hold out 2,000 of the 10,000 rows for testing and train on the other 8,000. ")


@pytest.mark.parametrize("rows", [2, 9, 40, 100, 1000, 72_983, 10**6, 10**9])
@pytest.mark.parametrize(
    "others",
    [
        ("--configurations", "1"),
        ("--configurations", "64"),
        ("--precision", ".02"),
        ("--configurations", "1000", "--precision", ".05"),
        ("--configurations", "10", "--precision", ".001"),
    ],
)
@pytest.mark.parametrize("error", [None, "0", "0.1", "0.6"])
def test_every_answer_can_be_acted_on(rows, others, error):
    """Rows to hold out and rows to train on that make up all, and a promise; or a reason and another way."""
    options = ["--rows", str(rows), *others, *([] if error is None else ["--expected-error", error])]
    said = say(*options)
    split = re.match(
        r"Hold out ([\d,]+) of the ([\d,]+) rows for testing and train on the other ([\d,]+)\.", said
    )
    promised = [
        float(points) for points in re.findall(r"(?:at most|content with) ([\d.e+-]+) percentage", said)
    ]
    if split is None:
        assert "Cross-validate on all rows instead" in said
        assert all(points <= 10 for points in promised)
        return
    n_test, n_rows, n_train = (int(part.replace(",", "")) for part in split.groups())
    assert (n_rows, n_test + n_train) == (rows, rows)
    assert 30 <= n_test <= n_train
    (points,) = promised
    assert 0 < points < 50
    assert (points > 10) == ("cannot tell. Cross-validate on all rows instead" in said)


def test_json():
    arguments = ["--n-test", "1186", "--configurations", "64", "--expected-error", ".05", "--json"]
    found = json.loads(run(app, ["plan", *arguments]).output)
    assert found == plan_holdout(n_test=1186, n_configurations=64, expected_error=0.05).to_dict()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give two of --n-test (or --rows), --configurations and --precision, got 0"),
        (["--n-test", "9", "--configurations", "2", "--precision", ".1"], "--precision, got 3"),
        (["--n-test", "9", "--configurations", "nan"], "--configurations must be at least 1, got nan"),
        (["--n-test", "0", "--precision", ".1"], "--n-test must be at least 1, got 0"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message):
    result = run(app, ["plan", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1


def test_the_condition_is_said():
    assert say("--n-test", "1000", "--configurations", "5", "--expected-error", ".05").endswith(
        "above its error on the test rows, if that turns out to be 5%, as expected (or less)."
    )
    assert "if that" not in say("--n-test", "1000", "--configurations", "5")
    assert "30 at least" in " ".join(run(app, ["plan", "--help"]).output.split())
    assert "With 99.9% confidence" in say("--n-test", "1000", "--configurations", "5", "--confidence", ".999")


@pytest.mark.parametrize("error", [0.05, 0.3, 0.49])
def test_the_promise_holds_for_less_than_was_expected_too(error):
    promised = plan_holdout(n_test=1000, n_configurations=5, expected_error=error).precision
    for less in (error / 3, error / 2, error * 0.9):
        assert plan_holdout(n_test=1000, n_configurations=5, expected_error=less).precision <= promised
