"""Samples in time, of crossed groups, and of groups in time, with the error that their intervals are for.

``python -m tests.statistical.unit_samples 200`` prints the coverage of all kinds; with ``timed 10 30`` behind
it that of groups in time alone, with so many groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from offsample._unit_intervals import interval_is_known
from offsample.counts import HeldOutCounts, count_cells
from offsample.criteria import error_interval, ginger
from offsample.evidence import signal_evidence
from offsample.hypotheses import RULES
from papers.ginger._distributions import generalization_error

RULE = RULES["gini"]


class Measured(NamedTuple):
    covered: float
    known: float  # share of the samples whose interval claims to be known
    rejected: float  # at 5 %
    next_covered: float = np.nan  # what comes after the sample, were it as long again


class Times(NamedTuple):
    n_rows: int
    n_values: int
    ties: int  # rows at the same time
    drift: str  # "none", "steady": all classes move, "jumps": other classes in each tenth of the time
    error: str  # "middling", "small" for 1 %, "noise"


class Crossed(NamedTuple):
    n_users: int
    n_items: int
    deviation: float  # of the effects of users and of items, beside 1 of the rows
    constant: str  # what decides the column: "user", "item", "row"
    error: str  # "middling", "noise"


class TimedGroups(NamedTuple):
    n_groups: int
    order: str  # rows of groups are "mixed" in time, or come "in turn"
    deviation: float  # of the effects of groups, beside 1 of the rows
    constant: bool  # whether the column is constant within groups
    error: str  # "middling", "noise"


def timed_groups_grid() -> Iterator[TimedGroups]:
    for case in product(
        (10, 30, 100), ("mixed", "in turn"), (0.0, 2.0), (False, True), ("middling", "noise")
    ):
        yield TimedGroups(*case)


def time_grid() -> Iterator[Times]:
    for n_rows, n_values, ties, drift, error in product(
        (100, 1000), (3, 30), (1, 5), ("none", "steady", "jumps"), ("middling", "small", "noise")
    ):
        if (drift, error) not in {("steady", "noise"), ("jumps", "small"), ("jumps", "noise")}:
            yield Times(n_rows, n_values, ties, drift, error)


def crossed_grid() -> Iterator[Crossed]:
    for n_units, deviation, constant, error in product(
        ((12, 12), (30, 12), (30, 30), (100, 30)), (0.0, 0.7), ("user", "item", "row"), ("middling", "noise")
    ):
        yield Crossed(*n_units, deviation, constant, error)


def _classes(case: Times, random: np.random.Generator) -> np.ndarray:
    """Probability of the second class at each value, for each thousandth of the time, then of the future."""
    positive = {
        "middling": random.uniform(0.1, 0.9, case.n_values),
        "small": np.where(random.random(case.n_values) < 0.5, 0.01, 0.99),
        "noise": np.full(case.n_values, 0.3),
    }[case.error]
    when = np.arange(2000) / 1000
    if case.drift == "none":
        return np.tile(positive, (2000, 1))
    if case.drift == "steady":
        return positive + (1 - 2 * positive) * np.minimum(when, 2)[:, None] / 2  # all even at the end
    return random.uniform(0.1, 0.9, (20, case.n_values))[np.minimum(when * 10, 19).astype(int)]


def measure_times(case: Times, n_samples: int, seed: int) -> Measured:
    random = np.random.default_rng([seed, *map(ord, repr(case))])
    shares = np.random.default_rng(case.n_values).dirichlet(np.ones(case.n_values))
    seen = []
    for _ in range(n_samples):
        classes = _classes(case, random)
        value = random.choice(case.n_values, case.n_rows, p=shares)
        time = np.arange(case.n_rows) // case.ties
        at = classes[time * case.ties * 1000 // case.n_rows]
        label = (random.random(case.n_rows) < at[np.arange(case.n_rows), value]).astype(int)
        cells = HeldOutCounts(value, label, 2, time=time)
        low, high = error_interval(cells)
        truth = _error_in_time(case, value, label, at, shares)
        after = classes[1000:].mean(axis=0)  # the rule of all rows, on as many that follow
        rule = RULE.from_counts(count_cells(value, label, case.n_values, 2))
        later = generalization_error(rule, shares, np.column_stack([1 - after, after]))
        known, p_value = interval_is_known(cells, RULE), signal_evidence(cells).p_value
        seen.append((low <= truth <= high, known, p_value <= 0.05, low <= later <= high))
    return Measured(*np.mean(seen, axis=0).tolist())


def measure_timed_groups(case: TimedGroups, n_samples: int, seed: int) -> Measured:
    """Truth is the mean over the rows of the error, on a row of a new group, of what was before the row."""
    random = np.random.default_rng([seed, *map(ord, repr(case))])
    n_values, n_rows = 4, 8 * case.n_groups
    level = np.linspace(-1.5, 1.5, n_values) if case.error == "middling" else np.full(n_values, 0.4)
    positive = ndtr(level)  # the mean over groups: levels are in units of the total deviation
    shares = np.full(n_values, 1 / n_values)
    times = Times(n_rows, n_values, 1, "none", case.error)
    seen = []
    for _ in range(n_samples):
        group = np.repeat(np.arange(case.n_groups), 8)
        group = random.permutation(group) if case.order == "mixed" else group
        value = random.integers(0, n_values, n_rows)
        value = value[group] if case.constant else value
        effect = case.deviation * random.standard_normal(case.n_groups)[group]
        total = np.sqrt(1 + case.deviation**2)
        label = (random.standard_normal(n_rows) + effect < level[value] * total).astype(int)
        cells = HeldOutCounts(value, label, 2, groups=[group], time=np.arange(n_rows))
        low, high = error_interval(cells)
        truth = _error_in_time(times, value, label, np.tile(positive, (n_rows, 1)), shares)
        known, p_value = interval_is_known(cells, RULE), signal_evidence(cells).p_value
        seen.append((low <= truth <= high, known, p_value <= 0.05))
    return Measured(*np.mean(seen, axis=0).tolist())


def _error_in_time(case: Times, value, label, at, shares) -> float:
    """Mean, over the rows, of the error at a row's time of the rule learned from what was before it."""
    counts, errors = np.zeros((case.n_values, 2)), []
    for start in range(0, case.n_rows, case.ties):
        positive = at[start]
        error = generalization_error(
            RULE.from_counts(counts), shares, np.column_stack([1 - positive, positive])
        )
        rows = slice(start, min(start + case.ties, case.n_rows))
        errors += [error] * (rows.stop - rows.start)
        np.add.at(counts, (value[rows], label[rows]), 1)
    return float(np.mean(errors))


