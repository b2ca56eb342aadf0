"""What `SKILL.md` and `CITATION.cff` say is so: their commands run, their names are there."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.report.findings import CODES

ROOT = Path(__file__).parent.parent
SKILL = (ROOT / "SKILL.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\$ offsample (.*)$", SKILL, re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_run(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words, _, code = example.partition("# exit code")
    result = CliRunner().invoke(app, shlex.split(words))
    assert result.exit_code == int(code or 0), result.output
    if "--json" in words:
        found = json.loads(result.stdout)
        if words.startswith("report"):
            for name in re.findall(r"`verdict\.(\w+)`", SKILL):
                assert name in found["verdict"]
            assert {"code", "column", "message", "others"} == set(found["columns"]["findings"][0])


def test_commands_and_findings_are_there():
    commands = {command.callback.__name__ for command in app.registered_commands}
    assert set(re.findall(r"`offsample (\w+)", SKILL)) <= commands
    assert set(re.findall(r"`(leak|identifier|near-copy|duplicates|suspected_\w+|drift)`", SKILL)) <= set(
        CODES
    )
    assert "plan" in commands


def test_the_citation_names_the_works():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for name in ("Sabato", "Gilad-Bachrach", "Jurgenson", "Nock", "Scheffer"):
        assert name in cited
