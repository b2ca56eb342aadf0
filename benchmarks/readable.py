"""Models that can be read, of four sizes, on every table with classes: error, size, CPU, coverage."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks._frame import MEASURED, Case, Tool, topic
from benchmarks._learners import attempted, n_rows
from benchmarks._measure import Quality
from benchmarks._trees_real import text_columns
from offsample.datasets import load
from offsample.induction import DecisionListClassifier, TreeClassifier

# By name, in turn: of the tables below 10,000 rows, choices were made on every other one; the others, and the
# larger ones, were looked at afterwards.
CHOSEN_ON = [
    "anneal",
    "balance_scale",
    "breast_wisconsin",
    "cmc",
    "german_credit",
    "heart_cleveland",
    "heart_statlog",
    "hypothyroid",
    "iris",
    "labor",
    "madelon",
    "mushroom",
    "pima",
    "promoters",
    "solar_flare2",
    "splice",
    "vote",
    "wine",
    "vowel",  # a mistake was found on it
]
OTHERS = [
    "adult",
    "amazon_employee_access",
    "arrhythmia",
    "autos",
    "breast_cancer_ljubljana",
    "car",
    "dermatology",
    "ecoli",
    "glass",
    "haberman",
    "heart_hungarian",
    "hepatitis",
    "ionosphere",
    "letter",
    "lymphography",
    "midwest_survey",
    "nursery",
    "optdigits",
    "page_blocks",
    "pendigits",
    "postoperative",
    "satimage",
    "sick",
    "soybean",
    "tae",
    "tic_tac_toe",
    "traffic_violations_12k",
    "zoo",
]
SIZES: tuple[int | None, ...] = (4, 8, 12, None)
N_SPLITS = 1
OURS, OF_DEPTH = "offsample tree", "offsample tree, as deep as optimal ones"
# The largest table, in rows: for a run that has less time.
MAX_ROWS = int(os.environ.get("READABLE_ROWS", "50000"))

Make = Callable[[int | None], Any]


def table(name: str) -> tuple[Any, Any]:
    """Columns and classes, without classes of fewer than three rows."""
    import pandas as pd

    data = load(name)
    y = np.asarray(data.y).astype(str)
    often = pd.Series(y).map(pd.Series(y).value_counts()).to_numpy() >= 3
    return data.X[often].reset_index(drop=True), y[often]


# --- learners: from a size, None for any, to a learner with fit and predict -------------------------------


def one_hot(X: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer(
        (encoder, text_columns(X)), remainder=SimpleImputer(keep_empty_features=True)
    )


def cart(size: int | None) -> Any:
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.tree import DecisionTreeClassifier

    sizes: list[int | None] = [
        n for n in (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512) if size is None or n <= size
    ]
    sizes += [None] if size is None else []
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": sizes}, cv=folds)


def imodels(name: str, limit: str, size: int | None) -> Any:
    import imodels as package

    return getattr(package, name)(**{limit: size or 128})


class Ripper:
    """Rules for the rarer of two classes."""

    def __init__(self, size: int | None) -> None:
        from wittgenstein import RIPPER

        self._rules = RIPPER(max_rules=size, random_state=0)

    def fit(self, X: Any, y: Any) -> Ripper:
        """Learn; refuse more than two classes."""
        self._classes, counts = np.unique(y, return_counts=True)
        if len(self._classes) != 2:
            raise ValueError(f"{len(self._classes)} classes: RIPPER expects two")
        self._rarer = int(counts.argmin())
        self._rules.fit(X, y == self._classes[self._rarer], pos_class=True)
        self.size_ = len(self._rules.ruleset_.rules)
        return self

    def predict(self, X: Any) -> Any:
        """Class of each row."""
        found = np.asarray(self._rules.predict(X), bool)
        return np.where(found, self._classes[self._rarer], self._classes[1 - self._rarer])


# Depths of trees that have so many leaves at most.
DEPTHS = {4: 2, 8: 3, 12: 4, None: 4}


def cut_at(column: Any) -> Any:
    """Where a number is cut for trees of yes and no: at all of a few values, or at four quantiles."""
    values = np.unique(column)
    cuts = values if len(values) <= 5 else np.unique(np.quantile(column, (0.2, 0.4, 0.6, 0.8)))
    return cuts[cuts < values[-1]]


class Optimal:
    """Trees of least training error to a depth, of one-hot columns and of ``x <= t`` for numbers."""

    def __init__(self, package: str, size: int | None) -> None:
        depth = DEPTHS[size]
        if package == "pystreed":
            from pystreed import STreeDClassifier

            self._learner = STreeDClassifier(max_depth=depth, max_num_nodes=(size or 16) - 1, time_limit=60)
        else:
            from gosdt import GOSDTClassifier, _classifier
            from sklearn.utils.validation import check_array

            # gosdt 1.0.4 calls an option by a name that scikit-learn no longer knows.
            _classifier.check_array = lambda X, force_all_finite=True, **options: check_array(
                X, ensure_all_finite=force_all_finite, **options
            )
            self._learner = GOSDTClassifier(depth_budget=depth, regularization=0.01, time_limit=60)

    def fit(self, X: Any, y: Any) -> Optimal:
        """Learn from numbers of classes."""
        self._cuts = [cut_at(column) for column in np.asarray(X, float).T]
        self._classes, codes = np.unique(y, return_inverse=True)
        self._learner.fit(self._below(X), codes)
        found = self._learner
        is_gosdt = hasattr(found, "trees_")
        self.size_ = str(found.trees_[0].tree).count("prediction") if is_gosdt else found.get_n_leaves()
        return self

    def predict(self, X: Any) -> Any:
        """Class of each row."""
        return self._classes[np.asarray(self._learner.predict(self._below(X)), int)]

    def _below(self, X: Any) -> Any:
        pairs = zip(np.asarray(X, float).T, self._cuts, strict=True)
        return np.column_stack([column[:, None] <= cuts for column, cuts in pairs]).astype(int)


def oblique_peer(size: int | None) -> Any:
    from stree import Stree

    # Its depth counts the root: a tree of depth 3 has at most four leaves.
    return Stree(max_depth=None if size is None else int(np.log2(size)) + 1, random_state=0)


def boosted_terms(_: int | None) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, outer_bags=2, random_state=0)


LEARNERS: dict[str, tuple[Make, str | None]] = {
    OURS: (lambda size: TreeClassifier(max_size=size), None),
    OF_DEPTH: (lambda size: TreeClassifier(max_size=size or 16, max_depth=DEPTHS[size]), None),
    "offsample list": (lambda size: DecisionListClassifier(max_size=size), None),
    "CART, leaves by 5 folds": (cart, "scikit-learn"),
    "FIGS": (partial(imodels, "FIGSClassifier", "max_rules"), "imodels"),
    "GreedyTree": (partial(imodels, "GreedyTreeClassifier", "max_leaf_nodes"), "imodels"),
    "RIPPER": (Ripper, "wittgenstein"),
    "STreeD": (partial(Optimal, "pystreed"), "pystreed"),
    "GOSDT": (partial(Optimal, "gosdt"), "gosdt"),
    "STree": (oblique_peer, "STree"),
    "EBM": (boosted_terms, "interpret"),
}
_ANY_SIZE = {"EBM"}


def model_size(model: Any) -> float:
    """Leaves or rules, as far as the model says."""
    found = getattr(model, "best_estimator_", model)
    if hasattr(found, "size_"):
        return float(found.size_)
    if hasattr(found, "get_n_leaves"):
        return float(found.get_n_leaves())
    if hasattr(found, "nodes_leaves"):
        return float(found.nodes_leaves()[1])
    return float(getattr(found, "complexity_", np.nan))


def divided(make: Make, sizes: Sequence[int | None], is_ours: bool, data: Callable[[], Any]) -> Any:
    """A call that fits and judges a learner of each size in each division."""
    from sklearn.model_selection import StratifiedShuffleSplit

    make(None)  # a package that is missing says so before anything is read
    X, y = data()
    divisions = list(StratifiedShuffleSplit(N_SPLITS, test_size=1 / 3, random_state=0).split(X, y))
    tables = []
    for train, test in divisions:
        known, new = (X.iloc[rows].reset_index(drop=True) for rows in (train, test))
        encoder = None if is_ours else one_hot(X).fit(known)
        tables.append([known, new] if is_ours else [encoder.transform(one) for one in (known, new)])

    def run() -> Quality:
        found = []  # error, size, seconds and coverage for each size of a model
        for size in sizes:
            of_size = []
            for (train, test), (known, new) in zip(divisions, tables, strict=True):
                started = time.process_time()
                model = make(size).fit(known, y[train])
                seconds = time.process_time() - started
                error = float((np.asarray(model.predict(new)) != y[test]).mean())
                of_size.append((error, model_size(model), seconds, covers(model, error, len(test))))
            found.append(np.mean(of_size, axis=0))
        said = [
            f"{_called(size)} {one[0]:.3f} ({one[1]:.2g})" for size, one in zip(sizes, found, strict=True)
        ]
        return Quality(
            float(found[-1][0]), "; ".join(said), tuple(np.round(np.concatenate(found), 4).tolist())
        )

    return run


def covers(model: Any, error: float, n_new: int) -> float:
    """Whether the interval of a model holds the error, of which few rows tell; -1 where there is none."""
    if not hasattr(model, "estimated_error_interval_"):
        return -1.0
    low, high = model.estimated_error_interval_
    slack = 2 * np.sqrt(max(error * (1 - error), 0.25 / n_new) / n_new)
    return float(low - slack <= error <= high + slack)


def _called(size: int | None) -> str:
    return "any size" if size is None else f"at most {size}"


def means(cases: list[dict[str, Any]], used: bool) -> dict[str, dict[str, Any]]:
    """By learner and table: error, size, seconds and coverage of each size."""
    found: dict[str, dict[str, Any]] = {}
    for case in cases:
        name = case["name"].split(" ")[0]
        for one in case["measurements"] if (name in CHOSEN_ON) == used else ():
            if one["status"] == MEASURED:
                found.setdefault(one["tool"], {})[name] = np.reshape(one["details"], (-1, 4))
    return found


def summary(cases: list[dict[str, Any]]) -> list[str]:
    """Mean errors, of tables that were looked at once and of those that choices were made on."""
    lines = []
    for used, what in ((False, "not used for any choice"), (True, "that choices were made on")):
        found = means(cases, used)
        for place, size in enumerate(SIZES):
            said = []
            for tool, of_table in found.items():
                rows = [
                    one[place - len(SIZES)] for one in of_table.values() if len(one) >= len(SIZES) - place
                ]
                if rows:
                    error, leaves, seconds, covered = np.mean(rows, axis=0)
                    holds = f", interval holds in {covered:.0%}" if covered >= 0 else ""
                    of = f"size {leaves:.2g}, {seconds:.2g} s{holds}, {len(rows)} tables"
                    said.append(f"{tool} {error:.4f} ({of})")
            if said:
                lines.append(f"Tables {what}, {_called(size)}: {'; '.join(said)}.")
    return lines


def figures(cases: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean error against mean size, on tables that no choice was made on."""
    import matplotlib.pyplot as plt

    found = means(cases, used=False)
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for learner, of_table in found.items():
        if of_table.keys() == found[OURS].keys():
            error, size = np.mean(list(of_table.values()), axis=0)[:, :2].T
            if learner in _ANY_SIZE:
                axes.axhline(error[-1], color="0.5", ls="--", label=f"{learner}, of any size")
            else:
                axes.plot(size, error, "o-", label=learner, lw=2 if learner == OURS else 1)
    axes.set(xlabel="size: leaves or rules", ylabel="error on new rows")
    axes.locator_params(nbins=4)
    if axes.lines:
        axes.legend()
    figure.tight_layout()
    return {"readable": figure}