def measure_crossed(case: Crossed, n_samples: int, seed: int) -> Measured:
    """Truth is the error on new users with new items."""
    random = np.random.default_rng([seed, *map(ord, repr(case))])
    n_values, n_rows = 4, 4 * (case.n_users + case.n_items)
    level = np.linspace(-1, 1, n_values) if case.error == "middling" else np.full(n_values, 0.4)
    total = np.sqrt(1 + 2 * case.deviation**2)
    positive = ndtr(level)  # the mean over users and items: levels are in units of the total deviation
    classes = np.column_stack([1 - positive, positive])
    seen = []
    for _ in range(n_samples):
        user, item = random.integers(0, case.n_users, n_rows), random.integers(0, case.n_items, n_rows)
        drawn = {"user": user, "item": item, "row": np.arange(n_rows)}[case.constant]
        value = random.integers(0, n_values, n_rows)[drawn]
        effects = case.deviation * (
            random.standard_normal(case.n_users)[user] + random.standard_normal(case.n_items)[item]
        )
        label = (random.standard_normal(n_rows) + effects < level[value] * total).astype(int)
        cells = HeldOutCounts(value, label, 2, groups=[user, item])
        low, high = error_interval(cells)
        rule = RULE.from_counts(count_cells(value, label, n_values, 2))
        truth = generalization_error(rule, np.full(n_values, 1 / n_values), classes)
        known, p_value = interval_is_known(cells, RULE), signal_evidence(cells).p_value
        assert low <= ginger(cells) <= high
        seen.append((low <= truth <= high, known, p_value <= 0.05))
    return Measured(*np.mean(seen, axis=0).tolist())


GRIDS = {
    "times": (time_grid, measure_times),
    "crossed": (crossed_grid, measure_crossed),
    "timed": (timed_groups_grid, measure_timed_groups),
}


def main(n_samples: int, *names: str) -> None:
    """Print the coverage of each kind, and by number of units its mean and least."""
    sizes = [int(name) for name in names if name.isdigit()]
    print("kind: covered, known, rejected, what follows covered (%)")
    for name, (grid, measure) in GRIDS.items():
        covered: dict[int, list[float]] = {}
        for case in grid() if name in names or not names else ():
            if not sizes or case[0] in sizes:
                found = measure(case, n_samples, 1)
                covered.setdefault(case[0], []).append(100 * found.covered)
                print(case, *(round(100 * share, 1) for share in found), flush=True)
        for size, shares in covered.items():
            print(f"{name}, {size} units: {np.mean(shares):.1f} % on average, {min(shares):.1f} % at least")


if __name__ == "__main__":
    import sys

    main(int(sys.argv[1]), *sys.argv[2:])
