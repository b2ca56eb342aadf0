"""How often learners find nothing where nothing is, though rows of a group are of one class.

``python -m tests.statistical.noise_with_groups 20`` draws 20 tables of each design: 10 to 100 groups of 5 to
40 rows, with columns that are constant within groups, that vary, both, or that name the group. With ``coin``
before the names of learners it prints the mean error that they estimate where the classes of 12, 30 and 50
groups are flips of a coin; the truth is a half.
"""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from offsample.induction import (
    DecisionListClassifier,
    DNFClassifier,
    StochasticTreeClassifier,
    TreeClassifier,
)

LEARNERS = {
    "tree": TreeClassifier(),
    "list": DecisionListClassifier(max_size=6),
    "formula": DNFClassifier(max_size=6),
    "oblique": StochasticTreeClassifier(max_splits=6),
}


class Design(NamedTuple):
    """Groups of one class, and columns that have nothing to do with it."""

    n_groups: int
    n_each: int
    columns: str  # "constant", "varying", "both" or "named"
    share: float = 0.5

    def draw(self, seed: int) -> tuple[dict[str, Any], Any, Any]:
        """Return columns, classes and groups."""
        random = np.random.default_rng([seed, *self[:2], len(self.columns)])
        group = np.repeat(np.arange(self.n_groups), self.n_each)
        own, row = random.normal(size=(4, self.n_groups))[:, group], random.normal(size=(4, len(group)))
        kinds = {"constant": own, "varying": row, "both": own + row, "named": own[:1]}
        columns = {f"x{j}": column for j, column in enumerate(kinds[self.columns])}
        if self.columns == "named":
            number = random.permutation(self.n_groups)[group]
            columns |= {"number": number.astype(float), "name": number.astype(str)}
        else:
            code = {"constant": random.integers(0, 6, self.n_groups)[group]}
            columns["code"] = code.get(self.columns, random.integers(0, 6, len(group))).astype(str)
        return columns, (random.permutation(self.n_groups) < self.share * self.n_groups)[group], group


def designs() -> Iterator[Design]:
    """Yield the grid."""
    for n_groups in (10, 20, 50, 100):
        for n_each in (5, 20, 40):
            for columns in ("constant", "varying", "both", "named"):
                yield Design(n_groups, n_each, columns)


def n_grown(learner: Any, design: Design, seeds: range) -> int:
    """Return how many tables something is found in."""
    found = 0
    for seed in seeds:
        X, y, groups = design.draw(seed)
        found += len(learner.fit(X, y, groups=groups).stage_sizes_) > 1
    return found


def errors_of_coins(learner: Any, n_groups: int, seeds: range) -> list[float]:
    """Return the error that is estimated in tables of groups whose classes are flips of a coin."""
    found = []
    for seed in seeds:
        X, _, groups = Design(n_groups, 10, "constant").draw(seed)
        y = np.random.default_rng([seed, 7]).integers(0, 2, n_groups)[groups]
        found.append(float(learner.fit(X, y, groups=groups).estimated_error_))
    return found


def main(n_samples: int, *names: str) -> None:
    """Print, by design and learner, in how many tables something is found."""
    if names[:1] == ("coin",):
        for name in names[1:] or LEARNERS:
            for n_groups in (12, 30, 50):
                errors = errors_of_coins(LEARNERS[name], n_groups, range(n_samples))
                told = f"{np.mean(errors):.3f} ± {np.std(errors) / np.sqrt(n_samples):.3f}"
                print(name, n_groups, "groups:", told, flush=True)  # noqa: T201
        return
    for name in names or LEARNERS:
        total = 0
        for design in designs():
            found = n_grown(LEARNERS[name], design, range(n_samples))
            total += found
            if found:
                print(name, *design, found, flush=True)  # noqa: T201
        print(name, "all designs", total, "of", n_samples * len(list(designs())), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
