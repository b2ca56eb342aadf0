"""Set-Cover samples and what is measured on them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample.induction import TreeClassifier
from papers.index_criteria._set_cover import greedy_cover, make_set_cover_sample

Floats = NDArray[np.float64]
# Without the error index, which does not see the tests.
INDEXES = ("matsushita", "entropy", "gini")


def instances(n_instances: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Random Set-Cover samples of 10 to 80 elements and 5 to 12 sets."""
    rng = np.random.default_rng(0)
    return [
        make_set_cover_sample(
            int(rng.integers(10, 81)),
            int(rng.integers(5, 13)),
            density=float(rng.uniform(0.15, 0.5)),
            random_state=seed,
        )
        for seed in range(n_instances)
    ]


def least_cover(X: NDArray[Any]) -> int:
    """Size of the smallest cover (c*), by trying all."""
    member = X[:-1].astype(bool)
    everything = (1 << len(member)) - 1
    sets = [int("".join("1" if e else "0" for e in column), 2) for column in member.T]
    for n in range(1, len(sets) + 1):
        for chosen in combinations(sets, n):
            union = 0
            for one in chosen:
                union |= one
            if union == everything:
                return n
    raise ValueError("the sets do not cover all elements")


def grow_tree(X: Any, y: Any, index: str) -> TreeClassifier:
    """Top-down induction by an index (TD), until no test decreases it."""
    return TreeClassifier(criterion=index, stopping="none", shrinkage=None).fit(X, y)


def sets_taken(tree: TreeClassifier) -> list[int]:
    """The sets that the tests of a tree stand for, in order."""
    return [int(step.feature[1:]) for step in tree.path_ if step.feature is not None]


def greedy_nodes(X: NDArray[Any]) -> Iterator[tuple[int, int, int]]:
    """The set taken at each node of the greedy cover, and the elements left before (s) and after it (s₁)."""
    left = np.ones(len(X) - 1, bool)
    for chosen in greedy_cover(X):
        before = int(left.sum())
        left &= X[:-1, chosen] == 0
        yield chosen, before, int(left.sum())


def random_index(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A random permissible function: points of a concave line that rises from (0, 0) to (½, 1)."""
    widths = rng.dirichlet(np.full(6, 10 ** rng.uniform(-1, 1))) / 2
    heights = rng.dirichlet(np.full(6, 10 ** rng.uniform(-1, 1)))
    steepest_first = np.argsort(-heights / widths)
    z = np.concatenate([[0], np.cumsum(widths[steepest_first])])
    return z, np.concatenate([[0], np.cumsum(heights[steepest_first])])


def evaluate(line: tuple[Floats, Floats], z: Any) -> Floats:
    """A random index function at z, in [0, 1]."""
    z = np.asarray(z, float)
    return np.interp(np.minimum(z, 1 - z), *line)
