"""The comparison of selectors: what it judges, and what it says of methods that are missing."""

import json

import numpy as np

from benchmarks import selection
from benchmarks.__main__ import main as benchmarks


def test_halves_share_no_table():
    assert not {*selection.TABLES["choosing"]} & {*selection.TABLES["judging"]}


def test_a_table_of_two_useful_features(monkeypatch, tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 210))
    y = (X[:, 5] + X[:, 7] > 0).astype(int)
    X[:, [5, 7]] *= 4
    monkeypatch.setattr(selection, "RECORD", tmp_path / "selection.json")
    monkeypatch.setattr(selection, "wide", lambda name: (X, y))
    monkeypatch.setattr(selection, "TABLES", {"choosing": ["made_up"], "judging": []})
    kept = {name: one for name, one in selection.methods().items() if name in ("F", "Relief")}

    def missing(X, y):
        raise ImportError("no module named mrmr")

    monkeypatch.setattr(selection, "methods", lambda: {**kept, "mRMR": missing})
    selection.main(["--record"])
    found = json.loads((tmp_path / "selection.json").read_text())["made_up"]
    assert set(found["F"]) == {"10", "50", "200", "stability", "seconds"}
    assert found["F"]["10"][1] > 0.7  # logistic regression
    assert found["Relief"]["number"] < 60
    assert "mRMR                 left out" in capsys.readouterr().out
    selection.main(["--record"])  # nothing is done again
    assert "made_up F" not in capsys.readouterr().out


def test_a_method_without_end_is_stopped(monkeypatch):
    monkeypatch.setattr(selection, "LIMIT", 0.05)

    def endless(X, y):
        while True:
            pass

    X, y = np.zeros((20, 3)), np.arange(20) % 2
    assert selection.judged(X, y, endless) == {"slow": 0.05}


def test_the_benchmarks_know_the_program(monkeypatch):
    asked = []
    monkeypatch.setattr(selection, "main", asked.append)
    assert benchmarks(["selection", "judging"]) == 0
    assert asked == [["judging"]]
