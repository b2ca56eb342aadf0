"""Stochastic linear trees on tables of numbers: beside tuned trees, linear models and STree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._frame import MEASURED, Case, Tool, topic
from benchmarks._learners import attempted, n_rows
from benchmarks._measure import Quality
from benchmarks.readable import CHOSEN_ON
from benchmarks.readable import cart as tuned_cart
from offsample.datasets import load
from offsample.induction import StochasticTreeClassifier

TABLES = (
    "balance_scale",
    "breast_wisconsin",
    "ecoli",
    "glass",
    "haberman",
    "ionosphere",
    "iris",
    "letter",
    "optdigits",
    "page_blocks",
    "pendigits",
    "pima",
    "satimage",
    "vowel",
    "wine",
)
# Larger tables are sampled down to this, a third of which is new.
MOST_ROWS = 1500
OURS = "offsample, default"
CART, LINEAR = "scikit-learn tree, leaves by 5 folds", "scikit-learn logistic regression"


def table(name: str) -> tuple[Any, Any]:
    """The numeric columns with means for missing numbers, without classes of fewer than three rows."""
    data = load(name)
    numbers = data.X.select_dtypes("number")
    X, y = numbers.fillna(numbers.mean()).to_numpy(float), np.asarray(data.y).astype(str)
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    values, counts = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], values[counts > 2])]
    return X[rows], y[rows]


def logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def stree() -> Any:
    from stree import Stree

    return Stree(kernel="liblinear", multiclass_strategy="ovr", random_state=0, max_iter=10_000)


LEARNERS: dict[str, tuple[Callable[[], Any], str | None]] = {
    OURS: (StochasticTreeClassifier, None),
    "offsample, as published": (partial(StochasticTreeClassifier, published=True), None),
    CART: (partial(tuned_cart, None), "scikit-learn"),
    LINEAR: (logistic, "scikit-learn"),
    "STree": (stree, "STree"),
}


def divided(make: Callable[[], Any], data: Callable[[], Any]) -> Callable[[], Quality]:
    """A call that learns from two thirds and is judged on the others: accuracy, log loss and calibration."""
    from sklearn.model_selection import train_test_split

    make()  # a package that is missing says so before anything is read
    X, y = data()

    def run() -> Quality:
        found = []
        for seed in range(2 if len(y) < 1000 else 1):
            train, new = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=seed, stratify=y)
            model = make().fit(X[train], y[train])
            right = np.asarray(model.predict(X[new])) == y[new]
            found.append([right.mean(), *_of_probabilities(model, X[new], y[new])])
        accuracy, loss, off = np.mean(found, axis=0)
        note = "" if np.isnan(loss) else f"log loss {loss:.3f}, deciles off by {off:.3f}"
        details = (float(accuracy), *(() if np.isnan(loss) else (float(loss), float(off))))
        return Quality(float(accuracy), note, details)

    return run


def _of_probabilities(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Log loss, and by how much tenths of the rows, by the probability of the likeliest class, are off."""
    if not hasattr(model, "predict_proba") or type(model).__name__ == "Stree":
        return np.nan, np.nan
    p = np.clip(model.predict_proba(X), 1e-3, None)
    p /= p.sum(axis=1, keepdims=True)
    own = np.searchsorted(model.classes_, y)
    order = np.argsort(p.max(axis=1), kind="stable")
    right = p.argmax(axis=1) == own
    tenths = [
        abs(float(p[part].max(axis=1).mean() - right[part].mean())) for part in np.array_split(order, 10)
    ]
    return float(-np.log(p[np.arange(len(y)), own]).mean()), float(np.mean(tenths))


def summary(cases: list[dict[str, Any]]) -> list[str]:
    """Means by learner, of tables that choices were made on and of others, and the least lead of ours."""
    lines = []
    for used, what in ((False, "not used for any choice"), (True, "that choices were made on")):
        scores: dict[str, dict[str, list[float]]] = {}
        for case in cases:
            name = case["name"].split(" ")[0]
            for one in case["measurements"] if (name in CHOSEN_ON) == used else ():
                if one["status"] == MEASURED:
                    scores.setdefault(one["tool"], {})[name] = one["details"]
        if OURS not in scores:
            continue
        for tool, of_table in scores.items():
            means = np.mean(list(of_table.values()), axis=0)
            more = f", log loss {means[1]:.3f}, deciles off by {means[2]:.3f}" if len(means) > 1 else ""
            lines.append(f"- {tool}: accuracy {means[0]:.4f}{more} ({len(of_table)} tables {what})")
        peers = [scores[peer] for peer in (CART, LINEAR) if peer in scores]
        behind = {
            name: max(peer[name][0] for peer in peers if name in peer) - own[0]
            for name, own in scores[OURS].items()
            if any(name in peer for peer in peers)
        }
        far = [f"{name} ({gap:.3f})" for name, gap in behind.items() if gap > 0.01]
        lines.append(
            f"- tables {what} where ours is more than a point below the better of tuned tree and logistic "
            f"regression: {', '.join(far) or 'none'}, of {len(behind)}"
        )
    return ["\n".join(lines)]


@topic(
    "stochastic_tables",
    "Stochastic linear trees on tables of numbers",
    f"Accuracy on a third of at most {MOST_ROWS:,} rows, of two random divisions where there are fewer than "
    "1,000; log loss of probabilities (at least .001), and by how much tenths of the rows, by the "
    "probability of the likeliest class, are off on average.",
    peers={
        "scikit-learn": "Where a straight line is right, a linear model is cheaper; where boundaries follow "
        "the axes, a tree is.",
        "STree": "Use it for small tables: it solves a support vector machine in each node.",
    },
    packages=("pandas", "stree"),
    summary=summary,
)
def cases(small: bool) -> Iterator[Case]:
    for name in ("iris",) if small else TABLES:
        data = attempted(partial(table, name))
        tools = [
            Tool(label, partial(divided, make, data), peer, lambda found: found, timed=False)
            for label, (make, peer) in LEARNERS.items()
        ]
        used = "used for choices" if name in CHOSEN_ON else "not used"
        yield Case(f"{name} ({used})", tools, "accuracy", "higher", n_rows(data))
