"""What an audit costs beside the search that it audits and beside nested cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._frame import Case, Tool, topic
from benchmarks._measure import Quality

GRID = {"max_depth": [1, 2, 3, 4, 6, 8, None], "min_samples_leaf": [1, 2, 4, 8, 16, 32]}
N_FRESH = 20_000


class Problem:
    """A sample, fresh rows of the same law, the search on the sample, and the truth about its winner."""

    def __init__(self, n_rows: int, seed: int) -> None:
        from sklearn.datasets import make_classification
        from sklearn.model_selection import GridSearchCV
        from sklearn.tree import DecisionTreeClassifier

        X, y = make_classification(n_rows + N_FRESH, 10, flip_y=0.2, random_state=seed)
        self.X, self.y = X[:n_rows], y[:n_rows]
        self.search = GridSearchCV(DecisionTreeClassifier(random_state=0), GRID, cv=5)
        self.search.fit(self.X, self.y)
        self.truth = self.search.score(X[n_rows:], y[n_rows:])


def audited(problems: list[Problem], with_rows: bool) -> Callable[[], list[float]]:
    from offsample import audit_search

    if with_rows:
        return lambda: [audit_search(p.search, p.X, p.y).corrected for p in problems]
    return lambda: [audit_search(p.search).corrected for p in problems]


def nested(problems: list[Problem]) -> Callable[[], list[float]]:
    from sklearn.model_selection import cross_val_score

    return lambda: [float(cross_val_score(p.search, p.X, p.y, cv=5).mean()) for p in problems]


def searched(problems: list[Problem]) -> Callable[[], list[float]]:
    from sklearn.base import clone

    return lambda: [float(clone(p.search).fit(p.X, p.y).best_score_) for p in problems]


def claims(n_rows: int, n_problems: int) -> Case:
    problems = [Problem(n_rows, seed) for seed in range(n_problems)]
    truths = np.array([problem.truth for problem in problems])

    def judge(claimed: list[float]) -> Quality:
        gaps = np.array(claimed) - truths
        return Quality(float(np.abs(gaps).mean()), f"bias {gaps.mean():+.4f}")

    return Case(
        f"{n_problems} searches of 42 trees on {n_rows:,} rows",
        [
            Tool("offsample audit_search, fold scores", partial(audited, problems, False), quality=judge),
            Tool("offsample audit_search, with rows", partial(audited, problems, True), quality=judge),
            Tool("the search itself, its best score", partial(searched, problems), "no correction", judge),
            Tool(
                "scikit-learn, nested cross-validation",
                partial(nested, problems),
                "nested cross-validation",
                judge,
            ),
        ],
        "mean distance to the accuracy on fresh rows",
        "lower",
    )


def large_tables(small: bool) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    sizes = [(20, 10)] if small else [(100, 10), (10_000, 10), (1000, 5000)]

    def bootstrapped(losses: NDArray[np.float64]) -> Callable[[], Any]:
        from offsample.assessment._correctors import bootstrap

        return lambda: bootstrap(losses)

    for n_configurations, n_units in sizes:
        what = "folds" if n_units < 100 else "rows"
        losses = rng.random((n_configurations, n_units))
        yield Case(
            f"{n_configurations:,} configurations × {n_units:,} {what}",
            [Tool("offsample, bootstrap of the choice", partial(bootstrapped, losses))],
        )
    from offsample.assessment import optimism_probability, optimism_probability_folds

    exact: dict[str, Callable[[], Any]] = {
        "10^6 rows, 5·10^5 labels": lambda: optimism_probability(10**6, 850_000, 500_000, 75_300),
        "10 folds of 10^5 rows, 3·10^4 labels": lambda: optimism_probability_folds(
            10, 100_000, 85_000, 30_000, 45_100
        ),
    }
    for name, call in exact.items():
        yield Case(f"exact probability, {name}", [Tool("offsample", lambda call=call: call)])


@topic(
    "optimism",
    "Optimism of a search",
    "A grid search has been made; what does it take to correct its best score, and how far is the result "
    "from the accuracy of the chosen configuration on fresh rows? Then the cost of the parts on large "
    "tables.",
    peers={
        "nested cross-validation": "Use it when you can pay for as many searches as there are folds, and "
        "want an estimate that assumes nothing about how scores vary.",
        "no correction": "Where configurations differ much, or rows are many, the best score is hardly "
        "optimistic and needs no correction; the audit says so.",
    },
    patience=5.0,
)
def cases(small: bool) -> Iterator[Case]:
    yield from (claims(100, 1),) if small else (claims(n, 6) for n in (200, 1000))
    yield from large_tables(small)
