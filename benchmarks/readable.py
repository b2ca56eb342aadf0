"""Models that can be read, of four sizes, beside their peers: ``python -m benchmarks readable [TABLE …]``.

Trees, lists and oblique trees of at most 4, 8 and 12 leaves or rules and of any size, on every shared table
with classes below `READABLE_ROWS` rows (5,000 unless it is set). Tables that no choice was made on come
first, the smallest first. A third of the rows is new, in three divisions below 1,000 rows.

Every learner works in a process of its own, which is ended after `LIMIT` seconds; the sizes that it came to
count. What peers do is kept in a directory for temporary files (or ``READABLE``), so that only ours is fitted
again; ``--record`` keeps one line per table in ``results/readable.json``, and goes on where it ended.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._frame import RESULTS
from benchmarks._trees_real import text_columns
from offsample.datasets import load
from offsample.induction import DecisionListClassifier, StochasticTreeClassifier, TreeClassifier
from papers._files import draw

RECORD = RESULTS / "readable.json"
TITLE, FIGURE = "Models that can be read", "readable.svg"
MEASURED = (
    "Errors on a third of the rows, of models of at most 4, 8 and 12 leaves or rules and of any size; "
    "three divisions below 1,000 rows. FIGS has as many tests as a tree of the size. Each learner stands "
    "beside our tree on the tables and sizes that it came to, with the number of tables where its error "
    "is lower or higher. Optimal trees have depths of 2, 3, 4 and 4, and so has one of ours; STree's is "
    "the largest with no more leaves than asked for. All peers but RIPPER, which takes two classes, get "
    "one-hot columns, optimal trees also whether a number is at most each of four quantiles. CPU is that "
    "of `fit` alone. EBM has two outer bags, not 14. A learner is ended after 60 seconds per table, an "
    "optimal tree after 10. An interval holds an error that lies within two standard errors of it. **To "
    "read:** FIGS where a sum of small trees can be read, RIPPER for rules of one class, STreeD and GOSDT"
    " where the tree must be optimal on the sample, STree where tests of several columns can, EBM where "
    "curves of single columns can."
)

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
OURS, OF_DEPTH = "offsample tree", "offsample tree, as deep as optimal ones"
# Seconds that a learner may take for all sizes and divisions of a table; an optimal tree alone.
LIMIT, OPTIMAL_LIMIT = 60.0, 10

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

            self._learner = STreeDClassifier(
                max_depth=depth, max_num_nodes=(size or 16) - 1, time_limit=OPTIMAL_LIMIT
            )
        else:
            from gosdt import GOSDTClassifier, _classifier
            from sklearn.utils.validation import check_array

            # gosdt 1.0.4 calls an option by a name that scikit-learn no longer knows.
            _classifier.check_array = lambda X, force_all_finite=True, **options: check_array(
                X, ensure_all_finite=force_all_finite, **options
            )
            self._learner = GOSDTClassifier(depth_budget=depth, regularization=0.01, time_limit=OPTIMAL_LIMIT)

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
    from stree import Siterator, Stree

    class Finished(Stree):
        """Leaves that its largest depth cut off vote: in 1.4.2 they say the first class."""

        def fit(self, X: Any, y: Any) -> Any:
            super().fit(X, y)
            for node in Siterator(self.tree_):
                node.make_predictor(self.n_classes_)
            return self

    # Its depth counts the root: a tree of depth 3 has at most four leaves.
    return Finished(max_depth=None if size is None else int(np.log2(size)) + 1, random_state=0)


def boosted_terms(_: int | None) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, outer_bags=2, random_state=0)


# From a name to what makes it, and the distribution it is of; None for ours.
LEARNERS: dict[str, tuple[Make, str | None]] = {
    OURS: (lambda size: TreeClassifier(max_size=size), None),
    OF_DEPTH: (lambda size: TreeClassifier(max_size=size or 16, max_depth=DEPTHS[size]), None),
    "offsample list": (lambda size: DecisionListClassifier(max_size=size), None),
    "offsample oblique tree": (lambda size: StochasticTreeClassifier(max_size=size), None),
    "CART, leaves by 5 folds": (cart, "scikit-learn"),
    "FIGS": (lambda size: imodels("FIGSClassifier", "max_rules", size and size - 1), "imodels"),
    "GreedyTree": (partial(imodels, "GreedyTreeClassifier", "max_leaf_nodes"), "imodels"),
    "RIPPER": (Ripper, "wittgenstein"),
    "STreeD": (partial(Optimal, "pystreed"), "pystreed"),
    "GOSDT": (partial(Optimal, "gosdt"), "gosdt"),
    "STree": (oblique_peer, "STree"),
    "EBM": (boosted_terms, "interpret-core"),
}
_ANY_SIZE, _RAW = {"EBM"}, {"RIPPER"}


def model_size(model: Any) -> float:
    """Leaves or rules, as far as the model says."""
    found = getattr(model, "best_estimator_", model)
    if hasattr(found, "size_"):
        return float(found.size_)
    if hasattr(found, "n_splits_"):
        return float(found.n_splits_ + 1)
    if hasattr(found, "get_n_leaves"):
        return float(found.get_n_leaves())
    if hasattr(found, "nodes_leaves"):
        return float(found.nodes_leaves()[1])
    return float(getattr(found, "complexity_", -1.0)) + 1.0  # of FIGS, its tests; as many leaves has one tree


def covers(model: Any, error: float, n_new: int) -> float:
    """Whether the interval of a model holds the error, of which few rows tell; -1 where there is none."""
    if not hasattr(model, "estimated_error_interval_"):
        return -1.0
    low, high = model.estimated_error_interval_
    slack = 2 * np.sqrt(max(error * (1 - error), 0.25 / n_new) / n_new)
    return float(low - slack <= error <= high + slack)


# --- a learner on a table ---------------------------------------------------------------------------------


def judged(make: Make, size: int | None, X: Any, y: Any, *, encoded: bool, covered: bool) -> list[float]:
    """Mean error, size, seconds of `fit` and, if asked for, coverage over the divisions of a table."""
    from sklearn.model_selection import StratifiedShuffleSplit

    found = []
    for train, test in StratifiedShuffleSplit(
        3 if len(y) < 1000 else 1, test_size=1 / 3, random_state=0
    ).split(X, y):
        known, new = (X.iloc[rows].reset_index(drop=True) for rows in (train, test))
        if encoded:
            encoder = one_hot(X).fit(known)
            known, new = encoder.transform(known), encoder.transform(new)
        started = time.process_time()
        model = make(size).fit(known, y[train])
        seconds = time.process_time() - started
        error = float((np.asarray(model.predict(new)) != y[test]).mean())
        found.append((error, model_size(model), seconds, covers(model, error, len(test))))
    return [float(f"{value:.4g}") for value in np.mean(found, axis=0)[: 4 if covered else 3]]


def _each_size(pipe: Any, learner: str, X: Any, y: Any) -> None:
    """Send what a learner does at each size, and in words why there is no more."""
    make, peer = LEARNERS[learner]
    warnings.simplefilter("ignore")
    try:
        for size in [None] if learner in _ANY_SIZE else SIZES:
            encoded = peer is not None and learner not in _RAW
            pipe.send(judged(make, size, X, y, encoded=encoded, covered=peer is None))
    except Exception as error:  # a learner that fails is a result, too
        pipe.send(f"{type(error).__name__}: {' '.join(str(error).split())[:60]}")
    pipe.send(None)


def measured(learner: str, X: Any, y: Any, limit: float = LIMIT) -> list[Any]:
    """What a learner does at each size that it comes to within the limit, and last why it came no further."""
    here, there = get_context("fork").Pipe()
    process = get_context("fork").Process(target=_each_size, args=(there, learner, X, y))
    process.start()
    there.close()
    found: list[Any] = []
    end = time.monotonic() + limit
    try:
        while here.poll(max(0.0, end - time.monotonic())):
            if (one := here.recv()) is None:
                return found
            found.append(one)
        found.append(f"more than {limit:g} s")
    except EOFError:
        found.append("the process ended")
    finally:
        process.kill()
        process.join()
    return found


def kept(name: str, learner: str, X: Any, y: Any) -> list[Any]:
    """What a peer does, from the directory where that is kept if it is there; ours is fitted again."""
    if LEARNERS[learner][1] is None:
        return measured(learner, X, y)
    folder = Path(os.environ.get("READABLE", Path(tempfile.gettempdir()) / "readable"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name} {learner}.json"
    if not path.exists():
        path.write_text(json.dumps(measured(learner, X, y)))
    found: list[Any] = json.loads(path.read_text())
    return found


# --- what is recorded ---------------------------------------------------------------------------------------

Record = dict[str, tuple[int, dict[str, list[Any]]]]  # rows, and what each learner does, by table


def recorded() -> Record:
    """What was recorded of each table."""
    if not RECORD.exists():
        return {}
    learners, *rows = json.loads(RECORD.read_text())
    return {name: (n, dict(zip(learners, found, strict=True))) for name, n, *found in rows}


def versions() -> dict[str, str]:
    """Of what each learner is of; "" for ours."""
    return {learner: version(peer) if peer else "" for learner, (_, peer) in LEARNERS.items()}


def record(known: Record) -> None:
    """Write a line per table, below the learners and their versions."""
    rows = [versions(), *([name, n, *found.values()] for name, (n, found) in known.items())]
    lines = (json.dumps(row, separators=(",", ":")) for row in rows)
    RECORD.write_text("[" + ",\n".join(lines) + "]\n")


def at_size(found: dict[str, list[Any]], learner: str, place: int) -> list[float] | None:
    """Numbers of a learner at a place in `SIZES`, if it came to it."""
    if learner in _ANY_SIZE:
        place -= len(SIZES) - 1
    some = found[learner]
    return some[place] if 0 <= place < len(some) and not isinstance(some[place], str) else None


def summary() -> Iterator[str]:
    """Mean errors beside those of our tree on the same tables, by size and kind of table."""
    known = recorded()
    for used, what in ((False, "not used for any choice"), (True, "that choices were made on")):
        tables = {name: found for name, (_, found) in known.items() if (name in CHOSEN_ON) == used}
        for place, size in enumerate(SIZES) if tables else ():
            yield f"{len(tables)} tables {what}, {_called(size)}"
            for learner in LEARNERS:
                pairs = [
                    (at_size(found, learner, place), at_size(found, OURS, place)) for found in tables.values()
                ]
                both = [(one, ours) for one, ours in pairs if one is not None and ours is not None]
                if both:
                    yield f"  {learner:40}" + _said(learner, both)
    if known:
        n = max(n for n, _ in known.values())
        yield f"The largest table has {n:,} rows. Sizes that were not come to:"
        yield from _missing(known)


def _said(learner: str, both: list[tuple[list[float], list[float]]]) -> str:
    error, size, seconds, *covered = np.mean([one for one, _ in both], axis=0)
    leaves = "" if learner in _ANY_SIZE else f"  size {size:5.1f}"
    said = f"{error:.4f}{leaves}  CPU {seconds:.2g} s"
    if covered:
        said += f"  interval holds in {covered[0]:.0%}"
    if learner == OURS:
        return said
    lead = np.array([one[0] - ours[0] for one, ours in both])
    se = lead.std() / np.sqrt(len(lead))
    return said + (
        f"  less ours {lead.mean():+.4f} ± {se:.4f} on {len(both)}: lower {(lead < 0).sum()}, "
        f"higher {(lead > 0).sum()}"
    )


def _missing(known: Record) -> Iterator[str]:
    """By learner and reason, the tables of which it did not come to all sizes."""
    for learner in LEARNERS:
        reasons: dict[str, list[str]] = {}
        for name, (_, found) in known.items():
            if found[learner] and isinstance(found[learner][-1], str):
                reason = found[learner][-1]
                reason = "more than two classes" if "expects two" in reason else reason
                reasons.setdefault(reason, []).append(name)
        for reason, names in reasons.items():
            yield f"  {learner}: {reason}: {', '.join(names)}"


def _called(size: int | None) -> str:
    return "of any size" if size is None else f"at most {size}"


def figure() -> Any:
    """Mean error against mean size, on tables that no choice was made on and all learners shown came to."""
    import matplotlib.pyplot as plt

    tables = [found for name, (_, found) in recorded().items() if name not in CHOSEN_ON]
    came = {
        learner: {
            i
            for i, found in enumerate(tables)
            if all(
                at_size(found, learner, place) is not None
                for place in range(len(SIZES))
                if learner not in _ANY_SIZE or SIZES[place] is None
            )
        }
        for learner in LEARNERS
    }
    shown = [learner for learner in LEARNERS if len(came[learner]) > 0.75 * len(tables)]
    common = set.intersection(*(came[learner] for learner in shown)) if shown else set()
    drawn, axes = plt.subplots(figsize=(7, 4.5))
    for learner in shown if common else ():
        places = range(len(SIZES) - 1 if learner in _ANY_SIZE else 0, len(SIZES))
        error, size = np.array(
            [np.mean([at_size(tables[i], learner, place)[:2] for i in common], axis=0) for place in places]
        ).T
        if learner in _ANY_SIZE:
            axes.axhline(error[-1], color="0.5", ls="--", label=f"{learner}, of any size")
        else:
            axes.plot(size, error, "o-", label=learner, lw=2 if learner == OURS else 1)
    axes.set(
        xlabel="size: leaves or rules",
        ylabel=f"error on new rows, mean of {len(common)} tables",
        xscale="log",
    )
    if axes.lines:
        axes.legend(fontsize="small")
    drawn.tight_layout()
    return drawn


def main(arguments: list[str]) -> None:
    """Measure the tables that are asked for, and print what they say together."""
    keeps, asked = "--record" in arguments, [word for word in arguments if word != "--record"]
    most = int(os.environ.get("READABLE_ROWS", "5000"))
    known, data = recorded() if keeps else {}, {}
    for name in asked or [*OTHERS, *CHOSEN_ON]:
        data[name] = table(name)
        if len(data[name][1]) >= most and not asked:
            del data[name]
    for name in sorted(data, key=lambda name: (name in CHOSEN_ON, len(data[name][1]), name)):
        X, y = data[name]
        if name not in known:
            known[name] = len(y), {learner: kept(name, learner, X, y) for learner in LEARNERS}
        if keeps:
            record(known)
        said = (
            f"{learner} {' '.join(one if isinstance(one, str) else f'{one[0]:.3f}' for one in found)}"
            for learner, found in known[name][1].items()
        )
        print(f"{name} ({len(y)}): {'; '.join(said)}", flush=True)
    if keeps:
        draw(figure(), RESULTS / Path(FIGURE).stem)
