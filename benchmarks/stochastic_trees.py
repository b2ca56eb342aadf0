"""`python -m benchmarks.stochastic_trees [xor|real|large]`: stochastic linear trees beside their peers.

CPU seconds of fit and predict, and accuracy on rows that were not seen. treeple and STree are compared where
they are installed; treeple 0.10 needs scikit-learn < 1.8, hence an environment of its own::

    python -m venv peers && peers/bin/pip install "scikit-learn<1.8" treeple stree pandas pyarrow -e .
    peers/bin/python -m benchmarks.stochastic_trees xor
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from offsample.datasets import make_oblique_xor
from offsample.induction import StochasticTreeClassifier

SEEDS = (0, 1, 2)
REAL = ("ionosphere", "pima", "breast_wisconsin", "vowel", "page_blocks")


def peers(d: int) -> dict[str, Callable[[], Any]]:
    """Learners by name; a peer that cannot be imported is left out."""
    found: dict[str, Callable[[], Any]] = {
        "ours": lambda: StochasticTreeClassifier(),
        "published": lambda: StochasticTreeClassifier(rescale=False, lookahead=False),
        "CART, depth 10": lambda: DecisionTreeClassifier(max_depth=10, random_state=0),
        "LinearSVC": lambda: make_pipeline(StandardScaler(), LinearSVC()),
        "polynomial(2) + logistic": lambda: make_pipeline(
            StandardScaler(), PolynomialFeatures(2), StandardScaler(), LogisticRegression(max_iter=300)
        ),
    }
    for name, module, make in (
        (
            "treeple, 10d projections",
            "treeple.tree",
            lambda m: m.ObliqueDecisionTreeClassifier(max_features=10 * d, random_state=0),
        ),
        (
            "STree",
            "stree",
            lambda m: m.Stree(kernel="liblinear", multiclass_strategy="ovr", random_state=0, max_iter=10_000),
        ),
    ):
        try:
            loaded = importlib.import_module(module)
        except Exception as error:  # a broken peer is reported, whatever broke
            print(f"{name}: not importable ({type(error).__name__}: {str(error)[:90]})")
            continue
        found[name] = lambda make=make, loaded=loaded: make(loaded)
    return found


def _timed(model: Any, X: Any, y: Any, X_new: Any, y_new: Any) -> tuple[float, float, float]:
    start = time.process_time()
    model.fit(X, y)
    fitted = time.process_time()
    accuracy = float((model.predict(X_new) == y_new).mean())
    return accuracy, fitted - start, time.process_time() - fitted


def xor() -> None:
    """Figure 3 of the paper: accuracy, and CPU seconds."""
    print(f"xor of two oblique hyperplanes, n = 10,000, new rows 10,000, mean of {len(SEEDS)} seeds")
    StochasticTreeClassifier().fit(*make_oblique_xor(500, 6))  # imports
    for d in (6, 10, 20, 30):
        print(f"d = {d:<24}{'accuracy':>10}{'fit':>9}{'predict':>9}")
        for name, make in peers(d).items():
            runs = []
            for seed in SEEDS:
                X, y = make_oblique_xor(20_000, d, seed)
                runs.append(_timed(make(), X[:10_000], y[:10_000], X[10_000:], y[10_000:]))
            accuracy, fit, predict = np.mean(runs, axis=0)
            print(f"  {name:<26}{accuracy:>10.3f}{fit:>8.2f}s{predict:>8.3f}s", flush=True)


def real() -> None:
    """Five numeric data sets in 5-fold cross-validation."""
    import pandas as pd

    folder = Path(os.environ.get("OFFSAMPLE_DATA") or "../shared/data")
    print("real data: accuracy in 5-fold cross-validation (CPU seconds of a fit)")
    for name in REAL:
        table = pd.read_parquet(folder / f"{name}.parquet").drop(columns="split", errors="ignore")
        y = table.pop("target").astype(str).to_numpy()
        X = table.select_dtypes("number").fillna(0).to_numpy(float)
        print(f"{name}: {X.shape[0]} rows, {X.shape[1]} columns, {len(set(y))} classes")
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
        learners = peers(X.shape[1])
        learners["ours, argmax"] = lambda: StochasticTreeClassifier(threshold=0.5)
        for label, make in learners.items():
            runs = [_timed(make(), X[train], y[train], X[test], y[test]) for train, test in folds]
            accuracy, fit, _ = np.mean(runs, axis=0)
            print(f"  {label:<26}{accuracy:>8.3f} ({fit:.2f} s)", flush=True)


def large() -> None:
    """A million rows: time and memory of fifty splits."""
    rng = np.random.default_rng(0)
    n, d = 10**6, 50
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0).astype(np.int64)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        f"n = {n:,}, d = {d}: X takes {X.nbytes / 1e6:.0f} MB, the process {before / 1e6:.0f} MB before fit"
    )
    for name, options in (("default", {}), ("published", {"rescale": False, "lookahead": False})):
        start, wall = time.process_time(), time.perf_counter()
        tree = StochasticTreeClassifier(**options).fit(X, y)
        cpu, wall = time.process_time() - start, time.perf_counter() - wall
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(
            f"  {name}: {len(tree.path_) - 1} splits, {tree.n_splits_} kept, {cpu:.1f} s CPU, "
            f"{wall:.1f} s wall, peak {peak / X.nbytes:.2f} times X (X and the interpreter included), "
            f"accuracy {tree.score(X[:100_000], y[:100_000]):.3f}",
            flush=True,
        )


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("xor", "real", "large", "all"), default="all")
    part = parser.parse_args().part
    for package in ("numpy", "scikit-learn", "treeple", "stree"):
        try:
            print(package, version(package), end="  ")
        except PackageNotFoundError:
            print(package, "not installed", end="  ")
    print("\n")
    for name, run in (("xor", xor), ("real", real), ("large", large)):
        if part in (name, "all"):
            run()
            print()


if __name__ == "__main__":
    main()