@topic(
    "readable",
    "Models that can be read",
    "Errors on a third of the rows, of models of at most 4, 8 and 12 leaves or rules and of any size. "
    "Optimal trees have depths of 2, 3, 4 and 4 there, and so has one of ours. Peers get one-hot columns, "
    "optimal trees also whether a number is at most each of four quantiles. "
    "CPU is that of `fit` alone. EBM has two outer bags, not 14, which take many times as long. Tables that "
    "choices were made on are told apart: by name in turn, every other one below 10,000 rows. The smallest "
    "come first, and `READABLE_ROWS=210` leaves out larger ones, as in this run: ten tables, six of them not "
    "used for a choice, each divided once, so that means differ by several points by chance. **Not to be "
    "read from this run:** optimal trees, which had numbers only as bins without an order, and one-hot "
    "columns that were binned again: with thresholds, as they get now, they err less. STree's depth, which "
    "counts the root, left it a single class at size 4. Folds of our own trees are dealt otherwise now.",
    peers={
        "scikit-learn": "Use `DecisionTreeClassifier` with a grid of sizes where an interval is not needed.",
        "imodels": "Use FIGS where a sum of small trees can be read.",
        "wittgenstein": "Use RIPPER where rules for one class are wanted.",
        "pystreed": "Use it where the tree must be optimal on the sample to a depth.",
        "gosdt": "Use it where the tree must be optimal on the sample for a price per leaf.",
        "STree": "Use it where tests of several columns at once can be read.",
        "interpret": "Use EBM where curves of single columns can be read: the ceiling of accuracy here.",
    },
    packages=("imodels", "wittgenstein", "pystreed", "gosdt", "STree", "interpret-core"),
    patience=0.0,
    limit=120.0,
    summary=summary,
    figures=figures,
)
def cases(small: bool) -> Iterator[Case]:
    found = []
    for name in ("iris", "labor") if small else sorted((*CHOSEN_ON, *OTHERS)):
        data = attempted(partial(table, name))
        n = n_rows(data)
        if n is None or n <= MAX_ROWS:
            found.append((n or 0, name, data))
    for n, name, data in sorted(found, key=lambda one: one[:2]):
        tools = []
        for learner, (make, peer) in LEARNERS.items():
            sizes = (None,) if learner in _ANY_SIZE else SIZES
            call = partial(divided, make, sizes, peer is None, data)
            tools.append(Tool(learner, call, peer, lambda found: found, timed=False))
        used = "used for choices" if name in CHOSEN_ON else "not used"
        yield Case(f"{name} ({used})", tools, "error", "lower", n)
