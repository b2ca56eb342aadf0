"""Rankings by five criteria, and how monotone the errors are along them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from offsample.counts import CellCounts
from offsample.criteria import CRITERIA

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


# The paper's four criteria, and ours for the majority rule.
COLUMNS = {
    "IG": "information_gain",
    "IGR": "gain_ratio",
    "Gini": "gini_error",
    "Ginger": "ginger",
    "LOO-Bayes": "bayes_loo",
}
PAPER_COLUMNS = tuple(COLUMNS)[:4]
RULE_NAMES = {"gini": "Gini, Eq. (4)", "bayes": "majority, Eq. (5)"}


def criterion_scores(cells: CellCounts) -> dict[str, float]:
    """Value of each criterion, turned so that lower is better."""
    values = {}
    for name, key in COLUMNS.items():
        value = CRITERIA[key](cells)
        values[name] = value if CRITERIA[key].better == "lower" else -value
    return values


def ties_joined(scores: Floats) -> Floats:
    # Sums in another order differ in the last bits; no two values that differ here are that close.
    return np.round(scores, 12)


def ranking(scores: Floats, errors: Floats) -> NDArray[np.intp]:
    """Features from the best score to the worst, tied ones by increasing error."""
    return np.lexsort((errors, ties_joined(scores)))


def places(scores: Floats, feature: int) -> tuple[int, int]:
    """First and last place (from 1) that a feature may take, given the ties."""
    key = ties_joined(scores)
    return int((key < key[feature]).sum()) + 1, int((key <= key[feature]).sum())


def largest_drop(curve: Floats) -> float:
    """How far the curve falls below its running maximum: 0 if it is monotone."""
    return float((np.maximum.accumulate(curve) - curve).max())


def distance_to_sorted(curve: Floats) -> float:
    """Mean distance between the curve and the monotone one that a perfect ranking would give."""
    return float(np.abs(curve - np.sort(curve)).mean())


def spearman(scores: Floats, errors: Floats) -> float:
    """Rank correlation of score and error; ties take their mean rank."""
    ranks = rankdata(ties_joined(scores)), rankdata(errors)
    return float(np.corrcoef(*ranks)[0, 1])
