"""Worst cases of index criteria: Sections 3 to 6 of Nock & Nielsen (2004).

Run ``python -m papers.index_criteria [covers|decreases|orders|blind|classes|all]``. The paper has no tables:
what it proves is shown on random instances beside its statement; ``all`` also writes the tables to
``papers/results/index_criteria.txt``.

Where the print is corrected:

- *Theorem 6* is an upper bound, O(1/(c* log |E|)), as Theorem 8 is for Gini.
- *Theorem 9*: the error index decreases at no node except the one that isolates the negative row.
- *Eq. (7)*: each ρ belongs to the tree that is left after the prunings before it.
- *Section 4*: the greedy cover minimises the number of uncovered elements; this maximises the local error
  until none is left.

References
----------
R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria: worst-case bounds for the worst-case
based. Theoretical Computer Science 321.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample.bounds import relative_decreases, set_cover_decrease, set_cover_decrease_bound
from offsample.datasets import greedy_cover, make_set_cover_sample
from offsample.induction import (
    BranchingProgramClassifier,
    CommitteeClassifier,
    DecisionListClassifier,
    DNFClassifier,
    MonomialClassifier,
    SymmetricFunctionClassifier,
    TreeClassifier,
)
from papers._table import format_table

__all__ = ["blind", "classes", "covers", "decreases", "least_cover", "main", "orders"]

RESULTS = Path(__file__).parent / "results"
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
    """Size of the smallest cover, by trying all."""
    member = X[:-1].astype(bool)
    sizes = range(1, X.shape[1] + 1)
    for n in sizes:
        if any(member[:, list(one)].any(axis=1).all() for one in combinations(range(X.shape[1]), n)):
            return n
    raise ValueError("the sets do not cover all elements")


def _tree(X: Any, y: Any, index: str, **options: Any) -> TreeClassifier:
    return TreeClassifier(criterion=index, stopping="none", shrinkage=None, **options).fit(X, y)


def covers(n_instances: int = 100) -> str:
    """Section 4: top-down induction takes the sets of the greedy cover, whichever of the three indexes."""
    same = dict.fromkeys(INDEXES, 0)
    ratios = []
    for X, y in instances(n_instances):
        greedy = greedy_cover(X)
        ratios.append(len(greedy) / least_cover(X))
        for index in INDEXES:
            taken = [int(step.feature[1:]) for step in _tree(X, y, index).path_ if step.feature is not None]
            same[index] += taken == greedy
    rows = [[index, "greedy cover", f"{same[index]} of {n_instances}"] for index in INDEXES]
    table = format_table(["index", "paper", "trees that take its sets, in its order"], rows)
    return f"{table}\ngreedy cover over smallest cover: mean {np.mean(ratios):.3f}, largest {max(ratios):.3f}"


def decreases(n_instances: int = 100) -> str:
    """Theorems 4, 5 and 7: relative decreases, their closed forms and their lower bounds, node by node."""
    rows = []
    for index, bound in zip(INDEXES, ("1/(2c*)", "1/(4c* ln(1+s))", "1/(c* s)"), strict=True):
        n_nodes, worst_form, least_room, identity = 0, 0.0, np.inf, 0.0
        for X, y in instances(n_instances):
            path = _tree(X, y, index).path_
            found = relative_decreases(path)
            identity = max(identity, abs(path[0].criterion * float(np.prod(1 - found)) - path[-1].criterion))
            left, cover = np.ones(len(y) - 1, bool), least_cover(X)
            for chosen, decrease in zip(greedy_cover(X), found, strict=True):
                s = int(left.sum())
                left &= X[:-1, chosen] == 0
                worst_form = max(worst_form, abs(decrease - set_cover_decrease(s, left.sum(), index)))
                least_room = min(least_room, decrease / set_cover_decrease_bound(s, cover, index))
                n_nodes += 1
        rows.append([index, bound, n_nodes, f"{worst_form:.0e}", f"{least_room:.3f}", f"{identity:.0e}"])
    header = [
        "index",
        "lower bound",
        "nodes",
        "off the closed form",
        "least ratio to the bound",
        "off the product",
    ]
    return format_table(header, rows)


def orders() -> str:
    """Theorems 6 and 8: on partition instances the bounds have the right order."""
    rows = []
    for n_elements, cover in ((100, 5), (1000, 5), (1000, 20), (10_000, 20), (100_000, 20)):
        left = n_elements * (1 - 1 / cover)
        rho = {index: set_cover_decrease(n_elements, left, index) for index in INDEXES}
        rows.append(
            [
                f"{n_elements:,}",
                cover,
                f"{rho['matsushita'] * cover:.3f}",
                f"{rho['entropy'] * cover * np.log1p(n_elements):.3f}",
                f"{rho['gini'] * cover * n_elements:.3f}",
                f"{cover / (cover - 1):.3f}",
            ]
        )
    header = ["|E|", "c*", "ρ_M c* (½)", "ρ_H c* ln(1+|E|) (about 1)", "ρ_G c* |E|", "its limit c*/(c*-1)"]
    return format_table(header, rows)


def blind(n_instances: int = 100) -> str:
    """Theorem 9: the error index does not see a test until one test finishes the cover."""
    zero_before, one_at_last, stuck, one_set = 0, 0, 0, 0
    n_nodes = 0
    for X, y in instances(n_instances):
        left = np.ones(len(y) - 1, bool)
        for chosen in greedy_cover(X):
            s = int(left.sum())
            left &= X[:-1, chosen] == 0
            value = set_cover_decrease(s, left.sum(), "error")
            zero_before += value == 0 and left.any()
            one_at_last += value == 1 and not left.any()
            n_nodes += 1
        single = least_cover(X) == 1
        one_set += single
        stuck += len(_tree(X, y, "error").path_) == 1 and not single
    rows = [
        ["nodes before the last of a greedy tree with ρ = 0", f"{zero_before} of {n_nodes - n_instances}"],
        ["last nodes with ρ = 1 (printed: 0)", f"{one_at_last} of {n_instances}"],
        ["trees by the error index that never start", f"{stuck} of {n_instances - one_set}"],
    ]
    return format_table(["Theorem 9, corrected", "found"], rows)


def classes(n_instances: int = 30) -> str:
    """Section 6: the other classes of formulas, grown top down, take the same sets."""
    makers: dict[str, Callable[..., Any]] = {
        "decision list, 1 literal": lambda **o: DecisionListClassifier(literals=1, **o),
        "monomial": MonomialClassifier,
        "DNF": DNFClassifier,
        "branching program": BranchingProgramClassifier,
        "committee": CommitteeClassifier,
        "symmetric function": SymmetricFunctionClassifier,
    }
    samples = instances(n_instances)
    rows = []
    for name, make in makers.items():
        row: list[object] = [name]
        for index in INDEXES:
            done = 0
            for X, y in samples:
                model = make(criterion=index, stopping="none").fit(X, y)
                n = len(model.vocabulary_.tests)
                taken = {model.vocabulary_.tests[literal % n].column for literal in model.model_.literals}
                pure = abs(model.path_[-1].criterion) < 1e-12
                done += pure and taken == set(greedy_cover(X)) and model.score(X, y) == 1
            row.append(f"{done} of {n_instances}")
        rows.append(row)
    return format_table(["class", *INDEXES], rows)


def main() -> None:
    """Print one experiment, or all of them."""
    parts = {f.__name__: f for f in (covers, decreases, orders, blind, classes)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", default="all", choices=[*parts, "all"])
    part = parser.parse_args().part
    texts = []
    for name, run in parts.items():
        if part in (name, "all"):
            texts.append(f"{(run.__doc__ or '').strip()}\n\n{run()}\n")
            print(texts[-1], flush=True)
    if part == "all":
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "index_criteria.txt").write_text("\n".join(texts))


if __name__ == "__main__":
    main()
