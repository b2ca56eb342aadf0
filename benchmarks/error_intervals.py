"""Intervals of an error in others' experiments: ``python -m benchmarks.error_intervals [SECONDS] [CELL …]``.

The generators and settings of two studies, rebuilt from their descriptions. S. Bates, T. Hastie and R.
Tibshirani (2024, JASA 119) draw normal columns, some of which decide a logistic or linear target. H.
Schulz-Kümpel, S. Fischer, R. Hornung, A.-L. Boulesteix, T. Nagler and B. Bischl (2024, arXiv 2409.18836)
compare 13 methods on 19 problems: those of Bates et al. with 20 and 100 columns of which five count,
friedman1, the groups of correlated columns of Chen et al. (chen_10), and normal columns with the covariance
of tables of gene expression, whose coefficients are drawn from -3, -2, -1, -.5, 0, .5, 1, 2, 3. Their
cheap settings are used here: corrected t from 25 random splits that train on 90 %, conservative z with 10
pairs of halves and 5 splits, nested cross-validation with 5 folds three times.

What an interval has to hold is the error of the model that was learned from all rows, on 20,000 fresh rows:
a misclassification rate, or a mean squared error. Each cell (problem, learner, rows) goes on where it ended,
and ``results/error_intervals.json`` keeps sums, so that runs add up; one ends after so many CPU seconds.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn import config_context
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks._frame import RESULTS
from offsample import TreeClassifier, TreeRegressor
from offsample.assessment import audit_search
from offsample.assessment._intervals import corrected_t_interval
from offsample.datasets import load
from papers.tuning_optimism._error_intervals import nested_cv

RECORD = RESULTS / "error_intervals.json"
N_FRESH, N_TREES = 20_000, 10
Z = float(ndtri(0.975))
Sample = tuple[Any, Any]


def linear(n_columns: int, n_count: int, classes: bool, strength: float, n: int, rng: Any) -> Sample:
    """Normal columns, the first of which count alike."""
    X = rng.normal(size=(n, n_columns))
    score = strength * X[:, :n_count].sum(axis=1)
    return X, flipped(score, rng) if classes else score + rng.normal(size=n)


def flipped(score: Any, rng: Any) -> Any:
    """Classes with the odds of a logistic model."""
    return (rng.random(len(score)) < 1 / (1 + np.exp(-score))).astype(int)


def friedman1(n: int, rng: Any) -> Sample:
    """Ten uniform columns, five of which count."""
    X = rng.random((n, 10))
    a, b, c, d, e = X[:, :5].T
    return X, 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e + rng.normal(size=n)


def chen(n: int, rng: Any) -> Sample:
    """Six hidden uniform columns, three of which count; of each ten copies, ever less exact."""
    hidden = rng.random((n, 6))
    a, b, c = hidden[:, :3].T
    y = 0.25 * np.exp(4 * a) + 4 / (1 + np.exp(-20 * (b - 0.5))) + 3 * c + 0.2 * rng.normal(size=n)
    spread = 0.01 + 0.5 * np.arange(10) / 9
    return (hidden[:, :, None] + spread * rng.normal(0.3, 1, (n, 6, 10))).reshape(n, 60), y


@cache
def expression() -> tuple[Any, Any]:
    """Rows whose normal mixtures have the covariance of a table of gene expression, and coefficients."""
    X = np.asarray(load("lung_small").X, dtype=float)
    X = (X - X.mean(axis=0)) / np.sqrt(len(X) - 1)
    sizes = np.random.default_rng(42).choice([-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3], X.shape[1])
    return X, sizes / np.maximum(np.sqrt((X**2).sum(axis=0)), 1e-12)


def genes(n: int, rng: Any) -> Sample:
    """Normal columns with the covariance of gene expression; most of them count."""
    rows, sizes = expression()
    X = rng.normal(size=(n, len(rows))) @ rows
    return X, flipped(X @ sizes, rng)


PROBLEMS: dict[str, Callable[[int, Any], Sample]] = {
    "logistic, 1 of 10": partial(linear, 10, 1, True, 1.0),
    "logistic, 5 of 20": partial(linear, 20, 5, True, 1.0),
    "logistic, 5 of 100": partial(linear, 100, 5, True, 1.0),
    "linear, 5 of 100": partial(linear, 100, 5, False, 1.0),
    "friedman1": friedman1,
    "chen_10": chen,
    "gene expression": genes,
}
IS_NUMBER = {"linear, 5 of 100", "friedman1", "chen_10"}


def cart(X: Any, y: Any, number: bool, **options: Any) -> Any:
    """A tree with the least leaf, split and gain of rpart."""
    if not options:
        spread = y.var() * (1 if number else 2)  # Gini's index of two classes is twice their variance
        options = {"min_samples_split": 20, "min_samples_leaf": 7, "min_impurity_decrease": 0.01 * spread}
    return (DecisionTreeRegressor if number else DecisionTreeClassifier)(
        **{"random_state": 0, **options}
    ).fit(X, y)


class Forest:
    """A few random trees, without the checks of scikit-learn's."""

    def __init__(self, X: Any, y: Any, number: bool) -> None:
        rng = np.random.default_rng(0)
        self.trees = []
        for seed in range(N_TREES):
            rows = rng.integers(0, len(y), len(y))
            how = {"min_samples_leaf": 5, "max_features": 1 / 3} if number else {"max_features": "sqrt"}
            self.trees.append(cart(X[rows], y[rows], number, random_state=seed, **how))
        self.number = number

    def predict(self, X: Any) -> Any:
        """Predict the mean, or what most trees say."""
        votes = np.mean([tree.predict(X) for tree in self.trees], axis=0)
        return votes if self.number else (votes > 0.5).astype(int)


