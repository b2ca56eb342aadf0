"""What each column is read as, on a screen and as JSON, and the types that overrule it."""

import json

import pytest
from typer.testing import CliRunner

from offsample.cli import app


def run(*words):
    return CliRunner().invoke(app, ["columns", *map(str, words)])


@pytest.fixture
def path(tmp_path):
    lines = [f'{i},"${1000 + i:,}.50",{i % 28 + 1:02d}.{i % 12 + 1:02d}.2021,0{i + 1000}' for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["id,paid,day,zip", *lines, "60,free,01.02.2022,01234"]))
    return tmp_path / "t.csv"


def test_a_line_for_each_column_and_the_reason(path):
    said = run(path).stdout
    assert max(map(len, said.splitlines()[1:-2])) <= 80
    table = said[said.index("column  ") :].splitlines()[1:5]
    kinds = {words[0]: words[1] for line in table if (words := line.split())}
    assert kinds == {"id": "number", "paid": "number", "day": "date", "zip": "category"}
    told = said.replace("\n", " ")
    assert "paid: numbers, in $, thousands by ','. 98.4% of its texts say it." in told
    assert "Not written so, and missing: 1 row." in told
    assert "zip: text that looks like codes." in said


def test_as_json(path):
    found = json.loads(run(path, "--json").stdout)
    assert (found["n_rows"], found["source"]["n_rows"]) == (61, 61)
    paid = found["columns"][1]
    assert (paid["kind"], paid["n_unread"], paid["n_missing"]) == ("number", 1, 1)
    assert paid["share_read"] == pytest.approx(60 / 61)
    assert set(paid) >= {"name", "kind", "why", "n_rows", "n_values", "examples"}


def test_types_from_the_command_line_and_from_a_file(path):
    def kinds_by(types):
        columns = json.loads(run(path, "--types", types, "--json").stdout)["columns"]
        return {one["name"]: one["kind"] for one in columns}

    kinds = kinds_by("id=category,zip=number")
    assert (kinds["id"], kinds["zip"]) == ("category", "number")
    (path.parent / "types.txt").write_text("# as we mean them\nday = category\n")
    assert kinds_by(path.parent / "types.txt")["day"] == "category"
    others = ("rank", "tree", "select", "rules", "forecast", "report")
    for verb in others:  # they have it too
        assert "--types" in CliRunner().invoke(app, [verb, "--help"]).stdout


@pytest.mark.parametrize(
    ("types", "said"),
    [
        ("id", "is not understood"),
        ("nobody=number", "'nobody' is not a column"),
        ("id=money", "type 'money'"),
        ("day=number", "cannot be read as number"),
    ],
)
def test_what_is_wrong_is_said(path, types, said):
    result = run(path, "--types", types)
    assert result.exit_code == 2
    assert said in result.stderr
