"""Rule learners beside imodels and scikit-learn's tree, on text, and the kernels that they count with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._frame import Case, Tool, topic
from benchmarks._learners import Split, accuracy, attempted, error, fitting, n_rows
from benchmarks._measure import Quality
from offsample.datasets import load
from offsample.induction import (
    BranchingProgramClassifier,
    DecisionListClassifier,
    DNFClassifier,
    TreeClassifier,
)

Make = Callable[[], Callable[[], Any]]
FIRST_SEED = 71_000


def cart(leaves: int) -> Callable[[], Any]:
    from sklearn.tree import DecisionTreeClassifier

    return lambda: DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)


def imodels(name: str, **options: Any) -> Callable[[], Any]:
    import imodels as package

    return lambda: getattr(package, name)(**options)


# --- kernels --------------------------------------------------------------------------------------------


def kernels(n_tests: int, size: int) -> Iterator[Case]:
    """Counts of tests, and of pairs of them, per class: bits against Boolean numpy."""
    from offsample.induction.rules.index import BitIndex

    rng = np.random.default_rng(0)
    truth = rng.random((n_tests, size)) < 0.1
    y = rng.integers(0, 2, size).astype(np.int32)
    classes = [y == 0, y == 1]
    index = BitIndex(truth)
    yield Case(
        f"counts of {n_tests} tests per class, {size:,} rows",
        [
            Tool("offsample, bits", lambda: lambda: index.counts(y, 2)),
            Tool(
                "numpy, Booleans",
                lambda: lambda: [np.count_nonzero(truth & k, axis=1) for k in classes],
                peer="numpy",
            ),
        ],
    )
    some = n_tests // 10
    yield Case(
        f"counts of all pairs of one test in ten with {n_tests}, {size:,} rows",
        [
            Tool("offsample, bits", lambda: lambda: index.pair_counts(y, 2, 0, some)),
            Tool(
                "numpy, Booleans",
                lambda: (
                    lambda: [
                        np.count_nonzero(truth[a] & truth[a + 1 :] & k, axis=1)
                        for k in classes
                        for a in range(some)
                    ]
                ),
                peer="numpy",
            ),
        ],
    )


# --- generated problems ----------------------------------------------------------------------------------


def dnf_split(seed: int, length: int, size: int) -> Split:
    """Three terms over 20 bits, 5 % label noise; new rows have the clean truth."""
    rng = np.random.default_rng(seed)
    terms = [(rng.choice(20, length, replace=False), rng.integers(0, 2, length)) for _ in range(3)]

    def truth(X: Any) -> Any:
        return np.any([(X[:, columns] == signs).all(axis=1) for columns, signs in terms], axis=0).astype(int)

    X, new = rng.integers(0, 2, (size, 20)), rng.integers(0, 2, (2 * size, 20))
    return Split(X, truth(X) ^ (rng.random(size) < 0.05), new, truth(new))


def share_solved(fitted: list[tuple[Any, Split]]) -> Quality:
    """Share of the problems with every new row right; in words, the worst of the others."""
    accuracies = [accuracy(one).value for one in fitted]
    solved = tuple(float(value == 1.0) for value in accuracies)
    return Quality(float(np.mean(solved)), f"least accuracy {min(accuracies):.4f}", solved)


def dnf(length: int, size: int, n_problems: int) -> Case:
    """Concepts drawn anew for each problem, with seeds that nothing was tried out on."""
    splits = [dnf_split(FIRST_SEED + i, length, size) for i in range(n_problems)]

    def prepared(make: Make) -> Callable[[], Any]:
        fit = fitting(make(), splits)
        return lambda: [fit() for _ in splits]

    learners: dict[str, tuple[Make, str | None]] = {
        "offsample DNF": (lambda: DNFClassifier, None),
        "scikit-learn tree, 16 leaves": (partial(cart, 16), "scikit-learn"),
        "imodels FIGS, 16 rules": (partial(imodels, "FIGSClassifier", max_rules=16), "imodels"),
    }
    return Case(
        f"three terms of {length} literals, {n_problems} problems of {size:,} rows, 5 % noise",
        [Tool(name, partial(prepared, make), peer, share_solved) for name, (make, peer) in learners.items()],
        "share of problems with accuracy 1.000 against the clean truth",
        "higher",
        n_problems,
    )


def program(name: str, label: Callable[[Any], Any], noise: float, max_size: int, size: int) -> Case:
    """Branching program against a tree of as many nodes."""
    rng = np.random.default_rng(0)
    X, new = rng.integers(0, 2, (size, 12)), rng.integers(0, 2, (size, 12))
    y = (label(X) ^ (rng.random(size) < noise)).astype(int)
    split = Split(X, y, new, label(new).astype(int))
    leaves = max(2, (max_size + 1) // 2)
    options = {"criterion": "matsushita", "stopping": "none", "max_size": max_size}

    def prepared(make: Make) -> Callable[[], Any]:
        return fitting(make(), [split])

    def judge(fitted: tuple[Any, Split]) -> Quality:
        model = fitted[0]
        nodes = getattr(model, "n_nodes_", None) or model.tree_.node_count
        return Quality(error(fitted).value, f"{nodes} nodes")

    return Case(
        f"{name}, at most {max_size} nodes",
        [
            Tool(
                "offsample branching program",
                partial(prepared, lambda: lambda: BranchingProgramClassifier(**options)),
                quality=judge,
            ),
            Tool("scikit-learn tree", partial(prepared, partial(cart, leaves)), "scikit-learn", judge),
        ],
        "error against the truth",
        "lower",
        size,
    )


# --- real data ------------------------------------------------------------------------------------------

TABLES: dict[str, tuple[Make, str | None]] = {
    "offsample decision list": (lambda: DecisionListClassifier, None),
    "offsample decision list, 3 literals": (lambda: lambda: DecisionListClassifier(literals=3), None),
    "offsample decision list, cover": (
        lambda: lambda: DecisionListClassifier(strategy="cover", min_coverage=50),
        None,
    ),
    "offsample DNF": (lambda: DNFClassifier, None),
    "offsample branching program": (lambda: BranchingProgramClassifier, None),
    "offsample tree": (lambda: TreeClassifier, None),
    "scikit-learn tree, 8 leaves": (partial(cart, 8), "scikit-learn"),
    "scikit-learn tree, 16 leaves": (partial(cart, 16), "scikit-learn"),
    "scikit-learn tree, 64 leaves": (partial(cart, 64), "scikit-learn"),
    "imodels FIGS, 16 rules": (partial(imodels, "FIGSClassifier", max_rules=16), "imodels"),
    "imodels GreedyRuleList, depth 8": (partial(imodels, "GreedyRuleListClassifier", max_depth=8), "imodels"),
    "imodels RuleFit, 30 rules": (
        partial(imodels, "RuleFitClassifier", max_rules=30, random_state=0),
        "imodels",
    ),
}


def table_split(name: str, one_hot: bool) -> Split:
    import pandas as pd

    found = load(name)
    X, y = found.X, np.asarray(found.y).astype(str)
    if found.split is None:
        train = np.random.default_rng(0).random(len(y)) < 2 / 3
    else:
        train = np.asarray(found.split) == "train"
    if one_hot:
        X = pd.get_dummies(X, dummy_na=False).fillna(-1).astype(float)
        X.columns = [f"c{i}" for i in range(X.shape[1])]
        y = (y == np.unique(y)[1]).astype(int)
    return Split(X[train], y[train], X[~train], y[~train])


def table(name: str) -> Case:
    plain, one_hot = (attempted(partial(table_split, name, one_hot)) for one_hot in (False, True))

    def prepared(make: Make, peer: str | None) -> Callable[[], Any]:
        return fitting(make(), [(one_hot if peer else plain)()])

    return Case(
        f"{name}; the peers get one-hot columns, made before",
        [Tool(label, partial(prepared, make, peer), peer, error) for label, (make, peer) in TABLES.items()],
        "test error",
        "lower",
        n_rows(lambda: (None, plain().y_new)),
    )


TEXT: dict[str, Callable[[], Any]] = {
    "offsample decision list": DecisionListClassifier,
    "offsample decision list, cover": lambda: DecisionListClassifier(strategy="cover", min_coverage=20),
    "offsample decision list, consistent": lambda: DecisionListClassifier(
        strategy="consistent", min_coverage=20
    ),
    "offsample decision list, Matsushita": lambda: DecisionListClassifier(
        criterion="matsushita", stopping="none", max_size=40
    ),
}


def earn() -> Split:
    """Reuters, topic earn: 500 words by document frequency."""
    from sklearn.feature_extraction.text import CountVectorizer

    found = load("reuters21578")
    split = np.asarray(found.split)
    documents, split = found.X[np.isin(split, ["train", "test"])], split[np.isin(split, ["train", "test"])]
    train = split == "train"
    y = np.array(["earn" if "earn" in topics else "other" for topics in documents.topics])
    vectorizer = CountVectorizer(max_features=500, binary=True, stop_words="english")
    vectorizer.fit(documents.text[train])
    X = vectorizer.transform(documents.text)
    return Split(X[train], y[train], X[~train], y[~train])


def text() -> Case:
    data = attempted(earn)

    def prepared(make: Make) -> Callable[[], Any]:
        return fitting(make(), [data()])

    tools = [
        Tool(name, partial(prepared, lambda make=make: make), quality=error) for name, make in TEXT.items()
    ]
    tools.append(
        Tool("scikit-learn tree, 16 leaves", partial(prepared, partial(cart, 16)), "scikit-learn", error)
    )
    return Case(
        "Reuters, topic earn, 500 words",
        tools,
        "test error",
        "lower",
        n_rows(lambda: (None, data().y_new)),
    )


@topic(
    "rules",
    "Models that read as rules",
    "The kernels that count conditions; concepts that rules can say, with noise; branching programs beside "
    "trees of as many nodes; tables (mushroom, adult) and texts, with the sizes of the models, and the error "
    "that ours estimate of themselves. Ours read categories as they are.",
    peers={
        "scikit-learn": "Use its tree when a tree may be read as well as rules, and columns are numbers.",
        "imodels": "Use FIGS when a sum of small trees may be read as well as rules, RuleFit when a sum of "
        "weighted rules may.",
        "numpy": "Use it where a condition is counted once.",
    },
    packages=("pandas", "imodels"),
    patience=6.0,
    limit=90.0,
)
def cases(small: bool) -> Iterator[Case]:
    yield from kernels(50, 500) if small else kernels(500, 10_000)
    for length in (3,) if small else (3, 4, 5):
        yield dnf(length, 500 if small else 10_000, 2 if small else 20)
    problems: dict[str, tuple[Callable[[Any], Any], float]] = {
        "sum of 9 bits >= 5": (lambda X: X[:, :9].sum(axis=1) >= 5, 0.0),
        "sum of 9 bits mod 3 = 0": (lambda X: X[:, :9].sum(axis=1) % 3 == 0, 0.0),
        "4 of 9 bits, 5 % noise": (lambda X: X[:, :9].sum(axis=1) >= 4, 0.05),
    }
    for name, (label, noise) in list(problems.items())[: 1 if small else None]:
        for max_size in (15,) if small else (15, 31, 63):
            yield program(name, label, noise, max_size, 500 if small else 20_000)
    if not small:
        yield table("mushroom")
        yield table("adult")
        yield text()
