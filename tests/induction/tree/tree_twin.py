"""A tree grown the slow, obvious way: at every step every split of every leaf is scored from scratch."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from twins import PROBABILITY

from offsample.counts import CellCounts
from offsample.criteria import CRITERIA

LOO = {"ginger": "gini", "bayes_loo": "bayes"}
RATIOS = {"gain_ratio": 0, "mantaras_distance": 1}  # less the value, where lower is better: the ratio


@dataclass
class Leaf:
    rows: list[int]
    parent: list[int]  # rows of the node that was split


def criterion(name, leaves: list[Leaf], y: list[int], n_classes: int, unseen: str) -> float:
    if name in LOO:
        return float(loo_error(LOO[name], leaves, y, n_classes, unseen))
    cells = CellCounts([[sum(y[i] == k for i in leaf.rows) for k in range(n_classes)] for leaf in leaves])
    return CRITERIA[name](cells) if CRITERIA[name].better == "lower" else -CRITERIA[name](cells)


def loo_error(rule: str, leaves: list[Leaf], y: list[int], n_classes: int, unseen: str) -> Fraction:
    loss, n = Fraction(0), 0
    for leaf in leaves:
        for i in leaf.rows:
            others = [y[j] for j in leaf.rows if j != i]
            if not others and unseen == "parent":
                others = [y[j] for j in leaf.parent if j != i]
            loss += 1 - PROBABILITY[rule](others, y[i], n_classes)
            n += 1
    return loss / n


def candidate_splits(columns: list[list], rows: list[int]):
    """Column and children of every split, in the order in which equals win."""
    for j, column in enumerate(columns):
        values = [column[i] for i in rows]
        if any(isinstance(v, str) for v in column):
            groups = sorted({v for v in values if v is not None}) + [None] * (None in values)
            yield j, [[i for i in rows if column[i] == g] for g in groups]
            continue
        missing = [i for i in rows if column[i] is None]
        for cut in sorted({v for v in values if v is not None}):
            left = [i for i in rows if column[i] is not None and column[i] <= cut]
            right = [i for i in rows if column[i] is not None and column[i] > cut]
            yield j, [left, sorted(right + missing)]
            if missing:
                yield j, [sorted(left + missing), right]


def grow_twin(columns, y, n_classes, name, *, unseen="parent", max_splits=4, min_samples_leaf=1):
    """Path of (column, criterion), and the leaves."""
    everything = list(range(len(y)))
    leaves = [Leaf(everything, everything)]
    path = [(None, criterion(name, leaves, y, n_classes, unseen))]
    while len(path) <= max_splits:
        now = path[-1][1]
        best = None
        for place, leaf in enumerate(leaves):
            if len({y[i] for i in leaf.rows}) == 1:
                continue
            for j, children in candidate_splits(columns, leaf.rows):
                if len(children) < 2 or min(map(len, children)) < min_samples_leaf:
                    continue
                new = [Leaf(rows, leaf.rows) for rows in children]
                partition = leaves[:place] + leaves[place + 1 :] + new
                value = criterion(name, partition, y, n_classes, unseen)
                if name in RATIOS:  # what counts is its value; but the split must inform
                    informs = criterion("information_gain", partition, y, n_classes, unseen)
                    before = criterion("information_gain", leaves, y, n_classes, unseen)
                    key = round(RATIOS[name] - value, 11) if before - informs > 1e-10 else 0
                else:
                    key = round(now - value, 11)
                if key > 0 and (best is None or key > best[0]):
                    best = (key, j, value, partition)
        if best is None:
            break
        _, j, value, leaves = best
        path.append((j, value))
    return path, leaves


def random_table(rng: np.random.Generator, n_classes: int):
    """Columns of both kinds with few values and missing ones, and classes."""
    m = int(rng.integers(4, 16))
    columns = []
    for _ in range(int(rng.integers(1, 4))):
        missing = rng.random(m) < rng.choice([0.0, 0.2])
        if rng.random() < 0.5:
            values = rng.integers(0, rng.integers(2, 6), m).astype(float).tolist()
        else:
            values = [chr(97 + v) for v in rng.integers(0, rng.integers(2, 6), m)]
        columns.append([None if gone else v for v, gone in zip(values, missing, strict=True)])
        if all(v is None for v in columns[-1]):
            columns[-1] = [1.0] * m
    return columns, rng.integers(0, n_classes, m).tolist()
