"""Samples with a rare class, and how often the intervals of losses and AUCs hold what they are for.

``python -m tests.statistical.loss_samples rows 200`` (ties, groups, times) prints the coverage.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from offsample._loss_intervals import judge_auc, judge_loss
from offsample._losses import BrierLoss, CostLoss, LogLoss
from offsample.counts import CellCounts, GroupedCounts, HeldOutCounts, count_cells
from offsample.evidence import signal_evidence

COSTS = np.array([[0.0, 1.0], [10.0, 0.0]])
NAMES = ("log loss", "Brier", "cost", "AUC")


class Rare(NamedTuple):
    kind: str  # "rows", "ties" (all values but one have the same rate), "groups" of eight rows, "times"
    n_positives: int  # to expect
    rate: float  # of positives
    n_values: int  # very many: all distinct
    signal: float  # standard deviation of the log of the rate at a value
    correlation: float = 0.0  # of labels within groups


class Measured(NamedTuple):
    covered: np.ndarray  # of each loss, its interval
    gain_covered: np.ndarray  # of each loss but AUC, that of its gain
    width: np.ndarray
    bias: float  # of the AUC
    rejected: float  # at 5 %


def grid(kind: str) -> Iterator[Rare]:
    values, signals = (2, 4, 10, 40), (0.0, 0.5, 1.0, 2.5)
    if kind == "rows":
        for n_positives, n_values, signal in product((10, 30, 100), values, signals):
            yield Rare(kind, n_positives, 0.05, n_values, signal)
        for n_positives in (10, 30, 100):
            yield Rare(kind, n_positives, 0.05, 10**5, 0.0)
            yield Rare(kind, n_positives, 0.4, 10, 1.0)
    elif kind == "ties":  # at one in eleven, the costs of both decisions tie too
        for n_positives, rate, n_values in product((30, 100, 500), (1 / 11, 0.5), (2, 3, 5, 8, 20)):
            yield Rare(kind, n_positives, rate, n_values, 0.5)
    elif kind == "groups":
        for n_positives, n_values, signal, correlation in product(
            (30, 100), (4, 20), (0.0, 1.0, 2.5), (0.0, 0.3)
        ):
            yield Rare(kind, n_positives, 0.1, n_values, signal, correlation)
    else:
        for n_positives, n_values, signal in product((30, 100), (4, 20), (0.0, 1.0, 2.5)):
            yield Rare(kind, n_positives, 0.1, n_values, signal)


class Truth(NamedTuple):
    values: np.ndarray
    positive: np.ndarray  # rate at each value


def _truth(case: Rare, random: np.random.Generator) -> Truth:
    values = random.dirichlet(np.full(case.n_values, 3.0))
    if case.kind == "ties":
        return Truth(values, np.append(case.rate * (1 - case.signal), np.full(case.n_values - 1, case.rate)))
    rate = np.exp(case.signal * random.standard_normal(case.n_values))
    return Truth(values, np.minimum(rate / (values @ rate) * case.rate, 0.95))


def _losses(n_samples: int) -> list:
    return [LogLoss(1.0, 0.5 / n_samples), BrierLoss(), CostLoss(COSTS)]


def _expected(loss, counts: np.ndarray, in_all: np.ndarray, truth: Truth) -> float:
    """Loss on a new row of what these counts say."""
    shares = in_all / in_all.sum() if in_all.any() else np.full(2, 0.5)
    negative, positive = (loss.on(k, counts, np.broadcast_to(shares, counts.shape)) for k in (0, 1))
    return float(truth.values @ ((1 - truth.positive) * negative + truth.positive * positive))


def _ratings(counts: np.ndarray, in_all: np.ndarray) -> np.ndarray:
    share = in_all[1] / in_all.sum() if in_all.any() else 0.5
    size = counts.sum(axis=1)
    return np.where(size > 0, counts[:, 1] / np.maximum(size, 1), share)


def _auc(rating: np.ndarray, truth: Truth) -> float:
    """Probability that a positive is rated above a negative, drawn independently."""
    positive = truth.values * truth.positive
    negative = truth.values * (1 - truth.positive)
    order = np.argsort(rating)
    below = np.concatenate([[0.0], np.cumsum(negative[order])])
    places = (np.searchsorted(rating[order], rating, side) for side in ("left", "right"))
    return float(positive @ sum(below[place] for place in places)) / 2 / positive.sum() / negative.sum()


def draw(case: Rare, random: np.random.Generator) -> tuple[CellCounts, list[float], list[float]]:
    """Counts, what the losses and the AUC are on new rows, and what the losses are without a column."""
    truth, m = _truth(case, random), round(case.n_positives / case.rate)
    group = np.arange(m) // 8
    label = np.zeros(m, int)
    while label.sum() < 2:
        value = random.choice(case.n_values, m, p=truth.values)
        level = np.sqrt(case.correlation) * random.standard_normal(m)[group]
        level += np.sqrt(1 - case.correlation) * random.standard_normal(m)
        label = (ndtr(level) < truth.positive[value]).astype(int)
    counts = count_cells(value, label, case.n_values, 2)
    in_all, alone = counts.sum(axis=0), Truth(np.ones(1), np.array([truth.values @ truth.positive]))
    if case.kind == "times":
        return _in_time(value, label, truth, alone)
    cells = CellCounts(counts)
    if case.kind == "groups":
        cells = GroupedCounts.from_rows(value, label, group, 2)
    losses = [_expected(loss, counts, in_all, truth) for loss in _losses(m)]
    blind = [_expected(loss, in_all[None], in_all, alone) for loss in _losses(m)]
    return cells, [*losses, _auc(_ratings(counts, in_all), truth)], blind


def _in_time(value, label, truth: Truth, alone: Truth):
    """Means over the times of what was known until then."""
    m, step = len(value), 5
    counts, losses, blind, ratings = np.zeros((len(truth.values), 2)), [], [], []
    for start in range(0, m, step):
        in_all = counts.sum(axis=0)
        losses.append([_expected(loss, counts, in_all, truth) for loss in _losses(m)])
        blind.append([_expected(loss, in_all[None], in_all, alone) for loss in _losses(m)])
        ratings.append(_ratings(counts, in_all))
        np.add.at(counts, (value[start : start + step], label[start : start + step]), 1)
    cells = HeldOutCounts(value, label, 2, time=np.arange(m) // step)
    # Both rows of a pair are rated at the time of the earlier one; before the first time nothing is known.
    n_pairs = 2 * np.arange(len(ratings))[::-1] + 1
    auc = np.average([_auc(rating, truth) for rating in ratings[1:]], weights=n_pairs[1:])
    return cells, [*np.mean(losses, axis=0), auc], np.mean(blind, axis=0)


def measure(case: Rare, n_samples: int, seed: int) -> Measured:
    random = np.random.default_rng([seed, *map(ord, repr(case))])
    covered, of_gain, width, bias, rejected = [], [], [], [], []
    for _ in range(n_samples):
        cells, truth, blind = draw(case, random)
        judged = [judge_loss(cells, loss, 0.95, most=10.0) for loss in _losses(int(cells.n_samples))]
        judged.append(judge_auc(cells, 0.95))
        inside = [one.low - 1e-12 <= t <= one.high + 1e-12 for one, t in zip(judged, truth, strict=True)]
        covered.append(inside)
        gains = [without - t for without, t in zip(blind, truth, strict=False)]
        of_gain.append([one.gain_low <= t <= one.gain_high for one, t in zip(judged, gains, strict=False)])
        width.append([one.high - one.low for one in judged])
        bias.append(judged[-1].value - truth[-1])
        rejected.append(signal_evidence(cells).p_value <= 0.05)
    means = [np.mean(found, axis=0) for found in (covered, of_gain, width)]
    return Measured(*means, float(np.mean(bias)), float(np.mean(rejected)))


if __name__ == "__main__":
    import sys

    kind, n_samples = sys.argv[1], int(sys.argv[2])
    print("kind: covered", *NAMES, "| gains", *NAMES[:3], "(%) | width of AUC, its bias, rejected (%)")
    found = []
    for case in grid(kind):
        seen = measure(case, n_samples, 1)
        found.append(np.concatenate([seen.covered, seen.gain_covered]))
        percent = [f"{100 * share:.0f}" for share in found[-1]]
        print(
            *case[1:], ":", *percent[:4], "|", *percent[4:], "|",
            f"{seen.width[-1]:.2f} {seen.bias:+.3f} {100 * seen.rejected:.0f}", flush=True,
        )  # fmt: skip
    print(
        "mean", np.round(100 * np.mean(found, axis=0), 1), "least", np.round(100 * np.min(found, axis=0), 1)
    )
