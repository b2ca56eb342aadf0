"""The defaults of `StochasticTreeClassifier` and what else they could be, on real tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._frame import MEASURED, Case, Tool, topic
from benchmarks._learners import attempted, n_rows
from benchmarks._measure import Quality
from offsample.datasets import load
from offsample.induction import StochasticTreeClassifier

DATA = (
    "balance_scale",
    "breast_wisconsin",
    "ecoli",
    "glass",
    "ionosphere",
    "iris",
    "optdigits",
    "page_blocks",
    "pima",
    "satimage",
    "sick",
    "vowel",
    "wine",
)
SEEDS = (0, 1, 2)
# Larger tables are sampled down to this, half of which is trained on.
MOST_ROWS = 5000
COMBINED = [
    {"threshold": threshold, "leaf": leaf, "rescale": rescale}
    for rescale in (0.7, False)
    for threshold in ("tuned", 0.5, "prior")
    for leaf in ("purity", "majority")
]
DEFAULT = COMBINED[0]
OTHERS = [DEFAULT | {"rescale": steep} for steep in (True, 0.4, 1.0)] + [
    DEFAULT | {"bias": bias} for bias in (0.5, 1.0)
]


def table(name: str) -> tuple[Any, Any]:
    """The numeric columns of a data set with means for missing ones; classes of one row are left out."""
    data = load(name)
    numbers = data.X.select_dtypes("number")
    X = numbers.fillna(numbers.mean()).to_numpy(float)
    y = np.asarray(data.y).astype(str)
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    values, counts = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], values[counts > 1])]
    return X[rows], y[rows]


def halves(make: Callable[[], Any], data: Callable[[], Any]) -> Callable[[], Quality]:
    """A call that learns from one half and is judged on the other, three times."""
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import train_test_split

    X, y = data()
    model = make()

    def run() -> Quality:
        found = []
        for seed in SEEDS:
            train, new = train_test_split(np.arange(len(y)), test_size=0.5, random_state=seed, stratify=y)
            predicted = model.fit(X[train], y[train]).predict(X[new])
            found.append([(predicted == y[new]).mean(), balanced_accuracy_score(y[new], predicted)])
        accuracy, balanced = np.mean(found, axis=0)
        return Quality(float(accuracy), f"balanced {balanced:.3f}", (float(accuracy), float(balanced)))

    return run


def cart() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=10, random_state=0)


def name_of(options: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in options.items())


def real(name: str) -> Case:
    data = attempted(partial(table, name))
    tools = [
        Tool(
            name_of(options),
            partial(halves, partial(StochasticTreeClassifier, **options), data),
            quality=lambda found: found,
            timed=False,
        )
        for options in [*COMBINED, *OTHERS]
    ]
    label = "scikit-learn tree, depth 10"
    tools.append(Tool(label, partial(halves, cart, data), "scikit-learn", lambda found: found, timed=False))
    return Case(name, tools, "accuracy", "higher", n_rows(data))


def means(cases: list[dict[str, Any]]) -> list[str]:
    """Means over the data sets, and the largest loss of accuracy on one of them against the best of ours."""
    scores: dict[str, list[list[float]]] = {}
    for case in cases:
        if all(found["status"] == MEASURED for found in case["measurements"]):
            for found in case["measurements"]:
                scores.setdefault(found["tool"], []).append(found["details"])
    if not scores:
        return []
    ours = [values for tool, values in scores.items() if "scikit-learn" not in tool]
    best = np.array(ours)[:, :, 0].max(axis=0)
    lines = []
    for tool, values in scores.items():
        accuracy, balanced = np.mean(values, axis=0)
        worst = float(np.max(best - np.array(values)[:, 0]))
        lines.append(f"- {tool}: accuracy {accuracy:.3f}, balanced {balanced:.3f}, worst {worst:.3f}")
    head = (
        f"Means over {len(best)} data sets; *worst*: the largest loss on one against the best of ours there."
    )
    return [head, "\n".join(lines)]


@topic(
    "stochastic_rescale",
    "Options of stochastic linear trees",
    "Accuracy on the other half of real tables with numeric columns, three random halves each, for the "
    "default (the first) and what else the options could be; in brackets the mean of the accuracies of the "
    "classes.",
    peers={
        "scikit-learn": "Where boundaries follow the axes, or classes are many, an ordinary tree is better.",
    },
    packages=("pandas",),
    summary=means,
)
def cases(small: bool) -> Iterator[Case]:
    for name in ("iris",) if small else DATA:
        yield real(name)
