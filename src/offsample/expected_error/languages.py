"""Hypothesis languages that can be counted and drawn from, to estimate the error prior of a model.

A language is a set of partitions of the rows, each with all labelings of its cells. To write one, subclass
`Language` and give it a size and a way to draw::

    class Stripes(Language):
        def __init__(self, n_columns):
            self.n_columns = n_columns

        def log_size(self):                     # columns, and four labelings of two halves
            return np.log(4 * self.n_columns)

        def sample_partition(self, X, rng):     # a cell number for each row
            return X[:, rng.integers(self.n_columns)] > 0

"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from offsample.expected_error._bit_languages import (
    BooleanFunctions,
    BranchingPrograms,
    DecisionLists,
    Monomials,
)
from offsample.expected_error._language import Language, partition_counts
from offsample.expected_error._tree_languages import DepthLimitedTrees, FittedPartition, SplitTrees
from offsample.expected_error.prior import ErrorPrior

__all__ = [
    "LANGUAGES",
    "BooleanFunctions",
    "BranchingPrograms",
    "DecisionLists",
    "DepthLimitedTrees",
    "FittedPartition",
    "Language",
    "Monomials",
    "SplitTrees",
    "find_language",
    "partition_counts",
    "priors_from_data",
]

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
    >>> from offsample.expected_error.languages import find_language
    >>> round(find_language("monomials", n_attributes=10, k=2).log_size(), 3)
    6.579
    """
    if name in ("k_dnf", "dnf"):
        raise ValueError(
            "uniform draws of k-DNF say nothing: one in two of all terms is in a drawn formula, which is then "
            "true nearly everywhere, and the formulas that a learner returns have a share of nothing; "
            "use decision_lists or monomials"
        )
    if name not in LANGUAGES:
        raise ValueError(f"unknown language {name!r}: expected one of {', '.join(sorted(LANGUAGES))}")
    return LANGUAGES[name](*arguments, **options)


def priors_from_data(
    languages: Sequence[Language], X: ArrayLike, y: ArrayLike, *, n_draws: int = 1000, random_state: int = 0
) -> tuple[list[ErrorPrior], list[float]]:
    """Return plug-in priors and log sizes of several models, as `holdout_selection` and `best_split` take them.

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
