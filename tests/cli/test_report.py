"""`offsample report` as a newcomer and as a script would run it."""

import json
import signal
import subprocess
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.datasets import make_customers
from offsample.report import report
from offsample.report._build import STAGES

run = CliRunner().invoke
SMALL = {"x": list("aabb") * 20, "y": list("nnpp") * 20}  # for processes of their own


@pytest.fixture
def folder(tmp_path, monkeypatch):
    pd.DataFrame(make_customers(600)).to_parquet(tmp_path / "customers.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_is_written_and_its_path_printed(folder):
    result = run(app, ["report", "customers.parquet", "-t", "churned", "--fast"])
    assert result.exit_code == 0, result.output
    assert result.stdout == "customers-report.html\n"
    assert result.stderr == ""
    page = (folder / "customers-report.html").read_text()
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert "exit_survey_sent" in page
    assert sorted(path.name for path in folder.iterdir()) == ["customers-report.html", "customers.parquet"]


def test_a_number_is_told_as_one(folder):
    result = run(app, ["report", "customers.parquet", "-t", "age", "--fast", "-o", "age.json"])
    assert (result.exit_code, result.stdout) == (0, "age.json\n"), result.output
    assert result.stderr.startswith("age is taken as a number (--task regression; classification takes")
    assert json.loads((folder / "age.json").read_text())["verdict"]["task"] == "regression"
    assert run(app, ["report", "customers.parquet", "-t", "age", "--fast", "-q"]).stderr == ""


def test_json_and_output(folder):
    result = run(app, ["report", "--demo", "--fast", "--json", "--sample", "500", "-o", "page.html"])
    found = json.loads(result.stdout)
    assert found["schema_version"] == 2
    assert found["verdict"]["n_modelled"] == 500
    assert found["verdict"]["n_rows"] == 5000
    assert (folder / "page.html").exists()
    assert not (folder / "customers-report.html").exists()


def test_options_reach_the_report(folder):
    options = ["--ignore", "city", "--categorical", "lucky_number", "--positive", "no", "--seed", "7"]
    result = run(app, ["report", "customers.parquet", "-t", "churned", "--fast", "--json", *options])
    found = json.loads(result.stdout)
    columns = {column["name"]: column for column in found["columns"]["columns"]}
    assert "city" not in columns
    assert columns["lucky_number"]["kind"] == "categorical"
    assert (found["positive"], found["method"]["seed"]) == ("no", 7)


@pytest.mark.parametrize(
    ("codes", "exit_code"), [("leak,identifier", 3), ("near-copy", 0), ("constant, masked", 0)]
)
def test_findings_can_fail_a_pipeline(folder, codes, exit_code):
    result = run(app, ["report", "--demo", "--fast", "--fail-on", codes])
    assert result.exit_code == exit_code
    assert ("offsample: leak: “exit_survey_sent”" in result.stderr) == (exit_code == 3)
    assert result.stdout == "customers-report.html\n"


def test_a_query_and_standard_input(folder):
    query = "SELECT * EXCLUDE (city) FROM 'customers.parquet' WHERE age > 30"
    result = run(app, ["report", query, "-t", "churned", "--fast", "--json"])
    assert result.exit_code == 0, result.output
    names = [column["name"] for column in json.loads(result.stdout)["columns"]["columns"]]
    assert "city" not in names
    csv = pd.DataFrame(SMALL).to_csv(index=False)
    command = [sys.executable, "-m", "offsample", "report", "-", "-t", "y", "--fast", "-o", "in.html"]
    done = subprocess.run(command, input=csv, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("in.html\n", "")


def test_a_score_is_judged(folder):
    score = ["--score", ".91", "--configurations", "200", "--n-test", "1000"]
    result = run(app, ["report", "customers.parquet", "-t", "churned", "--fast", "--json", *score])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    trust = found["trust"]["found"]
    assert (trust["naive"], trust["n_configurations"], trust["n_test"]) == (0.91, 200, 1000)
    assert trust["low"] < trust["corrected"] < 0.91 < trust["high"]
    assert trust["baseline"] == pytest.approx(max(found["class_counts"]) / 600)
    assert found["sizing"] is None
    assert any(line.startswith("what more rows would bring") for line in found["method"]["skipped"])


def test_a_file_of_scores_is_judged(folder):
    (folder / "scores.csv").write_text("fold1,fold2,fold3\n.90,.88,.91\n.85,.93,.90\n.89,.86,.88\n")
    result = run(app, ["report", "customers.parquet", "-t", "churned", "--fast", "--scores", "scores.csv"])
    assert result.exit_code == 0, result.output
    page = (folder / "customers-report.html").read_text()
    assert "How far to trust your own score" in page
    assert "3 configurations" in page


def test_stages_are_told_in_order():
    told = []
    report(make_customers(400), "churned", score=0.8, n_test=50, on_stage=told.append)
    assert told == list(STAGES)


def test_the_time_limit_leaves_out_what_can_wait(folder):
    result = run(app, ["report", "--demo", "--json", "--time-limit", "0.001"])
    found = json.loads(result.stdout)
    assert found["model"]["validated_error"] is None
    assert found["sufficient"]["columns"] == []
    assert found["sizing"] is None
    left_out = [line.split(":")[0] for line in found["method"]["skipped"] if "time limit" in line]
    assert "The time limit of 0.001 s was reached before a model was found" in found["verdict"]["sentence"]
    assert left_out == [
        "splits of the tree",
        "cross-validation",
        "a decision list",
        "a formula",
        "whether rows belong together",
        "whether rows came in an order",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no table given"),
        (["customers.parquet", "-t", "churnd"], "did you mean 'churned'?"),
        (["customers.parquet", "-t", "churned", "--positive", "maybe"], "positive 'maybe' is not a class"),
        (["customers.parquet", "-t", "churned", "--ignore", "town"], "'town' to ignore is not in the table"),
        (["customers.parquet", "-t", "age", "--task", "classification"], "cut it into bins first"),
        (["customers.parquet", "-t", "age", "--metric", "auc"], "is for classes, and the target is a number"),
        (["--demo", "--fail-on", "nonsense"], "--fail-on knows no finding 'nonsense'"),
        (["--demo", "--sample", "1"], "sample must be at least 2"),
        (["--demo", "--time-limit", "-1"], "--time-limit must be positive"),
        (["--demo", "--score", ".9"], "--n-test is missing"),
        (["--demo", "--score", "91", "--n-test", "100"], "between 0 and 1, got 91"),
        (["--demo", "--configurations", "3"], "--configurations is 3, but there is no score"),
        (["--demo", "--scores", "nowhere.csv"], "nowhere.csv"),
        (["--demo", "-o", "nowhere/page.html"], "there is no folder"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(folder, arguments, message):
    result = run(app, ["report", *arguments])
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,b,y\n", "no rows"),
        (b"a,b,y\n1,2\n3,4,5,6\n1,2,n\n", "cannot be read as CSV"),
        (b"a,y\n\xff\xfe\xfa,n\n\xe9,p\n", "cannot be read as CSV"),
        (b"a,a,y\n1,2,n\n2,3,p\n", "2 columns are named 'a'"),
    ],
)
def test_broken_files_get_a_sentence(folder, content, message):
    (folder / "bad.csv").write_bytes(content)
    result = run(app, ["report", "bad.csv", "-t", "y"])
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert not list(folder.glob("*.html"))


def test_a_byte_order_mark_and_nul_bytes(folder):
    rows = "".join(f"v{i % 3}\x00,{'np'[i % 2]}\n" for i in range(40))
    (folder / "odd.csv").write_bytes(b"\xef\xbb\xbf" + ("a,y\n" + rows).encode())
    result = run(app, ["report", "odd.csv", "-t", "y", "--fast"])
    assert result.exit_code in (0, 2), result.output  # read, or refused in a sentence
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "name", ['"; drop table x', "`tick`", "a b", "<script>alert(1)</script>", "né 🦊", "x" * 10_000]
)
def test_any_name_of_a_column_will_do(folder, name):
    table = pd.DataFrame({name: list("aabb") * 20, "y": list("nnpp") * 20})
    table.to_parquet("odd.parquet")
    result = run(app, ["report", "odd.parquet", "-t", "y", "--fast"])
    assert result.exit_code == 0, result.output
    assert "<script>alert(1)" not in (folder / "odd-report.html").read_text()


@pytest.mark.parametrize("where", ["> page.html", "| cat > page.html"])
def test_standard_output_gets_the_page_and_nothing_else(folder, where):
    pd.DataFrame(SMALL).to_parquet("customers.parquet")
    command = f'"$0" -m offsample report customers.parquet -t y --fast -o /dev/stdout {where}'
    done = subprocess.run(["bash", "-c", command, sys.executable], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert sorted(path.name for path in folder.iterdir()) == ["customers.parquet", "page.html"]


# The report, interrupted when it comes to a function: the signal is there on the next line.
INTERRUPTED = """
import os, signal, sys
from importlib import import_module
module, name = sys.argv.pop(1).rsplit(".", 1)
setattr(import_module(module), name, lambda *_: os.kill(os.getpid(), signal.SIGINT))
from offsample.cli import main
main()
"""


@pytest.mark.parametrize(
    "function",
    ["offsample.ranking.judge", "offsample.report._write._take_after"],
    ids=["while columns are counted", "while the page is written"],
)
def test_interrupting_leaves_no_file(folder, function):
    pd.DataFrame(SMALL).to_parquet("customers.parquet")
    asked = ["report", "customers.parquet", "-t", "y", "--fast", "-o", "page.html"]
    command = [sys.executable, "-c", INTERRUPTED, function, *asked]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 128 + signal.SIGINT, done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["customers.parquet"]


def test_help_shows_an_example():
    assert "offsample report customers.parquet --target churned" in run(app, ["report", "--help"]).output


def test_a_page_without_a_name_is_checked_before_the_work_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "visits.csv"
    text = "x,y\n" + "1,a\n2,b\n" * 20
    table.write_text(text)
    (tmp_path / "visits-report.html").symlink_to(table)
    (tmp_path / "offsample-report.html").mkdir()  # which nobody writes
    result = CliRunner().invoke(app, ["report", "visits.csv", "-t", "y", "--fast", "-q"])
    assert result.exit_code == 2
    assert "it is read, and would be lost" in " ".join(result.output.split())
    assert table.read_text() == text
    (tmp_path / "visits-report.html").unlink()
    assert CliRunner().invoke(app, ["report", "visits.csv", "-t", "y", "--fast", "-q"]).exit_code == 0
