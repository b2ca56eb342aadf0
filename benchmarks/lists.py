"""Lists of at most 4, 8 and 12 rules beside those of imodels and wittgenstein, on tables of two classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._frame import MEASURED, Case, Tool, topic
from benchmarks._learners import attempted, n_rows
from benchmarks._measure import Quality
from benchmarks.readable import CHOSEN_ON, Ripper, imodels, one_hot, table
from offsample.induction import DecisionListClassifier, DNFClassifier

TABLES = (
    "breast_cancer_ljubljana",
    "breast_wisconsin",
    "german_credit",
    "haberman",
    "heart_hungarian",
    "heart_statlog",
    "hepatitis",
    "ionosphere",
    "labor",
    "mushroom",
    "pima",
    "promoters",
    "sick",
    "tic_tac_toe",
    "vote",
)
SIZES = (4, 8, 12)
OURS = "offsample list"
# Larger tables are sampled down to this, a third of which is new.
MOST_ROWS = 2000
# Rules of three tests were made the default on these.
USED = (*CHOSEN_ON, "tic_tac_toe")


class Irep(Ripper):
    """The same by IREP, without optimisation."""

    def __init__(self, size: int | None) -> None:
        from wittgenstein import IREP

        self._rules = IREP(max_rules=size, random_state=0)


LEARNERS: dict[str, tuple[Callable[[int], Any], str | None]] = {
    OURS: (lambda size: DecisionListClassifier(max_size=size), None),
    "offsample DNF": (lambda size: DNFClassifier(max_size=size), None),
    "imodels GreedyRuleList": (partial(imodels, "GreedyRuleListClassifier", "max_depth"), "imodels"),
    "imodels FIGS": (partial(imodels, "FIGSClassifier", "max_rules"), "imodels"),
    "wittgenstein RIPPER": (Ripper, "wittgenstein"),
    "wittgenstein IREP": (Irep, "wittgenstein"),
}


def some_rows(name: str) -> tuple[Any, Any]:
    X, y = table(name)
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return X.iloc[rows].reset_index(drop=True), y[rows]


def divided(make: Callable[[int], Any], peer: str | None, data: Callable[[], Any]) -> Callable[[], Quality]:
    """A call that fits lists of each size to two thirds of the rows, and judges them on the others."""
    from sklearn.model_selection import StratifiedShuffleSplit

    make(SIZES[0])  # a package that is missing says so before anything is read
    X, y = data()
    last = np.unique(y)[-1]

    def run() -> Quality:
        found = []
        divisions = StratifiedShuffleSplit(2 if len(y) < 1000 else 1, test_size=1 / 3, random_state=0)
        for train, new in divisions.split(X, y):
            parts = [X.iloc[rows].reset_index(drop=True) for rows in (train, new)]
            if peer == "imodels":  # it takes numbers, and classes 0 and 1
                encoder = one_hot(X).fit(parts[0])
                parts = [encoder.transform(part) for part in parts]
            classes = (y == last).astype(int) if peer == "imodels" else y
            found.append(
                [
                    np.mean(
                        np.asarray(make(size).fit(parts[0], classes[train]).predict(parts[1])) != classes[new]
                    )
                    for size in SIZES
                ]
            )
        errors = np.mean(found, axis=0)
        said = ", ".join(f"{error:.3f} of {size}" for size, error in zip(SIZES, errors, strict=True))
        return Quality(float(errors[-1]), said, tuple(errors.tolist()))

    return run


def summary(cases: list[dict[str, Any]]) -> list[str]:
    """Mean errors by size, beside ours on the same tables; those that choices were made on apart."""
    lines = []
    for used, what in ((False, "not used for any choice"), (True, "that choices were made on")):
        found = [
            {one["tool"]: one["details"] for one in case["measurements"] if one["status"] == MEASURED}
            for case in cases
            if (case["name"].split(" ")[0] in USED) == used
        ]
        for tool in LEARNERS:
            both = [(one[tool], one[OURS]) for one in found if tool in one and OURS in one]
            if both:
                theirs, ours = np.mean(both, axis=0)
                means = ", ".join(f"{error:.4f}" for error in theirs)
                beside = "" if tool == OURS else f"; ours there {', '.join(f'{error:.4f}' for error in ours)}"
                lines.append(f"- {tool}: {means} with at most 4, 8, 12 ({len(both)} tables {what}){beside}")
    return ["\n".join(lines)]


@topic(
    "lists",
    "Lists of equal size",
    "Errors on a third of the rows (of at most 2,000) of lists and formulas of at most 4, 8 and 12 rules, on "
    "tables of two classes; of two random divisions below 1,000 rows. imodels gets one-hot columns.",
    peers={
        "imodels": "Use FIGS where a sum of small trees may be read as well as rules.",
        "wittgenstein": "Use RIPPER where rules for one class are wanted.",
    },
    packages=("pandas", "imodels", "wittgenstein"),
    limit=120.0,
    summary=summary,
)
def cases(small: bool) -> Iterator[Case]:
    for name in ("labor",) if small else TABLES:
        data = attempted(partial(some_rows, name))
        tools = [
            Tool(label, partial(divided, make, peer, data), peer, lambda found: found, timed=False)
            for label, (make, peer) in LEARNERS.items()
        ]
        used = "used for choices" if name in USED else "not used"
        yield Case(f"{name} ({used})", tools, "error", "lower", n_rows(data))
