"""Slow, obvious versions of what the library computes fast: one row at a time, exact where possible."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

import numpy as np

Row = tuple[int, int]  # cell, class


def expand(counts: np.ndarray) -> list[Row]:
    """Rows of the sample that has these counts."""
    return [(v, k) for v, row in enumerate(counts) for k, n in enumerate(row) for _ in range(n)]


def gini_probability(labels: list[int], k: int, n_classes: int) -> Fraction:
    return Fraction(labels.count(k), len(labels)) if labels else Fraction(1, n_classes)


def bayes_probability(labels: list[int], k: int, n_classes: int) -> Fraction:
    totals = [labels.count(j) for j in range(n_classes)]
    leaders = [j for j in range(n_classes) if totals[j] == max(totals)]
    return Fraction(k in leaders, len(leaders))


PROBABILITY = {"gini": gini_probability, "bayes": bayes_probability}


def loo_error(rows: list[Row], rule: str, n_classes: int) -> Fraction:
    """Take each row out, learn the rule from the others, and average the losses."""
    loss = Fraction(0)
    for i, (cell, k) in enumerate(rows):
        others = [label for j, (v, label) in enumerate(rows) if j != i and v == cell]
        loss += 1 - PROBABILITY[rule](others, k, n_classes)
    return loss / len(rows)


def training_error(rows: list[Row], rule: str, n_classes: int) -> Fraction:
    loss = Fraction(0)
    for cell, k in rows:
        loss += 1 - PROBABILITY[rule]([label for v, label in rows if v == cell], k, n_classes)
    return loss / len(rows)


def vote_error(rows: list[Row], order: int, n_classes: int) -> Fraction:
    """Predict each row by the majority of every choice of `order` others of its cell."""
    loss = Fraction(0)
    for i, (cell, k) in enumerate(rows):
        others = [label for j, (v, label) in enumerate(rows) if j != i and v == cell]
        votes = list(combinations(others, min(order, len(others))))
        loss += sum(1 - bayes_probability(list(v), k, n_classes) for v in votes) / Fraction(len(votes))
    return loss / len(rows)


def true_error(rows: list[Row], rule: str, p: list[Fraction], q: list[list[Fraction]]) -> Fraction:
    """Error of the rule learned from the rows, on the distribution (p, q)."""
    n_classes = len(q[0])
    error = Fraction(0)
    for v, p_v in enumerate(p):
        labels = [label for cell, label in rows if cell == v]
        for k in range(n_classes):
            error += p_v * q[v][k] * (1 - PROBABILITY[rule](labels, k, n_classes))
    return error


def all_samples(m: int, p: list[Fraction], q: list[list[Fraction]]) -> Iterator[tuple[list[Row], Fraction]]:
    """Every ordered sample of m rows with its probability."""
    outcomes = [(v, k) for v in range(len(p)) for k in range(len(q[0]))]
    for sample in product(outcomes, repeat=m):
        probability = Fraction(1)
        for v, k in sample:
            probability *= p[v] * q[v][k]
        if probability:
            yield list(sample), probability


def to_counts(rows: list[Row], n_cells: int, n_classes: int) -> np.ndarray:
    counts = np.zeros((n_cells, n_classes), dtype=np.int64)
    for v, k in rows:
        counts[v, k] += 1
    return counts
