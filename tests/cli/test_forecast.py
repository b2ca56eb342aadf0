import json

import pytest
from scipy.stats import binom
from typer.testing import CliRunner

from offsample import plan_holdout
from offsample.cli import app
from offsample.datasets import make_customers
from offsample.expected_error.sizing import SizeForecast, SizePoint, size_forecast

run = CliRunner().invoke


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    import pandas as pd

    path = tmp_path_factory.mktemp("forecast") / "customers.parquet"
    pd.DataFrame(make_customers(1000)).to_parquet(path)
    return str(path)


def test_text(path):
    result = run(app, ["forecast", path, "-t", "churned", "--splits", "0", "--splits", "3"])
    assert result.exit_code == 0, result.output
    assert "1,000 rows" in result.output
    words = " ".join(result.output.split())
    assert "the smallest that is about as good as the best" in words
    assert "What more rows would bring cannot be told" in words  # a leak is found at once: the curve is flat
    assert "Theorem" not in words
    assert (
        "hold out 200 of the 1,000 rows: with 95% confidence its error on new rows will be at most" in words
    )
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize("n_rows", [20, 59, 60, 150, 1000, 5000, 72_983, 10**6, 10**8])
@pytest.mark.parametrize("error", [0.0, 0.001, 0.02, 0.1, 0.3, 0.5, 0.9])
def test_rows_to_hold_out_are_ones_that_a_person_would(n_rows, error):
    """Neither 9 of 72,983 rows nor more than help: a fifth, or what tells the error to a tenth of it."""
    from offsample.cli.forecast import _check, _plan

    best = SizePoint(4, error, max(0.0, error - 0.01), min(1.0, error + 0.01), error)
    found = SizeForecast((best,), best, (), (0.0, 1.0), "", "", n_rows)
    plan, said = _plan(found), _check(found, _plan(found))
    if n_rows < 60:
        assert not plan.feasible
        assert "too few rows" in said
        return
    assert plan.feasible
    assert plan.n_test + plan.n_train == n_rows
    fifth = max(30, n_rows // 5)
    wanted = max(0.1 * min(error, 0.5), 0.005)
    if plan.n_test < fifth:  # then it is known as well as is wanted, and would not be with a row less
        assert plan.precision <= wanted + 1e-12
        assert binom.cdf(plan.n_test * min(error, 0.5), plan.n_test, min(error, 0.5) + wanted) <= 0.0501
        assert plan.n_test >= 100
    else:
        assert plan.n_test == fifth
    assert f"hold out {plan.n_test:,} of the {n_rows:,} rows" in said


def test_json_is_the_forecast(path):
    options = ["--splits", "0", "--splits", "3", "--ignore", "exit_survey_sent", "--json"]
    result = run(app, ["forecast", path, "-t", "churned", *options])
    found = json.loads(result.output)
    columns = dict(make_customers(1000))
    y = columns.pop("churned")
    columns.pop("exit_survey_sent")
    expected = size_forecast(columns, y, sizes=[0, 3]).to_dict()
    assert [s["n_splits"] for s in found["sizes"]] == [0, 3]
    assert [s["error"] for s in found["sizes"]] == pytest.approx([s["error"] for s in expected["sizes"]])
    holdout = found["holdout"]
    assert (holdout["n_test"], holdout["n_train"]) == (200, 800)
    expected_error = found["best"]["error"]
    assert holdout == plan_holdout(1000, 1, expected_error=expected_error).to_dict()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no table given"),
        (["--demo", "-t", "churnd"], "churnd"),
        (["--demo", "--splits", "-1"], "--splits must be numbers of splits of at least 0"),
        (["--demo", "--ignore", "nothing"], "nothing"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message):
    result = run(app, ["forecast", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_number(tmp_path):
    table = make_customers(300)
    file = tmp_path / "numbers.csv"
    rows = zip(table["tenure_months"], table["age"], strict=True)
    file.write_text("a,b\n" + "\n".join(f"{a},{b}" for a, b in rows))
    asked = ["forecast", str(file), "-t", "b", "--splits", "0", "--splits", "2"]
    result = run(app, asked)
    assert result.exit_code == 0, result.output
    words = " ".join(result.output.split())
    assert words.startswith("b is taken as a number (--task regression;")
    assert "The error is the root of the mean squared error of a tree about b, on new rows." in words
    found = json.loads(run(app, [*asked, "--json"]).stdout)
    assert found["task"] == "regression"
    assert found["holdout"] is None
