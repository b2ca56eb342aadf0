"""What forecasts of the error cost, and choosing a size by them beside searches by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._frame import Case, Tool, topic
from benchmarks._measure import Quality
from offsample import TreeClassifier

# The best size lies inside both: evenly spaced, and each size a constant factor above the one before.
GRIDS = {
    "even": list(range(60, 1201, 60)),
    "geometric": [round(float(x)) for x in np.geomspace(2, 2500, 20)],
}
N_FRESH = 100_000


def forecast(n_atoms: int, log_size: float, n_samples: int) -> Callable[[], Any]:
    from scipy.special import logsumexp

    from offsample.expected_error import ErrorPrior, expected_error
    from offsample.expected_error._binomial import log_pmf

    k = np.arange(n_atoms + 1)
    logs = log_pmf(k, n_atoms, np.asarray(0.5))
    prior = ErrorPrior(k / n_atoms, log_mass=logs - logsumexp(logs))
    return lambda: expected_error(prior, log_size, n_samples)


def rows(n_rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Eight columns, five of which matter, and 10 % of wrong labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    score = X[:, 0] + (X[:, 1] > 0.3) * X[:, 2] - np.abs(X[:, 3]) + 0.5 * np.sin(3 * X[:, 4]) + 0.3
    return X, ((score > 0) ^ (rng.random(n_rows) < 0.1)).astype(np.int64)


def learner() -> Any:
    return TreeClassifier(stopping="none", random_state=0)


def by_forecast(grid: list[int]) -> Any:
    from offsample import ExpectedErrorSearch

    return ExpectedErrorSearch(learner(), {"max_splits": grid}, random_state=0)


def by_grid(grid: list[int], n_folds: int) -> Any:
    from sklearn.model_selection import GridSearchCV

    return GridSearchCV(learner(), {"max_splits": grid}, cv=n_folds)


def by_halving(grid: list[int]) -> Any:
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    return HalvingGridSearchCV(learner(), {"max_splits": grid}, cv=5, random_state=0)


def sizes(n_rows: int, spacing: str, grid: list[int]) -> Case:
    X, y = rows(n_rows, 0)
    fresh, truth = rows(N_FRESH, 1)

    @cache
    def error(size: int) -> float:
        model = learner().set_params(max_splits=size).fit(X, y)
        return float((model.predict(fresh) != truth).mean())

    def searched(make: Callable[[], Any]) -> Callable[[], Any]:
        make()  # fails here if it cannot be imported
        return lambda: make().fit(X, y)

    def judge(search: Any) -> Quality:
        size = search.best_params_["max_splits"]
        best = min(error(other) for other in grid)
        return Quality(error(size), f"{size} splits, regret {error(size) - best:.4f}")

    searches: dict[str, tuple[Callable[[], Any], str | None]] = {
        "offsample ExpectedErrorSearch": (partial(by_forecast, grid), None),
        "scikit-learn GridSearchCV, 10 folds": (partial(by_grid, grid, 10), "scikit-learn"),
        "scikit-learn GridSearchCV, 3 folds": (partial(by_grid, grid, 3), "scikit-learn"),
        "scikit-learn HalvingGridSearchCV, 5 folds": (partial(by_halving, grid), "scikit-learn"),
    }
    return Case(
        f"{len(grid)} sizes from {grid[0]} to {grid[-1]:,} splits ({spacing}), {n_rows:,} rows",
        [Tool(name, partial(searched, make), peer, judge) for name, (make, peer) in searches.items()],
        f"error on {N_FRESH:,} fresh rows",
        "lower",
        N_FRESH,
    )


@topic(
    "expected_error",
    "Choosing a model size",
    "One forecast of the error of the best of a class of so many hypotheses; then twenty numbers of splits "
    "of one tree learner, chosen by forecasts and by cross-validation on the same rows. *regret*: the error "
    "on fresh rows less that of the best of the twenty.",
    peers={
        "scikit-learn": "Use `GridSearchCV` when configurations differ in more than their size, when the "
        "score is not the error, or when time is no matter; halving, when there are very many "
        "configurations.",
    },
    patience=6.0,
)
def cases(small: bool) -> Iterator[Case]:
    for name, arguments in {
        "log|H| = 2^64 ln 2, n = 10^4, 1,025 atoms": (1024, 2**64 * np.log(2), 10**4),
        "log|H| = 1024 ln 2, n = 10^4, 1,025 atoms": (1024, 1024 * np.log(2), 10**4),
        "log|H| = 50, n = 10^4, 1,025 atoms": (1024, 50.0, 10**4),
        "log|H| = 10^6, n = 10^5, 2,001 atoms": (2000, 1e6, 10**5),
    }.items():
        yield Case(
            f"forecast, {name}",
            [
                Tool(
                    "offsample expected_error",
                    partial(forecast, *arguments),
                    quality=lambda found: found.mean,
                )
            ],
            "forecast error",
            "lower",
        )
    for spacing, grid in GRIDS.items():
        yield sizes(500, spacing, grid[:4]) if small else sizes(100_000, spacing, grid)
