"""What the verdict of a report on numbers says of new rows, and what the model does on rows held out.

``python -m tests.statistical.number_verdicts 20`` halves every shared numeric table 20 times, at most 2,000
rows to a half, and prints how often the mean absolute error, R² and squared error of the model on the other
half lie in their intervals, these widened by two standard errors of what is measured there. Then it makes
ten times as many panels of 40 groups, and prints how often the intervals hold what the model does on 500 new
groups.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from offsample.report._numbers import NumberStudy, RatedNumbers
from offsample.report._study import Options
from offsample.report.sections import _choice, model

OF_TARGET = (
    "airfoil", "autoMPG6", "boom_bikes", "compactiv", "concrete", "laser", "puma32h", "real_estate_valuation",
    "slump_test", "treasury", "winequality_red",
)  # fmt: skip
TARGETS = dict.fromkeys(OF_TARGET, "target") | {
    "forest_fires": "area", "medical_cost": "charges", "movies": "rating", "sacramento": "price",
}  # fmt: skip
_MOST_ROWS = 2_000


def held(table: pd.DataFrame, target: str, seed: int) -> dict[str, bool]:
    """Choose a model on one half of some rows, and say which of its figures hold on the other."""
    rows = np.random.default_rng(seed).permutation(len(table))[: 2 * _MOST_ROWS]
    half = len(rows) // 2
    return judged(table.iloc[rows[:half]], table.iloc[rows[half:]], target, 2.0)


def panel(n_groups: int, seed: int) -> pd.DataFrame:
    """Draw groups of ten rows, which have a mean of their own in a column and in the target."""
    random = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_groups), 10)
    x, y = random.normal(size=(2, len(who))) + random.normal(size=(2, n_groups))[:, who]
    return pd.DataFrame({"who": who, "x": x, "z": random.normal(size=len(who)), "y": 3 * x + y})


def judged(
    table: pd.DataFrame, rest: pd.DataFrame, target: str, widened: float, **options: object
) -> dict[str, bool]:
    """Choose a model on a table, and say which of its figures hold on the rest."""
    study = NumberStudy(table, target, Options(fast=True, task="regression", **options))
    study.group_copies()
    choice = _choice.choose(study, list(study.X))
    rated, shown = _choice.rated_as(study, choice), model.describe(study, choice)
    numbers = rest[target].to_numpy(float)
    predicted = choice.model.predict({name: rest[name] for name in study.X})
    guess = np.full(len(numbers), study.y.mean())
    found = RatedNumbers(predicted, guess, numbers, np.zeros(len(numbers), np.int64), [], 0)
    off, squares = np.abs(numbers - predicted), found.mistakes
    blind = (numbers - guess) ** 2
    r2 = found.r2().value
    parts = ((1 - r2) * blind - squares) / blind.sum()
    n, said, explained = len(numbers), rated.mean_absolute_error(), rated.r2()
    return {
        "off by": _inside(off.mean(), widened * off.std() / np.sqrt(n), said.low, said.high),
        "R²": _inside(r2, widened * np.sqrt(n) * parts.std(), explained.low, explained.high),
        "squared error": _inside(squares.mean(), widened * squares.std() / np.sqrt(n), shown.low, shown.high),
    }


def _inside(value: float, more: float, low: float, high: float) -> bool:
    return bool(low - more <= value <= high + more)


def held_of_groups(seed: int) -> dict[str, bool]:
    """Choose a model for new groups, and say which of its figures hold on 500 of them."""
    return judged(panel(40, seed), panel(500, 10_000 + seed), "y", 0.0, group=("who",))


def read(folder: Path, name: str) -> pd.DataFrame:
    """Read a shared table; what names its rows is no column here."""
    return pd.read_parquet(folder / "numeric" / f"{name}.parquet").drop(columns="title", errors="ignore")


def main(n_splits: int) -> None:
    """Print how often each figure holds, by table and over all."""
    folder, all_of_them = Path(os.environ["OFFSAMPLE_DATA"]), []
    for name, target in TARGETS.items():
        table = read(folder, name)
        found = pd.DataFrame([held(table, target, seed) for seed in range(n_splits)])
        all_of_them.append(found)
        told = "  ".join(f"{one} {share:.2f}" for one, share in found.mean().items())
        sys.stdout.write(f"{name:22} {told}\n")
        sys.stdout.flush()
    shares = pd.concat(all_of_them).mean()
    panels = pd.DataFrame([held_of_groups(seed) for seed in range(10 * n_splits)]).mean()
    for name, found in (("all", shares), ("panels", panels)):
        told = "  ".join(f"{one} {share:.3f}" for one, share in found.items())
        sys.stdout.write(f"{name:22} {told}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
