"""Tables with true signals among noise columns and an identifier, for `benchmarks.ranking_order`.

``TUNED`` are the designs by which the default order of `rank_features` was chosen. ``FRESH`` were written
afterwards, before their results were seen, and ``random_design`` draws a new one for every table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

N_FRESH = 20_000

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """Rows, class rates, signals, and cardinalities of the noise columns.

    Signals are (cardinality, strength) with normal effects on the log-odds of every class, or `Planned`.
    The values of noise columns are equally likely, or, with ``zipf``, the i-th has weight i^-zipf.
    """

    n_rows: int
    rates: tuple[float, ...]
    signals: tuple[tuple[int, float] | Planned, ...]
    noise: tuple[int, ...]
    zipf: float = 0.0


@dataclass(frozen=True)
class Planned:
    """A signal on the log-odds of the last class, made so strong that it can just be found.

    Attributes
    ----------
    cardinality : int
    evidence : float
        Its expected excess over noise, in standard deviations of noise, in a small-effects approximation.
    shape : {"halves", "few", "ordered", "heavy"}
        Effects of ±1 by a coin per value; of ±1 for a tenth of the values and 0 for the others; growing
        from the first to the last value; by Student's t law with three degrees of freedom.
    zipf : float
        The i-th value has weight i^-zipf.
    """

    cardinality: int
    evidence: float
    shape: str = "halves"
    zipf: float = 0.0

    def effects(self, rates: Floats, n_rows: int, rng: np.random.Generator) -> Floats:
        """Effect of each value on each class."""
        raw = SHAPES[self.shape](self.cardinality, rng)
        raw = raw - raw @ weights(self.cardinality, self.zipf)
        raw /= np.sqrt(raw**2 @ weights(self.cardinality, self.zipf))
        covariance = np.diag(rates) - np.outer(rates, rates)
        noise = np.sqrt(2 * (self.cardinality - 1) * (covariance**2).sum())
        per_square = n_rows * (covariance[-1] ** 2).sum()
        strength = np.sqrt(self.evidence * noise / per_square)
        return np.outer(strength * raw, np.arange(len(rates)) == len(rates) - 1)


def _few(cardinality: int, rng: np.random.Generator) -> Floats:
    some = rng.permutation(cardinality) < max(1, cardinality // 10)
    return np.where(some, rng.choice([-1.0, 1.0], cardinality), 0.0)


def _halves(cardinality: int, rng: np.random.Generator) -> Floats:
    return np.where(rng.permutation(cardinality) < cardinality // 2, -1.0, 1.0)


SHAPES: dict[str, Callable[[int, np.random.Generator], Floats]] = {
    "halves": _halves,
    "few": _few,
    "ordered": lambda cardinality, _: np.linspace(-1, 1, cardinality),
    "heavy": lambda cardinality, rng: rng.standard_t(3, cardinality),
}


def weights(cardinality: int, zipf: float) -> Floats:
    """Probabilities of the values."""
    raw = np.arange(1, cardinality + 1) ** -zipf
    return np.asarray(raw / raw.sum())


def spread(low: float, high: float, n: int) -> tuple[int, ...]:
    """So many cardinalities, evenly on a log scale."""
    return tuple(int(c) for c in np.exp(np.linspace(np.log(low), np.log(high), n)))


EVEN = (0.5, 0.5)
TUNED = {
    "500 rows, 20 values": Design(500, EVEN, ((2, 0.5), (20, 0.8)), (2, 10, 50, 200)),
    "300 rows, weak": Design(300, EVEN, ((3, 0.5), (30, 0.9)), (5, 20, 60, 150)),
    "2,000 rows, 500 values": Design(2000, EVEN, ((2, 0.3), (500, 1.0)), (2, 50, 500, 1000)),
    "classes 90:10": Design(1000, (0.9, 0.1), ((4, 0.7), (100, 1.0)), (4, 100, 300, 500)),
    "classes 98:2": Design(5000, (0.98, 0.02), ((4, 0.8), (100, 1.2)), (4, 100, 1000, 3000)),
    "3 classes": Design(1000, (0.5, 0.3, 0.2), ((5, 0.4), (200, 1.0)), (5, 200, 300, 1000)),
    "10 classes": Design(2000, (0.1,) * 10, ((5, 0.4), (100, 0.8)), (5, 100, 500, 1000)),
    "200 rows, mid noise": Design(200, EVEN, ((2, 0.8),), (20, 30, 40, 60, 80, 100, 120)),
    "5,000 rows, 3,000 values": Design(5000, EVEN, ((2, 0.2), (3000, 1.5)), (2, 500, 2000, 4000)),
    "20,000 rows, weak": Design(20_000, (0.7, 0.3), ((2, 0.08), (1000, 0.35)), (2, 1000, 5000, 10_000)),
    "100,000 rows, 50,000 values": Design(
        100_000, EVEN, ((2, 0.05), (50_000, 1.5)), (2, 1000, 30_000, 100_000)
    ),
    "100 columns": Design(1000, EVEN, ((2, 0.4), (15, 0.5), (100, 1.0)), spread(2, 500, 97)),
}

_SKEWED_20 = tuple(float(w) for w in weights(20, 1.0))
FRESH = {
    "200 rows, 12 values": Design(200, (0.6, 0.4), (Planned(12, 4),), (3, 3, 8, 8, 15, 25, 40, 70, 100, 150)),
    "250 rows, 4 classes": Design(
        250, (0.4, 0.3, 0.2, 0.1), (Planned(3, 5), Planned(18, 5, "heavy")), (2, 4, 9, 30, 30, 60, 120)
    ),
    "400 rows, few of 40 values": Design(400, EVEN, (Planned(40, 6, "few"),), (2, 3, 5, 40, 40, 80, 160)),
    "700 rows, low noise": Design(700, (0.75, 0.25), (Planned(60, 5),), (2, 2, 2, 3, 3, 4, 5, 6, 8)),
    "1,500 rows, Zipf values": Design(
        1500, EVEN, (Planned(6, 4, "halves", 1.0), Planned(300, 6, "heavy", 1.0)), spread(2, 1000, 9), 1.0
    ),
    "1,500 rows, 5 signals": Design(
        1500, (0.65, 0.35), tuple(Planned(c, 6) for c in (2, 7, 25, 90, 350)), spread(3, 700, 15)
    ),
    "3,000 rows, classes 95:5": Design(
        3000, (0.95, 0.05), (Planned(8, 5, "few"), Planned(250, 6)), (2, 8, 30, 120, 250, 600, 1500)
    ),
    "3,000 rows, 5 classes": Design(
        3000, (0.2,) * 5, (Planned(10, 5, "ordered"), Planned(150, 5)), (3, 10, 40, 150, 400, 1000)
    ),
    "4,000 rows, 20 classes": Design(
        4000, _SKEWED_20, (Planned(12, 6), Planned(80, 6)), (2, 12, 40, 80, 300, 900, 2000)
    ),
    "8,000 rows, mid noise": Design(8000, EVEN, (Planned(2, 5), Planned(150, 5)), (80, 150, 300) * 10),
    "8,000 rows, weak among 60": Design(
        8000, (0.8, 0.2), (Planned(4, 7), Planned(40, 7, "heavy", 0.7)), spread(2, 4000, 58), 0.5
    ),
    "30,000 rows, 300 columns": Design(
        30_000, (0.55, 0.45), (Planned(3, 9), Planned(120, 9), Planned(2500, 9)), spread(2, 15_000, 297)
    ),
    "50,000 rows, 20,000 values": Design(
        50_000, (0.7, 0.3), (Planned(20_000, 5),), (2, 5, 20, 100, 1000, 10_000, 20_000, 40_000)
    ),
    "100,000 rows, 3 classes": Design(
        100_000, (0.6, 0.3, 0.1), (Planned(2, 5), Planned(900, 5, "few", 0.5)), spread(2, 100_000, 14), 0.5
    ),
}


def random_design(rng: np.random.Generator) -> Design:
    """A design drawn at random: every signal has any cardinality and strength, whatever the others have."""

    def between(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    n_rows = int(between(200, 50_000))
    n_classes = int(rng.choice([2, 2, 2, 3, 5, 10]))
    rates = rng.dirichlet(np.full(n_classes, 3.0))
    rates = np.maximum(rates, 0.02) / np.maximum(rates, 0.02).sum()
    signals = tuple(
        Planned(
            int(between(2, n_rows / 3)),
            between(3, 15),
            str(rng.choice(list(SHAPES))),
            float(rng.choice([0.0, 0.5, 1.0])),
        )
        for _ in range(rng.integers(1, 5))
    )
    noise = tuple(int(between(2, n_rows / 2)) for _ in range(int(between(4, 60))))
    return Design(n_rows, tuple(rates.tolist()), signals, noise, float(rng.choice([0.0, 0.5, 1.0])))


def make_table(design: Design, rng: np.random.Generator) -> tuple[dict[str, Ints], Ints]:
    """Columns (the signals are named s0, s1, …) and classes, with `N_FRESH` rows after the sample."""
    n = design.n_rows + N_FRESH
    rates = np.array(design.rates)
    scores = np.tile(np.log(rates), (n, 1))
    columns: dict[str, Ints] = {}
    for i, signal in enumerate(design.signals):
        if isinstance(signal, Planned):
            code = _draw(signal.cardinality, signal.zipf, n, rng)
            effects = signal.effects(rates, design.n_rows, rng)
        else:
            code = _draw(signal[0], 0.0, n, rng)
            effects = rng.normal(0, signal[1], (signal[0], len(rates)))
        scores += effects[code]
        columns[f"s{i}"] = code
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    cumulative = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    y = (rng.random(n)[:, None] > cumulative[:, :-1]).sum(axis=1)
    for i, cardinality in enumerate(design.noise):
        columns[f"n{i}"] = _draw(cardinality, design.zipf, n, rng)
    columns["id"] = np.arange(n)
    return columns, y


def _draw(cardinality: int, zipf: float, n: int, rng: np.random.Generator) -> Ints:
    if not zipf:
        return rng.integers(0, cardinality, n)
    return rng.choice(cardinality, n, p=weights(cardinality, zipf))
