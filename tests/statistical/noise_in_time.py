"""Noise with a time: how often trees and lists for later rows split it.

``python -m tests.statistical.noise_in_time 100 tree 300 1500`` prints the share of tables that are split, the
error that is told, and that of guessing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from offsample import DecisionListClassifier, TreeClassifier
from offsample.induction.by_time import fit_later

LEARNERS = {"tree": TreeClassifier, "list": DecisionListClassifier}
KINDS = ("half", "third", "drift", "jump", "walk", "days", "days drift", "groups", "coins", "groups drift")


class Sample(NamedTuple):
    columns: dict[str, Any]
    y: np.ndarray
    groups: np.ndarray | None
    time: np.ndarray


def draw(kind: str, n_rows: int, random: np.random.Generator) -> Sample:
    """Draw classes whose share does what the kind says, and columns that say nothing of them.

    Rows of a day are of one class, and share two columns; so do groups, which have a level, or a coin.
    """
    when, groups = np.arange(n_rows), None
    columns: dict[str, Any] = {f"x{j}": random.normal(size=n_rows) for j in range(4)}
    columns["c"] = np.array(list("abcdefgh"))[random.integers(0, 8, n_rows)]
    drift = 0.2 + 0.6 * when / n_rows
    share = {"third": np.full(n_rows, 0.33), "drift": drift, "jump": np.where(drift < 0.5, 0.3, 0.7)}.get(
        kind, np.full(n_rows, 0.5)
    )
    unit = None
    if kind == "walk":
        share = 1 / (1 + np.exp(-np.cumsum(random.normal(size=n_rows)) * 3 / np.sqrt(n_rows)))
        columns["walk"] = np.cumsum(random.normal(size=n_rows))
    elif kind.startswith("days"):
        when = unit = when // 10
        share = random.random(n_rows)[unit] < (drift[10 * unit] if kind == "days drift" else 0.5)
    elif kind in ("groups", "coins", "groups drift"):
        groups = unit = random.integers(0, 30, n_rows)
        level = 1.5 * random.normal(size=30)[unit] + (5 * (drift - 0.5) if kind == "groups drift" else 0)
        share = random.random(30)[unit] < 0.5 if kind == "coins" else 1 / (1 + np.exp(-level))
    if unit is not None:
        columns["of unit"] = random.normal(size=n_rows)[unit].round(2)
        columns["kind"] = np.array(list("abcd"))[random.integers(0, 4, n_rows)][unit]
    return Sample(columns, np.where(random.random(n_rows) < share, "yes", "no"), groups, when)


if __name__ == "__main__":
    import sys

    n_samples, name = int(sys.argv[1]), sys.argv[2]
    for n_rows in map(int, sys.argv[3:]):
        for kind in KINDS:
            seen = []
            for seed in range(n_samples):
                sample = draw(kind, n_rows, np.random.default_rng([seed, n_rows]))
                model = fit_later(LEARNERS[name](), *sample)
                told, guess = model.estimated_error_, model.path_[0].estimated_error
                seen.append((model.path_.n_splits > 0, told > guess + 1e-12, told, guess))
            split, worse, *errors = np.mean(seen, axis=0)
            print(f"{n_rows} {kind}: split {split:.2f}, worse than a guess {worse:.2f},", *errors, flush=True)
