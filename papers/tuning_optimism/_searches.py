"""Finished searches whose true error is known: pure noise, and data sets with a part held out.

Each search tries 42 configurations by cross-validation on one small sample and keeps the losses of all of
them on every row, so that all corrections judge the same searches.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.model_selection import StratifiedKFold

from offsample.datasets import load
from papers.tuning_optimism._learners import (
    N_CONFIGURATIONS,
    Learner,
    bayes,
    boosting,
    kernels,
    neighbours,
    screened,
    trees,
)

__all__ = ["PROBLEMS", "Problem", "Search", "searches"]

Sample = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]
# Seeds below it were looked at while the corrections were made.
FIRST_SEED = 50_000


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
    fold_truth : float
        Mean error there of its models that were learned without one fold.
    nested : bool array of shape (n_rows,)
        Losses of nested cross-validation; empty where it was not run.
    seconds, nested_seconds : float
        CPU time of the search and of nested cross-validation.
    """

    losses: NDArray[np.bool_]
    folds: NDArray[np.int8]
    truth: float
    fold_truth: float
    nested: NDArray[np.bool_]
    seconds: float
    nested_seconds: float


@dataclass(frozen=True)
class Problem:
    """Samples and a learner; `n_searches` repetitions, the first `n_nested` with nested cross-validation.

    `seen` says whether the corrections were made while looking at other samples of it.
    """

    draw: Callable[[np.random.Generator], Sample]
    learner: Learner
    n_searches: int
    n_nested: int
    n_folds: int = 5
    seen: bool = True


def _noise(rng: np.random.Generator) -> Sample:
    X = rng.normal(size=(200, 10)).astype(np.float32)
    # As many of each class: random counts and stratified folds would bias noise by design.
    return X, rng.permutation(np.arange(200) % 2), X[:0], np.array([])


def _rows_of(name: str, n_rows: int, indicators: bool = False) -> Callable[[np.random.Generator], Sample]:
    """Draw `n_rows` of a data set; half of it, of the others and up to 4,000 rows, tells the truth.

    Another half each time: with one half for all, what is easy about it would be a bias of every correction.
    """

    def draw(rng: np.random.Generator) -> Sample:
        X, y = _read(name, indicators)
        order = rng.permutation(len(y))
        rows, test = order[:n_rows], order[n_rows:][: min(len(y) // 2, 4000)]
        return X[rows], y[rows], X[test], y[test]

    return draw


@lru_cache
def _read(name: str, indicators: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    import pandas as pd

    data = load(name)
    y = data.y.astype("category").cat.codes.to_numpy()
    if indicators:
        return pd.get_dummies(data.X).to_numpy(np.float32), y
    columns = [
        c.cat.codes if isinstance(c.dtype, pd.CategoricalDtype) else c.fillna(-1) for _, c in data.X.items()
    ]
    return np.column_stack(columns).astype(np.float32), y


PROBLEMS = {
    "noise, trees": Problem(_noise, trees, 200, 30),
    "adult, trees": Problem(_rows_of("adult", 300), trees, 100, 30),
    "sick, trees": Problem(_rows_of("sick", 300), trees, 100, 30),
    "splice, naive Bayes": Problem(_rows_of("splice", 200, indicators=True), bayes, 100, 30),
    "madelon, screened neighbours": Problem(_rows_of("madelon", 300), screened, 60, 30),
    "satimage, kernel": Problem(_rows_of("satimage", 100), kernels, 30, 30),
    "noise, neighbours, 10 folds": Problem(_noise, neighbours, 200, 30, n_folds=10, seen=False),
    "letter, neighbours": Problem(_rows_of("letter", 400), neighbours, 250, 30, seen=False),
    "letter, neighbours, 10 folds": Problem(
        _rows_of("letter", 600), neighbours, 30, 30, n_folds=10, seen=False
    ),
    "nursery, trees": Problem(_rows_of("nursery", 300), trees, 100, 30, seen=False),
    "internet_usage, boosting": Problem(_rows_of("internet_usage", 150), boosting, 30, 30, seen=False),
}


def searches(
    problem: Problem, n_searches: int | None = None, n_nested: int | None = None, first_seed: int = FIRST_SEED
) -> Iterator[Search]:
    """The searches of a problem."""
    n_searches = problem.n_searches if n_searches is None else n_searches
    n_nested = problem.n_nested if n_nested is None else n_nested
    for repetition in range(n_searches):
        seed = first_seed + repetition
        sample = problem.draw(np.random.default_rng(seed))
        # Small fits: a third faster without checks.
        with config_context(assume_finite=True, skip_parameter_validation=True):
            yield _run(sample, problem, seed, repetition < n_nested)


def _run(sample: Sample, problem: Problem, seed: int, nested: bool) -> Search:
    X, y, X_test, y_test = sample
    start = time.process_time()
    losses, folds = _cross_validate(X, y, problem, seed)
    best = int(np.argmin(losses.mean(axis=1)))
    seconds = time.process_time() - start
    # A label that is a coin flip is guessed wrong half of the time, by anything.
    truth = fold_truth = 0.5
    if len(y_test):
        truth = _error(problem, best, X, y, X_test, y_test)
        parts = [folds != k for k in range(problem.n_folds)]
        fold_truth = float(np.mean([_error(problem, best, X[p], y[p], X_test, y_test) for p in parts]))
    start = time.process_time()
    outer = np.zeros(len(y) if nested else 0, dtype=bool)
    for fold in range(problem.n_folds if nested else 0):
        train, test = folds != fold, folds == fold
        inner, _ = _cross_validate(X[train], y[train], problem, seed + 1)
        chosen = int(np.argmin(inner.mean(axis=1)))
        outer[test] = problem.learner(X[train], y[train], X[test], [chosen])[0] != y[test]
    return Search(losses, folds, truth, fold_truth, outer, seconds, time.process_time() - start)


def _error(problem: Problem, configuration: int, X: Any, y: Any, X_test: Any, y_test: Any) -> float:
    return float(np.mean(problem.learner(X, y, X_test, [configuration]) != y_test))


def _cross_validate(
    X: NDArray[Any], y: NDArray[Any], problem: Problem, seed: int
) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    losses = np.zeros((N_CONFIGURATIONS, len(y)), dtype=bool)
    folds = np.zeros(len(y), dtype=np.int8)
    splitter = StratifiedKFold(problem.n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = list(splitter.split(X, y))
    for fold, (train, test) in enumerate(splits):
        folds[test] = fold
        predicted = problem.learner(X[train], y[train], X[test], range(N_CONFIGURATIONS))
        losses[:, test] = predicted != y[test]
    return losses, folds
