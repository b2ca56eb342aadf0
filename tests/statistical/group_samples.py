"""Samples whose rows come in groups, with the error on new groups known.

``python -m tests.statistical.group_samples 100 10 30`` prints coverage and size of the test on the grid,
``… group_samples noise 4000 10 30`` the size alone, of all kinds of noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from offsample._unit_intervals import interval_is_known
from offsample.counts import GroupedCounts, count_cells
from offsample.criteria import error_interval
from offsample.evidence import signal_evidence
from offsample.hypotheses import RULES
from offsample.intervals import gain_interval
from papers.ginger._distributions import generalization_error


class Case(NamedTuple):
    n_groups: int
    sizes: str  # equal, or Pareto with a tail of 1.5
    n_values: int
    correlation: float  # of the labels within groups, 1: all equal
    constant: bool  # whether the column is constant within groups
    error: str  # "middling" for classes between .1 and .9, "small" for 1 %, "none" for noise


def grid(n_groups: int) -> Iterator[Case]:
    for sizes, n_values, correlation, constant, error in product(
        ("equal", "pareto"), (4, 40), (0, 0.3, 1), (False, True), ("middling", "small", "none")
    ):
        yield Case(n_groups, sizes, n_values, correlation, constant, error)


class Truth(NamedTuple):
    values: np.ndarray
    classes: np.ndarray


def truth_of(case: Case) -> Truth:
    random = np.random.default_rng(case.n_values)
    values = random.dirichlet(np.ones(case.n_values))
    positive = {
        "middling": random.uniform(0.1, 0.9, case.n_values),
        "small": np.where(random.random(case.n_values) < 0.5, 0.01, 0.99),
        "none": np.full(case.n_values, 0.3),
    }[case.error]
    return Truth(values, np.column_stack([1 - positive, positive]))


class Sample(NamedTuple):
    cells: GroupedCounts
    counts: np.ndarray  # by value


def draw(case: Case, random: np.random.Generator) -> Sample:
    truth = truth_of(case)
    size = np.full(case.n_groups, 8)
    if case.sizes == "pareto":
        size = np.minimum(np.ceil(4 * (random.pareto(1.5, case.n_groups) + 0.5)), 480).astype(int)
    group = np.repeat(np.arange(case.n_groups), size)
    n_drawn = case.n_groups if case.constant else len(group)
    value = random.choice(case.n_values, n_drawn, p=truth.values)
    value = value[group] if case.constant else value
    shared = random.standard_normal(case.n_groups)[group]
    own = random.standard_normal(len(group))
    level = ndtr(np.sqrt(case.correlation) * shared + np.sqrt(1 - case.correlation) * own)
    label = level < truth.classes[value, 1]
    cells = GroupedCounts.from_rows(value, label, group, n_classes=2)
    return Sample(cells, count_cells(value, label, case.n_values, 2))


def error_of(case: Case, sample: Sample, rule: str) -> float:
    """Error on new groups of the rule learned from the sample."""
    truth = truth_of(case)
    return generalization_error(RULES[rule].from_counts(sample.counts), truth.values, truth.classes)


def gain_of(case: Case, sample: Sample, rule: str) -> float:
    """How much lower that error is than the one of the same rule without the column."""
    truth = truth_of(case)
    blind = RULES[rule].from_counts(sample.counts.sum(axis=0, keepdims=True))
    without = generalization_error(blind, np.ones(1), (truth.values @ truth.classes)[None])
    return without - error_of(case, sample, rule)


class Measured(NamedTuple):
    covered: float  # by the interval of the Gini rule's error, and of the majority rule's
    covered_majority: float
    known: float  # share of the samples whose interval claims to be known
    rejected: float  # at 5 %
    covered_gain: float  # by the interval of the Gini rule's gain


def measure(case: Case, n_samples: int, seed: int) -> Measured:
    random = np.random.default_rng([seed, *map(ord, repr(case))])
    seen = []
    for _ in range(n_samples):
        sample = draw(case, random)
        inside = []
        for rule in ("gini", "bayes"):
            low, high = error_interval(sample.cells, rule)
            inside.append(low <= error_of(case, sample, rule) <= high)
        known = interval_is_known(sample.cells, RULES["gini"])
        low, high = gain_interval(sample.cells)
        of_gain = low <= gain_of(case, sample, "gini") <= high
        seen.append((*inside, known, signal_evidence(sample.cells).p_value <= 0.05, of_gain))
    return Measured(*np.mean(seen, axis=0).tolist())


def rejected(case: Case, n_samples: int, seed: int) -> float:
    """Share of the samples of which a test at 5 % says that there is a signal."""
    random = np.random.default_rng([seed, *map(ord, repr(case))])
    found = (signal_evidence(draw(case, random).cells).p_value for _ in range(n_samples))
    return sum(p_value <= 0.05 for p_value in found) / n_samples


if __name__ == "__main__":
    import sys

    if sys.argv[1] == "noise":
        print("groups sizes values correlation constant error: rejected at 5 % (%)")
        for n_groups in map(int, sys.argv[3:]):
            noise = [case for case in grid(n_groups) if case.error == "none"]
            shares = [rejected(case, int(sys.argv[2]), 2) for case in noise]
            for case, share in zip(noise, shares, strict=True):
                print(*case, round(100 * share, 2))
            print(f"{n_groups} groups: mean {np.mean(shares):.4f}, most {max(shares):.4f}", flush=True)
        sys.exit()
    n_samples = int(sys.argv[1])
    print("groups sizes values correlation constant error: covered, majority, known, rejected, gain (%)")
    for n_groups in map(int, sys.argv[2:]):
        for case in grid(n_groups):
            print(*case, *(round(100 * share, 1) for share in measure(case, n_samples, 1)), flush=True)
