"""The error on new rows of known groups, by a model that may look at the group, against many such rows.

``python -m tests.statistical.known_groups 50`` draws 50 tables of each kind. The truth is the error on 40
more rows of each of the same groups, by what was chosen for the table, learned from all of it.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

from offsample.report._study import Options, Study
from offsample.report._units import NewRows
from offsample.report.sections import _choice, _honest
from offsample.report.sections._honest import of_easier

N_MORE = 40


@dataclass(frozen=True)
class Kind:
    """Groups of rows whose class is their own, a column's, or both."""

    n_groups: int
    n_each: int
    n_classes: int
    own: float  # how much a group has of a class of its own
    told: float  # how much a column says

    def __str__(self) -> str:
        return f"{self.n_groups} x {self.n_each}, {self.n_classes} classes, own {self.own}, told {self.told}"

    def draw(self, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return a table, and which of its rows are the sample."""
        random = np.random.default_rng(seed)
        group = np.repeat(np.arange(self.n_groups), self.n_each + N_MORE)
        x, k = random.normal(size=len(group)), np.arange(self.n_classes)
        own = self.own * random.gumbel(size=(self.n_groups, self.n_classes))[group]
        odds = own + self.told * x[:, None] * np.cos(k) + random.gumbel(size=(len(group), self.n_classes))
        table = {"x": x, "z": random.integers(0, 5, self.n_groups)[group], "group": group}
        sample = np.tile(np.arange(self.n_each + N_MORE) < self.n_each, self.n_groups)
        return {**table, "y": odds.argmax(axis=1).astype(str)}, sample


def kinds() -> Iterator[Kind]:
    """Yield kinds of tables."""
    for n_groups in (10, 30, 100):
        for n_each in (3, 12):
            for n_classes, own, told in ((2, 0, 2), (2, 2, 0), (2, 2, 2), (2, 8, 0), (12, 8, 1)):
                yield Kind(n_groups, n_each, n_classes, own, told)


def measured(kind: Kind, seed: int) -> tuple[float, float, float, float]:
    """Return the error on rows of known groups, its interval, and the truth."""
    table, sample = kind.draw(seed)
    options = Options(group=("group",), fast=True, metric="error")
    study = Study({name: column[sample] for name, column in table.items()}, "y", options)
    choice = _choice.choose(study, ["x", "z"])
    easier = next(study.new_rows.weaker())
    size, drawn = _honest.first_as_good, _honest._drawn
    sizes: list[int] = []

    def chosen(*given: Any) -> int:
        sizes.append(size(*given))
        return sizes[-1]

    with patch.object(_honest, "first_as_good", chosen):
        found = of_easier(study, choice, easier)
    with (
        patch.object(NewRows, "splits", lambda *_, **__: [(np.flatnonzero(sample), np.flatnonzero(~sample))]),
        patch.object(_honest, "first_as_good", lambda *_: sizes[0]),
        patch.object(_honest, "is_better", lambda *_: found.knows),
        patch.object(_honest, "_drawn", lambda said, own, _, *more: drawn(said, own, sample, *more)),
    ):
        truth = of_easier(Study(table, "y", options), choice, easier)
    return found.error, found.low, found.high, truth.error


def main(n_samples: int) -> None:
    """Print for each kind of tables how often the truth is inside."""
    for kind in kinds():
        error, low, high, truth = np.array([measured(kind, seed) for seed in range(n_samples)]).T
        inside = ((low <= truth) & (truth <= high)).mean()
        means = " ".join(f"{value.mean():8.3f}" for value in (error, truth, high - low))
        print(f"{kind!s:45}{means}   inside {inside:.2f}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
