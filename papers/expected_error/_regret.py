"""Ten data sets: what choosing the size of a tree, or the coverage of a list, costs in error and in time.

The regret of a search is the error on test rows of the size that it chooses less that of the best size for
these rows. 300 rows are learned from, so that the size matters.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample import DecisionListClassifier, ExpectedErrorSearch, TreeClassifier
from offsample.datasets import load
from papers._experiments import Claim, Outcome, experiment, verdict
from papers._table import format_table
from papers.expected_error._drawing import STYLES, finished, new_figure
from papers.expected_error._languages import DecisionLists

__all__ = ["DATASETS", "as_bits", "lists_regret", "problem", "trees_regret"]

Floats = NDArray[np.float64]

DATASETS = (
    "german_credit", "pima", "car", "tic_tac_toe", "vote", "breast_wisconsin", "heart_statlog", "splice",
    "sick", "nursery",
)  # fmt: skip
SPLITS = (1, 2, 4, 8, 16, 32, 64)
COVERAGES = (1, 2, 4, 8, 16, 32)
OURS, FORECAST, GRID, HALVING = "auto", "forecast", "grid, 10-fold", "halving"


def as_bits(frame: Any, train: NDArray[np.intp]) -> NDArray[np.int8]:
    """A column per value of a category, and two per fifth of a number: at most, and more."""
    import pandas as pd

    columns: list[Any] = []
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and column.nunique() > 2:
            numbers = column.to_numpy(dtype=float)
            for cut in np.unique(np.nanquantile(numbers[train], [0.2, 0.4, 0.6, 0.8])):
                columns += [numbers > cut, numbers <= cut]
        else:
            values = np.array([str(value) for value in column])
            names, counts = np.unique(values[train], return_counts=True)
            columns += [values == value for value in names[np.argsort(-counts, kind="stable")[:8]]]
    return np.column_stack(columns).astype(np.int8)


def problem(name: str, seed: int, n_train: int, n_test: int) -> tuple[Any, Any, Any, Any]:
    """A random part of a data set to learn from, and another to test on; rare classes left out."""
    data = load(name)
    y = np.asarray(data.y.astype(str))
    values, counts = np.unique(y, return_counts=True)
    # Ten folds need ten rows of each class in the part that is learned from, and not by chance alone.
    common = np.isin(y, values[counts * min(n_train, len(y) // 2) >= 20 * len(y)])
    order = np.random.default_rng(seed).permutation(np.flatnonzero(common))
    n_train = min(n_train, len(order) // 2)
    return data.X, y, order[:n_train], order[n_train : n_train + n_test]


@dataclass(frozen=True)
class Regrets:
    """Regrets (data sets × splits) and CPU seconds of each search, and the least error."""

    regret: dict[str, Floats]
    cpu: dict[str, Floats]
    least: Floats


def measure(
    names: Sequence[str],
    n_splits: int,
    prepare: Callable[[str, int], tuple[Any, Any, Any, Any]],
    searches: Callable[[Any, Any], dict[str, Any]],
    learner: Any,
    parameter: str,
    values: Sequence[int],
) -> Regrets:
    """Run all searches on several splits of each data set."""
    from sklearn.base import clone

    shape = (len(names), n_splits)
    regret: dict[str, Floats] = {}
    cpu: dict[str, Floats] = {}
    least = np.empty(shape)
    for row, name in enumerate(names):
        for split in range(n_splits):
            X, y, fresh, truth = prepare(name, split)
            errors = {
                value: float(
                    (clone(learner).set_params(**{parameter: value}).fit(X, y).predict(fresh) != truth).mean()
                )
                for value in values
            }
            least[row, split] = min(errors.values())
            for label, search in searches(X, y).items():
                start = time.process_time()
                search.fit(X, y)
                cpu.setdefault(label, np.empty(shape))[row, split] = time.process_time() - start
                chosen = search.best_params_[parameter]
                regret.setdefault(label, np.empty(shape))[row, split] = errors[chosen] - least[row, split]
    return Regrets(regret, cpu, least)


def _outcome(found: Regrets, names: Sequence[str], what: str) -> Outcome:
    n_splits = found.least.shape[1]
    labels = list(found.regret)
    rows = []
    for row, name in enumerate(names):
        cells = []
        for label in labels:
            lost = found.regret[label][row]
            cells += [f"{lost.mean():.4f} ± {_error(lost):.4f}", f"{found.cpu[label][row].mean():.2f}"]
        paired = [found.regret[label][row] - found.regret[GRID][row] for label in (OURS, FORECAST)]
        shown = [f"{x.mean():+.4f} ± {_error(x):.4f}" for x in paired]
        rows.append([name, f"{found.least[row].mean():.3f}", *cells, *shown])
    over = {label: found.regret[label].mean(axis=1) for label in labels}  # a mean per data set
    totals = [x for label in labels for x in (f"{over[label].mean():.4f} ± {_error(over[label]):.4f}",
                                              f"{found.cpu[label].sum(axis=0).mean():.1f}")]  # fmt: skip
    ends = [over[label] - over[GRID] for label in (OURS, FORECAST)]
    rows.append(["mean / sum", "", *totals, *(f"{x.mean():+.4f} ± {_error(x):.4f}" for x in ends)])
    header = ["data", "least error", *(x for label in labels for x in (label, "CPU s")),
              f"{OURS} less grid", f"{FORECAST} less grid"]  # fmt: skip
    note = f"± standard error over {n_splits} splits, of the last row over data sets; differences are paired."
    claims = [
        _claim(found, over, label, other, what) for label in (OURS, FORECAST) for other in (GRID, HALVING)
    ]
    figure, ax = new_figure()
    for style, label in zip(STYLES, labels, strict=False):
        seconds = found.cpu[label].sum(axis=0).mean()
        ax.errorbar(
            [seconds], [over[label].mean()], yerr=[_error(over[label])], label=label, capsize=3,
            color=style["color"], marker=style["marker"], markersize=8, linestyle="none",
        )  # fmt: skip
    ax.set_xscale("log")
    finished(ax, "CPU seconds for ten data sets", f"regret of choosing the {what}")
    return Outcome(claims, f"{format_table(header, rows)}\n{note}", {"": figure})


def _error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _claim(found: Regrets, over: dict[str, Floats], label: str, other: str, what: str) -> Claim:
    """As accurate (within two standard errors over data sets), and in a fifth of the time."""
    difference = over[label] - over[other]
    faster = found.cpu[other].sum() / found.cpu[label].sum()
    as_good = bool(difference.mean() <= 2 * _error(difference))
    # A greedy learner does not minimise its errors: there "auto" does not choose by the analysis.
    kind = (
        "the forecast"
        if label == FORECAST
        else "not the analysis but cross-validation, which auto takes here,"
    )
    source = "Sec. 3.9" if label == FORECAST else "target"
    wins = (
        ("both" if faster > 1 else "error alone") if as_good else ("time alone" if faster > 1 else "neither")
    )
    return Claim(
        f"{what}: {kind} chooses as well as {other}, in less time ({source}; criterion: regret within 2 "
        "standard errors over data sets)",
        "no number",
        f"regret {difference.mean():+.4f} ± {_error(difference):.4f}, {faster:.1f} times less CPU: {wins}",
        verdict(as_good and faster > 1),
        "" if as_good and faster > 1 else f"it holds for {wins}",
    )


def _searches(learner: Any, grid: dict[str, list[int]], forecast: Any) -> dict[str, Any]:
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV

    return {
        OURS: ExpectedErrorSearch(learner, grid, random_state=0),
        FORECAST: ExpectedErrorSearch(learner, forecast, method="forecast", n_draws=200, random_state=0),
        GRID: GridSearchCV(learner, grid, cv=10),
        HALVING: HalvingGridSearchCV(learner, grid, cv=5, random_state=0),
    }


@experiment("expected_error.trees_regret", "Choosing the splits of a tree: error and time on ten data sets")
def trees_regret(names: Sequence[str] = DATASETS, n_splits: int = 3, n_train: int = 300) -> Outcome:
    """`ExpectedErrorSearch` beside 10-fold and halving search for `max_splits`."""
    learner = TreeClassifier(stopping="none", random_state=0)
    grid = {"max_splits": list(SPLITS)}

    def prepare(name: str, split: int) -> tuple[Any, Any, Any, Any]:
        X, y, train, test = problem(name, split, n_train, 3000)
        return X.iloc[train], y[train], X.iloc[test], y[test]

    found = measure(
        names, n_splits, prepare, lambda *_: _searches(learner, grid, grid), learner, "max_splits", SPLITS
    )
    return _outcome(found, names, "number of splits")


@experiment("expected_error.lists_regret", "Choosing the coverage of a list: error and time on ten data sets")
def lists_regret(names: Sequence[str] = DATASETS, n_splits: int = 3, n_train: int = 300) -> Outcome:
    """The same for the least coverage of the rules of a 2-decision list, DL₁ of Sec. 3.8, over bits."""
    learner = DecisionListClassifier(strategy="cover")
    grid = {"min_coverage": list(COVERAGES)}

    def prepare(name: str, split: int) -> tuple[Any, Any, Any, Any]:
        X, y, train, test = problem(name, split, n_train, 3000)
        bits = as_bits(X, train)
        return bits[train], y[train], bits[test], y[test]

    def searches(X: Any, y: Any) -> dict[str, Any]:
        n = X.shape[1]
        # At most m/p rules, each a pair of bits and a class
        languages = [
            ({"min_coverage": p}, DecisionLists(n, min_coverage=p, log_size=len(y) / p * np.log(2 * n**2)))
            for p in COVERAGES
        ]
        return _searches(learner, grid, languages)

    found = measure(names, n_splits, prepare, searches, learner, "min_coverage", COVERAGES)
    return _outcome(found, names, "least coverage")
