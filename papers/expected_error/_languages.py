"""Languages of Boolean attributes, whose sizes are known and whose hypotheses can be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from offsample._typing import Booleans, Ints
from offsample.expected_error import ErrorPrior
from offsample.expected_error.languages import Language, SplitTrees

# Models with at most this many partitions are enumerated.
_COUNT_ALL = 1000


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


class BooleanFunctions(Language):
    """All functions of i of b bits: the first i, or any i.

    Parameters
    ----------
    n_attributes, n_total : int
        Bits used, i, and all bits, b, which ``choice="any"`` needs.
    choice : {"prefix", "any"}

    Examples
    --------
    >>> from papers.expected_error._languages import BooleanFunctions
    >>> round(BooleanFunctions(6).log_size(), 3)
    44.361
    """

    def __init__(
        self, n_attributes: int, n_total: int | None = None, choice: Literal["prefix", "any"] = "prefix"
    ) -> None:
        if choice not in ("prefix", "any"):
            raise ValueError(f"choice must be 'prefix' or 'any', got {choice!r}")
        if choice == "any" and n_total is None:
            raise ValueError("choice='any' needs n_total, the number of bits to choose from")
        if n_attributes < 0 or (n_total is not None and n_attributes > n_total):
            raise ValueError(f"n_attributes must lie between 0 and n_total = {n_total}, got {n_attributes}")
        self.n_attributes, self.n_total, self.choice = n_attributes, n_total, choice

    def log_size(self) -> float:
        """Count the functions of i bits times the choices of bits."""
        choices = comb(self.n_total, self.n_attributes) if self.choice == "any" and self.n_total else 1
        return float(np.log(choices) + 2**self.n_attributes * np.log(2))

    def sample_partition(self, X: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Put rows that agree on the chosen bits into one cell."""
        if self.choice == "prefix":
            return _bits(X, range(self.n_attributes))
        return _bits(X, rng.choice(self.n_total or 0, self.n_attributes, replace=False))

    def all_partitions(self, X: NDArray[Any]) -> Iterator[Ints] | None:
        """Return one partition for the prefix, and C(b, i) for any bits."""
        if self.choice == "prefix":
            return iter([_bits(X, range(self.n_attributes))])
        if comb(self.n_total or 0, self.n_attributes) > _COUNT_ALL:
            return None
        return (_bits(X, chosen) for chosen in combinations(range(self.n_total or 0), self.n_attributes))


def _bits(X: NDArray[Any], chosen: Iterable[int]) -> Ints:
    code = np.zeros(len(X), np.int64)
    for place, column in enumerate(chosen):
        code += (X[:, column] > 0).astype(np.int64) << place
    return code


