"""The verdict on rows of new groups covers the error of its model on them."""

import numpy as np
import pytest

from offsample.report import _build, report

pytestmark = pytest.mark.slow


def _visits(rng, n_groups, n_each=15):
    """Rows of groups that differ in level and in how often the class occurs, beyond what a column says."""
    group = np.repeat(np.arange(n_groups), n_each)
    level = rng.normal(size=n_groups)[group]
    x = 0.7 * level + rng.normal(size=len(group))
    odds = 1.5 * x + 1.5 * rng.normal(size=n_groups)[group]
    y = np.where(rng.random(len(group)) < 1 / (1 + np.exp(-odds)), "yes", "no")
    return {"x": x, "level": level, "z": rng.normal(size=len(group)), "group": group, "y": y}


def test_the_error_on_new_groups_lies_in_the_interval(monkeypatch):
    models = []

    def keep(study, choice, main, score):
        models.append(choice.model)
        return ()

    monkeypatch.setattr(_build, "honest_errors", keep)
    n_tables, inside, inside_rows = 40, 0, 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        verdict = report(_visits(rng, 40), "y", group="group", fast=True, random_state=seed).verdict
        new = _visits(rng, 1000)
        features = {name: new[name] for name in ("x", "level", "z")}
        error = np.mean(models[-1].predict(features) != new["y"])
        inside += verdict.low <= error <= verdict.high
        radius = 1.96 * np.sqrt(verdict.error * (1 - verdict.error) / 600)  # as if rows were independent
        inside_rows += abs(error - verdict.error) <= radius
    assert inside >= 36  # 95 % promised: fewer in one of 30 such tests
    assert inside_rows < inside
