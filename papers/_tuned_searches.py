"""Finished searches whose true error is known: pure noise, and five data sets with a held-out half.

Each search tries 42 configurations by five-fold cross-validation on one small sample. What it leaves behind
(losses of every configuration on every row) is kept, so that all corrections see the same searches.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

__all__ = ["N_FOLDS", "PROBLEMS", "Search", "searches"]

N_FOLDS = 5
Make = Callable[[], Any]
Sample = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class Search:
    """What one search leaves behind, and the truth.

    Attributes
    ----------
    losses : bool array of shape (n_configurations, n_rows)
        Out of fold.
    folds : int array of shape (n_rows,)
    truth : float
        Error, on rows held out, of the best configuration refitted on all rows.
    nested : float array of shape (n_rows,)
        Losses of nested cross-validation; empty where it was not run.
    seconds, nested_seconds : float
        CPU time of the search and of nested cross-validation.
    """

    losses: NDArray[np.bool_]
    folds: NDArray[np.int8]
    truth: float
    nested: NDArray[np.bool_]
    seconds: float
    nested_seconds: float


def _trees() -> list[Make]:
    grid = product((1, 2, 3, 4, 6, 8, None), (1, 2, 4, 8, 16, 32))
    return [
        lambda d=depth, m=leaf: DecisionTreeClassifier(max_depth=d, min_samples_leaf=m, random_state=0)
        for depth, leaf in grid
    ]


def _kernels() -> list[Make]:
    grid = product((0.1, 0.3, 1, 3, 10, 30, 100), (0.001, 0.003, 0.01, 0.03, 0.1, 0.3))
    return [lambda c=c, g=g: make_pipeline(StandardScaler(), SVC(C=c, gamma=g)) for c, g in grid]


def _bayes() -> list[Make]:
    grid = product((5, 10, 20, 40, 80, 160, "all"), (0.01, 0.1, 0.3, 1, 3, 10))
    return [
        lambda k=k, a=a: make_pipeline(SelectKBest(f_classif, k=k), BernoulliNB(alpha=a)) for k, a in grid
    ]


def _neighbours() -> list[Make]:
    grid = product((2, 5, 10, 20, 50, 100, 500), (1, 3, 5, 9, 15, 25))
    return [
        lambda k=k, j=j: make_pipeline(
            SelectKBest(f_classif, k=k), StandardScaler(), KNeighborsClassifier(n_neighbors=j)
        )
        for k, j in grid
    ]


def _noise(rng: np.random.Generator) -> Sample:
    X = rng.normal(size=(200, 10)).astype(np.float32)
    return X, rng.integers(0, 2, 200), X[:0], np.array([])


def _table(name: str, n_rows: int, indicators: bool = False) -> Callable[[np.random.Generator], Sample]:
    """Sample `n_rows` of one half of a shared data set; the other half tells the truth."""
    loaded: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def draw(rng: np.random.Generator) -> Sample:
        if not loaded:
            loaded.append(_read(name, indicators))
        X, y = loaded[0]
        order = np.random.default_rng(0).permutation(len(y))
        test, pool = order[: len(y) // 2][:8000], order[len(y) // 2 :]
        rows = rng.choice(pool, n_rows, replace=False)
        return X[rows], y[rows], X[test], y[test]

    return draw


def _read(name: str, indicators: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    import pandas as pd

    table = pd.read_parquet(Path(os.environ.get("OFFSAMPLE_DATA") or "../shared/data") / f"{name}.parquet")
    y = table.pop("target").astype("category").cat.codes.to_numpy()
    table = table.drop(columns="split", errors="ignore")
    if indicators:
        return pd.get_dummies(table).to_numpy(np.float32), y
    columns = [
        c.cat.codes if isinstance(c.dtype, pd.CategoricalDtype) else c.fillna(-1) for _, c in table.items()
    ]
    return np.column_stack(columns).astype(np.float32), y


# name: (sample, configurations, repetitions, of which with nested cross-validation)
PROBLEMS: dict[str, tuple[Callable[[np.random.Generator], Sample], Callable[[], list[Make]], int, int]] = {
    "noise, trees": (_noise, _trees, 200, 200),
    "adult, trees": (_table("adult", 300), _trees, 100, 30),
    "sick, trees": (_table("sick", 300), _trees, 100, 30),
    "splice, naive Bayes": (_table("splice", 200, indicators=True), _bayes, 60, 30),
    "madelon, neighbours": (_table("madelon", 300), _neighbours, 60, 30),
    "satimage, kernel": (_table("satimage", 200), _kernels, 60, 30),
}


def searches(problem: str, cache: Path) -> Iterator[Search]:
    """The searches of a problem, run where the cache does not hold them yet."""
    draw, grid, n_repetitions, n_nested = PROBLEMS[problem]
    folder = cache / problem.replace(", ", "-").replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    for repetition in range(n_repetitions):
        path = folder / f"{repetition}.npz"
        if not path.exists():
            sample = draw(np.random.default_rng(repetition))
            # Small fits: a third faster without checks.
            with config_context(assume_finite=True, skip_parameter_validation=True):
                search = _run(sample, grid(), repetition, repetition < n_nested)
            np.savez_compressed(path, **search.__dict__)
        with np.load(path) as kept:
            yield Search(**{name: kept[name] if kept[name].ndim else kept[name].item() for name in kept})


def _run(sample: Sample, grid: list[Make], seed: int, nested: bool) -> Search:
    X, y, X_test, y_test = sample
    start = time.process_time()
    losses, folds = _cross_validate(X, y, grid, seed)
    best = int(np.argmin(losses.mean(axis=1)))
    seconds = time.process_time() - start
    truth = float(np.mean(_fit(grid[best], X, y).predict(X_test) != y_test)) if len(y_test) else 0.5
    start = time.process_time()
    outer = np.zeros(len(y) if nested else 0, dtype=bool)
    for fold in range(N_FOLDS if nested else 0):
        train, test = folds != fold, folds == fold
        inner, _ = _cross_validate(X[train], y[train], grid, seed + 1)
        chosen = grid[int(np.argmin(inner.mean(axis=1)))]
        outer[test] = _fit(chosen, X[train], y[train]).predict(X[test]) != y[test]
    return Search(losses, folds, truth, outer, seconds, time.process_time() - start)


def _cross_validate(
    X: NDArray[Any], y: NDArray[Any], grid: list[Make], seed: int
) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    losses = np.zeros((len(grid), len(y)), dtype=bool)
    folds = np.zeros(len(y), dtype=np.int8)
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    for fold, (train, test) in enumerate(splitter.split(X, y)):
        folds[test] = fold
        for row, make in zip(losses, grid, strict=True):
            row[test] = _fit(make, X[train], y[train]).predict(X[test]) != y[test]
    return losses, folds


def _fit(make: Make, X: NDArray[Any], y: NDArray[Any]) -> Any:
    return make().fit(X, y)
