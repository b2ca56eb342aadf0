import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample.assessment import audit_search, trust_in_score
from offsample.cli import app

run = CliRunner().invoke


@pytest.fixture
def scores(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(0.7, 0.03, (8, 4)), columns=list("abcd"))
    table.insert(0, "model", [f"m{i}" for i in range(8)])
    table.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


def test_file(scores):
    audit = audit_search(scores)
    result = run(app, ["audit", str(scores)])
    assert result.exit_code == 0, result.output
    assert f"Reported: {audit.naive:.4f}, the best of 8 configurations on 4 folds." in result.output
    assert f"Expect {audit.corrected:.4f} on new rows" in result.output
    found = json.loads(run(app, ["audit", str(scores), "--json"]).output)
    assert found["corrected"] == pytest.approx(audit.corrected)
    assert found["audit"]["label"] == audit.label
    turned = json.loads(run(app, ["audit", str(scores), "--lower-is-better", "--json"]).output)
    assert turned["naive"] < found["naive"]


def test_what_is_infinite_is_null_in_json(tmp_path):
    (tmp_path / "one.csv").write_text("model,score\na,0.8\n")  # one score of one: nothing is known of it
    out = run(app, ["audit", str(tmp_path / "one.csv"), "--json"]).output
    found = json.loads(out, parse_constant=lambda constant: pytest.fail(constant))
    assert (found["low"], found["high"], found["naive"]) == (None, None, 0.8)


def test_standard_input(scores):
    command = [sys.executable, "-m", "offsample", "audit", "-", "--json"]
    done = subprocess.run(command, input=scores.read_text(), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["naive"] == pytest.approx(audit_search(scores).naive)
    assert done.stderr == ""


def test_score():
    options = ["--n-test", "1186", "--configurations", "64"]
    result = run(app, ["audit", *options, "--accuracy", ".924"])
    trust = trust_in_score(0.924, n_test=1186, n_configurations=64)
    assert " ".join(result.output.split()) == " ".join(trust.sentences)
    assert max(map(len, result.output.splitlines())) <= 80
    found = json.loads(run(app, ["audit", *options, "--error", ".076", "--json"]).output)
    assert found["corrected"] == pytest.approx(1 - trust.corrected)
    auc = run(app, ["audit", *options, "--score", ".81", "--metric", "auc", "--n-positive", "90"])
    trust = trust_in_score(0.81, n_test=1186, n_configurations=64, metric="auc", n_positive=90)
    assert " ".join(auc.output.split()) == " ".join(trust.sentences)
    loss = ["--score", ".31", "--metric", "log_loss", "--standard-error", ".02", "--json"]
    found = json.loads(run(app, ["audit", *options, *loss]).output)
    assert found["corrected"] > 0.31


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one of: a file of scores, --accuracy, --error"),
        (["--accuracy", ".9", "--error", ".1"], "give one of"),
        (["--accuracy", ".9"], "--n-test is missing"),
        (["--accuracy", "92", "--n-test", "9"], "--accuracy must be an accuracy or error rate between"),
        (["--score", ".8", "--n-test", "9"], "--score needs --metric"),
        (["--score", ".8", "--n-test", "9", "--metric", "auc"], "--n-positive is missing"),
        (["--accuracy", ".8", "--n-test", "9", "--n-positive", "3"], "are for --score"),
        (["nothing.csv"], "no such file: 'nothing.csv'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message):
    result = run(app, ["audit", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1
