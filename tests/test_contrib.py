"""What `contrib/` holds is as it says: the action's script runs, and files name what is there."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import offsample

ROOT = Path(__file__).parent.parent


def read(name):
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith("meta.yaml"):  # a template
        text = text.replace('{% set version = "0.1.0" %}', "").replace("{{ version }}", offsample.__version__)
        text = text.replace("{{ PYTHON }}", "python")
    return yaml.safe_load(text)


def test_the_script_of_the_action_fails_on_what_it_is_told_to(tmp_path):
    action = read("contrib/action.yml")
    step = action["runs"]["steps"][-1]
    random = np.random.default_rng(0)
    x = random.normal(size=300)
    table = pd.DataFrame({"x": x, "y": np.where(x + random.normal(size=300) > 0, "p", "n")})
    table.to_csv(tmp_path / "clean.csv", index=False)
    table.assign(after=table["y"].map({"p": 1, "n": 0})).to_csv(tmp_path / "leaky.csv", index=False)
    (tmp_path / "bin").mkdir()
    (tmp_path / "old").mkdir()
    shutil.copy(tmp_path / "clean.csv", tmp_path / "old")  # of the same name
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    given = {
        "TABLES": "clean.csv leaky.csv old/clean.csv",
        "TARGET": "y",
        "PAGES": "pages",
        "OPTIONS": "--fast --seed 1",
    }
    assert set(step["env"]) == {*given, "FAIL_ON"}
    assert all(one["default"] for one in action["inputs"].values() if not one.get("required"))
    environment = {**os.environ, **given, "FAIL_ON": action["inputs"]["fail-on"]["default"]}
    environment |= {
        "GITHUB_ACTION_PATH": str(ROOT / "contrib"),
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
    }
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)  # a link to an interpreter has no packages
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 3, done.stderr
    assert "leaky.csv: offsample: leak: “after”" in done.stderr
    assert "clean.csv" not in done.stderr
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == [
        "clean.csv.html",
        "leaky.csv.html",
        "old_clean.csv.html",
    ]


def test_a_report_that_was_killed_is_no_pass(monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("check_tables", ROOT / "contrib/check_tables.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    commands = []

    def codes(*given):
        left = list(given)

        def run(command, **_):
            commands.append(command)
            return subprocess.CompletedProcess(command, left.pop(0), "", "")

        monkeypatch.setattr(subprocess, "run", run)
        return script.main(["--target", "y", "--report=--seed=1", "--report=--fast", *"abc"[: len(given)]])

    assert codes(0, -9) == 9
    assert "b: the report ended with exit code -9" in capsys.readouterr().err
    assert (codes(0, 0), codes(0, 3), codes(3, 2, 0), codes(3, 1), codes(-15, 3)) == (0, 3, 2, 1, 15)
    assert commands[0][-3:] == ["--seed=1", "--fast", "--json"]  # as a hook passes them, before files


def test_the_hook_and_the_recipe_name_what_is_there():
    (hook,) = read(".pre-commit-hooks.yaml")
    assert os.access(ROOT / hook["entry"], os.X_OK)
    recipe = read("contrib/conda/meta.yaml")
    assert recipe["package"]["version"] == offsample.__version__
    assert recipe["source"]["path"] == f"../../dist/offsample-{offsample.__version__}.tar.gz"
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {f"python {project['requires-python']}"} | {
        one.replace(">=", " >=").replace("duckdb", "python-duckdb") for one in project["dependencies"]
    }
    assert set(recipe["requirements"]["run"]) == needed
