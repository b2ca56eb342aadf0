"""Figures 4 and 5: decision trees by four criteria on the census problems (Sec. 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from offsample.counts import CellCounts
from offsample.criteria import misclassification
from offsample.hypotheses import BayesRule
from offsample.induction import TreeClassifier
from papers.ginger._census import Census, census_split, load_census
from papers.ginger._rankings import Floats

TREE_CRITERIA = {"IG": "information_gain", "IGR": "gain_ratio", "Gini": "gini", "Ginger": "ginger"}
ALL_ATTRIBUTES = "all attributes"
SOME_ATTRIBUTES = "without near-copies of the target and the serial number"
_COPY_ERROR = 0.01


@dataclass(frozen=True)
class Curves:
    """Errors of the trees for one problem.

    Attributes
    ----------
    training, test : dict
        Per criterion the errors after 0, 1, 2, … splits: fewer than asked where no leaf can be split further.
    automatic : float
        Test error of the tree that stops by itself.
    """

    problem: str
    training: dict[str, Floats]
    test: dict[str, Floats]
    automatic: float


def grow_problem(
    census: Census, problem: str, n_train: int, max_splits: int, *, every_attribute: bool, seed: int = 0
) -> Curves:
    """Grow a tree by each criterion, and follow its errors.

    Without `every_attribute` the serial number and near-copies of the target are left out: the paper, which
    does not say, may have done either.
    """
    train, test = census_split(census, n_train, seed)
    y = census.labels(problem)
    names = [name for name in census.codes if name != problem]
    if not every_attribute:
        names = [
            name for name in names if name != "SERIALNO" and not _is_copy(census.codes[name][train], y[train])
        ]
    X = np.column_stack([census.codes[name] for name in names])
    training, held_out = {}, {}
    for name, criterion in TREE_CRITERIA.items():
        tree = TreeClassifier(
            criterion=criterion,
            stopping="none",
            min_gain=-np.inf,
            max_splits=max_splits,
            categorical_features="all",
            categorical_split="multiway",
            unseen="uniform",
            shrinkage=None,
        ).fit(X[train], y[train])
        training[name] = np.array([step.training_error for step in tree.path_])
        held_out[name] = error_curve(tree, X[test], y[test])
    automatic = TreeClassifier(categorical_features="all").fit(X[train], y[train])
    return Curves(problem, training, held_out, 1 - automatic.score(X[test], y[test]))


def _is_copy(codes: NDArray[np.int32], y: NDArray[np.int64]) -> bool:
    cells = CellCounts.from_codes(codes, y, n_classes=2)
    # A column of single rows tells everything of the training rows, and is no copy.
    return misclassification(cells) < _COPY_ERROR and cells.missing_mass() < _COPY_ERROR


def error_curve(tree: TreeClassifier, X: NDArray[np.int32], y: NDArray[np.int64]) -> Floats:
    """Error of the majority rule on some rows after 0, 1, 2, … splits; an unseen value counts one half."""
    flat = tree.tree_
    value = BayesRule.from_counts(flat.counts)
    last = tree.apply(X)
    # The node of each row at each depth: children of one split are numbered in the order of the splits.
    ancestors = np.full((len(X), int(flat.depth.max()) + 1), -1, np.int32)
    node = last.copy()
    while (node >= 0).any():
        active = np.flatnonzero(node >= 0)
        ancestors[active, flat.depth[node[active]]] = node[active]
        node[active] = flat.parent[node[active]]
    loss = 1 - value[0, y]
    curve = [loss.mean()]
    split_nodes = np.flatnonzero(flat.feature >= 0)
    for parent in split_nodes[np.argsort(flat.first_child[split_nodes])]:
        depth = int(flat.depth[parent])
        here = np.flatnonzero(ancestors[:, depth] == parent)
        child = ancestors[here, depth + 1]
        loss[here] = np.where(child >= 0, 1 - value[child, y[here]], 0.5)
        curve.append(loss.mean())
    return np.array(curve)


@lru_cache(maxsize=2)
def grow_problems(
    problems: tuple[str, ...] | None = None,
    n_train: int = 5000,
    max_splits: int = 100,
    directory: str | Path | None = None,
) -> dict[str, list[Curves]]:
    """Grow the trees of several problems, by default of all, with all attributes and with some."""
    census = load_census(directory)
    names = tuple(census.problems) if problems is None else problems
    return {
        variant: [
            grow_problem(census, problem, n_train, max_splits, every_attribute=variant == ALL_ATTRIBUTES)
            for problem in names
        ]
        for variant in (ALL_ATTRIBUTES, SOME_ATTRIBUTES)
    }
