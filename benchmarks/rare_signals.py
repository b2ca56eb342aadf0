"""Whether a ranking finds the signals for a rare class, beside the AUC of a cross-fitted target encoder.

``python -m benchmarks.rare_signals`` prints what all criteria take beside Ginger alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks._frame import Case, Tool, topic
from benchmarks._measure import Quality
from benchmarks.ranking_designs import Design, Planned, make_table, spread
from offsample import rank_features

ENCODER = "AUC of a target encoder"
ORDERS = {"default": "ginger", "auc_lpo": "auc_lpo", "log_loss_loo": "log_loss_loo"}
RATES = {"98:2": (0.98, 0.02), "99.7:0.3": (0.997, 0.003)}
# Rows, signals by the evidence of their excess over noise, and cardinalities of noise columns.
SIZES = {
    "98:2": {"2,000 rows": 2000, "10,000 rows": 10_000},
    "99.7:0.3": {"10,000 rows": 10_000, "40,000 rows": 40_000},
}
KINDS: dict[str, Callable[[float], tuple[Planned, ...]]] = {
    "2 and 12 values": lambda evidence: (Planned(2, evidence), Planned(12, evidence)),
    "6 and 60 values": lambda evidence: (Planned(6, evidence, "ordered"), Planned(60, evidence, "heavy")),
    "few of 200 values": lambda evidence: (Planned(200, evidence, "few"),),
}
EFFECTS = {"weak": 2.5, "clear": 6.0}


def encoder_auc(code: Any, y: Any) -> float:
    """AUC of the cross-fitted encoding of one column."""
    from sklearn.metrics import roc_auc_score
    from sklearn.preprocessing import TargetEncoder

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of another way to give the seed, from 1.9 on
        encoder = TargetEncoder(target_type="binary", random_state=0)
        encoded = encoder.fit_transform(code.reshape(-1, 1), y)
    return float(roc_auc_score(y, encoded[:, 0]))


def outcome(design: Design, seed: int) -> dict[str, tuple[bool, bool]]:
    """For each order whether all signals come first, and whether an identifier does."""
    columns, y = make_table(design, np.random.default_rng(seed))
    n = design.n_rows
    sample = {name: code[:n] for name, code in columns.items()}
    labels = y[:n]
    orders = {
        name: [f.name for f in rank_features(sample, labels, criterion=used, categorical_features="all")]
        for name, used in ORDERS.items()
    }
    auc = {name: encoder_auc(code, labels) for name, code in sample.items()}
    orders[ENCODER] = sorted(auc, key=lambda name: -auc[name])
    signals = {f"s{i}" for i in range(len(design.signals))}
    return {
        name: (set(order[: len(signals)]) == signals, len(np.unique(sample[order[0]])) == n)
        for name, order in orders.items()
    }


def share(name: str, outcomes: list[dict[str, tuple[bool, bool]]]) -> Quality:
    """Share of the tables with all signals first; how often an identifier came first."""
    found, identifiers = np.mean([one[name] for one in outcomes], axis=0)
    return Quality(float(found), f"identifier first in {identifiers:.0%}")


def means(cases: list[dict[str, Any]]) -> list[str]:
    """The mean share of each order, for each rate and strength."""
    lines = []
    for title in (*RATES, *EFFECTS):
        shares: dict[str, list[float]] = {}
        for case in cases:
            if title in case["name"].split(", "):
                for found in case["measurements"]:
                    shares.setdefault(found["tool"], []).append(found["quality"])
        if shares:
            lines.append(f"{title}: {', '.join(f'{name} {np.mean(of):.2f}' for name, of in shares.items())}.")
    return lines


@topic(
    "rare_signals",
    "Signals for a rare class",
    "Tables with a class of 2 % or 0.3 % of the rows, signals of two strengths, noise columns of 2 to "
    "thousands of values and an identifier: the share in which all signals come first, by the default order, "
    "by two losses off the sample, and by the AUC of scikit-learn's cross-fitted target encoder.",
    peers={"scikit-learn": "Use the encoder where its values are wanted as features of another model."},
    limit=1800.0,
    summary=means,
)
def cases(small: bool) -> Iterator[Case]:
    n_tables = 2 if small else 20
    for rate, sizes in SIZES.items():
        for size, n_rows in sizes.items():
            for kind, signals in KINDS.items():
                for effect, evidence in EFFECTS.items():
                    if small and (n_rows > 2000 or effect != "clear"):
                        continue
                    design = Design(n_rows, RATES[rate], signals(evidence), spread(2, n_rows / 3, 12))
                    run = cache(lambda design=design: [outcome(design, seed) for seed in range(n_tables)])
                    tools = [
                        Tool(name, lambda run=run: run, None if name in ORDERS else "scikit-learn",
                             partial(share, name), timed=False)
                        for name in (*ORDERS, ENCODER)
                    ]  # fmt: skip
                    title = f"{rate}, {size}, {kind}, {effect}"
                    yield Case(title, tools, "share of tables with all signals first", "higher", n_tables)


def speed(n_rows: int = 1_000_000, n_columns: int = 20, n_repeats: int = 3) -> float:
    """CPU seconds of counting and all criteria, over those of counting and Ginger alone; the least of each.

    Numbers and categories of 2 to 1,000 values take turns, beside 2 % of a class.
    """
    from time import process_time

    from offsample.counts import feature_counts
    from offsample.criteria import auc_lpo, brier_loo, cost_loo, ginger, log_loss_loo

    random = np.random.default_rng(0)
    sizes = (2, 10, 100, 1000)
    columns: dict[str, Any] = {
        f"x{j}": random.normal(size=n_rows) if j % 2 else random.integers(0, sizes[j // 2 % 4], n_rows)
        for j in range(n_columns)
    }
    columns["y"] = (random.random(n_rows) < 0.02).astype(int)
    others = (log_loss_loo, brier_loo, auc_lpo, partial(cost_loo, costs={"fn": 10, "fp": 1}))
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for of_all in (False, True) * (n_repeats + 1):
        start = process_time()
        for cells in feature_counts(columns, "y").values():
            for criterion in (ginger, *(others if of_all else ())):
                criterion(cells)
        seconds[of_all].append(process_time() - start)
    whole, alone = (min(seconds[one][1:]) for one in (True, False))  # the first compiles
    print(f"{n_rows:,} x {n_columns}: Ginger {alone:.2f} CPU s, all five {whole:.2f}: {whole / alone:.2f}")
    return whole / alone


if __name__ == "__main__":
    speed()
