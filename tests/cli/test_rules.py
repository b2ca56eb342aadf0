import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.induction import DecisionListClassifier

run = CliRunner().invoke


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    rng = np.random.default_rng(0)
    colour, size = rng.choice(["red", "green", "blue"], 600), rng.normal(10, 3, 600).round(1)
    bought = np.where((colour == "red") & (size <= 11), "yes", "no")
    pd.DataFrame({"colour": colour, "size": size, "bought": bought}).to_csv(path, index=False)
    return str(path)


def test_prints_rules_and_the_error_to_expect(file):
    result = run(app, ["rules", file, "--target", "bought"])
    assert result.exit_code == 0, result.output
    table = pd.read_csv(file)
    model = DecisionListClassifier().fit(table[["colour", "size"]], table["bought"])
    low, high = model.estimated_error_interval_
    said = " ".join(result.output.split())
    assert (
        f"an error of {model.estimated_error_:.4f} on new rows (95% interval {low:.4f} to {high:.4f})" in said
    )
    assert model.to_text() in result.output
    assert "colour = red" in result.output


@pytest.mark.parametrize("kind", ["list", "dnf", "monomial", "program", "committee", "symmetric"])
def test_every_kind(file, kind):
    result = run(app, ["rules", file, "--target", "bought", "--kind", kind, "--json"])
    assert result.exit_code == 0, result.output
    plain = json.loads(result.output)
    assert plain["n_samples"] == 600
    assert plain["rules"]
    low, high = plain["estimated_error_interval"]
    assert 0 <= low <= plain["estimated_error"] <= high < 0.4
    assert plain["path"][0]["n_splits"] == 0
    assert all("colour" in json.dumps(plain) for _ in plain["rules"])


def test_draws_a_program(file, tmp_path):
    picture = tmp_path / "program.svg"
    result = run(app, ["rules", file, "--target", "bought", "--kind", "program", "--svg", str(picture)])
    assert result.exit_code == 0, result.output
    assert "<svg" in picture.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "price"], "price"),
        (["--target", "bought", "--criterion", "gain_ratio"], "criterion must be"),
        (["--target", "bought", "--svg", "x.svg"], "--svg draws a program"),
        (["--target", "colour", "--kind", "dnf"], "Only binary classification is supported"),
        (["--target", "bought", "--literals", "0"], "literals must be at least 1"),
    ],
)
def test_bad_input_is_one_sentence(file, arguments, message):
    result = run(app, ["rules", file, *arguments])
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_limits(file):
    limits = ["--max-size", "1", "--literals", "1", "--ignore", "size"]
    result = run(app, ["rules", file, "-t", "bought", *limits])
    assert result.exit_code == 0, result.output
    assert "size" not in result.output
