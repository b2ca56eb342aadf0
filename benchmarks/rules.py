"""Rule learners: against imodels and scikit-learn's tree, on text, and the kernels they count with.

Run ``OFFSAMPLE_DATA=… python -m benchmarks.rules [kernels|dnf|tables|text|program]``. Seconds are of one CPU.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._timing import print_versions
from offsample.induction import (
    BranchingProgramClassifier,
    DecisionListClassifier,
    DNFClassifier,
    TreeClassifier,
)
from offsample.induction.conditions import BitIndex

DATA = Path(os.environ.get("OFFSAMPLE_DATA", "data"))


def seconds(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def kernels() -> None:
    """Counts of tests, and of pairs of them, per class: bits against Boolean numpy."""
    rng = np.random.default_rng(0)
    n_tests, n_rows = 500, 10_000
    truth = rng.random((n_tests, n_rows)) < 0.1
    y = rng.integers(0, 2, n_rows).astype(np.int32)
    index = BitIndex(truth)
    classes = [y == 0, y == 1]
    index.counts(y, 2)
    index.pair_counts(y, 2, 0, 2)
    ours = min(seconds(lambda: index.counts(y, 2))[0] for _ in range(20))
    theirs = min(seconds(lambda: [np.count_nonzero(truth & k, axis=1) for k in classes])[0] for _ in range(3))
    print(f"{n_tests} tests, {n_rows:,} rows: {ours:.2g} s, numpy {theirs:.2g} s, {theirs / ours:.0f}×")
    ours = min(seconds(lambda: index.pair_counts(y, 2, 0, n_tests))[0] for _ in range(3))
    some = range(0, n_tests, 50)
    theirs, _ = seconds(
        lambda: [np.count_nonzero(truth[a] & truth[a + 1 :] & k, axis=1) for k in classes for a in some]
    )
    theirs *= n_tests / len(some)
    print(f"all pairs: {ours:.3f} s, numpy {theirs:.2f} s (from a tenth of them), {theirs / ours:.0f}×")


def dnf() -> None:
    """Three terms over 20 bits, 10,000 rows, 5 % label noise: accuracy against the clean truth."""
    print(
        "literals per term, accuracy against the clean truth of 20,000 new rows (least of 10), seconds (most)"
    )
    DNFClassifier().fit(np.eye(20, dtype=int), np.arange(20) % 2)  # compile
    for length in (3, 4, 5):
        results = [_dnf_problem(seed, length, lambda: DNFClassifier()) for seed in range(10)]
        print(f"DNF   {length}  {min(a for a, _ in results):.4f}  {max(t for _, t in results):.3f}")
    from sklearn.tree import DecisionTreeClassifier

    results = [
        _dnf_problem(seed, 4, lambda: DecisionTreeClassifier(max_leaf_nodes=16, random_state=0))
        for seed in range(10)
    ]
    print(f"tree of 16 leaves  4  {min(a for a, _ in results):.4f}  {max(t for _, t in results):.3f}")


def _dnf_problem(seed: int, length: int, make: Callable[[], Any]) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    terms = [(rng.choice(20, length, replace=False), rng.integers(0, 2, length)) for _ in range(3)]

    def truth(X: Any) -> Any:
        return np.any([(X[:, columns] == signs).all(axis=1) for columns, signs in terms], axis=0).astype(int)

    X = rng.integers(0, 2, (10_000, 20))
    y = truth(X) ^ (rng.random(len(X)) < 0.05)
    model = make()
    taken, _ = seconds(model.fit, X, y)
    new = rng.integers(0, 2, (20_000, 20))
    return float((model.predict(new) == truth(new)).mean()), taken


def _table(name: str) -> tuple[Any, Any, Any]:
    import pandas as pd

    X = pd.read_parquet(DATA / f"{name}.parquet")
    y = X.pop("target").astype(str).to_numpy()
    if "split" in X:
        train = X.pop("split").to_numpy() == "train"
    else:
        train = np.random.default_rng(0).random(len(y)) < 2 / 3
    return X, y, train


def tables() -> None:
    """Fit time, size and test error on adult and mushroom; the peers get one-hot columns."""
    print(f"{'table':10} {'learner':42} {'fit s':>8} {'size':>5} {'test error':>10} {'estimated':>9}")
    for name in ("mushroom", "adult"):
        X, y, train = _table(name)
        for model in (
            DecisionListClassifier(),
            DecisionListClassifier(literals=3),
            DecisionListClassifier(strategy="cover", min_coverage=50),
            DNFClassifier(),
            DNFClassifier(value_sets=True),
            BranchingProgramClassifier(),
            TreeClassifier(),
        ):
            model.fit(X[train].head(200), y[train][:200])  # compile
            taken, _ = seconds(model.fit, X[train], y[train])
            size = len(model.rules_) if hasattr(model, "rules_") else int(model.tree_.is_leaf.sum())
            _row(
                name, repr(model), taken, size, 1 - model.score(X[~train], y[~train]), model.estimated_error_
            )
        _peers(name, X, y, train)


def _row(
    name: str, learner: str, taken: float, size: Any, error: float, estimated: float | None = None
) -> None:
    shown = "" if estimated is None else f"{estimated:9.4f}"
    learner = learner.replace("Classifier", "").replace("\n", " ")
    print(f"{name:10} {learner[:42]:42} {taken:8.2f} {size!s:>5} {error:10.4f} {shown}", flush=True)


def _peers(name: str, X: Any, y: Any, train: Any) -> None:
    import pandas as pd
    from sklearn.tree import DecisionTreeClassifier

    numbers = pd.get_dummies(X, dummy_na=False).fillna(-1).astype(float)
    numbers.columns = [f"c{i}" for i in range(numbers.shape[1])]
    codes = (y == np.unique(y)[1]).astype(int)
    for leaves in (8, 16, 64):
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)
        taken, _ = seconds(tree.fit, numbers[train], codes[train])
        _row(
            name,
            f"scikit-learn tree, {leaves} leaves",
            taken,
            leaves,
            1 - tree.score(numbers[~train], codes[~train]),
        )
    try:
        from imodels import FIGSClassifier, GreedyRuleListClassifier, RuleFitClassifier
    except ImportError:
        print("(imodels is not installed)")
        return
    for model, size in (
        (FIGSClassifier(max_rules=16), 16),
        (GreedyRuleListClassifier(max_depth=8), 8),
        (RuleFitClassifier(max_rules=30, random_state=0), 30),
    ):
        try:
            taken, _ = seconds(model.fit, numbers[train], codes[train])
            error = float((model.predict(numbers[~train]) != codes[~train]).mean())
            _row(name, f"imodels {type(model).__name__}", taken, size, error)
        except Exception as problem:  # a peer that fails is a result, too
            print(f"{name:10} imodels {type(model).__name__}: {type(problem).__name__}: {str(problem)[:60]}")


def text() -> None:
    """Reuters, topic earn: 9,603 texts, 500 words by document frequency, rules of two words."""
    import pandas as pd
    from sklearn.feature_extraction.text import CountVectorizer

    documents = pd.read_parquet(DATA / "reuters21578.parquet")
    documents = documents[documents.split.isin(["train", "test"])]
    train = (documents.split == "train").to_numpy()
    y = np.array(["earn" if "earn" in topics else "other" for topics in documents.topics])
    vectorizer = CountVectorizer(max_features=500, binary=True, stop_words="english")
    vectorizer.fit(documents.text[train])
    X = vectorizer.transform(documents.text)
    names = vectorizer.get_feature_names_out()
    print(f"{train.sum():,} texts, {X.shape[1]} words, {(~train).sum():,} test texts")
    DecisionListClassifier().fit(X[:50], y[:50])  # compile
    for model in (
        DecisionListClassifier(),
        DecisionListClassifier(strategy="cover", min_coverage=20),
        DecisionListClassifier(strategy="consistent", min_coverage=20, stopping="holdout"),
        DecisionListClassifier(criterion="matsushita", stopping="none", max_size=40),
    ):
        taken, _ = seconds(model.fit, X[train], y[train])
        _row(
            "earn",
            repr(model),
            taken,
            len(model.rules_),
            1 - model.score(X[~train], y[~train]),
            model.estimated_error_,
        )
        if len(model.rules_) <= 12:
            print(model.to_text(names))


def program() -> None:
    """Branching program against a tree of as many nodes."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (20_000, 12))
    problems = {
        "sum of 9 bits >= 5": (X[:, :9].sum(axis=1) >= 5).astype(int),
        "sum of 9 bits mod 3 = 0": (X[:, :9].sum(axis=1) % 3 == 0).astype(int),
        "4 of 9 bits, 5 % noise": (X[:, :9].sum(axis=1) >= 4) ^ (rng.random(len(X)) < 0.05),
    }
    new = rng.integers(0, 2, (20_000, 12))
    truth = {
        "sum of 9 bits >= 5": new[:, :9].sum(axis=1) >= 5,
        "sum of 9 bits mod 3 = 0": new[:, :9].sum(axis=1) % 3 == 0,
        "4 of 9 bits, 5 % noise": new[:, :9].sum(axis=1) >= 4,
    }
    print("error against the truth; nodes of both, those that predict included")
    for name, y in problems.items():
        for size in (15, 31, 63):
            model = BranchingProgramClassifier(criterion="matsushita", stopping="none", max_size=size).fit(
                X, y
            )
            nodes = model.n_nodes_
            tree = DecisionTreeClassifier(max_leaf_nodes=max(2, (nodes + 1) // 2), random_state=0).fit(X, y)
            ours = float((model.predict(new) != truth[name]).mean())
            theirs = float((tree.predict(new) != truth[name]).mean())
            print(
                f"{name:26} {nodes:3} nodes: program {ours:.4f}, tree {theirs:.4f} ({tree.tree_.node_count})"
            )


if __name__ == "__main__":
    print_versions("offsample", "numpy", "numba", "scikit-learn")
    parts = {f.__name__: f for f in (kernels, dnf, tables, text, program)}
    for part in sys.argv[1:] or parts:
        print(f"\n{part}: {parts[part].__doc__}")
        parts[part]()
