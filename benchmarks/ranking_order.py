"""Whether a ranking finds the signals, and reports the gain that fresh rows show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks._comparators import adjusted_mutual_information, description_length_gain
from benchmarks._frame import Case, Tool, topic
from benchmarks._measure import Quality
from benchmarks.ranking_designs import FRESH, TUNED, Design, Ints, make_table, random_design
from offsample import rank_features
from offsample.counts import CellCounts, feature_counts
from offsample.criteria import CRITERIA
from offsample.ranking import RankedFeature

N_SLICES = 4


def fresh_gain(code: Ints, y: Ints, n_rows: int, n_classes: int) -> float:
    """Gain, on fresh rows, of predicting with the class frequencies of the value (a new one: all alike)."""
    counts = np.zeros((int(code.max()) + 1, n_classes))
    np.add.at(counts, (code[:n_rows], y[:n_rows]), 1)
    prior = counts.sum(axis=0) / n_rows
    size = counts.sum(axis=1, keepdims=True)
    predicted = np.where(size > 0, counts / np.maximum(size, 1), 1 / n_classes)
    fresh, labels = code[n_rows:], y[n_rows:]
    return float((predicted[fresh, labels] - prior[labels]).mean())


OURS: dict[str, Callable[[RankedFeature], tuple[float, ...]]] = {
    "lower bound of the gain": lambda f: (-f.gain_low,),
    "Ginger": lambda f: (f.error,),
    "p-value": lambda f: (f.p_value,),
}
PEERS: dict[str, Callable[[CellCounts], float]] = {
    "adjusted_mutual_information": adjusted_mutual_information,
    "description_length_gain": description_length_gain,
    **{name: CRITERIA[name] for name in ("gain_ratio", "information_gain", "gini")},
}
NAMES = {name: name.replace("_", " ") for name in PEERS}


def outcome(design: Design, seed: int) -> dict[str, float]:
    """Whether each order put all signals first in one table; the gains of the winners by auto and Ginger."""
    columns, y = make_table(design, np.random.default_rng(seed))
    n = design.n_rows
    sample: dict[str, Any] = {name: code[:n] for name, code in columns.items()}
    ranking = rank_features(sample, y[:n], categorical_features="all")
    orders = {"auto": list(ranking)}
    orders |= {name: sorted(ranking, key=key) for name, key in OURS.items()}
    counts = feature_counts(sample, y[:n])
    for peer, criterion in PEERS.items():
        sign = 1 if peer == "gini" else -1
        score = {name: sign * criterion(cells) for name, cells in counts.items()}
        orders[NAMES[peer]] = sorted(ranking, key=lambda f, score=score: score[f.name])
    signals = {f"s{i}" for i in range(len(design.signals))}
    found: dict[str, float] = {
        name: {f.name for f in order[: len(signals)]} == signals for name, order in orders.items()
    }
    top, top_raw = orders["auto"][0], orders["Ginger"][0]
    n_classes = len(design.rates)
    return found | {
        "auto, reported": top.expected_gain,
        "auto, fresh": fresh_gain(columns[top.name], y, n, n_classes),
        "Ginger, reported": top_raw.gain,
        "Ginger, fresh": fresh_gain(columns[top_raw.name], y, n, n_classes),
    }


def share(name: str, outcomes: list[dict[str, float]]) -> Quality:
    """The share, and for two orders the reported gain of the top column beside that on fresh rows."""
    note = ""
    if f"{name}, reported" in outcomes[0]:
        reported, fresh = (
            np.array([one[f"{name}, {what}"] for one in outcomes]) for what in ("reported", "fresh")
        )
        error = (reported - fresh).std() / np.sqrt(len(outcomes))
        note = f"gain {reported.mean():.4f}, fresh {fresh.mean():.4f} ± {error:.4f}"
    return Quality(float(np.mean([one[name] for one in outcomes])), note)


def make_case(title: str, run: Callable[[], list[dict[str, float]]], n_tables: int) -> Case:
    tools = [
        Tool(name, lambda: run, quality=partial(share, name), timed=False) for name in ("auto", *OURS)
    ] + [
        Tool(NAMES[peer], lambda: run, NAMES[peer], partial(share, NAMES[peer]), timed=False)
        for peer in PEERS
    ]
    return Case(title, tools, "share of tables with all signals first", "higher", n_tables)


def slices(seeds: range) -> Iterator[Case]:
    """Tables with a design of their own, all together and by size."""
    designs = {seed: random_design(np.random.default_rng([seed, 1])) for seed in seeds}
    outcomes = cache(lambda seed: outcome(designs[seed], seed))
    yield make_case("random designs", lambda: [outcomes(seed) for seed in seeds], len(seeds))
    for title, size in {
        "rows": lambda d: d.n_rows,
        "columns": lambda d: len(d.signals) + len(d.noise) + 1,
        "values of the weakest signal": lambda d: min(d.signals, key=lambda s: s.evidence).cardinality,
    }.items():
        by_size = sorted(seeds, key=lambda seed: size(designs[seed]))
        for part in np.array_split(np.array(by_size), N_SLICES):
            low, high = size(designs[part[0]]), size(designs[part[-1]])
            yield make_case(
                f"random designs, {title} {low:,}–{high:,}",
                lambda part=part: [outcomes(int(seed)) for seed in part],
                len(part),
            )


def means(cases: list[dict[str, Any]]) -> list[str]:
    """The mean share of each order, per group of designs."""
    lines = []
    for group in ("fresh", "tuned"):
        shares: dict[str, list[float]] = {}
        for case in cases:
            if case["name"].startswith(group):
                for found in case["measurements"]:
                    shares.setdefault(found["tool"], []).append(found["quality"])
        if shares:
            shown = ", ".join(f"{name} {np.mean(values):.2f}" for name, values in shares.items())
            lines.append(f"Mean of the {len(shares['auto'])} {group} designs: {shown}.")
    return lines


@topic(
    "ranking_order",
    "The order of a ranking",
    "Tables with true signals just strong enough to be found, among noise columns and an identifier: the "
    "share in which all signals come first, by our orders (*auto* is the default) and by criteria of the "
    "literature, computed on the same counts. Nothing was tuned on the *fresh* and random designs, which "
    "were written after the order was chosen on the *tuned* ones. In brackets: the gain that is reported for "
    "the top column, and what it gains on fresh rows.",
    peers={
        "adjusted mutual information": "Use it when signals have few values and noise columns many, or when "
        "the ranking has to be symmetric in column and target.",
        "description length gain": "Use it when few rows and a column of very few values are all there is.",
        "gain ratio": "Use it to repeat what trees of the literature chose.",
        "information gain": "Use it where all columns have about as many values.",
        "gini": "Use it where all columns have about as many values.",
    },
    limit=1200.0,  # the first tool of a case makes the tables of all
    summary=means,
)
def cases(small: bool) -> Iterator[Case]:
    for group, designs, n_tables in (("fresh", FRESH, 60), ("tuned", TUNED, 20)):
        for title, design in designs.items():
            if small and design.n_rows > 1000:
                continue
            large = design.n_rows * (len(design.signals) + len(design.noise)) > 1_000_000
            seeds = range(3 if small else 20 if large else n_tables)
            run = cache(lambda design=design, seeds=seeds: [outcome(design, seed) for seed in seeds])
            yield make_case(f"{group}: {title}", run, len(seeds))
    yield from slices(range(4 if small else 200))
