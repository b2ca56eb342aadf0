"""Others' experiments on intervals: the problems are as described, and runs add up."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import error_intervals


@pytest.mark.parametrize("name", [name for name in error_intervals.PROBLEMS if name != "gene expression"])
def test_problems_are_as_described(name):
    X, y = error_intervals.PROBLEMS[name](400, np.random.default_rng(0))
    assert X.shape == (400, {"friedman1": 10, "chen_10": 60}.get(name) or int(name.split()[-1]))
    assert (len(np.unique(y)) == 2) == (name not in error_intervals.IS_NUMBER)
    # What counts is among the first columns, and nothing else.
    strength = np.abs(np.corrcoef(X.T, y)[-1, :-1])
    assert strength[:10].max() > strength[30:].max() if len(strength) > 30 else strength[:5].max() > 0.2


def test_runs_add_up(tmp_path, monkeypatch):
    monkeypatch.setattr(error_intervals, "RECORD", tmp_path / "sums.json")
    cell = "logistic, 1 of 10; tree; 100"
    for n_runs in (1, 2):
        known = error_intervals.run(0.05, cell.split("; "))
        assert json.loads(error_intervals.RECORD.read_text()) == known
        assert {sums[0] for sums in known[cell].values()} == {n_runs}
    first, second = (dict(error_intervals.repeat(*cell.split("; ")[:2], 100, k, False)) for k in (0, 1))
    for name, (_, held, width, _, off) in known[cell].items():
        assert [held, width, off] == pytest.approx(
            [float(first[name][i]) + float(second[name][i]) for i in (0, 1, 3)], abs=1e-3
        )
    told = list(error_intervals.lines(known))
    assert len(told) == 1 + 6
    assert "our rows, 10 folds" in told[2]
    table = list(error_intervals.pooled(known))
    assert len(table) == 2 + 6
    assert table[3].startswith("| 100 | tree | our rows, 10 folds | 2 | ")
