import json

import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.datasets import make_customers
from offsample.expected_error import size_forecast

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
    assert "smallest within one standard error" in result.output
    assert "prolonged" in result.output
    words = " ".join(result.output.split())
    assert "The expected error analysis was not used" in words
    assert "of the 1,000 rows (Theorem 14, with the errors above)" in words
    assert "hold out 500 (Hoeffding)" in words


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
    assert found["forecast_trusted"] is False
    choose, know = found["holdout"]["to_choose"], found["holdout"]["to_know"]
    assert (choose["method"], know["method"]) == ("Theorem 14", "Hoeffding")
    assert 1 <= choose["n_holdout"] < know["n_holdout"] <= 500
    assert choose["expected_loss"] <= choose["wanted"]
    assert sum(choose["selection_probability"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no table given"),
        (["--demo", "-t", "churnd"], "churnd"),
        (["--demo", "--splits", "-1"], "sizes must be numbers of splits of at least 0"),
        (["--demo", "--ignore", "nothing"], "nothing"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message):
    result = run(app, ["forecast", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