class DecisionLists(Language):
    """Lists of rules, each a conjunction of up to k conditions on bits that covers a least number of rows.

    Bodies are drawn as in Section 3.8 of Scheffer (1999): a row that no rule covers yet, and k of its bits
    that are 1. Such lists are not uniform over all lists: frequent conjunctions are drawn more often.

    Parameters
    ----------
    n_attributes : int
        Number of columns, from the first, that rules may use.
    k : int
        Conditions of a rule.
    min_coverage : int
        Rows that a rule must cover when it is added.
    log_size : float, optional
        Replaces Rivest's bound ``ln(3^T T!)`` for T conjunctions, which is Θ(n^k log n).
    max_tries : int
        Failed draws of a body before the rows left become the default rule.
    """

    def __init__(
        self,
        n_attributes: int,
        k: int = 2,
        min_coverage: int = 1,
        log_size: float | None = None,
        max_tries: int = 50,
    ) -> None:
        if n_attributes < 1 or k < 1 or min_coverage < 1 or max_tries < 1:
            raise ValueError("n_attributes, k, min_coverage and max_tries must be at least 1")
        self.n_attributes, self.k, self.min_coverage = n_attributes, k, min_coverage
        self.given_log_size, self.max_tries = log_size, max_tries

    def log_size(self) -> float:
        """Return Rivest's bound, or the size that was given."""
        if self.given_log_size is not None:
            return self.given_log_size
        n_bodies = sum(comb(self.n_attributes, j) * 2**j for j in range(1, self.k + 1))
        return float(n_bodies * np.log(3) + gammaln(n_bodies + 1))

    def sample_partition(self, X: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Return the rule that covers each row; the rows of the default rule are the last cell."""
        bits = np.asarray(X[:, : self.n_attributes]) > 0
        cells = np.full(len(X), -1, np.int64)
        left, n_rules, tries = np.arange(len(X)), 0, 0
        while len(left) >= self.min_coverage and tries < self.max_tries:
            row = left[rng.integers(len(left))]
            ones = np.flatnonzero(bits[row])
            place = rng.random(self.k)
            tries += 1
            if not len(ones):
                continue
            body = ones[(place * len(ones)).astype(np.int64)]
            covered = bits[left[:, None], body].all(axis=1)
            if covered.sum() >= self.min_coverage:
                cells[left[covered]] = n_rules
                left, n_rules, tries = left[~covered], n_rules + 1, 0
        cells[left] = n_rules
        return cells


class Monomials(Language):
    """Conjunctions of exactly k literals, with one label for the rows that satisfy it and one for the rest.

    Parameters
    ----------
    n_attributes, k : int
    """

    def __init__(self, n_attributes: int, k: int) -> None:
        if not 1 <= k <= n_attributes:
            raise ValueError(f"k must lie between 1 and n_attributes = {n_attributes}, got {k}")
        self.n_attributes, self.k = n_attributes, k

    def log_size(self) -> float:
        """Count the choices of bits and signs, and four labelings."""
        return float(np.log(comb(self.n_attributes, self.k)) + (self.k + 2) * np.log(2))

    def sample_partition(self, X: NDArray[Any], rng: np.random.Generator) -> Booleans:
        """Tell which rows satisfy the conjunction."""
        columns = rng.choice(self.n_attributes, self.k, replace=False)
        signs = rng.integers(2, size=self.k)
        return np.asarray(((X[:, columns] > 0) == (signs > 0)).all(axis=1))


class BranchingPrograms(Language):
    """Layered programs: each node of a layer tests a bit and leads to two nodes of the next.

    Parameters
    ----------
    n_attributes : int
    width, depth : int
        Nodes of a layer, and tests that each row passes.
    """

    def __init__(self, n_attributes: int, width: int, depth: int) -> None:
        if n_attributes < 1 or width < 1 or depth < 0:
            raise ValueError("expected n_attributes >= 1, width >= 1 and depth >= 0")
        self.n_attributes, self.width, self.depth = n_attributes, width, depth

    def log_size(self) -> float:
        """Count the bits and successors of all nodes, and the labels of the last layer."""
        nodes = 1 + (self.depth - 1) * self.width if self.depth else 0
        return float(nodes * np.log(self.n_attributes * self.width**2) + self.width * np.log(2))

    def sample_partition(self, X: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Return the node of the last layer that each row reaches."""
        cells = np.zeros(len(X), np.int64)
        for _ in range(self.depth):
            columns = rng.integers(self.n_attributes, size=self.width)
            following = rng.integers(self.width, size=2 * self.width).reshape(self.width, 2)
            bit = (X[np.arange(len(X)), columns[cells]] > 0).astype(np.int64)
            cells = following[cells, bit]
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


LANGUAGES: dict[str, type[Language]] = {
    "boolean_functions": BooleanFunctions,
    "branching_programs": BranchingPrograms,
    "decision_lists": DecisionLists,
    "depth_limited_trees": DepthLimitedTrees,
    "fitted_partition": FittedPartition,
    "monomials": Monomials,
    "split_trees": SplitTrees,
}


def find_language(name: str, *arguments: Any, **options: Any) -> Language:
    """Make a language by its name.

    Examples
    --------
    >>> from papers.expected_error._languages import find_language
    >>> round(find_language("monomials", n_attributes=10, k=2).log_size(), 3)
    6.579
    """
    if name in ("k_dnf", "dnf"):
        raise ValueError(
            "uniform draws of k-DNF say nothing: one in two of all terms is in a drawn formula, which is "
            "then true nearly everywhere, and the formulas that a learner returns have a share of nothing; "
            "use decision_lists or monomials"
        )
    if name not in LANGUAGES:
        raise ValueError(f"unknown language {name!r}: expected one of {', '.join(sorted(LANGUAGES))}")
    return LANGUAGES[name](*arguments, **options)


def priors_from_data(
    languages: Sequence[Language], X: ArrayLike, y: ArrayLike, *, n_draws: int = 1000, random_state: int = 0
) -> tuple[list[ErrorPrior], list[float]]:
    """Return plug-in priors and log sizes of several models, as `holdout_selection` takes them.

    Parameters
    ----------
    languages : sequence of Language
    X, y : array-like
        Rows and classes.
    n_draws, random_state : int
        As in `Language.count_law`.
    """
    priors = [language.count_law(X, y, n_draws=n_draws, random_state=random_state) for language in languages]
    return priors, [language.log_size() for language in languages]
