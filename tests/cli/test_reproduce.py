from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from offsample.cli import app
from papers import _reproduce
from papers._experiments import RESULTS, Claim, Experiment, experiments

run = CliRunner().invoke
# Exact, and done in a few milliseconds.
FAST = "index_criteria.theorems6_8"
FAST_FIGURE = "index_criteria.theorems4_5_7"


def test_list_names_every_experiment_with_its_time() -> None:
    result = run(app, ["reproduce", "list"])
    assert result.exit_code == 0
    assert run(app, ["reproduce"]).output == result.output  # what it does with no name
    lines = {line.split()[0]: line for line in result.output.splitlines()}
    known = experiments()
    assert list(lines) == list(known)
    for name, chosen in known.items():
        assert lines[name].endswith(chosen.title)
        assert ("cannot be repeated" in lines[name]) == (chosen.run is None)
    assert lines[FAST].split()[1:4] == ["0", "CPU", "s"]


def test_list_as_json() -> None:
    rows = json.loads(run(app, ["reproduce", "list", "--json"]).output)
    known = experiments()
    assert [row["name"] for row in rows] == list(known)
    for row in rows:
        chosen, path = known[row["name"]], RESULTS / f"{row['name']}.json"
        assert row["title"] == chosen.title
        assert row.get("reason", "") == chosen.reason
        found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        assert (row["seconds"], row["cpu_seconds"]) == (found.get("seconds"), found.get("cpu_seconds"))


def test_long_times_are_in_minutes() -> None:
    times = [_reproduce._took({"cpu_seconds": seconds}) for seconds in (None, 0.04, 99.4, 100, 3600)]
    assert times == ["", "0 CPU s", "99 CPU s", "2 CPU min", "60 CPU min"]


def test_an_experiment_prints_and_writes(tmp_path: Path) -> None:
    result = run(app, ["reproduce", FAST, "--output", str(tmp_path / "new")])
    assert result.exit_code == 0
    assert result.output.startswith(experiments()[FAST].title)
    assert "reproduced with a correction" in result.output
    assert f"Written to {tmp_path / 'new'}: {FAST}.txt, {FAST}.json\n" in result.output
    written = (tmp_path / "new" / f"{FAST}.txt").read_text(encoding="utf-8")
    assert written.removeprefix(experiments()[FAST].title).rstrip() in result.output
    # The same numbers as the recorded ones.
    assert written == (RESULTS / f"{FAST}.txt").read_text(encoding="utf-8")


def test_nothing_is_written_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(app, ["reproduce", FAST])
    assert result.exit_code == 0
    assert result.output.rstrip().endswith("Nothing was written. To keep them, name a folder with --output.")
    assert json.loads(run(app, ["reproduce", FAST, "--json"]).output)["name"] == FAST
    assert not list(tmp_path.iterdir())


def test_figures_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    known = experiments()
    small = import_module("papers.index_criteria._worst_cases").theorems4_5_7
    known[FAST_FIGURE] = Experiment(FAST_FIGURE, "A small one", lambda: small(3))
    monkeypatch.setattr(_reproduce, "experiments", lambda: known)
    result = run(app, ["reproduce", FAST_FIGURE, "-o", str(tmp_path)])
    assert result.exit_code == 0
    assert result.output.endswith(f"{FAST_FIGURE}.json, {FAST_FIGURE}.svg\n")
    assert "<svg" in (tmp_path / f"{FAST_FIGURE}.svg").read_text(encoding="utf-8")


def test_json_of_an_experiment(tmp_path: Path) -> None:
    result = run(app, ["reproduce", FAST, "-o", str(tmp_path), "--json"])
    found = json.loads(result.output)
    assert found == json.loads((tmp_path / f"{FAST}.json").read_text(encoding="utf-8"))
    assert found["name"] == FAST
    assert [Claim(**claim).printed for claim in found["claims"]] == ["Ω", "O", "Θ(1/c*)"]


def test_unknown_name(tmp_path: Path) -> None:
    result = run(app, ["reproduce", "ginger.fig9", "-o", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr == (
        "offsample: no experiment is called 'ginger.fig9': `offsample reproduce list` names them all\n"
    )
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_repeated_says_why(tmp_path: Path) -> None:
    result = run(app, ["reproduce", "index_criteria.fig1", "-o", str(tmp_path)])
    assert result.exit_code == 2
    assert "index_criteria.fig1 cannot be repeated: a drawing that explains the notation" in result.stderr


def test_no_experiments_beside_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = import_module("offsample.cli.reproduce")
    installed = tmp_path / "lib" / "site-packages" / "offsample" / "__init__.py"
    monkeypatch.setattr(command.offsample, "__file__", str(installed))
    for name in [name for name in sys.modules if name.split(".")[0] == "papers"]:
        monkeypatch.delitem(sys.modules, name)
    root = str(RESULTS.parents[1])
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if str(Path(entry).resolve()) != root])
    monkeypatch.chdir(tmp_path)
    result = run(app, ["reproduce", "list"])
    assert result.exit_code == 2
    assert result.stderr == (
        "offsample: the experiments are in the source of offsample, not in the installed package: run "
        "`python -m papers` in a checkout or an unpacked source distribution\n"
    )


def test_a_missing_dependency_is_not_taken_for_missing_experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named 'pandas' (of {name})", name="pandas")

    monkeypatch.setattr(import_module("papers._experiments"), "import_module", missing)
    result = run(app, ["reproduce", "list"])
    assert result.exit_code == 2
    assert "pandas" in result.stderr
    assert "source of offsample" not in result.stderr