def ridge(X: Any, y: Any, number: bool) -> Any:
    """Linear or logistic regression with a penalty of one, as scikit-learn has it."""
    model = Ridge() if number else LogisticRegression(max_iter=1000)
    return model.fit(X, y)


def ours(X: Any, y: Any, number: bool) -> Any:
    """Our tree as it comes."""
    return (TreeRegressor() if number else TreeClassifier()).fit(X, y)


LEARNERS: dict[str, Callable[..., Any]] = {"tree": cart, "linear": ridge, "forest": Forest, "our tree": ours}
N_ROWS = (100, 500, 5000)
SHARES = {"tree": 3, "linear": 2, "forest": 1, "our tree": 2}  # of the time, for each of its cells


class Refits(NamedTuple):
    """A learner on parts of one sample."""

    learner: Callable[..., Any]
    X: Any
    y: Any
    number: bool
    rng: Any

    def losses(self, train: Any, test: Any) -> Any:
        """Losses on some rows of the model learned from others."""
        return self.loss(self.predicted(train, test), self.y[test])

    def loss(self, predicted: Any, y: Any) -> Any:
        """Squared error, or whether it is wrong."""
        return (predicted - y) ** 2 if self.number else (predicted != y).astype(float)

    def predicted(self, train: Any, test: Any) -> Any:
        """Predict some rows by the model learned from others."""
        y = self.y[train]
        if not self.number and y.min() == y.max():
            return np.full(len(test), y[0])
        return self.learner(self.X[train], y, self.number).predict(self.X[test])

    def splits(self, rows: Any, n_test: int, times: int) -> Any:
        """Mean losses of random splits of some rows."""
        orders = [self.rng.permutation(rows) for _ in range(times)]
        return np.array([self.losses(order[n_test:], order[:n_test]).mean() for order in orders])

    def out_of_fold(self, n_folds: int) -> tuple[Any, Any]:
        """Predictions by models that had not seen the row, and folds."""
        fold = self.rng.permutation(np.arange(len(self.y)) % n_folds)
        found = np.empty(len(self.y))
        for k in range(n_folds):
            found[fold == k] = self.predicted(np.flatnonzero(fold != k), np.flatnonzero(fold == k))
        return found, fold


def plain(losses: Any) -> tuple[float, float]:
    """Interval of a mean of independent losses."""
    radius = Z * losses.std(ddof=1) / math.sqrt(len(losses))
    return losses.mean() - radius, losses.mean() + radius


