"""How often the interval of a learner that is told the groups holds its error on new groups.

``python -m tests.statistical.learners_with_groups 12 list formula`` draws 12 tables of each design for these
learners, by default for all, with 10, 30 and 100 groups.
"""

import sys
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from offsample.induction import (
    BranchingProgramClassifier,
    CommitteeClassifier,
    DecisionListClassifier,
    DNFClassifier,
    MonomialClassifier,
    StochasticTreeClassifier,
    SymmetricFunctionClassifier,
    TreeClassifier,
)

LEARNERS = {
    "tree": TreeClassifier(),
    "list": DecisionListClassifier(max_size=4),
    "formula": DNFClassifier(max_size=4),
    "program": BranchingProgramClassifier(),
    "committee": CommitteeClassifier(),
    "monomial": MonomialClassifier(),
    "symmetric": SymmetricFunctionClassifier(),
    "oblique": StochasticTreeClassifier(max_splits=6),
}
# What decides the class: a column that is constant within groups, or one that varies. Then what disturbs it:
# rows have classes of their own, a level of their group, or all rows of a group are of one class.
DESIGNS = (
    "constant, one class",
    "constant, own classes",
    "varying, one class",
    "varying, own classes",
    "varying, level",
    "varying, level, unequal",
    "constant, one class, one in a hundred",
)


def draw(random: np.random.Generator, design: str, n_groups: int) -> tuple[dict[str, Any], Any, Any]:
    """Return columns, classes and groups: c* are constant within groups, v* vary."""
    size = np.full(n_groups, 20)
    if design.endswith("unequal"):
        size = np.minimum(np.ceil(8 * (random.pareto(1.5, n_groups) + 0.5)), 300).astype(int)
    groups = np.repeat(np.arange(n_groups), size)
    c, v = random.normal(size=(n_groups, 3)), random.normal(size=(len(groups), 3))
    rare = 0.01 if design.endswith("one in a hundred") else 0.1
    flipped = random.random(n_groups if "one class" in design else len(groups)) < rare
    if design.startswith("constant"):
        y = ((c[:, 0] > 0) ^ flipped)[groups] if "one class" in design else (c[groups, 0] > 0) ^ flipped
    elif "one class" in design:  # of a coin, and rows tell it with a noise of their own
        y = (random.random(n_groups) < 0.5)[groups]
        v[:, 0] += 2 * y
    elif "own classes" in design:
        y = (v[:, 0] > 0) ^ flipped
    else:
        y = v[:, 0] + 0.7 * random.normal(size=n_groups)[groups] + 0.3 * random.normal(size=len(groups)) > 0
    town = random.choice(list("abcdefghijkl"), n_groups)[groups]
    X = {f"c{j}": c[groups, j] for j in range(3)} | {f"v{j}": v[:, j] for j in range(3)}
    return X | {"town": town, "number": random.random(n_groups)[groups]}, y, groups


class Seen(NamedTuple):
    """One table, or a sum over tables."""

    n_tables: int
    n_inside: int
    n_below: int  # the error on new groups is below the interval
    n_grown: int


def measure(learner: Any, design: str, n_groups: int, seeds: range) -> Seen:
    """Return in how many tables the error on a thousand new groups is inside the interval."""
    n_inside, n_below, n_grown = 0, 0, 0
    for seed in seeds:
        random = np.random.default_rng([seed, n_groups])
        X, y, groups = draw(random, design, n_groups)
        model = learner.fit(X, y, groups=groups)
        low, high = model.estimated_error_interval_
        X, y, _ = draw(random, design, 1000)
        error = (model.predict(X) != y).mean()
        n_inside += low <= error <= high
        n_below += error < low
        n_grown += len(model.stage_sizes_) > 1
    return Seen(len(seeds), n_inside, n_below, n_grown)


def main(n_samples: int, *names: str) -> None:
    """Print, by learner, number of groups and design, how many tables the interval holds in."""
    for name in names or LEARNERS:
        for n_groups in (10, 30, 100):
            total: Counter[str] = Counter()
            for design in DESIGNS:
                seeds = range(100, 100 + n_samples)  # others than those of the tests
                seen = measure(LEARNERS[name], design, n_groups, seeds)
                total.update(seen._asdict())
                print(name, n_groups, design, *seen, flush=True)  # noqa: T201
            print(name, n_groups, "all designs", *total.values(), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
