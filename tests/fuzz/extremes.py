"""Columns with the most extreme numbers, and every learner in the options that take other ways."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import offsample
from offsample.induction import TreeClassifier

INF, NAN = np.inf, np.nan
LARGEST = float(np.finfo(np.float64).max)
SMALLEST = 5e-324
N_ROWS = 60

# The first half of the values goes to the rows of one class, the other half to those of the other.
VALUES: dict[str, list[Any]] = {
    "minus infinity": [-INF, 0.0, 1.0, 2.0],
    "infinity": [0.0, 1.0, 2.0, INF],
    "both infinities": [-INF, INF],
    "infinity only": [INF],
    "infinity or missing": [NAN, INF],
    "huge": [-1.7e308, -1e308, 0.0, 1.7e308],
    "largest": [-LARGEST, LARGEST],
    "largest and infinite": [-INF, -LARGEST, LARGEST, INF],
    "subnormal": [-SMALLEST, 0.0, SMALLEST, 2 * SMALLEST, 3 * SMALLEST, 4 * SMALLEST],
    "two subnormal": [3 * SMALLEST, 4 * SMALLEST],
    "zeros of both signs": [-0.0, 0.0],
    "largest integers": [-(2**63), 0, 2**63 - 2, 2**63 - 1],
    "unsigned integers": [0, 2**64 - 1],
    "missing": [NAN],
    "one value": [7.0],
    "one huge value": [1.7e308],
    "all at once": [-INF, -LARGEST, -1.0, -SMALLEST, NAN, -0.0, SMALLEST, 1e-300, 1e300, LARGEST, INF],
}


def classes() -> NDArray[Any]:
    """Classes of the rows, in turn."""
    return np.where(np.arange(N_ROWS) % 2 == 0, "a", "b")


def extreme_column(values: list[Any]) -> NDArray[Any]:
    """A column of these values that tells the classes apart, if there is more than one."""
    half = max(len(values) // 2, 1)
    turn = np.arange(N_ROWS) // 2
    first, second = values[:half], values[half:] or values
    column = [
        second[i % len(second)] if k else first[i % len(first)] for i, k in zip(turn, _second(), strict=True)
    ]
    return np.array(column, dtype=np.uint64 if 2**64 - 1 in values else None)


def _second() -> NDArray[np.bool_]:
    return classes() == "b"


def extreme_tables() -> dict[str, dict[str, NDArray[Any]]]:
    """A table for each kind of numbers: such a column, one of noise, and one of categories."""
    random = np.random.default_rng(0)
    return {
        name: {
            "x": extreme_column(values),
            "noise": random.normal(size=N_ROWS),
            "city": random.choice(["Rome", "Oslo", "Bonn"], N_ROWS),
        }
        for name, values in VALUES.items()
    }


def learners() -> list[Any]:
    """Every learner that takes a table, in the options that lead through other kernels."""
    return [
        TreeClassifier(stopping="none"),
        TreeClassifier(criterion="gini", stopping="none", categorical_split="multiway"),
        offsample.StochasticTreeClassifier(),
        offsample.StochasticTreeClassifier(scale="minmax"),
        offsample.StochasticTreeClassifier(scale=None),
        offsample.DecisionListClassifier(),
        offsample.DecisionListClassifier(strategy="cover", literals=2),
        offsample.MonomialClassifier(),
        offsample.DNFClassifier(),
        offsample.BranchingProgramClassifier(),
        offsample.CommitteeClassifier(),
        offsample.SymmetricFunctionClassifier(),
        offsample.FeatureRanker(),
        offsample.Relief(),
        offsample.Relief(n_neighbors=3, scale="standard"),
        offsample.Simba(n_restarts=1, random_state=0),
        offsample.GFlip(n_restarts=1, random_state=0),
    ]