def conservative_z(refits: Refits, n_splits: int = 5, n_pairs: int = 10) -> tuple[float, float]:
    """Mean of random splits, with the variance of those of halves (Nadeau and Bengio 2003)."""
    n, n_test = len(refits.y), round(0.1 * len(refits.y))
    mean, squares = refits.splits(np.arange(n), n_test, n_splits).mean(), []
    for _ in range(n_pairs):
        order = refits.rng.permutation(n)
        halves = order[: n // 2], order[n // 2 : 2 * (n // 2)]
        first, second = (refits.splits(half, n_test, n_splits).mean() for half in halves)
        squares.append((first - second) ** 2 / 2)
    radius = Z * math.sqrt(float(np.mean(squares)))
    return mean - radius, mean + radius


def of_rows(refits: Refits, found: Any, fold: Any) -> tuple[float, float]:
    """Our interval of predictions out of fold, as a user has it."""
    metric, y = ("mse", refits.y) if refits.number else ("error", refits.y)
    predicted = found if refits.number else found.astype(int)
    audit = audit_search(predictions=[predicted], y=y, metric=metric, fold=fold)
    return audit.low, audit.high


def intervals(refits: Refits, learner: str) -> Iterator[tuple[str, float, float, float]]:
    """Name, ends and CPU seconds of each interval."""
    n = len(refits.y)
    start = time.process_time()
    found, fold = refits.out_of_fold(10)
    losses, learned = refits.loss(found, refits.y), time.process_time() - start
    yield "plain CV, 10 folds", *plain(losses), learned
    start = time.process_time()
    yield "our rows, 10 folds", *of_rows(refits, found, fold), learned + time.process_time() - start
    by_fold = np.array([losses[fold == k].mean() for k in range(10)])
    yield "corrected t, 10 folds", *corrected_t_interval(by_fold), learned
    if learner == "our tree":
        return
    start = time.process_time()
    splits = refits.splits(np.arange(n), round(0.1 * n), 25)
    ends = corrected_t_interval(splits, 0.95, round(0.1 * n) / (n - round(0.1 * n)))
    yield "corrected t, 25 splits", *ends, time.process_time() - start
    if learner != "linear" and n > 500:
        return
    start = time.process_time()
    yield "conservative z, 105 fits", *conservative_z(refits), time.process_time() - start
    start = time.process_time()
    error, spread = nested_cv(refits.losses, n, 5, 3, refits.rng)
    ends = error - Z * spread, error + Z * spread
    yield "nested CV, 75 fits", *ends, time.process_time() - start


def by_share(refits: Refits) -> Iterator[tuple[str, float, float, float]]:
    """Corrected t from folds and from 25 random splits that train on ever more rows."""
    n = len(refits.y)
    for k in (2, 3, 5, 10):
        start = time.process_time()
        found, fold = refits.out_of_fold(k)
        losses = refits.loss(found, refits.y)
        ends = corrected_t_interval(np.array([losses[fold == j].mean() for j in range(k)]))
        yield f"{k} folds", *ends, time.process_time() - start
    for share in (1 / 2, 2 / 3, 4 / 5, 9 / 10):
        start = time.process_time()
        n_test = round((1 - share) * n)
        found = refits.splits(np.arange(n), n_test, 25)
        ends = corrected_t_interval(found, 0.95, n_test / (n - n_test))
        yield f"25 splits, train on {share:.0%}", *ends, time.process_time() - start


def repeat(
    problem: str, learner: str, n: int, repetition: int, shares: bool
) -> Iterator[tuple[str, list[float]]]:
    """One sample: for each interval whether it holds the truth, width, CPU seconds and how far it is off."""
    place = [list(PROBLEMS).index(problem), list(LEARNERS).index(learner), n, repetition]
    rng, number = np.random.default_rng(place), problem in IS_NUMBER
    draw = PROBLEMS[problem]
    (X, y), (fresh, truths) = draw(n, rng), draw(N_FRESH, rng)
    refits = Refits(LEARNERS[learner], X, y, number, rng)
    start = time.process_time()
    model = LEARNERS[learner](X, y, number)
    fitted = time.process_time() - start
    truth = float(refits.loss(model.predict(fresh), truths).mean())
    found = list(by_share(refits) if shares else intervals(refits, learner))
    if learner == "our tree":
        found.append(("estimated_error_interval_", *model.estimated_error_interval_, fitted))
    for name, low, high, seconds in found:
        # Widths of squared errors are told in units of the truth.
        scale = truth if number else 1.0
        yield name, [low <= truth <= high, (high - low) / scale, seconds, ((low + high) / 2 - truth) / scale]


def cells() -> list[str]:
    """All of them: forests with 5,000 rows would take the time of all others together."""
    return [
        f"{problem}; {learner}; {n}"
        for n in N_ROWS
        for problem in PROBLEMS
        for learner in LEARNERS
        if not (learner == "forest" and n == 5000)
    ] + [f"{problem}; {learner}; 100; shares" for problem in PROBLEMS for learner in ("tree", "linear")]


def recorded() -> dict[str, dict[str, list[float]]]:
    """Sums over repetitions of cells and methods: how many, held, width, CPU seconds, middle less truth."""
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def record(known: dict[str, dict[str, list[float]]]) -> None:
    """Write a line for each cell."""
    parts = [f"{json.dumps(c)}:{json.dumps(known[c], separators=(',', ':'))}" for c in sorted(known)]
    RECORD.write_text("{" + ",\n".join(parts) + "}\n")


def run(seconds: float, asked: list[str]) -> dict[str, dict[str, list[float]]]:
    """Go on with the cells that have had the least time, and keep the sums."""
    known, end = recorded(), time.process_time() + seconds
    parts = {word.strip("; ") for word in asked}
    wanted = [
        cell
        for cell in cells()
        if parts <= {*cell.split("; ")} and ("shares" in parts or "shares" not in cell)
    ]

    def spent(cell: str) -> float:
        return sum(sums[3] for sums in known.get(cell, {}).values()) / SHARES[cell.split("; ")[1]]

    with config_context(assume_finite=True, skip_parameter_validation=True):
        while time.process_time() < end:
            cell = min(wanted, key=spent)
            problem, learner, n, *shares = cell.split("; ")
            sums = known.setdefault(cell, {})
            n_done = int(next(iter(sums.values()))[0]) if sums else 0
            for name, values in repeat(problem, learner, int(n), n_done, bool(shares)):
                before = sums.get(name, [0, 0, 0, 0, 0])
                sums[name] = [round(a + float(b), 4) for a, b in zip(before, [1, *values], strict=True)]
    record(known)
    return known


def lines(known: dict[str, dict[str, list[float]]]) -> Iterator[str]:
    """A line for each cell and method: what holds, ± its standard error, width, CPU seconds, bias."""
    for cell in (cell for cell in cells() if cell in known):
        yield cell
        for name, (n, held, width, seconds, off) in known[cell].items():
            share = held / n
            error = math.sqrt(share * (1 - share) / n)
            yield (
                f"  {name:26} {n:4.0f}  holds {share:6.1%} ± {error:.1%}  width {width / n:.3f}  "
                f"CPU {seconds / n:7.3f} s  off {off / n:+.3f}"
            )


def pooled(known: dict[str, dict[str, list[float]]]) -> Iterator[str]:
    """A row of Markdown for each learner, number of rows and method, over all problems."""
    yield "| rows | learner | interval | samples | holds | least | width | CPU s |"
    yield "| --: | --- | --- | --: | --: | --- | --: | --: |"
    sums: dict[tuple[str, ...], Any] = {}
    for cell in (cell for cell in cells() if cell in known):
        problem, learner, n, *shares = cell.split("; ")
        for name, values in known[cell].items():
            sums.setdefault((n, f"{learner}, by share" if shares else learner, name), {})[problem] = values
    for (rows, learner, name), found in sums.items():
        table = np.array(list(found.values()))
        n, means = table[:, 0], (table[:, 1:] / table[:, :1]).mean(axis=0)  # problems count alike
        share = (table[:, 1] + 1) / (n + 2)  # no share of few samples is certain
        error = math.sqrt(float((share * (1 - share) / n).sum())) / len(n)
        least = min(found, key=lambda problem: found[problem][1] / found[problem][0])
        worst = f"{found[least][1] / found[least][0]:.0%} {least}"
        told = f"{means[0]:.1%} ± {100 * error:.1f} | {worst} | {means[1]:.3f} | {means[2]:.3f} |"
        yield f"| {rows} | {learner} | {name} | {n.sum():.0f} | {told}"


def main(arguments: list[str]) -> None:
    """Go on for so many seconds, and print all that is known, cell by cell and over all problems."""
    seconds = float(arguments[0]) if arguments else 60.0
    known = run(seconds, arguments[1:])
    print(*lines(known), "", *pooled(known), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
