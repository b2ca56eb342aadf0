"""What the ceiling of a report says, and what the same boosting and the recommended model do on new rows.

``python -m tests.statistical.ceilings 40`` makes 40 tables of each design, fits both models to all of their
rows, and prints how often what they do on 20,000 new rows lies in the intervals of `Report.reference`.
``python -m tests.statistical.ceilings columns 40`` does so for the first column of `Report.in_time`: how much
worse a report without it does on new rows.
``python -m tests.statistical.ceilings times pima car`` prints the processor time of a report on shared tables
with the ceiling and without.
"""

from __future__ import annotations

import sys
from time import process_time
from typing import NamedTuple

import numpy as np

from offsample import report
from offsample.datasets import load
from offsample.report._metrics import Rated
from offsample.report._study import Options, Study
from offsample.report.sections.reference import _says, fitted

N_NEW = 20_000


class Design(NamedTuple):
    """Rows of a table, share of the class of interest, and whether all columns add up, or two count."""

    n_rows: int
    rate: float
    additive: bool


DESIGNS = (
    Design(500, 0.5, additive=True),
    Design(500, 0.5, additive=False),
    Design(1500, 0.08, additive=True),
    Design(1500, 0.08, additive=False),
)


def made(design: Design, n_rows: int, seed: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Draw rows of a design: six numbers, and a class that their sum, or the first two, make likelier."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n_rows, 6))
    score = x.sum(axis=1) / 1.5 if design.additive else 1.5 * (x[:, 0] > 0) + 1.5 * (x[:, 1] > 0.5)
    middle = 0.0 if design.additive else 1.2
    shift = np.log(design.rate / (1 - design.rate))
    odds = np.exp(score - middle + shift)
    table = {f"x{j}": x[:, j] for j in range(6)}
    return table | {"y": np.where(random.random(n_rows) < odds / (1 + odds), "yes", "no")}


class Held(NamedTuple):
    """Whether truths lie in their intervals, and how wide these are."""

    figure: bool
    cost: bool
    figure_width: float
    cost_width: float


def figure(study: Study, proba: np.ndarray, fresh: dict[str, np.ndarray]) -> float:
    """What the metric of a study says of probabilities of new rows."""
    labels = np.searchsorted(study.classes, fresh["y"])
    rated = Rated(proba, proba.argmax(axis=1), labels, np.zeros(N_NEW, int), [], 0, study.class_of_interest)
    return study.metric.parts(rated, None)[0]


def held_without(design: Design, seed: int) -> tuple[bool, float, float, float]:
    """Whether the loss without a column lies in its interval, the interval's width, its middle, the truth."""
    table, fresh = made(design, design.n_rows, (seed, 0)), made(design, N_NEW, (seed, 1))
    asked = {"max_size": 4, "random_state": seed, "reference": False}
    found, study = report(table, "y", **asked), Study(table, "y", Options(random_state=seed))
    if found.in_time is None:
        return held_without(design, seed + 1000)
    first = found.in_time.columns[0]
    without = report({name: one for name, one in table.items() if name != first.name}, "y", **asked)
    figures = [figure(study, one.estimator.predict_proba(fresh), fresh) for one in (found, without)]
    truth = (figures[0] - figures[1]) * (1 if study.metric.higher_is_better else -1)
    return first.low <= truth <= first.high, first.high - first.low, first.worse, truth


def held(design: Design, seed: int, **options: object) -> Held:
    """Report on a table, and judge boosting and the recommended model on new rows."""
    table, fresh = made(design, design.n_rows, (seed, 0)), made(design, N_NEW, (seed, 1))
    found = report(table, "y", max_size=4, random_state=seed, **options)
    study = Study(table, "y", Options(random_state=seed))
    names, metric = [f"x{j}" for j in range(6)], study.metric
    X, of_fresh = (np.column_stack([one[name] for name in names]) for one in (table, fresh))
    opaque = fitted(study, X, np.arange(len(X)), names, found.reference.name)
    said = (_says(study, opaque, of_fresh), found.estimator.predict_proba(fresh))
    figures = [figure(study, proba, fresh) for proba in said]
    ahead = (figures[0] - figures[1]) * (1 if metric.higher_is_better else -1)
    known = found.reference
    low, _, high = metric.ends(known)
    return Held(
        low <= figures[0] <= high,
        known.cost_low <= ahead <= known.cost_high,
        high - low,
        known.cost_high - known.cost_low,
    )


def main(n_tables: int) -> None:
    """Print a line for each design."""
    for design in DESIGNS:
        figure, cost, width, of_cost = np.mean([held(design, seed) for seed in range(n_tables)], axis=0)
        told = f"figure {figure:.1%} (width {width:.3f}), cost of reading {cost:.1%} (width {of_cost:.3f})"
        print(f"{design}: {told}", flush=True)  # noqa: T201


def main_of_columns(n_tables: int) -> None:
    """Print a line for each design."""
    for design in DESIGNS:
        found = np.mean([held_without(design, seed) for seed in range(n_tables)], axis=0)
        told = "held {:.1%} (width {:.3f}), said to be worse by {:.4f}, is by {:.4f}".format(*found)
        print(f"{design}: {told}", flush=True)  # noqa: T201


def main_of_times(*names: str) -> None:
    """Print a line for each table; of three reports each, the fastest."""
    for name in names:
        data = load(name)
        seconds: dict[bool, list[float]] = {True: [], False: []}
        for with_ceiling in (True, False) * 4:
            start = process_time()
            report(data.table, "target", reference=with_ceiling)
            seconds[with_ceiling].append(process_time() - start)
        whole, without = (min(seconds[one][1:]) for one in (True, False))  # the first loads and compiles
        told = f"{without:.2f} s, with the ceiling {whole:.2f} s: {whole / without:.2f} times"
        print(f"{name:20} {told}", flush=True)  # noqa: T201


if __name__ == "__main__" and sys.argv[1:2] == ["times"]:
    main_of_times(*sys.argv[2:])
elif __name__ == "__main__" and sys.argv[1:2] == ["columns"]:
    main_of_columns(int(sys.argv[2]))
elif __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
