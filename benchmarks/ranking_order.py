"""`python -m benchmarks.ranking_order`: does a ranking find the signals, and report the gain on fresh rows.

Tables with a few true signals among noise columns and an identifier, over designs that differ in rows,
cardinalities, skew of the classes and number of classes. Per order: the share of the tables in which all
signals come first, and, for the column on top, the mean gain reported and the mean gain on fresh rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from offsample import rank_features
from offsample.ranking import RankedFeature

N_FRESH = 20_000


@dataclass(frozen=True)
class Design:
    """Rows, class rates, (cardinality, strength) of the signals, and cardinalities of the noise columns."""

    n_rows: int
    rates: tuple[float, ...]
    signals: tuple[tuple[int, float], ...]
    noise: tuple[int, ...]


EVEN = (0.5, 0.5)
_spread = tuple(int(c) for c in np.exp(np.linspace(np.log(2), np.log(500), 97)))
DESIGNS = {
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
    "100 columns": Design(1000, EVEN, ((2, 0.4), (15, 0.5), (100, 1.0)), _spread),
}


def make_table(design: Design, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Columns (the signals are named s0, s1, …) and classes, with `N_FRESH` rows after the sample."""
    rng = np.random.default_rng(seed)
    n = design.n_rows + N_FRESH
    scores = np.tile(np.log(design.rates), (n, 1))
    columns = {}
    for i, (cardinality, strength) in enumerate(design.signals):
        code = rng.integers(0, cardinality, n)
        scores += rng.normal(0, strength, (cardinality, len(design.rates)))[code]
        columns[f"s{i}"] = code
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    cumulative = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    y = (rng.random(n)[:, None] > cumulative[:, :-1]).sum(axis=1)
    for i, cardinality in enumerate(design.noise):
        columns[f"n{i}"] = rng.integers(0, cardinality, n)
    columns["id"] = np.arange(n)
    return columns, y


def fresh_gain(code: np.ndarray, y: np.ndarray, n_rows: int) -> float:
    """Gain, on fresh rows, of predicting with the class frequencies of the value (a new one: of all rows)."""
    n_classes = int(y.max()) + 1
    counts = np.zeros((int(code.max()) + 1, n_classes))
    np.add.at(counts, (code[:n_rows], y[:n_rows]), 1)
    prior = counts.sum(axis=0) / n_rows
    size = counts.sum(axis=1, keepdims=True)
    predicted = np.where(size > 0, counts / np.maximum(size, 1), prior)
    fresh, labels = code[n_rows:], y[n_rows:]
    return float((predicted[fresh, labels] - prior[labels]).mean())


ORDERS: dict[str, Callable[[RankedFeature], tuple[float, ...]]] = {
    "ginger": lambda f: (f.error,),
    "lower bound": lambda f: (-f.gain_low,),
    "p-value": lambda f: (f.p_value,),
}
PEERS = ("adjusted_mutual_information", "description_length_gain", "gain_ratio", "information_gain", "gini")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100, help="tables per design")
    parser.add_argument("--first-seed", type=int, default=0)
    arguments = parser.parse_args()
    n_tables = arguments.tables
    names = ["auto", *ORDERS, *PEERS]
    print(f"Share of {n_tables} tables in which all signals come first\n")
    print(
        f"{'':<28}"
        + "".join(f"{name[:12]:>13}" for name in names)
        + f"{'gain of the top column by auto':>36}"
    )
    print(f"{'':<28}" + " " * 13 * len(names) + f"{'reported':>24}{'fresh':>12}")
    for title, design in DESIGNS.items():
        found = dict.fromkeys(names, 0)
        reported, real = [], []
        for seed in range(arguments.first_seed, arguments.first_seed + n_tables):
            columns, y = make_table(design, seed)
            sample = {name: code[: design.n_rows].astype(str) for name, code in columns.items()}
            ranking = rank_features(sample, y[: design.n_rows])
            orders = {"auto": list(ranking)}
            orders |= {name: sorted(ranking, key=key) for name, key in ORDERS.items()}
            for peer in PEERS:
                orders[peer] = list(rank_features(sample, y[: design.n_rows], criterion=peer))
            signals = {f"s{i}" for i in range(len(design.signals))}
            for name, order in orders.items():
                found[name] += {f.name for f in order[: len(signals)]} == signals
            top = ranking.features[0]
            reported.append(top.expected_gain)
            real.append(fresh_gain(columns[top.name], y, design.n_rows))
        shares = "".join(f"{found[name] / n_tables:>13.2f}" for name in names)
        print(f"{title:<28}{shares}{np.mean(reported):>24.4f}{np.mean(real):>12.4f}", flush=True)


if __name__ == "__main__":
    main()
