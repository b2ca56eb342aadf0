"""Stochastic linear trees beside oblique trees of others.

treeple 0.10 needs scikit-learn < 1.8, hence an environment of its own (``make bench`` makes it)::

    python -m venv peers && peers/bin/pip install -e ".[bench-treeple]"
    peers/bin/python -m benchmarks stochastic_trees
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._frame import Case, Tool, topic
from benchmarks._learners import Split, accuracy, attempted, fitting, n_rows
from benchmarks._measure import Quality
from offsample.datasets import load, make_oblique_xor
from offsample.induction import StochasticTreeClassifier

SEEDS = (0, 1, 2)
REAL = ("ionosphere", "pima", "breast_wisconsin", "vowel", "page_blocks")
Make = Callable[[int], Callable[[], Any]]


# --- learners by the number of columns; each imports its package -------------------------------------------


def ours(_: int, **options: Any) -> Callable[[], Any]:
    return lambda: StochasticTreeClassifier(**options)


def cart(_: int) -> Callable[[], Any]:
    from sklearn.tree import DecisionTreeClassifier

    return lambda: DecisionTreeClassifier(max_depth=10, random_state=0)


def linear_svc(_: int) -> Callable[[], Any]:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    return lambda: make_pipeline(StandardScaler(), LinearSVC())


def polynomial(_: int) -> Callable[[], Any]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    return lambda: make_pipeline(
        StandardScaler(), PolynomialFeatures(2), StandardScaler(), LogisticRegression(max_iter=300)
    )


def treeple(d: int) -> Callable[[], Any]:
    from treeple.tree import ObliqueDecisionTreeClassifier

    return lambda: ObliqueDecisionTreeClassifier(max_features=10 * d, random_state=0)


def stree(_: int) -> Callable[[], Any]:
    from stree import Stree

    return lambda: Stree(kernel="liblinear", multiclass_strategy="ovr", random_state=0, max_iter=10_000)


LEARNERS: dict[str, tuple[Make, str | None]] = {
    "offsample, default": (ours, None),
    "offsample, threshold 0.5": (partial(ours, threshold=0.5), None),
    "offsample, as published": (partial(ours, threshold="prior", rescale=False, lookahead=False), None),
    "scikit-learn tree, depth 10": (cart, "scikit-learn"),
    "scikit-learn LinearSVC": (linear_svc, "scikit-learn"),
    "scikit-learn polynomial(2) + logistic": (polynomial, "scikit-learn"),
    "treeple oblique tree, 10d projections": (treeple, "treeple"),
    "STree": (stree, "STree"),
}


def xor(d: int, n: int) -> Case:
    """Figure 3 of the paper."""
    splits = []
    for seed in SEEDS:
        X, y = make_oblique_xor(2 * n, d, seed)
        splits.append(Split(X[:n], y[:n], X[n:], y[n:]))

    def prepared(make: Make) -> Callable[[], Any]:
        return fitting(make(d), splits)

    return Case(
        f"xor of two oblique hyperplanes, {n:,} × {d}",
        [
            Tool(name, partial(prepared, make), peer, accuracy)
            for name, (make, peer) in LEARNERS.items()
            if "threshold" not in name
        ],
        "accuracy",
        "higher",
        n * len(SEEDS),
    )


def numbers(name: str) -> tuple[Any, Any]:
    found = load(name)
    X = found.X.select_dtypes("number").fillna(0).to_numpy(float)
    return X, np.asarray(found.y).astype(str)


def real(name: str) -> Case:
    from sklearn.model_selection import StratifiedKFold

    data = attempted(partial(numbers, name))

    def prepared(make: Make) -> Callable[[], Any]:
        X, y = data()
        learner = make(X.shape[1])
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))

        def run() -> Quality:
            right = [learner().fit(X[train], y[train]).predict(X[test]) == y[test] for train, test in folds]
            return Quality(float(np.mean([part.mean() for part in right])))

        return run

    return Case(
        f"real: {name}, 5-fold cross-validation",
        [
            Tool(label, partial(prepared, make), peer, lambda found: found)
            for label, (make, peer) in LEARNERS.items()
        ],
        "accuracy",
        "higher",
        n_rows(data),
    )


def large(n: int, d: int) -> Case:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0).astype(np.int64)
    splits = [Split(X, y, X[: n // 10], y[: n // 10])]
    some = ("offsample, default", "offsample, as published")

    def prepared(make: Make) -> Callable[[], Any]:
        return fitting(make(d), splits)

    return Case(
        f"{n:,} × {d}, {X.nbytes / 2**20:,.0f} MB, at most 50 splits",
        [Tool(name, partial(prepared, LEARNERS[name][0]), quality=accuracy, repeats=1) for name in some],
        "training accuracy",
        "higher",
        n // 10,
    )


@topic(
    "stochastic_trees",
    "Stochastic linear trees",
    "Accuracy on as many new rows (each of three repeats has data of its own), and five-fold "
    "cross-validation on real data with numeric columns; peak memory on a million rows.",
    peers={
        "scikit-learn": "Where a straight line or a polynomial of degree two is right, a linear model is "
        "better and far cheaper; where boundaries follow the axes, or there are many classes, an ordinary "
        "tree is.",
        "treeple": "Use it for several classes and for forests of oblique trees.",
        "STree": "Use it for several classes and small tables: it solves a support vector machine in each "
        "node.",
    },
    packages=("pandas", "treeple", "stree"),
    patience=6.0,
)
def cases(small: bool) -> Iterator[Case]:
    for d in (6,) if small else (6, 10, 20, 30):
        yield xor(d, 300 if small else 10_000)
    for name in ("pima",) if small else REAL:
        yield real(name)
    yield large(2000, 5) if small else large(1_000_000, 50)
