"""Languages of trees: of a number of splits, of a depth, and the leaves of a fitted tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from offsample._typing import Ints
from offsample.expected_error._language import Language


class SplitTrees(Language):
    """Binary trees of a given number of splits, each at a threshold of a column.

    A leaf is drawn, then a column, then the value of one of the leaf's rows as its threshold: the trees that
    a learner would try, not every tree that could be written down.

    Parameters
    ----------
    n_splits : int
    n_tests : int
        Tests that a node chooses from: the thresholds of all columns.
    n_classes : int
    """

    def __init__(self, n_splits: int, n_tests: int, n_classes: int = 2) -> None:
        if n_splits < 0 or n_tests < 1:
            raise ValueError(f"expected n_splits >= 0 and n_tests >= 1, got {n_splits} and {n_tests}")
        self.n_splits, self.n_tests, self.n_classes = n_splits, n_tests, n_classes

    def log_size(self) -> float:
        """Count the shapes (Catalan numbers), the tests of the nodes and the labels of the leaves."""
        s = self.n_splits
        shapes = gammaln(2 * s + 1) - gammaln(s + 1) - gammaln(s + 2)
        return float(shapes + s * np.log(self.n_tests) + (s + 1) * np.log(self.n_classes))

    def sample_partition(self, X: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Split randomly drawn leaves; a split without two sides splits nothing."""
        cells = np.zeros(len(X), np.int64)
        for new in range(1, self.n_splits + 1):
            inside = np.flatnonzero(cells == rng.integers(new))
            column, place = rng.integers(X.shape[1]), rng.random()
            if len(inside):
                values = X[inside, column]
                threshold = values[int(place * len(inside))]
                cells[inside[values > threshold]] = new
        return cells


class DepthLimitedTrees(Language):
    """Complete binary trees of a given depth, a test of one column in each node.

    Parameters
    ----------
    depth : int
    n_tests : int
        Tests that a node chooses from.
    n_classes : int
    """

    def __init__(self, depth: int, n_tests: int, n_classes: int = 2) -> None:
        if not 0 <= depth <= 20 or n_tests < 1:
            raise ValueError(f"expected a depth from 0 to 20 and n_tests >= 1, got {depth} and {n_tests}")
        self.depth, self.n_tests, self.n_classes = depth, n_tests, n_classes

    def log_size(self) -> float:
        """Count the tests of all nodes and the labels of all leaves."""
        return float((2**self.depth - 1) * np.log(self.n_tests) + 2**self.depth * np.log(self.n_classes))

    def sample_partition(self, X: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Draw a column for each node, and the value of a row as its threshold."""
        cells = np.zeros(len(X), np.int64)
        for level in range(self.depth):
            columns = rng.integers(X.shape[1], size=2**level)
            places = rng.integers(len(X), size=2**level)
            column = columns[cells]
            # At or above a row's value: a row with the smallest value of its column splits nothing off.
            right = X[np.arange(len(X)), column] >= X[places[cells], column]
            cells = 2 * cells + right
        return cells


class FittedPartition(Language):
    """The leaves of a fitted estimator, with all labelings.

    Parameters
    ----------
    estimator : object with `apply`
        A fitted tree of ours or of scikit-learn.
    n_leaves : int, optional
        Number of leaves; that of ``estimator.tree_`` by default.
    """

    def __init__(self, estimator: Any, n_leaves: int | None = None) -> None:
        if not callable(getattr(estimator, "apply", None)):
            raise ValueError(
                f"{type(estimator).__name__} has no `apply`: it does not partition rows into leaves"
            )
        self.estimator, self.n_leaves = estimator, n_leaves

    def log_size(self) -> float:
        """Count the labelings of the leaves."""
        leaves = int(self.estimator.tree_.n_leaves) if self.n_leaves is None else self.n_leaves
        return float(leaves * np.log(max(2, len(self.estimator.classes_))))

    def sample_partition(self, X: NDArray[Any], rng: np.random.Generator) -> ArrayLike:  # noqa: ARG002
        """Return the leaf of each row."""
        return np.asarray(self.estimator.apply(X))

    def all_partitions(self, X: NDArray[Any]) -> Iterator[ArrayLike]:
        """Return the only partition."""
        return iter([np.asarray(self.estimator.apply(X))])
