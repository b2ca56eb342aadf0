"""Our tree beside CART with tuned leaves: no table is in both halves, and records are what was found."""

import time

import numpy as np
import pandas as pd
import pytest

from benchmarks import readable, tuned_leaves


def test_no_table_that_choices_are_made_on_is_judged():
    halves = tuned_leaves.halves()
    assert not {*halves["choosing"]} & {*halves["judging"]}
    assert min(len(names) for names in halves.values()) > 20


def test_both_learners_are_judged_on_the_same_rows(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60), "kind": rng.choice(["a", "b"], 60)})
    y = np.where(X["x"] > 0, "yes", "no")
    monkeypatch.setenv("TUNED_LEAVES", str(tmp_path))
    monkeypatch.setattr(tuned_leaves, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(tuned_leaves, "table", lambda name: (X, y))
    monkeypatch.setattr(tuned_leaves, "MOST", 2)
    found = tuned_leaves.compared("made up")
    assert found["rows"] == 60
    assert found["difference"] == found["ours"] - found["cart"]
    assert max(found["ours"], found["cart"]) < 0.2
    kept = tuned_leaves.kept("made up", X, y)
    assert (len(kept.wrong), len(kept.errors)) == (24, 2)
    tuned_leaves.record({"made up": {**found, "cpu": 0.25}})
    assert tuned_leaves.recorded()["made up"]["cpu"] == 0.25


def test_worse_means_by_two_standard_errors():
    one = dict.fromkeys(("ours", "cart", "size", "cart_size", "cpu", "cart_cpu", "covered"), 1.0)
    tables = [
        {**one, "table": name, "difference": difference, "se": 0.01}
        for name, difference in (("worse", 0.021), ("same", 0.019), ("better", -0.021))
    ]
    said = list(tuned_leaves.lines(tables, "judging"))
    assert said[1].endswith("standard errors: 1 worse")
    assert said[2].endswith("than two: 1 better")
    assert "above half in 3 worse same better" in said[3]


def test_peers_are_not_held_back():
    rng = np.random.default_rng(0)
    assert readable.cut_at((rng.random(100) < 0.15).astype(float)).tolist() == [0.0]  # a one-hot column stays
    assert readable.cut_at(np.ones(5)).tolist() == []
    cuts = readable.cut_at(np.arange(100.0))
    np.testing.assert_allclose(cuts, np.quantile(np.arange(100.0), [0.2, 0.4, 0.6, 0.8]))
    grids = [readable.cart(size).param_grid["max_leaf_nodes"] for size in (None, 8)]
    assert grids[0][-3:] == [256, 512, None]
    assert grids[1][-1] == 8


class _Slow:
    """A learner whose larger models take too long."""

    def __init__(self, size):
        self.size = size

    def fit(self, X, y):
        if self.size == 8:
            time.sleep(60)
        self.size_, self._first = 1, "yes"
        return self

    def predict(self, X):
        return np.full(len(X), self._first)


def test_sizes_that_a_learner_came_to_count(monkeypatch, tmp_path):
    X, y = pd.DataFrame({"x": np.arange(60.0)}), np.repeat(["no", "yes"], [20, 40])
    learners = {readable.OURS: (readable.TreeClassifier, None), "slow": (_Slow, "numpy")}
    monkeypatch.setattr(readable, "LEARNERS", learners)
    monkeypatch.setattr(readable, "SIZES", (4, 8))
    monkeypatch.setattr(readable, "RECORD", tmp_path / "record.json")
    found = {
        readable.OURS: [[0.1, 2.0, 0.1, 1.0]] * 2,
        "slow": readable.measured("slow", X, y, limit=2.0),
    }
    size_4, reason = found["slow"]
    assert size_4[0] == pytest.approx(1 / 3, abs=0.02)
    assert (size_4[1], reason) == (1.0, "more than 2 s")
    readable.record({"made up": (len(X), found)})
    assert readable.recorded() == {"made up": (60, found)}
    said = list(readable.summary())
    assert "on 1: lower 0, higher 1" in said[2]  # the tree errs less
    assert said[-1] == "  slow: more than 2 s: made up"
