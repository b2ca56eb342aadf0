"""`python -m benchmarks.ranking_order`: does a ranking find the signals, and report the gain on fresh rows.

Tables with a few true signals among noise columns and an identifier (`benchmarks.ranking_designs`). Per
order: the share of the tables in which all signals come first, and, for the column on top, the mean gain
reported by `expected_gain` (and, raw, by Ginger) beside the mean gain on fresh rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.ranking_designs import FRESH, TUNED, Design, Floats, Ints, make_table, random_design
from offsample import rank_features
from offsample.counts import feature_counts
from offsample.criteria import CRITERIA
from offsample.ranking import RankedFeature

N_SLICES = 4


def fresh_gain(code: Ints, y: Ints, n_rows: int, n_classes: int) -> float:
    """Gain, on fresh rows, of predicting with the class frequencies of the value (a new one: of all rows)."""
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
NAMES = ("auto", *ORDERS, *PEERS)


def outcome(design: Design, seed: int) -> dict[str, float]:
    """Whether each order put all signals first in one table; the gains of the winners by auto and Ginger."""
    columns, y = make_table(design, np.random.default_rng(seed))
    n = design.n_rows
    sample: dict[str, Any] = {name: code[:n] for name, code in columns.items()}
    ranking = rank_features(sample, y[:n], categorical_features="all")
    orders = {"auto": list(ranking)}
    orders |= {name: sorted(ranking, key=key) for name, key in ORDERS.items()}
    counts = feature_counts(sample, y[:n])
    for peer in PEERS:
        sign = 1 if CRITERIA[peer].better == "lower" else -1
        score = {name: sign * CRITERIA[peer](cells) for name, cells in counts.items()}
        orders[peer] = sorted(ranking, key=lambda f, score=score: score[f.name])
    signals = {f"s{i}" for i in range(len(design.signals))}
    found: dict[str, float] = {
        name: {f.name for f in order[: len(signals)]} == signals for name, order in orders.items()
    }
    top, top_raw = orders["auto"][0], orders["ginger"][0]
    n_classes = len(design.rates)
    return found | {
        "reported": top.expected_gain,
        "fresh": fresh_gain(columns[top.name], y, n, n_classes),
        "reported by Ginger": top_raw.gain,
        "fresh of Ginger": fresh_gain(columns[top_raw.name], y, n, n_classes),
    }


def print_header(title: str) -> None:
    print(f"{title}\n")
    print(
        f"{'':<28}"
        + "".join(f"{name[:12]:>13}" for name in NAMES)
        + f"{'gain of the top column, auto':>32}{'the same by raw Ginger':>28}"
    )
    print(f"{'':<28}" + " " * 13 * len(NAMES) + f"{'reported':>12}{'fresh':>10}{'± of diff.':>11}" * 2)


def print_row(title: str, outcomes: list[dict[str, float]]) -> None:
    table: dict[str, Floats] = {key: np.array([one[key] for one in outcomes]) for key in outcomes[0]}
    shares = "".join(f"{table[name].mean():>13.2f}" for name in NAMES)
    gains = ""
    for reported, fresh in (("reported", "fresh"), ("reported by Ginger", "fresh of Ginger")):
        noise = (table[reported] - table[fresh]).std() / np.sqrt(len(outcomes))
        gains += f"{table[reported].mean():>12.4f}{table[fresh].mean():>10.4f}{noise:>11.4f}"
    print(f"{title:<28}{shares}{gains}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", choices=["tuned", "fresh", "random"], default="fresh")
    parser.add_argument("--tables", type=int, default=100, help="tables per design; of random ones: in all")
    parser.add_argument("--first-seed", type=int, default=0)
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.tables)
    print_header(f"Share of {arguments.tables} tables in which all signals come first")
    if arguments.designs != "random":
        for title, design in (TUNED if arguments.designs == "tuned" else FRESH).items():
            print_row(title, [outcome(design, seed) for seed in seeds])
        return
    designs = {seed: random_design(np.random.default_rng([seed, 1])) for seed in seeds}
    outcomes = {seed: outcome(design, seed) for seed, design in designs.items()}
    print_row("all", list(outcomes.values()))
    for title, measure in {
        "rows": lambda d: d.n_rows,
        "columns": lambda d: len(d.signals) + len(d.noise) + 1,
        "classes": lambda d: len(d.rates),
        "values of weakest": lambda d: min(d.signals, key=lambda s: s.evidence).cardinality,
    }.items():
        by_size = sorted(seeds, key=lambda seed: measure(designs[seed]))
        for part in np.array_split(np.array(by_size), N_SLICES):
            low, high = measure(designs[part[0]]), measure(designs[part[-1]])
            print_row(f"{title} {low:,}–{high:,}", [outcomes[seed] for seed in part])


if __name__ == "__main__":
    main()
