"""Hypothesis languages that can be counted and drawn from, to estimate the error prior of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from offsample._checks import check_count
from offsample._typing import Ints
from offsample.counts import count_cells
from offsample.expected_error.prior import ErrorPrior

__all__ = ["Language", "SplitTrees", "partition_counts"]


class Language(ABC):
    """A set of partitions of the rows, each with all labelings of its cells.

    To write one, give it a size and a way to draw a partition.
    """

    @abstractmethod
    def log_size(self) -> float:
        """Return the natural logarithm of the number of hypotheses, or of a bound on it."""

    @abstractmethod
    def sample_partition(self, X: NDArray[Any], rng: np.random.Generator) -> ArrayLike:
        """Return the cell number of each row, in a partition drawn uniformly from the language."""

    def all_partitions(self, X: NDArray[Any]) -> Iterator[ArrayLike] | None:  # noqa: ARG002
        """Return all partitions if they are few enough to enumerate, else None."""
        return None

    def count_law(
        self, X: ArrayLike, y: ArrayLike, *, n_draws: int = 1000, random_state: int = 0
    ) -> ErrorPrior:
        """Return the plug-in prior: the law of the number of errors on a sample, all labelings counted.

        Parameters
        ----------
        X, y : array-like
            Rows and classes.
        n_draws : int
            Partitions to draw where they are too many to enumerate.
        random_state : int
        """
        rows, labels, n_classes = as_sample(X, y)
        every = self.all_partitions(rows)
        if every is not None:
            return ErrorPrior.from_partitions(
                (partition_counts(cells, labels, n_classes) for cells in every), drawn=False
            )
        check_count("n_draws", n_draws, 1)
        rng = np.random.default_rng(random_state)
        return ErrorPrior.from_partitions(
            partition_counts(self.sample_partition(rows, rng), labels, n_classes) for _ in range(n_draws)
        )


def as_sample(X: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], Ints, int]:
    """Return rows, class codes and the number of classes."""
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X must have two dimensions, got an array of shape {rows.shape}")
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    if len(labels) != len(rows):
        raise ValueError(f"X has {len(rows)} rows and y {len(labels)}: expected as many")
    return rows, labels, max(2, len(classes))


def partition_counts(cells: ArrayLike, labels: Ints, n_classes: int) -> Ints:
    """Count the rows of each class in each cell that is not empty."""
    values = np.asarray(cells)
    codes = np.unique(values, return_inverse=True)[1]
    return np.asarray(count_cells(codes, labels, int(codes.max()) + 1, n_classes))


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
